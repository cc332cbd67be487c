/* offer.h - completion candidates taken from the snapshot: arms, heads, lengths, tasks.
 *
 * c->seen is the reader's snapshot; NULL: nothing is known. These functions run on the reader's thread and do
 * not access the lab. */
#ifndef PW_OFFER_H
#define PW_OFFER_H
#include "command/command.h"
#include "sessions/fold.h"

/* For the member `values` of struct pw_command: values of arm=, replica=, layer=, head=, task= and lengths=,
 * which mean the same in every command. */
void pw_offer_values(struct pw_completion *c);

/* Like pw_offer_values, for `export`, whose options come from two tables. */
void pw_offer_export(struct pw_completion *c);

/* The arm that the command is about: arm=K if given, else the current one. NULL: unknown. */
const struct pw_arm_view *pw_offer_arm(const struct pw_completion *c);
/* Offer the numbers of the existing arms. */
void pw_offer_arms(struct pw_completion *c);
/* Offer heads such as 0.1, and 0.* for a whole layer. They are heads of this arm's replica: replica=R if
 * given, else the inspected one. off: ablated heads; else the others. */
void pw_offer_heads(struct pw_completion *c, bool off);
/* Offer the trained and tested lengths of the task that task= names, or of all tasks. */
void pw_offer_lengths(struct pw_completion *c);
/* Offer the names of the sessions in the user's folder. */
void pw_complete_session(struct pw_completion *c);
/* Offer from, ..., end - 1. */
void pw_offer_numbers(struct pw_completion *c, int from, int end);

#endif
