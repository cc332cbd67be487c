/* remove.h - deletes sessions from the command line. Main thread. Both functions need no lab. They ask at a
 * terminal, on standard error, unless yes is true. Each returns the exit status: 0, 1 if a session could not
 * be deleted, 2 for usage. */
#ifndef PW_REMOVE_H
#define PW_REMOVE_H
#include <stdbool.h>

/* Deletes one session. Without a terminal there is no question. */
int pw_remove_session(const char *name, bool yes);

/* Implements `sessions prune`: lists the sessions that were not written for the time older=, with their
 * sizes, and deletes them, and folders that an interrupted deletion or unpacking left. words [n] are
 * key=value. Without a terminal it deletes nothing unless yes is true.
 */
int pw_remove_old(int n, char *const *words, bool yes);

#endif
