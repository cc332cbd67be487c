/* pages.c - see pages.h. */
#include "base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

static void *map_pages(size_t bytes, int flags)
{
    void *p =
        mmap(NULL, bytes > 0 ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

void *pw_pages_reserve(size_t bytes)
{
    return map_pages(bytes, MAP_NORESERVE);
}

void pw_pages_free(void *pages, size_t bytes)
{
    if (pages != NULL)
        munmap(pages, bytes > 0 ? bytes : 1);
}

/* Set *first to the first page that lies inside as a whole. Returns the bytes of all such pages. */
static size_t whole_pages(const void *from, size_t bytes, void **first)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)from, end = begin + bytes;
    begin = (begin + page - 1) / page * page;
    end = end / page * page;
    *first = (void *)begin;
    return end > begin ? end - begin : 0;
}

void pw_pages_drop(void *from, size_t bytes)
{
    void *first;
    size_t n = whole_pages(from, bytes, &first);
    if (n > 0)
        madvise(first, n, MADV_DONTNEED);
}

void pw_pages_close(void *from, size_t bytes)
{
    void *first;
    size_t n = whole_pages(from, bytes, &first);
    if (n == 0)
        return;
    madvise(first, n, MADV_DONTNEED);
    mprotect(first, n, PROT_NONE); /* a precaution; failure has no other effect */
}

void pw_pages_open(void *from, size_t bytes)
{
    void *first;
    size_t n = whole_pages(from, bytes, &first);
    /* The system refuses only if it has no memory for its own tables. */
    if (n > 0 && mprotect(first, n, PROT_READ | PROT_WRITE) != 0)
        pw_exhausted(n);
}

void pw_pages_huge(void *from, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    void *first;
    size_t n = whole_pages(from, bytes, &first);
    if (n > 0)
        madvise(first, n, MADV_HUGEPAGE); /* a hint */
#else
    (void)from;
    (void)bytes;
#endif
}

/* A small block comes from the heap: mapping and freeing pages takes longer than a small model's token. */
static bool has_pages(size_t bytes)
{
    return bytes >= (size_t)1 << 20;
}

void *pw_block_take(size_t bytes)
{
    enum { ALIGN = 64 };
    if (has_pages(bytes)) {
        void *pages = map_pages(bytes, 0);
        if (pages != NULL)
            pw_pages_huge(pages, bytes);
        return pages;
    }
    size_t whole = (bytes / ALIGN + 1) * ALIGN;
    void *p = aligned_alloc(ALIGN, whole);
    return p != NULL ? memset(p, 0, whole) : NULL;
}

void pw_block_free(void *block, size_t bytes)
{
    if (has_pages(bytes))
        pw_pages_free(block, bytes);
    else
        free(block);
}
