/* cuda.h - the host side of the CUDA backend from inside.
 *
 * One stream takes everything in order: copies, operations, graphs. So nothing has to be waited for but what
 * comes back to the host. An operation can't fail; the first error sticks to the backend, what is asked for
 * after it is left out (nothing may be learned from numbers that were never computed), and sync or wait tells
 * it. An error that the device survives is gone then; a lost device stays lost until the program ends. */
#ifndef PW_CUDA_H
#define PW_CUDA_H
#include "kernels/backend.h"
#include <cuda_runtime_api.h>

enum {
    PW_CUDA_OLDEST = 75, /* compute capability times ten: what CUDA 13 still compiles for */
    PW_CUDA_BLOCKS = 4,  /* of pinned memory, for uploads */
    PW_CUDA_MARKS = 64,  /* points to wait for that are told apart */
    PW_CUDA_GRAPHS = 32,
    PW_CUDA_HELD = 512,  /* tensors whose copies are known to hold, at most: more than a step has */
    PW_CUDA_BESIDE = 16, /* operations that may be under way beside the others */
};

struct pw_blas; /* blas.h */

/* Memory of the device that grows with what is asked for. */
struct pw_cuda_room {
    void *p; /* NULL: none yet */
    size_t bytes;
};

/* The stream, as operations see it. */
struct pw_ctx {
    struct pw_backend *be;
    cudaStream_t stream;
    struct pw_cuda_room scratch;
};

/* Copies of activations in bf16: copies.c. */
struct pw_cuda_copies {
    struct pw_cuda_pass {
        float *from;
        size_t floats; /* and so many 16-bit words behind them, */
        bool operands; /* or 16-bit words alone */
    } * pass;          /* [n_passes] */
    int n_passes, room;
    struct pw_cuda_held {
        const float *x;
        size_t n;
    } held[PW_CUDA_HELD]; /* whose copies hold [n_held] */
    int n_held;
};

/* The second branch of a graph: side.c. */
struct pw_cuda_side {
    struct pw_ctx ctx; /* its stream and scratch */
    bool on;           /* a graph is being captured */
    cudaEvent_t forked;
    struct pw_cuda_beside {
        cudaEvent_t done;
        struct pw_cuda_read {
            const float *x;
            size_t n;
        } reads[2];
    } beside[PW_CUDA_BESIDE]; /* number n lies at n mod PW_CUDA_BESIDE */
    uint64_t asked, awaited;  /* the newest number, and the newest that was waited for; 0: none */
};

/* Pinned memory that uploads go through: blocks that are filled one after the other, each reused when what
 * was copied out of it has arrived. */
struct pw_cuda_ring {
    char *block[PW_CUDA_BLOCKS];
    cudaEvent_t arrived[PW_CUDA_BLOCKS];
    int at;      /* the block being filled */
    size_t used; /* bytes of it */
};

/* What was done under a key, and can be done again: graph.c. */
struct pw_cuda_graph {
    void *key; /* NULL: a free place */
    size_t bytes;
    cudaGraphExec_t exec; /* NULL: not captured yet */
    uint64_t used;        /* when: the number of the replay */
};

struct pw_backend {
    int device, capability; /* compute capability times ten */
    struct pw_ctx ctx;
    struct pw_err first;   /* the error that sticks */
    uint64_t failed_after; /* the newest mark then: what was asked for before it is there */
    struct pw_cuda_ring ring;
    struct pw_cuda_copies copies;
    struct pw_cuda_side side;
    struct pw_cuda_room attention;    /* scratch of its backward pass alone: some of it is read on the side */
    cudaEvent_t marks[PW_CUDA_MARKS]; /* number n lies at n mod PW_CUDA_MARKS */
    uint64_t marked;                  /* the newest number; 0: none */
    struct pw_cuda_graph graphs[PW_CUDA_GRAPHS];
    uint64_t replays;
    struct pw_blas *blas; /* of mode fast */
    char name[160];       /* one line for the screen */
};

/* ---- cuda.c */

/* arithmetic: for the line on the screen. */
enum pw_code pw_cuda_open(struct pw_backend **be, int device, const char *arithmetic, struct pw_err *err);
void pw_cuda_close(struct pw_backend *be);
enum pw_code pw_cuda_sync(struct pw_backend *be, struct pw_err *err);
uint64_t pw_cuda_mark(struct pw_backend *be);
enum pw_code pw_cuda_wait(struct pw_backend *be, uint64_t mark, struct pw_err *err);
int pw_cuda_unit(const struct pw_backend *be);
int pw_cuda_workers(const struct pw_backend *be);
const char *pw_cuda_device(const struct pw_backend *be);
enum pw_code pw_cuda_device_at(struct pw_device *out, int device, struct pw_err *err);
void pw_cuda_for_chunks(struct pw_backend *be, int n,
                        void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg), void *arg);

/* Makes the device the calling thread's own; false: an error sticks, and nothing is to be asked of it. */
bool pw_cuda_ready(struct pw_backend *be);
/* Remembers the first error. */
void pw_cuda_stick(struct pw_backend *be, const struct pw_err *err);
/* The same of the runtime's; what: the operation that it came from. */
void pw_cuda_note(struct pw_backend *be, cudaError_t e, const char *what);

/* ---- copies.c */
bool pw_cuda_rounds(const struct pw_backend *be); /* what enters products, to bf16 */
/* Memory for a pass's activations, freed by pw_cuda_free. */
float *pw_cuda_alloc_acts(struct pw_backend *be, size_t floats);
float *pw_cuda_alloc_operands(struct pw_backend *be, size_t bytes);
void pw_cuda_free_acts(struct pw_backend *be, const void *p); /* forgets it, if it is such memory */
void pw_cuda_copies_fini(struct pw_backend *be);
/* Where the copy of a tensor lies; NULL where none is kept. */
uint16_t *pw_cuda_copy_of(struct pw_ctx *c, const float *x);
bool pw_cuda_alone(const struct pw_ctx *c, const float *x); /* a copy is all that there is */
bool pw_cuda_holds(const struct pw_ctx *c, const float *x, size_t n);
void pw_cuda_hold(struct pw_ctx *c, const float *x, size_t n); /* from here on */
/* Before every operation that writes to activations: y will be written, and no copy of it; */
void pw_cuda_writes(struct pw_ctx *c, const void *y);
/* x [n] will be written, and its copy, too, unless that is NULL. */
void pw_cuda_leaves(struct pw_ctx *c, const uint16_t *copy, const float *x, size_t n);
void pw_cuda_forget_copies(struct pw_backend *be); /* none holds any more */

/* ---- side.c */
enum pw_code pw_cuda_side_open(struct pw_backend *be, struct pw_err *err);
void pw_cuda_side_close(struct pw_backend *be); /* also where it was never opened */
void pw_cuda_side_begin(struct pw_backend *be); /* a capture */
void pw_cuda_side_end(struct pw_backend *be);
/* Where an operation is to run that nobody waits for yet: on the side in a capture, else in c as ever. What
 * it reads, x [nx] and y [ny], is to be told when it is asked for. */
struct pw_ctx *pw_cuda_aside(struct pw_ctx *c);
void pw_cuda_went(struct pw_ctx *at, const float *x, size_t nx, const float *y, size_t ny);
/* What is asked for next waits for what reads y on the side, */
void pw_cuda_side_lets(struct pw_backend *be, const void *y);
void pw_cuda_side_join(struct pw_backend *be); /* or for all that is there */

/* ---- memory.c */
void *pw_cuda_alloc(struct pw_backend *be, size_t bytes);
void pw_cuda_free(struct pw_backend *be, void *ptr);
void pw_cuda_upload(struct pw_backend *be, void *dst, const void *src, size_t bytes);
void pw_cuda_download(struct pw_backend *be, void *dst, const void *src, size_t bytes);
void pw_cuda_copy_over(struct pw_backend *be, void *dst, const void *src, size_t bytes);
void *pw_cuda_host_alloc(struct pw_backend *be, size_t bytes);
void pw_cuda_host_free(struct pw_backend *be, void *ptr);
void pw_cuda_memory(struct pw_backend *be, size_t *free, size_t *total);
enum pw_code pw_cuda_ring_init(struct pw_backend *be, struct pw_err *err);
void pw_cuda_ring_fini(struct pw_backend *be);
/* At least so many bytes on the device, contents undefined, valid until the next call for the same room;
 * 256-byte aligned. Where there is no memory for them the error sticks, and NULL is nothing to hand on. */
void *pw_cuda_make_room(struct pw_backend *be, struct pw_cuda_room *room, size_t bytes);
size_t pw_cuda_room_for(size_t bytes); /* so many are allocated then */
static inline void *pw_cuda_scratch(struct pw_ctx *c, size_t bytes)
{
    return pw_cuda_make_room(c->be, &c->scratch, bytes);
}

/* ---- graph.c */
void pw_cuda_replay(struct pw_backend *be, const void *key, size_t bytes, void (*fn)(void *arg), void *arg);
/* Memory that graphs may use has gone: they are captured anew. */
void pw_cuda_graphs_drop(struct pw_backend *be);
/* And what a capture can't make (scratch) isn't there any more: everything is as if done for the first time.
 */
void pw_cuda_graphs_forget(struct pw_backend *be);

#endif
