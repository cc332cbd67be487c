/* planes.c - q and k turned in planes (kernels/backend.h).
 *
 * A row is a product with the unit vectors, a turn of each pair of coefficients, and the sum of the vectors
 * with the changes of their coefficients. The first needs the vectors as columns, the second as rows.
 * Angles cost a cosine and a sine in double precision each, so rows with the same id share them. */
#include "base/maths.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

#include <string.h>

/* What all rows of a chunk read, in scratch. Np: N rounded up to 16. */
struct made {
    const struct pw_planes *p;
    int H, D, N, Np, ids;
    float *columns;             /* [H,D,2Np] unit vectors; zeros beyond N */
    float *less, *sine, *angle; /* [ids,H,Np] cos - 1, sin, the angle */
    int *slot;                  /* [ids]: where the numbers of an id are, from the first id on; -1: nowhere */
    int first;
    float *rest; /* for the caller */
};

static int round_up(int n)
{
    return (n + 15) / 16 * 16;
}

/* Numbers of plane j of head h at an id. */
static void turn_plane(struct made *m, double *frequency, size_t to, int id)
{
    const struct pw_planes *p = m->p;
    double place = p->from + (double)id * p->step;
    for (int h = 0; h < m->H; h++)
        for (int j = 0; j < m->Np; j++, to++) {
            double angle = j < m->N ? place * frequency[h * m->N + j] : 0;
            m->less[to] = (float)(pw_cos(angle) - 1);
            m->sine[to] = (float)pw_sin(angle);
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
    struct made m = {.p = p, .H = p->heads, .D = p->head_width, .N = p->planes, .Np = round_up(p->planes)};
    int last = pos[0];
    m.first = pos[0];
    for (int r = 1; r < R; r++) {
        m.first = pos[r] < m.first ? pos[r] : m.first;
        last = pos[r] > last ? pos[r] : last;
    }
    m.ids = last - m.first + 1;
    size_t columns = (size_t)(m.H * m.D * 2 * m.Np), shared = (size_t)(m.ids < R ? m.ids : R),
           angles = shared * (size_t)(m.H * m.Np), planes = (size_t)round_up(m.H * m.N);
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

/* The numbers of one head of a row, [Np] each: the changes e and f of its coefficients, and in the backward
 * pass dp and dq. */
struct head {
    float *e, *f, *dp, *dq;
};

/* Sixteen coefficients of x for the vectors at a column. */
V_INLINE v16 product(const float *x, const float *column, int D, int stride)
{
    v16 sum = v_zero();
    for (int d = 0; d < D; d++)
        sum = v_fma(v_set(x[d]), v_load(column + (size_t)d * (size_t)stride), sum);
    return sum;
}

V_INLINE v16 negative(v16 a, v16 b)
{
    return v_sub(v_zero(), v_mul(a, b));
}

static void turn_head(const struct made *m, const struct head *to, const float *x, int h, size_t at)
{
    const float *columns = m->columns + (size_t)(h * m->D) * 2 * (size_t)m->Np;
    for (int j = 0; j < m->Np; j += 16) {
        v16 p = product(x, columns + j, m->D, 2 * m->Np),
            q = product(x, columns + m->Np + j, m->D, 2 * m->Np);
        v16 C = v_load(m->less + at + j), S = v_load(m->sine + at + j);
        v_store(to->e + j, v_fma(C, p, v_mul(S, q)));
        v_store(to->f + j, v_fma(C, q, negative(S, p)));
    }
}

/* y [D] = x + the sum over planes of e and u, f and v. */
static void add_vectors(const struct made *m, float *y, const float *x, const float *e, const float *f, int h)
{
    int D = m->D, N = m->N;
    const float *u = m->p->unit + (size_t)(h * 2 * N * D), *v = u + N * D;
    for (int i = 0; i < D; i += 16) {
        v16 sum = v_load_n(x + i, D - i);
        for (int j = 0; j < N; j++) {
            sum = v_fma(v_set(e[j]), v_load_n(u + j * D + i, D - i), sum);
            sum = v_fma(v_set(f[j]), v_load_n(v + j * D + i, D - i), sum);
        }
        v_store_n(y + i, D - i, sum);
    }
}

void PW_OP(planes_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_planes *p,
                       const int *pos, int R)
{
    if (R == 0)
        return;
    struct made m = make_all(c, p, pos, R, 2 * (size_t)round_up(p->planes));
    struct head to = {.e = m.rest, .f = m.rest + m.Np};
    int H = m.H, D = m.D;
    for (int r = 0; r < R; r++, qkv += H * D)
        for (int k = 0; k < 2 * H; k++, qkv += D, y += D) {
            int h = k % H;
            size_t at = ((size_t)m.slot[pos[r] - m.first] * (size_t)H + (size_t)h) * (size_t)m.Np;
            turn_head(&m, &to, qkv, h, at);
            add_vectors(&m, y, qkv, to.e, to.f, h);
        }
}

/* Like turn_head, with the gradient dy of the turned x; adds to d_log_factor [N] of the head. */
static void turn_back(const struct made *m, const struct head *to, float *d_log_factor, const float *x,
                      const float *dy, int h, size_t at)
{
    int D = m->D, stride = 2 * m->Np;
    const float *columns = m->columns + (size_t)(h * D) * (size_t)stride;
    for (int j = 0; j < m->Np; j += 16) {
        const float *u = columns + j, *v = u + m->Np;
        v16 p = product(x, u, D, stride), q = product(x, v, D, stride);
        v16 A = product(dy, u, D, stride), B = product(dy, v, D, stride);
        v16 C = v_load(m->less + at + j), S = v_load(m->sine + at + j), cosine = v_add(C, v_set(1));
        v_store(to->e + j, v_fma(C, p, v_mul(S, q)));
        v_store(to->f + j, v_fma(C, q, negative(S, p)));
        v_store(to->dp + j, v_fma(C, A, negative(S, B)));
        v_store(to->dq + j, v_fma(C, B, v_mul(S, A)));
        v16 of_u = v_fma(cosine, q, negative(S, p)), of_v = v_fma(cosine, p, v_mul(S, q));
        v16 by = v_fma(A, of_u, negative(B, of_v));
        v_store_n(d_log_factor + j, m->N - j,
                  v_fma(by, v_load(m->angle + at + j), v_load_n(d_log_factor + j, m->N - j)));
    }
}

/* d [N,D] += the products of a and g, then of b and x. */
static void add_units(float *d, const float *a, const float *g, const float *b, const float *x, int N, int D)
{
    for (int j = 0; j < N; j++, d += D)
        for (int i = 0; i < D; i += 16) {
            v16 sum = v_fma(v_set(a[j]), v_load_n(g + i, D - i), v_load_n(d + i, D - i));
            v_store_n(d + i, D - i, v_fma(v_set(b[j]), v_load_n(x + i, D - i), sum));
        }
}

void PW_OP(planes_bwd)(struct pw_ctx *c, float *dqkv, float *d_unit, float *d_log_factor, const float *dy,
                       const float *qkv, const struct pw_planes *p, const int *pos, int R)
{
    if (R == 0)
        return;
    struct made m = make_all(c, p, pos, R, 4 * (size_t)round_up(p->planes));
    struct head to = {m.rest, m.rest + m.Np, m.rest + 2 * m.Np, m.rest + 3 * m.Np};
    int H = m.H, D = m.D, N = m.N;
    for (int r = 0; r < R; r++, qkv += H * D, dqkv += H * D)
        for (int k = 0; k < 2 * H; k++, qkv += D, dqkv += D, dy += D) {
            int h = k % H;
            size_t at = ((size_t)m.slot[pos[r] - m.first] * (size_t)H + (size_t)h) * (size_t)m.Np;
            float *d = d_unit + (size_t)(h * 2 * N * D);
            turn_back(&m, &to, d_log_factor + h * N, qkv, dy, h, at);
            add_units(d, to.e, dy, to.dp, qkv, N, D);
            add_units(d + N * D, to.f, dy, to.dq, qkv, N, D);
            add_vectors(&m, dqkv, dy, to.dp, to.dq, h);
        }
}
