/* ready.h - studies that come with the program: the files ready/NAME.study, which CMake puts into the binary
 * (cmake/embed.cmake), so that a node of a cluster needs no other file.
 *
 * The first line of such a text is a comment that says in one sentence which question it asks. Its statements
 * may have scales (scale.h). Constant; any thread. */
#ifndef PW_STUDY_READY_H
#define PW_STUDY_READY_H
#include "base/err.h"

struct pw_study_ready {
    const char *name, *text;
};
extern const struct pw_study_ready pw_study_readies[]; /* by name; ends with name NULL */

/* Find one by its name. Fails with PW_EUSER; the message has all names. */
enum pw_code pw_study_ready_find(const struct pw_study_ready **r, const char *name, struct pw_err *err);
/* The length of its first line without the '#': *line points to it. */
int pw_study_ready_title(const struct pw_study_ready *r, const char **line);

#endif
