/* file.c - read whole files up to a limit; file_write.c writes them.
 *
 * A name from a user can be a directory, a pipe without end, a disk image or a device. So only regular files
 * are read, and the type is checked before reading. O_NONBLOCK keeps open() from waiting for the other end of
 * a pipe. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum pw_code fail_errno(struct pw_err *err, const char *path, const char *doing, int number)
{
    return pw_fail(err, number == ENOMEM ? PW_ENOMEM : PW_EIO, "%.240s: cannot %s: %s", path, doing,
                   strerror(number));
}

static _Thread_local struct pw_file_watch watch;

struct pw_file_watch pw_file_watch(struct pw_file_watch w)
{
    struct pw_file_watch before = watch;
    watch = w;
    return before;
}

/* Read fd to its end. The size from fstat is only a hint: a file may grow, or (in /proc) report size 0. */
static enum pw_code read_all(int fd, const char *path, size_t hint, size_t limit, char **data, size_t *size,
                             struct pw_err *err)
{
    /* one extra byte: it detects the end of the file, and then holds the NUL */
    size_t len = 0, cap = hint + 1;
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
            buf[len] = '\0'; /* len < cap, because the buffer grows when they are equal */
            *data = buf;
            *size = len;
            return PW_OK;
        }
        len += (size_t)got;
        if (len > limit) {
            free(buf);
            return pw_fail(err, PW_EUSER, "%.240s: has more than %zu bytes, the limit for this file", path,
                           limit);
        }
        if (len == cap) {
            cap = cap < 4096 ? 4096 : 2 * cap;
            char *larger = realloc(buf, cap);
            if (larger == NULL)
                free(buf);
            buf = larger;
        }
    }
    return pw_fail(err, PW_ENOMEM, "%.240s: out of memory: %zu bytes needed", path, cap);
}

void pw_file_place(const char *path, struct pw_str *out)
{
    struct pw_str other = {0};
    bool here = path[0] == '/' || access(path, F_OK) == 0;
    for (int i = 0; !here && watch.folders != NULL && watch.folders[i] != NULL; i++) {
        pw_str_clear(&other);
        pw_str_add(&other, "%s/%s", watch.folders[i], path);
        if (access(other.s, F_OK) == 0)
            break;
        pw_str_clear(&other);
    }
    pw_str_add(out, "%s", other.len > 0 ? other.s : path);
    pw_str_fini(&other);
}

bool pw_file_stat(const char *path, struct stat *st)
{
    struct pw_str place = {0};
    pw_file_place(path, &place);
    bool there = stat(place.s, st) == 0;
    pw_str_fini(&place);
    return there;
}

const char *const *pw_file_folders(void)
{
    return watch.folders;
}

/* Open a regular file for reading and get its size. */
static enum pw_code open_regular(int *fd, const char *path, size_t *size, struct pw_err *err)
{
    struct stat st;
    struct pw_str place = {0};
    enum pw_code code = PW_OK;

    pw_file_place(path, &place);
    *fd = open(place.s, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int number = errno;
    pw_str_fini(&place);
    if (*fd < 0)
        return fail_errno(err, path, "open", number);
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

bool pw_file_copies(void)
{
    return watch.instead != NULL;
}

void pw_file_note(const char *name, const char *data, size_t size)
{
    if (watch.read != NULL)
        watch.read(watch.arg, name, data, size);
}

enum pw_code pw_file_read(const char *path, size_t limit, char **data, size_t *size, struct pw_err *err)
{
    return pw_file_read_as(path, path, limit, data, size, err);
}

enum pw_code pw_file_read_as(const char *name, const char *path, size_t limit, char **data, size_t *size,
                             struct pw_err *err)
{
    const char *real = watch.instead != NULL ? watch.instead(watch.arg, name) : path;
    size_t bytes;
    int fd;

    *data = NULL;
    *size = 0;
    if (real == NULL && watch.instead == NULL)
        return pw_fail(err, PW_EUSER, "%.240s: there is no such file", name);
    if (real == NULL)
        return pw_fail(err, PW_EIO, "%.240s: the session has no copy of this file", name);
    if (path == NULL)
        path = name;
    enum pw_code code = open_regular(&fd, real, &bytes, err);
    if (code != PW_OK)
        return code;
    if (bytes > limit)
        code = pw_fail(err, PW_EUSER, "%.240s: has %zu bytes; the limit is %zu", path, bytes, limit);
    else
        code = read_all(fd, path, bytes, limit, data, size, err);
    close(fd);
    if (code == PW_OK && watch.read != NULL)
        watch.read(watch.arg, name, *data, *size);
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
        code = pw_fail(err, PW_ENOMEM, "%.240s: out of memory: %zu bytes needed", path, n);
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

enum pw_code pw_file_open(int *fd, const char *path, size_t *size, struct pw_err *err)
{
    enum pw_code code = open_regular(fd, path, size, err);

    if (code == PW_OK && *size == 0) {
        close(*fd);
        code = pw_fail(err, PW_EUSER, "%.240s: is empty", path);
    }
    if (code != PW_OK)
        *fd = -1;
    return code;
}

enum pw_code pw_file_read_at(int fd, const char *path, void *to, size_t n, uint64_t at, struct pw_err *err)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(at + done));
        if (got == 0)
            return pw_fail(err, PW_EIO, "%.240s: was shortened while it was read", path);
        if (got < 0 && errno != EINTR)
            return fail_errno(err, path, "read", errno);
        done += got > 0 ? (size_t)got : 0;
    }
    return PW_OK;
}
