/* memory.c - device memory: one range of addresses, allocations with gaps between them; pinned memory;
 * copies.
 *
 * Fresh memory is NaN. Copies and memset are checked against the allocations when they are asked for and when
 * they run, which in a graph may be much later. */
#include "emu_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SPACE PW_EMU_SPACE
enum { ALIGN = 256, GAP = 256 };

/* Disjoint ranges by address. */
struct ranges {
    struct pw_emu_allocation *list;
    int n, room;
};

uint64_t pw_emu_allocation_changes;

static struct ranges live, pinned;
static char *space;
static size_t live_bytes;
static unsigned n_ids;
static long fail_malloc;

/* The first range that ends after p. */
static int range_after(const struct ranges *r, const char *p)
{
    int low = 0, high = r->n;
    while (low < high) {
        int mid = (low + high) / 2;
        if (r->list[mid].p + r->list[mid].n > p)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static const struct pw_emu_allocation *range_of(const struct ranges *r, const char *p)
{
    int i = range_after(r, p);
    return i < r->n && r->list[i].p <= p ? &r->list[i] : NULL;
}

static struct pw_emu_allocation *range_insert(struct ranges *r, int at, char *p, size_t n)
{
    if (r->n == r->room) {
        r->room = r->room > 0 ? 2 * r->room : 64;
        r->list = pw_emu_memory(r->list, (size_t)r->room * sizeof *r->list);
    }
    memmove(&r->list[at + 1], &r->list[at], (size_t)(r->n - at) * sizeof *r->list);
    r->n++;
    r->list[at] = (struct pw_emu_allocation){p, n, ++n_ids};
    return &r->list[at];
}

static void range_remove(struct ranges *r, int at)
{
    memmove(&r->list[at], &r->list[at + 1], (size_t)(--r->n - at) * sizeof *r->list);
}

const struct pw_emu_allocation *pw_emu_allocation_of(const void *p)
{
    return range_of(&live, p);
}

bool pw_emu_is_device(const void *p)
{
    return space != NULL && (size_t)((const char *)p - space) < SPACE;
}

bool pw_emu_is_pinned(const void *p)
{
    return range_of(&pinned, p) != NULL;
}

bool pw_emu_in_bounds(const void *p, size_t n)
{
    const struct pw_emu_allocation *a = pw_emu_allocation_of(p);
    return n == 0 || (a != NULL && n <= (size_t)(a->p + a->n - (const char *)p));
}

void pw_emu_wrote(void *p, size_t n)
{
    if (pw_emu_hooks != NULL)
        pw_emu_hooks->wrote(p, n);
}

void pw_emu_reads(const char *what, const void *p, size_t n)
{
    const void *first = pw_emu_hooks != NULL ? pw_emu_hooks->unknown(p, n) : NULL;
    if (first != NULL) {
        const struct pw_emu_allocation *a = pw_emu_allocation_of(p);
        pw_emu_report("uninitialised", "%s reads byte %zu of %zu of allocation %u", what,
                      (size_t)((const char *)first - a->p), a->n, a->id);
    }
}

/* ---- allocation */

void pw_emu_fail_malloc(long n)
{
    fail_malloc = n;
}

static cudaError_t allocate(void **p, size_t n)
{
    *p = NULL;
    cudaError_t e = pw_emu_not_captured();
    if (e != cudaSuccess)
        return e;
    pw_emu.counts.mallocs++;
    if ((fail_malloc > 0 && --fail_malloc == 0) || n > pw_emu_device.totalGlobalMem - live_bytes)
        return cudaErrorMemoryAllocation;
    if (n == 0)
        return cudaSuccess;
    if (space == NULL) {
        space = mmap(NULL, SPACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (space == MAP_FAILED) {
            perror("emulator: device memory");
            abort();
        }
        pw_emu_regions.device = space;
    }
    size_t need = (n + GAP + ALIGN - 1) / ALIGN * ALIGN;
    char *at = space + ALIGN;
    int i = 0; /* first fit */
    for (; i < live.n && (size_t)(live.list[i].p - at) < need; i++)
        at = live.list[i].p + (live.list[i].n + GAP + ALIGN - 1) / ALIGN * ALIGN;
    if ((size_t)(space + SPACE - at) < need)
        return cudaErrorMemoryAllocation;
    const struct pw_emu_allocation *a = range_insert(&live, i, at, n);
    live_bytes += n;
    pw_emu_allocation_changes++;
    PW_EMU_POISON(at, need);
    PW_EMU_UNPOISON(at, n);
    pw_emu_open_device();
    memset(at, 0xff, n);
    pw_emu_close_device();
    if (pw_emu_hooks != NULL)
        pw_emu_hooks->allocated(a);
    *p = at;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t n)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess)
        e = allocate(p, n);
    return pw_emu_end(e);
}

static void release(int i)
{
    struct pw_emu_allocation a = live.list[i];
    range_remove(&live, i);
    live_bytes -= a.n;
    pw_emu_allocation_changes++;
    pw_emu_open_device();
    memset(a.p, 0xff, a.n);
    pw_emu_close_device();
    PW_EMU_POISON(a.p, a.n);
}

cudaError_t cudaFree(void *p)
{
    cudaError_t e = pw_emu_begin(), captured = e == cudaSuccess ? pw_emu_not_captured() : e;
    if (p == NULL || captured == cudaErrorStreamCaptureUnsupported)
        return pw_emu_end(captured);
    pw_emu_drain_all(); /* it waits for the device */
    int i = range_after(&live, p);
    if (i == live.n || live.list[i].p != p) {
        pw_emu_report("memory", "cudaFree of %p, which is no allocation", p);
        return pw_emu_end(cudaErrorInvalidValue);
    }
    release(i);
    return pw_emu_end(e);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess) {
        *total = pw_emu_device.totalGlobalMem;
        *free = *total - live_bytes;
    }
    return pw_emu_end(e);
}

cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags)
{
    (void)flags;
    cudaError_t e = pw_emu_begin();
    *p = NULL;
    if (e == cudaSuccess && n > 0) {
        *p = aligned_alloc(4096, (n + 4095) / 4096 * 4096);
        if (*p == NULL)
            return pw_emu_end(cudaErrorMemoryAllocation);
        range_insert(&pinned, range_after(&pinned, *p), *p, n);
    }
    return pw_emu_end(e);
}

cudaError_t cudaMallocHost(void **p, size_t n)
{
    return cudaHostAlloc(p, n, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *p)
{
    cudaError_t e = pw_emu_begin();
    if (p == NULL)
        return pw_emu_end(e);
    pw_emu_drain_all();
    int i = range_after(&pinned, p);
    if (i == pinned.n || pinned.list[i].p != p) {
        pw_emu_report("memory", "cudaFreeHost of %p, which is no allocation", p);
        return pw_emu_end(cudaErrorInvalidValue);
    }
    range_remove(&pinned, i);
    free(p);
    return pw_emu_end(e);
}

void pw_emu_memory_reset(void)
{
    while (live.n > 0)
        release(live.n - 1);
}
