/* ref_slopes.c - reference for bits: slopes of rows, one number after the other; and their case. */
#include "tests/ops/ref_cases.h"
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <stdlib.h>

static float softplus(float x)
{
    float e = plain_exp(0.0f - fabsf(0.0f - x)), t = e / (2.0f + e), u = t * t, p = 1.0f / 15;
    for (int k = 13; k > 0; k -= 2)
        p = fmaf(p, u, 1.0f / (float)k);
    return 0.0f - ((0.0f - x < 0.0f ? 0.0f - x : 0.0f) - (t + t) * p);
}

static float by_lanes(const float *a, const float *b, int n)
{
    float lane[16] = {0};
    for (int i = 0; i < n; i++)
        lane[i % 16] = fmaf(a[i], b[i], lane[i % 16]);
    return plain_tree(lane);
}

/* Sets unit [D] of direction u, and returns the factor by which u is multiplied. */
static float unit_of(float *unit, const float *u, int D)
{
    float length = sqrtf(by_lanes(u, u, D)), inverse = 1.0f / (length > 1e-6f ? length : 1e-6f);
    for (int i = 0; i < D; i++)
        unit[i] = u[i] * inverse;
    return inverse;
}

void PW_OP(slopes_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_slopes *s, int R)
{
    int H = s->heads, D = s->head_width;
    float *unit = malloc((size_t)D * sizeof *unit), scale = 1.0f / sqrtf((float)D);
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++) {
            const float *u = k < H ? s->query : s->key;
            int h = k % H;
            y[r * 2 * H + k] = 0.0f;
            if (u == NULL)
                continue;
            unit_of(unit, u + h * D, D);
            float t = by_lanes(qkv + r * 3 * H * D + k * D, unit, D);
            y[r * 2 * H + k] = softplus(t * scale) * (softplus(s->omega[h]) * s->slope[h]);
        }
    free(unit);
}

void PW_OP(slopes_bwd)(struct pw_ctx *c, float *dqkv, const struct pw_slopes_grad *d, const float *dy,
                       const float *qkv, const struct pw_slopes *s, int R)
{
    int H = s->heads, D = s->head_width;
    float *unit = malloc((size_t)D * sizeof *unit), scale = 1.0f / sqrtf((float)D);
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++) {
            const float *u = k < H ? s->query : s->key, *x = qkv + r * 3 * H * D + k * D;
            float *du = k < H ? d->query : d->key, *dx = dqkv + r * 3 * H * D + k * D, rise, minus, steep;
            int h = k % H;
            if (u == NULL)
                continue;
            float inverse = unit_of(unit, u + h * D, D), t = by_lanes(x, unit, D);
            plain_sigmoid(t * scale, &rise, &minus);
            float own = dy[r * 2 * H + k], g = own * (softplus(s->omega[h]) * s->slope[h]) * rise * scale;
            for (int i = 0; i < D; i++) {
                dx[i] = fmaf(g, unit[i], dx[i]);
                du[h * D + i] = fmaf(g * inverse, x[i] - t * unit[i], du[h * D + i]);
            }
            plain_sigmoid(s->omega[h], &steep, &minus);
            d->omega[h] = fmaf(own * softplus(t * scale), steep * s->slope[h], d->omega[h]);
        }
    free(unit);
}

/* One part or both; large products, where softplus is linear or 0; and a direction of length 0. */
void ref_case_slopes(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8, 17), D = PICK(&r->s, 1, 4, 8, 16, 20, 33), R = ref_pick_rows(&r->s);
    int parts = PICK(&r->s, 1, 2, 3);
    size_t n = (size_t)(R * 3 * H * D), HD = (size_t)(H * D);
    float *qkv = ref_input(r, n, ref_next(&r->s) % 4 == 0 ? 200.0f : 2.0f);
    float *dy = ref_input(r, (size_t)(R * 2 * H), 1.0f), *omega = ref_input(r, (size_t)H, 2.0f);
    float *v = ref_input(r, HD, 1.0f), *u = ref_input(r, HD, ref_next(&r->s) % 8 == 0 ? 0.0f : 1.0f);
    struct pw_slopes s = {H, D, omega, parts & 1 ? v : NULL, parts & 2 ? u : NULL, {0}};
    for (int h = 0; h < H; h++)
        s.slope[h] = 1.0f / (float)(2 + h);
    float *y = ref_output(r, (size_t)(R * 2 * H)), *dqkv = ref_output(r, n);
    struct pw_slopes_grad d = {ref_output(r, (size_t)H), ref_output(r, HD), ref_output(r, HD)};
    r->ops->slopes_fwd(r->c, y, qkv, &s, R);
    r->ops->slopes_bwd(r->c, dqkv, &d, dy, qkv, &s, R);
}
