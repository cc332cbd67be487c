/* test_eval.c - tests that evaluation and inspection are the same forward pass. They must give the same bits
 * and use nothing from later positions or other sequences. Teacher-forced choices must equal greedy
 * decoding. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "ref_toy.h"

#define OPTIONS "layers=2 width=12 heads=3 ffn=10 context=16"

enum { V = 7, L = 2, H = 3, C = 12 };

static struct pw_model *trained(struct toy *toy, const char *options, const char *pe)
{
    struct pw_model *m = toy_model(toy, options, pe, V, 1);
    struct pw_optim o = toy_optim("lr=0.02 warmup=5 steps=40");

    for (int i = 0; i < 40; i++)
        toy_step(m, &o, (uint64_t)i % 4, 6, 2, 16, V);
    return m;
}

static void inspect(struct pw_model *m, const int *tokens, int T, const struct pw_inspection *out)
{
    struct pw_err err = {0};

    if (pw_model_inspect(m, tokens, T, out, &err))
        fail_msg("%s", err.msg);
}

static int argmax(const float *x, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}

/* Decodes greedily with one forward pass per token. Then one teacher-forced pass over prompt and answer must
 * choose every token of the answer. A wrong token in the answer must break the match there at the latest. */
static void check_greedy(struct pw_model *m, uint64_t seed)
{
    enum { PROMPT = 4, ANSWER = 10, T = PROMPT + ANSWER };
    struct pw_batch *random = toy_batch(seed, 1, T, T, V), b = *random;
    int tokens[T + 1], best[ANSWER], rows[ANSWER];
    float logits[T * V], loss[ANSWER];
    struct pw_err err = {0};

    memcpy(tokens, random->tokens, PROMPT * sizeof *tokens);
    for (int t = PROMPT; t <= T; t++) {
        inspect(m, tokens, t, &(struct pw_inspection){.logits = logits});
        tokens[t] = argmax(logits + (t - 1) * V, V);
    }
    for (int i = 0; i < ANSWER; i++)
        rows[i] = PROMPT - 1 + i;
    b.tokens = tokens;
    b.n_scored = ANSWER;
    b.rows = rows;
    b.targets = tokens + PROMPT;
    assert_int_equal(pw_model_eval(m, &b, best, loss, &err), PW_OK);
    assert_memory_equal(best, tokens + PROMPT, sizeof best);
    for (int i = 0; i < ANSWER; i++)
        assert_true(loss[i] > 0 && loss[i] < log(V)); /* the best of V has probability > 1/V */

    tokens[PROMPT + 3] = (tokens[PROMPT + 3] + 1) % V;
    assert_int_equal(pw_model_eval(m, &b, best, NULL, &err), PW_OK);
    assert_memory_equal(best, tokens + PROMPT, 3 * sizeof *best);
    assert_int_not_equal(best[3], tokens[PROMPT + 3]);
    toy_batch_free(random);
}

static void test_greedy(void **state)
{
    for (int e = 0; pw_pes[e] != NULL; e++) {
        if (pw_pe_uses_length(pw_pes[e]))
            continue; /* decoding has another length */
        struct pw_model *m = trained(*state, OPTIONS, pw_pes[e]->name);
        for (uint64_t seed = 0; seed < 10; seed++)
            check_greedy(m, seed);
        pw_model_destroy(m);
    }
}

/* The first T rows of a longer sequence must equal those of the prefix alone. */
static void test_prefix(void **state)
{
    enum { T = 16 };
    static float whole[T * V], part[T * V], whole_resid[(L + 1) * T * C], part_resid[(L + 1) * T * C];

    for (int e = 0; pw_pes[e] != NULL; e++) {
        if (pw_pe_uses_length(pw_pes[e]))
            continue; /* a prefix has another length */
        struct pw_model *m = trained(*state, OPTIONS, pw_pes[e]->name);
        struct pw_batch *b = toy_batch(77, 1, T, T, V);
        inspect(m, b->tokens, T, &(struct pw_inspection){.logits = whole, .resid = whole_resid});
        for (int t = 1; t < T; t++) {
            inspect(m, b->tokens, t, &(struct pw_inspection){.logits = part, .resid = part_resid});
            assert_memory_equal(whole, part, (size_t)t * V * sizeof *part);
            for (int l = 0; l <= L; l++)
                assert_memory_equal(whole_resid + l * T * C, part_resid + l * t * C,
                                    (size_t)t * C * sizeof *part);
        }
        toy_batch_free(b);
        pw_model_destroy(m);
    }
}

/* The losses of a sequence must have the same bits alone, among other sequences, and if other rows are scored
 * or not. Destroys the model and the batch. */
static void check_batch_mates(struct pw_model *m, struct pw_batch *b)
{
    float *together = malloc(b->n_scored * sizeof *together), alone;
    int *best = malloc(b->n_scored * sizeof *best), one_best, k = 0;
    struct pw_err err = {0};

    assert_true(together != NULL && best != NULL);
    assert_int_equal(pw_model_eval(m, b, best, together, &err), PW_OK);
    for (int s = 0; s < b->n_seqs; s++) {
        for (; k < b->n_scored && b->rows[k] < b->start[s + 1]; k++) {
            int first = b->start[s], T = b->start[s + 1] - first, row = b->rows[k] - first;
            struct pw_batch one = {.n_seqs = 1,
                                   .n_rows = T,
                                   .n_scored = 1,
                                   .start = (const int[]){0, T},
                                   .tokens = b->tokens + first,
                                   .pos = b->pos + first,
                                   .rows = &row,
                                   .targets = b->targets + k};
            assert_int_equal(pw_model_eval(m, &one, &one_best, &alone, &err), PW_OK);
            assert_memory_equal(&alone, together + k, sizeof alone);
            assert_int_equal(one_best, best[k]);
        }
    }
    free(together);
    free(best);
    toy_batch_free(b);
    pw_model_destroy(m);
}

static void test_batch_mates(void **state)
{
    static const char *const pes[] = {"t5", "dpe", "ldpe", "2dspe", "aspe", "shaw"};

    for (int e = 0; e < 6; e++)
        check_batch_mates(trained(*state, OPTIONS, pes[e]), toy_batch(5, 40, 1, 16, V));
}

/* With many tokens an evaluation holds the logits of a few rows at a time. */
static void test_large_vocabulary(void **state)
{
    enum { MANY = 300000 };

    check_batch_mates(toy_model(*state, "layers=1 width=4 heads=1 context=64", "t5", MANY, 1),
                      toy_batch(5, 3, 50, 64, MANY));
}

/* scale * q.a of query i and key j, in head lh of all layers' heads. */
static double relative(const struct pw_model *m, const struct pw_pe_tables *t, const float *q, int lh, int i,
                       int j)
{
    const struct pw_config *cfg = pw_model_config(m);
    int D = cfg->head_width, T = t->P, low = cfg->causal ? 0 : -t->reach;
    int row = (i - j < low ? low : i - j > t->reach ? t->reach : i - j) - low;
    double dot = 0;

    for (int d = 0; d < D; d++)
        dot += (double)q[((lh / H * T + i) * H + lh % H) * D + d] *
               (double)t->keys[(lh / H * t->key_rows + row) * D + d];
    return cfg->scale ? dot / sqrt(D) : dot;
}

/* Checks the relations between the parts of an inspection. */
/* Maps that are looked at layer by layer, against those of a pass that keeps all layers. */
struct layers {
    int T, seen, last;            /* last: the layer that ends the pass; -1: none */
    const float *all[4], *one[4]; /* content, bias, score, probs: [L,H,T,T] and [H,T,T] */
};

static bool compare_layer(void *arg, int layer)
{
    struct layers *x = arg;
    size_t n = (size_t)H * x->T * x->T;

    assert_int_equal(layer, x->seen++);
    for (int i = 0; i < 4; i++)
        assert_memory_equal(x->one[i], x->all[i] + layer * n, n * sizeof(float));
    return layer != x->last;
}

static void check_each_layer(struct pw_model *m, const int *tokens, int T, const struct pw_inspection *all)
{
    size_t n = (size_t)H * T * T;
    float *one = malloc((4 * n + 2 * (size_t)T * V) * sizeof *one), *logits = one + 4 * n;
    struct layers x = {T, 0, -1, {all->content, all->bias, all->score, all->probs}, {one}};

    assert_non_null(one);
    for (size_t i = 1; i < 4; i++)
        x.one[i] = one + i * n;
    inspect(m, tokens, T,
            &(struct pw_inspection){.content = one,
                                    .bias = one + n,
                                    .score = one + 2 * n,
                                    .probs = one + 3 * n,
                                    .logits = logits,
                                    .each = compare_layer,
                                    .arg = &x});
    assert_int_equal(x.seen, L);
    inspect(m, tokens, T, &(struct pw_inspection){.logits = logits + T * V});
    assert_memory_equal(logits, logits + T * V, (size_t)T * V * sizeof *logits);
    x.seen = x.last = 0;
    inspect(m, tokens, T,
            &(struct pw_inspection){.content = one,
                                    .bias = one + n,
                                    .score = one + 2 * n,
                                    .probs = one + 3 * n,
                                    .each = compare_layer,
                                    .arg = &x});
    assert_int_equal(x.seen, 1);
    free(one);
}

/* The stick-breaking weight of query i on key j, from its scores. */
static double stick(const float *score, int i, int j)
{
    double left = 1;

    for (int l = i - 1; l > (j == i ? -1 : j); l--)
        left /= 1 + exp(score[l]);
    return j == i ? left : left / (1 + exp(-score[j]));
}

static void check_parts(struct pw_model *m, const char *pe, bool causal)
{
    enum { T = 9, MAPS = L * H * T * T };
    static float content[MAPS], bias[MAPS], score[MAPS], probs[MAPS], again[MAPS], q[L * T * C];
    static float terms[L * T * H];
    const float unwritten = 7;
    struct pw_batch *b = toy_batch(3, 1, T, T, V);
    struct pw_pe_tables tables;
    struct pw_err err = {0};

    terms[0] = unwritten;
    inspect(m, b->tokens, T,
            &(struct pw_inspection){
                .content = content, .bias = bias, .score = score, .probs = probs, .q = q, .terms = terms});
    assert_int_equal(terms[0] != unwritten, (pw_model_pe(m)->pe->uses & PW_PE_TERMS) != 0);
    inspect(m, b->tokens, T, &(struct pw_inspection){.bias = again});
    assert_memory_equal(bias, again, sizeof bias);
    check_each_layer(
        m, b->tokens, T,
        &(struct pw_inspection){.content = content, .bias = bias, .score = score, .probs = probs});
    assert_int_equal(pw_model_tables(m, T, &tables, &err), PW_OK);
    for (int lh = 0; lh < L * H; lh++) {
        for (int i = 0; i < T; i++) {
            const float *p = probs + (lh * T + i) * T;
            double sum = 0, exps = 0;
            for (int j = 0; j < T; j++)
                exps += exp(score[(lh * T + i) * T + j]);
            for (int j = 0; j < T; j++) {
                int at = (lh * T + i) * T + j;
                if (causal && j > i) {
                    assert_true(isinf(content[at]) && content[at] < 0 && isinf(score[at]) && score[at] < 0);
                    assert_true(bias[at] == 0 && p[j] == 0);
                    continue;
                }
                assert_true(bias[at] == score[at] - content[at]);
                if (terms[0] != unwritten) { /* exact up to the rounding of the sum */
                    const float *t = terms + (lh / H * T) * H + lh % H;
                    assert_true(fabs(bias[at] - (t[i * H] - t[j * H])) < 1e-5);
                }
                if (strncmp(pe, "shaw", 4) == 0)
                    assert_true(fabs(bias[at] - relative(m, &tables, q, lh, i, j)) < 1e-5);
                else if (pw_model_pe(m)->pe->uses & PW_PE_TERMS) /* differences of one number of each row */
                    assert_true(bias[at] <= 0 &&
                                fabs(bias[at] - (bias[at - j] - bias[lh * T * T + j * T])) < 1e-5);
                else if (pw_model_pe(m)->pe->uses & PW_PE_SLOPES) /* less for each step to the past */
                    assert_true(bias[at] * (float)(i - j) <= 1e-5f && (i != j || fabs(bias[at]) < 1e-5));
                else if (pw_model_pe(m)->pe->uses & PW_PE_MIXES) /* trained here, but to the past alone */
                    assert_true(j <= i ? bias[at] != 0 : bias[at] == 0);
                else if (pw_model_pe(m)->pe->scan == PW_SCAN_CONTEXT) /* tests/ops has their values */
                    assert_true(isfinite(bias[at]));
                else if (pw_model_pe(m)->pe->scan == PW_SCAN_SELECT) /* each query adds votes */
                    assert_true(bias[at] <= 1e-5f && (j > 0 && j < i - 1 ? true : fabs(bias[at]) < 1e-5) &&
                                (i == j || bias[at] <= bias[at - T] + 1e-5f));
                else if (pw_model_pe(m)->pe->uses &
                         PW_PE_POLAR) /* lengths times a cosine, less the lengths */
                    assert_true(bias[at] <= 1e-5f);
                else if (pw_model_pe(m)->pe->uses & PW_PE_PLANES) /* no turn at equal positions */
                    assert_true(isfinite(bias[at]) && (i == j ? fabs(bias[at]) < 1e-5 : bias[at] != 0));
                else if (pw_model_pe(m)->pe->uses & PW_PE_WALK) /* the own key has the plain product */
                    assert_true(isfinite(bias[at]) && (i == j ? fabs(bias[at]) < 1e-5 : bias[at] != 0));
                else if (strncmp(pe, "rotary", 6) != 0) /* the table, up to rounding of the sum */
                    assert_true(fabs(bias[at] - (tables.bias != NULL || tables.dense != NULL
                                                     ? (double)pw_pe_bias_at(&tables, lh % H, i, j)
                                                     : 0)) < 1e-5);
                else if (i == j) /* equal rotation angles: the product is unchanged */
                    assert_true(fabs(bias[at]) < 1e-5);
                double want = pw_model_pe(m)->pe->scan == PW_SCAN_STICK ? stick(score + at - j, i, j)
                                                                        : exp(score[at]) / exps;
                assert_true(fabs(p[j] - want) < 1e-5);
                sum += p[j];
            }
            assert_true(fabs(sum - 1) < 1e-5);
        }
    }
    pw_pe_tables_free(&tables);
    toy_batch_free(b);
}

static void test_parts(void **state)
{
    for (int e = 0; pw_pes[e] != NULL; e++) {
        struct pw_model *m = trained(*state, OPTIONS, pw_pes[e]->name);
        check_parts(m, pw_pes[e]->name, true);
        pw_model_destroy(m);
        if (pw_pes[e]->needs_mask)
            continue;
        m = trained(*state, OPTIONS " causal=off", pw_pes[e]->name);
        check_parts(m, pw_pes[e]->name, false);
        pw_model_destroy(m);
    }
}

/* resid[0] must be the embedding plus the added table. */
static void test_stream_begins(void **state)
{
    enum { T = 16 };
    static float resid[(L + 1) * T * C];

    for (int e = 0; pw_pes[e] != NULL; e++) {
        struct pw_model *m = trained(*state, OPTIONS, pw_pes[e]->name);
        struct pw_batch *b = toy_batch(3, 1, T, T, V);
        float *p = malloc(pw_model_size(m) * sizeof *p);
        struct pw_pe_tables tables;
        struct pw_err err = {0};
        assert_non_null(p);
        pw_model_get(m, p, NULL, NULL); /* the embedding comes first */
        assert_int_equal(pw_model_tables(m, T, &tables, &err), PW_OK);
        inspect(m, b->tokens, T, &(struct pw_inspection){.resid = resid});
        for (int i = 0; i < T * C; i++)
            assert_true(resid[i] ==
                        p[b->tokens[i / C] * C + i % C] + (tables.added != NULL ? tables.added[i] : 0));
        pw_pe_tables_free(&tables);
        free(p);
        toy_batch_free(b);
        pw_model_destroy(m);
    }
}

static void test_context(void **state)
{
    struct pw_model *m = toy_model(*state, OPTIONS, "learned", V, 1);
    struct pw_batch *b = toy_batch(1, 1, 17, 17, V);
    struct pw_optim o = toy_optim("");
    struct pw_step_result result;
    struct pw_pe_tables tables;
    float logits[17 * V];
    int best[17];
    struct pw_err err = {0};

    assert_int_equal(pw_model_eval(m, b, best, NULL, &err), PW_EUSER);
    assert_string_equal(err.msg, "a sequence of 17 tokens: the model has context=16");
    assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_EUSER);
    assert_int_equal(pw_model_inspect(m, b->tokens, 17, &(struct pw_inspection){.logits = logits}, &err),
                     PW_EUSER);
    assert_int_equal(pw_model_tables(m, 17, &tables, &err), PW_EUSER);
    toy_batch_free(b);
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greedy),           cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_batch_mates),      cmocka_unit_test(test_parts),
        cmocka_unit_test(test_stream_begins),    cmocka_unit_test(test_context),
        cmocka_unit_test(test_large_vocabulary),
    };

    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
