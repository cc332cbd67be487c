/* pw_emu_kernel.h - the C interface of the scheduler to emulated kernels (block.c, shared.c, grid.c).
 *
 * Every synchronising call passes its place in the source, which reports name. Kernels run under the
 * emulator's lock. */
#ifndef PW_EMU_KERNEL_H
#define PW_EMU_KERNEL_H
#include <cuda_runtime_api.h>
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif

/* The running thread. The scheduler overwrites it when it switches to another thread. */
struct pw_emu_self {
    struct uint3 thread, block;
    struct dim3 block_dim, grid_dim;
    unsigned linear, lane, warp; /* index of the thread in its block, and its lane and warp */
};
extern struct pw_emu_self pw_emu_self;

/* A place in the source. */
struct pw_emu_site {
    const char *file;
    int line;
};

/* The barrier of a block, and its kinds of vote. Returns the number of votes that are not 0 (COUNT), or
 * whether all (AND) or any (OR) are not 0. */
enum pw_emu_vote { PW_EMU_NO_VOTE, PW_EMU_COUNT, PW_EMU_AND, PW_EMU_OR };
int pw_emu_barrier(int vote, enum pw_emu_vote kind, struct pw_emu_site at);

/* A collective operation of a warp. Each lane of mask passes a pointer to its record; the last lane to arrive
 * calls fn with the pointers of all 32 lanes. fence: the operation also orders memory, as only __syncwarp
 * does. what: its name, for reports. */
typedef void (*pw_emu_warp_fn)(void *const *lanes, unsigned mask);
void pw_emu_warp(unsigned mask, pw_emu_warp_fn fn, void *mine, bool fence, const char *what,
                 struct pw_emu_site at);
/* Reports a shuffle whose source lane is not in its mask. */
void pw_emu_bad_source(const char *what, int source);

/* A shared array; every declaration has one such record. `offset` holds for the block with number `block`. */
struct pw_emu_shared {
    const char *name;
    size_t size, align;
    size_t offset;       /* offset in shared memory */
    unsigned long block; /* number of the block that it was placed for */
};
/* Returns the address of a shared array, or of the dynamic shared memory, in the running block. */
void *pw_emu_shared_array(struct pw_emu_shared *s);
void *pw_emu_shared_dynamic(void);

/* Call it before an atomic operation on p: the check build treats it as one access. pc: the return address in
 * the kernel. */
void pw_emu_atomic(const volatile void *p, unsigned size, void *pc);

/* A kernel with a copy of its arguments, made at the launch. */
struct pw_emu_call {
    const char *name;
    const void *kernel;
    size_t size; /* bytes of the whole record: the checker recognises arguments by their address */
    void (*run)(const struct pw_emu_call *call);
    void (*destroy)(struct pw_emu_call *call);
};
/* Checks the configuration and enqueues the launch. Takes ownership of call, also on failure. */
cudaError_t pw_emu_launch(struct pw_emu_call *call, struct dim3 grid, struct dim3 block, size_t shared,
                          cudaStream_t s);

#ifdef __cplusplus
}
#endif
#endif
