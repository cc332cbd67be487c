/* grid.c - a launch: whether the configuration is one that a device takes, and its blocks one after the
 * other. */
#include "emu_int.h"

#include <stdlib.h>

enum { OPTINS = 64 };

unsigned long pw_emu_launch_number, pw_emu_block_number;
const struct pw_emu_call *pw_emu_running;

/* Limits that cudaFuncSetAttribute has set. */
static struct {
    const void *kernel;
    size_t shared;
} optins[OPTINS];
static int n_optins;

struct launch_op {
    struct pw_emu_op op;
    struct pw_emu_call *call;
    struct dim3 grid, block;
    size_t shared, limit;
};

static cudaError_t launch_run(struct pw_emu_op *op)
{
    const struct launch_op *l = (const struct launch_op *)op;
    struct dim3 grid = l->grid, block = l->block;
    size_t n = (size_t)grid.x * grid.y * grid.z;
    unsigned n_threads = block.x * block.y * block.z;
    unsigned *order = NULL;
    if (pw_emu.order == PW_EMU_SHUFFLE && n > 1 && n < 0xffffffffu) {
        order = malloc(n * sizeof *order);
        for (size_t i = 0; order != NULL && i < n; i++)
            order[i] = (unsigned)i;
        if (order != NULL)
            pw_emu_shuffle(order, (unsigned)n);
    }
    pw_emu.kernel = l->call->name;
    pw_emu_running = l->call;
    pw_emu_launch_number++;
    pw_emu.counts.launches++;
    pw_emu.counts.blocks += n;
    pw_emu.counts.threads += n * n_threads;
    pw_emu_self.grid_dim = grid;
    pw_emu_self.block_dim = block;
    for (size_t k = 0; k < n; k++) {
        size_t i = order != NULL ? order[k] : pw_emu.order == PW_EMU_REVERSE ? n - 1 - k : k;
        pw_emu_self.block = (struct uint3){(unsigned)(i % grid.x), (unsigned)(i / grid.x % grid.y),
                                           (unsigned)(i / grid.x / grid.y)};
        pw_emu_block_number++;
        pw_emu_shared_begin(l->shared, l->limit);
        pw_emu_block_run(l->call, n_threads);
    }
    pw_emu.kernel = NULL;
    pw_emu_running = NULL;
    free(order);
    return cudaSuccess;
}

static void launch_fini(struct pw_emu_op *op)
{
    struct pw_emu_call *call = ((struct launch_op *)op)->call;
    call->destroy(call);
}

static size_t allowed(const void *kernel)
{
    for (int i = 0; i < n_optins; i++)
        if (optins[i].kernel == kernel)
            return optins[i].shared;
    return PW_EMU_SHARED_DEFAULT;
}

static cudaError_t refused(const struct pw_emu_call *call, struct dim3 grid, struct dim3 block, size_t shared)
{
    bool threads = block.x > 0 && block.y > 0 && block.z > 0 && block.x <= 1024 && block.y <= 1024 &&
                   block.z <= 64 && (size_t)block.x * block.y * block.z <= 1024;
    bool blocks =
        grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x <= 0x7fffffffu && grid.y <= 65535 && grid.z <= 65535;
    if (!threads || !blocks)
        return cudaErrorInvalidConfiguration;
    return shared > allowed(call->kernel) ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t pw_emu_launch(struct pw_emu_call *call, struct dim3 grid, struct dim3 block, size_t shared,
                          cudaStream_t s)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess)
        e = refused(call, grid, block, shared);
    if (e != cudaSuccess) {
        call->destroy(call);
        return pw_emu_end(e);
    }
    struct launch_op *l = pw_emu_op_new(sizeof *l, call->name, launch_run, launch_fini);
    l->op.launch = true;
    l->call = call;
    l->grid = grid;
    l->block = block;
    l->shared = shared;
    l->limit = allowed(call->kernel);
    return pw_emu_end(pw_emu_enqueue(s, &l->op));
}

static cudaError_t set_attribute(const void *fn, enum cudaFuncAttribute attr, int value)
{
    int i = 0;
    while (i < n_optins && optins[i].kernel != fn)
        i++;
    if (attr != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        (size_t)value > pw_emu_device.sharedMemPerBlockOptin || i == OPTINS)
        return cudaErrorInvalidValue;
    optins[i].kernel = fn;
    optins[i].shared = (size_t)value;
    n_optins += i == n_optins;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *fn, enum cudaFuncAttribute attr, int value)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess)
        e = set_attribute(fn, attr, value);
    return pw_emu_end(e);
}
