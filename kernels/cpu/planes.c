/* planes.c - q and k turned in planes (kernels/backend.h).
 *
 * A row is a product with the unit vectors, a turn of each pair of coefficients, and the sum of the vectors
 * with the changes of their coefficients. The first needs the vectors as columns, the second as rows. All of
 * them are chains, so q and k of a head run side by side; a head's gradients get those of q first.
 *
 * Angles cost a cosine and a sine in double precision each, so rows with the same id share them. */
#include "base/maths.h"
#include "base/sin_pair.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

#include <string.h>

/* The numbers that all rows of a chunk read, in scratch. Np: N rounded up to 16. */
struct made {
    const struct pw_planes *p;
    int H, D, N, Np, ids;
    float *columns;             /* [H,D,2Np] unit vectors; zeros beyond N */
    float *less, *sine, *angle; /* [ids,H,Np] cos - 1, sin, the angle */
    int *slot;                  /* [ids]: where the numbers of an id are, from the first id on; -1: nowhere */
    int first;
    float *rest; /* for the caller */
};

/* Numbers of plane j of head h at an id. */
static void turn_plane(struct made *m, double *frequency, size_t to, int id)
{
    const struct pw_planes *p = m->p;
    double place = p->from + (double)id * p->step;
    for (int h = 0; h < m->H; h++)
        for (int j = 0; j < m->Np; j++, to++) {
            double angle = j < m->N ? place * frequency[h * m->N + j] : 0;
            /* NaN if too large: learned frequencies have no limit */
            m->less[to] = j < m->N ? (float)(pw_cos_inline(angle) - 1) : 0.0f;
            m->sine[to] = j < m->N ? (float)pw_sin_inline(angle) : 0.0f;
            m->angle[to] = (float)angle;
        }
}

static void make_angles(struct made *m, double *frequency, const int *pos, int R)
{
    for (int h = 0; h < m->H; h++)
        for (int j = 0; j < m->N; j++)
            frequency[h * m->N + j] = pw_exp((double)m->p->log_factor[h * m->N + j] - (double)j * m->p->fall);
    memset(m->slot, 0xff, (size_t)m->ids * sizeof *m->slot);
    for (int r = 0, n = 0; r < R; r++)
        if (m->slot[pos[r] - m->first] < 0) {
            turn_plane(m, frequency, (size_t)n * (size_t)(m->H * m->Np), pos[r]);
            m->slot[pos[r] - m->first] = n++;
        }
}

static void make_columns(const struct made *m)
{
    int D = m->D, N = m->N, Np = m->Np;
    memset(m->columns, 0, (size_t)(m->H * D) * 2 * (size_t)Np * sizeof *m->columns);
    for (int h = 0; h < m->H; h++)
        for (int v = 0; v < 2 * N; v++)
            for (int d = 0; d < D; d++)
                m->columns[(h * D + d) * 2 * Np + (v < N ? v : v - N + Np)] =
                    m->p->unit[(h * 2 * N + v) * D + d];
}

static struct made make_all(struct pw_ctx *c, const struct pw_planes *p, const int *pos, int R, size_t more)
{
    struct made m = {.p = p, .H = p->heads, .D = p->head_width, .N = p->planes, .Np = pw_to_16(p->planes)};
    int last = pos[0];
    m.first = pos[0];
    for (int r = 1; r < R; r++) {
        m.first = pos[r] < m.first ? pos[r] : m.first;
        last = pos[r] > last ? pos[r] : last;
    }
    m.ids = last - m.first + 1;
    size_t columns = (size_t)(m.H * m.D * 2 * m.Np), shared = (size_t)(m.ids < R ? m.ids : R),
           angles = shared * (size_t)(m.H * m.Np), planes = (size_t)pw_to_16(m.H * m.N);
    float *room = pw_ctx_scratch(c, columns + 3 * angles + 2 * planes + (size_t)m.ids + more);
    double *frequency = (double *)(void *)room;
    m.columns = room + 2 * planes;
    m.less = m.columns + columns;
    m.sine = m.less + angles;
    m.angle = m.sine + angles;
    m.rest = m.angle + angles;
    m.slot = (int *)(void *)(m.rest + more);
    make_columns(&m);
    make_angles(&m, frequency, pos, R);
    return m;
}

/* The numbers of q and k of one head of a row, [Np] each: the changes e and f of their coefficients, and in
 * the backward pass dp and dq. */
struct head {
    float *e[2], *f[2], *dp[2], *dq[2];
};

/* Floats of a struct head, and their places. */
static size_t head_floats(const struct pw_planes *p)
{
    return 8 * (size_t)pw_to_16(p->planes);
}

static struct head head_in(float *room, int Np)
{
    struct head x;
    for (int k = 0; k < 2; k++, room += 4 * Np) {
        x.e[k] = room;
        x.f[k] = room + Np;
        x.dp[k] = room + 2 * Np;
        x.dq[k] = room + 3 * Np;
    }
    return x;
}

V_INLINE v16 negative(v16 a, v16 b)
{
    return v_sub(v_zero(), v_mul(a, b));
}

/* p and q [n]: sixteen products of each of n vectors x with the first and the second vectors of a head, from
 * plane j on. */
V_INLINE void multiply_vectors(v16 *p, v16 *q, const float *const *x, int n, const struct made *m, int h,
                               int j)
{
    const float *u = m->columns + (size_t)(h * m->D) * 2 * (size_t)m->Np + j, *v = u + m->Np;
    V_UNROLL
    for (int k = 0; k < n; k++)
        p[k] = q[k] = v_zero();
    for (int d = 0; d < m->D; d++, u += 2 * m->Np, v += 2 * m->Np) {
        v16 first = v_load(u), second = v_load(v);
        V_UNROLL
        for (int k = 0; k < n; k++) {
            v16 by = v_set(x[k][d]);
            p[k] = v_fma(by, first, p[k]);
            q[k] = v_fma(by, second, q[k]);
        }
    }
}

/* x: q and k of the head. */
static void turn_head(const struct made *m, const struct head *to, const float *const x[2], int h, size_t at)
{
    for (int j = 0; j < m->Np; j += 16) {
        v16 p[2], q[2], C = v_load(m->less + at + j), S = v_load(m->sine + at + j);
        multiply_vectors(p, q, x, 2, m, h, j);
        V_UNROLL
        for (int k = 0; k < 2; k++) {
            v_store(to->e[k] + j, v_fma(C, p[k], v_mul(S, q[k])));
            v_store(to->f[k] + j, v_fma(C, q[k], negative(S, p[k])));
        }
    }
}

/* y [D] = x + the sum over planes of a and u, b and v; for q and for k of a head. */
static void add_vectors(const struct made *m, float *const y[2], const float *const x[2], float *const a[2],
                        float *const b[2], int h)
{
    int D = m->D, N = m->N;
    const float *u = m->p->unit + (size_t)(h * 2 * N * D), *v = u + N * D;
    for (int i = 0; i < D; i += 16) {
        v16 q = v_load_n(x[0] + i, D - i), k = v_load_n(x[1] + i, D - i);
        for (int j = 0; j < N; j++) {
            v16 first = v_load_n(u + j * D + i, D - i), second = v_load_n(v + j * D + i, D - i);
            q = v_fma(v_set(b[0][j]), second, v_fma(v_set(a[0][j]), first, q));
            k = v_fma(v_set(b[1][j]), second, v_fma(v_set(a[1][j]), first, k));
        }
        v_store_n(y[0] + i, D - i, q);
        v_store_n(y[1] + i, D - i, k);
    }
}

/* The place of an id's numbers of head h. */
static size_t angles_at(const struct made *m, int id, int h)
{
    return ((size_t)m->slot[id - m->first] * (size_t)m->H + (size_t)h) * (size_t)m->Np;
}

void PW_OP(planes_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_planes *p,
                       const int *pos, int R)
{
    if (R == 0)
        return;
    struct made m = make_all(c, p, pos, R, head_floats(p));
    struct head to = head_in(m.rest, m.Np);
    int H = m.H, D = m.D;
    for (int r = 0; r < R; r++, qkv += 3 * H * D, y += 2 * H * D)
        for (int h = 0; h < H; h++) {
            const float *x[2] = {qkv + h * D, qkv + (H + h) * D};
            float *turned[2] = {y + h * D, y + (H + h) * D};
            turn_head(&m, &to, x, h, angles_at(&m, pos[r], h));
            add_vectors(&m, turned, x, to.e, to.f, h);
        }
}

/* Like turn_head, with the gradients of the turned q and k behind them in x; adds to d_log_factor [N] of the
 * head. */
static void turn_back(const struct made *m, const struct head *to, float *d_log_factor,
                      const float *const x[4], int h, size_t at)
{
    for (int j = 0; j < m->Np; j += 16) {
        v16 p[4], q[4], C = v_load(m->less + at + j), S = v_load(m->sine + at + j);
        v16 cosine = v_add(C, v_set(1)), sum = v_load_n(d_log_factor + j, m->N - j);
        multiply_vectors(p, q, x, 4, m, h, j);
        V_UNROLL
        for (int k = 0; k < 2; k++) {
            v16 A = p[2 + k], B = q[2 + k];
            v_store(to->e[k] + j, v_fma(C, p[k], v_mul(S, q[k])));
            v_store(to->f[k] + j, v_fma(C, q[k], negative(S, p[k])));
            v_store(to->dp[k] + j, v_fma(C, A, negative(S, B)));
            v_store(to->dq[k] + j, v_fma(C, B, v_mul(S, A)));
            v16 of_u = v_fma(cosine, q[k], negative(S, p[k])), of_v = v_fma(cosine, p[k], v_mul(S, q[k]));
            sum = v_fma(v_fma(A, of_u, negative(B, of_v)), v_load(m->angle + at + j), sum);
        }
        v_store_n(d_log_factor + j, m->N - j, sum);
    }
}

/* d [N,D] += for q, then for k: the products of a and the gradient g, then of b and x. */
static void add_units(float *d, float *const a[2], float *const b[2], const float *const x[4], int N, int D)
{
    const float *const *g = x + 2;
    for (int j = 0; j < N; j++, d += D)
        for (int i = 0; i < D; i += 16) {
            v16 sum = v_load_n(d + i, D - i);
            V_UNROLL
            for (int k = 0; k < 2; k++) {
                sum = v_fma(v_set(a[k][j]), v_load_n(g[k] + i, D - i), sum);
                sum = v_fma(v_set(b[k][j]), v_load_n(x[k] + i, D - i), sum);
            }
            v_store_n(d + i, D - i, sum);
        }
}

void PW_OP(planes_bwd)(struct pw_ctx *c, float *dqkv, float *d_unit, float *d_log_factor, const float *dy,
                       const float *qkv, const struct pw_planes *p, const int *pos, int R)
{
    if (R == 0)
        return;
    struct made m = make_all(c, p, pos, R, head_floats(p));
    struct head to = head_in(m.rest, m.Np);
    int H = m.H, D = m.D, N = m.N;
    for (int r = 0; r < R; r++, qkv += 3 * H * D, dqkv += 3 * H * D, dy += 2 * H * D)
        for (int h = 0; h < H; h++) {
            const float *x[4] = {qkv + h * D, qkv + (H + h) * D, dy + h * D, dy + (H + h) * D};
            float *dx[2] = {dqkv + h * D, dqkv + (H + h) * D}, *d = d_unit + (size_t)(h * 2 * N * D);
            turn_back(&m, &to, d_log_factor + h * N, x, h, angles_at(&m, pos[r], h));
            add_units(d, to.e, to.dp, x, N, D);
            add_units(d + N * D, to.f, to.dq, x, N, D);
            add_vectors(&m, dx, x + 2, to.dp, to.dq, h);
        }
}
