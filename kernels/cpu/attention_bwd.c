/* attention_bwd.c - the backward pass of attention.c. */
#include "kernels/cpu/attention_block.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/mix.h"
#include "kernels/score.h"

#include <assert.h>
#include <math.h>

/* Turn ds, which holds dP of queries i .. i+m-1 on cols keys, into dS = P * (dP - sum of P*dP); p holds P. */
static void softmax_block_bwd(const struct pw_head *hd, float *ds, const float *p, int i, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    float sum[PW_BLOCK];
    for (int r = 0; r < m; r++) {
        int own = pw_keys_before(hd, i + r + 1);
        size_t row = (size_t)r * Tp;
        v16 total = v_zero();
        for (int j = 0; j < cols; j += 16) {
            v16 t = v_fma(v_load(p + row + j), v_load(ds + row + j), total);
            total = v_select(pw_attn_seen_lanes(own - j), t, total);
        }
        sum[r] = v_tree(total);
    }
    for (int r = 0; r < m; r++) {
        size_t row = (size_t)r * Tp;
        v16 total = v_set(sum[r]);
        for (int j = 0; j < cols; j += 16) /* hidden keys: p is 0 */
            v_store(ds + row + j, v_mul(v_load(p + row + j), v_sub(v_load(ds + row + j), total)));
        for (int j = cols; j < hd->Tp; j += 16)
            v_store(ds + row + j, v_zero());
    }
}

/* Multiply ds of m queries by the derivatives of the function of scores, on cols keys. */
static void slope_block(const struct pw_head *hd, float *ds, const float *slope, int i, int m, int cols)
{
    for (int r = 0; r < m; r++, ds += hd->Tp, slope += hd->Tp)
        for (int j = 0, own = pw_keys_before(hd, i + r + 1); j < cols; j += 16) {
            v16 v = v_mul(v_load(ds + j), v_load(slope + j));
            v_store(ds + j, v_select(pw_attn_seen_lanes(own - j), v, v_zero()));
        }
}

/* Add to the gradients of the learned numbers of the function of scores, from ds of m queries before
 * slope_block. scores: those that the function reads. */
static __attribute__((noinline)) void learned_block(const struct pw_head *hd, const float *ds,
                                                    const float *scores, int i, int m)
{
    const struct pw_attn *a = hd->a;
    float *d = a->d_learned + (size_t)hd->h * (size_t)a->n_learned;
    for (int r = 0; r < m; r++, ds += hd->Tp, scores += hd->Tp)
        for (int k = 0; k < a->n_learned; k++) {
            float lanes[16] = {0}, by;
            for (int j = 0, own = pw_keys_before(hd, i + r + 1); j < own; j++) {
                struct pw_score_pair pair = {hd->pos[i + r], hd->pos[j], hd->h, pw_attn_learned(a, hd->h)};
                pw_score_along(a->score, pair, scores[j], k, &by);
                lanes[j % 16] = fmaf(ds[j], by, lanes[j % 16]);
            }
            d[k] += v_tree(v_load(lanes));
        }
}

static void scale_rows(float *y, size_t stride, int R, int n, float scale)
{
    for (int r = 0; r < R; r++, y += stride)
        for (int i = 0; i < n; i += 16)
            v_store_n(y + i, n - i, v_mul(v_load_n(y + i, n - i), v_set(scale)));
}

/* The backward pass of a chunk; the scratch is that of one head after the other. */
struct bwd {
    const struct pw_attn *a;
    float *dqkv, *d_bias, *d_keys, *d_terms;
    const float *dz, *qkv;
    const int *pos;
    const struct pw_seqs *s;
    const float *save, *slope; /* of the sequence */
    const float *votes;        /* of the sequence, with selection */
    size_t third;              /* floats from the second saved map to the third */
    float *vt, *q, *k, *g, *ds, *masked, *bias;
    float *sums;  /* [T,Tp] sums of dS over the heads; with selection */
    float *steps; /* scratch of a walk */
    struct pw_relative relative;
    struct pw_context places;
    struct pw_mixing mixing;
};

/* Write dS of queries i .. i+m-1, the gradient of their scores before any scan. by: of the second map. */
static void score_grad(struct bwd *f, const struct pw_head *hd, const float *save, const float *by, int i,
                       int m)
{
    const struct pw_attn *a = f->a;
    size_t Tp = (size_t)hd->Tp, Dp = (size_t)hd->Dp;
    int cols = pw_to_16(pw_keys_before(hd, i + m));
    float *d = f->ds + (size_t)i * Tp;
    pw_product(m, cols, hd->D, f->g + (size_t)i * Dp, Dp, 1, f->vt, Tp, d, Tp, false);
    if (a->drop != NULL)
        pw_attn_drop_block(hd, d, d, i, m);
    if (a->scan.kind == PW_SCAN_STICK)
        PW_OP(stick_block_bwd)(hd, d, save, by, i, m, cols);
    else
        softmax_block_bwd(hd, d, save, i, m, cols);
    if (a->d_learned != NULL)
        learned_block(hd, d, by + f->third, i, m);
    if (a->score != NULL)
        slope_block(hd, d, by, i, m, cols);
    if (a->scan.kind == PW_SCAN_CONTEXT)
        PW_OP(context_back)(&f->places, hd, d, by, i, m, cols);
}

/* Write dq of these queries from their dS, before scaling. */
static void query_grad(struct bwd *f, const struct pw_head *hd, float *dq, int i, int m)
{
    size_t Ep = (size_t)pw_to_16(hd->E), Tp = (size_t)hd->Tp;
    float *d = f->ds + (size_t)i * Tp, *to = dq + (size_t)i * hd->qw;
    if (f->a->walk == NULL)
        pw_product(m, hd->E, pw_keys_before(hd, i + m), d, Tp, 1, f->k, Ep, to, hd->qw, false);
    if (f->a->keys != NULL)
        PW_OP(relative_dq)(&f->relative, hd, to, d, i, m);
    if (f->a->mix != NULL)
        PW_OP(mix_dweights)(&f->mixing, hd, d, i, m);
}

/* Write dk and dv, before scaling. p: the factor of v in the forward pass. */
static void key_grads(struct bwd *f, const struct pw_head *hd, float *dk, float *dv, const float *p)
{
    size_t Tp = (size_t)hd->Tp, Dp = (size_t)hd->Dp, Ep = (size_t)pw_to_16(hd->E), w = hd->w;
    for (int j = 0, step = pw_attn_block_rows(hd->T), m; j < hd->T; j += m) {
        m = pw_attn_least(step, hd->T - j);
        int first = f->a->causal ? j : 0; /* first query that sees a key of this block */
        size_t at = (size_t)first * Tp + (size_t)j;
        if (f->a->walk == NULL)
            pw_product(m, hd->E, hd->T - first, f->ds + at, 1, Tp, f->q + (size_t)first * Ep, Ep,
                       dk + (size_t)j * hd->qw, hd->qw, false);
        pw_product(m, hd->D, hd->T - first, p + at, 1, Tp, f->g + (size_t)first * Dp, Dp, dv + (size_t)j * w,
                   w, false);
    }
}

/* Add to the gradients of what the encoding adds to scores. */
static void encoding_grads(struct bwd *f, const struct pw_head *hd, float *dq)
{
    const struct pw_attn *a = f->a;
    if (f->d_bias != NULL)
        PW_OP(head_bias_grad)(hd, f->d_bias, f->ds);
    if (f->d_terms != NULL)
        PW_OP(head_terms_grad)(hd, f->d_terms, f->ds);
    if (a->scan.kind == PW_SCAN_CONTEXT)
        PW_OP(context_rows)(&f->places, hd, dq, f->d_keys, f->q);
    if (hd->slopes != NULL) {
        PW_OP(head_bias_load)(hd);
        PW_OP(head_slopes_grad)(hd, a->made->d_slopes, f->ds);
    }
    if (f->d_keys != NULL && a->keys != NULL)
        PW_OP(relative_dkeys)(&f->relative, hd, f->d_keys, f->q);
    if (a->mix != NULL)
        PW_OP(mix_dbank)(&f->mixing, hd);
}

/* With selection, dq of head 0 needs dS of all its queries and of all other heads, so it comes last. */
static void bwd_head(struct bwd *f, const float *qk, int n, int h)
{
    const struct pw_attn *a = f->a;
    struct pw_head hd = pw_attn_head_of(f->qkv, qk, a, f->pos, f->s, n, h, f->bias);
    int D = hd.D, E = hd.E;
    bool select = a->scan.kind == PW_SCAN_SELECT, last = select && h == 0;
    size_t Tp = (size_t)hd.Tp, C = (size_t)(a->heads * D), map = (size_t)hd.T * Tp, base = (size_t)hd.base;
    const float *save = f->save + (size_t)h * map, *slope = f->slope + (size_t)h * map, *p = save;
    float *dq = (pw_attn_is_wide(a) ? a->made->d_wide : f->dqkv) + base * hd.qw + h * E;
    float *dk = dq + a->heads * E, *dv = f->dqkv + base * hd.w + 2 * C + h * D;
    if (a->drop != NULL) {
        pw_attn_drop_block(&hd, f->masked, save, 0, hd.T);
        p = f->masked;
    }
    PW_OP(pack_transposed)(f->vt, Tp, hd.v, hd.w, hd.T, D);
    PW_OP(pack_rows)(f->q, (size_t)pw_to_16(E), hd.q, hd.qw, hd.T, E);
    PW_OP(pack_rows)(f->k, (size_t)pw_to_16(E), hd.k, hd.qw, hd.T, E);
    PW_OP(pack_rows)(f->g, (size_t)hd.Dp, f->dz + base * C + h * D, C, hd.T, D);
    int step = pw_attn_block_rows(hd.T);
    for (int i = 0, m; i < hd.T; i += m) {
        m = pw_attn_least(step, hd.T - i);
        score_grad(f, &hd, save + (size_t)i * Tp, slope + (size_t)i * Tp, i, m);
        if (!last)
            query_grad(f, &hd, dq, i, m);
    }
    if (select)
        PW_OP(select_collect)(&hd, f->sums, f->ds, h == 1 || a->heads == 1);
    if (last)
        PW_OP(select_back)(&hd, f->ds, f->sums, f->votes);
    for (int i = 0, m; last && i < hd.T; i += m) {
        m = pw_attn_least(step, hd.T - i);
        query_grad(f, &hd, dq, i, m);
    }
    key_grads(f, &hd, dk, dv, p);
    if (a->walk != NULL)
        PW_OP(walk_grad)(&hd, dq, dk, f->ds, f->q, f->k, f->steps);
    scale_rows(dq, hd.qw, hd.T, E, a->scale);
    scale_rows(dk, hd.qw, hd.T, E, a->scale);
    encoding_grads(f, &hd, dq);
}

void PW_OP(attention_bwd)(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                          const float *dz, const float *z, const float *qkv, const float *save,
                          const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    int Tmax = pw_to_16(pw_attn_longest(s)), D = a->head_width, E = pw_attn_width(a);
    size_t cols = (size_t)D * (size_t)Tmax, rows = (size_t)Tmax * (size_t)pw_to_16(E);
    size_t square = (size_t)Tmax * (size_t)Tmax, dropped = a->drop != NULL ? square : 0;
    bool select = a->scan.kind == PW_SCAN_SELECT;
    size_t sums = select ? square : 0;
    size_t relative = PW_OP(relative_floats)(a, Tmax, true), context = PW_OP(context_floats)(a, Tmax, true);
    size_t shared = pw_bias_floats(Tmax) + pw_turned_floats(a, pw_attn_longest(s));
    size_t mix = PW_OP(mix_shared_floats)(a, Tmax, true), walk = PW_OP(walk_floats)(a, Tmax);
    float *vt = pw_ctx_scratch(c, cols + 3 * rows + square + dropped + sums + relative + context + shared +
                                      mix + walk);
    struct bwd f = {.a = a,
                    .dqkv = dqkv,
                    .d_bias = d_bias,
                    .d_keys = d_keys,
                    .d_terms = d_terms,
                    .dz = dz,
                    .qkv = qkv,
                    .pos = pos,
                    .s = s,
                    .save = save,
                    .vt = vt,
                    .q = vt + cols};
    f.k = f.q + rows;
    f.g = f.k + rows;
    f.ds = f.g + rows;
    f.masked = f.ds + square;
    f.sums = f.masked + dropped;
    float *rest = f.sums + sums, *room;
    f.bias = rest + relative + context;
    room = f.bias + pw_bias_floats(Tmax);
    PW_OP(relative_init)(&f.relative, a, Tmax, true, rest);
    PW_OP(context_init)(&f.places, a, Tmax, true, rest + relative);
    PW_OP(mix_init)(&f.mixing, a, Tmax, true, rest + relative + context + shared);
    f.steps = rest + relative + context + shared + mix;
    assert((d_bias == NULL || a->bias != NULL) &&
           (d_keys == NULL || a->keys != NULL || a->scan.rows != NULL));
    assert(d_terms == NULL || (a->terms != NULL && a->score == NULL));
    assert(a->d_learned == NULL || (a->score != NULL && a->learned != NULL));
    f.third = pw_attn_maps_floats(a->heads, s->start, s->n);
    f.slope = save + f.third;
    f.votes = f.slope;
    (void)z; /* not needed: with the probabilities at hand, P*dP is summed directly */
    for (int n = 0; n < s->n; n++) {
        int base = s->start[n], T = s->start[n + 1] - base;
        const float *qk = pw_attn_turned_seq(room, qkv, a, pos, s, n);
        for (int h = 0; h < a->heads; h++)
            bwd_head(&f, qk, n, select ? (h + 1) % a->heads : h);
        PW_OP(turn_back)(dqkv + (size_t)base * 3 * (size_t)(a->heads * D), a, pos, base, T, room);
        f.save += (size_t)a->heads * (size_t)T * (size_t)pw_to_16(T);
        f.slope += (size_t)a->heads * (size_t)T * (size_t)pw_to_16(T);
        f.votes += pw_attn_votes_floats(a, T);
    }
    if (a->mix != NULL)
        PW_OP(mix_store_dbank)(&f.mixing, a);
}
