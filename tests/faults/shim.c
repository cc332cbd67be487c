/* shim.c - LD_PRELOAD library that makes the C library's allocating functions fail. Call number
 * PEWTER_FAIL_AT of the process fails; with PEWTER_FAIL_ON all later calls fail, too. The number of calls is
 * written to the file PEWTER_FAIL_COUNT at exit. The calls that change files are in shim_files.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static atomic_long calls;

static bool fails(void)
{
    static atomic_long at = -1;
    static atomic_bool on;
    long n = atomic_fetch_add(&calls, 1) + 1;
    if (at < 0) {
        const char *text = getenv("PEWTER_FAIL_AT");
        on = getenv("PEWTER_FAIL_ON") != NULL;
        at = text != NULL ? atol(text) : 0;
    }
    bool no = at > 0 && (on ? n >= at : n == at);
    if (no)
        errno = ENOMEM;
    return no;
}

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return fails() ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    void *got = fails() ? NULL : __libc_memalign(align, n);
    if (got == NULL)
        return ENOMEM;
    *p = got;
    return 0;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("PEWTER_FAIL_COUNT");
    char line[32];
    int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0)
        return;
    int n = snprintf(line, sizeof line, "%ld\n", (long)calls);
    if (write(fd, line, (size_t)n) != n)
        _exit(3);
    close(fd);
}
