/* encodings.h - arguments that name an encoding: completion and options, shared by the commands pe, race,
 * fork and arm. The tables of encodings provide both. */
#ifndef PW_ENCODINGS_H
#define PW_ENCODINGS_H
#include "command/command.h"

/* For `complete` of struct pw_command: offer the names of the encodings as the first word. */
void pw_complete_encoding(struct pw_completion *c);
/* Offer the names of the encodings, whichever word is completed. */
void pw_offer_encodings(struct pw_completion *c);
/* For `opts_for` of struct pw_command: return the options of the encoding that the first word names. */
const struct pw_opt *pw_encoding_opts(const struct pw_args *so_far);
/* Return the options of the encoding that word i names; NULL if word i names none. */
const struct pw_opt *pw_encoding_opts_at(const struct pw_args *so_far, int i);

/* Split "none,t5(buckets=8,distance=16),alibi" in place at the commas outside parentheses. Returns the number
 * of parts, which out points to. The last of PW_MOST_ENCODINGS parts holds the rest of the list unsplit. */
#define PW_MOST_ENCODINGS 32
int pw_cut_encodings(char *list, char *out[PW_MOST_ENCODINGS]);

#endif
