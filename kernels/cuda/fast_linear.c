/* fast_linear.c - linear layers of the mode fast: products by cuBLASLt, with its epilogues.
 *
 * The library adds biases, residuals and old gradients, and has relu. Its gelus use another tanh, so gelu
 * follows the product in place (linear_parts.cu). In bf16 AdamW writes rounded weights, and prepare rounds
 * the others; activations and their gradients are rounded once (copies.c). Gradients of weights run on the
 * second stream (side.c). */
#include "kernels/cuda/blas.h"
#include "kernels/cuda/members.h"

enum {
    ALIGN = 256,   /* bytes, of the parts of scratch */
    TOGETHER = 64, /* number of weight matrices that are rounded at a time */
};

static size_t part(size_t n, size_t size)
{
    return (n * size + ALIGN - 1) / ALIGN * ALIGN;
}

/* Bytes of scratch for the copy of x; 0 if it has its own place, or is an operand as it is. */
static size_t entry(struct pw_ctx *c, const float *x, size_t n)
{
    return pw_cuda_rounds(c->be) && pw_cuda_copy_of(c, x) == NULL ? part(n, sizeof(uint16_t)) : 0;
}

/* Returns the operand for x [n]: x, or its copy. If there is no valid copy, adds it to the list of copies
 * to make. room: for that entry. */
static const void *operand(struct pw_ctx *c, const float *x, size_t n, char *room, struct pw_cuda_copy *list,
                           int *n_list)
{
    uint16_t *copy = pw_cuda_copy_of(c, x);
    if (!pw_cuda_rounds(c->be))
        return x;
    if (copy != NULL && pw_cuda_holds(c, x, n))
        return copy;
    if (copy != NULL)
        pw_cuda_hold(c, x, n);
    list[*n_list] = (struct pw_cuda_copy){copy != NULL ? copy : (uint16_t *)room, x, n};
    return list[(*n_list)++].to;
}

static const void *weights(const struct pw_ctx *c, const struct pw_mat *m)
{
    return pw_cuda_rounds(c->be) ? (const void *)m->pack : m->w;
}

/* Returns false if there is no memory; the error is sticky. */
static bool make_room(struct pw_ctx *c, char **room, size_t bytes)
{
    *room = pw_cuda_scratch(c, bytes > 0 ? bytes : ALIGN);
    return *room != NULL;
}

/* Returns false if cuBLASLt has no algorithm; the caller then computes the whole operation as in mode ref,
 * which has no such gaps. An error is sticky. */
static bool product(struct pw_ctx *c, enum pw_product what, float *to, const void *left, const void *right,
                    const float *onto, const float *bias, bool relu, int R, int in, int out)
{
    bool rounded = pw_cuda_alone(c, to);
    struct pw_err err;
    enum pw_code code = PW_OK;
    if (pw_cuda_ready(c->be))
        code = pw_blas_product(c->be->blas, c->stream, what, to, rounded, left, right, onto, bias, relu, R,
                               in, out, &err);
    if (code != PW_OK && code != PW_EUSER)
        pw_cuda_stick(c->be, &err);
    return code != PW_EUSER;
}

/* ---- products without an algorithm: as in mode ref, whose operands are floats. Rounded operands are
 * widened into scratch, and the results are rounded again */

static size_t wide(const struct pw_ctx *c, const float *x, size_t n)
{
    return pw_cuda_alone(c, x) ? part(n, sizeof *x) : 0;
}

/* Returns x as floats: at *room, which advances, or x itself. */
static float *place(const struct pw_ctx *c, const float *x, size_t n, char **room)
{
    float *at = pw_cuda_alone(c, x) ? (float *)*room : (float *)(uintptr_t)x;
    *room += wide(c, x, n);
    return at;
}

static const float *widened(struct pw_ctx *c, const float *x, size_t n, char **room)
{
    float *at = place(c, x, n, room);
    if (at != x)
        PW_CUDA_DO(c, "linear", pw_cuda_of_bf16(c->stream, at, pw_cuda_copy_of(c, x), n));
    return at;
}

static void narrow(struct pw_ctx *c, float *y, const float *at, size_t n)
{
    if (at != y)
        PW_CUDA_DO(c, "linear", pw_cuda_to_bf16(c->stream, pw_cuda_copy_of(c, y), at, n));
}

static void ref_fwd(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                    const float *bias, const float *residual, enum pw_act act, int R)
{
    size_t nx = (size_t)R * (size_t)m->in, ny = (size_t)R * (size_t)m->out;
    char *room;
    if (!make_room(c, &room, wide(c, x, nx) + wide(c, y, ny)))
        return;
    const float *from = widened(c, x, nx, &room);
    float *to = place(c, y, ny, &room);
    pw_cuda_ref_linear_fwd(c, to, pre, from, m, bias, residual, act, R);
    narrow(c, y, to, ny);
}

static void ref_dx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                   const float *saved, float scale, int R)
{
    size_t nx = (size_t)R * (size_t)m->in, ny = (size_t)R * (size_t)m->out;
    char *room;
    if (!make_room(c, &room, wide(c, dy, ny) + wide(c, saved, nx) + wide(c, dx, nx)))
        return;
    const float *from = widened(c, dy, ny, &room), *old = widened(c, saved, nx, &room);
    float *to = place(c, dx, nx, &room);
    pw_cuda_ref_linear_dx(c, to, from, m, act, old, scale, R);
    narrow(c, dx, to, nx);
}

static void ref_dw(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                   int out, int in, int R)
{
    size_t nx = (size_t)R * (size_t)in, ny = (size_t)R * (size_t)out;
    char *room;
    if (!make_room(c, &room, wide(c, dy, ny) + wide(c, x, nx)))
        return;
    const float *left = widened(c, dy, ny, &room), *right = widened(c, x, nx, &room);
    pw_cuda_ref_linear_dw(c, dw, d_bias, left, right, add, out, in, R);
}

/* ---- by cuBLASLt */

/* The library's kernels may read 16 bytes of a bias at once, but it does not consider the bias' alignment
 * when it chooses them. */
static bool taken(const float *bias)
{
    return bias == NULL || (uintptr_t)bias % 16 == 0;
}

size_t pw_cuda_bf16_pack_floats(int out, int in, bool backward)
{
    return backward ? 0 : part((size_t)out * (size_t)in, sizeof(uint16_t)) / sizeof(float);
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

void pw_cuda_fast_linear_fwd(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                             const float *bias, const float *residual, enum pw_act act, int R)
{
    size_t nx = (size_t)R * (size_t)m->in, ny = (size_t)R * (size_t)m->out;
    bool relu = act == PW_ACT_RELU && residual == NULL;
    bool alone = pw_cuda_alone(c, y); /* then y is rounded, and the library would expect a rounded bias */
    bool whole = pre == NULL && (act == PW_ACT_NONE || relu) && taken(bias) && !(alone && (bias || residual));
    bool apart = !whole && pre == NULL && (alone || residual == y); /* or the addend would be overwritten */
    struct pw_cuda_copy copy;
    int n = 0;
    char *room;
    if (R == 0 || !make_room(c, &room, entry(c, x, nx) + (apart ? part(ny, sizeof *y) : 0)))
        return;
    const void *right = operand(c, x, nx, room, &copy, &n);
    if (n > 0)
        PW_CUDA_DO(c, "linear_fwd", pw_cuda_to_bf16(c->stream, copy.to, x, nx));
    float *to = whole ? y : pre != NULL ? pre : apart ? (float *)(room + entry(c, x, nx)) : y;
    pw_cuda_writes(c, y);
    pw_cuda_writes(c, pre);
    if (!product(c, PW_PRODUCT_Y, to, weights(c, m), right, whole ? residual : NULL,
                 taken(bias) ? bias : NULL, whole && relu, R, m->in, m->out)) {
        ref_fwd(c, y, pre, x, m, bias, residual, act, R);
        return;
    }
    if (!whole)
        PW_CUDA_DO(c, "linear_fwd",
                   pw_cuda_linear_end(c->stream, pw_cuda_floats_of(c, y),
                                      alone ? pw_cuda_copy_of(c, y) : NULL, taken(bias) ? NULL : pre, to,
                                      taken(bias) ? NULL : bias, residual, act, R, m->out));
}

void pw_cuda_fast_linear_dx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m,
                            enum pw_act act, const float *saved, float scale, int R)
{
    size_t nx = (size_t)R * (size_t)m->in, ny = (size_t)R * (size_t)m->out;
    bool whole = act == PW_ACT_NONE && scale == 1.0f;
    struct pw_cuda_copy copy;
    int n = 0;
    char *room;
    if (R == 0 || !make_room(c, &room, entry(c, dy, ny)))
        return;
    const void *right = operand(c, dy, ny, room, &copy, &n);
    if (n > 0)
        PW_CUDA_DO(c, "linear_dx", pw_cuda_to_bf16(c->stream, copy.to, dy, ny));
    pw_cuda_writes(c, dx);
    if (!product(c, PW_PRODUCT_DX, dx, weights(c, m), right, NULL, NULL, false, R, m->in, m->out)) {
        ref_dx(c, dx, dy, m, act, saved, scale, R);
        return;
    }
    if (whole)
        return;
    uint16_t *left = pw_cuda_copy_of(c, dx);
    struct pw_cuda_numbers of_product = pw_cuda_numbers_of(c, dx), of_saved = pw_cuda_numbers_of(c, saved);
    PW_CUDA_DO(c, "linear_dx",
               pw_cuda_linear_dx_end(c->stream, pw_cuda_floats_of(c, dx), left, of_product, act, of_saved,
                                     scale, R, m->in));
    pw_cuda_leaves(c, left, dx, nx);
}

/* Runs beside the next operations, unless its operands are in scratch. */
void pw_cuda_fast_linear_dw(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x,
                            bool add, int out, int in, int R)
{
    size_t nx = (size_t)R * (size_t)in, ny = (size_t)R * (size_t)out, nw = (size_t)out * (size_t)in;
    size_t of_dy = entry(c, dy, ny), of_x = entry(c, x, nx);
    struct pw_ctx *at = c;
    char *room, *sums;
    if (!make_room(c, &room, of_dy + of_x) ||
        !make_room(&c->be->side.ctx, &sums,
                   d_bias != NULL ? pw_cuda_column_partial(R, out) * sizeof *d_bias : 0))
        return;
    if (R > 0) {
        struct pw_cuda_copy copies[2];
        int n = 0;
        const void *right = operand(c, dy, ny, room, copies, &n);
        const void *left = operand(c, x, nx, room + of_dy, copies, &n);
        if (n > 0)
            PW_CUDA_DO(c, "linear_dw", pw_cuda_to_bf16_all(c->stream, copies, n));
        if (of_dy + of_x == 0)
            at = pw_cuda_aside(c);
        else
            pw_cuda_side_join(c->be); /* it may add to the result there */
        if (!product(at, PW_PRODUCT_DW, dw, left, right, add ? dw : NULL, NULL, false, R, in, out)) {
            pw_cuda_went(at, x, nx, dy, ny);
            pw_cuda_side_join(c->be);
            ref_dw(c, dw, d_bias, dy, x, add, out, in, R);
            return;
        }
    } else if (!add) {
        PW_CUDA_DO(c, "linear_dw", cudaMemsetAsync(dw, 0, nw * sizeof *dw, c->stream));
    }
    if (d_bias != NULL) /* not a product: it reads dy unrounded */
        PW_CUDA_DO(
            at, "linear_dw",
            pw_cuda_column_sums(at->stream, d_bias, pw_cuda_numbers_of(c, dy), add, R, out, (float *)sums));
    pw_cuda_went(at, x, nx, dy, ny);
}
