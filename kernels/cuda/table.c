/* table.c - the tables of the CUDA backend: ref, and fast in three precisions. The members that all of
 * them share are here. */
#include "kernels/cuda/table.h"

#include "kernels/cuda/members.h"

/* ---- whole-machine operations */

/* The order of backend.h; mode fast may use another. */
static bool ascending(const struct pw_backend *be)
{
    return be->blas == NULL;
}

static void reduce(struct pw_backend *be, float *g, double *sumsq, int *spoilt, const float *slots,
                   int n_slots, size_t stride, size_t n, const float *loss, int n_loss)
{
    double *partial = pw_cuda_scratch(&be->ctx, (n + PW_TILE - 1) / PW_TILE * sizeof *partial);
    pw_cuda_side_join(be);
    PW_CUDA_DO(&be->ctx, "reduce",
               pw_cuda_reduce(be->ctx.stream, g, sumsq, spoilt, partial, slots, n_slots, stride, n, loss,
                              n_loss, ascending(be)));
}

static void adamw(struct pw_backend *be, float *p, float *m, float *v, const float *g, const double *sumsq,
                  const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles, const struct pw_adamw *h,
                  double *moved)
{
    double *partial = pw_cuda_scratch(&be->ctx, 2 * n_tiles * sizeof *partial);
    PW_CUDA_DO(&be->ctx, "adamw",
               pw_cuda_adamw(be->ctx.stream, p, m, v, g, sumsq, segs, n_segs, n_tiles, h, moved, partial,
                             ascending(be)));
}

static void digest(struct pw_backend *be, uint64_t *sums, const float *x, size_t n, uint64_t first)
{
    PW_CUDA_DO(&be->ctx, "digest", pw_cuda_digest(be->ctx.stream, sums, x, n, first));
}

/* ---- operations of a chunk */

static void embed_fwd(struct pw_ctx *c, float *x, const float *table, const int *ids,
                      const struct pw_added *a, int R, int C)
{
    pw_cuda_writes(c, x);
    PW_CUDA_DO(c, "embed_fwd", pw_cuda_embed_fwd(c->stream, x, table, ids, a, R, C));
}

static void embed_bwd(struct pw_ctx *c, float *d_table, float *const *d_added, const float *dx,
                      const int *ids, const struct pw_added *a, int R, int C)
{
    pw_cuda_writes(c, d_table);
    for (int k = 0; k < a->n && d_added != NULL; k++)
        pw_cuda_writes(c, d_added[k]);
    PW_CUDA_DO(c, "embed_bwd", pw_cuda_embed_bwd(c->stream, d_table, d_added, dx, ids, a, R, C));
}

/* The result of a norm is the operand of a product, possibly after dropout. */
static void norm_fwd(struct pw_ctx *c, float *y, float *stat, const float *x, const float *gain,
                     const float *bias, enum pw_norm kind, float eps, float scale, int R, int C)
{
    uint16_t *copy = pw_cuda_copy_of(c, y);
    pw_cuda_leaves(c, copy, y, (size_t)R * (size_t)C);
    PW_CUDA_DO(c, "norm_fwd",
               pw_cuda_norm_fwd(c->stream, pw_cuda_floats_of(c, y), copy, stat, x, gain, bias, kind, eps,
                                scale, R, C));
}

static void gate_fwd(struct pw_ctx *c, float *y, const float *pre, enum pw_act act, int F, int R)
{
    pw_cuda_writes(c, y);
    PW_CUDA_DO(c, "gate_fwd", pw_cuda_gate_fwd(c->stream, y, pre, act, F, R));
}

static void gate_bwd(struct pw_ctx *c, float *d_pre, const float *dy, const float *pre, enum pw_act act,
                     int F, int R)
{
    pw_cuda_writes(c, d_pre);
    PW_CUDA_DO(c, "gate_bwd", pw_cuda_gate_bwd(c->stream, d_pre, dy, pre, act, F, R));
}

static void heads_fwd(struct pw_ctx *c, float *qkv, float *stat, const float *x, const struct pw_heads *h,
                      int R)
{
    pw_cuda_writes(c, qkv);
    PW_CUDA_DO(c, "heads_fwd", pw_cuda_heads_fwd(c->stream, qkv, stat, x, h, R));
}

static void heads_bwd(struct pw_ctx *c, float *dx, float *d_q_gain, float *d_k_gain, const float *dqkv,
                      const float *x, const float *stat, const struct pw_heads *h, int R)
{
    pw_cuda_writes(c, dx);
    pw_cuda_writes(c, d_q_gain);
    pw_cuda_writes(c, d_k_gain);
    PW_CUDA_DO(c, "heads_bwd", pw_cuda_heads_bwd(c->stream, dx, d_q_gain, d_k_gain, dqkv, x, stat, h, R));
}

static void rotate(struct pw_ctx *c, float *qkv, const struct pw_turn *t, const int *pos, int H, int D, int R)
{
    pw_cuda_writes(c, qkv);
    PW_CUDA_DO(c, "rotate", pw_cuda_rotate(c->stream, qkv, qkv, t, pos, false, H, D, R));
}

static void turn_bwd(struct pw_ctx *c, float *dqkv, const struct pw_turn_grad *d, const float *qkv,
                     const struct pw_turn *t, const int *pos, int H, int D, int R)
{
    float *room = pw_cuda_scratch(c, pw_cuda_turn_bwd_floats(t, H, R) * sizeof *room);
    pw_cuda_writes(c, dqkv);
    if (room != NULL)
        PW_CUDA_DO(c, "turn_bwd", pw_cuda_turn_bwd(c->stream, dqkv, d, qkv, t, pos, H, D, R, room));
}

static void scores(struct pw_ctx *c, float *out, const float *qkv, const struct pw_attn *a, const int *pos,
                   const struct pw_seqs *s)
{
    pw_cuda_writes(c, out);
    size_t *at = pw_cuda_turned(c, pw_cuda_attention_at(a, s), &qkv, a, pos, s->rows);
    PW_CUDA_DO(c, "scores", pw_cuda_scores(c->stream, out, qkv, a, pos, s, at));
}

static void attention_cached(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                             const struct pw_attn *a, const int *pos, int cap, int T, int R)
{
    size_t floats = pw_cuda_attention_cached_scratch(a, T, R);
    pw_cuda_writes(c, z);
    float *scratch = pw_cuda_turned(c, floats * sizeof *scratch, &qkv, a, pos != NULL ? pos + T : NULL, R);
    PW_CUDA_DO(c, "attention_cached",
               pw_cuda_attention_cached(c->stream, z, cache, qkv, a, pos, cap, T, R, scratch));
}

static size_t attn_cache_floats(int H, int D, int cap)
{
    return 2 * (size_t)cap * (size_t)H * (size_t)D;
}

static void terms_fwd(struct pw_ctx *c, float *y, const float *g, const float *before,
                      const struct pw_score *f, int H, const struct pw_seqs *s, int R)
{
    pw_cuda_writes(c, y);
    PW_CUDA_DO(c, "terms_fwd", pw_cuda_terms_fwd(c->stream, y, g, before, f, H, s, R));
}

static void terms_bwd(struct pw_ctx *c, float *dg, const float *dy, const float *g, const struct pw_score *f,
                      int H, const struct pw_seqs *s)
{
    pw_cuda_writes(c, dg);
    PW_CUDA_DO(c, "terms_bwd", pw_cuda_terms_bwd(c->stream, dg, dy, g, f, H, s));
}

static void slopes_fwd(struct pw_ctx *c, float *y, const float *qkv, const struct pw_slopes *s, int R)
{
    pw_cuda_writes(c, y);
    PW_CUDA_DO(c, "slopes_fwd", pw_cuda_slopes_fwd(c->stream, y, qkv, s, R));
}

static void slopes_bwd(struct pw_ctx *c, float *dqkv, const struct pw_slopes_grad *d, const float *dy,
                       const float *qkv, const struct pw_slopes *s, int R)
{
    float *room = pw_cuda_scratch(c, pw_cuda_slopes_bwd_floats(s, R) * sizeof *room);
    pw_cuda_side_join(c->be); /* gradients may be zeroed there */
    pw_cuda_writes(c, dqkv);
    if (room != NULL)
        PW_CUDA_DO(c, "slopes_bwd", pw_cuda_slopes_bwd(c->stream, dqkv, d, dy, qkv, s, R, room));
}

static void polar_fwd(struct pw_ctx *c, float *y, const float *qkv, const struct pw_polar *p, const int *pos,
                      int R)
{
    float *room = pw_cuda_scratch(c, pw_cuda_polar_floats(p) * sizeof *room);
    pw_cuda_writes(c, y);
    if (room != NULL)
        PW_CUDA_DO(c, "polar_fwd", pw_cuda_polar_fwd(c->stream, y, qkv, p, pos, R, room));
}

static void polar_bwd(struct pw_ctx *c, float *dqkv, float *d_phase, const float *dy, const float *qkv,
                      const struct pw_polar *p, const int *pos, int R)
{
    float *room = pw_cuda_scratch(c, pw_cuda_polar_bwd_floats(p, R) * sizeof *room);
    pw_cuda_writes(c, d_phase);
    pw_cuda_writes(c, dqkv);
    if (room != NULL)
        PW_CUDA_DO(c, "polar_bwd", pw_cuda_polar_bwd(c->stream, dqkv, d_phase, dy, qkv, p, pos, R, room));
}

static void walk_fwd(struct pw_ctx *c, float *vectors, float *factors, const float *y, const float *g,
                     int before, const struct pw_walk_rows *w, const struct pw_seqs *s, int R)
{
    pw_cuda_writes(c, vectors);
    pw_cuda_writes(c, factors);
    PW_CUDA_DO(c, "walk_fwd", pw_cuda_walk_fwd(c->stream, vectors, factors, y, g, before, w, s, R));
}

static void walk_bwd(struct pw_ctx *c, float *dy, float *dg, float *d_conv, const float *d_vectors,
                     const float *d_factors, const float *y, const float *g, const struct pw_walk_rows *w,
                     const struct pw_seqs *s)
{
    float *room = pw_cuda_scratch(c, pw_cuda_walk_bwd_floats(w, s->rows) * sizeof *room);
    pw_cuda_writes(c, d_conv);
    pw_cuda_writes(c, dy);
    pw_cuda_writes(c, dg);
    PW_CUDA_DO(c, "walk_bwd",
               pw_cuda_walk_bwd(c->stream, dy, dg, d_conv, d_vectors, d_factors, y, g, w, s, room));
}

static void planes_make(struct pw_ctx *c, float *unit, const float *a, const float *b, int H, int N, int D)
{
    double *room = pw_cuda_scratch(c, pw_cuda_planes_make_bytes(H, N, D));
    if (room != NULL)
        PW_CUDA_DO(c, "planes_make", pw_cuda_planes_make(c->stream, unit, a, b, H, N, D, room));
}

static void planes_make_bwd(struct pw_ctx *c, float *d_a, float *d_b, const float *d_unit, const float *a,
                            const float *b, int H, int N, int D)
{
    double *room = pw_cuda_scratch(c, pw_cuda_planes_make_bytes(H, N, D));
    pw_cuda_side_join(c->be); /* gradients may be zeroed there */
    if (room != NULL)
        PW_CUDA_DO(c, "planes_make_bwd",
                   pw_cuda_planes_make_bwd(c->stream, d_a, d_b, d_unit, a, b, H, N, D, room));
}

static void planes_fwd(struct pw_ctx *c, float *y, const float *qkv, const struct pw_planes *p,
                       const int *pos, int R)
{
    float *room = pw_cuda_scratch(c, pw_cuda_planes_floats(p, R) * sizeof *room);
    pw_cuda_writes(c, y);
    if (room != NULL)
        PW_CUDA_DO(c, "planes_fwd", pw_cuda_planes_fwd(c->stream, y, qkv, p, pos, R, room));
}

static void planes_bwd(struct pw_ctx *c, float *dqkv, float *d_unit, float *d_log_factor, const float *dy,
                       const float *qkv, const struct pw_planes *p, const int *pos, int R)
{
    float *room = pw_cuda_scratch(c, pw_cuda_planes_bwd_floats(p, R) * sizeof *room);
    pw_cuda_side_join(c->be); /* gradients may be zeroed there */
    pw_cuda_writes(c, d_unit);
    pw_cuda_writes(c, d_log_factor);
    pw_cuda_writes(c, dqkv);
    if (room != NULL)
        PW_CUDA_DO(c, "planes_bwd",
                   pw_cuda_planes_bwd(c->stream, dqkv, d_unit, d_log_factor, dy, qkv, p, pos, R, room));
}

static void put_head(struct pw_ctx *c, float *z, const float *table, const int *pos, int h, int H, int D,
                     int R)
{
    pw_cuda_writes(c, z);
    PW_CUDA_DO(c, "put_head", pw_cuda_put_head(c->stream, z, table, pos, h, H, D, R));
}

static void gather_bias_fwd(struct pw_ctx *c, float *out, const float *param, const int *index, int H, int n)
{
    PW_CUDA_DO(c, "gather_bias_fwd", pw_cuda_gather_bias_fwd(c->stream, out, param, index, H, n));
}

static void gather_bias_bwd(struct pw_ctx *c, float *d_param, const float *d_out, const int *index, int L,
                            int H, int n)
{
    pw_cuda_side_join(c->be); /* d_out may be a gradient */
    PW_CUDA_DO(c, "gather_bias_bwd", pw_cuda_gather_bias_bwd(c->stream, d_param, d_out, index, L, H, n));
}

static void fire_fwd(struct pw_ctx *c, float *bias, const float *param, const struct pw_fire *f, int H, int P)
{
    PW_CUDA_DO(c, "fire_fwd", pw_cuda_fire_fwd(c->stream, bias, param, f, H, P));
}

static void fire_bwd(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_fire *f, int L, int H, int P)
{
    float *room = pw_cuda_scratch(c, pw_cuda_fire_bwd_floats(f, H, P) * sizeof *room);
    pw_cuda_side_join(c->be); /* d_bias is a gradient */
    PW_CUDA_DO(c, "fire_bwd", pw_cuda_fire_bwd(c->stream, d_param, d_bias, param, f, L, H, P, room));
}

static void expr_fwd(struct pw_ctx *c, float *bias, const float *param, const struct pw_expr_use *x, int H,
                     int P)
{
    double *room = pw_cuda_scratch(c, pw_cuda_expr_bytes(x, H, P));
    if (room != NULL)
        PW_CUDA_DO(c, "expr_fwd", pw_cuda_expr_fwd(c->stream, bias, param, x, H, P, room));
}

static void expr_bwd(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_expr_use *x, int L, int H, int P)
{
    double *room = pw_cuda_scratch(c, pw_cuda_expr_bytes(x, H, P));
    pw_cuda_side_join(c->be); /* d_bias is a gradient */
    if (room != NULL)
        PW_CUDA_DO(c, "expr_bwd", pw_cuda_expr_bwd(c->stream, d_param, d_bias, param, x, L, H, P, room));
}

static void gather_rows(struct pw_ctx *c, float *y, const float *x, const int *rows, int N, int C)
{
    pw_cuda_writes(c, y);
    PW_CUDA_DO(c, "gather_rows", pw_cuda_gather_rows(c->stream, y, x, rows, N, C));
}

static void scatter_rows(struct pw_ctx *c, float *dx, const float *dy, const int *rows, int N, int R, int C)
{
    uint16_t *copy = pw_cuda_copy_of(c, dx);
    pw_cuda_leaves(c, copy, dx, (size_t)R * (size_t)C);
    PW_CUDA_DO(c, "scatter_rows", pw_cuda_scatter_rows(c->stream, dx, copy, dy, rows, N, R, C));
}

static void cross_entropy(struct pw_ctx *c, float *loss, int *best, float *d_logits, const float *logits,
                          const int *targets, const float *scale, int N, int V)
{
    uint16_t *copy = pw_cuda_copy_of(c, d_logits);
    pw_cuda_leaves(c, copy, d_logits, (size_t)N * (size_t)V);
    PW_CUDA_DO(c, "cross_entropy",
               pw_cuda_cross_entropy(c->stream, loss, best, d_logits, copy, logits, targets, scale, N, V));
}

static void softmax(struct pw_ctx *c, float *p, const float *logits, float temperature, int N, int V)
{
    pw_cuda_writes(c, p);
    PW_CUDA_DO(c, "softmax", pw_cuda_softmax(c->stream, p, logits, temperature, N, V));
}

static void cap_fwd(struct pw_ctx *c, float *y, float cap, size_t n)
{
    pw_cuda_writes(c, y);
    PW_CUDA_DO(c, "cap_fwd", pw_cuda_cap_fwd(c->stream, y, cap, n));
}

static void cap_bwd(struct pw_ctx *c, float *d, const float *y, float cap, size_t n)
{
    pw_cuda_writes(c, d);
    PW_CUDA_DO(c, "cap_bwd", pw_cuda_cap_bwd(c->stream, d, y, cap, n));
}

static void clip_fwd(struct pw_ctx *c, float *y, float most, size_t n)
{
    pw_cuda_writes(c, y);
    PW_CUDA_DO(c, "clip_fwd", pw_cuda_clip_fwd(c->stream, y, most, n));
}

static void clip_bwd(struct pw_ctx *c, float *d, const float *y, float most, size_t n)
{
    pw_cuda_writes(c, d);
    PW_CUDA_DO(c, "clip_bwd", pw_cuda_clip_bwd(c->stream, d, y, most, n));
}

static void add(struct pw_ctx *c, float *y, const float *x, size_t n)
{
    pw_cuda_side_join(c->be); /* x may be a gradient */
    pw_cuda_writes(c, y);
    PW_CUDA_DO(c, "add", pw_cuda_add(c->stream, y, x, n));
}

/* And so does what dropout leaves, unless it goes onto the stream. */
static void dropout(struct pw_ctx *c, float *y, const float *x, const struct pw_dropout *d,
                    const float *residual, int R, int C)
{
    float *floats = pw_cuda_floats_of(c, y);
    uint16_t *copy = residual == NULL || floats == NULL ? pw_cuda_copy_of(c, y) : NULL;
    pw_cuda_leaves(c, copy, y, (size_t)R * (size_t)C);
    PW_CUDA_DO(c, "dropout",
               pw_cuda_dropout(c->stream, floats, copy, pw_cuda_numbers_of(c, x), d, residual, R, C));
}

/* The gradient is added to later, and that operation waits for it like a reader. */
static void zero(struct pw_ctx *c, float *y, size_t n)
{
    pw_cuda_writes(c, y);
    struct pw_ctx *at = pw_cuda_aside(c);
    PW_CUDA_DO(at, "zero", cudaMemsetAsync(y, 0, n * sizeof *y, at->stream));
    pw_cuda_went(at, y, n, NULL, 0);
}

/* ---- the tables */

static enum pw_code open_ref(struct pw_backend **be, int device, struct pw_err *err)
{
    return pw_cuda_open(be, device, "ref fp32", err);
}

#define SHARED                                                                                               \
    .abi = PW_BACKEND_ABI, .name = "cuda", .isa = "", .widest_head = PW_CUDA_WIDEST, .mixes = true,          \
    .scans = true, .selects = true, .sync = pw_cuda_sync, .unit = pw_cuda_unit, .workers = pw_cuda_workers,  \
    .device = pw_cuda_device, .device_at = pw_cuda_device_at, .alloc = pw_cuda_alloc,                        \
    .alloc_acts = pw_cuda_alloc_acts, .alloc_operands = pw_cuda_alloc_operands, .free = pw_cuda_free,        \
    .memory = pw_cuda_memory, .upload = pw_cuda_upload, .download = pw_cuda_download,                        \
    .copy = pw_cuda_copy_over, .host_alloc = pw_cuda_host_alloc, .host_free = pw_cuda_host_free,             \
    .mark = pw_cuda_mark, .wait = pw_cuda_wait, .replay = pw_cuda_replay, .for_chunks = pw_cuda_for_chunks,  \
    .reduce = reduce, .adamw = adamw, .digest = digest, .embed_fwd = embed_fwd, .embed_bwd = embed_bwd,      \
    .norm_fwd = norm_fwd, .gate_fwd = gate_fwd, .gate_bwd = gate_bwd, .heads_fwd = heads_fwd,                \
    .heads_bwd = heads_bwd, .cap_fwd = cap_fwd, .cap_bwd = cap_bwd, .rotate = rotate, .turn_bwd = turn_bwd,  \
    .clip_fwd = clip_fwd, .clip_bwd = clip_bwd, .scores = scores, .attention_cached = attention_cached,      \
    .attn_cache_floats = attn_cache_floats, .terms_fwd = terms_fwd, .terms_bwd = terms_bwd,                  \
    .slopes_fwd = slopes_fwd, .slopes_bwd = slopes_bwd, .polar_fwd = polar_fwd, .polar_bwd = polar_bwd,      \
    .walk_fwd = walk_fwd, .walk_bwd = walk_bwd, .planes_make = planes_make,                                  \
    .planes_make_bwd = planes_make_bwd, .planes_fwd = planes_fwd, .planes_bwd = planes_bwd,                  \
    .put_head = put_head, .gather_bias_fwd = gather_bias_fwd, .gather_bias_bwd = gather_bias_bwd,            \
    .fire_fwd = fire_fwd, .fire_bwd = fire_bwd, .expr_fwd = expr_fwd, .expr_bwd = expr_bwd,                  \
    .gather_rows = gather_rows, .scatter_rows = scatter_rows, .cross_entropy = cross_entropy,                \
    .softmax = softmax, .add = add, .dropout = dropout, .zero = zero

const struct pw_backend_ops pw_cuda_table_ref = {
    SHARED,
    .summary = "an NVIDIA device in the order of the cpu backend; the same bits on every machine",
    .mode = "ref",
    .precision = "fp32",
    .act_bytes = 4,
    .operand_bytes = 4,
    .portable = true,
    .open = open_ref,
    .close = pw_cuda_close,
    .mat_pack_floats = pw_cuda_ref_pack_floats,
    .prepare = pw_cuda_ref_prepare,
    .norm_bwd = pw_cuda_ref_norm_bwd,
    .linear_fwd = pw_cuda_ref_linear_fwd,
    .linear_dx = pw_cuda_ref_linear_dx,
    .linear_dw = pw_cuda_ref_linear_dw,
    .attention_fwd = pw_cuda_ref_attention_fwd,
    .attn_save_floats = pw_cuda_ref_attn_save_floats,
    .beside = pw_cuda_ref_beside,
    .attention_bwd = pw_cuda_ref_attention_bwd,
};

/* Whole batches at once, in one gradient: sums over rows are the device's to split. */
#define FAST                                                                                                 \
    SHARED, .mode = "fast", .slots = 1, .pads = true, .beside = pw_cuda_fast_beside,                         \
            .close = pw_cuda_fast_close, .choice = pw_cuda_fast_choice, .norm_bwd = pw_cuda_fast_norm_bwd,   \
            .linear_fwd = pw_cuda_fast_linear_fwd, .linear_dx = pw_cuda_fast_linear_dx,                      \
            .linear_dw = pw_cuda_fast_linear_dw, .attention_fwd = pw_cuda_fast_attention_fwd,                \
            .attn_save_floats = pw_cuda_fast_attn_save_floats, .attention_bwd = pw_cuda_fast_attention_bwd

const struct pw_backend_ops pw_cuda_table_fp32 = {
    FAST,
    .summary = "an NVIDIA device; products of float32",
    .precision = "fp32",
    .act_bytes = 4,
    .operand_bytes = 4,
    .open = pw_cuda_fast_open_fp32,
    .mat_pack_floats = pw_cuda_ref_pack_floats,
    .prepare = pw_cuda_ref_prepare,
};

const struct pw_backend_ops pw_cuda_table_tf32 = {
    FAST,
    .summary = "an NVIDIA device; products on tensor cores, of tf32",
    .precision = "tf32",
    .act_bytes = 4,
    .operand_bytes = 4,
    .open = pw_cuda_fast_open_tf32,
    .mat_pack_floats = pw_cuda_ref_pack_floats,
    .prepare = pw_cuda_ref_prepare,
};

const struct pw_backend_ops pw_cuda_table_bf16 = {
    FAST,
    .summary = "an NVIDIA device; products on tensor cores, of bf16",
    .precision = "bf16",
    .act_bytes = 6,
    .operand_bytes = 2,
    .packs = true,
    .open = pw_cuda_fast_open_bf16,
    .mat_pack_floats = pw_cuda_bf16_pack_floats,
    .prepare = pw_cuda_bf16_prepare,
};
