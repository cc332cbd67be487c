/* fast.c - the mode fast: tensor cores and fused attention, with their own order of additions. It gives
 * the same bits in every run on one machine. Its linear layers are in fast_linear.c. */
#include "kernels/cuda/blas.h"
#include "kernels/cuda/members.h"

#include <stdio.h>
#include <string.h>

enum { BF16_FROM = 80 }; /* compute capability times ten */

static enum pw_code open_with(struct pw_backend **out, int device, enum pw_products products,
                              const char *arithmetic, struct pw_err *err)
{
    struct pw_backend *be;
    enum pw_code code = pw_cuda_open(&be, device, arithmetic, err);
    if (code != PW_OK)
        return code;
    if (products == PW_PRODUCTS_BF16 && be->capability < BF16_FROM)
        code = pw_fail(err, PW_EUSER,
                       "precision=bf16 begins with compute capability 8.0, this device has %d.%d; "
                       "fp32 is allowed",
                       be->capability / 10, be->capability % 10);
    if (code == PW_OK)
        code = pw_cuda_side_open(be, err);
    if (code == PW_OK) /* last, because pw_cuda_close does not close it */
        code = pw_blas_open(&be->blas, products, err);
    if (code != PW_OK) {
        pw_cuda_close(be);
        return code;
    }
    size_t n = strlen(be->name); /* a different library gives different bits, so its version is recorded */
    snprintf(be->name + n, sizeof be->name - n, ", %s", pw_blas_version());
    *out = be;
    return PW_OK;
}

enum pw_code pw_cuda_fast_open_fp32(struct pw_backend **be, int device, struct pw_err *err)
{
    return open_with(be, device, PW_PRODUCTS_FP32, "fast fp32, class machine", err);
}

enum pw_code pw_cuda_fast_open_tf32(struct pw_backend **be, int device, struct pw_err *err)
{
    return open_with(be, device, PW_PRODUCTS_TF32, "fast tf32, class machine", err);
}

enum pw_code pw_cuda_fast_open_bf16(struct pw_backend **be, int device, struct pw_err *err)
{
    return open_with(be, device, PW_PRODUCTS_BF16, "fast bf16, class machine", err);
}

void pw_cuda_fast_close(struct pw_backend *be)
{
    struct pw_err err;
    if (be == NULL)
        return;
    pw_cuda_sync(be, &err); /* operations in flight may use the library's workspace */
    pw_blas_close(be->blas);
    pw_cuda_close(be);
}

bool pw_cuda_fast_choice(const struct pw_backend *be, int i, char *line, size_t size)
{
    return pw_blas_describe_plan(be->blas, i, line, size);
}

void pw_cuda_fast_norm_bwd(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                           const float *x, const float *stat, const float *gain, enum pw_norm kind,
                           float scale, int R, int C)
{
    size_t n = (size_t)R * (size_t)C;
    float *partial = pw_cuda_scratch(c, pw_cuda_norm_partial(R, C) * sizeof *partial);
    uint16_t *copy = pw_cuda_copy_of(c, dx);
    struct pw_ctx *beside = pw_cuda_aside(c);
    pw_cuda_leaves(c, copy, dx, n);
    PW_CUDA_DO(c, "norm_bwd",
               pw_cuda_norm_bwd_fast(c->stream, beside->stream, dx, copy, d_gain, d_bias, dy, x, stat, gain,
                                     kind, scale, R, C, partial));
    pw_cuda_went(beside, dy, n, x, n);
}

/* ---- attention */

/* The fused kernels support neither a function of scores nor a scan nor a walk nor numbers that an encoding
 * makes of rows. If there are any, the kernels of mode ref run instead. */
static bool is_fused(const struct pw_attn *a)
{
    return a->score == NULL && a->terms == NULL && a->made == NULL && a->mix == NULL && a->walk == NULL &&
           a->scan.kind == PW_SCAN_NONE;
}

/* The logarithm of the sum of exponentials of every row and head. */
size_t pw_cuda_fast_attn_save_floats(const struct pw_attn *a, const int *start, int n_seqs)
{
    if (!is_fused(a))
        return pw_cuda_ref_attn_save_floats(a, start, n_seqs);
    return (size_t)a->heads * (size_t)(start[n_seqs] - start[0]);
}

/* The fused kernel never holds a complete row, so inspected rows are computed separately. */
static void tell(struct pw_ctx *c, const struct pw_maps *to, const float *qkv, const struct pw_attn *a,
                 const int *pos, const struct pw_seqs *s)
{
    size_t starts = ((size_t)s->n + 4) / 4 * 4, maps = pw_cuda_attention_ds(a, s),
           z = (size_t)s->rows * (size_t)a->heads * (size_t)a->head_width;
    size_t *at = pw_cuda_turned(c, starts * sizeof *at + (maps + z) * sizeof(float), &qkv, a, pos, s->rows);
    if (at == NULL)
        return;
    float *save = (float *)(at + starts);
    if (to->probs != NULL)
        PW_CUDA_DO(c, "attention_fwd",
                   pw_cuda_attention_fwd_ref(c->stream, save + maps, save, to->probs, qkv, a, pos, s, at));
    if (to->scores != NULL)
        PW_CUDA_DO(c, "scores", pw_cuda_scores(c->stream, to->scores, qkv, a, pos, s, at));
}

void pw_cuda_fast_attention_fwd(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                                const float *qkv, const struct pw_attn *a, const int *pos,
                                const struct pw_seqs *s)
{
    if (!is_fused(a)) {
        pw_cuda_writes(c, z);
        pw_cuda_ref_attention_fwd(c, z, save, maps, qkv, a, pos, s);
        return;
    }
    size_t n = pw_cuda_attention_dots(a, s);
    float *dots = n > 0 ? pw_cuda_scratch(c, n * sizeof *dots) : NULL;
    uint16_t *copy = pw_cuda_copy_of(c, z);
    pw_cuda_leaves(c, copy, z, (size_t)s->rows * (size_t)a->heads * (size_t)a->head_width);
    PW_CUDA_DO(
        c, "attention_fwd",
        pw_cuda_attention_fwd_fast(c->stream, z, copy, save, qkv, a, pos, s, dots, pw_cuda_rounds(c->be)));
    if (maps != NULL)
        tell(c, maps, qkv, a, pos, s);
}

/* Scratch for attention's parts; for a product that has a bias or adds a residual in place; for inspected
 * attention; for the gradient of a bias; and for the workspaces of products. */
size_t pw_cuda_fast_beside(const struct pw_attn *a, const struct pw_seqs *s, int widest)
{
    size_t attention = pw_cuda_room_for(pw_cuda_attention_partial(a, s) * sizeof(float));
    size_t product = (size_t)s->rows * (size_t)widest * sizeof(float);
    size_t sums = pw_cuda_column_partial(s->rows, widest) * sizeof(float);
    if (!is_fused(a))
        attention = pw_cuda_ref_beside(a, s, widest);
    return attention + pw_cuda_room_for(product) + pw_cuda_room_for(sums) + pw_blas_workspace();
}

/* The layer before does not need the gradient of a bias. */
void pw_cuda_fast_attention_bwd(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                                const float *dz, const float *z, const float *qkv, const float *save,
                                const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    if (!is_fused(a)) {
        pw_cuda_writes(c, dqkv);
        pw_cuda_writes(c, d_terms);
        if (a->made != NULL) {
            pw_cuda_writes(c, a->made->d_slopes);
            pw_cuda_writes(c, a->made->d_wide);
        }
        if (a->mix != NULL) {
            pw_cuda_writes(c, a->mix->d_weights);
            pw_cuda_writes(c, a->mix->d_bank);
        }
        if (a->walk != NULL) {
            pw_cuda_writes(c, a->walk->d_vectors);
            pw_cuda_writes(c, a->walk->d_factors);
        }
        pw_cuda_writes(c, d_bias);
        pw_cuda_writes(c, d_keys);
        pw_cuda_writes(c, a->d_learned);
        pw_cuda_ref_attention_bwd(c, dqkv, d_bias, d_keys, d_terms, dz, z, qkv, save, a, pos, s);
        return;
    }
    size_t n = pw_cuda_attention_partial(a, s);
    float *partial = pw_cuda_make_room(c->be, &c->be->attention, n * sizeof *partial);
    uint16_t *copy = pw_cuda_copy_of(c, dqkv);
    bool later = c->be->side.on && d_bias != NULL && pw_cuda_attention_may_wait(a, s);
    pw_cuda_writes(c, partial);
    if (!later)
        pw_cuda_writes(c, d_bias);
    pw_cuda_writes(c, d_keys);
    if (later) { /* meanwhile, the part that depends on positions only */
        struct pw_ctx *at = pw_cuda_aside(c);
        PW_CUDA_DO(at, "attention_bwd", pw_cuda_attention_bias_begin(at->stream, a, pos, s, partial));
    }
    pw_cuda_leaves(c, copy, dqkv, 3 * (size_t)s->rows * (size_t)a->heads * (size_t)a->head_width);
    PW_CUDA_DO(c, "attention_bwd",
               pw_cuda_attention_bwd_fast(c->stream, dqkv, copy, d_bias, d_keys, dz, z, qkv, save, a, pos, s,
                                          partial, later, pw_cuda_rounds(c->be)));
    if (later) {
        struct pw_ctx *at = pw_cuda_aside(c);
        PW_CUDA_DO(at, "attention_bwd", pw_cuda_attention_bias(at->stream, d_bias, a, pos, s, partial));
        pw_cuda_went(at, partial, n, NULL, 0);
    }
}
