/* shim_files.c - the other half of shim.c for LD_PRELOAD: makes calls that change files fail, and logs them.
 *
 * It affects only paths under PEWTER_FILES (an absolute path).
 *
 * PEWTER_BREAK="CALL AT ERRNO SECONDS [short]": call number AT (from 0) of its kind fails, and all others of
 * that kind for SECONDS after it. Kinds: write, sync, rename, open, truncate. short: half of the data is
 * written all the same. PEWTER_BROKEN names a file that is created when a call fails.
 *
 * PEWTER_LOG=FILE: logs all operations in order, so that sessions/power.c can simulate a loss of power. Each
 * record is a struct pw_log_op, two paths, and the written bytes. Standard output is logged, too: it shows
 * what was acknowledged when. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shim_log.h"

#define REAL(type, name, ...)                                                                                \
    static type (*real)(__VA_ARGS__);                                                                        \
    if (real == NULL)                                                                                        \
    real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

enum { FDS = 1024 };

static const char *folder;
static int log_fd = -1;
static struct {
    char name[16], how[16];
    long at, calls;
    int number;
    double seconds, until;
    const char *mark;
} broken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *names[FDS]; /* by descriptor: the path of an open file under the folder */

static int real_open(const char *path, int flags, mode_t mode)
{
    REAL(int, "open64", const char *, int, ...);
    return real(path, flags, mode);
}

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("PEWTER_LOG"), *what = getenv("PEWTER_BREAK");
    folder = getenv("PEWTER_FILES");
    broken.at = -1;
    broken.mark = getenv("PEWTER_BROKEN");
    if (what != NULL)
        sscanf(what, "%15s %ld %d %lf %15s", broken.name, &broken.at, &broken.number, &broken.seconds,
               broken.how);
    if (file == NULL)
        return;
    /* Use a high descriptor, so that the program gets the same descriptors as without the log. The limit may
     * be as low as FDS. */
    struct rlimit most;
    getrlimit(RLIMIT_NOFILE, &most);
    int fd = real_open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    log_fd = fcntl(fd, F_DUPFD_CLOEXEC, most.rlim_cur < FDS ? (int)most.rlim_cur - 1 : FDS - 1);
    if (log_fd < 0)
        abort();
    close(fd);
}

/* ---- which files are affected */

static bool meant(const char *path)
{
    return folder != NULL && path != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static const char *name_of(int fd)
{
    return fd >= 0 && fd < FDS ? names[fd] : NULL;
}

static void forget(int fd)
{
    if (fd >= 0 && fd < FDS) {
        free(names[fd]);
        names[fd] = NULL;
    }
}

/* ---- failing */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool fails(const char *call)
{
    if (broken.at < 0 || strcmp(call, broken.name) != 0)
        return false;
    pthread_mutex_lock(&lock);
    long n = broken.calls++;
    if (n == broken.at)
        broken.until = now() + broken.seconds;
    bool no = n == broken.at || (n > broken.at && now() < broken.until);
    pthread_mutex_unlock(&lock);
    if (n == broken.at && broken.mark != NULL)
        close(real_open(broken.mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (no)
        errno = broken.number;
    return no;
}

/* ---- logging */

static void put(const void *data, size_t n)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    for (const char *at = data; n > 0;) {
        ssize_t wrote = real(log_fd, at, n);
        if (wrote <= 0)
            abort();
        at += wrote;
        n -= (size_t)wrote;
    }
}

static void record(char what, const char *path, const char *to, int64_t at, const void *data, size_t n)
{
    struct pw_log_op op = {.what = what, .at = at, .n = n};
    int number = errno;
    if (log_fd < 0)
        return;
    op.n_path = path != NULL ? (uint16_t)strlen(path) : 0;
    op.n_to = to != NULL ? (uint16_t)strlen(to) : 0;
    pthread_mutex_lock(&lock);
    put(&op, sizeof op);
    put(path, op.n_path);
    put(to, op.n_to);
    if (data != NULL)
        put(data, n);
    pthread_mutex_unlock(&lock);
    errno = number;
}

/* ---- the calls */

static int opened(const char *path, int flags, mode_t mode)
{
    if (!meant(path))
        return real_open(path, flags, mode);
    if (fails("open"))
        return -1;
    bool there = access(path, F_OK) == 0;
    int fd = real_open(path, flags, mode);
    if (fd < 0 || fd >= FDS)
        return fd;
    forget(fd);
    names[fd] = strdup(path);
    if ((flags & O_CREAT) && !there)
        record(PW_LOG_CREATE, path, NULL, 0, NULL, 0);
    else if (flags & O_TRUNC)
        record(PW_LOG_TRUNCATE, path, NULL, 0, NULL, 0);
    return fd;
}

#define MODE(flags)                                                                                          \
    mode_t mode = 0;                                                                                         \
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {                                             \
        va_list args;                                                                                        \
        va_start(args, flags);                                                                               \
        mode = va_arg(args, mode_t);                                                                         \
        va_end(args);                                                                                        \
    }

int open(const char *path, int flags, ...)
{
    MODE(flags)
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE(flags)
    return opened(path, flags, mode);
}

int close(int fd)
{
    REAL(int, "close", int);
    forget(fd);
    return real(fd);
}

static ssize_t written(int fd, const void *data, size_t n, off64_t at)
{
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    const char *name = name_of(fd);
    bool no = name != NULL && fails("write");
    if (no && strcmp(broken.how, "short") != 0)
        return -1;
    ssize_t wrote = real(fd, data, no ? n / 2 : n, at);
    if (name != NULL && wrote > 0)
        record(PW_LOG_WRITE, name, NULL, at, data, (size_t)wrote);
    if (no)
        errno = broken.number;
    return no ? -1 : wrote;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    return written(fd, data, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    return written(fd, data, n, at);
}

ssize_t write(int fd, const void *data, size_t n)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    const char *name = name_of(fd);
    if (name != NULL && fails("write"))
        return -1;
    off_t at = name != NULL ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t wrote = real(fd, data, n);
    if (wrote > 0 && (name != NULL || fd == STDOUT_FILENO))
        record(name != NULL ? PW_LOG_WRITE : PW_LOG_SAID, name, NULL, at, data, (size_t)wrote);
    return wrote;
}

#define TRUNCATE(function, type, called)                                                                     \
    int function(int fd, type size)                                                                          \
    {                                                                                                        \
        REAL(int, called, int, type);                                                                        \
        const char *name = name_of(fd);                                                                      \
        if (name != NULL && fails("truncate"))                                                               \
            return -1;                                                                                       \
        int failed = real(fd, size);                                                                         \
        if (failed == 0 && name != NULL)                                                                     \
            record(PW_LOG_TRUNCATE, name, NULL, size, NULL, 0);                                              \
        return failed;                                                                                       \
    }
TRUNCATE(ftruncate, off_t, "ftruncate")
TRUNCATE(ftruncate64, off64_t, "ftruncate64")

#define SYNC(function, called)                                                                               \
    int function(int fd)                                                                                     \
    {                                                                                                        \
        REAL(int, called, int);                                                                              \
        const char *name = name_of(fd);                                                                      \
        if (name != NULL && fails("sync"))                                                                   \
            return -1;                                                                                       \
        struct stat st;                                                                                      \
        int failed = real(fd);                                                                               \
        if (failed == 0 && name != NULL && fstat(fd, &st) == 0)                                              \
            record(S_ISDIR(st.st_mode) ? PW_LOG_SYNC_FOLDER : PW_LOG_SYNC, name, NULL, 0, NULL, 0);          \
        return failed;                                                                                       \
    }
SYNC(fsync, "fsync")
SYNC(fdatasync, "fdatasync")

int rename(const char *from, const char *to)
{
    REAL(int, "rename", const char *, const char *);
    if (meant(from) && fails("rename"))
        return -1;
    int failed = real(from, to);
    if (failed == 0 && meant(from))
        record(PW_LOG_RENAME, from, to, 0, NULL, 0);
    return failed;
}

int unlink(const char *path)
{
    REAL(int, "unlink", const char *);
    int failed = real(path);
    if (failed == 0 && meant(path))
        record(PW_LOG_UNLINK, path, NULL, 0, NULL, 0);
    return failed;
}

int unlinkat(int at, const char *name, int flags)
{
    REAL(int, "unlinkat", int, const char *, int);
    char path[4096];
    int failed = real(at, name, flags);
    snprintf(path, sizeof path, "%s/%s", name_of(at) != NULL ? name_of(at) : "", name);
    if (failed == 0 && name_of(at) != NULL)
        record(PW_LOG_UNLINK, path, NULL, 0, NULL, 0);
    return failed;
}

int mkdir(const char *path, mode_t mode)
{
    REAL(int, "mkdir", const char *, mode_t);
    int failed = real(path, mode);
    if (failed == 0 && meant(path))
        record(PW_LOG_FOLDER, path, NULL, 0, NULL, 0);
    return failed;
}
