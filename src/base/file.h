/* file.h - read whole files up to a size limit, and write files that appear complete or not at all.
 *
 * Files of different threads are independent. One struct pw_file belongs to one thread at a time. */
#ifndef PW_FILE_H
#define PW_FILE_H
#include "base/err.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Read a regular file of at most `limit` bytes. *data is NUL-terminated and belongs to the caller (free); it
 * is NULL on failure. *size does not count the NUL. Fails with PW_EUSER (not a regular file, or too large),
 * PW_EIO or PW_ENOMEM. The calling thread's pw_file_watch applies. */
enum pw_code pw_file_read(const char *path, size_t limit, char **data, size_t *size, struct pw_err *err);

/* The same for a file that the callbacks know by `name` while it is at `path`: the place differs between
 * machines. path NULL: only a copy can be read; without one the code is PW_EUSER. */
enum pw_code pw_file_read_as(const char *name, const char *path, size_t limit, char **data, size_t *size,
                             struct pw_err *err);
/* Does the calling thread read copies in place of files? */
bool pw_file_copies(void);
/* Call the calling thread's `read` with content that stands for a file that is too large to copy. A re-run
 * gets it from pw_file_read_as. */
void pw_file_note(const char *name, const char *data, size_t size);

/* Appends the place of a path for the calling thread: the path itself, or if it is relative and there is no
 * such file, the first of the watch's folders that has it. All functions of this header that read do this. */
void pw_file_place(const char *path, struct pw_str *out);

/* stat of that place. False: there is no such file. */
struct stat;
bool pw_file_stat(const char *path, struct stat *st);

/* The folders of the calling thread's watch; NULL: none. */
const char *const *pw_file_folders(void);

/* Callbacks around every pw_file_read of one thread. A session uses them to record the files that commands
 * read, and a re-run uses them to read the recorded copies instead. */
struct pw_file_watch {
    /* Other folders from which a relative path counts: those in which a session was recorded. Borrowed,
     * terminated by NULL; NULL: none. */
    const char *const *folders;
    /* Returns the path to open in place of `path`; NULL: there is no copy, and the read fails with PW_EIO. */
    const char *(*instead)(void *arg, const char *path);
    /* Receives the content after a successful read. `data` is valid only during the call. */
    void (*read)(void *arg, const char *path, const char *data, size_t size);
    void *arg;
};
/* Set the callbacks of the calling thread, and return those before. Each member may be NULL; {0} removes the
 * callbacks, which is also the initial state. */
struct pw_file_watch pw_file_watch(struct pw_file_watch w);

/* Read the first n bytes of a regular file, or all of a shorter one. *got is the number of bytes read and
 * *size the size of the whole file. *data, ownership and codes are as in pw_file_read; the callbacks do not
 * apply. */
enum pw_code pw_file_read_head(const char *path, size_t n, char **data, size_t *got, size_t *size,
                               struct pw_err *err);

/* For files too large to read at once: open a regular file of at least one byte, which the caller closes, and
 * read exactly n bytes at an offset. If another program has shortened the file meanwhile, reading fails with
 * PW_EIO, where a mapped file would kill the process. path: for messages. The callbacks do not apply. */
enum pw_code pw_file_open(int *fd, const char *path, size_t *size, struct pw_err *err);
enum pw_code pw_file_read_at(int fd, const char *path, void *to, size_t n, uint64_t at, struct pw_err *err);
/* file_sha.c: compute the SHA-256 of all `size` bytes, and report the progress (base/progress.h). */
enum pw_code pw_file_sha(int fd, const char *path, size_t size, uint8_t sha[32], struct pw_err *err);

/* A file that is being written, and that replaces `path` when it is committed.
 *
 * create opens it; `path` must be a regular file or not exist, never a device. Until commit the file has no
 * name, so a process that is killed leaves nothing behind. On a system without unnamed files its name is
 * PATH.tmpXXXXXX, and the next create for the same path removes a file that a dead process left.
 *
 * Write to the stream without checking each call: the first failed write is remembered, and commit reports it
 * and leaves the old file in place. The stream has no descriptor of its own, so fileno fails.
 *
 * commit syncs the file, puts it at `path` and closes it; abandon drops it. Both free f. create and commit
 * fail with PW_EUSER (create only), PW_EIO or PW_ENOMEM. */
struct pw_file;
enum pw_code pw_file_create(struct pw_file **f, const char *path, struct pw_err *err);
/* Give the file permissions 0600; and return the stream to write to. */
void pw_file_private(struct pw_file *f);
/* Let commit replace nothing: it fails with PW_EUSER if path exists by then. */
void pw_file_fresh(struct pw_file *f);
FILE *pw_file_stream(struct pw_file *f);
enum pw_code pw_file_commit(struct pw_file *f, struct pw_err *err);
void pw_file_abandon(struct pw_file *f); /* NULL is a no-op */
/* All of it at once: write n bytes to a file that replaces `path`. */
enum pw_code pw_file_replace(const char *path, const char *data, size_t n, struct pw_err *err);

/* Create an empty file beside path, for a library that opens files by name. The caller unlinks *name as soon
 * as the library has opened it, reads the bytes by *fd and closes *fd, which holds the lock. The caller frees
 * the name. If the process is killed before the unlink, the next create for the same path removes the file.
 */
enum pw_code pw_file_scratch(int *fd, char **name, const char *path, struct pw_err *err);

#endif
