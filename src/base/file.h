/* file.h - whole files: read with a limit, and write so that a reader never sees half of one. */
#ifndef PW_FILE_H
#define PW_FILE_H
#include "base/err.h"
#include <stddef.h>
#include <stdio.h>

/* Reads a regular file of at most limit bytes; *data is NUL-terminated and the caller's (free), NULL on
 * failure. PW_EUSER: no regular file or too large; PW_EIO, PW_ENOMEM. */
enum pw_code pw_file_read(const char *path, size_t limit, char **data, size_t *size, struct pw_err *err);

/* Who looks on while this thread reads whole files, by default nobody. */
struct pw_file_watch {
    const char *(*instead)(void *arg,
                           const char *path); /* what to open in place of path; NULL: it isn't there */
    void (*read)(void *arg, const char *path, const char *data, size_t size); /* what was read */
    void *arg;
};
void pw_file_watch(struct pw_file_watch w); /* members may be NULL */

/* The first n bytes of a regular file, or all of a shorter one, and the size of the whole; *data as above. */
enum pw_code pw_file_read_head(const char *path, size_t n, char **data, size_t *got, size_t *size,
                               struct pw_err *err);

/* Opens a file for writing that replaces path (a regular file or a new one, never a device) when it is
 * committed; until then it has no name, and a process that is killed leaves nothing of it. (Where the system
 * has no files without a name, it is PATH.tmpXXXXXX, and the next create for the same path removes it.)
 * commit syncs, puts it at path and closes; abandon drops it. Both free f. A failed write is remembered: no
 * fprintf needs a check, commit reports the first failure and leaves what was under path before. The
 * stream has no descriptor of its own: no fileno. */
struct pw_file;
enum pw_code pw_file_create(struct pw_file **f, const char *path, struct pw_err *err);
void pw_file_private(struct pw_file *f); /* nobody but its owner may read it */
void pw_file_fresh(struct pw_file *f);   /* commit replaces nothing: PW_EUSER where path is there by then */
FILE *pw_file_stream(struct pw_file *f);
enum pw_code pw_file_commit(struct pw_file *f, struct pw_err *err);
void pw_file_abandon(struct pw_file *f); /* NULL is a no-op */

/* An empty file beside path, for a library that opens files by name: the caller unlinks *name as soon as the
 * library has opened it, reads the bytes by *fd and closes *fd, which holds the lock. The name is the
 * caller's (free). If the process is killed before the unlink, the next create for the same path removes the
 * file. */
enum pw_code pw_file_scratch(int *fd, char **name, const char *path, struct pw_err *err);

#endif
