/* lines.h - random command lines that a user could type at the workbench. */
#ifndef PW_TESTS_LINES_H
#define PW_TESTS_LINES_H
#include <stdint.h>

#include "base/text.h"

/* Sets *out to one line without its end. Many lines fail when they run, and that is recorded, too. The
 * files that some name are in the folder in which the program runs (lines_models.h). None names another
 * session. None takes a small model more than a fraction of a second. rng: generator state, advanced. */
void lines_random(struct pw_str *out, uint64_t *rng);

/* Sets *out to the first line of a session: a race of small models, and a prompt. */
void lines_first(struct pw_str *out, uint64_t *rng);

#endif
