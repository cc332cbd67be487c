/* kernel.c - see kernel.h. Defines the encoding's contribution to the score at distance d, by kind of
 * encoding.
 *
 * Bias: the bias itself. For a bias by both positions: its mean at distance d over those of the first N
 * queries that see a key there. If a mask hides the keys of all of them, it is -inf.
 *
 * Rotation: pair f of a query q and a key k contributes a cos(d theta_f) + b sin(d theta_f) (Su et al. 2021,
 * Eq. 34). Here a = q1 k1 + q2 k2 and b = q1 k2 - q2 k1, of the unrotated vectors. a and b are averaged over
 * all pairs of positions in the samples, at any distance. The kernel then shows the effect of the rotation
 * alone, not of the content at each position. It is also defined for distances that no sample has.
 *
 * Relative keys: scale * q.a, with a the relative key of distance d and q the mean over all queries.
 *
 * Added rows: in the first layer x = e + p. With the norm's factor r held fixed, the score is a sum of four
 * terms. The term of positions alone is scale r_i r_j (Wq p_i).(Wk p_j). It is averaged over all positions
 * 0..N-1 at distance d, with the mean r of each position. If no sample has a position, the overall mean is
 * used. In deeper layers the four terms can't be separated exactly, so there is no kernel.
 *
 * Terms, and a bias that each token mixes: the mean of what the encoding adds to the samples' scores at
 * distance d; NaN: no sample has this distance.
 *
 * Sums are in double precision. */
#include "probe/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 1 << 20 }; /* pairs of positions; with more, only every n-th query is used */

struct measure {
    const struct pw_kernel *k;
    struct pw_model *m;
    const struct pw_config *cfg;
    const struct pw_pe_use_opts *pe;
    struct pw_pe_tables all, t; /* of all layers, and of k's layer */
    struct pw_pe_tables rows;   /* added rows for a sequence of N, first layer */
    int P, pairs;               /* positions in t */
    int longest, *ids;          /* [longest] position ids of one sample */
    float *q, *key, *resid;     /* inspection buffers of one sample */
    double *score, *n;          /* [H,N]: sums and their counts */
    double *ab, n_ab; /* [H,pairs + 1,2], the last entry: the unrotated part; n_ab: number of pairs */
    double *factor, *n_factor; /* [P] factors of the norm, and their counts */
    double *query, n_query;    /* [H,D] sum of n_query queries */
    /* [H,T,T] of one sample, if the encoding reads the tokens: what it adds to the scores, or, if that can't
     * be separated from the content, the scores; NULL: it reads none */
    float *by_token;
    double *tokens; /* [H,N] sums of what it adds */
};

/* Scores are linear in the added rows only if no norm of the embedding or of heads and no limit is in
 * between.
 */
static bool adds_kernel(const struct pw_config *cfg, const struct pw_pe *pe, int layer)
{
    return pe->uses & PW_PE_ADDED && layer == 0 && cfg->qk_norm == 0 && cfg->qkv_clip == 0 &&
           !cfg->embed_norm;
}

/* Does the encoding add to scores by the tokens, so that only a forward pass has its part? */
static bool adds_by_token(const struct pw_pe *pe)
{
    return (pe->uses & (PW_PE_GATES | PW_PE_SLOPES | PW_PE_MIXES)) != 0;
}

bool pw_kernel_has(const struct pw_config *cfg, const struct pw_pe *pe, int layer)
{
    return pe->uses & (PW_PE_BIASES | PW_PE_KEYS | PW_PE_ROTATION) || adds_by_token(pe) ||
           adds_kernel(cfg, pe, layer);
}

static double scale_of(const struct pw_config *cfg)
{
    if (cfg->score_scale > 0)
        return (double)cfg->score_scale;
    return cfg->scale ? 1 / sqrt(cfg->head_width) : 1;
}

/* The relative key [D] of a distance in this layer. */
static const float *relative_key(const struct measure *w, int distance)
{
    const struct pw_attn a = {.causal = w->cfg->causal, .reach = w->t.reach};
    size_t row = (size_t)w->k->layer * w->t.key_rows + pw_key_row(&a, distance);
    return w->t.keys + row * w->cfg->head_width;
}

static double dot_of(const float *q, const float *k, int D)
{
    double dot = 0;
    for (int e = 0; e < D; e++)
        dot += (double)q[e] * (double)k[e];
    return dot;
}

/* The entries of a head that form pair f. */
static void pair_at(const struct measure *w, int f, int *one, int *two)
{
    bool half = w->pe->pe->pairing(w->pe->o.bytes) == PW_PAIRING_HALF;
    *one = half ? f : 2 * f;
    *two = half ? f + w->pairs : 2 * f + 1;
}

/* Writes pair f of a vector at position pos, with its rotation undone. */
static void unrotated(const struct measure *w, const float *x, int pos, int f, double out[2])
{
    double c = w->t.cosine[(size_t)pos * w->pairs + f], s = w->t.sine[(size_t)pos * w->pairs + f];
    int one, two;
    pair_at(w, f, &one, &two);
    out[0] = x[one] * c + x[two] * s;
    out[1] = x[two] * c - x[one] * s;
}

/* The mean over all pairs of positions factorises: the keys of a query are summed first. */
static void add_rotation(struct measure *w, int T, int h)
{
    int D = w->cfg->head_width, H = w->cfg->heads;
    double *ab = w->ab + 2 * (size_t)h * (w->pairs + 1), *rest = ab + 2 * w->pairs;
    for (int f = 0; f < w->pairs; f++) {
        double keys[2] = {0}, q[2], k[2];
        for (int i = 0; i < T; i++) {
            size_t at = ((size_t)i * H + h) * D;
            unrotated(w, w->key + at, w->ids[i], f, k);
            unrotated(w, w->q + at, w->ids[i], f, q);
            keys[0] += k[0];
            keys[1] += k[1];
            ab[2 * f] += q[0] * keys[0] + q[1] * keys[1];
            ab[2 * f + 1] += q[0] * keys[1] - q[1] * keys[0];
        }
    }
    for (int e = 2 * w->pairs; e < D; e++) {
        double keys = 0;
        for (int i = 0; i < T; i++) {
            keys += (double)w->key[((size_t)i * H + h) * D + e];
            rest[0] += (double)w->q[((size_t)i * H + h) * D + e] * keys;
        }
    }
}

/* Adds scores [T,T] of head h. */
static void add_whole_scores(struct measure *w, const float *scores, int T, int h)
{
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++) {
            int d = w->ids[i] - w->ids[j];
            if (d < 0 || d >= w->k->N)
                continue;
            w->score[(size_t)h * w->k->N + d] += (double)scores[(size_t)i * T + j];
            w->n[(size_t)h * w->k->N + d]++;
        }
}

static void add_scores(struct measure *w, int T, int h)
{
    int D = w->cfg->head_width, H = w->cfg->heads, N = w->k->N;
    bool biased = w->t.bias != NULL || w->t.dense != NULL;
    double scale = scale_of(w->cfg);
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++) {
            int d = w->ids[i] - w->ids[j]; /* negative: a later position that comes first */
            if (d < 0 || d >= N)
                continue;
            const float *q = w->q + ((size_t)i * H + h) * D, *k = w->key + ((size_t)j * H + h) * D;
            float bias = biased ? pw_pe_bias_at(&w->t, h, w->ids[i], w->ids[j]) : 0;
            if (isinf(bias)) /* a mask hides the key */
                continue;
            double dot = dot_of(q, k, D) + (w->t.keys != NULL ? dot_of(q, relative_key(w, d), D) : 0.0);
            double by_token = w->by_token != NULL ? (double)w->by_token[((size_t)h * T + i) * T + j] : 0;
            w->tokens[(size_t)h * N + d] += by_token;
            w->score[(size_t)h * N + d] += scale * dot + (double)bias + by_token;
            w->n[(size_t)h * N + d]++;
        }
}

/* Adds the factor of the first norm for each row: 1 / its divisor in this forward pass. */
static void add_factors(struct measure *w, int T)
{
    int C = w->cfg->width;
    int kind = pw_config_norm_attn(w->cfg);
    for (int i = 0; i < T; i++) {
        const float *x = w->resid + (size_t)i * C;
        double mean = 0, sq = 0;
        for (int c = 0; c < C && kind == PW_NORM_LAYER; c++)
            mean += (double)x[c] / C;
        for (int c = 0; c < C; c++)
            sq += ((double)x[c] - mean) * ((double)x[c] - mean) / C;
        double eps = w->cfg->norm_eps > 0 ? (double)w->cfg->norm_eps : kind == PW_NORM_LAYER ? 1e-5 : 1e-6;
        w->factor[w->ids[i]] += kind == PW_NORM_NONE ? 1 : 1 / sqrt(sq + eps);
        w->n_factor[w->ids[i]]++;
    }
}

/* Ends the pass after the measured layer, whose maps the buffer then has. */
static bool before_layer(void *arg, int layer)
{
    const struct measure *w = arg;
    return layer < w->k->layer;
}

static enum pw_code add_sample_of(struct measure *w, const int *tokens, int T, struct pw_err *err)
{
    const struct pw_config *cfg = w->cfg;
    size_t layer = (size_t)T * cfg->heads * cfg->head_width;
    bool adds = adds_by_token(w->pe->pe);
    struct pw_inspection in = {.q = w->q,
                               .k = w->key,
                               .resid = w->resid,
                               .bias = adds ? w->by_token : NULL,
                               .score = adds ? NULL : w->by_token};
    if (w->by_token != NULL)
        in.each = before_layer, in.arg = w;
    float *q = w->q, *key = w->key;
    pw_model_ids(w->m, tokens, T, w->ids);
    enum pw_code code = pw_model_inspect(w->m, tokens, T, &in, err);
    if (code != PW_OK)
        return code;
    w->q += layer * w->k->layer;
    w->key += layer * w->k->layer;
    for (int h = 0; h < cfg->heads; h++) {
        if (w->by_token != NULL && !adds)
            add_whole_scores(w, w->by_token + (size_t)h * T * T, T, h);
        else
            add_scores(w, T, h);
        if (w->pairs > 0)
            add_rotation(w, T, h);
    }
    for (int i = 0; i < T * cfg->heads * cfg->head_width; i++)
        w->query[i % (cfg->heads * cfg->head_width)] += (double)w->q[i];
    w->n_query += T;
    w->n_ab += 0.5 * T * (T + 1);
    if (w->resid != NULL)
        add_factors(w, T);
    w->q = q;
    w->key = key;
    return PW_OK;
}

/* If the rotation depends on the length, that of a sample is undone by its own tables. The kernel has the
 * rotation of a sequence of N tokens. */
static enum pw_code add_sample(struct measure *w, const int *tokens, int T, struct pw_err *err)
{
    struct pw_pe_tables own, of_kernel = w->t;
    if (w->pe->pe->rows_by_length == NULL)
        return add_sample_of(w, tokens, T, err);
    enum pw_code code = pw_model_tables(w->m, T, &own, err);
    if (code != PW_OK)
        return code;
    w->t = pw_pe_tables_at(&own, w->k->layer);
    code = add_sample_of(w, tokens, T, err);
    w->t = of_kernel;
    pw_pe_tables_free(&own);
    return code;
}

/* ---- the encoding's contribution */

static void rotation_kernel(const struct measure *w, int h)
{
    const double *ab = w->ab + 2 * (size_t)h * (w->pairs + 1);
    double scale = scale_of(w->cfg) / w->n_ab;
    for (int d = 0; d < w->k->N; d++) {
        double sum = ab[2 * w->pairs];
        for (int f = 0; f < w->pairs; f++)
            sum += ab[2 * f] * (double)w->t.cosine[(size_t)d * w->pairs + f] +
                   ab[2 * f + 1] * (double)w->t.sine[(size_t)d * w->pairs + f];
        w->k->kernel[(size_t)h * w->k->N + d] += (float)(scale * sum);
    }
    for (int f = 0; f < 2 * w->pairs && w->k->parts != NULL; f++)
        w->k->parts[2 * (size_t)h * w->pairs + f] = (float)(ab[f] / w->n_ab);
}

float pw_kernel_bias(const struct pw_pe_tables *t, int N, int h, int d)
{
    double sum = 0;
    int n = 0;
    if (t->bias != NULL)
        return pw_pe_bias_at(t, h, d, 0);
    if (t->dense == NULL)
        return 0;
    for (int i = d; i < N; i++) {
        float bias = pw_pe_bias_at(t, h, i, i - d);
        n += !isinf(bias);
        sum += isinf(bias) ? 0 : (double)bias;
    }
    return n > 0 ? (float)(sum / n) : -INFINITY;
}

static void keys_kernel(const struct measure *w, int h)
{
    int D = w->cfg->head_width;
    for (int d = 0; d < w->k->N; d++) {
        const float *key = relative_key(w, d);
        double sum = 0;
        for (int e = 0; e < D; e++)
            sum += w->query[h * D + e] / w->n_query * (double)key[e];
        w->k->kernel[(size_t)h * w->k->N + d] += (float)(scale_of(w->cfg) * sum);
    }
}

static const struct pw_param *param(const struct pw_model *m, const char *name)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);
    for (int i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0)
            return &p[i];
    return NULL;
}

/* out [N,HD]: the added rows after the first norm without its factor, multiplied by a matrix of the first
 * layer with so many heads, which groups of query heads share. Returns false if out of memory. */
static bool project(const struct measure *w, double *out, const char *matrix, int heads)
{
    int C = w->cfg->width, D = w->cfg->head_width, HD = w->cfg->heads * D, N = w->k->N;
    int group = w->cfg->heads / heads;
    int kind = pw_config_norm_attn(w->cfg);
    bool centred = kind == PW_NORM_LAYER;
    const struct pw_param *gain = kind != PW_NORM_NONE ? param(w->m, "layers.0.norm1.weight") : NULL;
    float *W = malloc((size_t)heads * D * C * sizeof *W), *g = malloc((size_t)C * sizeof *g);
    bool there = W != NULL && g != NULL;
    if (there) {
        pw_model_read_acting(w->m, W, param(w->m, matrix)->offset, (size_t)heads * D * C);
        if (gain != NULL)
            pw_model_read(w->m, g, gain->offset, (size_t)C);
    }
    for (int i = 0; i < N && there; i++) {
        const float *p = w->rows.added + (size_t)i * C;
        double mean = 0;
        for (int c = 0; c < C && centred; c++)
            mean += (double)p[c] / C;
        for (int o = 0; o < HD; o++) {
            const float *row = W + (size_t)(o / D / group * D + o % D) * C;
            double sum = 0;
            for (int c = 0; c < C; c++)
                sum += (double)row[c] * ((double)p[c] - mean) * (gain != NULL ? (double)g[c] : 1.0);
            out[(size_t)i * HD + o] = sum;
        }
    }
    free(W);
    free(g);
    return there;
}

static double factor_at(const struct measure *w, int i)
{
    double sum = 0, n = 0;
    if (w->n_factor[i] > 0)
        return w->factor[i] / w->n_factor[i];
    for (int p = 0; p < w->P; p++)
        sum += w->factor[p], n += w->n_factor[p];
    return n > 0 ? sum / n : 1;
}

static bool added_kernel(const struct measure *w)
{
    int D = w->cfg->head_width, HD = w->cfg->heads * D, N = w->k->N;
    int64_t all = (int64_t)N * (N + 1) / 2;
    int every = (int)((all + MOST_PAIRS - 1) / MOST_PAIRS);
    double *q = malloc(2 * (size_t)N * HD * sizeof *q), *k = q != NULL ? q + (size_t)N * HD : NULL;
    bool there = q != NULL && project(w, q, "layers.0.attn.q.weight", w->cfg->heads) &&
                 project(w, k, "layers.0.attn.k.weight", pw_config_kv_heads(w->cfg));
    for (int i = 0; i < N && there; i++)
        for (int o = 0; o < HD; o++) {
            q[(size_t)i * HD + o] *= factor_at(w, i);
            k[(size_t)i * HD + o] *= factor_at(w, i);
        }
    for (int h = 0; h < w->cfg->heads && there; h++)
        for (int d = 0; d < N; d++) {
            double sum = 0;
            int n = 0;
            for (int i = N - 1; i >= d; i -= every, n++) /* from the end, so that every distance has a pair */
                for (int e = h * D; e < (h + 1) * D; e++)
                    sum += q[(size_t)i * HD + e] * k[(size_t)(i - d) * HD + e];
            w->k->kernel[(size_t)h * N + d] += (float)(scale_of(w->cfg) * sum / n);
        }
    free(q);
    return there;
}

/* ---- measurement */

static bool reserve(struct measure *w)
{
    const struct pw_config *cfg = w->cfg;
    size_t H = (size_t)cfg->heads, rows = (size_t)w->longest,
           heads = cfg->layers * rows * H * cfg->head_width;
    w->q = malloc(heads * sizeof *w->q);
    w->key = malloc(heads * sizeof *w->key);
    w->score = calloc(2 * H * (size_t)w->k->N, sizeof *w->score);
    w->n = w->score != NULL ? w->score + H * w->k->N : NULL;
    w->ab = calloc(2 * H * (size_t)(w->pairs + 1), sizeof *w->ab);
    w->factor = calloc(2 * (size_t)w->P, sizeof *w->factor);
    w->n_factor = w->factor != NULL ? w->factor + w->P : NULL;
    w->query = calloc(H * cfg->head_width, sizeof *w->query);
    w->ids = malloc(rows * sizeof *w->ids);
    w->tokens = calloc(H * (size_t)w->k->N, sizeof *w->tokens);
    bool by_token = (w->pe->pe->uses & PW_PE_CONTENT) != 0;
    w->by_token = by_token ? malloc(H * rows * rows * sizeof *w->by_token) : NULL;
    bool added = w->rows.added != NULL;
    w->resid = added ? malloc((size_t)(cfg->layers + 1) * rows * cfg->width * sizeof *w->resid) : NULL;
    return w->q != NULL && w->key != NULL && w->score != NULL && w->ab != NULL && w->factor != NULL &&
           w->query != NULL && w->ids != NULL && w->tokens != NULL && (!by_token || w->by_token != NULL) &&
           (!added || w->resid != NULL);
}

static bool finish(const struct measure *w)
{
    const struct pw_kernel *k = w->k;
    int H = w->cfg->heads, N = k->N;
    memset(k->kernel, 0, (size_t)H * N * sizeof *k->kernel);
    for (int h = 0; h < H; h++) {
        for (int d = 0; d < N; d++) {
            size_t at = (size_t)h * N + d;
            k->score[at] = w->n[at] > 0 ? (float)(w->score[at] / w->n[at]) : NAN;
            k->kernel[at] += pw_kernel_bias(&w->t, k->N, h, d);
            if (adds_by_token(w->pe->pe))
                k->kernel[at] += w->n[at] > 0 ? (float)(w->tokens[at] / w->n[at]) : NAN;
        }
        if (w->pairs > 0)
            rotation_kernel(w, h);
        if (w->t.keys != NULL)
            keys_kernel(w, h);
    }
    return w->resid == NULL || added_kernel(w);
}

enum pw_code pw_kernel_measure(const struct pw_kernel *k, struct pw_model *m, const struct pw_batch *samples,
                               struct pw_err *err)
{
    struct measure w = {.k = k, .m = m, .cfg = pw_model_config(m), .pe = pw_model_pe(m), .P = k->N};
    for (int s = 0; s < samples->n_seqs; s++) {
        int T = samples->start[s + 1] - samples->start[s];
        w.longest = T > w.longest ? T : w.longest;
    }
    if (w.pe->pe->rows_by_length == NULL) /* otherwise samples have tables of their own */
        w.P = w.longest > w.P ? w.longest : w.P;
    if (w.pe->pe->ids != NULL) /* a position can be any below the context */
        w.P = w.cfg->context;
    w.pairs = w.pe->pe->uses & PW_PE_ROTATION ? w.pe->pe->pairs(w.pe->o.bytes, w.cfg) : 0;
    enum pw_code code = pw_model_tables(m, w.P, &w.all, err);
    w.t = pw_pe_tables_at(&w.all, code == PW_OK ? k->layer : 0);
    if (code == PW_OK && adds_kernel(w.cfg, w.pe->pe, k->layer))
        code = pw_model_tables(m, k->N, &w.rows, err);
    if (code == PW_OK && !reserve(&w))
        code = pw_fail(err, PW_ENOMEM, "out of memory for the kernel of %d positions", w.P);
    for (int s = 0; s < samples->n_seqs && code == PW_OK; s++)
        code = add_sample(&w, samples->tokens + samples->start[s], samples->start[s + 1] - samples->start[s],
                          err);
    if (code == PW_OK && !finish(&w))
        code = pw_fail(err, PW_ENOMEM, "out of memory for the kernel of %d positions", w.P);
    pw_pe_tables_free(&w.all);
    pw_pe_tables_free(&w.rows);
    free(w.q);
    free(w.ids);
    free(w.key);
    free(w.resid);
    free(w.score);
    free(w.ab);
    free(w.factor);
    free(w.query);
    free(w.tokens);
    free(w.by_token);
    return code;
}
