/* emu_int.h - what the emulator's own files share. The caller holds the lock (pw_emu_lock) everywhere. */
#ifndef PW_EMU_INT_H
#define PW_EMU_INT_H
#include "emulator.h"
#include <pw_emu_kernel.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define PW_EMU_POISON(p, n)   __asan_poison_memory_region(p, n)
#define PW_EMU_UNPOISON(p, n) __asan_unpoison_memory_region(p, n)
#else
#define PW_EMU_POISON(p, n)   ((void)0)
#define PW_EMU_UNPOISON(p, n) ((void)0)
#endif

/* ---- report.c */
void pw_emu_lock(void); /* recursive */
void pw_emu_unlock(void);
void pw_emu_report(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *pw_emu_memory(void *p, size_t n); /* realloc, or the end of the process */
uint64_t pw_emu_random(void);           /* of the order's seed */
void pw_emu_shuffle(unsigned *list, unsigned n);

struct pw_emu_state {
    enum pw_emu_order order;
    bool deferred, tells_graphs, tells_counts;
    const char *kernel; /* the running one's name; NULL outside of kernels */
    struct pw_emu_counts counts;
    cudaError_t sticky; /* the device is lost: every call says so */
    cudaError_t last;   /* for cudaGetLastError */
    bool no_blas;       /* cublasLtCreate fails */
};
extern struct pw_emu_state pw_emu;

/* Around every call of CUDA's. begin takes the lock, and gives the error that every call has now; end
 * remembers an error for cudaGetLastError, and returns what it is given. */
cudaError_t pw_emu_begin(void);
cudaError_t pw_emu_end(cudaError_t e);

/* ---- device.c */
extern struct cudaDeviceProp pw_emu_device;
cudaError_t pw_emu_no_device(void); /* why there is none; cudaSuccess: there is */

/* Where memory of each kind begins: for the checker, which asks at every access. */
enum { PW_EMU_STACK = 64 << 10, PW_EMU_SHARED_SPACE = 256 << 10 };
#define PW_EMU_SPACE ((size_t)2 << 30)
struct pw_emu_regions {
    const char *stack; /* of the running thread */
    const char *device, *shared;
};
extern struct pw_emu_regions pw_emu_regions;

/* ---- fiber.c: stacks that are switched between */
struct pw_emu_fiber {
    void *sp;
    char *base; /* lowest address */
    size_t size;
    void *fake; /* of the address sanitizer */
    struct pw_emu_fiber *next;
};
extern struct pw_emu_fiber pw_emu_main; /* the stack of whoever launched */
struct pw_emu_fiber *pw_emu_fiber_take(void (*entry)(void));
void pw_emu_fiber_give(struct pw_emu_fiber *f); /* it will go on from where it stands when taken again */
void pw_emu_fiber_abandon(struct pw_emu_fiber *f, void (*entry)(void));
void pw_emu_fiber_swap(struct pw_emu_fiber *from, struct pw_emu_fiber *to);
void pw_emu_fiber_entered(void); /* the first thing that an entry calls */

/* ---- block.c */
void pw_emu_block_run(const struct pw_emu_call *call, unsigned n_threads);
bool pw_emu_on_stack(const void *p);   /* of the running thread */
extern unsigned pw_emu_epoch;          /* block barriers that the running thread has passed */
extern unsigned pw_emu_warp_epoch[32]; /* fences of each warp */

/* ---- sites.c: a barrier or fence has come together; whether it orders memory */
bool pw_emu_orders(struct pw_emu_site at, const char *what);

/* ---- shared.c */
enum { PW_EMU_SHARED_DEFAULT = 48 << 10 };
struct pw_emu_array {
    const char *name;
    size_t offset, size;
};
void pw_emu_shared_begin(size_t dynamic, size_t limit); /* of a block: all its arrays together */
const struct pw_emu_array *pw_emu_shared_find(const void *p, size_t near); /* NULL: in none of them */

/* ---- grid.c */
extern unsigned long pw_emu_launch_number, pw_emu_block_number;
extern const struct pw_emu_call *pw_emu_running;

/* ---- memory.c */
struct pw_emu_allocation {
    char *p;
    size_t n;
    unsigned id;
};
const struct pw_emu_allocation *pw_emu_allocation_of(const void *p); /* NULL: in none */
extern uint64_t pw_emu_allocation_changes;                           /* allocations and frees */
bool pw_emu_is_device(const void *p);
bool pw_emu_is_pinned(const void *p);
bool pw_emu_in_bounds(const void *p, size_t n); /* of one allocation */
void pw_emu_wrote(void *p, size_t n);           /* something else than a kernel has written device memory */
/* Something else than a kernel reads what must be initialised. */
void pw_emu_reads(const char *what, const void *p, size_t n);
void pw_emu_memory_reset(void);

/* ---- guard.c: around everything that reads or writes device memory */
void pw_emu_open_device(void);
void pw_emu_close_device(void);

/* ---- stream.c: what lies on streams and in graphs, shared by both */
struct pw_emu_op {
    int refs;
    bool launch; /* of a kernel */
    bool always; /* also on a lost device: a moment passes */
    const char *what;
    const void *alone;                        /* memory that nothing may use beside it; NULL: none */
    cudaError_t (*run)(struct pw_emu_op *op); /* an error sticks */
    void (*fini)(struct pw_emu_op *op);       /* frees what it holds; NULL: nothing */
};
/* A struct that begins with the op, with one reference; ends the process where there is no memory. */
void *pw_emu_op_new(size_t size, const char *what, cudaError_t (*run)(struct pw_emu_op *op),
                    void (*fini)(struct pw_emu_op *op));
void pw_emu_op_drop(struct pw_emu_op *op);

/* A record of an event, which outlives it. */
struct pw_emu_moment {
    int refs;
    cudaStream_t stream;
    bool done;
    struct timespec at;
};
void pw_emu_moment_drop(struct pw_emu_moment *m); /* NULL is a no-op */

cudaError_t pw_emu_enqueue(cudaStream_t s, struct pw_emu_op *op); /* takes the reference */
void pw_emu_drain(cudaStream_t s);                                /* NULL: the default stream */
void pw_emu_drain_all(void);
void pw_emu_drain_until(cudaStream_t s, const struct pw_emu_moment *until); /* NULL: all of it */
void pw_emu_step(cudaStream_t s);                                           /* what is next on it */
/* Puts an op on it, or a moment to wait for. */
void pw_emu_append(cudaStream_t s, struct pw_emu_op *op, struct pw_emu_moment *moment);
cudaError_t pw_emu_begin_on(cudaStream_t s); /* begin, for calls that take a stream */
bool pw_emu_stream_known(cudaStream_t s);
cudaStream_t pw_emu_streams(void); /* the first of all */
/* Whether this call, which may not come while a stream is being captured, may come; else the capture is
 * spoilt. */
cudaError_t pw_emu_not_captured(void);

/* Parts of a graph, by number, that something is to follow. */
struct pw_emu_ends {
    unsigned *part, n; /* [n] */
};
struct CUstream_st {
    struct pw_emu_node *first, **last;
    bool blocking, busy;
    struct CUgraph_st *capture; /* NULL: none */
    struct pw_emu_ends ends;    /* what its next part follows in there */
    struct CUstream_st *next;
};
struct CUevent_st {
    struct pw_emu_moment *moment; /* of its newest record; NULL: none */
    struct CUgraph_st *capture;   /* or it was recorded in there, */
    struct pw_emu_ends ends;      /* behind these */
    bool timed;
};

/* ---- graph.c */
void pw_emu_ends_clear(struct pw_emu_ends *ends);
void pw_emu_ends_add(struct pw_emu_ends *ends, const struct pw_emu_ends *more); /* each once */
cudaError_t pw_emu_capture_add(cudaStream_t s, struct pw_emu_op *op);           /* takes the reference */
cudaError_t pw_emu_capture_wait(cudaStream_t s, const struct CUevent_st *event);
void pw_emu_capture_spoil(struct CUgraph_st *g);
bool pw_emu_capture_forbids(const struct CUgraph_st *g); /* this thread, what is unsafe in a capture */

/* ---- the check build, where it is linked (check/) */
struct pw_emu_hooks {
    void (*allocated)(const struct pw_emu_allocation *a);
    void (*wrote)(void *p, size_t n); /* not by a kernel */
    void (*copied)(void *dst, const void *src, size_t n);
    const void *(*unknown)(const void *p,
                           size_t n); /* the first byte that is not initialised; NULL: all are */
    void (*atomic)(const volatile void *p, unsigned size, void *pc);
};
extern const struct pw_emu_hooks *pw_emu_hooks; /* NULL: none */

#endif
