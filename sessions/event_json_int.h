/* event_json_int.h - rules of members in JSON, and the function that follows a table. */
#ifndef PW_EVENT_JSON_INT_H
#define PW_EVENT_JSON_INT_H
#include "sessions/codec_int.h"
#include "sessions/event_json.h"

/* When a member appears in JSON. */
enum pw_json_when {
    PW_JSON_ALWAYS,
    PW_JSON_UNLESS_ZERO, /* left out if 0, empty or false */
    PW_JSON_NEVER,
    PW_JSON_INSIDE /* the members of a struct appear among those around it */
};

/* How JSON has a member. Paths are the kind and the members' names: "arm.n_params", "eval.rows.judge";
 * "command.*" is for members without a rule of their own, and "look" for a whole kind. A member that counts
 * another's entries is left out unless it has a rule. */
struct pw_json_rule {
    const char *path, *as; /* as: the name in JSON; NULL: the member's */
    enum pw_json_when when;
    /* Writes the member. base: the struct that has it, or the payload. NULL: written by its type. */
    void (*write)(cJSON *o, const char *as, const void *base);
};
extern const struct pw_json_rule pw_json_rules[]; /* ended by path NULL */

/* Adds the members of the struct at base, by its table and the rules below `path`. */
void pw_json_members(cJSON *o, const char *path, const struct pw_message *m, const char *base);

/* ---- event_json_views.c: payloads of these kinds */
void pw_json_updates(cJSON *o, const char *as, const void *base);
void pw_json_attention(cJSON *o, const char *as, const void *base);
void pw_json_look(cJSON *o, const char *as, const void *base);
void pw_json_heads(cJSON *o, const char *as, const void *base);
void pw_json_patch(cJSON *o, const char *as, const void *base);

#endif
