/* file_write.c - write files that appear complete or not at all; a killed process leaves nothing behind.
 *
 * The bytes go to a file without a name (O_TMPFILE), which the kernel frees with its last descriptor. commit
 * links it to its name (linkat). A link can't replace an existing file, so then the new file is linked as
 * PATH.tmpXXXXXX for a moment and renamed.
 *
 * Without O_TMPFILE in the file system or kernel, or without /proc, the file is named PATH.tmpXXXXXX from the
 * beginning. Then a killed process leaves it behind. Every writer holds a lock (flock) on its file. So a file
 * with such a name that can be locked belongs to a dead process, and the next create for the same PATH
 * removes it.
 *
 * A rename or link must not replace a device by a file, so create rejects a target that is not a regular
 * file.
 *
 * The stream is a cookie stream instead of fdopen()'s. stdio remembers that a write failed but not why, and
 * the user needs the reason, such as "no space left on device". */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ASIDE  ".tmp" /* followed by DIGITS hexadecimal digits */
#define DIGITS 6

struct pw_file {
    FILE *stream;
    int fd;
    int failed; /* errno of the first write that failed */
    bool named; /* the file `beside` has a name */
    bool fresh; /* commit must not replace a file */
    char *path, *beside;
};

static enum pw_code fail_errno(struct pw_err *err, const char *path, const char *doing, int number)
{
    return pw_fail(err, number == ENOMEM ? PW_ENOMEM : PW_EIO, "%.240s: cannot %s: %s", path, doing,
                   strerror(number));
}

/* Return the folder that contains path; NULL if out of memory. The caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path)); /* "/name" is in "/" */
}

/* ---- the stream */

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
    return f->failed == 0 ? (ssize_t)n : 0; /* 0 tells stdio that the write failed */
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

/* ---- files left by killed processes */

static bool is_aside(const char *name, const char *base)
{
    size_t n = strlen(base);
    return strncmp(name, base, n) == 0 && strncmp(name + n, ASIDE, strlen(ASIDE)) == 0 &&
           strlen(name + n + strlen(ASIDE)) == DIGITS &&
           strspn(name + n + strlen(ASIDE), "0123456789abcdef") == DIGITS;
}

/* Remove files beside path that no process has locked. A file that can't be removed stays; it does not
 * prevent writing. */
static void remove_stale(const char *path, const char *folder)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    DIR *d = opendir(folder);

    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        struct stat st;
        int fd = is_aside(e->d_name, base)
                     ? openat(dirfd(d), e->d_name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
                     : -1;
        if (fd < 0)
            continue;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(d), e->d_name, 0);
        close(fd);
    }
    if (d != NULL)
        closedir(d);
}

/* ---- creating */

/* Replace the random digits at the end of `beside` by the next ones. */
static void next_name(char *beside, uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    snprintf(beside + strlen(beside) - DIGITS, DIGITS + 1, "%06x", (unsigned)(*x >> 40));
}

static uint64_t random_begin(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32;
}

/* Open a file without a name that can be linked later; -1 if that is not supported here. */
static int open_unnamed(const char *folder)
{
    char link[40];
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);

    if (fd < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (access(link, F_OK) != 0) {
        close(fd);
        return -1;
    }
    flock(fd, LOCK_EX | LOCK_NB); /* before it has a name; without lock support nothing is removed */
    return fd;
}

/* Has another process removed this new file because it looked stale? */
static bool was_removed(int fd)
{
    struct stat st;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return true;
    return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

/* mkstemp() is not used: its files are readable by the owner only. The result should have the permissions of
 * any new file, by the user's umask. */
static int open_named(char *beside)
{
    uint64_t x = random_begin();

    for (int attempt = 0; attempt < 100; attempt++) {
        next_name(beside, &x);
        int fd = open(beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 && was_removed(fd)) {
            close(fd);
            unlink(beside);
            continue;
        }
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    errno = EEXIST;
    return -1;
}

/* Open the file to write to; false: errno has the reason. */
static bool open_file(struct pw_file *f, const char *folder)
{
    struct stat st;

    /* A file without a name until commit would report a name that is too long only after all the work. */
    if (stat(f->beside, &st) != 0 && errno == ENAMETOOLONG)
        return false;
    remove_stale(f->path, folder);
    f->fd = open_unnamed(folder);
    if (f->fd < 0) {
        f->fd = open_named(f->beside);
        f->named = f->fd >= 0;
    }
    if (f->fd >= 0)
        f->stream = fopencookie(f, "w", (cookie_io_functions_t){.write = cookie_write, .seek = cookie_seek});
    return f->stream != NULL;
}

/* Return PATH.tmp000000, whose digits open_named replaces by random ones. NULL: out of memory. The caller
 * frees it. */
static char *beside_of(const char *path)
{
    size_t size = strlen(path) + strlen(ASIDE) + DIGITS + 1;
    char *beside = malloc(size);

    if (beside != NULL)
        snprintf(beside, size, "%s" ASIDE "%0*d", path, DIGITS, 0);
    return beside;
}

enum pw_code pw_file_scratch(int *fd, char **name, const char *path, struct pw_err *err)
{
    *fd = -1;
    *name = beside_of(path);
    if (*name == NULL)
        return pw_fail(err, PW_ENOMEM, "%.240s: out of memory", path);
    *fd = open_named(*name);
    if (*fd >= 0)
        return PW_OK;
    enum pw_code code = fail_errno(err, path, "create", errno);
    free(*name);
    *name = NULL;
    return code;
}

enum pw_code pw_file_create(struct pw_file **out, const char *path, struct pw_err *err)
{
    struct stat st;

    *out = NULL;
    if (path[0] == '\0')
        return pw_fail(err, PW_EUSER, "the file's name is empty");
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return pw_fail(err, PW_EUSER, "%.240s: is %s, not a regular file", path,
                       S_ISDIR(st.st_mode) ? "a directory" : "a device or a pipe");
    struct pw_file *f = calloc(1, sizeof *f);
    char *folder = folder_of(path);
    if (f != NULL) {
        f->fd = -1;
        f->path = strdup(path);
        f->beside = beside_of(path);
    }
    if (f == NULL || folder == NULL || f->path == NULL || f->beside == NULL) {
        free(folder);
        pw_file_abandon(f);
        return pw_fail(err, PW_ENOMEM, "%.240s: out of memory", path);
    }
    bool ok = open_file(f, folder);
    free(folder);
    if (!ok) {
        enum pw_code code = fail_errno(err, path, "create", errno);
        pw_file_abandon(f);
        return code;
    }
    *out = f;
    return PW_OK;
}

void pw_file_private(struct pw_file *f)
{
    fchmod(f->fd, 0600); /* can't fail: the file is new and our own */
}

void pw_file_fresh(struct pw_file *f)
{
    f->fresh = true;
}

FILE *pw_file_stream(struct pw_file *f)
{
    return f->stream;
}

/* ---- commit and abandon */

/* A rename is durable only when its directory is synced. A directory that can't be opened for reading, or
 * that the file system can't sync, is not a failure: the file itself is written. */
static int sync_directory(const char *path)
{
    char *folder = folder_of(path);
    int number = 0;

    if (folder == NULL)
        return ENOMEM;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd >= 0) {
        if (fsync(fd) != 0 && errno == EIO)
            number = EIO;
        close(fd);
    }
    return number;
}

/* Give the file its name: path if it does not exist, else `beside`, which is then renamed (a fresh file gets
 * neither: EEXIST). Returns an errno. */
static int give_name(struct pw_file *f)
{
    uint64_t x = random_begin();
    char link[40];

    snprintf(link, sizeof link, "/proc/self/fd/%d", f->fd);
    if (linkat(AT_FDCWD, link, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    for (int attempt = 0; attempt < 100 && errno == EEXIST && !f->named && !f->fresh; attempt++) {
        next_name(f->beside, &x);
        f->named = linkat(AT_FDCWD, link, AT_FDCWD, f->beside, AT_SYMLINK_FOLLOW) == 0;
    }
    return f->named ? 0 : errno;
}

static int put_in_place(const struct pw_file *f)
{
    return f->fresh ? renameat2(AT_FDCWD, f->beside, AT_FDCWD, f->path, RENAME_NOREPLACE)
                    : rename(f->beside, f->path);
}

static int finish(struct pw_file *f)
{
    bool bad = fflush(f->stream) != 0 || ferror(f->stream);
    int number = 0;

    if (f->failed != 0)
        return f->failed;
    if (bad)
        return EIO;
    /* these two: the file system has nothing to sync */
    if (fsync(f->fd) != 0 && errno != EINVAL && errno != EROFS)
        return errno;
    if (!f->named)
        number = give_name(f);
    if (number == 0 && f->named && put_in_place(f) != 0)
        number = errno;
    if (number != 0)
        return number;
    f->named = false; /* the file `beside` no longer exists */
    return sync_directory(f->path);
}

enum pw_code pw_file_commit(struct pw_file *f, struct pw_err *err)
{
    int number = finish(f);
    enum pw_code code = number == 0                    ? PW_OK
                        : f->fresh && number == EEXIST ? pw_fail(err, PW_EUSER, "%s already exists", f->path)
                                                       : fail_errno(err, f->path, "write", number);

    pw_file_abandon(f);
    return code;
}

void pw_file_abandon(struct pw_file *f)
{
    if (f == NULL)
        return;
    if (f->stream != NULL)
        fclose(f->stream);
    if (f->named)
        unlink(f->beside);
    if (f->fd >= 0)
        close(f->fd);
    free(f->beside);
    free(f->path);
    free(f);
}

enum pw_code pw_file_replace(const char *path, const char *data, size_t n, struct pw_err *err)
{
    struct pw_file *f;
    enum pw_code code = pw_file_create(&f, path, err);

    if (code != PW_OK)
        return code;
    fwrite(data, 1, n, f->stream);
    return pw_file_commit(f, err);
}
