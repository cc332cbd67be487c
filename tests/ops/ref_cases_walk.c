/* ref_cases_walk.c - cases of the product of q and k by a walk: its rows, attention, and decoding with a
 * cache. */
#include "tests/ops/ref_cases.h"

#include <math.h>

enum { SEQS = 3, P = 70 };

/* Random rows of a walk, R of them. Gates of a scaled walk are near 1, or so small that products are 0. */
static struct pw_walk_rows rows(struct ref_call *r, enum pw_walk_kind kind, int H, int D)
{
    struct pw_walk_rows w = {.kind = kind, .heads = H, .head_width = D};
    w.taps = kind == PW_WALK_REFLECT ? PICK(&r->s, 0, 1, 3, 3, 8) : 0;
    w.conv = ref_input(r, (size_t)(H * D * w.taps), 0.5f);
    return w;
}

static float *projection(struct ref_call *r, enum pw_walk_kind kind, size_t n)
{
    return ref_input(r, n, kind == PW_WALK_SCALE && ref_next(&r->s) % 3 == 0 ? 40.0f : 2.0f);
}

static struct pw_seqs sequences(struct ref_call *r, int *start)
{
    start[0] = 0;
    for (int i = 0; i < SEQS; i++)
        start[i + 1] = start[i] + PICK(&r->s, 1, 2, 7, 15, 16, 17, 20, 33, 48, 65);
    return (struct pw_seqs){SEQS, ref_copy(r, start, (SEQS + 1) * sizeof *start), start[SEQS], 65};
}

static void walk(struct ref_call *r, enum pw_walk_kind kind)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 5, 8, 16, 20, 33), start[SEQS + 1];
    struct pw_seqs seqs = sequences(r, start);
    struct pw_walk_rows w = rows(r, kind, H, D);
    int R = seqs.rows, half = PICK(&r->s, 1, 5, 20);
    size_t n = (size_t)(R * H * D), nf = (size_t)(R * H);
    float *y = projection(r, kind, n), *g = ref_input(r, nf, 2.0f), *dv = ref_input(r, n, 1.0f);
    float *df = ref_input(r, nf, 1.0f), *v = ref_output(r, n), *f = ref_output(r, nf);
    float *pieces = ref_output(r, n), *pieces_f = ref_output(r, nf), *dy = ref_output(r, n);
    float *dg = ref_output(r, nf), *d_conv = ref_output(r, (size_t)(H * D * w.taps));
    r->ops->walk_fwd(r->c, v, f, y, g, 0, &w, &seqs, R);
    r->ops->walk_bwd(r->c, dy, dg, d_conv, dv, df, y, g, &w, &seqs);
    half = half < R ? half : R; /* one sequence in two pieces, as in decoding */
    r->ops->walk_fwd(r->c, pieces, pieces_f, y, g, 0, &w, NULL, half);
    if (half < R)
        r->ops->walk_fwd(r->c, pieces + half * H * D, pieces_f + half * H, y + half * H * D, g + half * H,
                         half, &w, NULL, R - half);
}

/* Attention with a walk whose rows the table makes, and with a bias or a rotation in some cases. */
struct walked {
    struct pw_attn a;
    struct pw_walk walk;
    struct pw_turn turn;
};

static void walked(struct ref_call *r, struct walked *x, enum pw_walk_kind kind, int H, int D,
                   const struct pw_seqs *s, int R)
{
    size_t n = (size_t)(R * H * D), nf = (size_t)(R * H);
    struct pw_walk_rows w = rows(r, kind, H, D);
    const float *y = projection(r, kind, n), *g = ref_input(r, nf, 2.0f);
    float *vectors = ref_output(r, n), *factors = ref_output(r, nf);
    r->ops->walk_fwd(r->c, vectors, factors, y, g, 0, &w, s, R);
    bool reflects = kind == PW_WALK_REFLECT;
    x->walk = (struct pw_walk){kind, vectors, reflects ? factors : NULL, ref_output(r, n),
                               reflects ? ref_output(r, nf) : NULL};
    const float *bias = ref_input(r, (size_t)H * (2 * P - 1), 1.0f);
    bool biased = ref_next(&r->s) % 2, turns = D >= 2 && ref_next(&r->s) % 3 == 0;
    x->turn = ref_angles(r, P, H, D >= 2 ? D : 2);
    x->a = (struct pw_attn){.heads = H,
                            .head_width = D,
                            .scale = 1.0f / sqrtf((float)D),
                            .causal = true,
                            .bias = biased ? bias : NULL,
                            .table = P,
                            .turn = turns ? &x->turn : NULL,
                            .walk = &x->walk};
}

static void attention(struct ref_call *r, enum pw_walk_kind kind)
{
    int H = PICK(&r->s, 1, 2, 3), D = PICK(&r->s, 1, 4, 8, 16, 20, 35), start[SEQS + 1], order[SEQS * 65];
    size_t n_maps = 0;
    struct pw_seqs seqs = sequences(r, start);
    for (int i = 0; i < SEQS; i++)
        for (int t = start[i]; t < start[i + 1]; t++) {
            order[t] = t - start[i];
            n_maps += (size_t)(H * (start[i + 1] - start[i]));
        }
    size_t R = (size_t)start[SEQS], nz = R * (size_t)(H * D);
    struct walked x;
    walked(r, &x, kind, H, D, &seqs, (int)R);
    struct pw_dropout drop = ref_dropout(r);
    int *pos = ref_copy(r, order, R * sizeof *order);
    float *qkv = ref_input(r, 3 * nz, 1.0f), *dz = ref_input(r, nz, 1.0f);
    float *z = ref_output(r, nz), *dqkv = ref_output(r, 3 * nz), *scores = ref_output(r, n_maps);
    float *d_bias = ref_output(r, (size_t)H * (2 * P - 1));
    struct pw_maps maps = {.scores = ref_output(r, n_maps), .probs = ref_output(r, n_maps)};
    float *save = ref_own(r, r->ops->attn_save_floats(&x.a, start, SEQS));
    x.a.drop = ref_next(&r->s) % 3 == 0 ? &drop : NULL;
    bool shown = ref_next(&r->s) % 2;
    r->ops->scores(r->c, scores, qkv, &x.a, pos, &seqs);
    r->ops->attention_fwd(r->c, z, save, shown ? &maps : NULL, qkv, &x.a, pos, &seqs);
    r->ops->attention_bwd(r->c, dqkv, x.a.bias != NULL ? d_bias : NULL, NULL, NULL, dz, z, qkv, save, &x.a,
                          pos, &seqs);
}

static void cached(struct ref_call *r, enum pw_walk_kind kind)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20, 80), C = H * D, order[65];
    int n = PICK(&r->s, 1, 2, 7, 15, 16, 17, 20, 33, 48, 65), cap = n + PICK(&r->s, 0, 1, 5, 16, 40);
    size_t nz = (size_t)(n * C);
    for (int i = 0; i < n; i++)
        order[i] = i + 2;
    int *pos = ref_copy(r, order, (size_t)n * sizeof *order);
    struct walked x;
    walked(r, &x, kind, H, D, NULL, n);
    float *qkv = ref_input(r, 3 * nz, 1.0f), *z = ref_output(r, nz);
    float *cache = ref_own(r, r->ops->attn_cache_floats(H, D, cap));
    for (int t = 0, R; t < n; t += R) {
        R = PICK(&r->s, 1, 1, 2, 17, n);
        R = R < n - t ? R : n - t;
        r->ops->attention_cached(r->c, z + t * C, cache, qkv + t * 3 * C, &x.a, pos, cap, t, R);
    }
}

void ref_case_reflect(struct ref_call *r)
{
    walk(r, PW_WALK_REFLECT);
}

void ref_case_attention_reflect(struct ref_call *r)
{
    attention(r, PW_WALK_REFLECT);
}

void ref_case_cached_reflect(struct ref_call *r)
{
    cached(r, PW_WALK_REFLECT);
}

void ref_case_scale(struct ref_call *r)
{
    walk(r, PW_WALK_SCALE);
}

void ref_case_attention_scale(struct ref_call *r)
{
    attention(r, PW_WALK_SCALE);
}

void ref_case_cached_scale(struct ref_call *r)
{
    cached(r, PW_WALK_SCALE);
}
