/* ref_fire.c - reference for bits: FIRE's bias and its gradients, one parameter and one pair of positions at
 * a time. */
#include "base/maths.h"
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <stdlib.h>

/* Values of query i and key j by the formulas of kernels/backend.h. */
struct pair {
    float c, L, x, y, n, u;
    bool below; /* y equals L */
};

static float psi(float c, float x)
{
    return (float)pw_log(1.0 + (double)c * (double)x);
}

static struct pair pair_of(const float *param, const struct pw_fire *f, int i, int j)
{
    struct pair p = {.c = fabsf(param[0]), .L = fabsf(param[1] * f->threshold)};
    float at = f->from + (float)i * f->step;
    p.x = (float)(i < j ? j - i : i - j) * f->step;
    p.below = at <= p.L;
    p.y = p.below ? p.L : at;
    p.n = psi(p.c, p.y) + PW_FIRE_EPS;
    p.u = psi(p.c, p.x) / p.n;
    return p;
}

static float unit(const float *param, const struct pw_fire *f, const struct pair *p, int k)
{
    float pre = fmaf(param[2 + k], p->u, param[2 + f->hidden + k]);
    return 0.0f > pre ? 0.0f : pre;
}

static float slope(const struct pair *p, float x)
{
    return x / fmaf(p->c, x, 1.0f);
}

void PW_OP(fire_fwd)(struct pw_ctx *c, float *bias, const float *param, const struct pw_fire *f, int H, int P)
{
    int K = f->hidden;
    const float *w2 = param + 2 + 2 * K, *b2 = w2 + H * K;
    (void)c;
    for (int h = 0; h < H; h++)
        for (int i = 0; i < P; i++)
            for (int j = 0; j < P; j++) {
                struct pair p = pair_of(param, f, i, j);
                float sum = b2[h];
                for (int k = 0; k < K; k++)
                    sum = fmaf(w2[h * K + k], unit(param, f, &p, k), sum);
                *bias++ = f->causal && j > i ? 0.0f : sum;
            }
}

/* The factors of one pair in each sum over keys. E and U are the constants 0 and 1; the other factors depend
 * on the parameter. */
struct terms {
    float *of;    /* [params] first factor */
    float *with;  /* [params] second factor; where it is 1, the first is added alone */
    float *g, *a; /* [H] and [K] */
};

static void terms_of(struct terms *t, const float *d_bias, const float *param, const struct pw_fire *f,
                     const struct pair *p, int H, size_t at, size_t head)
{
    int K = f->hidden;
    const float *w1 = param + 2, *w2 = w1 + 2 * K;
    float e = 0.0f;
    for (int h = 0; h < H; h++)
        t->g[h] = d_bias[(size_t)h * head + at];
    for (int k = 0; k < K; k++) {
        float hid = unit(param, f, p, k), a = 0.0f;
        for (int h = 0; h < H; h++) {
            a = fmaf(t->g[h], w2[h * K + k], a);
            t->of[2 + 2 * K + h * K + k] = t->g[h];
            t->with[2 + 2 * K + h * K + k] = hid;
        }
        t->of[2 + k] = t->of[2 + K + k] = t->a[k] = hid > 0.0f ? a : 0.0f;
        t->with[2 + k] = p->u;
        t->with[2 + K + k] = 1.0f;
        e = fmaf(t->a[k], w1[k], e);
    }
    for (int h = 0; h < H; h++) {
        t->of[2 + 2 * K + H * K + h] = t->g[h];
        t->with[2 + 2 * K + H * K + h] = 1.0f;
    }
    t->of[0] = t->of[1] = e;
    t->with[0] = slope(p, p->x);
    t->with[1] = p->u;
}

void PW_OP(fire_bwd)(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_fire *f, int L, int H, int P)
{
    size_t n = pw_fire_floats(f->hidden, H), head = (size_t)P * (size_t)P, all = (size_t)H * head;
    float *room = malloc((18 * n + (size_t)H + (size_t)f->hidden) * sizeof *room), *lanes = room + 2 * n;
    struct terms t = {room, room + n, room + 18 * n, room + 18 * n + H};
    (void)c;
    for (size_t i = 0; i < all; i++)
        for (int l = 1; l < L; l++)
            d_bias[i] += d_bias[(size_t)l * all + i];
    for (int i = 0; i < P; i++) {
        struct pair p = pair_of(param, f, i, 0);
        memset(lanes, 0, 16 * n * sizeof *lanes);
        for (int j = 0; j < (f->causal ? i + 1 : P); j++) {
            p = pair_of(param, f, i, j);
            terms_of(&t, d_bias, param, f, &p, H, (size_t)(i * P + j), head);
            for (size_t m = 0; m < n; m++) {
                float *lane = &lanes[16 * m + (size_t)(j % 16)];
                *lane = fmaf(t.of[m], t.with[m], *lane);
            }
        }
        float E = plain_tree(lanes), U = plain_tree(lanes + 16);
        d_param[0] += (E - U * slope(&p, p.y)) / p.n * copysignf(1.0f, param[0]);
        if (p.below)
            d_param[1] +=
                U * (p.c / fmaf(p.c, p.L, 1.0f)) / p.n * -(copysignf(1.0f, param[1]) * f->threshold);
        for (size_t m = 2; m < n; m++)
            d_param[m] += plain_tree(lanes + 16 * m);
    }
    free(room);
}
