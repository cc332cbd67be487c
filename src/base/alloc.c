/* alloc.c - allocation, and the end of the program if there is no memory.
 *
 * Neither the message nor the exit path may allocate. The program ends with _exit because other threads still
 * run and use what exit would destroy. stdout is flushed first, so that output printed so far is not lost. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static _Atomic(void (*)(void)) first_of_all;

void pw_on_exhausted(void (*first)(void))
{
    atomic_store(&first_of_all, first);
}

void pw_exhausted(size_t bytes)
{
    static atomic_bool before;
    char line[80];
    void (*first)(void) = atomic_load(&first_of_all);

    if (atomic_exchange(&before, true))
        pause(); /* another thread is already ending the program */
    int n = snprintf(line, sizeof line, "pewter: out of memory: cannot allocate %zu bytes\n", bytes);
    if (first != NULL)
        first();
    fflush(stdout);
    if (write(STDERR_FILENO, line, (size_t)n) < 0) {
        /* there is no other place to report it */
    }
    _exit(1);
}

void pw_alloc_begin(void)
{
#ifdef __GLIBC__
    enum {
        OWN_PAGES = 1 << 20,
        KEPT = 2 << 20
    }; /* bytes: of a block that has pages of its own; at the heap's end */
    mallopt(M_MMAP_THRESHOLD, OWN_PAGES);
    mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

void pw_alloc_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void *pw_alloc(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);
    if (p == NULL)
        pw_exhausted(n * size);
    return p;
}

void *pw_grow(void *p, size_t n, size_t size)
{
    void *q = n <= SIZE_MAX / size ? realloc(p, n > 0 ? n * size : 1) : NULL;
    if (q == NULL)
        pw_exhausted(n * size);
    return q;
}

void *pw_copy(const void *p, size_t n, size_t size)
{
    void *q = pw_alloc(n, size);
    if (n > 0)
        memcpy(q, p, n * size);
    return q;
}

char *pw_text_dup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(pw_grow(NULL, n, 1), s, n);
}
