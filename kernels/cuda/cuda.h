/* cuda.h - internals of the host side of the CUDA backend.
 *
 * One stream executes copies, operations and graphs in order, so the host waits only for results. An
 * operation cannot fail. The backend keeps the first error; every later request is skipped, because its input
 * was never computed, and sync or wait reports the error. The error is cleared then if the device still
 * works; a lost device stays lost until the program ends.
 *
 * One thread at a time uses a backend. */
#ifndef PW_CUDA_H
#define PW_CUDA_H
#include "kernels/backend.h"
#include <cuda_runtime_api.h>

enum {
    PW_CUDA_OLDEST = 75, /* oldest compute capability, times ten, that CUDA 13 compiles for */
    PW_CUDA_BLOCKS = 4,  /* blocks of pinned memory for uploads */
    PW_CUDA_MARKS = 64,  /* events for marks; a wait for an older mark waits for the oldest of these */
    PW_CUDA_GRAPHS = 32,
    PW_CUDA_HELD = 512,  /* most bf16 copies that can be known to be valid; a step has fewer */
    PW_CUDA_BESIDE = 16, /* most operations in flight on the side stream */
};

struct pw_blas; /* blas.h */

/* Device memory that grows to the largest size requested. */
struct pw_cuda_room {
    void *p; /* NULL: none yet */
    size_t bytes;
};

/* A stream with its scratch, as operations see it. */
struct pw_ctx {
    struct pw_backend *be;
    cudaStream_t stream;
    struct pw_cuda_room scratch;
};

/* bf16 copies of activations: copies.c. Memory of a pass has room for the copy of each tensor behind the
 * floats. Operands (struct pw_backend_ops, alloc_operands) exist only as bf16. A copy is valid until the
 * tensor is written to. */
struct pw_cuda_copies {
    struct pw_cuda_pass {
        float *from;
        size_t floats; /* floats, followed by as many 16-bit words */
        bool operands; /* only 16-bit words */
    } * pass;          /* [n_passes] */
    int n_passes, room;
    struct pw_cuda_held {
        const float *x;
        size_t n;
    } held[PW_CUDA_HELD]; /* [n_held] tensors whose copies are valid */
    int n_held;
};

/* The side stream, a second branch of a captured graph: side.c. It computes the gradients of parameters,
 * which the next layer does not wait for. */
struct pw_cuda_side {
    struct pw_ctx ctx; /* stream (NULL: there is no side stream) and scratch */
    bool on;           /* a graph is being captured, so operations may go to the side stream */
    cudaEvent_t forked;
    /* An operation on the side stream: the event after it, and the tensors that it reads. */
    struct pw_cuda_beside {
        cudaEvent_t done;
        struct pw_cuda_read {
            const float *x;
            size_t n;
        } reads[2];
    } beside[PW_CUDA_BESIDE]; /* number n lies at n mod PW_CUDA_BESIDE */
    /* Number of the newest such operation, and of the newest that the main stream waited for; 0: none. */
    uint64_t asked, awaited;
};

/* Pinned memory for uploads: blocks that are filled in turn. A block is reused once the copies out of it are
 * done. */
struct pw_cuda_ring {
    char *block[PW_CUDA_BLOCKS];
    cudaEvent_t arrived[PW_CUDA_BLOCKS];
    int at;      /* the block being filled */
    size_t used; /* bytes of that block in use */
};

/* The operations of one replay key (struct pw_backend_ops, replay): graph.c. */
struct pw_cuda_graph {
    void *key; /* NULL: a free place */
    size_t bytes;
    cudaGraphExec_t exec; /* NULL: not captured yet */
    uint64_t used;        /* number of its last replay */
};

/* An open CUDA device. */
struct pw_backend {
    int device, capability; /* compute capability times ten */
    struct pw_ctx ctx;
    struct pw_err first;   /* the first error since it was last reported; code PW_OK: none */
    uint64_t failed_after; /* newest mark at the time of that error; work before this mark is not affected */
    struct pw_cuda_ring ring;
    struct pw_cuda_copies copies;
    struct pw_cuda_side side;
    /* Scratch of the backward pass of attention, apart because the side stream reads it. */
    struct pw_cuda_room attention;
    cudaEvent_t marks[PW_CUDA_MARKS]; /* mark n is event n mod PW_CUDA_MARKS */
    uint64_t marked;                  /* newest mark; 0: none */
    struct pw_cuda_graph graphs[PW_CUDA_GRAPHS];
    uint64_t replays;
    struct pw_blas *blas; /* NULL in mode ref */
    char name[160];       /* one line for the screen */
};

/* ---- cuda.c */

/* Members of struct pw_backend_ops that both modes share; contracts in kernels/backend.h. arithmetic: words
 * for the line on the screen. */
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

/* Selects the device for the calling thread. Returns false if the backend has an error; the caller then
 * enqueues nothing. */
bool pw_cuda_ready(struct pw_backend *be);
/* Keeps err as the backend's error, unless it has one already. */
void pw_cuda_stick(struct pw_backend *be, const struct pw_err *err);
/* The same for an error of the runtime; cudaSuccess is a no-op. what: the operation, for the message. */
void pw_cuda_note(struct pw_backend *be, cudaError_t e, const char *what);

/* ---- copies.c */
bool pw_cuda_rounds(const struct pw_backend *be); /* are operands of products rounded to bf16? */
/* The members alloc_acts and alloc_operands of struct pw_backend_ops; pw_cuda_free frees the memory. */
float *pw_cuda_alloc_acts(struct pw_backend *be, size_t floats);
float *pw_cuda_alloc_operands(struct pw_backend *be, size_t bytes);
/* Unregisters such memory before it is freed; other pointers are ignored. */
void pw_cuda_free_acts(struct pw_backend *be, const void *p);
void pw_cuda_copies_fini(struct pw_backend *be);
/* Returns the place of the bf16 copy of a tensor; NULL if it has none. The copy may be invalid. */
uint16_t *pw_cuda_copy_of(struct pw_ctx *c, const float *x);
bool pw_cuda_alone(const struct pw_ctx *c, const float *x); /* does only the copy exist (an operand)? */
/* pw_cuda_holds: is the copy of x [n] valid? pw_cuda_hold: the next operation writes it, so it is valid from
 * then on. */
bool pw_cuda_holds(const struct pw_ctx *c, const float *x, size_t n);
void pw_cuda_hold(struct pw_ctx *c, const float *x, size_t n);
/* Call one of these before every operation that writes to activations. pw_cuda_writes: the operation writes y
 * and no copy, so the copy becomes invalid. pw_cuda_leaves: it writes x [n], and unless copy is NULL the copy
 * as well. Both make the main stream wait for operations on the side stream that read the tensor. */
void pw_cuda_writes(struct pw_ctx *c, const void *y);
void pw_cuda_leaves(struct pw_ctx *c, const uint16_t *copy, const float *x, size_t n);
void pw_cuda_forget_copies(struct pw_backend *be); /* all copies become invalid */

/* ---- side.c */
enum pw_code pw_cuda_side_open(struct pw_backend *be, struct pw_err *err);
void pw_cuda_side_close(struct pw_backend *be); /* a no-op if it was never opened */
void pw_cuda_side_begin(struct pw_backend *be); /* a capture begins */
void pw_cuda_side_end(struct pw_backend *be);
/* pw_cuda_aside returns the context for an operation whose result is not needed yet: the side stream during a
 * capture, else c. Enqueue the operation there, then call pw_cuda_went with the tensors that it reads, x [nx]
 * and y [ny]. */
struct pw_ctx *pw_cuda_aside(struct pw_ctx *c);
void pw_cuda_went(struct pw_ctx *at, const float *x, size_t nx, const float *y, size_t ny);
/* Make the main stream wait, for the operations on the side stream that read y, or for all of them. */
void pw_cuda_side_lets(struct pw_backend *be, const void *y);
void pw_cuda_side_join(struct pw_backend *be);

/* ---- memory.c */
/* Members of struct pw_backend_ops; contracts in kernels/backend.h. pw_cuda_copy_over is the member copy. */
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
/* Returns at least `bytes` of device memory, 256-byte aligned, with undefined contents. It is valid until the
 * next call for the same room. Returns NULL without memory, and keeps the error: the caller enqueues nothing.
 */
void *pw_cuda_make_room(struct pw_backend *be, struct pw_cuda_room *room, size_t bytes);
size_t pw_cuda_room_for(size_t bytes); /* bytes that pw_cuda_make_room allocates for a request */
static inline void *pw_cuda_scratch(struct pw_ctx *c, size_t bytes)
{
    return pw_cuda_make_room(c->be, &c->scratch, bytes);
}

/* ---- graph.c */
void pw_cuda_replay(struct pw_backend *be, const void *key, size_t bytes, void (*fn)(void *arg), void *arg);
/* Destroys all graphs, because memory that they may use is freed; the next replay of a key captures again. */
void pw_cuda_graphs_drop(struct pw_backend *be);
/* Also forgets the keys, because scratch that a capture cannot allocate is gone: the next replay of a key
 * runs without a capture, as the first one did. */
void pw_cuda_graphs_forget(struct pw_backend *be);

#endif
