/* ref_model.c - see ref_model.h. Plain loops: nothing is cached or optimised. */
#include "ref_model.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "ref_walk.h"

/* Pointers to all tensors, found once per pass: finite differences take thousands of passes. */
struct layer {
    int number;
    const double *norm1, *norm1_bias, *q, *q_bias, *k, *k_bias, *v, *v_bias, *o, *o_bias;
    const double *norm2, *norm2_bias, *up, *up_bias, *down, *down_bias;
    const double *gate, *gate_bias, *q_norm, *k_norm, *post1, *post1_bias, *post2, *post2_bias;
    double *adapted[4]; /* matrices with adapters, or NULL */
};

struct view {
    const struct ref_model *whole;
    const struct pw_config *cfg;
    const double *embed, *head, *norm, *norm_bias, *pe, *embed_norm, *embed_norm_bias, *head_bias;
    bool capped; /* a formula whose scores go through this file's capped() */
    /* The formula of test_gradient.c whose embed, angle, gain and scale have learned parameters, beside a
     * gate -exp(g / 2); NULL. */
    const double *wave, *turn, *grow, *sharp;
    const double *mix, *bank; /* of all layers; NULL: no mix */
    int mixes, reach;
    double alpha, floor;
    const double *contexts; /* [L,D,npos] of contextual positions */
    int npos;
    const double *gate, *gate_bias;    /* of all layers; NULL: no terms */
    const double *omega, *of_q, *of_k; /* slopes of all layers; NULL: none */
    double steeper;                    /* factor on slopes that 'tune' set */
    const double *phase;               /* [L,H,D] of the polar form; NULL: none */
    double from, step;                 /* position of id 0, and from one id to the next */
    struct layer layer[8];
    char name[24]; /* of the encoding */
    double base, amplitude;
    int split, dims, half, buckets, distance, logn;
    struct {
        const double *c, *factor, *in, *in_bias, *out, *out_bias;
        int hidden, threshold;
    } fire;
    double rate; /* dropout rate */
    const uint32_t *key;
    const struct ref_fixed *fixed;
};

/* Finds a weight of layer l and its bias. */
static void find(const struct ref_model *r, int l, const char *name, const double **weight,
                 const double **bias)
{
    char full[64];

    snprintf(full, sizeof full, "layers.%d.%s.weight", l, name);
    *weight = ref_tensor(r, full);
    snprintf(full, sizeof full, "layers.%d.%s.bias", l, name);
    *bias = ref_tensor(r, full);
}

/* Replaces the matrices of a layer by those with adapters. */
static void adapt(const struct ref_model *r, struct layer *y)
{
    const struct pw_config *cfg = r->cfg;
    int C = cfg->width, HD = cfg->heads * cfg->head_width, F = cfg->ffn, l = y->number;
    int KD = (cfg->kv_heads > 0 ? cfg->kv_heads : cfg->heads) * cfg->head_width;

    y->q = y->adapted[0] = ref_adapted(r, l, "attn.qkv", y->q, HD + 2 * KD, C);
    y->k = y->q + HD * C;
    y->v = y->k + KD * C;
    y->o = y->adapted[1] = ref_adapted(r, l, "attn.o", y->o, C, HD);
    if (y->gate != NULL) {
        y->gate = y->adapted[2] = ref_adapted(r, l, "mlp.up", y->gate, 2 * F, C);
        y->up = y->gate + F * C;
    } else {
        y->up = y->adapted[2] = ref_adapted(r, l, "mlp.up", y->up, F, C);
    }
    y->down = y->adapted[3] = ref_adapted(r, l, "mlp.down", y->down, C, F);
}

/* The value of `key` in "name key=value key=value". */
static double option(const char *text, const char *key)
{
    char find[40];
    const char *at;

    snprintf(find, sizeof find, " %s=", key);
    at = strstr(text, find);
    return at != NULL ? atof(at + strlen(find)) : 0;
}

static struct view look(const struct ref_model *r)
{
    struct view v = {.whole = r,
                     .cfg = r->cfg,
                     .embed = ref_tensor(r, "embed.weight"),
                     .norm = ref_tensor(r, "norm.weight")};
    const double *none; /* norms of heads have no biases */
    v.rate = r->training ? r->cfg->dropout : 0;
    v.key = r->key;
    v.fixed = r->fixed;
    v.norm_bias = ref_tensor(r, "norm.bias");
    v.embed_norm = ref_tensor(r, "embed_norm.weight");
    v.embed_norm_bias = ref_tensor(r, "embed_norm.bias");
    v.head_bias = ref_tensor(r, "head.bias");
    v.head = r->cfg->tied ? v.embed : ref_tensor(r, "head.weight");
    assert(r->cfg->layers <= 8);
    for (int l = 0; l < r->cfg->layers; l++) {
        struct layer *y = &v.layer[l];
        y->number = l;
        find(r, l, "norm1", &y->norm1, &y->norm1_bias);
        find(r, l, "attn.q", &y->q, &y->q_bias);
        find(r, l, "attn.k", &y->k, &y->k_bias);
        find(r, l, "attn.v", &y->v, &y->v_bias);
        find(r, l, "attn.o", &y->o, &y->o_bias);
        find(r, l, "norm2", &y->norm2, &y->norm2_bias);
        find(r, l, "mlp.up", &y->up, &y->up_bias);
        find(r, l, "mlp.down", &y->down, &y->down_bias);
        find(r, l, "mlp.gate", &y->gate, &y->gate_bias);
        find(r, l, "attn.q_norm", &y->q_norm, &none);
        find(r, l, "attn.k_norm", &y->k_norm, &none);
        find(r, l, "norm1_post", &y->post1, &y->post1_bias);
        find(r, l, "norm2_post", &y->post2, &y->post2_bias);
        if (r->cfg->adapter > 0)
            adapt(r, y);
    }
    sscanf(r->pe, "%23s", v.name);
    v.pe = ref_tensor(r, "pe.bias");
    if (v.pe == NULL)
        v.pe = ref_tensor(r, "pe.keys");
    if (v.pe == NULL)
        v.pe = ref_tensor(r, "pe.table");
    v.fire.c = ref_tensor(r, "pe.c");
    v.fire.factor = ref_tensor(r, "pe.L_multiplier");
    v.fire.in = ref_tensor(r, "pe.mlp.0.weight");
    v.fire.in_bias = ref_tensor(r, "pe.mlp.0.bias");
    v.fire.out = ref_tensor(r, "pe.mlp.2.weight");
    v.fire.out_bias = ref_tensor(r, "pe.mlp.2.bias");
    v.fire.hidden = (int)option(r->pe, "hidden");
    v.fire.threshold = (int)option(r->pe, "threshold");
    v.gate = ref_tensor(r, "pe.fgate_proj.weight");
    v.gate_bias = ref_tensor(r, "pe.fgate_proj.bias");
    v.mix = ref_tensor(r, "pe.r_proj.weight");
    v.bank = ref_tensor(r, "pe.rel_logits_proj.proj");
    v.mixes = (int)option(r->pe, "mixes");
    v.reach = (int)option(r->pe, "reach");
    v.alpha = option(r->pe, "alpha");
    v.floor = option(r->pe, "floor");
    v.contexts = ref_tensor(r, "pe.pos_emb");
    v.npos = (int)option(r->pe, "npos");
    v.omega = ref_tensor(r, "pe.omega");
    v.of_q = ref_tensor(r, "pe.v");
    v.of_k = ref_tensor(r, "pe.u");
    v.phase = ref_tensor(r, "pe.learned_bias");
    v.from = strstr(r->pe, "offset") != NULL ? option(r->pe, "offset") : 0;
    v.step = strstr(r->pe, "stretch") != NULL ? option(r->pe, "stretch") : 1;
    v.steeper = (strstr(r->pe, "gain") != NULL ? option(r->pe, "gain") : 1) *
                (strstr(r->pe, "stretch") != NULL ? option(r->pe, "stretch") : 1);
    v.wave = ref_tensor(r, "pe.wave");
    v.turn = ref_tensor(r, "pe.turn");
    v.grow = ref_tensor(r, "pe.grow");
    v.sharp = ref_tensor(r, "pe.sharp");
    v.capped = strstr(r->pe, "score = 2 * tanh(s / 2) + 0.1 * d * s") != NULL;
    v.base = option(r->pe, "base");
    v.amplitude = option(r->pe, "amplitude");
    v.dims = (int)option(r->pe, "dims");
    v.buckets = (int)option(r->pe, "buckets");
    v.distance = (int)option(r->pe, "distance");
    v.logn = (int)option(r->pe, "logn");
    v.split = strstr(r->pe, "layout=split") != NULL;
    v.half = strstr(r->pe, "pairing=half") != NULL;
    return v;
}

static int is(const struct view *r, const char *name)
{
    return strcmp(r->name, name) == 0;
}

/* Dropout sites of a layer; EMBED and FINAL belong to layer 0. */
enum { EMBED, FINAL, PROBS, ATTN, HIDDEN, MLP };

/* The dropout factor of entry (row, col) of head h. Rows are counted through the batch. */
static double mask(const struct view *r, int layer, int site, int h, int row, int col)
{
    uint32_t ctr[4] = {col / 4, row, 8 * layer + site, h}, out[4];

    if (r->rate == 0)
        return 1;
    pw_philox(out, ctr, r->key);
    return out[col % 4] < r->rate * 0x1p32 ? 0 : 1 / (1 - r->rate);
}

/* Entry c of the sinusoidal encoding of `place`, of `width` entries. */
static double wave(const struct view *r, int place, int c, int width)
{
    int pair = r->split ? c % (width / 2) : c / 2, sine = r->split ? c < width / 2 : c % 2 == 0;
    double angle = place * pow(r->base, -2.0 * pair / width);

    return r->amplitude * (sine ? sin(angle) : cos(angle));
}

/* The other entry of c's pair. */
static int partner(const struct view *r, int c, int width)
{
    return r->split ? (c + width / 2) % width : c ^ 1;
}

/* Entry c of the added row at pos of a sequence of length l. */
static double added(const struct view *r, int pos, int l, int c)
{
    int C = r->cfg->width, half = C / 2, left = c < half, back = l - 1 - pos;

    if (r->wave != NULL)
        return r->wave[c] * sin(pos / 3.0);
    if (is(r, "learned"))
        return r->pe[pos * C + c];
    if (is(r, "learned_reversed"))
        return r->pe[back * C + c];
    if (is(r, "ldpe"))
        return left ? r->pe[pos * half + c] : r->pe[(r->cfg->context + back) * half + c - half];
    if (is(r, "sinusoidal"))
        return wave(r, pos, c, C);
    if (is(r, "rspe"))
        return wave(r, back, c, C);
    if (is(r, "aspe"))
        return wave(r, pos, c, C) + wave(r, back, partner(r, c, C), C);
    if (is(r, "2dspe"))
        return left ? wave(r, pos, c, half) : wave(r, l, c - half, half);
    if (is(r, "dpe"))
        return left ? wave(r, pos, c, half) : wave(r, back, c - half, half);
    return 0;
}

static void rotate(const struct view *r, double *x, int layer, int pos)
{
    int dims = r->dims > 0 ? r->dims : r->cfg->head_width;
    bool fixed = r->fixed != NULL && r->fixed->angle != NULL;

    if (!is(r, "rotary") && !fixed && r->turn == NULL)
        return;
    for (int i = 0; i < dims / 2; i++) {
        double angle = fixed             ? r->fixed->angle(layer, pos, i, dims)
                       : r->turn != NULL ? r->turn[i] * pos
                                         : pos * pow(r->base, -2.0 * i / dims);
        double gain = r->grow != NULL ? 1 + r->grow[layer] * i : 1;
        bool half = r->half || fixed || r->turn != NULL;
        double *a = half ? x + i : x + 2 * i, *b = half ? x + i + dims / 2 : x + 2 * i + 1, a0 = *a;
        *a = gain * (a0 * cos(angle) - *b * sin(angle));
        *b = gain * (a0 * sin(angle) + *b * cos(angle));
    }
}

static double fire(const struct view *r, int h, int query, int key)
{
    double L = fabs(*r->fire.factor * r->fire.threshold), c = fabs(*r->fire.c), sum = r->fire.out_bias[h];
    double near = log(c * abs(query - key) + 1) / (log(c * (query > L ? query : L) + 1) + 1e-6);

    for (int k = 0; k < r->fire.hidden; k++) {
        double unit = r->fire.in[k] * near + r->fire.in_bias[k];
        sum += unit > 0 ? r->fire.out[h * r->fire.hidden + k] * unit : 0;
    }
    return sum;
}

/* The one function of scores that test_gradient.c has. */
static double capped(double s, int distance)
{
    return 2 * tanh(s / 2) + 0.1 * distance * s;
}

static double bias(const struct view *r, int layer, int h, int query, int key)
{
    int H = r->cfg->heads, P = 1, distance = query - key;

    if (r->fixed != NULL && r->fixed->bias != NULL)
        return r->fixed->bias(layer, h, query, key);
    if (is(r, "fire"))
        return fire(r, h, query, key);
    if (is(r, "alibi")) {
        while (2 * P <= H)
            P *= 2;
        return -abs(distance) * pow(2, h < P ? -8.0 * (h + 1) / P : -4.0 * (2 * (h - P) + 1) / P);
    }
    if (is(r, "t5")) {
        int B = r->cfg->causal ? r->buckets : r->buckets / 2, E = B / 2, n = abs(distance), bucket = n;
        if (n >= E)
            bucket = E + (int)floor(log((double)n / E) / log((double)r->distance / E) * (B - E) + 1e-9);
        if (bucket > B - 1)
            bucket = B - 1;
        return r->pe[(distance < 0 ? B + bucket : bucket) * H + h];
    }
    if (is(r, "clipped")) {
        int k = r->distance, n = abs(distance) < k ? abs(distance) : k;
        return r->pe[(distance < 0 ? k + n : n) * H + h];
    }
    return 0;
}

/* Entry d of the relative key of layer l at a distance. */
static double relative(const struct view *r, int l, int distance, int d)
{
    int k = r->distance, low = r->cfg->causal ? 0 : -k, rows = k - low + 1;
    int clipped = distance < low ? low : distance > k ? k : distance;

    return is(r, "shaw") ? r->pe[(l * rows + clipped - low) * r->cfg->head_width + d] : 0;
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
static double eps(const struct view *r, bool rms)
{
    return r->cfg->norm_eps > 0 ? (double)r->cfg->norm_eps : rms ? 1e-6 : 1e-5;
}

static void norm(const struct view *r, double *y, const double *x, const double *gain, const double *b)
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
static void norm_head(const struct view *r, double *x, const double *gain)
{
    int D = r->cfg->head_width;
    double square = 0;

    for (int d = 0; d < D; d++)
        square += x[d] * x[d] / D;
    for (int d = 0; d < D && gain != NULL; d++)
        x[d] = x[d] / sqrt(square + eps(r, r->cfg->norm != PW_NORM_LAYER)) * gain[d];
}

static double act(const struct view *r, double x)
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

static double softplus(double x)
{
    return log(1 + exp(x));
}

/* The slope that head h makes of x [D], its query or key, with directions u [L,H,D]. */
static double slope_of(const struct view *r, const double *u, const double *x, int l, int h)
{
    int H = r->cfg->heads, D = r->cfg->head_width;
    double dot = 0, square = 0;

    if (u == NULL)
        return 0;
    u += (l * H + h) * D;
    for (int d = 0; d < D; d++) {
        dot += u[d] * x[d];
        square += u[d] * u[d];
    }
    return softplus(r->omega[l * H + h]) * pw_alibi_slope(h, H) * r->steeper *
           softplus(dot / sqrt(square * D));
}

/* Replaces p [i+1], exp(score - top), by stick-breaking weights; returns their sum. */
static double stick(double *p, int i, double top)
{
    double left = 1;

    for (int j = i - 1; j >= 0; j--) {
        double e = p[j] * exp(top);
        p[j] = left * e / (1 + e);
        left /= 1 + e;
    }
    p[i] = left;
    return 1;
}

/* Adds the part of contextual positions to the scores p [i+1] of the query q [D]; returns the largest. */
static double contextual(const struct view *r, double *p, const double *q, int l, int i)
{
    int D = r->cfg->head_width, n = r->npos;
    const double *e = r->contexts + (size_t)l * D * n;
    double sum = 0, top = -INFINITY;

    for (int j = i; j >= 0; j--) {
        sum += 1 / (1 + exp(-p[j]));
        double at = fmin(sum, n - 1);
        int f = (int)floor(at), c = (int)ceil(at);
        for (int d = 0; d < D; d++)
            p[j] += q[d] * (e[d * n + f] * (1 - at + f) + e[d * n + c] * (at - f));
        top = fmax(top, p[j]);
    }
    return top;
}

/* Subtracts from the scores p [i+1] the sums of votes, lost [i+1], and writes those of the next query to
 * next. votes: p are the scores of head 0. Returns the largest. */
static double select_keys(double *p, const double *lost, double *next, bool votes, int i)
{
    double top = -INFINITY;

    for (int j = 0; j <= i; j++) {
        if (votes)
            next[j] = lost[j] + (j > 0 && j < i ? fmax(p[j], 0) : 0);
        p[j] -= lost[j];
        top = fmax(top, p[j]);
    }
    return top;
}

/* The product of two vectors in a plane, which have the polar coordinates of entry d of q and k. */
static double polar(const struct view *r, double q, double k, int l, int h, int d, int query, int key)
{
    int H = r->cfg->heads, D = r->cfg->head_width;
    double turn = pow(r->base, -(double)d / D), phase = r->phase[(l * H + h) * D + d];
    double i = (r->from + query * r->step) * turn, j = (r->from + key * r->step) * turn;

    phase = phase > 0 ? 0 : phase < -2 * acos(-1) ? -2 * acos(-1) : phase;
    return softplus(q) * softplus(k) * (cos(i) * cos(j + phase) + sin(i) * sin(j + phase));
}

/* The part of a token in the sums of its head. */
static double gate_of(const struct view *r, int l, int h, double g)
{
    if (r->fixed != NULL && r->fixed->gate != NULL)
        return r->fixed->gate(l, h, g);
    return r->wave != NULL ? -exp(g / 2) : -log(1 + exp(-g));
}

/* z [T,HD] from normed inputs n [T,C]. */
static void attention(const struct view *r, double *z, const double *n, const struct layer *y, const int *pos,
                      int T, int first)
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

    double scale = cfg->score_scale > 0 ? (double)cfg->score_scale : cfg->scale ? 1 / sqrt(D) : 1;

    for (int t = 0; t < T && r->gate != NULL; t++) {
        double *g = kept + t * H;
        linear(g, r->gate + y->number * H * C, r->gate_bias + y->number * H, n + t * C, H, C);
        for (int h = 0; h < H; h++)
            g[h] = (t > 0 ? g[h - H] : 0) + gate_of(r, y->number, h, g[h]);
    }
    for (int t = 0; t < T; t++) {
        linear(q + t * HD, y->q, y->q_bias, n + t * C, HD, C);
        linear(k + t * KD, y->k, y->k_bias, n + t * C, KD, C);
        linear(v + t * KD, y->v, y->v_bias, n + t * C, KD, C);
        for (int h = 0; h < H; h++) {
            norm_head(r, q + t * HD + h * D, y->q_norm);
            rotate(r, q + t * HD + h * D, y->number, pos[t]);
        }
        for (int h = 0; h < K; h++) {
            norm_head(r, k + t * KD + h * D, y->k_norm);
            rotate(r, k + t * KD + h * D, y->number, pos[t]);
        }
        for (int h = 0; h < H && r->omega != NULL; h++) {
            slope_q[t * H + h] = slope_of(r, r->of_q, q + t * HD + h * D, y->number, h);
            slope_k[t * H + h] = slope_of(r, r->of_k, k + t * KD + h / (H / K) * D, y->number, h);
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
                                ? polar(r, q[i * HD + h * D + d], k[j * KD + h / (H / K) * D + d], y->number,
                                        h, d, pos[i], pos[j])
                                : q[i * HD + h * D + d] * (k[j * KD + h / (H / K) * D + d] +
                                                           relative(r, y->number, pos[i] - pos[j], d));
                if (walk.vectors != NULL)
                    p[j] = ref_walk_product(&walk, q + i * HD + h * D, k + j * KD + h / (H / K) * D, h, i, j);
                p[j] = p[j] * scale * factor + bias(r, y->number, h, pos[i], pos[j]);
                p[j] += kept[i * H + h] - kept[j * H + h];
                for (int m = 0, d = pos[i] - pos[j]; m < M && d >= 0 && d < r->reach; m++)
                    p[j] += mix[(i * H + h) * M + m] * r->bank[(y->number * M + m) * r->reach + d];
                p[j] -= (pos[i] - pos[j]) * (slope_q[i * H + h] + slope_k[j * H + h]);
                if (r->capped)
                    p[j] = capped(p[j], pos[i] - pos[j]);
                top = fmax(top, p[j]);
            }
            if (is(r, "cope"))
                top = contextual(r, p, q + i * HD + h * D, y->number, i);
            if (is(r, "selective"))
                top = select_keys(p, lost + i * T, lost + (i + 1) * T, h == 0, i);
            for (int j = 0; j < keys; j++)
                sum += p[j] = exp(p[j] - top);
            if (is(r, "stickbreaking"))
                sum = stick(p, i, top);
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
}

/* x [T,C]: the embeddings on entry, the stream after the last block on return. */
static void blocks(const struct view *r, double *x, const int *pos, int T, int first)
{
    const struct pw_config *cfg = r->cfg;
    int C = cfg->width, HD = cfg->heads * cfg->head_width, F = cfg->ffn;
    double *n = room(T, C), *z = room(T, HD), *hidden = room(1, F), *y = room(1, C), *gate = room(1, F);
    double *n2 = room(1, C);

    for (int l = 0; l < cfg->layers; l++) {
        const struct layer *w = &r->layer[l];
        for (int t = 0; t < T; t++)
            norm(r, n + t * C, x + t * C, w->norm1, w->norm1_bias);
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
            if (cfg->parallel == PW_PARALLEL_OFF)
                norm(r, n2, row, w->norm2, w->norm2_bias);
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
static double cross_entropy(const struct view *r, const double *x, int target, int k)
{
    int C = r->cfg->width, V = r->cfg->vocab;
    double *n = room(1, C), *logits = room(1, V), sum = 0, loss;

    norm(r, n, x, r->norm, r->norm_bias);
    for (int c = 0; c < C; c++)
        n[c] *= r->cfg->logit_scale * mask(r, 0, FINAL, 0, k, c);
    linear(logits, r->head, r->head_bias, n, V, C);
    for (int v = 0; v < V && r->cfg->logit_cap > 0; v++)
        logits[v] = r->cfg->logit_cap * tanh(logits[v] / r->cfg->logit_cap);
    for (int v = 0; v < V; v++)
        sum += exp(logits[v]);
    loss = log(sum) - logits[target];
    free(n);
    free(logits);
    return loss;
}

double ref_loss(const struct ref_model *r, const struct pw_batch *b, double *each)
{
    struct view v = look(r);
    int C = r->cfg->width, k = 0;
    double sum = 0;

    for (int s = 0; s < b->n_seqs; s++) {
        int first = b->start[s], T = b->start[s + 1] - first;
        double *x = room(T, C);
        for (int t = 0; t < T; t++) {
            double *row = x + t * C;
            for (int c = 0; c < C; c++)
                row[c] =
                    (double)r->cfg->embed_scale * v.embed[b->tokens[first + t] * C + c] + added(&v, t, T, c);
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
