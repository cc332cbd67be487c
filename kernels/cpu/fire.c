/* fire.c - FIRE's bias (Li et al. 2023) and the gradients of its parameters; kernels/backend.h has the
 * formulas.
 *
 * A vector holds 16 keys of one query, and lane l the keys with number l mod 16, which are the lanes of the
 * contract. One table holds psi of all distances, laid out so that the keys of any query are contiguous. */
#include "base/maths.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

#include <math.h>
#include <string.h>

/* The parameters, values derived from them for all queries, and the current query. */
struct fire {
    const struct pw_fire *f;
    const float *w1, *b1, *w2, *b2;
    float c, threshold; /* C and L */
    int K, H, P;
    float *psi, *slope; /* [2P-1] of the distance |y - (P-1)| at index y */
    float *hid;         /* [K,16] */
    float y, n;
    int keys; /* number of keys that the query sees */
};

static size_t fire_floats(const struct pw_fire *f, int P)
{
    return 2 * (2 * (size_t)P - 1) + 16 * (size_t)f->hidden;
}

static float psi(const struct fire *x, float distance)
{
    return (float)pw_log(1.0 + (double)x->c * (double)distance);
}

static float slope(const struct fire *x, float distance)
{
    return distance / fmaf(x->c, distance, 1.0f);
}

static struct fire begin_fire(const struct pw_fire *f, const float *param, int H, int P, float *room)
{
    size_t K = (size_t)f->hidden, wide = 2 * (size_t)P - 1;
    struct fire x = {.f = f, .K = f->hidden, .H = H, .P = P};
    x.c = fabsf(param[0]);
    x.threshold = fabsf(param[1] * f->threshold);
    x.w1 = param + 2;
    x.b1 = x.w1 + K;
    x.w2 = x.b1 + K;
    x.b2 = x.w2 + (size_t)H * K;
    x.psi = room;
    x.slope = x.psi + wide;
    x.hid = x.slope + wide;
    for (int r = 0; r < P; r++) {
        float distance = (float)r * f->step;
        x.psi[P - 1 - r] = x.psi[P - 1 + r] = psi(&x, distance);
        x.slope[P - 1 - r] = x.slope[P - 1 + r] = slope(&x, distance);
    }
    return x;
}

/* Select query i. Returns true if the threshold L is the divisor's distance. */
static bool turn_to(struct fire *x, int i)
{
    float at = x->f->from + (float)i * x->f->step;
    bool below = !(at > x->threshold);
    x->y = below ? x->threshold : at;
    x->n = psi(x, x->y) + PW_FIRE_EPS;
    x->keys = x->f->causal ? i + 1 : x->P;
    return below;
}

/* Compute u and the hidden units of the keys from j on. */
static v16 hidden(const struct fire *x, int i, int j)
{
    v16 u = v_div(v_load_n(x->psi + x->P - 1 - i + j, x->keys - j), v_set(x->n));
    for (int k = 0; k < x->K; k++)
        v_store(x->hid + 16 * k, v_max(v_zero(), v_fma(v_set(x->w1[k]), u, v_set(x->b1[k]))));
    return u;
}

void PW_OP(fire_fwd)(struct pw_ctx *c, float *bias, const float *param, const struct pw_fire *f, int H, int P)
{
    struct fire x = begin_fire(f, param, H, P, pw_ctx_scratch(c, fire_floats(f, P)));
    size_t head = (size_t)P * (size_t)P;
    memset(bias, 0, (size_t)H * head * sizeof *bias);
    for (int i = 0; i < P; i++) {
        turn_to(&x, i);
        for (int j = 0; j < x.keys; j += 16) {
            hidden(&x, i, j);
            for (int h = 0; h < H; h++) {
                const float *w2 = x.w2 + (size_t)h * (size_t)x.K;
                v16 sum = v_set(x.b2[h]);
                for (int k = 0; k < x.K; k++)
                    sum = v_fma(v_set(w2[k]), v_load(x.hid + 16 * k), sum);
                v_store_n(bias + (size_t)h * head + (size_t)i * (size_t)P + (size_t)j, x.keys - j, sum);
            }
        }
    }
}

static void add_to(float *sum, v16 v)
{
    v_store(sum, v_add(v_load(sum), v));
}

/* Add sixteen keys of query i, from j on, to sums. sums has 16 lanes for each parameter; the first two are E
 * and U. d_bias [H,P,P]. */
static void add_keys(const struct fire *x, float *sums, const float *d_bias, int i, int j)
{
    size_t P = (size_t)x->P, K = (size_t)x->K;
    const float *d = d_bias + (size_t)i * P + (size_t)j;
    float *w1 = sums + 2 * 16, *b1 = w1 + 16 * K, *w2 = b1 + 16 * K, *b2 = w2 + 16 * K * (size_t)x->H;
    v16 u = hidden(x, i, j), e = v_zero();
    int left = x->keys - j;
    for (int h = 0; h < x->H; h++)
        add_to(b2 + 16 * h, v_load_n(d + (size_t)h * P * P, left));
    for (size_t k = 0; k < K; k++) {
        v16 hid = v_load(x->hid + 16 * k), a = v_zero();
        for (size_t h = 0; h < (size_t)x->H; h++) {
            v16 g = v_load_n(d + h * P * P, left);
            float *sum = w2 + 16 * (h * K + k);
            v_store(sum, v_fma(g, hid, v_load(sum)));
            a = v_fma(g, v_set(x->w2[h * K + k]), a);
        }
        a = v_select(v_less(v_zero(), hid), a, v_zero());
        add_to(b1 + 16 * k, a);
        v_store(w1 + 16 * k, v_fma(a, u, v_load(w1 + 16 * k)));
        e = v_fma(a, v_set(x->w1[k]), e);
    }
    v_store(sums, v_fma(e, v_load_n(x->slope + x->P - 1 - i + j, left), v_load(sums)));
    v_store(sums + 16, v_fma(e, u, v_load(sums + 16)));
}

void PW_OP(fire_bwd)(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_fire *f, int L, int H, int P)
{
    size_t room = fire_floats(f, P), n = pw_fire_floats(f->hidden, H),
           all = (size_t)H * (size_t)P * (size_t)P;
    float *scratch = pw_ctx_scratch(c, room + 16 * n), *sums = scratch + room;
    struct fire x = begin_fire(f, param, H, P, scratch);
    for (int l = 1; l < L; l++)
        PW_OP(add)(c, d_bias, d_bias + (size_t)l * all, all);
    for (int i = 0; i < P; i++) {
        bool below = turn_to(&x, i);
        memset(sums, 0, 16 * n * sizeof *sums);
        for (int j = 0; j < x.keys; j += 16)
            add_keys(&x, sums, d_bias, i, j);
        float E = v_tree(v_load(sums)), U = v_tree(v_load(sums + 16));
        d_param[0] += (E - U * slope(&x, x.y)) / x.n * copysignf(1.0f, param[0]);
        if (below)
            d_param[1] +=
                U * (x.c / fmaf(x.c, x.threshold, 1.0f)) / x.n * -(copysignf(1.0f, param[1]) * f->threshold);
        for (size_t p = 2; p < n; p++)
            d_param[p] += v_tree(v_load(sums + 16 * p));
    }
}
