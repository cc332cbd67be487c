/* table.c - the backend's table of operations, compiled for each instruction set. With PW_AMX it is the table
 * of bf16: AVX-512's, with linear layers on the matrix unit. */
#include "kernels/cpu/amx.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"

#define NAME_OF(isa) #isa
#define NAME(isa)    NAME_OF(isa)

#ifdef PW_AMX
#define LINEAR(op) PW_OP_EXPAND(op, amx)
#define FOR_CHUNKS pw_for_chunks_amx
#define SUMMARY    "own kernels on all processors; linear layers in bf16: the same bits on one machine"
#define DEVICE     "amx bf16, class machine"
#define PRECISION  "bf16"
#define PORTABLE   false
#define EXACT(op)  NULL /* packs are rounded to bf16 */
#else
#define LINEAR(op) PW_OP(op)
#define FOR_CHUNKS pw_cpu_for_chunks
#define SUMMARY    "own kernels on all processors; the same bits on every machine"
#define DEVICE     NAME(PW_ISA)
#define PRECISION  "fp32"
#define PORTABLE   true
#define EXACT(op)  PW_OP(op)
#endif

static enum pw_code open_cpu(struct pw_backend **be, int threads, struct pw_err *err)
{
    return pw_cpu_open(be, DEVICE, threads, err);
}

const struct pw_backend_ops LINEAR(table) = {
    .abi = PW_BACKEND_ABI,
    .name = "cpu",
    .mode = "",
    .summary = SUMMARY,
    .isa = NAME(PW_ISA),
    .precision = PRECISION,
    .portable = PORTABLE,
    .host = true,
    .mixes = true,
    .scans = true,
    .selects = true,
    .open = open_cpu,
    .close = pw_cpu_close,
    .sync = pw_cpu_sync,
    .workers = pw_cpu_workers,
    .chunk_bytes = pw_cpu_chunk_bytes,
    .device = pw_cpu_device,
    .alloc = pw_cpu_alloc,
    .free = pw_cpu_free,
    .upload = pw_cpu_copy,
    .download = pw_cpu_copy,
    .host_alloc = pw_cpu_alloc,
    .host_free = pw_cpu_free,
    .mark = pw_cpu_mark,
    .wait = pw_cpu_wait,
    .replay = pw_cpu_replay,
    .for_chunks = FOR_CHUNKS,
    .mat_pack_floats = LINEAR(mat_pack_floats),
    .prepare = LINEAR(prepare),
    .unpack = EXACT(unpack),
    .pack_back = EXACT(pack_back),
    .unpack_rows = EXACT(unpack_rows),
    .reduce = PW_OP(reduce),
    .adamw = PW_OP(adamw),
    .digest = PW_OP(digest),
    .embed_fwd = PW_OP(embed_fwd),
    .embed_bwd = PW_OP(embed_bwd),
    .norm_fwd = PW_OP(norm_fwd),
    .norm_bwd = PW_OP(norm_bwd),
    .linear_fwd = LINEAR(linear_fwd),
    .linear_dx = LINEAR(linear_dx),
    .linear_dw = LINEAR(linear_dw),
    .gate_fwd = PW_OP(gate_fwd),
    .gate_bwd = PW_OP(gate_bwd),
    .heads_fwd = PW_OP(heads_fwd),
    .heads_bwd = PW_OP(heads_bwd),
    .rotate = PW_OP(rotate),
    .turn_bwd = PW_OP(turn_bwd),
    .scores = PW_OP(scores),
    .attention_fwd = PW_OP(attention_fwd),
    .attn_save_floats = PW_OP(attn_save_floats),
    .attention_cached = PW_OP(attention_cached),
    .attn_cache_floats = PW_OP(attn_cache_floats),
    .attention_bwd = PW_OP(attention_bwd),
    .terms_fwd = PW_OP(terms_fwd),
    .terms_bwd = PW_OP(terms_bwd),
    .slopes_fwd = PW_OP(slopes_fwd),
    .slopes_bwd = PW_OP(slopes_bwd),
    .polar_fwd = PW_OP(polar_fwd),
    .polar_bwd = PW_OP(polar_bwd),
    .planes_make = PW_OP(planes_make),
    .planes_make_bwd = PW_OP(planes_make_bwd),
    .planes_fwd = PW_OP(planes_fwd),
    .planes_bwd = PW_OP(planes_bwd),
    .walk_fwd = PW_OP(walk_fwd),
    .walk_bwd = PW_OP(walk_bwd),
    .put_head = PW_OP(put_head),
    .gather_bias_fwd = PW_OP(gather_bias_fwd),
    .gather_bias_bwd = PW_OP(gather_bias_bwd),
    .fire_fwd = PW_OP(fire_fwd),
    .fire_bwd = PW_OP(fire_bwd),
    .expr_fwd = PW_OP(expr_fwd),
    .expr_bwd = PW_OP(expr_bwd),
    .gather_rows = PW_OP(gather_rows),
    .scatter_rows = PW_OP(scatter_rows),
    .cross_entropy = PW_OP(cross_entropy),
    .softmax = PW_OP(softmax),
    .cap_fwd = PW_OP(cap_fwd),
    .cap_bwd = PW_OP(cap_bwd),
    .clip_fwd = PW_OP(clip_fwd),
    .clip_bwd = PW_OP(clip_bwd),
    .add = PW_OP(add),
    .dropout = PW_OP(dropout),
    .zero = PW_OP(zero),
};
