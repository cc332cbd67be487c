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

/* Return the options of the encoding in an arm's text; NULL: none. */
const struct pw_opt *pw_encoding_opts_of(const char *pe);

/* Append the encoding as a line shows it: "kerple a=2" (pw_encoding_text). Returns out's text. */
struct pw_pe_use_opts;
const char *pw_encoding_shown(struct pw_str *out, const struct pw_pe_use_opts *use);

/* Append the encoding that the words of a command name: the plain word `from`, after `expr` a formula, and
 * all keys but those in `own` (ends with NULL; NULL: none). Fails on further plain words. */
enum pw_code pw_encoding_words(const struct pw_args *args, int from, const char *const *own,
                               struct pw_str *out, struct pw_err *err);

/* Is there a formula file of this name among those of the project, and none of the user's? */
bool pw_encoding_is_project(const char *name);
/* Is the word a stage of formulas, as `bias`? */
bool pw_encoding_is_stage(const char *word);

/* Appends the language of formulas: a section for stages, variables, functions and the like. */
void pw_encoding_expr_about(struct pw_str *out);
/* For `more` of struct pw_command: append the list of formula files. */
void pw_encoding_files_about(struct pw_str *out);
/* Append title, paper and formula of a file; false: there is none of this name. */
bool pw_encoding_file_about(const char *word, struct pw_str *out);
/* Write the formula of *use to the user's folder (pw_library_save). title "": none. */
enum pw_code pw_encoding_save(const struct pw_pe_use_opts *use, const char *name, const char *title,
                              bool replace, struct pw_str *path, struct pw_err *err);

/* Split "none,t5(buckets=8,distance=16),alibi" in place at the commas outside parentheses. Returns the number
 * of parts, which out points to. The last of PW_MOST_ENCODINGS parts holds the rest of the list unsplit. */
#define PW_MOST_ENCODINGS 32
int pw_cut_encodings(char *list, char *out[PW_MOST_ENCODINGS]);

#endif
