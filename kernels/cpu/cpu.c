/* cpu.c - the cpu backend except its arithmetic: workers, memory, scratch. */
#include "kernels/cpu/cpu.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

enum {
    ALIGN = 64,               /* a cache line, and one AVX-512 register */
    LARGE = 2 << 20,          /* a huge page */
    LEAST_CHUNK = 768 * 1024, /* best with a second-level cache of 1 MiB (measured) */
    MOST_CHUNK = 1152 * 1024, /* and of 2 MiB */
};

/* Put large allocations into huge pages if the system has them. A chunk's activations, the gradient and the
 * weights are used in turn, and as small pages they exceed the processor's TLB. The end, less than a huge
 * page, takes small ones. */
static void *aligned(size_t bytes)
{
    size_t align = bytes < LARGE ? ALIGN : LARGE;
    if (bytes > SIZE_MAX - align)
        return NULL;
    void *p = aligned_alloc(align, (bytes + align - 1) / align * align);
    if (p != NULL && align == LARGE)
        madvise(p, bytes / LARGE * LARGE, MADV_HUGEPAGE); /* a hint; failure has no other effect */
    return p;
}

/* Memory for one operation's scratch. It is small compared with the operation's tensors, and an operation
 * can't fail. */
static void *aligned_scratch(size_t bytes)
{
    void *p = aligned(bytes);
    if (p == NULL)
        pw_exhausted(bytes);
    return p;
}

float *pw_ctx_scratch(struct pw_ctx *c, size_t n)
{
    if (n > c->floats) {
        free(c->scratch);
        c->floats = n + n / 4; /* so that sequences of slightly different length don't each reallocate */
        c->scratch = aligned_scratch(c->floats * sizeof(float));
    }
    return c->scratch;
}

double *pw_cpu_partial(struct pw_backend *be, size_t n)
{
    if (n > be->n_partial) {
        free(be->partial);
        be->n_partial = n;
        be->partial = aligned_scratch(n * sizeof(double));
    }
    return be->partial;
}

enum pw_code pw_cpu_open(struct pw_backend **out, const char *arithmetic, int threads, struct pw_err *err)
{
    const struct pw_backend_ops *chosen;
    enum pw_code code = pw_cpu_choose(&chosen, err);
    if (code != PW_OK)
        return code;
    if (threads < 0 || threads > 1024)
        return pw_fail(err, PW_EUSER, "threads=%d: allowed are 0 (all processors) to 1024", threads);
    if (threads == 0)
        threads = pw_pool_processors();
    struct pw_backend *be = calloc(1, sizeof *be);
    if (be == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: cpu backend");
    be->threads = threads;
    be->ctx = calloc((size_t)threads, sizeof *be->ctx);
    code = be->ctx != NULL ? pw_pool_create(&be->pool, threads, err)
                           : pw_fail(err, PW_ENOMEM, "out of memory: cpu backend");
    if (code != PW_OK) {
        pw_cpu_close(be);
        return code;
    }
    snprintf(be->device, sizeof be->device, "%d thread%s, %s", threads, threads == 1 ? "" : "s", arithmetic);
    *out = be;
    return PW_OK;
}

void pw_cpu_close(struct pw_backend *be)
{
    if (be == NULL)
        return;
    pw_pool_destroy(be->pool);
    for (int i = 0; be->ctx != NULL && i < be->threads; i++)
        free(be->ctx[i].scratch);
    free(be->ctx);
    free(be->partial);
    free(be);
}

enum pw_code pw_cpu_sync(struct pw_backend *be, struct pw_err *err)
{
    (void)be;
    (void)err;
    return PW_OK; /* every call has finished when it returns */
}

uint64_t pw_cpu_mark(struct pw_backend *be)
{
    (void)be;
    return 0;
}

enum pw_code pw_cpu_wait(struct pw_backend *be, uint64_t mark, struct pw_err *err)
{
    (void)mark;
    return pw_cpu_sync(be, err);
}

void pw_cpu_replay(struct pw_backend *be, const void *key, size_t bytes, void (*fn)(void *arg), void *arg)
{
    (void)be;
    (void)key;
    (void)bytes;
    fn(arg);
}

int pw_cpu_workers(const struct pw_backend *be)
{
    return be->threads;
}

/* The rest of the second-level cache is for the weights, and a larger share of it pays with a large cache.
 * The size is queried once, because in a virtual machine the query takes longer than a small step. */
size_t pw_cpu_chunk_bytes(void)
{
    static _Atomic size_t bytes;
    if (bytes == 0) {
        long cache = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
        cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
        size_t most = cache > 0 ? (size_t)cache / 4 * 3 : LEAST_CHUNK;
        bytes = most < LEAST_CHUNK ? LEAST_CHUNK : most > MOST_CHUNK ? MOST_CHUNK : most;
    }
    return bytes;
}

const char *pw_cpu_device(const struct pw_backend *be)
{
    return be->device;
}

void *pw_cpu_alloc(struct pw_backend *be, size_t bytes)
{
    (void)be;
    void *p = aligned(bytes > 0 ? bytes : 1);
    if (p != NULL)
        memset(p, 0, bytes);
    return p;
}

void pw_cpu_free(struct pw_backend *be, void *ptr)
{
    (void)be;
    free(ptr);
}

void pw_cpu_copy(struct pw_backend *be, void *dst, const void *src, size_t bytes)
{
    (void)be;
    if (bytes > 0)
        memcpy(dst, src, bytes);
}

struct chunks {
    struct pw_backend *be;
    void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg);
    void *arg;
};

static void run_chunk(void *arg, int item, int worker)
{
    struct chunks *r = arg;
    r->fn(&r->be->ctx[worker], item, worker, r->arg);
}

void pw_cpu_for_chunks(struct pw_backend *be, int n,
                       void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg), void *arg)
{
    struct chunks r = {be, fn, arg};
    if (n == 1) {
        be->ctx[0].alone = be;
        fn(&be->ctx[0], 0, 0, arg);
        be->ctx[0].alone = NULL;
        return;
    }
    pw_pool_run(be->pool, n, run_chunk, &r);
}

struct shared {
    struct pw_backend *be;
    void (*fn)(struct pw_ctx *c, void *arg, int item);
    void *arg;
};

static void run_shared(void *arg, int item, int worker)
{
    struct shared *s = arg;
    s->fn(&s->be->ctx[worker], s->arg, item);
}

void pw_ctx_share(struct pw_ctx *c, int n, void (*fn)(struct pw_ctx *c, void *arg, int item), void *arg)
{
    if (c->alone != NULL && n > 1) {
        pw_pool_run(c->alone->pool, n, run_shared, &(struct shared){c->alone, fn, arg});
        return;
    }
    for (int item = 0; item < n; item++)
        fn(c, arg, item);
}
