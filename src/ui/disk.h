/* disk.h - writes files on a thread of its own, in the order in which they were handed over, so that no key
 * press waits for the disk.
 *
 * One UI thread hands over and takes results. The thread starts with the first job. */
#ifndef PW_DISK_H
#define PW_DISK_H
#include "base/err.h"
#include "base/text.h"
#include <stdbool.h>

#define PW_DISK_FILES 3 /* maximum per job */

/* Files to replace, or a line to append to an open file; paths and texts are owned. */
struct pw_disk_job {
    int n;
    struct {
        char *path;
        struct pw_str text;
    } file[PW_DISK_FILES];
    int append_to; /* n = 0: a descriptor that file[0].text is appended to by one write; borrowed */
    char *said;    /* text to show when all files are written; NULL: none */
};

struct pw_disk;

/* Returns a new writer, which the caller closes. Its thread does not run yet. */
struct pw_disk *pw_disk_open(void);
/* Waits until everything is written, and frees. NULL is a no-op. */
void pw_disk_close(struct pw_disk *d);
/* Readable when there is a result. */
int pw_disk_fd(const struct pw_disk *d);

/* Adds a file to a job; takes the text and leaves it empty. */
void pw_disk_add(struct pw_disk_job *job, const char *path, struct pw_str *text);
/* Writes the files now, up to the first failure, and frees the job's members. */
enum pw_code pw_disk_write(struct pw_disk_job *job, struct pw_err *err);
/* Hands a job over; takes its members. */
void pw_disk_hand(struct pw_disk *d, struct pw_disk_job *job);
/* Is a file of this path handed over and not written yet? d may be NULL. */
bool pw_disk_pending(struct pw_disk *d, const char *path);
/* Takes the next result: sets *said to its text (NULL: none; the caller frees) and *code, with a message in
 * err. Returns false if there is no result. */
bool pw_disk_result(struct pw_disk *d, char **said, enum pw_code *code, struct pw_err *err);
/* Waits until everything that was handed over is written; the results can be taken then. */
void pw_disk_wait(struct pw_disk *d);

#endif
