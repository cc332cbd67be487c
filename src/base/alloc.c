/* alloc.c - the end for want of memory.
 *
 * Neither the message nor the way out may allocate. _exit, because the other threads run on: what exit would
 * tear down is still in use. What was printed so far is flushed, since it stands. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        pause(); /* another thread is about to end the program */
    int n = snprintf(line, sizeof line, "pewter: out of memory: %zu bytes more are needed\n", bytes);
    if (first != NULL)
        first();
    fflush(stdout);
    if (write(STDERR_FILENO, line, (size_t)n) < 0) {
        /* nobody can be told */
    }
    _exit(1);
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

char *pw_text_dup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(pw_grow(NULL, n, 1), s, n);
}
