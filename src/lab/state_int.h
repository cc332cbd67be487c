/* state_int.h - the parts of a laboratory's state as JSON. For state*.c only. */
#ifndef PW_STATE_INT_H
#define PW_STATE_INT_H
#include "lab/state.h"

struct cJSON;

#define PW_STATE_GOAL 1e16 /* steps that an arm or a laboratory may speak of */

/* ---- state_fields.c: the members of a struct, by an option table, as the texts of a JSON object. NULL in,
 * or no memory: NULL out, and false. */
bool pw_state_put(struct cJSON *object, const struct pw_opt *table, const void *from);
bool pw_state_put_text(struct cJSON *object, const char *name, const char *text);
bool pw_state_put_ints(struct cJSON *object, const char *name, const int *v, int n);
/* Reads every member back; more: how many others the object has. A member with a default came to states later
 * and may be missing; one without that is missing, twice there or out
 * of range, and one that this pewter doesn't know, are errors. what: for messages. */
enum pw_code pw_state_get(const struct cJSON *object, const struct pw_opt *table, void *to, int more,
                          const char *what, struct pw_err *err);
/* NULL fills err. */
const char *pw_state_get_text(const struct cJSON *object, const char *name, const char *what,
                              struct pw_err *err);
/* Numbers of 0..below-1, exactly n of them. */
enum pw_code pw_state_get_ints(const struct cJSON *object, const char *name, int *v, int n, int below,
                               const char *what, struct pw_err *err);

/* ---- state_arms.c: the list "replicates" of root, and their images; task: the canonical text */
enum pw_code pw_state_save_arms(struct pw_lab *lab, struct cJSON *root, struct pw_lab_images *images,
                                char *task, struct pw_err *err);
/* Into a laboratory that has its task, its backend and no arms. */
enum pw_code pw_state_restore_arms(struct pw_lab *lab, const struct cJSON *list,
                                   enum pw_code (*get)(void *, int, void **, size_t *, struct pw_err *),
                                   void *arg, struct pw_err *err);

/* ---- state_watches.c: "watches" of root; list NULL: there are none */
bool pw_state_save_watches(const struct pw_lab *lab, struct cJSON *root);
enum pw_code pw_state_restore_watches(struct pw_lab *lab, const struct pw_commands *commands,
                                      const struct cJSON *list, struct pw_err *err);

/* ---- state_pin.c */
struct cJSON *pw_state_save_pin(struct pw_lab *lab);
/* Into a laboratory that has its arms and nothing pinned. */
enum pw_code pw_state_restore_pin(struct pw_lab *lab, const struct cJSON *object, struct pw_err *err);

#endif
