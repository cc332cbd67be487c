/* tokenizer.h - the tokenizer of a task, a file that a session records.
 *
 * A small file is read by pw_file_read_as, so the session keeps a copy of it and a re-run reads the copy. Of
 * a larger one the session keeps the SHA-256, and a re-run compares. */
#ifndef PW_TOKENIZER_H
#define PW_TOKENIZER_H
#include "tokens/tokens.h"

enum { PW_TOKENIZER_DIGITS = 16 }; /* of a SHA-256, in the option tokenizer= */

/* Opens the tokenizer at `path`, and writes the SHA-256 of its file. Fails with one line that names the file.
 * On failure *t is NULL. */
enum pw_code pw_tokenizer_open(struct pw_tokens **t, const char *path, char digits[65], struct pw_err *err);
/* The same for a task with the options tokens=, tokenizer= and vocab=. Compares the file with the digits, or
 * fills them in if they are empty. Fails if the digits differ, or if the file has more than `vocab` tokens;
 * vocab 0: any number. */
enum pw_code pw_tokenizer_settle(struct pw_tokens **t, const char *task, const char *tokens,
                                 char digits[PW_TOKENIZER_DIGITS + 1], int vocab, struct pw_err *err);

#endif
