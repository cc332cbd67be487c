/* table.c - the backend's table of operations, one for each instruction set. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"

#define NAME_OF(isa) #isa
#define NAME(isa)    NAME_OF(isa)

static enum pw_code open_cpu(struct pw_backend **be, int threads, struct pw_err *err)
{
    return pw_cpu_open(be, NAME(PW_ISA), threads, err);
}

const struct pw_backend_ops PW_OP(table) = {
    .abi = PW_BACKEND_ABI,
    .name = "cpu",
    .summary = "own kernels on all processors; the same bits on every machine",
    .open = open_cpu,
    .close = pw_cpu_close,
    .sync = pw_cpu_sync,
    .workers = pw_cpu_workers,
    .device = pw_cpu_device,
    .alloc = pw_cpu_alloc,
    .free = pw_cpu_free,
    .upload = pw_cpu_copy,
    .download = pw_cpu_copy,
    .for_chunks = pw_cpu_for_chunks,
    .mat_pack_floats = PW_OP(mat_pack_floats),
    .prepare = PW_OP(prepare),
    .reduce = PW_OP(reduce),
    .adamw = PW_OP(adamw),
    .embed_fwd = PW_OP(embed_fwd),
    .embed_bwd = PW_OP(embed_bwd),
    .norm_fwd = PW_OP(norm_fwd),
    .norm_bwd = PW_OP(norm_bwd),
    .linear_fwd = PW_OP(linear_fwd),
    .linear_dx = PW_OP(linear_dx),
    .linear_dw = PW_OP(linear_dw),
    .rotate = PW_OP(rotate),
    .scores = PW_OP(scores),
    .attention_fwd = PW_OP(attention_fwd),
    .attn_save_floats = PW_OP(attn_save_floats),
    .attention_cached = PW_OP(attention_cached),
    .attn_cache_floats = PW_OP(attn_cache_floats),
    .attention_bwd = PW_OP(attention_bwd),
    .gather_bias_fwd = PW_OP(gather_bias_fwd),
    .gather_bias_bwd = PW_OP(gather_bias_bwd),
    .gather_rows = PW_OP(gather_rows),
    .scatter_rows = PW_OP(scatter_rows),
    .cross_entropy = PW_OP(cross_entropy),
    .softmax = PW_OP(softmax),
    .add = PW_OP(add),
    .dropout = PW_OP(dropout),
    .zero = PW_OP(zero),
};
