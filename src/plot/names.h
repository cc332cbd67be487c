/* names.h - what things of a snapshot are called wherever they are drawn, and how they are found. */
#ifndef PW_NAMES_H
#define PW_NAMES_H
#include "base/text.h"
#include "sessions/fold.h"

/* Stands after an arm whose encoding was swapped in place: its weights grew up with another one. */
#define PW_SWAPPED "↻"

/* The name of a head, from its layer and its number: "1.3" beside other numbers reads as one. */
#define PW_HEAD "L%dH%d"

/* A token's label without the blank before it; "·" for a blank. */
const char *pw_label(const char *label);
/* "2 t5 8/16", "1 rotary base=500 logn=9": id, and the encoding as it runs. */
void pw_arm_name(const struct pw_arm_view *a, struct pw_str *out);
/* The same, and which of its replicas where it has several: "2 t5 8/16, replica 2 of 3"; that alone: ",
 * replica 2 of 3", or nothing. */
void pw_replica_name(const struct pw_arm_view *a, int replica, struct pw_str *out);
void pw_replica_text(const struct pw_arm_view *a, int replica, struct pw_str *out);
/* The arm with this id or NULL. */
const struct pw_arm_view *pw_find_arm(const struct pw_snapshot *s, int id);
/* The decoded token at a position, or NULL. */
const struct pw_ev_token *pw_token_at(const struct pw_snapshot *s, int pos);
/* The position behind all of the answer that there is anything to show for, the right one or the decoded. */
int pw_answer_end(const struct pw_snapshot *s);
/* The right answer's token at a position; "" where there is none. */
const char *pw_answer_wanted(const struct pw_snapshot *s, int pos);

#endif
