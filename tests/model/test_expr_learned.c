/* test_expr_learned.c - learned parameters of formulas: the backend's bias and gradients against the
 * evaluation of the formula and its differences, and formulas of T5, ALiBi, KERPLE and FIRE against the
 * built-in encodings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/expr_code.h"
#include "model/expr/formula.h"
#include "model/model.h"
#include "ref_formula.h"
#include "ref_toy.h"

enum { H = 2, P = 9, LAYERS = 2, TABLE = 6, FLOATS = H + 1 + H * TABLE, ROUNDS = 1200 };

/* A random formula, its program, and one run of it. */
struct trial {
    const struct pw_backend_ops *ops;
    const struct pw_expr *x;
    struct pw_expr_use use;
    size_t entries;
    float param[FLOATS], d_param[FLOATS], bias[H * P * P], d_bias[LAYERS * H * P * P], weight[H * P * P];
};

static void run_trial(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct trial *t = arg;
    (void)chunk;
    (void)worker;
    t->ops->expr_fwd(c, t->bias, t->param, &t->use, H, P);
    t->ops->expr_bwd(c, t->d_param, t->d_bias, t->param, &t->use, LAYERS, H, P);
}

/* The formula's value at a pair, with float k of the parameters changed by `step`. */
static double value_at(const struct trial *t, int h, int i, int j, int k, double step)
{
    static double regs[PW_EXPR_NODES];
    double values[FLOATS], vars[PW_VARS] = {[PW_VAR_I] = i,    [PW_VAR_J] = j,     [PW_VAR_DISTANCE] = i - j,
                                            [PW_VAR_HEAD] = h, [PW_VAR_HEADS] = H, [PW_VAR_CONTEXT] = 16};
    const double *param[] = {values + h, values + H, values + H + 1 + h * TABLE};
    for (int e = 0; e < FLOATS; e++)
        values[e] = (double)t->param[e] + (e == k ? step : 0);
    return pw_expr_eval(t->x, PW_STAGE_BIAS, vars, param, regs);
}

/* The sum of weight times bias over all entries, in double precision. */
static double sum_of(const struct trial *t, int k, double step, double *size)
{
    double sum = 0;
    bool dense = t->use.code->dense;
    for (int h = 0; h < H; h++)
        for (int i = dense ? 0 : P - 1; i < P; i++)
            for (int j = 0; j <= i; j++) {
                size_t at = dense ? ((size_t)h * P + (size_t)i) * P + (size_t)j
                                  : (size_t)(h * (2 * P - 1) + P - 1 + i - j);
                double y = value_at(t, h, i, j, k, step);
                if (k < 0 && !(fabs(y - (double)t->bias[at]) <= 1e-6 * (1 + fabs(y))))
                    fail_msg("head %d, %d, %d: bias %.9g instead of %.9g", h, i, j, (double)t->bias[at], y);
                sum += (double)t->weight[at] * y;
                *size += fabs((double)t->weight[at] * y);
            }
    return sum;
}

static void compare(struct trial *t, const char *text)
{
    double size = 1;
    sum_of(t, -1, 0, &size);
    for (int k = 0; k < FLOATS; k++) {
        double up = sum_of(t, k, 1e-5, &size), down = sum_of(t, k, -1e-5, &size);
        double difference = (up - down) / 2e-5, found = (double)t->d_param[k];
        if (!(fabs(difference - found) <= 1e-5 * (fabs(found) + size)))
            fail_msg("%s: parameter %d: gradient %.9g, difference %.9g", text, k, found, difference);
    }
}

/* The table's parameter T is a smooth function of its index only between entries. */
static void test_differences(void **state)
{
    static const char *const leaves[] = {"d",   "d", "j", "h", "a", "b", "T[h]", "T[d]", "T(a * 0.3 + 1.13)",
                                         "1.5", NULL};
    static const char *const by_distance[] = {"d",    "d", "h", "a", "b", "T[h]", "T[d]", "T(a * 0.3 + 1.13)",
                                              "0.25", NULL};
    struct toy toy = toy_open(1);
    struct pw_config cfg = toy_config("heads=2 layers=2 context=16", 12);
    struct ref_maker m = {0};
    int dense = 0;
    (void)state;
    pw_rng_init(&m.rng, 7, PW_STREAM_INIT, 4);
    for (int round = 0; round < ROUNDS; round++) {
        struct trial t = {.ops = toy.ops};
        struct pw_expr_code *code;
        struct pw_err err = {0};
        m.leaves = round % 2 ? leaves : by_distance;
        pw_str_clear(&m.out);
        pw_str_add(&m.out,
                   "expr 'a = learn(0.5) per head; b = learn(-0.3); T = learn(normal(0.1), 6) per head; "
                   "bias = a * b * T[0] + 0.01 * ");
        ref_add_expression(&m, 1 + (int)ref_any(&m, 4));
        pw_str_add(&m.out, "'");
        struct pw_pe_use_opts use = toy_pe(m.out.s, &cfg);
        if (use.pe->code(use.o.bytes, &cfg, PW_TABLE_BIAS, &code, &err) != PW_OK)
            fail_msg("%s: %s", m.out.s, err.msg);
        t.x = pw_formula_of(use.o.bytes)->x;
        t.use = (struct pw_expr_use){.code = code, .there = code, .step = 1, .causal = true};
        t.entries = H * pw_bias_entries(code->dense, P);
        dense += code->dense;
        for (int k = 0; k < FLOATS; k++)
            t.param[k] = 0.01f * (float)ref_any(&m, 100) - 0.5f;
        for (size_t e = 0; e < t.entries; e++)
            for (size_t l = 0; l < LAYERS; l++) {
                t.d_bias[l * t.entries + e] = 0.125f * (float)ref_any(&m, 16) - 1;
                t.weight[e] += t.d_bias[l * t.entries + e];
            }
        toy.ops->for_chunks(toy.be, 1, run_trial, &t);
        compare(&t, m.out.s);
        free(code);
    }
    assert_in_range(dense, ROUNDS / 10, ROUNDS);
    pw_str_fini(&m.out);
    toy_close(&toy);
}

/* ---- against built-in encodings */

/* Copies the encoding's tensors of `from`: tensor k has the entries of from's tensor order[k], transposed if
 * both are matrices of different shapes. */
static void copy_tensors(struct pw_model *to, struct pw_model *from, const int *order)
{
    float *a = malloc(pw_model_size(to) * sizeof *a), *b = malloc(pw_model_size(from) * sizeof *b);
    int n, m;
    const struct pw_param *p = pw_model_pe_params(to, &n), *q = pw_model_pe_params(from, &m);
    assert_true(a != NULL && b != NULL && n == m);
    pw_model_get(to, a, NULL, NULL);
    pw_model_get(from, b, NULL, NULL);
    for (int k = 0; k < n; k++) {
        const struct pw_param *s = &q[order[k]];
        bool turned = p[k].rows != s->rows && s->rows > 0 && p[k].rows > 0;
        assert_int_equal(pw_param_count(&p[k]), pw_param_count(s));
        for (size_t e = 0; e < pw_param_count(s); e++) {
            size_t at = turned ? e % (size_t)p[k].cols * (size_t)s->cols + e / (size_t)p[k].cols : e;
            a[p[k].offset + e] = b[s->offset + at];
        }
    }
    pw_model_put(to, a, NULL, NULL);
    free(a);
    free(b);
}

static void same_tables(struct pw_model *a, struct pw_model *b, int N)
{
    struct pw_pe_tables s, t;
    struct pw_err err = {0};
    int heads = pw_model_config(a)->heads;
    assert_int_equal(pw_model_tables(a, N, &s, &err), PW_OK);
    assert_int_equal(pw_model_tables(b, N, &t, &err), PW_OK);
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) {
                double x = (double)pw_pe_bias_at(&s, h, i, j), y = (double)pw_pe_bias_at(&t, h, i, j);
                if (!(fabs(x - y) <= 1e-6 * (1 + fabs(y))))
                    fail_msg("head %d, query %d, key %d: %.9g instead of %.9g", h, i, j, x, y);
            }
    pw_pe_tables_free(&s);
    pw_pe_tables_free(&t);
}

static const struct {
    const char *formula, *built_in;
    int order[6]; /* tensor k of the formula is this one of the built-in encoding */
} same[] = {
    {"expr 'T = learn(normal(1), 8) per head; bias = T[bucket(d, 8, 16)]'", "t5 buckets=8 distance=16", {0}},
    {"expr 'a = learn(0.1); m = learn(1); y = max(i, abs(m * 4)); "
     "bias = mlp(log1p(abs(a) * d) / (log1p(abs(a) * y) + 0.000001), hidden=8)'",
     "fire hidden=8 threshold=4",
     {0, 1, 2, 3, 4, 5}},
    {"expr 'gate = -softplus(-g)'", "fox", {0, 1}},
    {"expr 'scan = stick'", "stickbreaking", {0}},
    {"expr 'scan = context(17)'", "cope npos=17", {0}},
    {"expr 'P = learn(normal(1), 20) per mix, layer; mixes = 3; mix = d < 20 ? P[d] : 0'",
     "inkling reach=20 mixes=3",
     {1, 0}},
    {"expr 'mixes = 4; P = learn(normal(1), 64) per mix, layer; mix = P[d]; scale = 1 + 0.3 * log(max(1, (i "
     "+ 1) / 5))'",
     "inkling reach=64 alpha=0.3 floor=5",
     {1, 0}},
};

static void test_built_in(void **state)
{
    struct toy *toy = *state;
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        struct pw_model *a = toy_model(toy, "heads=4 width=32 layers=2 context=64", same[k].formula, 12, 3);
        struct pw_model *b = toy_model(toy, "heads=4 width=32 layers=2 context=64", same[k].built_in, 12, 3);
        struct pw_optim o = toy_optim("lr=0.0003");
        copy_tensors(a, b, same[k].order);
        if (pw_model_pe(b)->pe->uses & PW_PE_BIASES)
            same_tables(a, b, 40);
        for (int step = 0; step < 100; step++) {
            struct pw_batch *batch = toy_batch((uint64_t)step, 6, 5, 40, 12);
            struct pw_step_result x, y;
            struct pw_err err = {0};
            assert_int_equal(pw_model_step(a, &o, batch, NULL, &x, &err), PW_OK);
            assert_int_equal(pw_model_step(b, &o, batch, NULL, &y, &err), PW_OK);
            bool first = step == 0; /* later norms differ by rounding errors that training has enlarged */
            if (!(fabs(x.loss - y.loss) <= 1e-6 * y.loss) ||
                (first && !(fabs(x.grad_norm - y.grad_norm) <= 1e-6 * y.grad_norm)))
                fail_msg("%s: step %d: loss %.9g instead of %.9g, norm %.9g instead of %.9g",
                         same[k].built_in, step, x.loss, y.loss, x.grad_norm, y.grad_norm);
            toy_batch_free(batch);
        }
        pw_model_destroy(a);
        pw_model_destroy(b);
    }
}

/* A learned factor on ALiBi's slopes begins as ALiBi; KERPLE (Chi et al. 2022) against its definition. */
static void test_tables(void **state)
{
    struct toy *toy = *state;
    const char *options = "heads=4 width=32 layers=2 context=64";
    struct pw_model *a =
        toy_model(toy, options, "expr 'a = learn(1) per head; bias = -a * slopes()[h] * d'", 12, 3);
    struct pw_model *b = toy_model(toy, options, "alibi", 12, 3);
    same_tables(a, b, 40);
    pw_model_destroy(a);
    pw_model_destroy(b);
    a = toy_model(toy, options,
                  "expr 'a = learn(0.7) per head, layer; b = learn(-0.2) per head; "
                  "bias = -softplus(a) * log1p(softplus(b) * d); mask = d < 20'",
                  12, 3);
    struct pw_pe_tables t;
    struct pw_err err = {0};
    assert_int_equal(pw_model_tables(a, 40, &t, &err), PW_OK);
    for (int l = 0; l < 2; l++)
        for (int d = 0; d < 40; d++) {
            struct pw_pe_tables at = pw_pe_tables_at(&t, l);
            double y = -log1p(exp(0.7)) * log1p(log1p(exp(-0.2)) * d),
                   x = (double)pw_pe_bias_at(&at, 3, d, 0);
            assert_true(d < 20 ? fabs(x - y) <= 1e-6 * (1 + fabs(y)) : isinf(x) && x < 0);
        }
    pw_pe_tables_free(&t);
    pw_model_destroy(a);
}

static void same_floats(const float *a, const float *b, size_t n, const char *table)
{
    assert_true((a == NULL) == (b == NULL));
    for (size_t k = 0; a != NULL && k < n; k++)
        if (!(fabsf(a[k] - b[k]) <= 1e-6f * (1 + fabsf(b[k]))))
            fail_msg("%s: entry %zu is %.9g instead of %.9g", table, k, (double)a[k], (double)b[k]);
}

/* Tables by position with learned parameters begin as those with the numbers written out. */
static void test_other_tables(void **state)
{
    static const char *const tuned[] = {"", " offset=3 stretch=0.5"};
    struct toy *toy = *state;
    for (size_t k = 0; k < 2; k++) {
        char learned[400], fixed[400];
        snprintf(learned, sizeof learned,
                 "expr 'a = learn(0.3) per channel; b = learn(100) per pair; g = learn(2) per layer; "
                 "t = learn(0.4) per head, layer; embed = a * sin(i + c); angle = i * b ** (-2 * p / D); "
                 "gain = g + l; scale = t * log(n + 1) + 0.1 * h'%s",
                 tuned[k]);
        snprintf(fixed, sizeof fixed,
                 "expr 'embed = 0.3 * sin(i + c); angle = i * 100 ** (-2 * p / D); gain = 2 + l; "
                 "scale = 0.4 * log(n + 1) + 0.1 * h + 0 * l'%s",
                 tuned[k]);
        struct pw_model *a = toy_model(toy, "heads=4 width=32 layers=2 context=64", learned, 12, 3);
        struct pw_model *b = toy_model(toy, "heads=4 width=32 layers=2 context=64", fixed, 12, 3);
        struct pw_pe_tables s, t;
        struct pw_err err = {0};
        size_t N = 40;
        assert_int_equal(pw_model_tables(a, (int)N, &s, &err), PW_OK);
        assert_int_equal(pw_model_tables(b, (int)N, &t, &err), PW_OK);
        assert_true(s.gain_layer == t.gain_layer && s.turn_layer == t.turn_layer && s.turn_layer > 0);
        same_floats(s.cosine, t.cosine, 2 * N * 4, "cosine");
        same_floats(s.sine, t.sine, 2 * N * 4, "sine");
        same_floats(s.gain, t.gain, 2 * 4 * N, "gain");
        same_floats(s.added, t.added, N * 32, "added");
        pw_pe_tables_free(&s);
        pw_pe_tables_free(&t);
        pw_model_destroy(a);
        pw_model_destroy(b);
    }
}

/* A score with learned parameters begins with the bits of one with the numbers written out: they are floats.
 * Positions that tune changes leave the numbers alone. */
static void test_score(void **state)
{
    static const char *const tuned[] = {"", " offset=3 stretch=0.5"};
    struct toy *toy = *state;
    for (size_t k = 0; k < 2; k++) {
        char learned[300], fixed[300];
        snprintf(learned, sizeof learned,
                 "expr 'cap = learn(3) per head, layer; T = learn(0.5, 4); w = learn(0.25) per layer; "
                 "angle = i / (p + 1); "
                 "score = cap * tanh(s / cap) * T[h] * 2 - w * d + w * 0.5 * i'%s",
                 tuned[k]);
        snprintf(fixed, sizeof fixed,
                 "expr 'angle = i / (p + 1); score = 3 * tanh(s / 3) - 0.25 * d + 0.125 * i'%s", tuned[k]);
        struct pw_model *a = toy_model(toy, "heads=4 width=32 layers=2 context=64", learned, 12, 3);
        struct pw_model *b = toy_model(toy, "heads=4 width=32 layers=2 context=64", fixed, 12, 3);
        struct pw_batch *batch = toy_batch(1, 6, 5, 40, 12);
        float *x = malloc(batch->n_scored * sizeof *x), *y = malloc(batch->n_scored * sizeof *y);
        int *best = malloc(batch->n_scored * sizeof *best);
        struct pw_err err = {0};
        assert_int_equal(pw_model_eval(a, batch, best, x, &err), PW_OK);
        assert_int_equal(pw_model_eval(b, batch, best, y, &err), PW_OK);
        assert_memory_equal(x, y, batch->n_scored * sizeof *x);
        free(x);
        free(y);
        free(best);
        toy_batch_free(batch);
        pw_model_destroy(a);
        pw_model_destroy(b);
    }
}

/* A score has at most 16 numbers; equal ones are one. */
static void test_most_numbers(void **state)
{
    struct pw_config cfg = toy_config("heads=4 width=32 layers=2 context=64", 12);
    (void)state;
    for (int n = 16; n <= 17; n++) {
        struct pw_str text = {0};
        struct pw_pe_use_opts use;
        struct pw_err err = {0};
        pw_str_add(&text, "expr 'T = learn(0.1, 17); score = s");
        for (int k = 0; k <= n; k++)
            pw_str_add(&text, " + T[%d] * tanh(s)", k % n);
        pw_str_add(&text, "'");
        enum pw_code code = pw_pe_parse(&use, pw_str_text(&text), &cfg, &err);
        if (n == 16)
            assert_int_equal(code, PW_OK);
        else
            assert_string_equal(err.msg, "expr: score: 17 numbers of learned parameters: at most 16");
        pw_str_fini(&text);
    }
}

/* Bits of a formula with all passes do not depend on the number of threads. */
static void test_threads(void **state)
{
    float *first = NULL;
    (void)state;
    for (int threads = 1; threads <= 8; threads += threads == 3 ? 5 : 1) {
        struct toy toy = toy_open(threads);
        struct pw_model *m = toy_model(&toy, "heads=4 width=32 layers=2 context=64",
                                       "expr 'a = learn(0.3) per head; T = learn(normal(0.2), 9) per layer; "
                                       "bias = T(i * 0.3) * tanh(a * j) + a * T[d] - log1p(abs(a) * d); "
                                       "w = learn(normal(1)) per channel; r = learn(1) per pair; "
                                       "embed = w * cos(i / 5); angle = r * i / (p + 1); "
                                       "a0 = learn(0.1); gain = 1 + a0 * p; scale = 1 + a * log(n)'",
                                       12, 3);
        struct pw_optim o = toy_optim("");
        float *all = malloc(pw_model_size(m) * sizeof *all);
        for (int step = 0; step < 5; step++) {
            struct pw_batch *batch = toy_batch((uint64_t)step, 9, 5, 40, 12);
            struct pw_step_result x;
            struct pw_err err = {0};
            assert_int_equal(pw_model_step(m, &o, batch, NULL, &x, &err), PW_OK);
            toy_batch_free(batch);
        }
        pw_model_get(m, all, NULL, NULL);
        if (first == NULL)
            first = all;
        else
            assert_memory_equal(all, first, pw_model_size(m) * sizeof *all);
        if (all != first)
            free(all);
        pw_model_destroy(m);
        toy_close(&toy);
    }
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_most_numbers),
        cmocka_unit_test_setup_teardown(test_score, toy_setup, toy_teardown),
        cmocka_unit_test_setup_teardown(test_built_in, toy_setup, toy_teardown),
        cmocka_unit_test_setup_teardown(test_other_tables, toy_setup, toy_teardown),
        cmocka_unit_test_setup_teardown(test_tables, toy_setup, toy_teardown),
    };
    return cmocka_run_group_tests_name("expr_learned", tests, NULL, NULL);
}
