/* ref_planes.c - planes in which q and k turn: the reference for bits, one number at a time in the order of
 * kernels/backend.h, and the case of all four operations. */
#include "base/maths.h"
#include "tests/ops/ref_cases.h"
#include "tests/ops/ref_double.h"
#include "tests/ops/ref_plain.h"

#include <math.h>
#include <stdlib.h>

/* The vectors of a head at each step of Gram-Schmidt: w [M+1,M,D], where w[k] is before step k. */
struct steps {
    int M, D;
    double *w, *e, *length; /* e [M,D], length [M] */
};

static double *vector(const struct steps *x, int step, int k)
{
    return x->w + (step * x->M + k) * x->D;
}

static double dot(const double *a, const double *b, int D)
{
    double sum = 0;
    for (int d = 0; d < D; d++)
        sum = fma(a[d], b[d], sum);
    return sum;
}

static double inverse(double length)
{
    return length > PW_PLANES_EPS ? 1 / length : 1 / PW_PLANES_EPS;
}

static struct steps steps_of(const float *a, const float *b, int N, int D)
{
    int M = 2 * N;
    struct steps x = {M, D, ref_room((size_t)((M + 1) * M * D)), ref_room((size_t)(M * D)),
                      ref_room((size_t)M)};
    for (int k = 0; k < M; k++)
        for (int d = 0; d < D; d++)
            vector(&x, 0, k)[d] = (double)(k % 2 == 0 ? a : b)[k / 2 * D + d];
    for (int k = 0; k < M; k++) {
        double *e = x.e + k * D, *own = vector(&x, k, k);
        x.length[k] = sqrt(dot(own, own, D));
        for (int d = 0; d < D; d++)
            e[d] = own[d] * inverse(x.length[k]);
        for (int i = k + 1; i < M; i++) {
            double t = dot(e, vector(&x, k, i), D);
            for (int d = 0; d < D; d++)
                vector(&x, k + 1, i)[d] = fma(-t, e[d], vector(&x, k, i)[d]);
        }
    }
    return x;
}

static void steps_free(struct steps *x)
{
    free(x->w);
    free(x->e);
    free(x->length);
}

void PW_OP(planes_make)(struct pw_ctx *c, float *unit, const float *a, const float *b, int H, int N, int D)
{
    (void)c;
    for (int h = 0; h < H; h++) {
        struct steps x = steps_of(a + h * N * D, b + h * N * D, N, D);
        for (int j = 0; j < N; j++)
            for (int d = 0; d < D; d++) {
                unit[(h * 2 * N + j) * D + d] = (float)x.e[2 * j * D + d];
                unit[(h * 2 * N + N + j) * D + d] = (float)x.e[(2 * j + 1) * D + d];
            }
        steps_free(&x);
    }
}

void PW_OP(planes_make_bwd)(struct pw_ctx *c, float *d_a, float *d_b, const float *d_unit, const float *a,
                            const float *b, int H, int N, int D)
{
    (void)c;
    for (int h = 0; h < H; h++) {
        int M = 2 * N;
        struct steps x = steps_of(a + h * N * D, b + h * N * D, N, D);
        double *f = ref_room((size_t)(M * D)), *g = ref_room((size_t)D), *before = ref_room((size_t)(M * D));
        for (int k = 0; k < M; k++)
            for (int d = 0; d < D; d++) {
                f[k * D + d] = (double)d_unit[(h * M + k / 2 + k % 2 * N) * D + d];
                before[k * D + d] = vector(&x, k, k)[d];
            }
        for (int k = M - 1; k >= 0; k--) {
            const double *e = x.e + k * D;
            for (int d = 0; d < D; d++)
                g[d] = f[k * D + d];
            for (int i = k + 1; i < M; i++) {
                double t = dot(e, vector(&x, k, i), D), r = dot(e, f + i * D, D);
                for (int d = 0; d < D; d++) {
                    double *w = before + i * D + d;
                    *w = fma(t, e[d], *w);
                    g[d] = fma(-r, *w, fma(-t, f[i * D + d], g[d]));
                    f[i * D + d] = fma(-r, e[d], f[i * D + d]);
                }
            }
            double s = dot(e, g, D);
            for (int d = 0; d < D; d++)
                f[k * D + d] =
                    (x.length[k] > PW_PLANES_EPS ? fma(-s, e[d], g[d]) : g[d]) * inverse(x.length[k]);
        }
        for (int k = 0; k < M; k++) /* the steps before k have changed it, too */
            for (int d = 0; d < D; d++)
                (k % 2 == 0 ? d_a : d_b)[(h * N + k / 2) * D + d] += (float)f[k * D + d];
        free(f);
        free(g);
        free(before);
        steps_free(&x);
    }
}

static float product(const float *a, const float *b, int D)
{
    float sum = 0.0f;
    for (int d = 0; d < D; d++)
        sum = fmaf(a[d], b[d], sum);
    return sum;
}

/* A plane of a head at an id, and the coefficients of x there. */
struct turn {
    const float *u, *v;
    float C, S, angle, p, q, e, f;
};

static struct turn turn_of(const struct pw_planes *x, const float *row, int h, int j, int id)
{
    int N = x->planes, D = x->head_width;
    double angle =
        (x->from + (double)id * x->step) * pw_exp((double)x->log_factor[h * N + j] - (double)j * x->fall);
    struct turn t = {.u = x->unit + (h * 2 * N + j) * D, .v = x->unit + (h * 2 * N + N + j) * D};
    t.C = (float)(pw_cos(angle) - 1);
    t.S = (float)pw_sin(angle);
    t.angle = (float)angle;
    t.p = product(row, t.u, D);
    t.q = product(row, t.v, D);
    t.e = fmaf(t.C, t.p, t.S * t.q);
    t.f = fmaf(t.C, t.q, 0.0f - t.S * t.p);
    return t;
}

void PW_OP(planes_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_planes *p,
                       const int *pos, int R)
{
    int H = p->heads, D = p->head_width;
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++) {
            const float *x = qkv + (r * 3 * H + k) * D;
            float *to = y + (r * 2 * H + k) * D;
            for (int d = 0; d < D; d++)
                to[d] = x[d];
            for (int j = 0; j < p->planes; j++) {
                struct turn t = turn_of(p, x, k % H, j, pos[r]);
                for (int d = 0; d < D; d++)
                    to[d] = fmaf(t.f, t.v[d], fmaf(t.e, t.u[d], to[d]));
            }
        }
}

void PW_OP(planes_bwd)(struct pw_ctx *c, float *dqkv, float *d_unit, float *d_log_factor, const float *dy,
                       const float *qkv, const struct pw_planes *p, const int *pos, int R)
{
    int H = p->heads, D = p->head_width, N = p->planes;
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++) {
            const float *x = qkv + (r * 3 * H + k) * D, *g = dy + (r * 2 * H + k) * D;
            float *dx = dqkv + (r * 3 * H + k) * D;
            for (int d = 0; d < D; d++)
                dx[d] = g[d];
            for (int j = 0; j < N; j++) {
                struct turn t = turn_of(p, x, k % H, j, pos[r]);
                float A = product(g, t.u, D), B = product(g, t.v, D), cosine = t.C + 1.0f;
                float dp = fmaf(t.C, A, 0.0f - t.S * B), dq = fmaf(t.C, B, t.S * A);
                float *du = d_unit + (k % H * 2 * N + j) * D, *dv = du + N * D;
                float by =
                    fmaf(A, fmaf(cosine, t.q, 0.0f - t.S * t.p), 0.0f - B * fmaf(cosine, t.p, t.S * t.q));
                for (int d = 0; d < D; d++) {
                    dx[d] = fmaf(dq, t.v[d], fmaf(dp, t.u[d], dx[d]));
                    du[d] = fmaf(dp, x[d], fmaf(t.e, g[d], du[d]));
                    dv[d] = fmaf(dq, x[d], fmaf(t.f, g[d], dv[d]));
                }
                d_log_factor[k % H * N + j] = fmaf(by, t.angle, d_log_factor[k % H * N + j]);
            }
        }
}

/* One plane, some, or all of a head; ids that repeat and ids that are far apart. */
void ref_case_planes(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3), D = PICK(&r->s, 2, 3, 4, 8, 16, 20, 33, 40), most = D / 2;
    int N = 1 + (int)(ref_next(&r->s) % (uint64_t)most), R = ref_pick_rows(&r->s);
    N = ref_next(&r->s) % 3 == 0 ? most : N;
    size_t n = (size_t)(R * 3 * H * D), wide = (size_t)(R * 2 * H * D), vectors = (size_t)(H * N * D);
    float *qkv = ref_input(r, n, 2.0f), *dy = ref_input(r, wide, 1.0f);
    float *a = ref_input(r, vectors, 1.0f), *b = ref_input(r, vectors, 1.0f);
    float *log_factor = ref_input(r, (size_t)(H * N), 0.7f);
    float *d_units =
        ref_input(r, 2 * vectors, 1.0f); /* of their own: nearly dependent vectors amplify errors */
    int *pos = ref_ids(r, R, 0, PICK(&r->s, 3, 40, 200));
    float *unit = ref_output(r, 2 * vectors), *d_unit = ref_output(r, 2 * vectors), *y = ref_output(r, wide),
          *dqkv = ref_output(r, n), *d_log_factor = ref_output(r, (size_t)(H * N)),
          *d_a = ref_output(r, vectors), *d_b = ref_output(r, vectors);
    struct pw_planes p = {H,    D,         N, pw_log(100) / N, PICK(&r->s, 0, 3), 0.25 * PICK(&r->s, 2, 4),
                          unit, log_factor};
    r->ops->planes_make(r->c, unit, a, b, H, N, D);
    r->ops->planes_fwd(r->c, y, qkv, &p, pos, R);
    r->ops->planes_bwd(r->c, dqkv, d_unit, d_log_factor, dy, qkv, &p, pos, R);
    r->ops->planes_make_bwd(r->c, d_a, d_b, d_units, a, b, H, N, D);
}
