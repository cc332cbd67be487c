/* pw_emu_kernel.h - what emulated kernels call: the C face of the scheduler (block.c, shared.c, grid.c).
 *
 * Everything that synchronises carries the place in the source where it stands, so that a report can name it.
 */
#ifndef PW_EMU_KERNEL_H
#define PW_EMU_KERNEL_H
#include <cuda_runtime_api.h>
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif

/* The running thread; rewritten whenever another one goes on. */
struct pw_emu_self {
    struct uint3 thread, block;
    struct dim3 block_dim, grid_dim;
    unsigned linear, lane, warp; /* of the thread in its block */
};
extern struct pw_emu_self pw_emu_self;

struct pw_emu_site {
    const char *file;
    int line;
};

enum pw_emu_vote { PW_EMU_NO_VOTE, PW_EMU_COUNT, PW_EMU_AND, PW_EMU_OR };
int pw_emu_barrier(int vote, enum pw_emu_vote kind, struct pw_emu_site at);

/* A collective of a warp: each lane of mask brings what it has, and the last to come calls fn with all of it.
 * fence: it orders memory, too, as __syncwarp alone does. */
typedef void (*pw_emu_warp_fn)(void *const *lanes, unsigned mask);
void pw_emu_warp(unsigned mask, pw_emu_warp_fn fn, void *mine, bool fence, const char *what,
                 struct pw_emu_site at);
void pw_emu_bad_source(const char *what, int source); /* a shuffle's source lane is not in its mask */

/* A shared array: one such record for each declaration. */
struct pw_emu_shared {
    const char *name;
    size_t size, align;
    size_t offset;       /* in the block's shared memory, */
    unsigned long block; /* of this one */
};
void *pw_emu_shared_array(struct pw_emu_shared *s);
void *pw_emu_shared_dynamic(void);

/* The kernel, at pc, is about to change p in one go. */
void pw_emu_atomic(const volatile void *p, unsigned size, void *pc);

/* A kernel and its arguments, copied at the launch. */
struct pw_emu_call {
    const char *name;
    const void *kernel;
    size_t size; /* of the whole record: the checker knows arguments by their address */
    void (*run)(const struct pw_emu_call *call);
    void (*destroy)(struct pw_emu_call *call);
};
cudaError_t pw_emu_launch(struct pw_emu_call *call, struct dim3 grid, struct dim3 block, size_t shared,
                          cudaStream_t s); /* takes the call */

#ifdef __cplusplus
}
#endif
#endif
