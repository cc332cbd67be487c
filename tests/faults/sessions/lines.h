/* lines.h - random command lines, as somebody at the workbench could type them. */
#ifndef PW_TESTS_LINES_H
#define PW_TESTS_LINES_H
#include <stdint.h>

#include "base/text.h"

/* One line, without its end, into *out, which is cleared. Many of them fail when they run: that is on record,
 * too. None names a file, another session or a backend, and none asks for more than a fraction of a second of
 * a small model's time at once. rng: its state, which goes on. */
void lines_random(struct pw_str *out, uint64_t *rng);

/* The line that a session begins with: a race of small models, and a prompt. */
void lines_first(struct pw_str *out, uint64_t *rng);

#endif
