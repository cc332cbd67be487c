/* progress.h - how far a thread is with work that takes seconds, for another thread to show; and a request to
 * give the work up.
 *
 * The working thread calls the functions below whether or not another thread shows the progress. The
 * members of the struct are for the other thread, which reads them at any time. */
#ifndef PW_PROGRESS_H
#define PW_PROGRESS_H
#include "base/err.h"
#include "base/text.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct pw_progress {
    _Atomic(const char *) what; /* "reading the checkpoint", a constant; NULL: nothing that takes long */
    atomic_size_t done, total;  /* bytes */
    atomic_bool cancel;         /* set by the other thread */
    /* Called by the working thread, so that the other one wakes: ten times a second while work takes longer
     * than a tenth of a second, and at the end of such work. NULL: not wanted. */
    void (*changed)(void *arg);
    void *arg;
    double first, next; /* of the working thread: times of the work's first call and of the next one */
};

/* The members at one moment. what: NULL: nothing that takes long. */
struct pw_progress_now {
    const char *what;
    size_t done, total; /* done <= total */
};

/* Sets the progress of the calling thread (NULL: none, which is also the initial state), and returns the one
 * before. Borrowed. */
struct pw_progress *pw_progress_watch(struct pw_progress *p);

/* Begins work of `total` bytes; 0: it can't be counted. The text must be a constant. */
void pw_progress_begin(const char *what, size_t total);
/* So many more bytes are done. PW_ECANCEL: the work is to be given up. */
enum pw_code pw_progress_add(size_t bytes, struct pw_err *err);
void pw_progress_end(void);

/* For the other thread. */
struct pw_progress_now pw_progress_read(const struct pw_progress *p);
/* Appends "reading a checkpoint, 1,204 of 2,500 MB". p->what must not be NULL. */
void pw_progress_print(const struct pw_progress_now *p, struct pw_str *out);

#endif
