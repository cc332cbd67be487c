/* disk.h - reads and writes files on a thread of its own, in the order in which the jobs were handed over, so
 * that no key press waits for the disk.
 *
 * One UI thread hands over and takes results. The thread starts with the first job. */
#ifndef PW_DISK_H
#define PW_DISK_H
#include "base/err.h"
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

#define PW_DISK_FILES 3 /* maximum per job */

struct pw_app;

/* Files to replace, or a line to append to an open file, or other work. Paths and texts are owned. */
struct pw_disk_job {
    int n;
    struct {
        char *path;
        struct pw_str text;
    } file[PW_DISK_FILES];
    bool folders;       /* create missing folders of the files */
    int append_to;      /* n = 0: a descriptor that file[0].text is appended to by one write; borrowed */
    struct pw_str said; /* text to show when the job is done; empty: none */
    /* Other work than files, or NULL. It runs on the disk's thread and may fill said. */
    enum pw_code (*work)(void *arg, struct pw_str *said, struct pw_err *err);
    /* Uses the result of successful work on the UI thread, and takes ownership of arg; NULL: no result. */
    enum pw_code (*done)(struct pw_app *app, void *arg, struct pw_err *err);
    void (*failed)(struct pw_app *app, void *arg); /* called on the UI thread if the work failed; or NULL */
    void (*free)(void *arg);                       /* frees arg */
    void *arg;
    bool orders;      /* commands that follow in the same line wait for this one */
    uint64_t request; /* the script that waits for it (pw_app_write); 0: none */
};

struct pw_disk;

/* Returns a new writer, which the caller closes. Its thread does not run yet. */
struct pw_disk *pw_disk_open(void);
/* Waits until everything is done, and frees. NULL is a no-op. */
void pw_disk_close(struct pw_disk *d);
/* Readable when there is a result. */
int pw_disk_fd(const struct pw_disk *d);

/* Adds a file to a job; takes the text and leaves it empty. */
void pw_disk_add(struct pw_disk_job *job, const char *path, struct pw_str *text);
/* Does the job on the calling thread, up to the first failure. The caller frees its members. */
enum pw_code pw_disk_do(struct pw_disk_job *job, struct pw_err *err);
/* Hands a job over to the thread. Takes ownership of the job's members. */
void pw_disk_hand(struct pw_disk *d, struct pw_disk_job *job);
void pw_disk_job_fini(struct pw_disk_job *job);
/* Is a job handed over whose result was not taken yet? d may be NULL. */
bool pw_disk_busy(struct pw_disk *d);
/* Takes the next job that is done, which the caller frees, and its code, with a message in err. Returns false
 * if there is none. */
bool pw_disk_result(struct pw_disk *d, struct pw_disk_job *job, enum pw_code *code, struct pw_err *err);
/* Waits until everything that was handed over is done; the results can be taken then. */
void pw_disk_wait(struct pw_disk *d);

#endif
