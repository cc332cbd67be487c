/* ref_double_planes.c - reference for values: planes in double precision, from the definition. Unit vectors
 * are the factor Q of a QR factorisation; its gradient has the closed form of Walter and Lehmann 2010. A turn
 * is exp(angle (u v^T - v u^T)) = I + sin L + (1 - cos) L^2. */
#include "tests/ops/ref_double.h"

#include <math.h>
#include <stdlib.h>

/* W = Q R of a head: q [M,D] has the columns of Q, upper [M,M] is R. */
struct factors {
    int M, D;
    double *q, *upper;
};

static double dot(const double *a, const double *b, int D)
{
    double sum = 0;
    for (int d = 0; d < D; d++)
        sum += a[d] * b[d];
    return sum;
}

static struct factors factorise(const float *a, const float *b, int N, int D)
{
    int M = 2 * N;
    struct factors x = {M, D, ref_room((size_t)(M * D)), ref_room((size_t)(M * M))};
    for (int k = 0; k < M; k++) {
        double *v = x.q + k * D;
        for (int d = 0; d < D; d++)
            v[d] = (double)(k % 2 == 0 ? a : b)[k / 2 * D + d];
        for (int again = 0; again < 2; again++) /* twice, for directions that were lost to rounding */
            for (int i = 0; i < k; i++) {
                double t = dot(x.q + i * D, v, D);
                x.upper[i * M + k] += t;
                for (int d = 0; d < D; d++)
                    v[d] -= t * x.q[i * D + d];
            }
        double length = x.upper[k * M + k] = sqrt(dot(v, v, D));
        for (int d = 0; d < D; d++)
            v[d] /= length;
    }
    return x;
}

static void factors_free(struct factors *x)
{
    free(x->q);
    free(x->upper);
}

void ref_double_planes_make(struct pw_ctx *c, float *unit, const float *a, const float *b, int H, int N,
                            int D)
{
    (void)c;
    for (int h = 0; h < H; h++) {
        struct factors x = factorise(a + h * N * D, b + h * N * D, N, D);
        for (int k = 0; k < x.M; k++)
            for (int d = 0; d < D; d++)
                unit[(h * x.M + k / 2 + k % 2 * N) * D + d] = (float)x.q[k * D + d];
        factors_free(&x);
    }
}

void ref_double_planes_make_bwd(struct pw_ctx *c, float *d_a, float *d_b, const float *d_unit, const float *a,
                                const float *b, int H, int N, int D)
{
    (void)c;
    for (int h = 0; h < H; h++) {
        struct factors x = factorise(a + h * N * D, b + h * N * D, N, D);
        int M = x.M;
        double *dq = ref_room((size_t)(M * D)), *to = ref_room((size_t)(M * D));
        for (int k = 0; k < M; k++)
            for (int d = 0; d < D; d++)
                dq[k * D + d] = (double)d_unit[(h * M + k / 2 + k % 2 * N) * D + d];
        for (int k = 0; k < M; k++)
            for (int d = 0; d < D; d++) {
                to[k * D + d] = dq[k * D + d];
                for (int i = 0; i < M; i++) {
                    int low = i > k ? i : k, high = i > k ? k : i;
                    to[k * D + d] -= x.q[i * D + d] * dot(dq + low * D, x.q + high * D, D);
                }
            }
        for (int k = M - 1; k >= 0; k--)
            for (int d = 0; d < D; d++) {
                for (int i = k + 1; i < M; i++)
                    to[k * D + d] -= x.upper[k * M + i] * to[i * D + d];
                to[k * D + d] /= x.upper[k * M + k];
                (k % 2 == 0 ? d_a : d_b)[(h * N + k / 2) * D + d] += (float)to[k * D + d];
            }
        free(dq);
        free(to);
        factors_free(&x);
    }
}

/* x [D] becomes exp(angle L) x of the plane of u and v; derivative: that times L instead. */
static void turn_vector(double *x, const float *u, const float *v, double angle, bool derivative, int D)
{
    double p = 0, q = 0;
    for (int d = 0; d < D; d++) {
        p += (double)u[d] * x[d];
        q += (double)v[d] * x[d];
    }
    double of_u = derivative ? cos(angle) * q - sin(angle) * p : (cos(angle) - 1) * p + sin(angle) * q;
    double of_v = derivative ? -cos(angle) * p - sin(angle) * q : (cos(angle) - 1) * q - sin(angle) * p;
    for (int d = 0; d < D; d++)
        x[d] = (derivative ? 0 : x[d]) + of_u * (double)u[d] + of_v * (double)v[d];
}

static double angle_of(const struct pw_planes *p, int h, int j, int id)
{
    return (p->from + id * p->step) * exp((double)p->log_factor[h * p->planes + j] - j * p->fall);
}

static const float *first_of(const struct pw_planes *p, int h, int j)
{
    return p->unit + (h * 2 * p->planes + j) * p->head_width;
}

void ref_double_planes_fwd(struct pw_ctx *c, float *y, const float *qkv, const struct pw_planes *p,
                           const int *pos, int R)
{
    int H = p->heads, D = p->head_width, N = p->planes;
    double *x = ref_room((size_t)D);
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++) {
            for (int d = 0; d < D; d++)
                x[d] = (double)qkv[(r * 3 * H + k) * D + d];
            for (int j = 0; j < N; j++)
                turn_vector(x, first_of(p, k % H, j), first_of(p, k % H, j) + N * D,
                            angle_of(p, k % H, j, pos[r]), false, D);
            for (int d = 0; d < D; d++)
                y[(r * 2 * H + k) * D + d] = (float)x[d];
        }
    free(x);
}

/* Sums of the gradients in double precision, added at the end. */
struct sums {
    double *unit, *factor;
};

/* Row r, head k, plane j: its part of the gradients. y = x + e u + f v, with e and f linear in u.x, v.x. */
static void add_plane(struct sums *to, const struct pw_planes *p, const float *x, const float *g, int h,
                      int j, int id)
{
    int D = p->head_width, N = p->planes;
    const float *u = first_of(p, h, j), *v = u + N * D;
    double angle = angle_of(p, h, j, id), C = cos(angle) - 1, S = sin(angle), a = 0, b = 0, A = 0, B = 0;
    double *du = to->unit + (h * 2 * N + j) * D, *dv = du + N * D, *turned = ref_room((size_t)D);
    for (int d = 0; d < D; d++) {
        a += (double)u[d] * (double)x[d];
        b += (double)v[d] * (double)x[d];
        A += (double)u[d] * (double)g[d];
        B += (double)v[d] * (double)g[d];
        turned[d] = (double)x[d];
    }
    turn_vector(turned, u, v, angle, true, D);
    for (int d = 0; d < D; d++) {
        du[d] += (C * a + S * b) * (double)g[d] + (C * A - S * B) * (double)x[d];
        dv[d] += (C * b - S * a) * (double)g[d] + (C * B + S * A) * (double)x[d];
        to->factor[h * N + j] += angle * (double)g[d] * turned[d];
    }
    free(turned);
}

void ref_double_planes_bwd(struct pw_ctx *c, float *dqkv, float *d_unit, float *d_log_factor, const float *dy,
                           const float *qkv, const struct pw_planes *p, const int *pos, int R)
{
    int H = p->heads, D = p->head_width, N = p->planes;
    struct sums to = {ref_room((size_t)(H * 2 * N * D)), ref_room((size_t)(H * N))};
    double *g = ref_room((size_t)D);
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++) {
            const float *own = dy + (r * 2 * H + k) * D;
            for (int d = 0; d < D; d++)
                g[d] = (double)own[d];
            for (int j = 0; j < N; j++) {
                turn_vector(g, first_of(p, k % H, j), first_of(p, k % H, j) + N * D,
                            -angle_of(p, k % H, j, pos[r]), false, D);
                add_plane(&to, p, qkv + (r * 3 * H + k) * D, own, k % H, j, pos[r]);
            }
            for (int d = 0; d < D; d++)
                dqkv[(r * 3 * H + k) * D + d] = (float)g[d];
        }
    for (int i = 0; i < H * 2 * N * D; i++)
        d_unit[i] = (float)((double)d_unit[i] + to.unit[i]);
    for (int i = 0; i < H * N; i++)
        d_log_factor[i] = (float)((double)d_log_factor[i] + to.factor[i]);
    free(to.unit);
    free(to.factor);
    free(g);
}
