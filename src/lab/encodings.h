/* encodings.h - what the commands that take an encoding (pe, race, fork, arm add) share: completion from its
 * table. */
#ifndef PW_ENCODINGS_H
#define PW_ENCODINGS_H
#include "command/command.h"

/* For struct pw_command's complete: the encodings' names as the first word. */
void pw_complete_encoding(struct pw_completion *c);
/* The same as any word. */
void pw_offer_encodings(struct pw_completion *c);
/* For its opts_for: the options of the encoding that is the first word. */
const struct pw_opt *pw_encoding_opts(const struct pw_args *so_far);
/* The same of the encoding that is word i; NULL where there is none. */
const struct pw_opt *pw_encoding_opts_at(const struct pw_args *so_far, int i);

/* Cuts "none,t5(buckets=8,distance=16),alibi" in place at the commas outside parentheses; returns how many
 * there are. What is beyond the last place stays with it. */
#define PW_MOST_ENCODINGS 32
int pw_cut_encodings(char *list, char *out[PW_MOST_ENCODINGS]);

#endif
