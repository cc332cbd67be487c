/* offer.h - candidates for completion that come from what the laboratory has told: arms, heads, lengths,
 * tasks.
 *
 * c->seen is the reader's snapshot (NULL: nothing is known): these run on the reader's thread and touch no
 * lab. */
#ifndef PW_OFFER_H
#define PW_OFFER_H
#include "command/command.h"
#include "sessions/fold.h"

/* For struct pw_command's values: of arm=, replica=, layer=, head=, task= and lengths=, which mean the same
 * wherever they are taken. */
void pw_offer_values(struct pw_completion *c);

/* The same for the options of `export`, which has two halves. */
void pw_offer_export(struct pw_completion *c);

/* The arm that a command is about: arm=K if it is given, else the current one. NULL: it isn't known. */
const struct pw_arm_view *pw_offer_arm(const struct pw_completion *c);
/* Numbers of the arms that there are. */
void pw_offer_arms(struct pw_completion *c);
/* Heads of that arm, of the replica that replica=R names or that is inspected, as 0.1, and 0.* for all of a
 * layer: those that are off, or those that work. */
void pw_offer_heads(struct pw_completion *c, bool off);
/* Lengths trained and tested, of the task that task= names or of all. */
void pw_offer_lengths(struct pw_completion *c);
/* from, ..., end - 1. */
void pw_offer_numbers(struct pw_completion *c, int from, int end);

#endif
