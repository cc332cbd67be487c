/* ref_attention.c - reference for bits: attention, one query after the other. Rows of `save` have T entries,
 * rounded up to a multiple of 16. */
#include "kernels/score.h"
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"
#include "tests/ops/ref_wide.h"

#include <stdlib.h>

/* The relative key of two positions whose ids differ by `distance`. */
static const float *relative_key(const struct pw_attn *a, int distance)
{
    int low = a->causal ? 0 : -a->reach;
    int clipped = distance < low ? low : distance > a->reach ? a->reach : distance;
    return a->keys + (size_t)(clipped - low) * (size_t)a->head_width;
}

/* The index of the bias for a query and a key, by their position ids. */
static int bias_at(const struct pw_attn *a, int h, int query, int key)
{
    int P = a->table;
    return a->dense ? (h * P + query) * P + key : h * (2 * P - 1) + P - 1 + query - key;
}

/* Weight m of a query's row and head, times the gain of its row. */
static float weight_of(const struct pw_attn *a, const int *pos, int row, int h, int m)
{
    float w = a->mix->weights[(row * a->heads + h) * a->mix->mixes + m];
    bool gain = a->turn != NULL && a->turn->gain != NULL;
    return gain ? w * a->turn->gain[h * a->turn->gain_head + pos[row]] : w;
}

/* The bias of a row's query for a key, mixed from the bank. */
static float mixed(const struct pw_attn *a, const int *pos, int query, int key, int h)
{
    int distance = pos[query] - pos[key], reach = a->mix->reach;
    float sum = 0.0f;
    for (int m = 0; m < a->mix->mixes && distance >= 0 && distance < reach; m++)
        sum = fmaf(weight_of(a, pos, query, h, m), a->mix->bank[m * reach + distance], sum);
    return sum;
}

/* Query i and key j as a function of scores reads them. pos: ids of the sequence. */
static struct pw_score_pair pair_of(const struct pw_attn *a, const int *pos, int i, int j, int h)
{
    return (struct pw_score_pair){pos[i], pos[j], h,
                                  a->learned != NULL ? a->learned + h * a->n_learned : NULL};
}

/* Scores of query i (position in its sequence) against n keys. Unless slope is NULL, the derivatives of the
 * function of scores, and `map` floats later what a function that learns reads. base: first row of the
 * sequence. From here on, q and k are rotated. */
static void score_row(float *out, float *slope, size_t map, const float *qkv, const struct pw_attn *a,
                      const int *pos, int base, int i, int n, int h)
{
    int D = a->head_width, width = 3 * a->heads * D;
    const float *q = qkv + (size_t)(base + i) * (size_t)width + h * D;
    if (a->walk != NULL)
        ref_walk(out, q, qkv + (size_t)base * (size_t)width + (a->heads + h) * D, (size_t)width, a, base, i,
                 h);
    for (int j = 0; j < n; j++) {
        const float *k = qkv + (size_t)(base + j) * (size_t)width + (a->heads + h) * D;
        float v = 0.0f;
        for (int d = 0; d < D; d++)
            v = fmaf(q[d], k[d], v);
        v = a->walk != NULL ? out[j] : v;
        if (a->keys != NULL) {
            const float *relative = relative_key(a, pos[base + i] - pos[base + j]);
            float dot = 0.0f;
            for (int d = 0; d < D; d++)
                dot = fmaf(q[d], relative[d], dot);
            v = v + dot;
        }
        v = v * a->scale;
        if (a->bias != NULL)
            v = v + a->bias[bias_at(a, h, pos[base + i], pos[base + j])];
        if (a->terms != NULL)
            v = v + (a->terms[(base + i) * a->heads + h] - a->terms[(base + j) * a->heads + h]);
        if (a->mix != NULL)
            v = v + mixed(a, pos, base + i, base + j, h);
        if (a->made != NULL && a->made->slopes != NULL) {
            const float *both = a->made->slopes;
            float slope_q = both[(base + i) * 2 * a->heads + h];
            float slope_k = both[(base + j) * 2 * a->heads + a->heads + h];
            v = v + (float)(pos[base + j] - pos[base + i]) * (slope_q + slope_k);
        }
        float by = 1.0f;
        if (slope != NULL && a->learned != NULL)
            slope[map + (size_t)j] = v;
        if (a->score != NULL)
            v = pw_score_value(a->score, pair_of(a, pos + base, i, j, h), v, &by);
        out[j] = v;
        if (slope != NULL)
            slope[j] = by;
    }
    if (a->scan.kind == PW_SCAN_CONTEXT)
        ref_context(out, slope, q, a, i);
}

/* Votes of the sequence; NULL: there are none. */
static float *votes_of(const float *qkv, const struct pw_attn *a, int base, int T)
{
    return a->scan.kind == PW_SCAN_SELECT ? ref_votes(qkv, a, base, T) : NULL;
}

/* Does the forward pass save a second map? */
static bool saves_two(const struct pw_attn *a)
{
    return a->score != NULL || a->scan.kind == PW_SCAN_STICK || a->scan.kind == PW_SCAN_CONTEXT;
}

void PW_OP(scores)(struct pw_ctx *c, float *out, const float *qkv, const struct pw_attn *a, const int *pos,
                   const struct pw_seqs *s)
{
    if (ref_is_wide(a)) {
        ref_wide_scores(&ref_plain, out, qkv, a, pos, s);
        return;
    }
    float *rows = ref_turned(qkv, a, pos, s->start[s->n]);
    (void)c;
    for (int n = 0; n < s->n; n++) {
        int base = s->start[n], T = s->start[n + 1] - base;
        float *votes = votes_of(rows, a, base, T);
        for (int h = 0; h < a->heads; h++)
            for (int i = 0; i < T; i++, out += T) {
                int keys = a->causal ? i + 1 : T;
                score_row(out, NULL, 0, rows, a, pos, base, i, keys, h);
                if (votes != NULL)
                    ref_select(out, votes, T, i);
                for (int j = keys; j < T; j++)
                    out[j] = -INFINITY;
            }
        free(votes);
    }
    free(rows);
}

/* Counted in the order of attention_fwd: one row for every query of every head. */
static size_t maps_floats(int H, const int *start, int n_seqs)
{
    size_t sum = 0;
    for (int n = 0; n < n_seqs; n++)
        for (int row = 0; row < H * (start[n + 1] - start[n]); row++)
            for (int j = start[n]; j < start[n + 1]; j += 16)
                sum += 16;
    return sum;
}

size_t PW_OP(attn_save_floats)(const struct pw_attn *a, const int *start, int n_seqs)
{
    size_t n = maps_floats(a->heads, start, n_seqs);
    size_t votes = a->scan.kind == PW_SCAN_SELECT ? maps_floats(1, start, n_seqs) : 0; /* computed again */
    return a->learned != NULL ? n + n + n : saves_two(a) ? n + n : n + votes;
}

/* 1 without dropout. */
static float mask(const struct pw_attn *a, int h, int row, int col)
{
    return a->drop != NULL ? ref_mask(a->drop, h, row, col) : 1.0f;
}

static void plain_softmax(float *p, int keys)
{
    float max = -INFINITY, lane[16] = {0};
    for (int j = 0; j < keys; j++)
        max = p[j] > max ? p[j] : max;
    for (int j = 0; j < keys; j++) {
        p[j] = plain_exp(p[j] - max);
        lane[j % 16] += p[j];
    }
    float sum = plain_tree(lane);
    for (int j = 0; j < keys; j++)
        p[j] = p[j] / sum;
}

/* Query i of head h: its probabilities p [ld], 0 beyond its keys, and its output z [D]. votes: NULL, or those
 * of its sequence of T. */
static void attend(float *z, float *p, float *slope, size_t map, const float *qkv, const struct pw_attn *a,
                   const int *pos, const float *votes, int T, int base, int i, int keys, int ld, int h)
{
    int D = a->head_width, C = a->heads * D;
    score_row(p, slope, map, qkv, a, pos, base, i, keys, h);
    if (votes != NULL)
        ref_select(p, votes, T, i);
    if (a->scan.kind == PW_SCAN_STICK)
        ref_stick(p, slope, i);
    else
        plain_softmax(p, keys);
    for (int j = keys; j < ld; j++)
        p[j] = 0.0f;
    for (int d = 0; d < D; d++) {
        z[d] = 0.0f;
        for (int j = 0; j < keys; j++)
            z[d] = fmaf(p[j] * mask(a, h, base + i, j),
                        qkv[(size_t)(base + j) * 3 * (size_t)C + 2 * C + h * D + d], z[d]);
    }
}

void PW_OP(attention_fwd)(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                          const float *qkv, const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    if (ref_is_wide(a)) {
        ref_wide_fwd(&ref_plain, z, save, maps, qkv, a, pos, s);
        return;
    }
    float *probs = maps != NULL ? maps->probs : NULL, *rows = ref_turned(qkv, a, pos, s->start[s->n]);
    if (maps != NULL && maps->scores != NULL)
        PW_OP(scores)(c, maps->scores, qkv, a, pos, s);
    int D = a->head_width, C = a->heads * D;
    size_t slopes = maps_floats(a->heads, s->start, s->n);
    for (int n = 0; n < s->n; n++) {
        int base = s->start[n], T = s->start[n + 1] - base, ld = (T + 15) / 16 * 16;
        float *votes = votes_of(rows, a, base, T);
        for (int h = 0; h < a->heads; h++)
            for (int i = 0; i < T; i++, save += ld) {
                float *slope = saves_two(a) ? save + slopes : NULL;
                attend(z + (size_t)(base + i) * (size_t)C + h * D, save, slope, slopes, rows, a, pos, votes,
                       T, base, i, a->causal ? i + 1 : T, ld, h);
                if (probs != NULL) {
                    memcpy(probs, save, (size_t)T * sizeof *probs);
                    probs += T;
                }
            }
        free(votes);
    }
    free(rows);
}

/* The cache holds rows of q, k and v, rotated. */
size_t PW_OP(attn_cache_floats)(int H, int D, int cap)
{
    return (size_t)cap * 3 * (size_t)(H * D);
}

void PW_OP(attention_cached)(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                             const struct pw_attn *a, const int *pos, int cap, int T, int R)
{
    if (ref_is_wide(a)) {
        ref_wide_cached(&ref_plain, z, cache, qkv, a, pos, cap, T, R);
        return;
    }
    (void)c;
    int D = a->head_width, C = a->heads * D, n = T + R;
    float *p = malloc((size_t)cap * sizeof *p), *rows = ref_turned(qkv, a, pos != NULL ? pos + T : NULL, R);
    struct pw_attn whole = *a; /* with weights of all rows of the sequence */
    struct pw_mix mix = {0};
    float *weights = NULL;
    if (a->mix != NULL) {
        size_t row = (size_t)(a->heads * a->mix->mixes);
        mix = *a->mix;
        mix.weights = weights = calloc((size_t)n * row, sizeof *weights);
        memcpy(weights + (size_t)T * row, a->mix->weights, (size_t)R * row * sizeof *weights);
        whole.mix = &mix;
    }
    memcpy(cache + (size_t)T * 3 * (size_t)C, rows, (size_t)R * 3 * (size_t)C * sizeof *cache);
    float *votes = votes_of(cache, a, 0, n);
    for (int i = T; i < n; i++)
        for (int h = 0; h < a->heads; h++)
            attend(z + (size_t)(i - T) * (size_t)C + h * D, p, NULL, 0, cache, &whole, pos, votes, n, 0, i,
                   a->causal ? i + 1 : n, n, h);
    free(votes);
    free(weights);
    free(p);
    free(rows);
}

/* Adds the part of relative keys to dq [D] of query i of head h, and to d_keys. ds: the query's dS. */
static void relative_bwd(float *dq, float *d_keys, const float *ds, const float *q, const struct pw_attn *a,
                         const int *pos, int i, int keys)
{
    int D = a->head_width, rows = a->causal ? a->reach + 1 : 2 * a->reach + 1;
    for (int r = 0; r < rows; r++) {
        const float *row = a->keys + (size_t)r * (size_t)D;
        float lane[16] = {0};
        for (int j = 0; j < keys; j++)
            if (relative_key(a, pos[i] - pos[j]) == row)
                lane[j % 16] += ds[j];
        float sum = plain_tree(lane), scaled = sum * a->scale;
        for (int d = 0; d < D; d++) {
            dq[d] = fmaf(sum, row[d], dq[d]);
            if (d_keys != NULL)
                d_keys[r * D + d] = fmaf(scaled, q[d], d_keys[r * D + d]);
        }
    }
}

/* The gradients of the mix from dS of a row's query, which sees `keys` keys from row base on. */
static void mix_bwd(const float *ds, const struct pw_attn *a, const int *pos, int base, int row, int keys,
                    int h)
{
    const struct pw_mix *x = a->mix;
    bool gain = a->turn != NULL && a->turn->gain != NULL;
    float *e = calloc((size_t)x->reach, sizeof *e);
    for (int j = 0; j < keys; j++) {
        int distance = pos[row] - pos[base + j];
        if (distance >= 0 && distance < x->reach)
            e[distance] += ds[j];
    }
    for (int m = 0; m < x->mixes; m++) {
        float sum = 0.0f, weight = weight_of(a, pos, row, h, m);
        for (int d = x->reach - 1; d >= 0; d--) {
            float *to = &x->d_bank[m * x->reach + d];
            sum = fmaf(e[d], x->bank[m * x->reach + d], sum);
            *to = fmaf(weight, e[d], *to);
        }
        if (gain)
            sum = sum * a->turn->gain[h * a->turn->gain_head + pos[row]];
        x->d_weights[(row * a->heads + h) * x->mixes + m] = sum;
    }
    free(e);
}

/* Continues dq [D] of a query over the table of contextual positions, and adds to the table's gradient.
 * u: the gradient of the query's products. */
static void columns_bwd(float *dq, float *d_rows, const float *u, const float *q, const struct pw_attn *a)
{
    for (int k = 0; k < a->scan.n; k++)
        for (int d = 0; d < a->head_width; d++) {
            int at = d * a->scan.n + k;
            dq[d] = fmaf(u[k], a->scan.rows[at], dq[d]);
            d_rows[at] = fmaf(q[d], u[k], d_rows[at]);
        }
}

/* The gradients of slopes from ds, the query's dS of head h: its own, and its part of those of the keys.
 */
static void slopes_bwd(float *d_slopes, const float *ds, const struct pw_attn *a, const int *pos, int i,
                       int keys, int h)
{
    int H = a->heads;
    float lane[16] = {0};
    for (int j = 0; j < keys; j++) {
        float apart = (float)(pos[j] - pos[i]), *key = d_slopes + j * 2 * H + H + h;
        lane[j % 16] = fmaf(ds[j], apart, lane[j % 16]);
        *key = fmaf(ds[j], apart, *key);
    }
    d_slopes[i * 2 * H + h] = plain_tree(lane);
}

/* Adds the part of query i of head h to the gradients of the function's learned numbers. ds: its dS, without
 * the derivative of the function; scores: those that it reads. */
static void learned_bwd(const float *ds, const float *scores, const struct pw_attn *a, const int *pos, int i,
                        int keys, int h)
{
    for (int k = 0; k < a->n_learned; k++) {
        float lane[16] = {0}, by;
        for (int j = 0; j < keys; j++) {
            pw_score_along(a->score, pair_of(a, pos, i, j, h), scores[j], k, &by);
            lane[j % 16] = fmaf(ds[j], by, lane[j % 16]);
        }
        a->d_learned[h * a->n_learned + k] += plain_tree(lane);
    }
}

/* dS of query i of head h from its row of `save`, and u of contextual positions. q: the query. */
static void score_grad(float *ds, float *u, const float *dz, const float *rows, const float *save,
                       size_t slopes, const struct pw_attn *a, const int *pos, int base, int i, int keys,
                       int h)
{
    int D = a->head_width, C = a->heads * D;
    size_t w = 3 * (size_t)C;
    const float *q = rows + (size_t)base * w + h * D, *v = q + 2 * C;
    const float *g = dz + (size_t)(base + i) * (size_t)C + h * D;
    float lane[16] = {0};
    for (int j = 0; j < keys; j++) {
        float dp = 0.0f;
        for (int d = 0; d < D; d++)
            dp = fmaf(g[d], v[(size_t)j * w + d], dp);
        float keep = mask(a, h, base + i, j);
        ds[j] = keep > 0.0f ? dp * keep : 0.0f; /* never -0 */
        lane[j % 16] = fmaf(save[j], ds[j], lane[j % 16]);
    }
    float sum = plain_tree(lane);
    for (int j = 0; j < keys && a->scan.kind != PW_SCAN_STICK; j++)
        ds[j] = save[j] * (ds[j] - sum);
    if (a->scan.kind == PW_SCAN_STICK)
        ref_stick_bwd(ds, save, save + slopes, i);
    if (a->scan.kind == PW_SCAN_CONTEXT)
        ref_context_bwd(ds, u, save + slopes, q + (size_t)i * w, a, i);
    if (a->d_learned != NULL)
        learned_bwd(ds, save + 2 * slopes, a, pos + base, i, keys, h);
    for (int j = 0; a->score != NULL && j < keys; j++)
        ds[j] *= save[slopes + (size_t)j];
}

void PW_OP(attention_bwd)(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                          const float *dz, const float *z, const float *qkv, const float *save,
                          const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    if (ref_is_wide(a)) {
        ref_wide_bwd(&ref_plain, dqkv, d_bias, d_terms, dz, qkv, save, a, pos, s);
        return;
    }
    (void)c;
    (void)z;
    int D = a->head_width, C = a->heads * D, H = a->heads;
    size_t w = 3 * (size_t)C, slopes = maps_floats(a->heads, s->start, s->n);
    float *rows = ref_turned(qkv, a, pos, s->start[s->n]);
    memset(dqkv, 0, (size_t)s->start[s->n] * w * sizeof *dqkv);
    for (int i = 0; d_terms != NULL && i < s->start[s->n] * a->heads; i++)
        d_terms[i] = 0.0f;
    float *d_slopes = a->made != NULL ? a->made->d_slopes : NULL;
    for (int i = 0; d_slopes != NULL && i < s->start[s->n] * 2 * a->heads; i++)
        d_slopes[i] = 0.0f;
    for (int n = 0; n < s->n; n++) {
        int base = s->start[n], T = s->start[n + 1] - base, ld = (T + 15) / 16 * 16;
        size_t more = (size_t)a->scan.n + 1, square = (size_t)T * (size_t)T;
        float *all = calloc((size_t)H * square, sizeof *all);
        float *places = malloc((size_t)(H * T) * more * sizeof *places);
        for (int at = 0; at < H * T; at++)
            score_grad(all + at * T, places + (size_t)at * more, dz, rows, save + at * ld, slopes, a, pos,
                       base, at % T, a->causal ? at % T + 1 : T, at / T);
        float *votes = votes_of(rows, a, base, T);
        if (votes != NULL)
            ref_select_bwd(all, votes, H, T);
        free(votes);
        for (int h = 0; h < a->heads; h++) {
            const float *q = rows + (size_t)base * w + h * D, *k = q + C,
                        *u = places + (size_t)(h * T) * more;
            float *dq = dqkv + (size_t)base * w + h * D, *dk = dq + C, *dv = dk + C;
            for (int i = 0; i < T; i++, save += ld) {
                int keys = a->causal ? i + 1 : T;
                const float *g = dz + (size_t)(base + i) * (size_t)C + h * D;
                const float *ds = all + (size_t)h * square + (size_t)(i * T);
                for (int j = 0; j < keys; j++) {
                    for (int d = 0; d < D; d++) {
                        size_t at_q = (size_t)i * w + d, at_k = (size_t)j * w + d;
                        dq[at_q] = fmaf(ds[j], k[at_k], dq[at_q]);
                        dk[at_k] = fmaf(ds[j], q[at_q], dk[at_k]);
                        dv[at_k] = fmaf(save[j] * mask(a, h, base + i, j), g[d], dv[at_k]);
                    }
                    if (d_terms != NULL)
                        d_terms[(base + j) * a->heads + h] += ds[j];
                    if (d_bias != NULL)
                        d_bias[bias_at(a, h, pos[base + i], pos[base + j])] += ds[j];
                }
                if (d_slopes != NULL)
                    slopes_bwd(d_slopes + base * 2 * a->heads, ds, a, pos + base, i, keys, h);
                if (a->keys != NULL)
                    relative_bwd(dq + (size_t)i * w, d_keys, ds, q + (size_t)i * w, a, pos + base, i, keys);
                if (a->mix != NULL)
                    mix_bwd(ds, a, pos, base, base + i, keys, h);
            }
            if (a->walk != NULL)
                ref_walk_bwd(dq, dk, all + (size_t)h * square, q, k, w, a, base, T, h);
            for (int i = 0; i < T; i++)
                for (int d = 0; d < D; d++) {
                    dq[(size_t)i * w + d] *= a->scale;
                    dk[(size_t)i * w + d] *= a->scale;
                }
            for (int i = 0; a->scan.kind == PW_SCAN_CONTEXT && i < T; i++)
                columns_bwd(dq + (size_t)i * w, d_keys, u + (size_t)i * more, q + (size_t)i * w, a);
        }
        free(all);
        free(places);
    }
    for (int i = 0; d_terms != NULL && i < s->start[s->n] * a->heads; i++)
        d_terms[i] = 0.0f - d_terms[i];
    if (a->turn != NULL && !a->turn->learned)
        ref_turn(dqkv, a->turn, pos, true, a->heads, D, s->start[s->n]);
    free(rows);
}
