/* attention_bwd.c - the backward pass of attention.c. */
#include "kernels/cpu/attention_block.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/mix.h"

#include <assert.h>

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

static void scale_rows(float *y, size_t stride, int R, int n, float scale)
{
    for (int r = 0; r < R; r++, y += stride)
        for (int i = 0; i < n; i += 16)
            v_store_n(y + i, n - i, v_mul(v_load_n(y + i, n - i), v_set(scale)));
}

void PW_OP(attention_bwd)(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                          const float *dz, const float *z, const float *qkv, const float *save,
                          const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    int Tmax = pw_to_16(pw_attn_longest(s)), D = a->head_width, E = pw_attn_width(a);
    size_t C = (size_t)(a->heads * D);
    size_t cols = (size_t)D * (size_t)Tmax, rows = (size_t)Tmax * (size_t)pw_to_16(E);
    size_t square = (size_t)Tmax * (size_t)Tmax, dropped = a->drop != NULL ? square : 0;
    size_t relative = PW_OP(relative_floats)(a, Tmax, true), context = PW_OP(context_floats)(a, Tmax, true);
    size_t shared = pw_bias_floats(Tmax) + pw_turned_floats(a, pw_attn_longest(s));
    size_t mix = PW_OP(mix_shared_floats)(a, Tmax, true), walk = PW_OP(walk_floats)(a, Tmax);
    float *vt =
        pw_ctx_scratch(c, cols + 3 * rows + square + dropped + relative + context + shared + mix + walk);
    float *q = vt + cols, *k = q + rows, *g = k + rows, *ds = g + rows, *masked = ds + square;
    float *bias = masked + dropped + relative + context, *room = bias + pw_bias_floats(Tmax);
    float *steps = masked + dropped + relative + context + shared + mix;
    struct pw_relative x;
    struct pw_context places;
    struct pw_mixing y;
    PW_OP(relative_init)(&x, a, Tmax, true, masked + dropped);
    PW_OP(context_init)(&places, a, Tmax, true, masked + dropped + relative);
    PW_OP(mix_init)(&y, a, Tmax, true, masked + dropped + relative + context + shared);
    assert((d_bias == NULL || a->bias != NULL) &&
           (d_keys == NULL || a->keys != NULL || a->scan.rows != NULL));
    assert(d_terms == NULL || (a->terms != NULL && a->score == NULL));
    const float *slope = save + pw_attn_maps_floats(a->heads, s->start, s->n);
    (void)z; /* not needed: with the probabilities at hand, P*dP is summed directly */
    for (int n = 0; n < s->n; n++) {
        const float *qk = pw_attn_turned_seq(room, qkv, a, pos, s, n);
        for (int h = 0; h < a->heads; h++) {
            struct pw_head hd = pw_attn_head_of(qkv, qk, a, pos, s, n, h, bias);
            size_t Tp = (size_t)hd.Tp, Dp = (size_t)hd.Dp, w = hd.w, Ep = (size_t)pw_to_16(E), qw = hd.qw;
            const float *p = save; /* the factor of v in the forward pass */
            if (a->drop != NULL) {
                pw_attn_drop_block(&hd, masked, save, 0, hd.T);
                p = masked;
            }
            const float *dzh = dz + (size_t)s->start[n] * C + h * D;
            float *dq = (pw_attn_is_wide(a) ? a->made->d_wide : dqkv) + (size_t)s->start[n] * qw + h * E;
            float *dk = dq + a->heads * E, *dv = dqkv + (size_t)s->start[n] * w + 2 * C + h * D;
            PW_OP(pack_transposed)(vt, Tp, hd.v, w, hd.T, D);
            PW_OP(pack_rows)(q, Ep, hd.q, qw, hd.T, E);
            PW_OP(pack_rows)(k, Ep, hd.k, qw, hd.T, E);
            PW_OP(pack_rows)(g, Dp, dzh, C, hd.T, D);
            int step = pw_attn_block_rows(hd.T);
            for (int i = 0, m; i < hd.T; i += m) {
                m = pw_attn_least(step, hd.T - i);
                int seen = pw_keys_before(&hd, i + m);
                float *d = ds + (size_t)i * Tp;
                pw_product(m, pw_to_16(seen), D, g + (size_t)i * Dp, Dp, 1, vt, Tp, d, Tp, false);
                if (a->drop != NULL)
                    pw_attn_drop_block(&hd, d, d, i, m);
                const float *pi = save + (size_t)i * Tp, *by = slope + (size_t)i * Tp;
                if (a->scan.kind == PW_SCAN_STICK)
                    PW_OP(stick_block_bwd)(&hd, d, pi, by, i, m, pw_to_16(seen));
                else
                    softmax_block_bwd(&hd, d, pi, i, m, pw_to_16(seen));
                if (a->score != NULL)
                    slope_block(&hd, d, by, i, m, pw_to_16(seen));
                if (a->scan.kind == PW_SCAN_CONTEXT)
                    PW_OP(context_back)(&places, &hd, d, by, i, m, pw_to_16(seen));
                if (a->walk == NULL)
                    pw_product(m, E, seen, d, Tp, 1, k, Ep, dq + (size_t)i * qw, qw, false);
                if (a->keys != NULL)
                    PW_OP(relative_dq)(&x, &hd, dq + (size_t)i * qw, d, i, m);
                if (a->mix != NULL)
                    PW_OP(mix_dweights)(&y, &hd, d, i, m);
            }
            for (int j = 0, m; j < hd.T; j += m) {
                m = pw_attn_least(step, hd.T - j);
                int first = a->causal ? j : 0; /* first query that sees a key of this block */
                size_t at = (size_t)first * Tp + (size_t)j;
                if (a->walk == NULL)
                    pw_product(m, E, hd.T - first, ds + at, 1, Tp, q + (size_t)first * Ep, Ep,
                               dk + (size_t)j * qw, qw, false);
                pw_product(m, D, hd.T - first, p + at, 1, Tp, g + (size_t)first * Dp, Dp, dv + (size_t)j * w,
                           w, false);
            }
            if (a->walk != NULL)
                PW_OP(walk_grad)(&hd, dq, dk, ds, q, k, steps);
            scale_rows(dq, qw, hd.T, E, a->scale);
            scale_rows(dk, qw, hd.T, E, a->scale);
            if (d_bias != NULL)
                PW_OP(head_bias_grad)(&hd, d_bias, ds);
            if (d_terms != NULL)
                PW_OP(head_terms_grad)(&hd, d_terms, ds);
            if (a->scan.kind == PW_SCAN_CONTEXT)
                PW_OP(context_rows)(&places, &hd, dq, d_keys, q);
            if (hd.slopes != NULL) {
                PW_OP(head_bias_load)(&hd);
                PW_OP(head_slopes_grad)(&hd, a->made->d_slopes, ds);
            }
            if (d_keys != NULL && a->keys != NULL)
                PW_OP(relative_dkeys)(&x, &hd, d_keys, q);
            if (a->mix != NULL)
                PW_OP(mix_dbank)(&y, &hd);
            save += (size_t)hd.T * Tp;
            slope += (size_t)hd.T * Tp;
        }
        int base = s->start[n];
        PW_OP(turn_back)(dqkv + (size_t)base * 3 * C, a, pos, base, s->start[n + 1] - base, room);
    }
    if (a->mix != NULL)
        PW_OP(mix_store_dbank)(&y, a);
}
