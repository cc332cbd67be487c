/* test_lengths.c - tests rotations by the length of the whole sequence: which lengths share rows, and that
 * training, evaluation, decoding and tables have the rotation of a formula in which the length is a number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "model/decode.h"
#include "model/expr/library.h"
#include "model/model_int.h"
#include "ref_toy.h"

#define OPTIONS "layers=2 width=16 heads=4 head_width=4 ffn=24 context=32"
enum { CONTEXT = 32, VOCAB = 11, HEADS = 4, MOST = 20 };

static void must(enum pw_code code, const struct pw_err *err)
{
    if (code != PW_OK)
        fail_msg("%s", err->msg);
}

/* Formulas with N for the length: "n" or a number. */
static const char *const forms[] = {
    /* dynamic NTK, as in encodings/rope_dynamic.pe */
    "b = 10000 * (2 * max(N, 8) / 8 - 1) ** (D / max(D - 2, 1)); angle = i * b ** (-2 * p / D)",
    /* a switch, as in longrope, with a gain; two blocks */
    "angle = i * 100 ** (-2 * p / D) / (N > 9 ? 3 : 1); gain = N > 9 ? 1.5 : 1",
    /* every length has its rows; beside other stages; queries and keys differ, and so do layers */
    "angle = (i + 3 * key) / N * (p + 1) + l; bias = -d / (h + 1); scale = 1 + i / 50 + h; embed = sin(i)",
    /* lengths that share rows are no neighbours; a score by distance */
    "angle = i / (1 + N % 3); score = 30 * tanh(s / 30) - d / 9; mask = d < 6",
};
enum { FORMS = sizeof forms / sizeof *forms };

static void write_form(char *out, size_t size, int form, int length)
{
    size_t at = (size_t)snprintf(out, size, "expr '");
    for (const char *c = forms[form]; *c != '\0'; c++)
        at += (size_t)snprintf(out + at, size - at, *c == 'N' && length > 0 ? "%d" : "%c",
                               *c != 'N'    ? *c
                               : length > 0 ? length
                                            : 'n');
    snprintf(out + at, size - at, "'");
}

/* A model of the form; length 0: it reads n. All lengths have the same parameters. */
static struct pw_model *make_model(struct toy *toy, const char *more, int form, int length)
{
    char text[400], options[200];
    write_form(text, sizeof text, form, length);
    snprintf(options, sizeof options, OPTIONS " %s", more);
    struct pw_model *m = toy_model(toy, options, text, VOCAB, 5);
    toy_shake(m, 6);
    return m;
}

static void write_tokens(int *tokens, int T)
{
    for (int t = 0; t < T; t++)
        tokens[t] = (t * 7 + t * t) % VOCAB;
}

/* Dynamic NTK has one block up to the trained length, then one for each length. */
static void test_blocks(void **state)
{
    static const int rows[FORMS] = {8 + (9 + 32) * 24 / 2, 9 + 32, 33 * 16, 31 + 32 + 30};
    static const int nine[FORMS] = {8, 0, 36, 31 + 32};
    (void)state;
    for (int k = 0; k < FORMS; k++) {
        struct pw_config cfg = toy_config(OPTIONS, VOCAB);
        char text[400];
        int first[CONTEXT + 1];
        write_form(text, sizeof text, k, 0);
        struct pw_pe_use_opts use = toy_pe(text, &cfg);
        assert_true(pw_pe_uses_length(use.pe) && !pw_pe_adds_by_length(use.pe));
        assert_int_equal(use.pe->rows_by_length(use.o.bytes, &cfg, first), rows[k]);
        assert_int_equal(first[1], 0);
        assert_int_equal(first[9], nine[k]);
        for (int l = 1; l <= CONTEXT; l++)
            assert_true(first[l] >= 0 && first[l] + l <= rows[k]);
    }
}

/* Inspection, tables and decoding have the bits of a formula with the number in place of n. */
static void test_same(void **state)
{
    static float logits[MOST * VOCAB], want[MOST * VOCAB];
    float one[VOCAB];
    for (int k = 0; k < 2 * FORMS; k++) {
        struct pw_model *m = make_model(*state, k < FORMS ? "" : "causal=off", k % FORMS, 0);
        struct pw_decoder *d;
        struct pw_err err;
        int tokens[MOST];
        write_tokens(tokens, MOST);
        must(pw_decoder_create(&d, m, MOST, &err), &err);
        for (int T = 1; T <= MOST; T++) {
            struct pw_model *fixed = make_model(*state, k < FORMS ? "" : "causal=off", k % FORMS, T);
            struct pw_pe_tables t, u;
            must(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.logits = logits}, &err), &err);
            must(pw_model_inspect(fixed, tokens, T, &(struct pw_inspection){.logits = want}, &err), &err);
            assert_memory_equal(logits, want, (size_t)T * VOCAB * sizeof *want);
            if (T == 7 || T == 13) { /* several tokens at once */
                pw_model_destroy(fixed);
                continue;
            }
            int more = T == 8 || T == 14 ? 2 : 1;
            must(pw_decoder_feed(d, tokens + T - more, more, one, &err), &err);
            assert_memory_equal(one, want + (T - 1) * VOCAB, sizeof one);
            must(pw_model_tables(m, T, &t, &err), &err);
            must(pw_model_tables(fixed, T, &u, &err), &err);
            size_t cosines = (size_t)T * 2 * (k % FORMS == 2 ? 4 : 1);
            assert_memory_equal(t.cosine, u.cosine, cosines * sizeof(float));
            assert_memory_equal(t.sine, u.sine, cosines * sizeof(float));
            pw_pe_tables_free(&t);
            pw_pe_tables_free(&u);
            pw_model_destroy(fixed);
        }
        pw_decoder_rewind(d, 5); /* a prefix has another length */
        must(pw_decoder_feed(d, tokens + 5, 2, one, &err), &err);
        must(pw_model_inspect(m, tokens, 7, &(struct pw_inspection){.logits = logits}, &err), &err);
        assert_memory_equal(one, logits + 6 * VOCAB, sizeof one);
        pw_decoder_destroy(d);
        pw_model_destroy(m);
    }
}

static double gradient_of(struct pw_model *m, const struct pw_batch *b, float *grad)
{
    struct pw_err err;
    double loss;
    must(pw_model_gradient(m, b, grad, &loss, &err), &err);
    return loss;
}

/* Sequence s of a batch as a batch. */
static struct pw_batch one_of(const struct pw_batch *b, int s, int *rows)
{
    int from = b->start[s], T = b->start[s + 1] - from, n = 0, at = 0;
    static int start[2];
    while (at < b->n_scored && b->rows[at] < from)
        at++;
    for (; at + n < b->n_scored && b->rows[at + n] < from + T; n++)
        rows[n] = b->rows[at + n] - from;
    start[1] = T;
    return (struct pw_batch){.n_seqs = 1,
                             .n_rows = T,
                             .n_scored = n,
                             .start = start,
                             .tokens = b->tokens + from,
                             .pos = b->pos + from,
                             .rows = rows,
                             .targets = b->targets + at};
}

/* In a batch every sequence has its own length: loss and gradient are the means of those of models in which
 * the length of a sequence is a number. */
static void test_batch(void **state)
{
    for (int k = 0; k < FORMS; k++) {
        struct pw_model *m = make_model(*state, "", k, 0);
        struct pw_batch *b = toy_batch(9, 6, 5, MOST, VOCAB);
        size_t size = pw_model_size(m);
        float *grad = calloc(3 * size, sizeof *grad), *sum = grad + size, *part = sum + size;
        double loss = gradient_of(m, b, grad), all = 0;
        const char *name;
        for (int s = 0; s < b->n_seqs; s++) {
            int rows[MOST];
            struct pw_batch one = one_of(b, s, rows);
            struct pw_model *fixed = make_model(*state, "", k, one.n_rows);
            double share = (double)one.n_scored / b->n_scored;
            if (one.n_scored > 0) {
                all += share * gradient_of(fixed, &one, part);
                for (size_t e = 0; e < size; e++)
                    sum[e] += (float)share * part[e];
            }
            pw_model_destroy(fixed);
        }
        assert_true(fabs(loss - all) < 1e-6 * fabs(all));
        assert_true(toy_gradient_off(m, grad, sum, &name) < 1e-4);
        free(grad);
        toy_batch_free(b);
        pw_model_destroy(m);
    }
}

/* A model of one step has the same bits, whatever lengths its tables have seen, and after a change of an
 * option. */
static void test_growth(void **state)
{
    static float logits[MOST * VOCAB], want[MOST * VOCAB];
    struct pw_config cfg = toy_config(OPTIONS, VOCAB);
    struct pw_pe_use_opts eight = toy_pe("rope_dynamic trained=8", &cfg), twelve = eight;
    struct pw_model *m = toy_model(*state, OPTIONS, "rope_dynamic trained=12", VOCAB, 1),
                    *other = toy_model(*state, OPTIONS, "rope_dynamic trained=8", VOCAB, 1);
    struct pw_err err;
    int tokens[MOST];
    write_tokens(tokens, MOST);
    must(pw_pe_turn(&twelve, "trained=12", &cfg, &err), &err);
    for (int T = 4; T <= MOST; T += 8) {
        must(pw_model_inspect(other, tokens, T, &(struct pw_inspection){.logits = want}, &err), &err);
        if (T == 4)
            pw_model_tune(other, &twelve);
    }
    must(pw_model_inspect(m, tokens, MOST, &(struct pw_inspection){.logits = logits}, &err), &err);
    assert_memory_equal(logits, want, sizeof want);
    pw_model_destroy(m);
    pw_model_destroy(other);
}

/* Tables grow in steps of 64 positions, up to the context. */
static void test_room(void **state)
{
    static const int lengths[][2] = {{60, 64}, {65, 128}, {130, 192}, {70, 192}, {195, 200}};
    struct pw_model *m = toy_model(*state, "width=8 heads=2 context=200", "rope_dynamic trained=8", VOCAB, 1);
    int *tokens = calloc(200, sizeof *tokens);
    struct pw_err err;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        must(pw_model_inspect(m, tokens, lengths[k][0], &(struct pw_inspection){0}, &err), &err);
        assert_int_equal(m->tables.P, lengths[k][1]);
        assert_int_equal(pw_ids_rows(m, m->tables.P), 8 + (9 + m->tables.P) * (m->tables.P - 8) / 2);
    }
    free(tokens);
    pw_model_destroy(m);
}

/* Each case is a stage that can't be beside a rotation by length, and a part of its message. */
static void test_refused(void **state)
{
    static const struct {
        const char *options, *pe, *says;
    } cases[] = {
        {OPTIONS, "expr 'a = learn(1); angle = a * i / n'", "no 'n' with learned parameters"},
        {OPTIONS, "expr 'a = learn(1); angle = i / n; scale = a'", "no 'n' with learned parameters"},
        {OPTIONS, "expr 'angle = i / n; bias = i - 2 * j'", "no 'n' beside a bias or a mask"},
        {OPTIONS, "expr 'angle = i / n; mask = i % 3 == j % 3'", "no 'n' beside a bias or a mask"},
        {OPTIONS, "expr 'gain = n; score = s + i'", "no 'n' beside a score"},
        {OPTIONS, "expr 'angle = i / (n - 9)'", "angle is not finite at i=0, p=0"},
        {OPTIONS, "expr 'angle = i * 1e5 * (n > 20)'", "angle is too large (1e6) at i="},
        {"context=65536", "expr 'angle = i / n'", "need more than 2 GB"},
        {OPTIONS " causal=off", "expr 'angle = i / n; bias = n'", "no 'n'"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pw_config cfg = toy_config(cases[k].options, VOCAB);
        struct pw_pe_use_opts use;
        struct pw_err err;
        if (pw_pe_parse(&use, cases[k].pe, &cfg, &err) == PW_OK)
            fail_msg("%s: allowed", cases[k].pe);
        if (strstr(err.msg, cases[k].says) == NULL)
            fail_msg("%s: %s", cases[k].pe, err.msg);
    }
    struct pw_config cfg = toy_config("context=65536", VOCAB);
    struct pw_pe_use_opts use;
    struct pw_err err;
    must(pw_pe_parse(&use, "expr 'angle = i / (n > 4096 ? 4 : 1)'", &cfg, &err), &err); /* two blocks */
    cfg = toy_config(OPTIONS, VOCAB);
    must(pw_pe_parse(&use, "rope_dynamic", &cfg, &err), &err);
    assert_int_equal(pw_pe_turn(&use, "logn=8", &cfg, &err), PW_EUSER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks), cmocka_unit_test(test_same), cmocka_unit_test(test_batch),
        cmocka_unit_test(test_growth), cmocka_unit_test(test_room), cmocka_unit_test(test_refused),
    };
    pw_library_folders("/nonexistent", PEWTER_SOURCE_DIR "/encodings");
    return cmocka_run_group_tests_name("lengths", tests, toy_setup, toy_teardown);
}
