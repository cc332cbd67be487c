/* file.c - reading with a limit, and writing beside and renaming.
 *
 * A name given by a user can be a directory, a pipe that never ends, a disk image or a device; reading
 * and writing both take regular files only, and look before they act: O_NONBLOCK keeps open() from
 * waiting for a pipe's other end, and a rename must not put a file where /dev/null was.
 *
 * The stream is a cookie stream of ours instead of fdopen()'s, because stdio remembers that a write
 * failed, but not why, and "no space left on device" is what the user has to know. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum pw_code fail_errno(struct pw_err *err, const char *path, const char *doing, int number)
{
    return pw_fail(err, number == ENOMEM ? PW_ENOMEM : PW_EIO, "%.240s: cannot %s: %s", path, doing,
                   strerror(number));
}

/* ---- reading */

static _Thread_local struct pw_file_watch watch;

void pw_file_watch(struct pw_file_watch w)
{
    watch = w;
}

/* Reads to the end of fd; the size that fstat gave is a hint, a file may grow or (in /proc) say 0. */
static enum pw_code read_all(int fd, const char *path, size_t hint, size_t limit, char **data, size_t *size,
                             struct pw_err *err)
{
    size_t len = 0, cap = hint + 1; /* one byte beyond is asked for, to find the end, and holds the NUL */
    char *buf = malloc(cap);

    while (buf != NULL) {
        ssize_t got = read(fd, buf + len, cap - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int number = errno;
            free(buf);
            return fail_errno(err, path, "read", number);
        }
        if (got == 0) {
            buf[len] = '\0'; /* len < cap here, see below */
            *data = buf;
            *size = len;
            return PW_OK;
        }
        len += (size_t)got;
        if (len > limit) {
            free(buf);
            return pw_fail(err, PW_EUSER, "%.240s: has more than %zu bytes, which is the most read here",
                           path, limit);
        }
        if (len == cap) {
            cap = cap < 4096 ? 4096 : 2 * cap;
            char *larger = realloc(buf, cap);
            if (larger == NULL)
                free(buf);
            buf = larger;
        }
    }
    return pw_fail(err, PW_ENOMEM, "%.240s: out of memory for %zu bytes", path, cap);
}

/* Opens a regular file for reading and gives its size. */
static enum pw_code open_regular(int *fd, const char *path, size_t *size, struct pw_err *err)
{
    struct stat st;
    enum pw_code code = PW_OK;

    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return fail_errno(err, path, "open", errno);
    if (fstat(*fd, &st) != 0)
        code = fail_errno(err, path, "read", errno);
    else if (!S_ISREG(st.st_mode))
        code = pw_fail(err, PW_EUSER, "%.240s: is %s, not a file", path,
                       S_ISDIR(st.st_mode) ? "a directory" : "a device or a pipe");
    else
        *size = (size_t)st.st_size;
    if (code != PW_OK)
        close(*fd);
    return code;
}

enum pw_code pw_file_read(const char *path, size_t limit, char **data, size_t *size, struct pw_err *err)
{
    const char *real = watch.instead != NULL ? watch.instead(watch.arg, path) : path;
    size_t bytes;
    int fd;

    *data = NULL;
    *size = 0;
    if (real == NULL)
        return pw_fail(err, PW_EIO, "%.240s: the recording has no copy of it", path);
    enum pw_code code = open_regular(&fd, real, &bytes, err);
    if (code != PW_OK)
        return code;
    if (bytes > limit)
        code = pw_fail(err, PW_EUSER, "%.240s: has %zu bytes; at most %zu are read here", path, bytes, limit);
    else
        code = read_all(fd, path, bytes, limit, data, size, err);
    close(fd);
    if (code == PW_OK && watch.read != NULL)
        watch.read(watch.arg, path, *data, *size);
    return code;
}

enum pw_code pw_file_read_head(const char *path, size_t n, char **data, size_t *got, size_t *size,
                               struct pw_err *err)
{
    ssize_t once = 1;
    int fd;

    *data = NULL;
    *got = 0;
    enum pw_code code = open_regular(&fd, path, size, err);
    if (code != PW_OK)
        return code;
    char *buf = malloc(n + 1);
    while (buf != NULL && *got < n && once != 0) {
        once = read(fd, buf + *got, n - *got);
        if (once > 0)
            *got += (size_t)once;
        else if (once < 0 && errno != EINTR)
            break;
    }
    if (buf == NULL)
        code = pw_fail(err, PW_ENOMEM, "%.240s: out of memory for %zu bytes", path, n);
    else if (once < 0)
        code = fail_errno(err, path, "read", errno);
    close(fd);
    if (code != PW_OK) {
        free(buf);
        return code;
    }
    buf[*got] = '\0';
    *data = buf;
    return PW_OK;
}

/* ---- writing */

struct pw_file {
    FILE *stream;
    int fd;
    int failed; /* errno of the first write that failed */
    char *path, *beside;
};

static ssize_t cookie_write(void *cookie, const char *data, size_t n)
{
    struct pw_file *f = cookie;
    size_t done = 0;

    while (done < n && f->failed == 0) {
        ssize_t put = write(f->fd, data + done, n - done);
        if (put >= 0)
            done += (size_t)put;
        else if (errno != EINTR)
            f->failed = errno;
    }
    return f->failed == 0 ? (ssize_t)n : 0; /* 0 is stdio's sign of failure */
}

static int cookie_seek(void *cookie, off64_t *offset, int whence)
{
    struct pw_file *f = cookie;
    off_t at = lseek(f->fd, *offset, whence);

    if (at < 0)
        return -1;
    *offset = at;
    return 0;
}

/* Not mkstemp(): its files can be read by their owner alone, and the result should have the permissions
 * that the user's umask gives to every new file. */
static int open_beside(char *beside, size_t stem)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t x = (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32;
    for (int attempt = 0; attempt < 100; attempt++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        snprintf(beside + stem, 7, "%06x", (unsigned)(x >> 40));
        int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

enum pw_code pw_file_create(struct pw_file **out, const char *path, struct pw_err *err)
{
    struct stat st;
    size_t n = strlen(path);

    *out = NULL;
    if (n == 0)
        return pw_fail(err, PW_EUSER, "the name of the file to write is empty");
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return pw_fail(err, PW_EUSER, "%.240s: is %s; a file is written here", path,
                       S_ISDIR(st.st_mode) ? "a directory" : "a device or a pipe");
    struct pw_file *f = calloc(1, sizeof *f);
    if (f != NULL) {
        f->fd = -1;
        f->path = strdup(path);
        f->beside = malloc(n + sizeof ".tmpXXXXXX");
    }
    if (f == NULL || f->path == NULL || f->beside == NULL) {
        pw_file_abandon(f);
        return pw_fail(err, PW_ENOMEM, "%.240s: out of memory", path);
    }
    memcpy(f->beside, path, n);
    memcpy(f->beside + n, ".tmp", 4);
    f->fd = open_beside(f->beside, n + 4);
    if (f->fd >= 0)
        f->stream = fopencookie(f, "w", (cookie_io_functions_t){.write = cookie_write, .seek = cookie_seek});
    if (f->stream == NULL) {
        enum pw_code code = fail_errno(err, path, "create", errno);
        pw_file_abandon(f);
        return code;
    }
    *out = f;
    return PW_OK;
}

void pw_file_private(struct pw_file *f)
{
    fchmod(f->fd, 0600); /* it is ours, and new */
}

FILE *pw_file_stream(struct pw_file *f)
{
    return f->stream;
}

/* A rename is on the disk only when its directory is. A directory that can't be opened for reading, or a
 * file system that knows no such thing, is no failure: the file itself is written. */
static int sync_directory(const char *path)
{
    char *dir = strdup(path);
    int number = 0;

    if (dir == NULL)
        return ENOMEM;
    char *slash = strrchr(dir, '/');
    if (slash != NULL)
        slash[slash == dir] = '\0'; /* "/name" is in "/" */
    int fd = open(slash != NULL ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(dir);
    if (fd >= 0) {
        if (fsync(fd) != 0 && errno == EIO)
            number = EIO;
        close(fd);
    }
    return number;
}

static int finish(struct pw_file *f)
{
    bool bad = fflush(f->stream) != 0 || ferror(f->stream);

    if (f->failed != 0)
        return f->failed;
    if (bad)
        return EIO;
    if (fsync(f->fd) != 0 && errno != EINVAL && errno != EROFS) /* those: nothing here to sync */
        return errno;
    if (rename(f->beside, f->path) != 0)
        return errno;
    free(f->beside); /* from here on there is nothing beside to remove */
    f->beside = NULL;
    return sync_directory(f->path);
}

enum pw_code pw_file_commit(struct pw_file *f, struct pw_err *err)
{
    int number = finish(f);
    enum pw_code code = number == 0 ? PW_OK : fail_errno(err, f->path, "write", number);

    pw_file_abandon(f);
    return code;
}

void pw_file_abandon(struct pw_file *f)
{
    if (f == NULL)
        return;
    if (f->stream != NULL)
        fclose(f->stream);
    if (f->fd >= 0) {
        close(f->fd);
        if (f->beside != NULL)
            unlink(f->beside);
    }
    free(f->beside);
    free(f->path);
    free(f);
}
