/* slopes.c - slopes of rows (kernels/backend.h): the softplus of a product of q, or of k, and a learned
 * direction of its head.
 *
 * The products of all rows come first, then functions of all of them at once: a row has few heads. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/softplus.h"

#include <math.h>

/* The learned numbers of both parts as rows use them, in scratch. */
struct made {
    const float *learned[2]; /* [H,D] directions of q and of k; NULL: none */
    float *unit[2];          /* [H,Dp] of length 1 */
    float *inverse[2];       /* [H] 1 / length */
    float *factor;           /* [H] w */
    float *by;               /* [H] derivative of w */
    int H, D, Dp;
    float scale; /* 1 / sqrt(D) */
};

static size_t made_floats(const struct pw_slopes *s)
{
    size_t H = (size_t)s->heads;
    return 2 * H * (size_t)pw_to_16(s->head_width) + 2 * H + 2 * (H + 15);
}

static void make_unit(float *unit, float *inverse, const float *u, int D, int Dp)
{
    v16 sum = v_zero();
    for (int i = 0; i < D; i += 16) {
        v16 x = v_load_n(u + i, D - i);
        sum = v_fma(x, x, sum);
    }
    float length = sqrtf(v_tree(sum));
    *inverse = 1.0f / (length > PW_SLOPES_EPS ? length : PW_SLOPES_EPS);
    for (int i = 0; i < Dp; i += 16)
        v_store(unit + i, v_mul(v_load_n(u + i, D - i), v_set(*inverse)));
}

static struct made make_all(const struct pw_slopes *s, float *room)
{
    int H = s->heads, D = s->head_width, Dp = pw_to_16(D);
    struct made m = {.learned = {s->query, s->key}, .H = H, .D = D, .Dp = Dp};
    m.scale = 1.0f / sqrtf((float)D);
    for (int k = 0; k < 2; k++, room += H * Dp)
        m.unit[k] = room;
    for (int k = 0; k < 2; k++, room += H)
        m.inverse[k] = room;
    m.factor = room;
    m.by = room + H + 15;
    for (int k = 0; k < 2; k++)
        for (int h = 0; h < H && m.learned[k] != NULL; h++)
            make_unit(m.unit[k] + h * Dp, m.inverse[k] + h, m.learned[k] + h * D, D, Dp);
    for (int h = 0; h < H; h += 16) {
        v16 omega = v_load_n(s->omega + h, H - h), slope = v_load_n(s->slope + h, H - h), rise, minus;
        v_sigmoid(omega, &rise, &minus);
        v_store_n(m.factor + h, H - h, v_mul(v_softplus(omega), slope));
        v_store_n(m.by + h, H - h, v_mul(rise, slope));
    }
    return m;
}

/* t [R,2H] = the products of all rows; 0 of a part without directions. */
static void products(float *t, const float *qkv, const struct made *m, int R)
{
    int H = m->H, D = m->D;
    for (int r = 0; r < R; r++, qkv += 3 * (size_t)(H * D))
        for (int k = 0; k < 2; k++)
            for (int h = 0; h < H; h++) {
                const float *x = qkv + (k * H + h) * D, *unit = m->unit[k] + h * m->Dp;
                v16 sum = v_zero();
                for (int i = 0; i < D && m->learned[k] != NULL; i += 16)
                    sum = v_fma(v_load_n(x + i, D - i), v_load(unit + i), sum);
                *t++ = v_tree(sum);
            }
}

void PW_OP(slopes_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_slopes *s, int R)
{
    struct made m = make_all(s, pw_ctx_scratch(c, made_floats(s)));
    int H = m.H, n = R * 2 * H;
    products(y, qkv, &m, R);
    for (int i = 0; i < n; i += 16)
        v_store_n(y + i, n - i, v_softplus(v_mul(v_load_n(y + i, n - i), v_set(m.scale))));
    for (int r = 0; r < 2 * R; r++, y += H)
        for (int h = 0; h < H; h += 16) {
            v16 w = m.learned[r % 2] != NULL ? v_load_n(m.factor + h, H - h) : v_zero();
            v_store_n(y + h, H - h, v_mul(v_load_n(y + h, H - h), w));
        }
}

/* Adds the part of one head of a row; g and t as in backend.h. */
static void add_row(float *dx, float *d, const float *x, const float *unit, float g, float inverse, float t,
                    int D)
{
    v16 by = v_set(g), learn = v_set(g * inverse), along = v_set(t);
    for (int i = 0; i < D; i += 16) {
        v16 u = v_load(unit + i), v = v_sub(v_load_n(x + i, D - i), v_mul(along, u));
        v_store_n(dx + i, D - i, v_fma(by, u, v_load_n(dx + i, D - i)));
        v_store_n(d + i, D - i, v_fma(learn, v, v_load_n(d + i, D - i)));
    }
}

/* Turn the arguments a [n] of one row and part into softplus, and write their sigmoid. */
static void functions_of_row(float *rise, float *plus, const float *t, float scale, int n)
{
    for (int i = 0; i < n; i += 16) {
        v16 x = v_mul(v_load_n(t + i, n - i), v_set(scale)), s, minus;
        v_sigmoid(x, &s, &minus);
        v_store_n(rise + i, n - i, s);
        v_store_n(plus + i, n - i, v_softplus(x));
    }
}

void PW_OP(slopes_bwd)(struct pw_ctx *c, float *dqkv, const struct pw_slopes_grad *d, const float *dy,
                       const float *qkv, const struct pw_slopes *s, int R)
{
    int H = s->heads, D = s->head_width;
    size_t floats = made_floats(s), n = (size_t)R * 2 * (size_t)H;
    float *room = pw_ctx_scratch(c, floats + 3 * n), *t = room + floats, *rise = t + n, *plus = rise + n;
    struct made m = make_all(s, room);
    products(t, qkv, &m, R);
    functions_of_row(rise, plus, t, m.scale, (int)n);
    for (int r = 0; r < R; r++, qkv += 3 * H * D, dqkv += 3 * H * D)
        for (int k = 0; k < 2; k++, t += H, rise += H, plus += H, dy += H)
            for (int h = 0; h < H && m.learned[k] != NULL; h++) {
                int at = (k * H + h) * D;
                float *to = (k == 0 ? d->query : d->key) + h * D;
                float g = ((dy[h] * m.factor[h]) * rise[h]) * m.scale;
                add_row(dqkv + at, to, qkv + at, m.unit[k] + h * m.Dp, g, m.inverse[k][h], t[h], D);
                d->omega[h] = fmaf(dy[h] * plus[h], m.by[h], d->omega[h]);
            }
}
