/* try.h - ask pewter about the lines of a study's cells without training them. Functions start child
 * processes. Any thread. */
#ifndef PW_STUDY_TRY_H
#define PW_STUDY_TRY_H
#include "study/study.h"

/* Run a script in a pewter without a session. each(arg, line) gets its events as JSON; NULL: no calls. Fails
 * with PW_EUSER and its message, behind `place`; "": the script's lines name their place. */
enum pw_code pw_study_ask(const char *script, int threads, const char *place,
                          void (*each)(void *arg, const char *line), void *arg, struct pw_err *err);

/* Does pewter accept the lines of every arm and task? A mistake should show before hours of training. Fails
 * with PW_EUSER for the first that it refuses; the message names arm and task. Memory is not tested for
 * large models. */
enum pw_code pw_study_try(const struct pw_study *s, struct pw_err *err);

/* The work of a cell of an arm and task (command `check cost=on`). All 0: not known, because its model comes
 * from a file. */
struct pw_study_work {
    double parameters;
    double operations; /* of one step, forward and backward (src/model/flops.c), in the mean */
    double bytes;      /* its memory, an upper estimate with one thread */
    double steps;
};
/* Count the work of every arm on a task: work [s->n_arms]. */
enum pw_code pw_study_work_of(const struct pw_study *s, int task, struct pw_study_work *work,
                              struct pw_err *err);

#endif
