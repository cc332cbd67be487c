/* child.h - runs pewter or another program in a child process.
 *
 * args: the words behind the program's name, and NULL. The child is the same file as this process
 * (/proc/self/exe), also if another one has replaced it since, so it computes the same bits. Its signals are
 * unblocked. Functions fail with PW_EIO if there is no process. Any thread. */
#ifndef PW_STUDY_CHILD_H
#define PW_STUDY_CHILD_H
#include <stdbool.h>

#include "base/err.h"

#define PW_CHILD_WHY 512 /* bytes of a message */

/* Run it and wait. Calls each(arg, line) for every line that it prints; NULL: no calls. *status is that of
 * waitpid; why [PW_CHILD_WHY] gets the last line of its messages, without "pewter: ". The child gets SIGTERM
 * when the calling thread ends. */
enum pw_code pw_child_run(const char *const *args, void (*each)(void *arg, const char *line), void *arg,
                          int *status, char *why, struct pw_err *err);
/* Run another program likewise: words [0] is its name, which is looked up in PATH. It is killed after
 * `seconds`. Fails with PW_EUSER if there is no such program; the message names it. */
enum pw_code pw_child_program(const char *const *words, unsigned seconds,
                              void (*each)(void *arg, const char *line), void *arg, int *status, char *why,
                              struct pw_err *err);
/* Is there such a program in PATH? */
bool pw_child_has(const char *name);
/* From now on the first SIGTERM, SIGINT or SIGHUP of this process interrupts the child that pw_child_run runs
 * and each later one, in place of ending this process. The children ignore SIGTERM and SIGHUP: a scheduler
 * sends those to all processes of a job, and a second signal would end a child without a checkpoint. Signals
 * that this process ignores stay ignored. For the main thread of a process that computes a cell. */
void pw_child_pass_signals(void);
/* Start it so that it outlives this process: in a session of its own, with its output appended to the file
 * `log`. */
enum pw_code pw_child_leave(const char *const *args, const char *log, struct pw_err *err);

#endif
