/* ref_cases_attention.c - cases of attention: ragged batches forward and backward, and decoding with a cache.
 * Wide heads have their own cases: they would be rare among the usual widths, and they take longer. */
#include "kernels/score.h"
#include "tests/ops/ref_cases.h"

#include <math.h>
#include <stdlib.h>

enum { SEQS = 3, P = 70 };
/* Added to scores; TERMS, SLOPES and WIDE (in place of q and k) without a function of them. LEARNED: the
 * function reads learned numbers. */
enum part { NO_PART, TERMS, SLOPES, MIX, WIDE, LEARNED };

/* Half of the cases have relative keys. Their reach is below or above the lengths of sequences. */
static bool relative_keys(struct ref_call *r, struct pw_attn *a)
{
    a->reach = PICK(&r->s, 1, 2, 5, 15, 16, 40, 80);
    float *keys = ref_input(r, (size_t)(pw_key_rows(a) * a->head_width), 1.0f);
    bool keyed = ref_next(&r->s) % 2;
    a->keys = keyed ? keys : NULL;
    return keyed;
}

/* Half of the other cases rotate, if heads have pairs. */
static bool turns(struct ref_call *r, struct pw_attn *a, struct pw_turn *t)
{
    if (a->keys != NULL || a->head_width < 2 || ref_next(&r->s) % 2)
        return false;
    *t = ref_angles(r, P, a->heads, a->head_width);
    a->turn = t;
    return true;
}

/* A third of the cases has a function of scores, smooth and with a slope near 1: 2 tanh(s / 2) plus a part
 * that goes by query, key and head. */
static const struct pw_score *score_function(struct ref_call *r)
{
    struct pw_score x = {.n = 9,
                         .node = {{.op = PW_SCORE_S},
                                  {.op = PW_SCORE_NUMBER, .value = 2},
                                  {.op = PW_SCORE_CALL, .function = PW_F_DIVIDE, .arg = {0, 1}},
                                  {.op = PW_SCORE_CALL, .function = PW_F_TANH, .arg = {2}},
                                  {.op = PW_SCORE_CALL, .function = PW_F_MULTIPLY, .arg = {3, 1}},
                                  {.op = PW_SCORE_QUERY, .value = 0.5, .step = -0.01},
                                  {.op = PW_SCORE_KEY, .value = 0.25, .step = 0.02},
                                  {.op = PW_SCORE_SELECT, .arg = {6, 4, 0}},
                                  {.op = PW_SCORE_CALL, .function = PW_F_ADD, .arg = {7, 5}}}};
    if (ref_next(&r->s) % 2) {
        x.node[5] = (struct pw_score_node){.op = PW_SCORE_HEAD};
        x.node[8].function = PW_F_SUBTRACT;
    }
    const void *copy = ref_copy(r, &x, sizeof x);
    return ref_next(&r->s) % 3 == 0 ? copy : NULL;
}

/* The function b * tanh(s / b) + c * s * query for learned numbers b and c of each head, among n numbers. The
 * others are not read. */
static void learn(struct ref_call *r, struct pw_attn *a)
{
    int n = PICK(&r->s, 2, 3, 16), b = (int)(ref_next(&r->s) % (unsigned)n), c = (b + 1) % n;
    size_t all = (size_t)(a->heads * n);
    struct pw_score x = {.n = 9,
                         .node = {{.op = PW_SCORE_S},
                                  {.op = PW_SCORE_LEARNED, .function = b},
                                  {.op = PW_SCORE_CALL, .function = PW_F_DIVIDE, .arg = {0, 1}},
                                  {.op = PW_SCORE_CALL, .function = PW_F_TANH, .arg = {2}},
                                  {.op = PW_SCORE_CALL, .function = PW_F_MULTIPLY, .arg = {3, 1}},
                                  {.op = PW_SCORE_QUERY, .value = 0.5, .step = -0.01},
                                  {.op = PW_SCORE_LEARNED, .function = c},
                                  {.op = PW_SCORE_CALL, .function = PW_F_MULTIPLY, .arg = {5, 6}},
                                  {.op = PW_SCORE_CALL, .function = PW_F_ADD, .arg = {7, 4}}}};
    float *learned = malloc(all * sizeof *learned);
    for (size_t i = 0; i < all; i++)
        learned[i] = 1.0f + (float)(ref_next(&r->s) % 64) / 32.0f; /* far from 0, by which s is divided */
    a->score = ref_copy(r, &x, sizeof x);
    a->learned = ref_copy(r, learned, all * sizeof *learned);
    a->d_learned = ref_output(r, all);
    a->n_learned = n;
    free(learned);
}

/* A bias that the query mixes, for R rows. */
static const struct pw_mix *mixed(struct ref_call *r, struct pw_mix *x, int H, int R)
{
    x->mixes = PICK(&r->s, 1, 2, 5, 8, 16, 20);
    x->reach = PICK(&r->s, 1, 2, 5, 15, 16, 17, 40, 80);
    size_t weights = (size_t)(R * H * x->mixes), bank = (size_t)(x->mixes * x->reach);
    x->weights = ref_input(r, weights, 1.0f);
    x->bank = ref_input(r, bank, 1.0f);
    x->d_weights = ref_output(r, weights);
    x->d_bank = ref_output(r, bank);
    return x;
}

static void attention(struct ref_call *r, int H, int D, enum part part)
{
    bool termed = part == TERMS, sloped = part == SLOPES, wide = part == WIDE;
    int start[SEQS + 1] = {0};
    size_t n_maps = 0;
    for (int i = 0; i < SEQS; i++) {
        int T = PICK(&r->s, 1, 2, 7, 15, 16, 17, 20, 33, 48, 65);
        start[i + 1] = start[i] + T;
        n_maps += (size_t)(H * T * T);
    }
    int R = start[SEQS], order[SEQS * 65];
    size_t nq = (size_t)(R * 3 * H * D), nz = nq / 3, nb;
    bool ordered = ref_next(&r->s) % 2, biased = ref_next(&r->s) % 2, dense = ref_next(&r->s) % 2;
    nb = (size_t)H * pw_bias_entries(dense, P);
    for (int i = 0; i < SEQS; i++)
        for (int t = start[i]; t < start[i + 1]; t++)
            order[t] = ordered ? t - start[i] + i : (int)(ref_next(&r->s) % P);
    int *pos = ref_copy(r, order, (size_t)R * sizeof *order);
    float *qkv = ref_input(r, nq, 1.0f), *bias = ref_input(r, nb, 1.0f), *dz = ref_input(r, nz, 1.0f);
    bool causal = ref_next(&r->s) % 4 != 0, masked = ref_next(&r->s) % 3 == 0, shown = ref_next(&r->s) % 2;
    struct pw_attn a = {.heads = H,
                        .head_width = D,
                        .scale = 1.0f / sqrtf((float)D),
                        .causal = causal,
                        .bias = biased ? bias : NULL,
                        .table = P,
                        .dense = dense};
    struct pw_dropout drop = ref_dropout(r);
    struct pw_seqs seqs = {SEQS, ref_copy(r, start, sizeof start), R, 65};
    float *z = ref_output(r, nz), *scores = ref_output(r, n_maps);
    struct pw_maps maps = {.scores = ref_output(r, n_maps), .probs = ref_output(r, n_maps)};
    float *dqkv = ref_output(r, nq), *db = ref_output(r, nb);
    a.score = part == NO_PART || part == MIX ? score_function(r) : NULL;
    if (part == LEARNED)
        learn(r, &a);
    a.terms = termed ? ref_input(r, (size_t)(R * H), 3.0f) : NULL;
    float *d_terms = termed ? ref_output(r, (size_t)(R * H)) : NULL;
    int E = wide ? PICK(&r->s, D, 2 * D, D + 3) : 0;
    struct pw_made made = {sloped ? ref_input(r, (size_t)(R * 2 * H), 0.2f) : NULL,
                           sloped ? ref_output(r, (size_t)(R * 2 * H)) : NULL,
                           wide ? ref_input(r, (size_t)(R * 2 * H * E), 1.0f) : NULL,
                           wide ? ref_output(r, (size_t)(R * 2 * H * E)) : NULL, E};
    a.made = sloped || wide ? &made : NULL;
    struct pw_mix mix;
    a.mix = part == MIX ? mixed(r, &mix, H, R) : NULL;
    float *save = ref_own(r, r->ops->attn_save_floats(&a, start, SEQS));
    a.drop = masked ? &drop : NULL;
    bool keyed = relative_keys(r, &a) && !wide;
    a.keys = keyed ? a.keys : NULL;
    struct pw_turn turn;
    float *dk = ref_output(r, (size_t)(pw_key_rows(&a) * D));
    bool by_id = biased || keyed || a.score != NULL || sloped || a.mix != NULL;
    pos = (!wide && turns(r, &a, &turn)) || by_id ? pos : NULL;
    r->ops->scores(r->c, scores, qkv, &a, pos, &seqs);
    if (ref_next(&r->s) % 2)
        maps.scores = NULL;
    r->ops->attention_fwd(r->c, z, save, shown ? &maps : NULL, qkv, &a, pos, &seqs);
    r->ops->attention_bwd(r->c, dqkv, biased ? db : NULL, keyed ? dk : NULL, d_terms, dz, z, qkv, save, &a,
                          pos, &seqs);
}

void ref_case_attention(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 10, 16, 20, 33, 64);
    attention(r, H, D, NO_PART);
}

void ref_case_attention_wide(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2), D = PICK(&r->s, 65, 80, 128, 128);
    attention(r, H, D, NO_PART);
}

/* One sequence, in pieces. */
static void cached(struct ref_call *r, int H, int D, enum part part)
{
    bool termed = part == TERMS, sloped = part == SLOPES, wide = part == WIDE;
    int C = H * D;
    int n = PICK(&r->s, 1, 2, 7, 15, 16, 17, 20, 33, 48, 65), cap = n + PICK(&r->s, 0, 1, 5, 16, 40);
    int order[65];
    bool biased = ref_next(&r->s) % 2, ordered = ref_next(&r->s) % 2, causal = ref_next(&r->s) % 8 != 0;
    bool dense = ref_next(&r->s) % 2;
    size_t nz = (size_t)(n * C), nb = (size_t)H * pw_bias_entries(dense, P);
    for (int i = 0; i < n; i++)
        order[i] = ordered ? i + 2 : (int)(ref_next(&r->s) % P);
    int *pos = ref_copy(r, order, (size_t)n * sizeof *order);
    float *qkv = ref_input(r, 3 * nz, 1.0f), *bias = ref_input(r, nb, 1.0f);
    struct pw_attn a = {.heads = H,
                        .head_width = D,
                        .scale = 1.0f / sqrtf((float)D),
                        .causal = causal,
                        .bias = biased ? bias : NULL,
                        .table = P,
                        .dense = dense};
    struct pw_turn turn;
    a.score = part == NO_PART || part == MIX ? score_function(r) : NULL;
    if (part == LEARNED)
        learn(r, &a);
    a.terms = termed ? ref_input(r, (size_t)(n * H), 3.0f) : NULL;
    int E = wide ? PICK(&r->s, D, 2 * D, D + 3) : D;
    float *made_wide = wide ? ref_input(r, (size_t)(n * 2 * H * E), 1.0f) : NULL;
    struct pw_made made = {sloped ? ref_input(r, (size_t)(n * 2 * H), 0.2f) : NULL, NULL, NULL, NULL, E};
    a.made = sloped || wide ? &made : NULL;
    struct pw_mix mix;
    a.mix = part == MIX ? mixed(r, &mix, H, n) : NULL;
    const float *weights = part == MIX ? mix.weights : NULL;
    bool by_id = biased || a.score != NULL || sloped || a.mix != NULL;
    pos = (!wide && (relative_keys(r, &a) || turns(r, &a, &turn))) || by_id ? pos : NULL;
    float *z = ref_output(r, nz), *cache = ref_own(r, r->ops->attn_cache_floats(H, E, cap));
    for (int t = 0, R; t < n; t += R) {
        R = causal ? PICK(&r->s, 1, 1, 2, 17, n) : n;
        R = R < n - t ? R : n - t;
        made.wide = wide ? made_wide + t * 2 * H * E : NULL;
        if (part == MIX)
            mix.weights = weights + t * H * mix.mixes;
        r->ops->attention_cached(r->c, z + t * C, cache, qkv + t * 3 * C, &a, pos, cap, t, R);
    }
}

void ref_case_cached(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 10, 16, 20, 33, 64);
    cached(r, H, D, NO_PART);
}

void ref_case_cached_wide(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2), D = PICK(&r->s, 65, 80, 128, 128);
    cached(r, H, D, NO_PART);
}

void ref_case_attention_terms(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8, 17), D = PICK(&r->s, 1, 4, 8, 16, 20);
    attention(r, H, D, TERMS);
}

void ref_case_cached_terms(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20, 80);
    cached(r, H, D, TERMS);
}

void ref_case_attention_mix(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20);
    attention(r, H, D, MIX);
}

void ref_case_cached_mix(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20, 80);
    cached(r, H, D, MIX);
}

void ref_case_attention_learned(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20);
    attention(r, H, D, LEARNED);
}

void ref_case_cached_learned(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20, 80);
    cached(r, H, D, LEARNED);
}

void ref_case_attention_slopes(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8, 17), D = PICK(&r->s, 1, 4, 8, 16, 20);
    attention(r, H, D, SLOPES);
}

void ref_case_cached_slopes(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20, 80);
    cached(r, H, D, SLOPES);
}

/* A scan over the keys, in a batch and with a cache. Scores are large in some cases, so that weights are 0.
 */
static struct pw_attn scanned(struct ref_call *r, int H, int D, enum pw_scan_kind kind, struct pw_turn *turn)
{
    struct pw_attn a = {.heads = H,
                        .head_width = D,
                        .scale = 1.0f / sqrtf((float)D),
                        .causal = true,
                        .table = P,
                        .scan = {.kind = kind}};
    if (ref_next(&r->s) % 4 == 0)
        a.scale = kind == PW_SCAN_STICK ? 3.0f : 1.0f;
    if (kind == PW_SCAN_CONTEXT) { /* fewer positions than keys, and more */
        a.scan.n = PICK(&r->s, 2, 3, 15, 16, 17, 33, 40);
        a.scan.rows = ref_input(r, (size_t)(D * a.scan.n), 1.0f);
    }
    turns(r, &a, turn);
    return a;
}

static void attention_scan(struct ref_call *r, enum pw_scan_kind kind)
{
    int H = PICK(&r->s, 1, 2, 3), D = PICK(&r->s, 1, 4, 8, 16, 20), start[SEQS + 1] = {0}, order[SEQS * 65];
    size_t n_maps = 0;
    for (int i = 0; i < SEQS; i++) {
        int T = PICK(&r->s, 1, 2, 7, 15, 16, 17, 20, 33, 48, 65);
        start[i + 1] = start[i] + T;
        n_maps += (size_t)(H * T * T);
        for (int t = start[i]; t < start[i + 1]; t++)
            order[t] = t - start[i];
    }
    size_t R = (size_t)start[SEQS], nz = R * (size_t)(H * D);
    struct pw_turn turn;
    struct pw_attn a = scanned(r, H, D, kind, &turn);
    struct pw_dropout drop = ref_dropout(r);
    struct pw_seqs seqs = {SEQS, ref_copy(r, start, sizeof start), (int)R, 65};
    int *pos = ref_copy(r, order, R * sizeof *order);
    float *qkv = ref_input(r, 3 * nz, 1.0f), *dz = ref_input(r, nz, 1.0f);
    float *z = ref_output(r, nz), *dqkv = ref_output(r, 3 * nz);
    struct pw_maps maps = {.scores = ref_output(r, n_maps), .probs = ref_output(r, n_maps)};
    float *save = ref_own(r, r->ops->attn_save_floats(&a, start, SEQS));
    a.drop = ref_next(&r->s) % 3 == 0 ? &drop : NULL;
    bool shown = ref_next(&r->s) % 2;
    float *d_rows = kind == PW_SCAN_CONTEXT ? ref_output(r, (size_t)(D * a.scan.n)) : NULL;
    r->ops->attention_fwd(r->c, z, save, shown ? &maps : NULL, qkv, &a, pos, &seqs);
    r->ops->attention_bwd(r->c, dqkv, NULL, d_rows, NULL, dz, z, qkv, save, &a, pos, &seqs);
}

static void cached_scan(struct ref_call *r, enum pw_scan_kind kind)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20, 80), C = H * D, order[65];
    int n = PICK(&r->s, 1, 2, 7, 15, 16, 17, 20, 33, 48, 65), cap = n + PICK(&r->s, 0, 1, 5, 16, 40);
    size_t nz = (size_t)(n * C);
    for (int i = 0; i < n; i++)
        order[i] = i + 2;
    int *pos = ref_copy(r, order, (size_t)n * sizeof *order);
    struct pw_turn turn;
    struct pw_attn a = scanned(r, H, D, kind, &turn);
    float *qkv = ref_input(r, 3 * nz, 1.0f), *z = ref_output(r, nz);
    float *cache = ref_own(r, r->ops->attn_cache_floats(H, D, cap));
    a.scan.lost = kind == PW_SCAN_SELECT ? ref_own(r, pw_lost_at(n)) : NULL;
    for (int t = 0, R; t < n; t += R) {
        R = PICK(&r->s, 1, 1, 2, 17, n);
        R = R < n - t ? R : n - t;
        r->ops->attention_cached(r->c, z + t * C, cache, qkv + t * 3 * C, &a, pos, cap, t, R);
    }
}

void ref_case_select(struct ref_call *r)
{
    attention_scan(r, PW_SCAN_SELECT);
}

void ref_case_cached_select(struct ref_call *r)
{
    cached_scan(r, PW_SCAN_SELECT);
}

void ref_case_stick(struct ref_call *r)
{
    attention_scan(r, PW_SCAN_STICK);
}

void ref_case_cached_stick(struct ref_call *r)
{
    cached_scan(r, PW_SCAN_STICK);
}

void ref_case_context(struct ref_call *r)
{
    attention_scan(r, PW_SCAN_CONTEXT);
}

void ref_case_cached_context(struct ref_call *r)
{
    cached_scan(r, PW_SCAN_CONTEXT);
}

void ref_case_attention_made(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20, 33);
    attention(r, H, D, WIDE);
}

void ref_case_cached_made(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 4, 8, 16, 20, 80);
    cached(r, H, D, WIDE);
}

/* Numbers on both sides of 0, some of which are so large that the exp is 0. */
void ref_case_terms(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8, 16, 17, 40), start[SEQS + 1] = {0};
    for (int i = 0; i < SEQS; i++)
        start[i + 1] = start[i] + PICK(&r->s, 1, 2, 7, 16, 33, 65);
    int R = start[SEQS], half = PICK(&r->s, 1, 5, 20);
    size_t n = (size_t)(R * H);
    struct pw_seqs seqs = {SEQS, ref_copy(r, start, sizeof start), R, 65};
    float *g = ref_input(r, n, ref_next(&r->s) % 4 == 0 ? 60.0f : 2.0f), *dy = ref_input(r, n, 1.0f);
    float *y = ref_output(r, n), *dg = ref_output(r, n), *pieces = ref_output(r, n);
    const struct pw_score *f = score_function(r);
    r->ops->terms_fwd(r->c, y, g, NULL, f, H, &seqs, R);
    r->ops->terms_bwd(r->c, dg, dy, g, f, H, &seqs);
    half = half < R ? half : R; /* one sequence in two pieces, as in decoding */
    r->ops->terms_fwd(r->c, pieces, g, NULL, f, H, NULL, half);
    if (half < R)
        r->ops->terms_fwd(r->c, pieces + half * H, g + half * H, pieces + (half - 1) * H, f, H, NULL,
                          R - half);
}
