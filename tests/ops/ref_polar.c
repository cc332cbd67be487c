/* ref_polar.c - wide q and k in polar form: the reference for bits, that for values in double precision, and
 * their case. */
#include "base/maths.h"
#include "tests/ops/ref_cases.h"
#include "tests/ops/ref_double.h"
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <math.h>
#include <stdlib.h>

static float softplus(float x)
{
    float e = plain_exp(0.0f - fabsf(0.0f - x)), t = e / (2.0f + e), u = t * t, p = 1.0f / 15;
    for (int k = 13; k > 0; k -= 2)
        p = fmaf(p, u, 1.0f / (float)k);
    return 0.0f - ((0.0f - x < 0.0f ? 0.0f - x : 0.0f) - (t + t) * p);
}

static float limited(float phase)
{
    return phase < -6.28318531f ? -6.28318531f : phase > 0.0f ? 0.0f : phase;
}

/* Cosine and sine of entry i of head k (of q and k) at a position. */
static void angle(float *co, float *si, const struct pw_polar *p, int pos, int k, int i)
{
    int D = p->head_width;
    float C = p->cosine[pos * D + i], S = p->sine[pos * D + i];
    *co = C;
    *si = S;
    if (k < p->heads)
        return;
    double phase = (double)limited(p->phase[(k - p->heads) * D + i]);
    float cp = (float)pw_cos(phase), sp = (float)pw_sin(phase);
    *co = fmaf(C, cp, 0.0f - S * sp);
    *si = fmaf(S, cp, C * sp);
}

void PW_OP(polar_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_polar *p, const int *pos,
                      int R)
{
    int H = p->heads, D = p->head_width;
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++)
            for (int i = 0; i < D; i++) {
                float m = softplus(qkv[r * 3 * H * D + k * D + i]), co, si;
                if (p->cosine == NULL) {
                    y[(r * 2 * H + k) * D + i] = m;
                    continue;
                }
                angle(&co, &si, p, pos[r], k, i);
                y[(r * 2 * H + k) * 2 * D + i] = m * co;
                y[(r * 2 * H + k) * 2 * D + D + i] = m * si;
            }
}

void PW_OP(polar_bwd)(struct pw_ctx *c, float *dqkv, float *d_phase, const float *dy, const float *qkv,
                      const struct pw_polar *p, const int *pos, int R)
{
    int H = p->heads, D = p->head_width;
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++)
            for (int i = 0; i < D; i++) {
                int at = r * 3 * H * D + k * D + i, own = (k - H) * D + i;
                const float *d = dy + (r * 2 * H + k) * 2 * D + i;
                float co, si, rise, minus;
                angle(&co, &si, p, pos[r], k, i);
                plain_sigmoid(qkv[at], &rise, &minus);
                dqkv[at] = fmaf(d[0], co, d[D] * si) * rise;
                if (k >= H && limited(p->phase[own]) == p->phase[own])
                    d_phase[own] = fmaf(softplus(qkv[at]), fmaf(d[D], co, 0.0f - d[0] * si), d_phase[own]);
            }
}

/* ---- values: from m cos(angle + phase) and m sin(angle + phase) */

static double length_of(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double angle_of(const struct pw_polar *p, int pos, int k, int i)
{
    int at = pos * p->head_width + i;
    double of_position = atan2((double)p->sine[at], (double)p->cosine[at]);
    return k < p->heads ? of_position
                        : of_position + (double)limited(p->phase[(k - p->heads) * p->head_width + i]);
}

void ref_double_polar_fwd(struct pw_ctx *c, float *y, const float *qkv, const struct pw_polar *p,
                          const int *pos, int R)
{
    int H = p->heads, D = p->head_width;
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++)
            for (int i = 0; i < D; i++) {
                double m = length_of((double)qkv[r * 3 * H * D + k * D + i]);
                if (p->cosine == NULL) {
                    y[(r * 2 * H + k) * D + i] = (float)m;
                    continue;
                }
                y[(r * 2 * H + k) * 2 * D + i] = (float)(m * cos(angle_of(p, pos[r], k, i)));
                y[(r * 2 * H + k) * 2 * D + D + i] = (float)(m * sin(angle_of(p, pos[r], k, i)));
            }
}

void ref_double_polar_bwd(struct pw_ctx *c, float *dqkv, float *d_phase, const float *dy, const float *qkv,
                          const struct pw_polar *p, const int *pos, int R)
{
    int H = p->heads, D = p->head_width;
    double *phase = ref_room((size_t)(H * D));
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++)
            for (int i = 0; i < D; i++) {
                int at = r * 3 * H * D + k * D + i, own = (k - H) * D + i;
                const float *d = dy + (r * 2 * H + k) * 2 * D + i;
                double t = angle_of(p, pos[r], k, i), x = (double)qkv[at];
                dqkv[at] = (float)(((double)d[0] * cos(t) + (double)d[D] * sin(t)) / (1 + exp(-x)));
                if (k >= H && limited(p->phase[own]) == p->phase[own])
                    phase[own] += length_of(x) * ((double)d[D] * cos(t) - (double)d[0] * sin(t));
            }
    for (int i = 0; i < H * D; i++)
        d_phase[i] = (float)((double)d_phase[i] + phase[i]);
    free(phase);
}

/* Phases on both sides of their limits, and large entries. Cosines and sines are of angles, as in a table. */
void ref_case_polar(struct ref_call *r)
{
    enum { P = 40 };
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20, 33), R = ref_pick_rows(&r->s);
    size_t n = (size_t)(R * 3 * H * D), table = (size_t)(P * D), wide = (size_t)(R * 4 * H * D);
    float *angles[2] = {malloc(table * sizeof(float)), malloc(table * sizeof(float))};
    float *qkv = ref_input(r, n, ref_next(&r->s) % 4 == 0 ? 60.0f : 2.0f), *dy = ref_input(r, wide, 1.0f);
    float *phase = ref_input(r, (size_t)(H * D), 8.0f);
    int *pos = ref_ids(r, R, 0, P);
    if (angles[0] == NULL || angles[1] == NULL)
        abort();
    for (size_t i = 0; i < table; i++) {
        angles[0][i] = (float)pw_cos((double)i * 0.37);
        angles[1][i] = (float)pw_sin((double)i * 0.37);
    }
    struct pw_polar p = {H, D, ref_copy(r, angles[0], table * sizeof(float)),
                         ref_copy(r, angles[1], table * sizeof(float)), phase};
    struct pw_polar flat = {H, D, NULL, NULL, phase};
    float *y = ref_output(r, wide), *lengths = ref_output(r, wide / 2), *dqkv = ref_output(r, n);
    float *d_phase = ref_output(r, (size_t)(H * D));
    r->ops->polar_fwd(r->c, y, qkv, &p, pos, R);
    r->ops->polar_fwd(r->c, lengths, qkv, &flat, NULL, R);
    r->ops->polar_bwd(r->c, dqkv, d_phase, dy, qkv, &p, pos, R);
    free(angles[0]);
    free(angles[1]);
}
