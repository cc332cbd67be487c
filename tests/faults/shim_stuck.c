/* shim_stuck.c - for LD_PRELOAD: while the file PEWTER_STUCK exists, each call that touches a file waits, as
 * on a disk that answers no more. The calls of the first thread are also listed in PEWTER_STUCK.calls. */
#undef _FORTIFY_SOURCE /* it would define some of these functions inline */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* System calls without the C library's functions, which are replaced here. */
static bool is_stuck(const char *mark)
{
    return syscall(SYS_faccessat, AT_FDCWD, mark, F_OK) == 0;
}

static void list_call(const char *mark, const char *call, const char *path)
{
    char text[5000], name[4200];
    snprintf(name, sizeof name, "%s.calls", mark);
    int n = snprintf(text, sizeof text, "%s %.4000s\n", call, path != NULL ? path : "");
    long fd = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, fd, text, n);
    syscall(SYS_close, fd);
}

static void touch(const char *call, const char *path)
{
    const char *mark = getenv("PEWTER_STUCK");
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    if (mark == NULL || !is_stuck(mark))
        return;
    if (syscall(SYS_gettid) == syscall(SYS_getpid))
        list_call(mark, call, path);
    while (is_stuck(mark))
        nanosleep(&moment, NULL);
}

/* Only files on a disk: no terminals, pipes and memory. */
static void touch_fd(const char *call, int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    if (path[0] == '/' && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/memfd:", 7) != 0)
        touch(call, path);
}

#define BY_PATH(type, name, declared, path, ...)                                                             \
    type name declared                                                                                       \
    {                                                                                                        \
        static type(*real) declared;                                                                         \
        if (real == NULL)                                                                                    \
            real = (type(*) declared)dlsym(RTLD_NEXT, #name);                                                \
        touch(#name, path);                                                                                  \
        return real(__VA_ARGS__);                                                                            \
    }
#define BY_FD(type, name, declared, fd, ...)                                                                 \
    type name declared                                                                                       \
    {                                                                                                        \
        static type(*real) declared;                                                                         \
        if (real == NULL)                                                                                    \
            real = (type(*) declared)dlsym(RTLD_NEXT, #name);                                                \
        touch_fd(#name, fd);                                                                                 \
        return real(__VA_ARGS__);                                                                            \
    }

#define OPEN(name)                                                                                           \
    int name(const char *path, int flags, ...)                                                               \
    {                                                                                                        \
        static int (*real)(const char *, int, ...);                                                          \
        va_list args;                                                                                        \
        va_start(args, flags);                                                                               \
        mode_t mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0; \
        va_end(args);                                                                                        \
        if (real == NULL)                                                                                    \
            real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);                                 \
        touch(#name, path);                                                                                  \
        return real(path, flags, mode);                                                                      \
    }
#define OPENAT(name)                                                                                         \
    int name(int at, const char *path, int flags, ...)                                                       \
    {                                                                                                        \
        static int (*real)(int, const char *, int, ...);                                                     \
        va_list args;                                                                                        \
        va_start(args, flags);                                                                               \
        mode_t mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0; \
        va_end(args);                                                                                        \
        if (real == NULL)                                                                                    \
            real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, #name);                            \
        touch(#name, path);                                                                                  \
        return real(at, path, flags, mode);                                                                  \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
BY_PATH(FILE *, fopen, (const char *path, const char *mode), path, path, mode)
BY_PATH(FILE *, fopen64, (const char *path, const char *mode), path, path, mode)
BY_PATH(DIR *, opendir, (const char *path), path, path)
BY_PATH(int, scandir,
        (const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
         int (*compare)(const struct dirent **, const struct dirent **)),
        path, path, list, filter, compare)
BY_PATH(int, stat, (const char *path, struct stat *st), path, path, st)
BY_PATH(int, stat64, (const char *path, struct stat64 *st), path, path, st)
BY_PATH(int, lstat, (const char *path, struct stat *st), path, path, st)
BY_PATH(int, lstat64, (const char *path, struct stat64 *st), path, path, st)
BY_PATH(int, fstatat, (int at, const char *path, struct stat *st, int flags), path, at, path, st, flags)
BY_PATH(int, access, (const char *path, int mode), path, path, mode)
BY_PATH(ssize_t, readlink, (const char *path, char *to, size_t n), path, path, to, n)
BY_PATH(char *, realpath, (const char *path, char *to), path, path, to)
BY_PATH(int, mkdir, (const char *path, mode_t mode), path, path, mode)
BY_PATH(int, rename, (const char *path, const char *to), path, path, to)
BY_PATH(int, unlink, (const char *path), path, path)
BY_FD(ssize_t, read, (int fd, void *to, size_t n), fd, fd, to, n)
BY_FD(ssize_t, write, (int fd, const void *from, size_t n), fd, fd, from, n)
BY_FD(ssize_t, pread, (int fd, void *to, size_t n, off_t at), fd, fd, to, n, at)
BY_FD(ssize_t, pread64, (int fd, void *to, size_t n, off64_t at), fd, fd, to, n, at)
BY_FD(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), fd, fd, from, n, at)
BY_FD(ssize_t, pwrite64, (int fd, const void *from, size_t n, off64_t at), fd, fd, from, n, at)
BY_FD(int, fsync, (int fd), fd, fd)
BY_FD(int, fdatasync, (int fd), fd, fd)
BY_FD(int, ftruncate, (int fd, off_t size), fd, fd, size)
