/* walks.c - the rows of an encoding with a walk (pe.h, kernels/backend.h): projections of a layer's normed
 * input n, which the backend makes into vectors and factors.
 *
 * The vectors come from W2 (W1 n), or from W n + b, and the factors from V n + c. The projections are linear
 * layers like q, k and v, with packs of their own, as in gates.c. A convolution reads earlier rows, so a
 * decoder keeps the projections of all rows. */
#include <stdlib.h>

#include "model/reads.h"

/* The projections of a layer: n to the low rank, to the vectors, and to the factors. */
enum { DOWN, UP, FACTORS, PARTS };

static struct pw_pe_walk walk_of(const struct pw_model *m)
{
    return m->pe.pe->walk(m->pe.o.bytes, &m->cfg);
}

static size_t width_of(const struct pw_model *m)
{
    return (size_t)m->cfg.heads * (size_t)m->cfg.head_width;
}

/* Shape of a projection; out 0: there is none. */
static struct pw_mat shape_of(const struct pw_model *m, int part)
{
    struct pw_pe_walk walk = walk_of(m);
    int C = m->cfg.width, HD = (int)width_of(m);

    switch (part) {
    case DOWN: return (struct pw_mat){.out = walk.rank, .in = C};
    case UP: return (struct pw_mat){.out = HD, .in = walk.rank > 0 ? walk.rank : C};
    default: return (struct pw_mat){.out = walk.kind == PW_WALK_REFLECT ? m->cfg.heads : 0, .in = C};
    }
}

/* Offsets of the parameters of layer l; PW_ABSENT: there is none. */
struct place {
    size_t mat[PARTS], up_bias, conv, bias;
};

/* Returns the offset of layer l's n numbers of a parameter at *next, and moves *next past all layers. */
static size_t pass(const struct pw_model *m, size_t *next, int l, size_t n)
{
    size_t at = *next + (size_t)l * n;

    *next += (size_t)m->cfg.layers * n;
    return n > 0 ? at : PW_ABSENT;
}

static size_t floats_of(struct pw_mat mat)
{
    return (size_t)mat.out * (size_t)mat.in;
}

static struct place find_layer(const struct pw_model *m, int l)
{
    struct pw_pe_walk walk = walk_of(m);
    size_t next = m->lay.pe, HD = width_of(m);
    bool reflects = walk.kind == PW_WALK_REFLECT;
    struct place at;

    at.mat[DOWN] = pass(m, &next, l, floats_of(shape_of(m, DOWN)));
    at.mat[UP] = pass(m, &next, l, floats_of(shape_of(m, UP)));
    at.up_bias = pass(m, &next, l, reflects ? 0 : HD);
    at.conv = pass(m, &next, l, HD * (size_t)walk.taps);
    at.mat[FACTORS] = pass(m, &next, l, floats_of(shape_of(m, FACTORS)));
    at.bias = pass(m, &next, l, reflects ? (size_t)m->cfg.heads : 0);
    return at;
}

static struct pw_walk_rows rows_of(const struct pw_model *m, int l)
{
    struct pw_pe_walk walk = walk_of(m);

    return (struct pw_walk_rows){.kind = walk.kind,
                                 .heads = m->cfg.heads,
                                 .head_width = m->cfg.head_width,
                                 .taps = walk.taps,
                                 .conv = pw_at(m->p, find_layer(m, l).conv)};
}

/* Floats of the packs of one layer, with both directions. */
static size_t pack_floats(const struct pw_model *m)
{
    size_t sum = 0;

    for (int part = 0; part < PARTS; part++) {
        struct pw_mat one = shape_of(m, part);
        if (one.out > 0)
            sum += pw_packs_place_both(m->ops, &one, 1, NULL);
    }
    return sum;
}

/* Number of projections of a layer; they are the first of its place in m->walks. */
static int parts_of(const struct pw_model *m)
{
    int n = 0;

    for (int part = 0; part < PARTS; part++)
        n += shape_of(m, part).out > 0;
    return n;
}

static const struct pw_mat *mat_of(const struct pw_model *m, int l, int part)
{
    int i = l * parts_of(m);

    for (int k = 0; k < part; k++)
        i += shape_of(m, k).out > 0;
    return &m->walks[i];
}

enum pw_code pw_walks_init(struct pw_model *m, struct pw_err *err)
{
    int n = 0;

    if (!pw_walks(m))
        return PW_OK;
    size_t floats = (size_t)m->cfg.layers * pack_floats(m);
    m->walks = calloc((size_t)m->cfg.layers * PARTS, sizeof *m->walks);
    if (floats > 0)
        m->walk_pack = m->ops->alloc(m->be, floats * sizeof *m->walk_pack);
    if (m->walks == NULL || (floats > 0 && m->walk_pack == NULL))
        return pw_fail(err, PW_ENOMEM, "out of memory: the projections of the encoding need %zu MiB",
                       pw_walks_bytes(m) >> 20);
    for (int l = 0; l < m->cfg.layers; l++)
        for (int part = 0; part < PARTS; part++) {
            struct pw_mat s = shape_of(m, part);
            if (s.out == 0)
                continue;
            s.w = m->p + find_layer(m, l).mat[part];
            m->walks[n++] = s;
        }
    pw_packs_place_both(m->ops, m->walks, n, m->walk_pack);
    return PW_OK;
}

void pw_walks_fini(struct pw_model *m)
{
    m->ops->free(m->be, m->walk_pack);
    free(m->walks);
}

size_t pw_walks_bytes(const struct pw_model *m)
{
    return pw_walks(m) ? (size_t)m->cfg.layers * pack_floats(m) * sizeof *m->walk_pack : 0;
}

void pw_walks_prepare(struct pw_model *m)
{
    if (m->walks != NULL)
        m->ops->prepare(m->be, m->walks, m->cfg.layers * parts_of(m));
}

void pw_walks_carve(const struct pw_model *m, struct pw_walk_acts *a, size_t R,
                    float *(*take)(void *arg, size_t n), void *arg)
{
    if (!pw_walks(m))
        return;
    struct pw_pe_walk walk = walk_of(m);
    size_t H = (size_t)m->cfg.heads, HD = width_of(m);
    bool reflects = walk.kind == PW_WALK_REFLECT;
    a->low = walk.rank > 0 ? take(arg, R * (size_t)walk.rank) : NULL;
    a->pre = take(arg, R * HD);
    a->vectors = take(arg, R * HD);
    a->gate = reflects ? take(arg, R * H) : NULL;
    a->factors = reflects ? take(arg, R * H) : NULL;
}

int pw_model_walk_columns(const struct pw_model *m)
{
    if (!pw_walks(m))
        return 0;
    return walk_of(m).kind == PW_WALK_REFLECT ? m->cfg.heads : (int)width_of(m);
}

size_t pw_walk_row(const struct pw_model *m)
{
    return pw_walks(m) ? 2 * width_of(m) + (size_t)m->cfg.heads : 0;
}

void pw_walks_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                      struct pw_walk *walk, const struct pw_seqs *seqs, const struct pw_cache *cache, int R)
{
    if (m->walks == NULL)
        return;
    struct place at = find_layer(m, l);
    struct pw_walk_rows rows = rows_of(m, l);
    struct pw_walk_acts to = a->walk;
    size_t H = (size_t)m->cfg.heads, HD = width_of(m), T = 0;
    const float *x = a->n1;
    *walk = (struct pw_walk){.kind = rows.kind, .vectors = to.vectors, .factors = to.factors};
    if (cache != NULL) {
        float *layer = cache->walk + (size_t)l * (size_t)cache->cap * pw_walk_row(m);
        float *vectors = layer + (size_t)cache->cap * HD, *factors = vectors + (size_t)cache->cap * HD;
        T = (size_t)cache->T;
        to.pre = layer + T * HD;
        to.vectors = vectors + T * HD;
        to.factors = factors + T * H;
        walk->vectors = vectors;
        walk->factors = a->walk.factors != NULL ? factors : NULL;
    }
    if (to.low != NULL) {
        m->ops->linear_fwd(c, to.low, NULL, x, mat_of(m, l, DOWN), NULL, NULL, PW_ACT_NONE, R);
        x = to.low;
    }
    m->ops->linear_fwd(c, to.pre, NULL, x, mat_of(m, l, UP), pw_at(m->p, at.up_bias), NULL, PW_ACT_NONE, R);
    if (to.gate != NULL)
        m->ops->linear_fwd(c, to.gate, NULL, a->n1, mat_of(m, l, FACTORS), pw_at(m->p, at.bias), NULL,
                           PW_ACT_NONE, R);
    m->ops->walk_fwd(c, to.vectors, to.factors, to.pre, to.gate, (int)T, &rows, cache != NULL ? NULL : seqs,
                     R);
    attn->walk = walk;
}

void pw_walks_attend(const struct pw_model *m, const struct pw_work *w, int l, struct pw_attn *attn,
                     struct pw_walk *walk)
{
    const struct pw_walk_acts *a = &w->acts[l].walk;

    if (m->walks == NULL)
        return;
    *walk = (struct pw_walk){walk_of(m).kind, a->vectors, a->factors, w->d_walk.vectors, w->d_walk.factors};
    attn->walk = walk;
}

/* The backward pass of a projection from x: adds to the slot, and to dx if dx is not NULL; d_x receives the
 * gradient of x. */
static void back(struct pw_model *m, struct pw_ctx *c, const struct pw_slot *to, const struct pw_mat *mat,
                 size_t bias, const float *dy, const float *x, float *d_x, float *dx, int R)
{
    m->ops->linear_dw(c, pw_grad_at(m, to, (size_t)(mat->w - m->p)), pw_grad_at(m, to, bias), dy, x, true,
                      mat->out, mat->in, R);
    m->ops->linear_dx(c, d_x, dy, mat, PW_ACT_NONE, NULL, 1, R);
    if (dx != NULL)
        m->ops->add(c, dx, d_x, (size_t)R * (size_t)mat->in);
}

void pw_walks_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                       int l, const struct pw_seqs *seqs, float *dx, int R)
{
    const struct pw_walk_acts *a = &w->acts[l].walk, *d = &w->d_walk;
    const float *n1 = w->acts[l].n1;

    if (m->walks == NULL)
        return;
    struct place at = find_layer(m, l);
    struct pw_walk_rows rows = rows_of(m, l);
    m->ops->walk_bwd(c, d->pre, d->gate, pw_grad_at(m, to, at.conv), d->vectors, d->factors, a->pre, a->gate,
                     &rows, seqs);
    if (a->low != NULL) {
        back(m, c, to, mat_of(m, l, UP), at.up_bias, d->pre, a->low, d->low, NULL, R);
        back(m, c, to, mat_of(m, l, DOWN), PW_ABSENT, d->low, n1, w->d_gated, dx, R);
    } else {
        back(m, c, to, mat_of(m, l, UP), at.up_bias, d->pre, n1, w->d_gated, dx, R);
    }
    if (a->gate != NULL)
        back(m, c, to, mat_of(m, l, FACTORS), at.bias, d->gate, n1, w->d_gated, dx, R);
}
