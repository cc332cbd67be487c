/* copy.c - copies and memset. They are checked against the allocations when they are asked for and when they
 * run, which in a graph may be much later. */
#include "emu_int.h"

#include <stdlib.h>
#include <string.h>

struct copy_op {
    struct pw_emu_op op;
    void *dst;
    const void *src;
    size_t n;
    enum cudaMemcpyKind kind;
    void *staged; /* copy of pageable memory, made at the call; or NULL */
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
