/* shim_slow.c - for LD_PRELOAD: each read of 64 KiB or more takes PEWTER_SLOW_READ milliseconds longer, as
 * from a slow disk. So a small session takes as long to open as one of gigabytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 16 };

ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room);

static void wait_first(size_t n)
{
    const char *ms = getenv("PEWTER_SLOW_READ");
    long long wait = ms != NULL && n >= LARGE ? atoll(ms) : 0;
    struct timespec left = {(time_t)(wait / 1000), (long)(wait % 1000) * 1000000};
    while (wait > 0 && nanosleep(&left, &left) != 0)
        ;
}

ssize_t read(int fd, void *to, size_t n)
{
    static ssize_t (*real)(int, void *, size_t);
    if (real == NULL)
        real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    wait_first(n);
    return real(fd, to, n);
}

ssize_t __read_chk(int fd, void *to, size_t n, size_t room) /* read of a program with _FORTIFY_SOURCE */
{
    if (n > room)
        abort();
    return read(fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (real == NULL)
        real = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    wait_first(n);
    return real(fd, to, n, at);
}

ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room)
{
    if (n > room)
        abort();
    return pread(fd, to, n, at);
}
