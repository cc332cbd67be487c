/* names.h - names and lookup of things in a snapshot, shared by panes and figures. Pure functions; results
 * point into the snapshot or its texts. */
#ifndef PW_NAMES_H
#define PW_NAMES_H
#include "base/text.h"
#include "sessions/fold.h"

/* Follows the name of an arm after an in-place swap: its weights were trained
 * with another encoding before. */
#define PW_SWAPPED "↻"

/* The name of a head, from layer and number. ("1.3" beside other numbers would read as a number.) */
#define PW_HEAD "L%dH%d"

/* A token's label without its leading blanks; "·" for a blank. */
const char *pw_label(const char *label);
/* Appends the id and the encoding as it runs: "2 t5 8/16", "1 rotary base=500 logn=9". */
void pw_arm_name(const struct pw_arm_view *a, struct pw_str *out);
/* Append the arm's name, and which of its replicas if it has several: "2 t5 8/16, replica 2 of 3". */
void pw_replica_name(const struct pw_arm_view *a, int replica, struct pw_str *out);
/* Append ", replica 2 of 3", or nothing if the arm has one. */
void pw_replica_text(const struct pw_arm_view *a, int replica, struct pw_str *out);
/* The arm with this id, or NULL. */
const struct pw_arm_view *pw_find_arm(const struct pw_snapshot *s, int id);
/* The decoded token at a position, or NULL. */
const struct pw_ev_token *pw_token_at(const struct pw_snapshot *s, int pos);
/* Returns the position after the answer, the correct one or the decoded one, whichever is longer. */
int pw_answer_end(const struct pw_snapshot *s);
/* The correct answer's token at a position; "" if there is none. */
const char *pw_answer_wanted(const struct pw_snapshot *s, int pos);

#endif
