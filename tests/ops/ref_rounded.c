/* ref_rounded.c - reference for values with rounded operands (bf16, tf32): inputs of the products of linear
 * layers are rounded, sums are not. */
#include "tests/ops/ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static int bits; /* of the mantissa, including the implied bit */

/* Returns a copy, rounded to nearest with ties to even. */
static float *rounded(const float *x, size_t n)
{
    float *copy = malloc((n > 0 ? n : 1) * sizeof *copy);
    assert_non_null(copy);
    for (size_t i = 0; i < n; i++) {
        int e;
        float m = frexpf(x[i], &e);
        copy[i] = ldexpf(rintf(ldexpf(m, bits)), e - bits);
    }
    return copy;
}

static struct pw_mat rounded_mat(const struct pw_mat *m)
{
    return (struct pw_mat){.w = rounded(m->w, (size_t)m->out * (size_t)m->in), .out = m->out, .in = m->in};
}

static void fwd(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                const float *bias, const float *residual, enum pw_act act, int R)
{
    struct pw_mat w = rounded_mat(m);
    float *a = rounded(x, (size_t)R * (size_t)m->in);
    ref_double.linear_fwd(c, y, pre, a, &w, bias, residual, act, R);
    free((void *)w.w);
    free(a);
}

static void dx(struct pw_ctx *c, float *d, const float *dy, const struct pw_mat *m, enum pw_act act,
               const float *saved, float scale, int R)
{
    struct pw_mat w = rounded_mat(m);
    float *a = rounded(dy, (size_t)R * (size_t)m->out);
    ref_double.linear_dx(c, d, a, &w, act, saved, scale, R);
    free((void *)w.w);
    free(a);
}

static void dw(struct pw_ctx *c, float *d, float *d_bias, const float *dy, const float *x, bool add, int out,
               int in, int R)
{
    float *a = rounded(dy, (size_t)R * (size_t)out), *b = rounded(x, (size_t)R * (size_t)in);
    float *unused = calloc((size_t)out * (size_t)in, sizeof *unused);
    assert_non_null(unused);
    ref_double.linear_dw(c, d, NULL, a, b, add, out, in, R);
    ref_double.linear_dw(c, unused, d_bias, dy, x, add, out, in, R); /* the bias is no product: not rounded */
    free(a);
    free(b);
    free(unused);
}

const struct pw_backend_ops *ref_rounded(int mantissa)
{
    static struct pw_backend_ops table;
    bits = mantissa;
    table = ref_double;
    table.linear_fwd = fwd;
    table.linear_dx = dx;
    table.linear_dw = dw;
    return &table;
}
