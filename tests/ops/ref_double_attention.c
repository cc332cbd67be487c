/* ref_double_attention.c - reference for values: attention in double precision, from its definition. */
#include "kernels/score.h"
#include "tests/ops/ref_double.h"
#include "tests/ops/ref_wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ref_double_turn(float *qkv, const struct pw_turn *t, const int *pos, bool back, int H, int D, int R)
{
    for (int r = 0; r < R; r++)
        for (int h = 0; h < 2 * H; h++) {
            float *head = qkv + r * 3 * H * D + h * D;
            double gain = h < H && t->gain != NULL ? (double)t->gain[h * t->gain_head + pos[r]]
                                                   : 1; /* a scalar, both ways */
            for (int i = 0; i < t->pairs; i++) {
                float *a = t->pairing == PW_PAIRING_HALF ? head + i : head + 2 * i;
                float *b = t->pairing == PW_PAIRING_HALF ? head + t->pairs + i : head + 2 * i + 1;
                int e = (pos[r] + (h < H ? 0 : t->keys_at)) * t->pairs + i;
                double co = (double)t->cosine[e], si = (double)t->sine[e] * (back ? -1 : 1);
                double x = (double)*a, y = (double)*b;
                *a = (float)(x * co - y * si);
                *b = (float)(x * si + y * co);
            }
            for (int i = 0; i < D; i++)
                head[i] = (float)((double)head[i] * gain);
        }
}

void ref_double_turn_bwd(struct pw_ctx *c, float *dqkv, const struct pw_turn_grad *d, const float *qkv,
                         const struct pw_turn *t, const int *pos, int H, int D, int R)
{
    struct pw_turn angles = *t;
    size_t C = (size_t)(H * D), P = 0, n = (size_t)t->pairs;
    (void)c;
    angles.gain = NULL;
    for (int r = 0; r < R; r++)
        P = (size_t)pos[r] >= P ? (size_t)pos[r] + 1 : P;
    size_t all = P + (size_t)t->keys_at;
    double *gain = ref_room(P * (size_t)H), *cosine = ref_room(all * n), *sine = ref_room(all * n);
    float *turned = (float *)(void *)ref_room(3 * C);
    for (int r = 0; r < R; r++) {
        size_t id = (size_t)pos[r];
        float *dy = dqkv + (size_t)r * 3 * C;
        const float *x = qkv + (size_t)r * 3 * C;
        memcpy(turned, x, 3 * C * sizeof *turned);
        ref_double_turn(turned, &angles, pos + r, false, H, D, 1);
        for (size_t k = 0; k < C; k++) {
            gain[k / (size_t)D * P + id] += (double)dy[k] * (double)turned[k];
            dy[k] *= t->gain != NULL ? t->gain[(int)k / D * t->gain_head + pos[r]] : 1;
        }
        for (size_t k = 0; k < 2 * (size_t)H * n; k++) {
            size_t p = k % n, head = k / n * (size_t)D, half = t->pairing == PW_PAIRING_HALF;
            size_t a = head + (half ? p : 2 * p), b = a + (half ? n : 1);
            size_t e = (id + (k < (size_t)H * n ? 0 : (size_t)t->keys_at)) * n + p;
            cosine[e] += (double)dy[a] * (double)x[a] + (double)dy[b] * (double)x[b];
            sine[e] += (double)dy[b] * (double)x[a] - (double)dy[a] * (double)x[b];
        }
        ref_double_turn(dy, &angles, pos + r, true, H, D, 1);
    }
    for (size_t k = 0; k < P * (size_t)H && d->gain != NULL; k++)
        d->gain[k / P * (size_t)t->gain_head + k % P] += (float)gain[k];
    for (size_t k = 0; k < all * n && d->cosine != NULL; k++) {
        d->cosine[k] += (float)cosine[k];
        d->sine[k] += (float)sine[k];
    }
    free(gain);
    free(cosine);
    free(sine);
    free(turned);
}

/* Returns a copy of R rows, with q and k rotated if the encoding rotates them. */
static float *turned(const float *qkv, const struct pw_attn *a, const int *pos, int R)
{
    size_t n = 3 * (size_t)R * (size_t)(a->heads * a->head_width);
    float *to = malloc((n + 1) * sizeof *to);
    memcpy(to, qkv, n * sizeof *to);
    if (a->turn != NULL)
        ref_double_turn(to, a->turn, pos, false, a->heads, a->head_width, R);
    return to;
}

/* The offset of the relative key of query i and key j in the table. pos: ids of the sequence. */
static int key_at(const struct pw_attn *a, const int *pos, int i, int j)
{
    int row = pos[i] - pos[j] + (a->causal ? 0 : a->reach), rows = a->reach + 1 + (a->causal ? 0 : a->reach);
    return (row < 0 ? 0 : row < rows ? row : rows - 1) * a->head_width;
}

/* The offset of the bias of head h for a query and a key, by their position ids. */
static size_t bias_at(const struct pw_attn *a, int h, int query, int key)
{
    size_t P = (size_t)a->table, head = (size_t)h * pw_bias_entries(a->dense, a->table);
    return head + (a->dense ? (size_t)query * P + (size_t)key : P - 1 + (size_t)query - (size_t)key);
}

/* The gain of a row's query. */
static double gain_of(const struct pw_attn *a, const int *pos, int row, int h)
{
    const struct pw_turn *t = a->turn;
    return t != NULL && t->gain != NULL ? (double)t->gain[h * t->gain_head + pos[row]] : 1;
}

/* Weight m of the query's mix, and the bank's entry for the pair; 0 out of reach. */
static double weight_of(const struct pw_attn *a, const int *pos, int row, int h, int m)
{
    return (double)a->mix->weights[(row * a->heads + h) * a->mix->mixes + m] * gain_of(a, pos, row, h);
}

static double bank_at(const struct pw_attn *a, const int *pos, int query, int key, int m)
{
    int d = pos[query] - pos[key];
    return d >= 0 && d < a->mix->reach ? (double)a->mix->bank[m * a->mix->reach + d] : 0;
}

/* Query i and key j as a function of scores reads them. pos: ids of the sequence. */
static struct pw_score_pair pair_of(const struct pw_attn *a, const int *pos, int i, int j, int h)
{
    return (struct pw_score_pair){pos[i], pos[j], h,
                                  a->learned != NULL ? a->learned + h * a->n_learned : NULL};
}

/* Scores of head h of the sequence that starts at row base: s [T,T], -inf where masked. slope (NULL: not
 * wanted) receives the derivatives of the function of scores, 1 without one. */
static void score_map(double *s, double *slope, const float *qkv, const struct pw_attn *a, const int *pos,
                      int base, int T, int h)
{
    int D = a->head_width, w = 3 * a->heads * D;
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++) {
            double dot = 0;
            for (int d = 0; d < D; d++)
                dot += (double)qkv[(base + i) * w + h * D + d] *
                       (double)qkv[(base + j) * w + (a->heads + h) * D + d];
            for (int d = 0; a->keys != NULL && d < D; d++)
                dot += (double)qkv[(base + i) * w + h * D + d] *
                       (double)a->keys[key_at(a, pos + base, i, j) + d];
            if (a->walk != NULL && j <= i)
                dot = ref_double_walk(qkv + (base + i) * w + h * D, qkv + (base + j) * w + (a->heads + h) * D,
                                      a, base, i, j, h);
            dot *= (double)a->scale;
            if (a->bias != NULL)
                dot += (double)a->bias[bias_at(a, h, pos[base + i], pos[base + j])];
            if (a->terms != NULL)
                dot +=
                    (double)a->terms[(base + i) * a->heads + h] - (double)a->terms[(base + j) * a->heads + h];
            for (int m = 0; a->mix != NULL && m < a->mix->mixes; m++)
                dot += weight_of(a, pos, base + i, h, m) * bank_at(a, pos, base + i, base + j, m);
            if (a->made != NULL && a->made->slopes != NULL) {
                const float *q = a->made->slopes + (base + i) * 2 * a->heads + h;
                const float *k = a->made->slopes + (base + j) * 2 * a->heads + a->heads + h;
                dot -= ((double)*q + (double)*k) * (pos[base + i] - pos[base + j]);
            }
            float by = 1;
            if (a->score != NULL) {
                struct pw_score_pair pair = pair_of(a, pos + base, i, j, h);
                dot = (double)pw_score_value(a->score, pair, (float)dot, &by);
            }
            s[i * T + j] = a->causal && j > i ? -INFINITY : dot;
            if (slope != NULL)
                slope[i * T + j] = (double)by;
        }
}

/* The same with contextual positions or selection. plain [T,T] (NULL: not wanted) receives the scores without
 * them. */
static void whole_map(double *s, double *slope, double *plain, const float *qkv, const struct pw_attn *a,
                      const int *pos, int base, int T, int h)
{
    int D = a->head_width;
    double *content = ref_room((size_t)(T * T));
    score_map(s, slope, qkv, a, pos, base, T, h);
    memcpy(content, s, (size_t)(T * T) * sizeof *s);
    for (int i = 0; a->scan.kind == PW_SCAN_CONTEXT && i < T; i++)
        ref_double_context(s + i * T, content + i * T, qkv + (base + i) * 3 * a->heads * D + h * D, a, i);
    if (plain != NULL)
        memcpy(plain, content, (size_t)(T * T) * sizeof *s);
    if (a->scan.kind == PW_SCAN_SELECT) {
        score_map(content, NULL, qkv, a, pos, base, T, 0);
        ref_double_select(s, content, T);
    }
    free(content);
}

/* 1 without dropout. */
static double mask(const struct pw_attn *a, int h, int row, int col)
{
    if (a->drop == NULL)
        return 1;
    return ref_mask(a->drop, h, row, col) > 0 ? 1 / (1 - (double)a->drop->rate) : 0;
}

void ref_double_scores(struct pw_ctx *c, float *out, const float *qkv, const struct pw_attn *a,
                       const int *pos, const struct pw_seqs *s)
{
    if (ref_is_wide(a)) {
        ref_wide_scores(&ref_double, out, qkv, a, pos, s);
        return;
    }
    float *rows = turned(qkv, a, pos, s->start[s->n]);
    (void)c;
    for (int n = 0; n < s->n; n++)
        for (int h = 0; h < a->heads; h++) {
            int T = s->start[n + 1] - s->start[n];
            double *map = ref_room((size_t)(T * T));
            whole_map(map, NULL, NULL, rows, a, pos, s->start[n], T, h);
            for (int i = 0; i < T * T; i++)
                *out++ = (float)map[i];
            free(map);
        }
    free(rows);
}

size_t ref_double_save_floats(const struct pw_attn *a, const int *start, int n_seqs)
{
    return ref_plain.attn_save_floats(a, start, n_seqs);
}

/* qkv: with q and k rotated. */
static void attend(float *z, float *save, const struct pw_maps *maps, const float *qkv,
                   const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    int D = a->head_width, C = a->heads * D;
    float *probs = maps != NULL ? maps->probs : NULL;
    for (int n = 0; n < s->n; n++)
        for (int h = 0; h < a->heads; h++) {
            int base = s->start[n], T = s->start[n + 1] - base, Tp = (T + 15) / 16 * 16;
            double *p = ref_room((size_t)(T * T));
            whole_map(p, NULL, NULL, qkv, a, pos, base, T, h);
            ref_double_weights(p, a, T);
            for (int i = 0; i < T; i++) {
                for (int d = 0; d < D; d++) {
                    double v = 0;
                    for (int j = 0; j < T; j++)
                        v += p[i * T + j] * mask(a, h, base + i, j) *
                             (double)qkv[(base + j) * 3 * C + 2 * C + h * D + d];
                    z[(base + i) * C + h * D + d] = (float)v;
                }
                for (int j = 0; j < Tp; j++)
                    *save++ = j < T ? (float)p[i * T + j] : 0;
                for (int j = 0; probs != NULL && j < T; j++)
                    *probs++ = (float)p[i * T + j];
            }
            free(p);
        }
}

void ref_double_attention_fwd(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                              const float *qkv, const struct pw_attn *a, const int *pos,
                              const struct pw_seqs *s)
{
    if (ref_is_wide(a)) {
        ref_wide_fwd(&ref_double, z, save, maps, qkv, a, pos, s);
        return;
    }
    float *rows = turned(qkv, a, pos, s->start[s->n]);
    if (maps != NULL && maps->scores != NULL)
        ref_double_scores(c, maps->scores, qkv, a, pos, s);
    attend(z, save, maps, rows, a, pos, s);
    free(rows);
}

/* The cache holds rows of q, k and v, rotated. */
size_t ref_double_cache_floats(int H, int D, int cap)
{
    return ref_plain.attn_cache_floats(H, D, cap);
}

void ref_double_attention_cached(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                                 const struct pw_attn *a, const int *pos, int cap, int T, int R)
{
    if (ref_is_wide(a)) {
        ref_wide_cached(&ref_double, z, cache, qkv, a, pos, cap, T, R);
        return;
    }
    int C = a->heads * a->head_width, start[] = {0, T + R};
    struct pw_seqs whole = {1, start, T + R, T + R};
    float *all = malloc((size_t)((T + R) * C) * sizeof *all);
    float *save = malloc(ref_double_save_floats(a, start, 1) * sizeof *save);
    float *rows = turned(qkv, a, pos != NULL ? pos + T : NULL, R);
    struct pw_attn all_rows = *a;
    struct pw_mix mix = {0};
    size_t row = a->mix != NULL ? (size_t)(a->heads * a->mix->mixes) : 0;
    float *weights = calloc((size_t)(T + R) * row + 1, sizeof *weights);
    (void)c;
    (void)cap;
    if (a->mix != NULL) { /* earlier queries are not asked for, so their weights do not matter */
        memcpy(weights + (size_t)T * row, a->mix->weights, (size_t)R * row * sizeof *weights);
        mix = *a->mix;
        mix.weights = weights;
        all_rows.mix = &mix;
    }
    memcpy(cache + T * 3 * C, rows, (size_t)(R * 3 * C) * sizeof *cache);
    attend(all, save, NULL, cache, &all_rows, pos, &whole);
    memcpy(z, all + T * C, (size_t)(R * C) * sizeof *z);
    free(weights);
    free(all);
    free(save);
    free(rows);
}

/* Sets the gradients of the weights of query i, whose dS is in ds [T], and adds to that of the bank. */
static void mix_bwd(double *dbank, const double *ds, const struct pw_attn *a, const int *pos, int base, int i,
                    int T, int h)
{
    const struct pw_mix *x = a->mix;
    for (int m = 0; m < x->mixes; m++) {
        double sum = 0;
        for (int j = 0; j < T; j++) {
            int d = pos[base + i] - pos[base + j];
            sum += ds[j] * bank_at(a, pos, base + i, base + j, m);
            if (d >= 0 && d < x->reach)
                dbank[m * x->reach + d] += ds[j] * weight_of(a, pos, base + i, h, m);
        }
        x->d_weights[((base + i) * a->heads + h) * x->mixes + m] =
            (float)(sum * gain_of(a, pos, base + i, h));
    }
}

/* Adds to sums [H,n_learned] for head h. ds [T,T]: dS without the derivative of the function of scores. */
static void learned_bwd(double *sums, const double *ds, const float *rows, const struct pw_attn *a,
                        const int *pos, int base, int T, int h)
{
    struct pw_attn before = *a;
    double *s = ref_room((size_t)(T * T));
    before.score = NULL;
    score_map(s, NULL, rows, &before, pos, base, T, h);
    for (int at = 0; at < T * T; at++)
        for (int k = 0; k < a->n_learned && ds[at] != 0; k++) {
            float by;
            pw_score_along(a->score, pair_of(a, pos + base, at / T, at % T, h), (float)s[at], k, &by);
            sums[h * a->n_learned + k] += ds[at] * (double)by;
        }
    free(s);
}

/* dS of head h from its scores and weights p. */
static void score_grad(double *ds, const double *scores, const double *p, const float *dz, const float *rows,
                       const struct pw_attn *a, int base, int T, int h)
{
    int D = a->head_width, C = a->heads * D, w = 3 * C;
    const float *v = rows + base * w + 2 * C + h * D, *g = dz + base * C + h * D;
    double *dp = ref_room((size_t)(T * T));
    for (int i = 0; i < T * T; i++)
        for (int d = 0; d < D; d++)
            dp[i] += (double)g[i / T * C + d] * (double)v[i % T * w + d] * mask(a, h, base + i / T, i % T);
    ref_double_weights_bwd(ds, dp, p, scores, a, T);
    free(dp);
}

/* With selection: ds of head 0 gets the part of its votes. first: its scores without selection. */
static void select_bwd(double *ds, const double *first, const float *dz, const float *rows,
                       const struct pw_attn *a, const int *pos, int base, int T)
{
    double *sums = ref_room((size_t)(T * T)), *scores = ref_room((size_t)(T * T)),
           *p = ref_room((size_t)(T * T));
    for (int h = 0; h < a->heads; h++) {
        whole_map(scores, NULL, NULL, rows, a, pos, base, T, h);
        memcpy(p, scores, (size_t)(T * T) * sizeof *p);
        ref_double_weights(p, a, T);
        score_grad(sums, scores, p, dz, rows, a, base, T, h);
    }
    ref_double_select_bwd(ds, first, sums, T);
    free(sums);
    free(scores);
    free(p);
}

/* Replaces dq and dk of a head by those of a walk. */
static void walk_bwd(float *dqkv, const double *ds, const float *q, const float *k, const struct pw_attn *a,
                     int base, int T, int h)
{
    int D = a->head_width, C = a->heads * D;
    double *dq = ref_room((size_t)(T * D)), *dk = ref_room((size_t)(T * D));
    ref_double_walk_bwd(dq, dk, ds, q, k, 3 * C, a, base, T, h);
    for (int i = 0; i < T * D; i++) {
        float *row = dqkv + i / D * 3 * C + i % D;
        row[0] = (float)(dq[i] * (double)a->scale);
        row[C] = (float)(dk[i] * (double)a->scale);
    }
    free(dq);
    free(dk);
}

/* Uses recomputed probabilities in place of `save`, and writes out the Jacobian of the weights. */
void ref_double_attention_bwd(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                              const float *dz, const float *z, const float *qkv, const float *save,
                              const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    if (ref_is_wide(a)) {
        ref_wide_bwd(&ref_double, dqkv, d_bias, d_terms, dz, qkv, save, a, pos, s);
        return;
    }
    int D = a->head_width, C = a->heads * D, w = 3 * C;
    size_t entries = (size_t)a->heads * pw_bias_entries(a->dense, a->table);
    double *db = ref_room(entries + 1), *dkeys = ref_room((2 * (size_t)a->reach + 1) * D);
    size_t bank = a->mix != NULL ? (size_t)(a->mix->mixes * a->mix->reach) : 0;
    double *dbank = ref_room(bank + 1), *dlearned = ref_room((size_t)(a->heads * a->n_learned) + 1);
    double *dtable = ref_room((size_t)(a->scan.n * D + 1)); /* of contextual positions */
    float *rows = turned(qkv, a, pos, s->start[s->n]);
    (void)c;
    (void)z;
    (void)save;
    for (int n = 0; n < s->n; n++)
        for (int h = 0; h < a->heads; h++) {
            int base = s->start[n], T = s->start[n + 1] - base;
            double *p = ref_room((size_t)(T * T)), *ds = ref_room((size_t)(T * T)),
                   *slope = ref_room((size_t)(T * T)), *scores = ref_room((size_t)(T * T)),
                   *plain = ref_room((size_t)(T * T)), *u = ref_room((size_t)T * ((size_t)a->scan.n + 1));
            const float *q = rows + base * w + h * D, *k = q + C, *g = dz + base * C + h * D;
            whole_map(p, slope, plain, rows, a, pos, base, T, h);
            memcpy(scores, p, (size_t)(T * T) * sizeof *p);
            ref_double_weights(p, a, T);
            score_grad(ds, scores, p, dz, rows, a, base, T, h);
            if (h == 0 && a->scan.kind == PW_SCAN_SELECT)
                select_bwd(ds, plain, dz, rows, a, pos, base, T);
            if (a->d_learned != NULL)
                learned_bwd(dlearned, ds, rows, a, pos, base, T, h);
            for (int i = 0; i < T * T; i++)
                ds[i] *= slope[i];
            for (int i = 0; a->scan.kind == PW_SCAN_CONTEXT && i < T; i++)
                ref_double_context_bwd(ds + i * T, u + i * (a->scan.n + 1), plain + i * T, q + i * w, a, i);
            for (int i = 0; i < T; i++)
                for (int d = 0; d < D; d++) {
                    double dq = 0, dk = 0, dv = 0;
                    for (int j = 0; j < T; j++) {
                        int at = a->keys != NULL ? key_at(a, pos + base, i, j) + d : 0;
                        double relative = a->keys != NULL ? (double)a->keys[at] : 0;
                        dkeys[at] += ds[i * T + j] * (double)q[i * w + d] * (double)a->scale;
                        dq += ds[i * T + j] * ((double)k[j * w + d] + relative);
                        dk += ds[j * T + i] * (double)q[j * w + d];
                        dv += p[j * T + i] * mask(a, h, base + j, i) * (double)g[j * C + d];
                    }
                    float *row = dqkv + (base + i) * w + h * D + d;
                    dq *= (double)a->scale;
                    for (int k_at = 0; k_at < a->scan.n; k_at++) {
                        int at = d * a->scan.n + k_at;
                        double by = u[i * (a->scan.n + 1) + k_at] +
                                    (k_at == a->scan.n - 1 ? u[i * (a->scan.n + 1) + a->scan.n] : 0);
                        dq += by * (double)a->scan.rows[at];
                        dtable[at] += by * (double)q[i * w + d];
                    }
                    row[0] = (float)dq;
                    row[C] = (float)(dk * (double)a->scale);
                    row[2 * C] = (float)dv;
                }
            if (a->walk != NULL)
                walk_bwd(dqkv + base * w + h * D, ds, q, k, a, base, T, h);
            for (int j = 0; d_terms != NULL && j < T; j++) {
                double sum = 0; /* of the query's row and of the key's column */
                for (int i = 0; i < T; i++)
                    sum += ds[j * T + i] - ds[i * T + j];
                d_terms[(base + j) * a->heads + h] = (float)sum;
            }
            for (int i = 0; a->mix != NULL && i < T; i++)
                mix_bwd(dbank, ds + i * T, a, pos, base, i, T, h);
            for (int i = 0; a->made != NULL && i < T; i++) {
                double as_query = 0, as_key = 0;
                for (int j = 0; j < T; j++) {
                    as_query += ds[i * T + j] * (pos[base + j] - pos[base + i]);
                    as_key += ds[j * T + i] * (pos[base + i] - pos[base + j]);
                }
                a->made->d_slopes[(base + i) * 2 * a->heads + h] = (float)as_query;
                a->made->d_slopes[(base + i) * 2 * a->heads + a->heads + h] = (float)as_key;
            }
            for (int i = 0; d_bias != NULL && i < T; i++)
                for (int j = 0; j <= (a->causal ? i : T - 1); j++)
                    db[bias_at(a, h, pos[base + i], pos[base + j])] += ds[i * T + j];
            free(p);
            free(ds);
            free(slope);
            free(scores);
            free(plain);
            free(u);
        }
    for (size_t i = 0; d_bias != NULL && i < entries; i++)
        d_bias[i] = (float)((double)d_bias[i] + db[i]);
    for (int i = 0; d_keys != NULL && i < a->scan.n * D; i++)
        d_keys[i] = (float)((double)d_keys[i] + dtable[i]);
    for (int i = 0; d_keys != NULL && a->keys != NULL && i < pw_key_rows(a) * D; i++)
        d_keys[i] = (float)((double)d_keys[i] + dkeys[i]);
    if (a->turn != NULL && !a->turn->learned)
        ref_double_turn(dqkv, a->turn, pos, true, a->heads, D, s->start[s->n]);
    for (size_t i = 0; i < bank; i++)
        a->mix->d_bank[i] = (float)((double)a->mix->d_bank[i] + dbank[i]);
    for (int i = 0; a->d_learned != NULL && i < a->heads * a->n_learned; i++)
        a->d_learned[i] = (float)((double)a->d_learned[i] + dlearned[i]);
    free(dlearned);
    free(dbank);
    free(rows);
    free(db);
    free(dkeys);
    free(dtable);
}
