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
    memset(at, 0xff, n);
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
    memset(a.p, 0xff, a.n);
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

/* ---- copies */

struct copy_op {
    struct pw_emu_op op;
    void *dst;
    const void *src;
    size_t n;
    enum cudaMemcpyKind kind;
    void *staged; /* what was read from pageable memory when it was asked for, or NULL */
};

struct set_op {
    struct pw_emu_op op;
    void *dst;
    int value;
    size_t n;
};

static cudaError_t check_copy(const void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
    bool to = pw_emu_is_device(dst), from = pw_emu_is_device(src);
    bool want_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool want_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind != cudaMemcpyDefault && (to != want_to || from != want_from)) {
        pw_emu_report("memory", "a copy of kind %d has %s memory to write and %s memory to read", kind,
                      to ? "device" : "host", from ? "device" : "host");
        return cudaErrorInvalidValue;
    }
    if ((to && !pw_emu_in_bounds(dst, n)) || (from && !pw_emu_in_bounds(src, n))) {
        pw_emu_report("memory", "a copy of %zu bytes leaves its allocation", n);
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static cudaError_t copy_run(struct pw_emu_op *op)
{
    const struct copy_op *c = (const struct copy_op *)op;
    cudaError_t e = check_copy(c->dst, c->src, c->n, c->kind);
    if (e != cudaSuccess)
        return e;
    memmove(c->dst, c->staged != NULL ? c->staged : c->src, c->n);
    if (!pw_emu_is_device(c->dst))
        return cudaSuccess;
    if (pw_emu_is_device(c->src) && pw_emu_hooks != NULL)
        pw_emu_hooks->copied(c->dst, c->src, c->n);
    else
        pw_emu_wrote(c->dst, c->n);
    return cudaSuccess;
}

static void copy_fini(struct pw_emu_op *op)
{
    free(((struct copy_op *)op)->staged);
}

static cudaError_t copy(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t s)
{
    cudaError_t e = check_copy(dst, src, n, kind);
    if (e != cudaSuccess || n == 0)
        return e;
    struct copy_op *c = pw_emu_op_new(sizeof *c, "a copy", copy_run, copy_fini);
    c->dst = dst;
    c->src = src;
    c->n = n;
    c->kind = kind;
    bool capturing = s != NULL && s->capture != NULL;
    if (!capturing && !pw_emu_is_device(src) && !pw_emu_is_pinned(src)) {
        c->staged = pw_emu_memory(NULL, n);
        memcpy(c->staged, src, n);
    }
    e = pw_emu_enqueue(s, &c->op);
    if (e == cudaSuccess && !capturing && !pw_emu_is_device(dst) && !pw_emu_is_pinned(dst)) {
        pw_emu_drain(s); /* CUDA waits, too, where it writes pageable memory */
        e = pw_emu.sticky;
    }
    return e;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t s)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess)
        e = copy(dst, src, n, kind, s);
    return pw_emu_end(e);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess)
        e = pw_emu_not_captured();
    if (e == cudaSuccess)
        e = copy(dst, src, n, kind, NULL);
    return pw_emu_end(e);
}

static cudaError_t check_set(const void *dst, size_t n)
{
    if (pw_emu_in_bounds(dst, n))
        return cudaSuccess;
    pw_emu_report("memory", "a memset of %zu bytes leaves its allocation", n);
    return cudaErrorInvalidValue;
}

static cudaError_t set_run(struct pw_emu_op *op)
{
    const struct set_op *m = (const struct set_op *)op;
    cudaError_t e = check_set(m->dst, m->n);
    if (e != cudaSuccess)
        return e;
    memset(m->dst, m->value, m->n);
    pw_emu_wrote(m->dst, m->n);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t n, cudaStream_t s)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess)
        e = check_set(dst, n);
    if (e != cudaSuccess || n == 0)
        return pw_emu_end(e);
    struct set_op *m = pw_emu_op_new(sizeof *m, "a memset", set_run, NULL);
    m->dst = dst;
    m->value = value;
    m->n = n;
    return pw_emu_end(pw_emu_enqueue(s, &m->op));
}

cudaError_t cudaMemset(void *dst, int value, size_t n)
{
    return cudaMemsetAsync(dst, value, n, NULL);
}
