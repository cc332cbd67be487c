/* cpu.h - what the operations of the cpu backend know about it: workers, their scratch, and the parts that
 * are compiled once. */
#ifndef PW_CPU_H
#define PW_CPU_H
#include "base/pool.h"
#include "kernels/backend.h"

/* One worker. Scratch grows when a shape first needs more and is then kept, so that a step in a steady state
 * allocates nothing. */
struct pw_ctx {
    float *scratch;
    size_t floats;
};

struct pw_backend {
    struct pw_pool *pool;
    struct pw_ctx *ctx; /* one for each thread */
    double *partial;    /* reduce: one sum for each tile */
    size_t n_partial;
    int threads;
    char device[64];
};

/* At least n floats, 64-byte aligned, contents undefined; valid until the next call with the same ctx. Aborts
 * with a message when there is no memory. */
float *pw_ctx_scratch(struct pw_ctx *c, size_t n);

/* Room for n doubles, kept; by the caller of whole-machine operations. Aborts likewise. */
double *pw_cpu_partial(struct pw_backend *be, size_t n);

/* Chooses the best instruction set of this processor, or the one that PEWTER_ISA names. On failure (unknown
 * name, or the processor lacks it) the message says what is allowed and the best one is returned. */
enum pw_code pw_cpu_choose(const struct pw_backend_ops **ops, struct pw_err *err);

/* One table for each instruction set, and that of bf16 (table.c). */
extern const struct pw_backend_ops pw_table_scalar, pw_table_avx2, pw_table_avx512, pw_table_amx;

/* Members of struct pw_backend_ops that do no arithmetic. arithmetic: for the line on the screen.
 */
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

#endif
