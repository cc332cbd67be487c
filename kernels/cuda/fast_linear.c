/* fast_linear.c - linear layers of the mode fast: products by cuBLASLt, with what it does on the way.
 *
 * It adds biases, residuals and old gradients, and has relu; the gelus it only has with a tanh of its own, so
 * they follow the product in place (linear_parts.cu). In bf16 the weights are rounded once a step, by
 * prepare; activations and their gradients as they come, into scratch, those that dropout and norms leave by
 * them. */
#include "kernels/cuda/blas.h"
#include "kernels/cuda/members.h"

enum {
    ALIGN = 256,   /* bytes: of the parts of scratch */
    TOGETHER = 64, /* weights that are rounded at a time */
};

static size_t part(size_t n, size_t size)
{
    return (n * size + ALIGN - 1) / ALIGN * ALIGN;
}

static bool rounds(const struct pw_ctx *c)
{
    return pw_blas_precision(c->be->blas) == PW_PRODUCTS_BF16;
}

/* Bytes of scratch that n rounded numbers take; 0 where they enter a product as they are. */
static size_t entry(const struct pw_ctx *c, size_t n)
{
    return rounds(c) ? part(n, sizeof(uint16_t)) : 0;
}

/* Does scratch begin with its copy? Asked before anything else is done. */
static bool is_rounded(const struct pw_ctx *c, const float *x, size_t n)
{
    return c->rounded == x && c->n_rounded == n;
}

static const void *weights(const struct pw_ctx *c, const struct pw_mat *m)
{
    return rounds(c) ? (const void *)m->pack : m->w;
}

/* False where there is no memory, which sticks. */
static bool make_room(struct pw_ctx *c, char **room, size_t bytes)
{
    *room = pw_cuda_scratch(c, bytes > 0 ? bytes : ALIGN);
    return *room != NULL;
}

/* False: cuBLASLt has no algorithm for it, so the whole operation is to be done as in mode ref, which has no
 * such gaps. An error sticks. */
static bool product(struct pw_ctx *c, enum pw_product what, float *to, const void *left, const void *right,
                    const float *onto, const float *bias, bool relu, int R, int in, int out)
{
    struct pw_err err;
    enum pw_code code = PW_OK;
    if (pw_cuda_ready(c->be))
        code = pw_blas_product(c->be->blas, c->stream, what, to, left, right, onto, bias, relu, R, in, out,
                               &err);
    if (code != PW_OK && code != PW_EUSER)
        pw_cuda_stick(c->be, &err);
    return code != PW_EUSER;
}

/* The library's kernels may read a bias by 16 bytes at once; its alignment is none of what they are chosen
 * by. */
static bool taken(const float *bias)
{
    return bias == NULL || (uintptr_t)bias % 16 == 0;
}

size_t pw_cuda_bf16_pack_floats(int out, int in)
{
    return part((size_t)out * (size_t)in, sizeof(uint16_t)) / sizeof(float);
}

void pw_cuda_bf16_prepare(struct pw_backend *be, const struct pw_mat *mats, int n)
{
    for (int i = 0; i < n; i += TOGETHER) {
        struct pw_cuda_copy copies[TOGETHER];
        int k = 0;
        for (; k < TOGETHER && i + k < n; k++) {
            const struct pw_mat *m = &mats[i + k];
            copies[k] = (struct pw_cuda_copy){(uint16_t *)m->pack, m->w, (size_t)m->out * (size_t)m->in};
        }
        PW_CUDA_DO(&be->ctx, "prepare", pw_cuda_to_bf16_all(be->ctx.stream, copies, k));
    }
}

uint16_t *pw_cuda_copy_room(struct pw_ctx *c, size_t n)
{
    return c->be->blas != NULL && rounds(c) && n > 0 ? pw_cuda_scratch(c, entry(c, n)) : NULL;
}

void pw_cuda_copied(struct pw_ctx *c, const uint16_t *room, const float *x, size_t n)
{
    if (room == NULL)
        return;
    c->rounded = x;
    c->n_rounded = n;
}

void pw_cuda_fast_linear_fwd(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                             const float *bias, const float *residual, enum pw_act act, int R)
{
    size_t nx = (size_t)R * (size_t)m->in, ny = (size_t)R * (size_t)m->out;
    bool relu = act == PW_ACT_RELU && residual == NULL;
    bool whole = pre == NULL && (act == PW_ACT_NONE || relu) && taken(bias);
    bool apart = !whole && pre == NULL && residual == y; /* or the product would overwrite what is added */
    char *room;
    if (R == 0 || !make_room(c, &room, entry(c, nx) + (apart ? part(ny, sizeof *y) : 0)))
        return;
    if (rounds(c) && !is_rounded(c, x, nx))
        PW_CUDA_DO(c, "linear_fwd", pw_cuda_to_bf16(c->stream, (uint16_t *)room, x, nx));
    const void *right = rounds(c) ? (const void *)room : x;
    float *to = whole ? y : pre != NULL ? pre : apart ? (float *)(room + entry(c, nx)) : y;
    if (!product(c, PW_PRODUCT_Y, to, weights(c, m), right, whole ? residual : NULL,
                 taken(bias) ? bias : NULL, whole && relu, R, m->in, m->out)) {
        pw_cuda_ref_linear_fwd(c, y, pre, x, m, bias, residual, act, R);
        return;
    }
    if (!whole)
        PW_CUDA_DO(c, "linear_fwd",
                   pw_cuda_linear_end(c->stream, y, taken(bias) ? NULL : pre, to, taken(bias) ? NULL : bias,
                                      residual, act, R, m->out));
}

void pw_cuda_fast_linear_dx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m,
                            enum pw_act act, const float *saved, float scale, int R)
{
    size_t nx = (size_t)R * (size_t)m->in, ny = (size_t)R * (size_t)m->out;
    bool whole = act == PW_ACT_NONE && scale == 1.0f;
    char *room;
    if (R == 0 || !make_room(c, &room, entry(c, ny)))
        return;
    if (rounds(c) && !is_rounded(c, dy, ny))
        PW_CUDA_DO(c, "linear_dx", pw_cuda_to_bf16(c->stream, (uint16_t *)room, dy, ny));
    const void *right = rounds(c) ? (const void *)room : dy;
    if (!product(c, PW_PRODUCT_DX, dx, weights(c, m), right, NULL, NULL, false, R, m->in, m->out)) {
        pw_cuda_ref_linear_dx(c, dx, dy, m, act, saved, scale, R);
        return;
    }
    if (whole)
        return;
    uint16_t *copy = pw_cuda_copy_room(c, nx);
    PW_CUDA_DO(c, "linear_dx", pw_cuda_linear_dx_end(c->stream, dx, copy, dx, act, saved, scale, R, m->in));
    pw_cuda_copied(c, copy, dx, nx);
}

void pw_cuda_fast_linear_dw(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x,
                            bool add, int out, int in, int R)
{
    size_t nx = (size_t)R * (size_t)in, ny = (size_t)R * (size_t)out, nw = (size_t)out * (size_t)in;
    size_t sums = d_bias != NULL ? part(pw_cuda_column_partial(R, out), sizeof *d_bias) : 0;
    char *room;
    if (!make_room(c, &room, entry(c, ny) + entry(c, nx) + sums))
        return;
    if (R > 0) {
        const struct pw_cuda_copy copies[] = {{(uint16_t *)room, dy, ny},
                                              {(uint16_t *)(room + entry(c, ny)), x, nx}};
        int there = is_rounded(c, dy, ny);
        if (rounds(c))
            PW_CUDA_DO(c, "linear_dw", pw_cuda_to_bf16_all(c->stream, copies + there, 2 - there));
        const void *left = rounds(c) ? (const void *)copies[1].to : x;
        const void *right = rounds(c) ? (const void *)copies[0].to : dy;
        if (!product(c, PW_PRODUCT_DW, dw, left, right, add ? dw : NULL, NULL, false, R, in, out)) {
            pw_cuda_ref_linear_dw(c, dw, d_bias, dy, x, add, out, in, R);
            return;
        }
    } else if (!add) {
        PW_CUDA_DO(c, "linear_dw", cudaMemsetAsync(dw, 0, nw * sizeof *dw, c->stream));
    }
    if (d_bias != NULL) /* which is no product: of dy as it is */
        PW_CUDA_DO(c, "linear_dw",
                   pw_cuda_column_sums(c->stream, d_bias, dy, add, R, out,
                                       (float *)(room + entry(c, ny) + entry(c, nx))));
    c->rounded = rounds(c) && R > 0 ? dy : NULL;
    c->n_rounded = ny;
}
