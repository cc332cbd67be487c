/* test_failing.c - tests the classes of wrong answers, on constructed answers. Tests also that the first
 * errors found by evaluation are those of greedy decoding. */
#include "ref_lab.h"

#include <stdio.h>
#include <string.h>

#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"

static void test_classes(void **state)
{
    (void)state;
    static const int right[] = {5, 6, 7, PW_EOS};
    static const struct {
        int choices[4], place;
        enum pw_error kind;
    } cases[] = {
        {{5, 6, 7, PW_EOS}, -1, PW_ERRORS},
        {{PW_EOS, 6, 7, PW_EOS}, 0, PW_ERROR_EARLY}, /* tokens after the first error don't count */
        {{5, 6, PW_EOS, 5}, 2, PW_ERROR_EARLY},
        {{5, 6, 7, 7}, 3, PW_ERROR_LATE},
        {{5, 9, PW_EOS, 7}, 1, PW_ERROR_WRONG},
        {{5, 6, 6, 7}, 2, PW_ERROR_WRONG},
    };
    struct pw_eval_row row = {0};
    uint64_t outcomes[1] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum pw_error kind = PW_ERRORS;
        assert_int_equal(pw_eval_first_error(cases[i].choices, right, 4, &kind), cases[i].place);
        assert_int_equal(kind, cases[i].kind);
        pw_eval_count(&row, outcomes, cases[i].choices, right, 4);
    }
    assert_int_equal(row.samples, 6);
    assert_int_equal(row.exact, 1);
    assert_int_equal(row.tokens, 24);
    assert_int_equal(row.tokens_right, 4 + 3 + 2 + 3 + 1 + 2);
    assert_int_equal(outcomes[0], 1);
    assert_int_equal(row.errors[PW_ERROR_EARLY], 2);
    assert_int_equal(row.errors[PW_ERROR_LATE], 1);
    assert_int_equal(row.errors[PW_ERROR_WRONG], 2);
    assert_true(row.places[0] == 1 && row.places[1] == 1 && row.places[2] == 2 && row.places[3] == 1);
}

/* All places beyond the last separate one share its counter. */
static void test_long_answers(void **state)
{
    (void)state;
    int right[PW_PLACES + 9], choices[PW_PLACES + 9];
    struct pw_eval_row row = {0};
    for (int i = 0; i < PW_PLACES + 9; i++)
        right[i] = choices[i] = 5;
    choices[PW_PLACES + 3] = 6;
    pw_eval_count(&row, NULL, choices, right, PW_PLACES + 9);
    choices[PW_PLACES - 1] = 6;
    pw_eval_count(&row, NULL, choices, right, PW_PLACES + 9);
    assert_int_equal(row.places[PW_PLACES - 1], 2);
}

/* Pins every sample of a row. Decoding must end at the first wrong token, with the place and class of the
 * evaluation. */
static void hold_against_decoding(struct bench *b, int length, int samples)
{
    const struct pw_ev_eval *e = &b->s->arms[0].rep[0].eval;
    struct pw_eval_row row = *pw_eval_find(e, 0, length), seen = {0};
    bool right[64];
    char line[64];
    for (int i = 0; i < samples; i++)
        right[i] = pw_eval_right(e, &row, i);
    for (int i = 0; i < samples; i++) {
        snprintf(line, sizeof line, "failing length=%d index=%d", length, i);
        bench_must(b, line);
        assert_int_equal(b->decoded, 1);
        assert_int_equal(b->exact, right[i]);
        seen.exact += b->exact;
        if (b->exact)
            continue;
        const struct pw_snapshot *s = b->s;
        const struct pw_ev_token *last = &s->tokens[s->n_tokens - 1];
        int place = last->pos - s->prompt.n_prompt;
        assert_false(last->right);
        for (int k = 0; k < s->n_tokens - 1; k++)
            assert_true(s->tokens[k].right);
        seen.errors[last->token == PW_EOS          ? PW_ERROR_EARLY
                    : last->pos == s->prompt.n - 1 ? PW_ERROR_LATE
                                                   : PW_ERROR_WRONG]++;
        seen.places[place]++;
    }
    assert_int_equal(seen.exact, row.exact);
    assert_memory_equal(seen.errors, row.errors, sizeof seen.errors);
    assert_memory_equal(seen.places, row.places, sizeof seen.places);
}

static void test_decoding_agrees(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 2, false);
    bench_must(
        &b,
        "task sort lengths=1..4 alphabet=4; model layers=1 width=32 heads=2 head_width=16 ffn=64; train 150; "
        "eval lengths=2..9 samples=40");
    const struct pw_ev_eval *e = &b.s->arms[0].rep[0].eval;
    int errors[PW_ERRORS] = {0};
    for (int i = 0; i < e->n; i++) {
        int all = e->rows[i].exact, places = e->rows[i].exact, bits = 0;
        for (int k = 0; k < PW_ERRORS; k++)
            all += e->rows[i].errors[k], errors[k] += e->rows[i].errors[k];
        for (int k = 0; k < PW_PLACES; k++)
            places += e->rows[i].places[k];
        for (int k = 0; k < 40; k++)
            bits += pw_eval_right(e, &e->rows[i], k);
        assert_int_equal(all, 40);
        assert_int_equal(places, 40);
        assert_int_equal(bits, e->rows[i].exact);
    }
    assert_true(errors[PW_ERROR_EARLY] > 0 && errors[PW_ERROR_WRONG] > 0); /* else the test shows little */
    hold_against_decoding(&b, 3, 40);
    hold_against_decoding(&b, 9, 40);
    bench_close(&b);
}

static void test_list(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 2, false);
    bench_run(&b, "failing");
    assert_string_equal(b.error, "failing: arm 1 has no evaluation yet; run 'eval' first");
    bench_must(&b, "race none,alibi; train 40; eval lengths=3..4 samples=70; failing length=4 n=3 arm=2");
    const struct pw_ev_failing *f = &b.s->failing;
    const struct pw_ev_eval *e = &b.s->arms[1].rep[0].eval;
    const struct pw_eval_row *row = pw_eval_find(e, 0, 4);
    assert_int_equal(b.s->failing_arm, 2);
    assert_int_equal(f->length, 4);
    assert_int_equal(f->failed, 70 - row->exact);
    assert_int_equal(f->n, 3);
    for (int i = 0, at = -1; i < 3; i++) {
        const struct pw_failing *x = &f->list[i];
        at = pw_eval_failing(e, row, at + 1);
        assert_int_equal(x->index, at);
        assert_in_range(x->place, 0, 4);
        assert_int_equal(x->n_answer, 5);
        assert_string_not_equal(x->want, x->got);
        assert_memory_equal(x->prompt, "sort ", 5);
        assert_null(strstr(x->right, "sort"));
        assert_non_null(strstr(x->right, "</s>"));
    }
    bench_run(&b, "failing length=5");
    assert_string_equal(b.error, "failing: length 5 was not evaluated; run 'eval lengths=5' first");
    bench_run(&b, "failing length=4 index=70");
    assert_string_equal(b.error, "failing: index=70: length 4 has samples 0..69");
    bench_run(&b, "failing length=4 index=1 arm=2");
    assert_string_equal(b.error, "failing: index= pins for the current arm only; run 'arm 2' first");
    bench_run(&b, "failing task=copy");
    assert_string_equal(b.error, "failing: the lab has no task 'copy': sort");
    bench_run(&b, "seed 9; failing"); /* the arm restarts: its evaluation is gone */
    assert_string_equal(b.error, "failing: arm 1 has no evaluation yet; run 'eval' first");
    bench_run(&b, "eval lengths=3 samples=9; task sort lengths=2..7; failing"); /* the weights are kept */
    assert_string_equal(b.error, "failing: arm 1 was evaluated on another task or seed; run 'eval' first");
    bench_close(&b);
}

/* A prompt pinned later is decoded to its end again. Inspecting outcomes changes no weights. */
static void test_leaves_no_trace(void **state)
{
    (void)state;
    struct bench b;
    char first[sizeof b.digests];
    bench_open(&b, 2, false);
    bench_must(&b, "model layers=1 width=16 heads=2; train 20; digest");
    snprintf(first, sizeof first, "%s", b.digests);
    bench_must(&b, "reset; train 10; eval lengths=12 samples=5; failing; failing length=12 index=0");
    int stopped = b.s->n_tokens;
    bench_must(&b, "prompt sort 1 0 2 3 4 5 6 7 8 9; train 10; digest");
    assert_string_equal(b.digests, first);
    assert_int_equal(stopped < 13, 1);
    assert_true(b.s->tokens[b.s->n_tokens - 1].last);
    assert_true(b.s->n_tokens > 1);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),         cmocka_unit_test(test_long_answers),
        cmocka_unit_test(test_decoding_agrees), cmocka_unit_test(test_list),
        cmocka_unit_test(test_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
