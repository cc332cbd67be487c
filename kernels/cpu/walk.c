/* walk.c - the product of q and k by a walk (struct pw_walk; kernels/backend.h has its arithmetic), and its
 * gradients.
 *
 * The steps of a walk depend on each other, and each changes all entries of a vector. So 16 queries walk side
 * by side, one in each lane, and u is stored as [D,16]. A query enters its lane at its own key. Before that
 * the lane holds zeros, which leave every sum as it is.
 *
 * The backward pass can't invert a step: a reflection with the factor 1 is a projection. It walks down again,
 * keeps every u, and then follows the gradient up. Sums over queries stay in lanes until all queries have
 * been added. */
#include "kernels/cpu/attention_block.h"

#include <string.h>

enum { LANES = PW_BLOCK };

/* The rows that change u, of one head: of key j at vectors + j * apart, and factors[j * heads]. */
struct rows {
    const float *vectors, *factors;
    size_t apart, heads;
    bool reflects;
};

static struct rows rows_of(const struct pw_head *hd)
{
    const struct pw_walk *w = hd->a->walk;
    size_t H = (size_t)hd->a->heads, D = (size_t)hd->D, base = (size_t)hd->base, h = (size_t)hd->h;
    return (struct rows){.vectors = w->vectors + (base * H + h) * D,
                         .factors = w->factors != NULL ? w->factors + base * H + h : NULL,
                         .apart = H * D,
                         .heads = H,
                         .reflects = w->kind == PW_WALK_REFLECT};
}

/* The product of u [D,16] and x [D] in each lane. */
V_INLINE v16 dot(const float *u, const float *x, int D)
{
    v16 a = v_zero(), b = v_zero(), c = v_zero(), d = v_zero();
    int i = 0;
    for (; i + 4 <= D; i += 4, u += 4 * LANES) {
        a = v_fma(v_load(u), v_set(x[i]), a);
        b = v_fma(v_load(u + LANES), v_set(x[i + 1]), b);
        c = v_fma(v_load(u + 2 * LANES), v_set(x[i + 2]), c);
        d = v_fma(v_load(u + 3 * LANES), v_set(x[i + 3]), d);
    }
    if (i < D)
        a = v_fma(v_load(u), v_set(x[i]), a);
    if (i + 1 < D)
        b = v_fma(v_load(u + LANES), v_set(x[i + 1]), b);
    if (i + 2 < D)
        c = v_fma(v_load(u + 2 * LANES), v_set(x[i + 2]), c);
    return v_add(v_add(a, c), v_add(b, d));
}

/* Let key j's row change u; next, which may be u, receives the result. Returns the product of u and w. */
V_INLINE v16 take_step(const struct rows *rows, float *next, const float *u, int j, int D)
{
    const float *w = rows->vectors + (size_t)j * rows->apart;
    v16 t = v_zero();
    if (rows->reflects) {
        t = dot(u, w, D);
        v16 by = v_mul(v_set(-rows->factors[(size_t)j * rows->heads]), t);
        for (int d = 0; d < D; d++)
            v_store(next + d * LANES, v_fma(by, v_set(w[d]), v_load(u + d * LANES)));
    } else {
        for (int d = 0; d < D; d++)
            v_store(next + d * LANES, v_mul(v_load(u + d * LANES), v_set(w[d])));
    }
    for (int d = 0; j % 16 == 0 && d < D; d++) { /* so that long products have no subnormal numbers */
        v16 x = v_load(next + d * LANES);
        v_store(next + d * LANES, v_select(v_less(v_abs(x), v_set(0x1p-64f)), v_zero(), x));
    }
    return t;
}

static void put_lane(float *u, const float *q, int lane, int D)
{
    for (int d = 0; d < D; d++)
        u[d * LANES + lane] = q[d];
}

void PW_OP(walk_block)(const struct pw_head *hd, float *s, const float *q, const float *keys, size_t ld,
                       float *room, int i, int m)
{
    struct rows rows = rows_of(hd);
    size_t Tp = (size_t)hd->Tp;
    int D = hd->D, last = i + m - 1;
    memset(room, 0, LANES * (size_t)D * sizeof *room);
    for (int tile = last / LANES * LANES; tile >= 0; tile -= LANES) {
        v16 t[LANES] = {v_zero()};
        for (int j = pw_attn_least(last, tile + LANES - 1); j >= tile; j--) {
            if (j >= i)
                put_lane(room, q + (size_t)(j - i) * hd->qw, j - i, D);
            t[j - tile] = dot(room, keys + (size_t)j * ld, D);
            take_step(&rows, room, room, j, D);
        }
        v_transpose(t);
        for (int r = 0; r < m; r++)
            v_store(s + (size_t)r * Tp + tile, t[r]);
    }
}

/* ---- gradients */

/* Scratch of the backward pass. */
struct back {
    float *u;              /* [T,D,16] u at each key, of one block of queries */
    float *g;              /* [D,16] the gradient */
    float *keys, *vectors; /* [T,D,16] sums of dk, and of the rows' vectors */
    float *t, *factors;    /* [T,16] products of u and w; sums of the factors */
};

size_t PW_OP(walk_floats)(const struct pw_attn *a, int T)
{
    size_t row = LANES * (size_t)a->head_width;
    return a->walk != NULL ? (size_t)T * (3 * row + 2 * LANES) + row : 0;
}

static struct back divide(const struct pw_head *hd, float *room)
{
    size_t row = LANES * (size_t)hd->D, all = (size_t)hd->T * row;
    struct back b = {.keys = room, .vectors = room + all, .u = room + 2 * all, .g = room + 3 * all};
    b.factors = b.g + row;
    b.t = b.factors + LANES * (size_t)hd->T;
    memset(b.keys, 0, 2 * all * sizeof *room);
    memset(b.factors, 0, LANES * (size_t)hd->T * sizeof *room);
    return b;
}

/* Walk down again with the queries from i on, and keep u at each key. q [T,Dp]. */
static void keep_steps(const struct pw_head *hd, const struct rows *rows, const struct back *b,
                       const float *q, int i, int last)
{
    int D = hd->D;
    size_t row = LANES * (size_t)D;
    memset(b->u + (size_t)last * row, 0, row * sizeof *b->u);
    for (int j = last; j >= 0; j--) {
        float *u = b->u + (size_t)j * row, *next = j > 0 ? u - row : b->g;
        if (j >= i)
            put_lane(u, q + (size_t)j * (size_t)hd->Dp, j - i, D);
        v_store(b->t + j * LANES, take_step(rows, next, u, j, D));
    }
}

/* The gradient g passes key j, whose dS is ds. */
V_INLINE void pass_key(const struct pw_head *hd, const struct rows *rows, const struct back *b,
                       const float *k, v16 ds, int j)
{
    int D = hd->D;
    size_t row = LANES * (size_t)D * (size_t)j;
    const float *w = rows->vectors + (size_t)j * rows->apart, *u = b->u + row;
    float *keys = b->keys + row, *vectors = b->vectors + row, *sum = b->factors + j * LANES;
    v16 t = v_load(b->t + j * LANES), c = v_zero(), by = v_zero();
    if (rows->reflects) {
        c = dot(b->g, w, D);
        by = v_mul(v_set(-rows->factors[(size_t)j * rows->heads]), c);
        v_store(sum, v_fma(t, c, v_load(sum)));
    }
    for (int d = 0; d < D; d++) {
        int at = d * LANES;
        v16 x = v_load(u + at), g = v_load(b->g + at), old = v_load(vectors + at);
        v_store(keys + at, v_fma(ds, x, v_load(keys + at)));
        if (rows->reflects) {
            v_store(vectors + at, v_fma(t, g, v_fma(c, x, old)));
            g = v_fma(by, v_set(w[d]), g);
        } else {
            v_store(vectors + at, v_fma(g, x, old));
            g = v_mul(g, v_set(w[d]));
        }
        v_store(b->g + at, v_fma(ds, v_set(k[d]), g));
    }
}

/* Follow the gradient of queries i .. last up to their own keys. */
static void follow(const struct pw_head *hd, const struct rows *rows, const struct back *b, float *dq,
                   const float *ds, const float *k, int i, int last)
{
    size_t Tp = (size_t)hd->Tp;
    int D = hd->D;
    memset(b->g, 0, LANES * (size_t)D * sizeof *b->g);
    for (int tile = 0; tile <= last; tile += LANES) {
        v16 t[LANES];
        pw_attn_load_tile(t, ds + (size_t)i * Tp + tile, Tp, last - i + 1);
        v_transpose(t);
        for (int j = tile; j < tile + LANES && j <= last; j++) {
            pass_key(hd, rows, b, k + (size_t)j * (size_t)hd->Dp, t[j - tile], j);
            for (int d = 0; j >= i && d < D; d++)
                dq[(size_t)j * hd->qw + (size_t)d] = b->g[d * LANES + j - i];
        }
    }
}

/* Write the sums over queries. dk is multiplied by scale later, like dq. */
static void store_sums(const struct pw_head *hd, const struct rows *rows, const struct back *b, float *dk)
{
    const struct pw_walk *walk = hd->a->walk;
    float scale = hd->a->scale;
    size_t D = (size_t)hd->D;
    float *to = walk->d_vectors + (rows->vectors - walk->vectors);
    for (size_t j = 0; j < (size_t)hd->T; j++) {
        float by = rows->reflects ? -rows->factors[j * rows->heads] : 1.0f;
        for (size_t d = 0; d < D; d++) {
            size_t at = (j * D + d) * LANES;
            dk[j * hd->qw + d] = v_tree(v_load(b->keys + at));
            to[j * rows->apart + d] = v_tree(v_load(b->vectors + at)) * scale * by;
        }
        if (rows->reflects)
            walk->d_factors[(size_t)(rows->factors - walk->factors) + j * rows->heads] =
                -(v_tree(v_load(b->factors + j * LANES)) * scale);
    }
}

void PW_OP(walk_grad)(const struct pw_head *hd, float *dq, float *dk, const float *ds, const float *q,
                      const float *k, float *room)
{
    struct rows rows = rows_of(hd);
    struct back b = divide(hd, room);
    for (int i = 0; i < hd->T; i += LANES) {
        int last = pw_attn_least(i + LANES, hd->T) - 1;
        keep_steps(hd, &rows, &b, q, i, last);
        follow(hd, &rows, &b, dq, ds, k, i, last);
    }
    store_sums(hd, &rows, &b, dk);
}
