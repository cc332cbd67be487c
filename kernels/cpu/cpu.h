/* cpu.h - internals of the cpu backend: workers, their scratch memory, and the members of its tables that are
 * compiled once for all instruction sets. */
#ifndef PW_CPU_H
#define PW_CPU_H
#include "base/pool.h"
#include "kernels/backend.h"

/* One worker. Its scratch grows to the largest size requested and is kept, so steady training allocates
 * nothing. */
struct pw_ctx {
    float *scratch;
    size_t floats;
    /* The backend, while this worker runs the only chunk: an operation may then share its work among all
     * workers, if the bits don't depend on the split. NULL: other workers are busy. */
    struct pw_backend *alone;
};

/* The cpu backend: its worker threads with their scratch. */
struct pw_backend {
    struct pw_pool *pool;
    struct pw_ctx *ctx; /* one per thread */
    double *partial;    /* reduce: one sum for each tile */
    size_t n_partial;
    int threads;
    char device[64];
};

/* Return at least n floats of scratch, 64-byte aligned, with undefined contents. They are valid until the
 * next call with the same ctx. Aborts with a message if there is no memory. */
float *pw_ctx_scratch(struct pw_ctx *c, size_t n);

/* Call fn(ctx, arg, item) for item = 0..n-1: on all workers if c is alone and n > 1, else on c. ctx is the
 * worker's own; its scratch is free for fn, and fn does not call this. */
void pw_ctx_share(struct pw_ctx *c, int n, void (*fn)(struct pw_ctx *c, void *arg, int item), void *arg);

/* Return room for n doubles, kept by the backend. Only whole-machine operations call it. Aborts with a
 * message if there is no memory. */
double *pw_cpu_partial(struct pw_backend *be, size_t n);

/* Choose the best instruction set of this processor, or the one that PEWTER_ISA names. On failure (unknown
 * name, or not supported by the processor) the message says what is allowed, and *ops is the best one. */
enum pw_code pw_cpu_choose(const struct pw_backend_ops **ops, struct pw_err *err);

/* One table for each instruction set, and one for precision bf16 (table.c). */
extern const struct pw_backend_ops pw_table_scalar, pw_table_avx2, pw_table_avx512, pw_table_amx;

/* Members of struct pw_backend_ops that do no arithmetic; contracts in kernels/backend.h. arithmetic: the
 * words for the screen's line, such as "avx512". */
enum pw_code pw_cpu_open(struct pw_backend **be, const char *arithmetic, int threads, struct pw_err *err);
void pw_cpu_close(struct pw_backend *be);
enum pw_code pw_cpu_sync(struct pw_backend *be, struct pw_err *err);
int pw_cpu_workers(const struct pw_backend *be);
size_t pw_cpu_chunk_bytes(void);
uint64_t pw_cpu_mark(struct pw_backend *be);
enum pw_code pw_cpu_wait(struct pw_backend *be, uint64_t mark, struct pw_err *err);
void pw_cpu_replay(struct pw_backend *be, const void *key, size_t bytes, void (*fn)(void *arg), void *arg);
const char *pw_cpu_device(const struct pw_backend *be);
void *pw_cpu_alloc(struct pw_backend *be, size_t bytes);
void pw_cpu_free(struct pw_backend *be, void *ptr);
void pw_cpu_copy(struct pw_backend *be, void *dst, const void *src, size_t bytes);
void pw_cpu_for_chunks(struct pw_backend *be, int n,
                       void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg), void *arg);

/* Rounds n floats up to whole vectors. */
static inline int pw_to_16(int n)
{
    return (n + 15) / 16 * 16;
}

#endif
