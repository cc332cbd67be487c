/* lines_models.h - random lines about models, texts and files: see lines.h, which they are parts of. */
#ifndef PW_TESTS_LINES_MODELS_H
#define PW_TESTS_LINES_MODELS_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Appends a line about encodings, settings, shapes or files; and a prompt that is not a task's. */
void lines_of_models(struct pw_str *out, uint64_t *rng);
void lines_of_text(struct pw_str *out, uint64_t *rng);

/* Appends the first line of a session with a model of another program, or with text, in one case of four;
 * else returns false. */
bool lines_first_of_models(struct pw_str *out, uint64_t *rng);

/* Writes the files that these lines read to the folder in which the program runs. Returns false if it can't.
 */
bool lines_files(const char *home);

#endif
