/* ref_model.c - see ref_model.h. Plain loops: nothing is cached or optimised. */
#include "ref_view.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "ref_planes.h"
#include "ref_walk.h"

/* Dropout sites of a layer; EMBED and FINAL belong to layer 0. */
enum { EMBED, FINAL, PROBS, ATTN, HIDDEN, MLP };

/* The dropout factor of entry (row, col) of head h. Rows are counted through the batch. */
static double mask(const struct ref_view *r, int layer, int site, int h, int row, int col)
{
    uint32_t ctr[4] = {col / 4, row, 8 * layer + site, h}, out[4];

    if (r->rate == 0)
        return 1;
    pw_philox(out, ctr, r->key);
    return out[col % 4] < r->rate * 0x1p32 ? 0 : 1 / (1 - r->rate);
}

static void clip(double *y, int n, double most)
{
    for (int i = 0; i < n && most > 0; i++)
        y[i] = fmax(-most, fmin(most, y[i]));
}

/* y [out] = W x + b */
static void linear(double *y, const double *w, const double *b, const double *x, int out, int in)
{
    for (int o = 0; o < out; o++) {
        y[o] = b != NULL ? b[o] : 0;
        for (int i = 0; i < in; i++)
            y[o] += w[o * in + i] * x[i];
    }
}

/* The norm's epsilon. */
static double eps(const struct ref_view *r, bool rms)
{
    return r->cfg->norm_eps > 0 ? (double)r->cfg->norm_eps : rms ? 1e-6 : 1e-5;
}

static void norm(const struct ref_view *r, double *y, const double *x, const double *gain, const double *b)
{
    int C = r->cfg->width;
    double mean = 0, square = 0;
    bool rms = r->cfg->norm != PW_NORM_LAYER;

    if (gain == NULL) {
        memmove(y, x, C * sizeof *y);
        return;
    }
    for (int c = 0; c < C && r->cfg->norm == PW_NORM_LAYER; c++)
        mean += x[c] / C;
    for (int c = 0; c < C; c++)
        square += (x[c] - mean) * (x[c] - mean) / C;
    for (int c = 0; c < C; c++)
        y[c] = (x[c] - mean) / sqrt(square + eps(r, rms)) * gain[c] + (b != NULL ? b[c] : 0);
}

/* The RMS norm of one head, in place. */
static void norm_head(const struct ref_view *r, double *x, const double *gain)
{
    int D = r->cfg->head_width;
    double square = 0;

    for (int d = 0; d < D; d++)
        square += x[d] * x[d] / D;
    for (int d = 0; d < D && gain != NULL; d++)
        x[d] = x[d] / sqrt(square + eps(r, r->cfg->norm != PW_NORM_LAYER)) * gain[d];
}

static double act(const struct ref_view *r, double x)
{
    switch (r->cfg->act) {
    case 0: return x > 0 ? x : 0;
    case 1: return 0.5 * x * (1 + erf(x / sqrt(2)));
    case 3: return x / (1 + exp(-x));
    default: return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    }
}

static double *room(int rows, int cols)
{
    double *x = calloc((size_t)rows * cols, sizeof *x);

    assert(x != NULL);
    return x;
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* z [T,HD] from normed inputs n [T,C]. */
static void attention(const struct ref_view *r, double *z, const double *n, const struct ref_layer *y,
                      const int *pos, int T, int first)
{
    const struct pw_config *cfg = r->cfg;
    int C = cfg->width, H = cfg->heads, D = cfg->head_width, HD = H * D;
    int K = cfg->kv_heads > 0 ? cfg->kv_heads : H, KD = K * D;
    double *q = room(T, HD), *k = room(T, KD), *v = room(T, KD), *p = room(1, T);
    double *kept = room(T, H); /* running sums of the gates */
    int M = r->mix != NULL ? r->mixes : 0;
    double *mix = room(T, H * M + 1); /* weights of the mix */
    double *slope_q = room(T, H), *slope_k = room(T, H);
    double *lost = room(T + 1, T); /* sums of votes by query and key */
    struct ref_walk walk = ref_walk_make(r->whole, y->number, n, T);
    int ids = 1;
    for (int t = 0; t < T; t++)
        ids = pos[t] >= ids ? pos[t] + 1 : ids;
    struct ref_planes planes = ref_planes_make(r->whole, y->number, ids, r->base, r->step);

    double scale = cfg->score_scale > 0 ? (double)cfg->score_scale : cfg->scale ? 1 / sqrt(D) : 1;

    for (int t = 0; t < T && r->gate != NULL; t++) {
        double *g = kept + t * H;
        linear(g, r->gate + y->number * H * C, r->gate_bias + y->number * H, n + t * C, H, C);
        for (int h = 0; h < H; h++)
            g[h] = (t > 0 ? g[h - H] : 0) + ref_gate_of(r, y->number, h, g[h]);
    }
    for (int t = 0; t < T; t++) {
        linear(q + t * HD, y->q, y->q_bias, n + t * C, HD, C);
        linear(k + t * KD, y->k, y->k_bias, n + t * C, KD, C);
        linear(v + t * KD, y->v, y->v_bias, n + t * C, KD, C);
        clip(q + t * HD, HD, cfg->qkv_clip);
        clip(k + t * KD, KD, cfg->qkv_clip);
        clip(v + t * KD, KD, cfg->qkv_clip);
        for (int h = 0; h < H; h++) {
            norm_head(r, q + t * HD + h * D, y->q_norm);
            ref_rotate(r, q + t * HD + h * D, y->number, pos[t]);
        }
        for (int h = 0; h < K; h++) {
            norm_head(r, k + t * KD + h * D, y->k_norm);
            ref_rotate(r, k + t * KD + h * D, y->number, pos[t]);
        }
        for (int h = 0; h < H && r->omega != NULL; h++) {
            slope_q[t * H + h] = ref_slope_of(r, r->of_q, q + t * HD + h * D, y->number, h);
            slope_k[t * H + h] = ref_slope_of(r, r->of_k, k + t * KD + h / (H / K) * D, y->number, h);
        }
        for (int d = 0; r->sharp != NULL && d < HD; d++)
            q[t * HD + d] *= r->sharp[y->number * H + d / D] * log(pos[t] + 2);
        double tau = r->alpha > 0 ? 1 + r->alpha * log(fmax(1, (pos[t] + 1) / r->floor)) : 1;
        tau *= r->logn > 0 ? fmax(1, log(pos[t] + 1) / log(r->logn)) : 1;
        for (int d = 0; d < HD; d++)
            q[t * HD + d] *= tau;
        for (int m = 0; m < H * M; m++)
            mix[t * H * M + m] = tau * dot(r->mix + (y->number * H * M + m) * C, n + t * C, C);
    }
    for (int h = 0; h < H; h++) {
        for (int i = 0; i < T; i++) {
            int keys = cfg->causal ? i + 1 : T;
            bool scaled = r->fixed != NULL && r->fixed->scale != NULL;
            double top = -INFINITY, sum = 0, factor = scaled ? r->fixed->scale(y->number, h, pos[i]) : 1;
            for (int j = 0; j < keys; j++) {
                p[j] = 0;
                for (int d = 0; d < D; d++)
                    p[j] += r->phase != NULL
                                ? ref_polar(r, q[i * HD + h * D + d], k[j * KD + h / (H / K) * D + d],
                                            y->number, h, d, pos[i], pos[j])
                                : q[i * HD + h * D + d] * (k[j * KD + h / (H / K) * D + d] +
                                                           ref_relative(r, y->number, pos[i] - pos[j], d));
                if (walk.vectors != NULL)
                    p[j] = ref_walk_product(&walk, q + i * HD + h * D, k + j * KD + h / (H / K) * D, h, i, j);
                if (planes.turn != NULL)
                    p[j] = ref_planes_product(&planes, q + i * HD + h * D, k + j * KD + h / (H / K) * D, h,
                                              pos[i], pos[j]);
                p[j] = p[j] * scale * factor + ref_bias(r, y->number, h, pos[i], pos[j]);
                p[j] += kept[i * H + h] - kept[j * H + h];
                for (int m = 0; m < M; m++)
                    p[j] += factor * mix[(i * H + h) * M + m] * ref_mix_of(r, y->number, m, pos[i] - pos[j]);
                p[j] -= (pos[i] - pos[j]) * (slope_q[i * H + h] + slope_k[j * H + h]);
                if (r->capped)
                    p[j] = ref_capped(p[j], pos[i] - pos[j]);
                if (r->bend != NULL)
                    p[j] = ref_bent(r, p[j], y->number, h, pos[i] - pos[j]);
                top = fmax(top, p[j]);
            }
            if (r->contexts != NULL)
                top = ref_contextual(r, p, q + i * HD + h * D, y->number, i);
            if (ref_is(r, "selective"))
                top = ref_select_keys(p, lost + i * T, lost + (i + 1) * T, h == 0, i);
            for (int j = 0; j < keys; j++)
                sum += p[j] = exp(p[j] - top);
            if (r->stick)
                sum = ref_stick(p, i, top);
            for (int d = 0; d < D; d++) {
                z[i * HD + h * D + d] = 0;
                for (int j = 0; j < keys; j++)
                    z[i * HD + h * D + d] += p[j] / sum * mask(r, y->number, PROBS, h, first + i, j) *
                                             v[j * KD + h / (H / K) * D + d];
            }
        }
    }
    free(q);
    free(k);
    free(v);
    free(p);
    free(kept);
    free(mix);
    free(lost);
    free(slope_q);
    free(slope_k);
    ref_walk_fini(&walk);
    ref_planes_fini(&planes);
}

/* x [T,C]: the embeddings on entry, the stream after the last block on return. */
static void blocks(const struct ref_view *r, double *x, const int *pos, int T, int first)
{
    const struct pw_config *cfg = r->cfg;
    int C = cfg->width, HD = cfg->heads * cfg->head_width, F = cfg->ffn;
    double *n = room(T, C), *z = room(T, HD), *hidden = room(1, F), *y = room(1, C), *gate = room(1, F);
    double *n2 = room(1, C);
    bool after = cfg->norm_at == PW_NORM_AT_AFTER;

    for (int l = 0; l < cfg->layers; l++) {
        const struct ref_layer *w = &r->layer[l];
        for (int t = 0; t < T; t++)
            norm(r, n + t * C, x + t * C, after ? NULL : w->norm1, w->norm1_bias);
        attention(r, z, n, w, pos, T, first);
        for (int t = 0; t < T; t++) {
            double *row = x + t * C;
            linear(y, w->o, w->o_bias, z + t * HD, C, HD);
            norm(r, y, y, w->post1, w->post1_bias);
            if (cfg->parallel == PW_PARALLEL_SHARED)
                memcpy(n2, n + t * C, C * sizeof *n2);
            else if (cfg->parallel == PW_PARALLEL_ON)
                norm(r, n2, row, w->norm2, w->norm2_bias);
            for (int c = 0; c < C; c++)
                row[c] += y[c] * mask(r, l, ATTN, 0, first + t, c);
            if (after)
                norm(r, row, row, w->norm1, w->norm1_bias);
            if (cfg->parallel == PW_PARALLEL_OFF)
                norm(r, n2, row, after ? NULL : w->norm2, w->norm2_bias);
            linear(hidden, w->up, w->up_bias, n2, F, C);
            if (w->gate != NULL)
                linear(gate, w->gate, w->gate_bias, n2, F, C);
            for (int f = 0; f < F; f++) {
                hidden[f] = w->gate != NULL ? act(r, gate[f]) * hidden[f] : act(r, hidden[f]);
                hidden[f] *= mask(r, l, HIDDEN, 0, first + t, f);
            }
            linear(y, w->down, w->down_bias, hidden, C, F);
            norm(r, y, y, w->post2, w->post2_bias);
            for (int c = 0; c < C; c++)
                row[c] += y[c] * mask(r, l, MLP, 0, first + t, c);
            if (after)
                norm(r, row, row, w->norm2, w->norm2_bias);
        }
    }
    free(n);
    free(n2);
    free(z);
    free(gate);
    free(hidden);
    free(y);
}

/* The loss of scored row k of the batch. */
static double cross_entropy(const struct ref_view *r, const double *x, int target, int k)
{
    int C = r->cfg->width, V = r->cfg->vocab, E = r->head_in != NULL ? r->cfg->embed_width : C;
    double *n = room(1, C), *reduced = room(1, E), *logits = room(1, V), sum = 0, loss;

    norm(r, n, x, r->norm, r->norm_bias);
    for (int c = 0; c < C; c++)
        n[c] *= r->cfg->logit_scale * mask(r, 0, FINAL, 0, k, c);
    if (r->head_in != NULL)
        linear(reduced, r->head_in, NULL, n, E, C);
    linear(logits, r->head, r->head_bias, r->head_in != NULL ? reduced : n, V, E);
    for (int v = 0; v < V && r->cfg->logit_cap > 0; v++)
        logits[v] = r->cfg->logit_cap * tanh(logits[v] / r->cfg->logit_cap);
    for (int v = 0; v < V; v++)
        sum += exp(logits[v]);
    loss = log(sum) - logits[target];
    free(n);
    free(reduced);
    free(logits);
    return loss;
}

double ref_loss(const struct ref_model *r, const struct pw_batch *b, double *each)
{
    struct ref_view v = ref_look(r);
    int C = r->cfg->width, E = v.embed_in != NULL ? r->cfg->embed_width : C, k = 0;
    double sum = 0;

    for (int s = 0; s < b->n_seqs; s++) {
        int first = b->start[s], T = b->start[s + 1] - first;
        double *x = room(T, C);
        for (int t = 0; t < T; t++) {
            double *row = x + t * C;
            const double *token = v.embed + b->tokens[first + t] * E;
            if (v.embed_in != NULL)
                linear(row, v.embed_in, NULL, token, C, E);
            else
                memcpy(row, token, C * sizeof *row);
            for (int c = 0; c < C; c++)
                row[c] = (double)r->cfg->embed_scale * row[c] + ref_added(&v, t, T, c);
            norm(&v, row, row, v.embed_norm, v.embed_norm_bias);
            for (int c = 0; c < C; c++)
                row[c] *= mask(&v, 0, EMBED, 0, first + t, c);
        }
        blocks(&v, x, b->pos + first, T, first);
        for (; k < b->n_scored && b->rows[k] < b->start[s + 1]; k++) {
            double loss = cross_entropy(&v, x + (b->rows[k] - first) * C, b->targets[k], k);
            sum += loss;
            if (each != NULL)
                each[k] = loss;
        }
        free(x);
    }
    for (int l = 0; l < r->cfg->layers; l++)
        for (int i = 0; i < 4; i++)
            free(v.layer[l].adapted[i]);
    return sum / b->n_scored;
}
