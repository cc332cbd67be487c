/* emu_int.h - internals of the emulator, shared by its files. The caller of every function holds the lock
 * (pw_emu_lock).
 *
 * Without memory the process ends with a message. */
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
/* Reports a finding: adds it to the collected ones, or prints it and ends the process. */
void pw_emu_report(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *pw_emu_memory(void *p, size_t n); /* realloc that ends the process without memory */
uint64_t pw_emu_random(void);           /* next number of the generator that pw_emu_set_order seeds */
void pw_emu_shuffle(unsigned *list, unsigned n);

/* Settings, error state and counts. */
struct pw_emu_state {
    enum pw_emu_order order;
    bool deferred, tells_graphs, tells_counts;
    const char *kernel; /* name of the running kernel; NULL outside of kernels */
    struct pw_emu_counts counts;
    cudaError_t sticky; /* error of a lost device, which every call returns */
    cudaError_t last;   /* for cudaGetLastError */
    bool no_blas;       /* cublasLtCreate fails */
};
extern struct pw_emu_state pw_emu;

/* Begin and end every CUDA call. pw_emu_begin takes the lock and returns the error that every call has at
 * present. pw_emu_end stores an error for cudaGetLastError, releases the lock and returns its argument. */
cudaError_t pw_emu_begin(void);
cudaError_t pw_emu_end(cudaError_t e);

/* ---- device.c */
extern struct cudaDeviceProp pw_emu_device;
cudaError_t pw_emu_no_device(void); /* the reason why there is no device, or cudaSuccess */

/* Start addresses of the kinds of memory, which the checker compares with every access. */
enum { PW_EMU_STACK = 64 << 10, PW_EMU_SHARED_SPACE = 256 << 10 };
#define PW_EMU_SPACE ((size_t)2 << 30)
struct pw_emu_regions {
    const char *stack; /* of the running thread */
    const char *device, *shared;
};
extern struct pw_emu_regions pw_emu_regions;

/* ---- fiber.c: fibers, each a stack with a saved stack pointer */
struct pw_emu_fiber {
    void *sp;
    char *base; /* lowest address */
    size_t size;
    void *fake; /* fake stack of the address sanitizer */
    struct pw_emu_fiber *next;
};
extern struct pw_emu_fiber pw_emu_main; /* the stack of the caller of a launch */
/* Takes an idle fiber, or a new one that begins at entry. A released fiber continues where it
 * stopped. */
struct pw_emu_fiber *pw_emu_fiber_take(void (*entry)(void));
void pw_emu_fiber_give(struct pw_emu_fiber *f); /* marks a fiber as idle */
/* Drops the frames of a fiber that will never continue; it is idle then, and begins at entry. */
void pw_emu_fiber_abandon(struct pw_emu_fiber *f, void (*entry)(void));
void pw_emu_fiber_swap(struct pw_emu_fiber *from, struct pw_emu_fiber *to);
void pw_emu_fiber_entered(void); /* an entry function calls this first */

/* ---- block.c */
/* Runs all threads of a block, whose index is in pw_emu_self. Reports a deadlock if no thread can continue.
 */
void pw_emu_block_run(const struct pw_emu_call *call, unsigned n_threads);
bool pw_emu_on_stack(const void *p); /* of the running thread */
extern unsigned pw_emu_epoch;        /* block barriers that the running thread passed and that order memory */
extern unsigned pw_emu_warp_epoch[32]; /* number of fences that each warp has passed */

/* ---- sites.c: counts a barrier or fence that all threads have reached. Returns whether it orders memory:
 * false if pw_emu_leave_out named it. */
bool pw_emu_orders(struct pw_emu_site at, const char *what);

/* ---- shared.c */
enum { PW_EMU_SHARED_DEFAULT = 48 << 10 };
/* A shared array of the running block. */
struct pw_emu_array {
    const char *name;
    size_t offset, size;
};
/* Starts the shared memory of a block. dynamic: bytes of the dynamic array; limit: bytes of all arrays
 * together. */
void pw_emu_shared_begin(size_t dynamic, size_t limit);
/* Finds the array that contains p, or is at most `near` bytes away; NULL: none. */
const struct pw_emu_array *pw_emu_shared_find(const void *p, size_t near);

/* ---- grid.c */
/* Numbers of the launch and of the block that run, from 1 on over the whole process; and the running kernel,
 * NULL outside of kernels. */
extern unsigned long pw_emu_launch_number, pw_emu_block_number;
extern const struct pw_emu_call *pw_emu_running;

/* ---- memory.c */
/* An allocation of device memory. */
struct pw_emu_allocation {
    char *p;
    size_t n;
    unsigned id;
};
const struct pw_emu_allocation *pw_emu_allocation_of(const void *p); /* NULL: p is in none */
extern uint64_t pw_emu_allocation_changes;                           /* counts allocations and frees */
bool pw_emu_is_device(const void *p);
bool pw_emu_is_pinned(const void *p);
bool pw_emu_in_bounds(const void *p, size_t n); /* do p .. p+n-1 lie in one allocation? */
/* Informs the checker that n bytes of device memory were written by a copy, a memset or a library. */
void pw_emu_wrote(void *p, size_t n);
/* Reports a copy or a library call (`what`) that reads uninitialised device memory. */
void pw_emu_reads(const char *what, const void *p, size_t n);
/* Frees all device memory. */
void pw_emu_memory_reset(void);

/* ---- guard.c: call these around every access to device memory; calls may be nested */
void pw_emu_open_device(void);
void pw_emu_close_device(void);

/* ---- stream.c: operations, which streams and graphs share by reference counts */
struct pw_emu_op {
    int refs;
    bool launch; /* a kernel launch */
    bool always; /* runs also on a lost device: the record of an event */
    const char *what;
    const void *alone; /* memory that no concurrent operation may use, such as a workspace; NULL: none */
    cudaError_t (*run)(struct pw_emu_op *op); /* an error of it makes the device lost */
    void (*fini)(struct pw_emu_op *op);       /* frees what it holds; NULL: nothing */
};
/* Returns a new zeroed struct of `size` bytes that begins with a struct pw_emu_op, with one reference. */
void *pw_emu_op_new(size_t size, const char *what, cudaError_t (*run)(struct pw_emu_op *op),
                    void (*fini)(struct pw_emu_op *op));
void pw_emu_op_drop(struct pw_emu_op *op);

/* One record of an event. It outlives the event until the last reference is dropped. */
struct pw_emu_moment {
    int refs;
    cudaStream_t stream;
    bool done;
    struct timespec at;
};
void pw_emu_moment_drop(struct pw_emu_moment *m); /* NULL is a no-op */

cudaError_t pw_emu_enqueue(cudaStream_t s, struct pw_emu_op *op); /* takes the reference */
void pw_emu_drain(cudaStream_t s); /* runs all work of a stream; NULL: of all blocking streams */
void pw_emu_drain_all(void);
/* Runs work of s until that moment; NULL: all of it. */
void pw_emu_drain_until(cudaStream_t s, const struct pw_emu_moment *until);
void pw_emu_step(cudaStream_t s); /* runs the next operation of s */
/* Appends an operation to s, or a moment that s waits for. */
void pw_emu_append(cudaStream_t s, struct pw_emu_op *op, struct pw_emu_moment *moment);
cudaError_t pw_emu_begin_on(cudaStream_t s); /* pw_emu_begin for calls that take a stream */
bool pw_emu_stream_known(cudaStream_t s);
cudaStream_t pw_emu_streams(void); /* first of the list of all streams */
/* For calls that are not allowed during a capture: returns cudaSuccess, or invalidates the capture and
 * returns its error. */
cudaError_t pw_emu_not_captured(void);

/* A set of parts of a graph, by number, that the next part depends on. */
struct pw_emu_ends {
    unsigned *part, n; /* [n] */
};
/* A stream, and an event. A captured stream adds its operations to `capture`. */
struct CUstream_st {
    struct pw_emu_node *first, **last;
    bool blocking, busy;
    struct CUgraph_st *capture; /* NULL: none */
    struct pw_emu_ends ends;    /* dependencies of the next part */
    struct CUstream_st *next;
};
struct CUevent_st {
    struct pw_emu_moment *moment; /* newest record; NULL: none */
    struct CUgraph_st *capture;   /* or the capture that it was recorded in, */
    struct pw_emu_ends ends;      /* after these parts */
    bool timed;
};

/* ---- graph.c */
void pw_emu_ends_clear(struct pw_emu_ends *ends);
void pw_emu_ends_add(struct pw_emu_ends *ends, const struct pw_emu_ends *more); /* set union */
cudaError_t pw_emu_capture_add(cudaStream_t s, struct pw_emu_op *op);           /* takes the reference */
cudaError_t pw_emu_capture_wait(cudaStream_t s, const struct CUevent_st *event);
void pw_emu_capture_spoil(struct CUgraph_st *g);
/* Does the capture forbid this thread the calls that are unsafe during a capture? */
bool pw_emu_capture_forbids(const struct CUgraph_st *g);

/* ---- hooks of the check build (check/), if it is linked */
struct pw_emu_hooks {
    void (*allocated)(const struct pw_emu_allocation *a);
    void (*wrote)(void *p, size_t n); /* written by anything but a kernel */
    void (*copied)(void *dst, const void *src, size_t n);
    /* Returns the first uninitialised byte of p .. p+n-1; NULL: there is none. */
    const void *(*unknown)(const void *p, size_t n);
    void (*atomic)(const volatile void *p, unsigned size, void *pc);
};
extern const struct pw_emu_hooks *pw_emu_hooks; /* NULL: none */

#endif
