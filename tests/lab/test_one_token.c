/* test_one_token.c - tests answers of one token without an end mark (task session). Training, evaluation,
 * decoding and inspection use the prompt alone. Tests also the warning when a model without the causal mask
 * trains on answers that it can read. */
#include <stdio.h>
#include <string.h>

#include "ref_lab.h"

#define SMALL "model layers=1 width=32 heads=2 head_width=16 ffn=64 causal=off; "

/* Exact match over the trained lengths. Checks that pinned samples are decoded as they were evaluated. */
static double accuracy(struct bench *b)
{
    const struct pw_ev_eval *e = &b->s->arms[0].rep[0].eval;
    int exact = 0, samples = 0;
    char line[64];
    bench_must(b, "eval lengths=3..4 samples=100");
    for (int i = 0; i < e->n; i++) {
        const struct pw_eval_row *row = &e->rows[i];
        exact += row->exact;
        samples += row->samples;
        assert_int_equal(row->tokens, row->samples); /* one each */
        assert_int_equal(row->errors[PW_ERROR_EARLY] + row->errors[PW_ERROR_LATE], 0);
        assert_int_equal(row->errors[PW_ERROR_WRONG], row->samples - row->exact);
    }
    for (int i = 0; i < 20; i++) {
        snprintf(line, sizeof line, "failing length=4 index=%d", i);
        bench_must(b, line);
        assert_int_equal(b->exact, pw_eval_right(e, pw_eval_find(e, 0, 4), i));
    }
    return (double)exact / samples;
}

/* Without the mask only an encoding distinguishes the first item from the others. */
static void test_order_needs_an_encoding(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "task session lengths=3..4 alphabet=8; optim lr=0.003; pe sinusoidal; train 250");
    assert_true(accuracy(&b) > 0.95);
    bench_must(&b, "pe none; reset; train 250");
    double nope = accuracy(&b);
    assert_true(nope > 0.15 && nope < 0.45); /* one in three, or in four */
    bench_close(&b);
}

/* Beyond the trained lengths an encoding that counts from the end finds the last item. One that counts from
 * the start finds the first. */
static void test_awareness_shows_as_accuracy(void **state)
{
    static const struct {
        const char *by;
        int arm; /* the arm that must find it: 1 counts from the start, 2 from the end */
    } cases[] = {{"first", 1}, {"last", 2}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bench b;
        char script[256];
        bench_open(&b, 2, false);
        snprintf(script, sizeof script,
                 SMALL "task session by=%s lengths=3..5 alphabet=10; optim lr=0.003; race sinusoidal,rspe; "
                       "train 300; eval lengths=9..10 samples=100",
                 cases[i].by);
        bench_must(&b, script);
        for (int k = 0; k < 2; k++) {
            const struct pw_ev_eval *e = &b.s->arms[k].rep[0].eval;
            int exact = pw_eval_find(e, 0, 9)->exact + pw_eval_find(e, 0, 10)->exact;
            assert_true(k + 1 == cases[i].arm ? exact > 150 : exact < 100);
        }
        bench_close(&b);
    }
}

static void test_the_answer_ends_after_one_token(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "task session; pe alibi; train 5; prompt session 3 1 4");
    assert_int_equal(b.s->prompt.n_prompt, 4);
    assert_int_equal(b.s->prompt.n, 5);
    assert_int_equal(b.s->n_tokens, 1);
    assert_true(b.s->tokens[0].last && b.s->tokens[0].ended);
    assert_int_equal(b.s->tokens[0].exact, b.s->tokens[0].right);

    /* The maps are those of the pass that computed the answer. */
    const struct pw_ev_attention *a = &b.s->attention;
    assert_true(a->sees_all);
    assert_int_equal(a->T, 4);
    assert_int_equal(a->n_gold, 1);
    assert_true(a->gold[0].query == 3 && a->gold[0].key == 0);
    assert_int_equal(b.s->look.pos, 4);
    assert_true(b.s->look.token[b.s->look.said].logit == b.s->tokens[0].logit);

    bench_run(&b, "next");
    assert_string_equal(b.error, "next: the answer is a single token, at position 4");
    bench_must(&b, "edit 4 7");
    assert_int_equal(b.s->n_tokens, 1);
    assert_true(b.s->tokens[0].edited && b.s->tokens[0].last && !b.s->tokens[0].exact);
    bench_must(&b, "edit 0 9"); /* another prompt of the task */
    assert_string_equal(b.s->prompt.labels[4], "9");
    bench_must(&b, "edit 3 2"); /* no prompt of the task, but still without an end mark */
    assert_false(b.s->prompt.has_answer);
    assert_int_equal(b.s->n_tokens, 1);

    bench_must(&b, "prompt session 3 1 4");
    bench_run(&b, "patch heads from=\"session 3 4 1\"");
    assert_string_equal(b.error, "patch: both prompts have the same answer, so recovery is not defined");
    bench_must(&b, "patch heads from=\"session 1 3 4\"");

    /* With the mask the answer is a row like any other. */
    bench_must(&b, "model causal=on; prompt session 3 1 4");
    assert_int_equal(b.s->attention.T, 5);
    bench_close(&b);
}

/* In a mixture each task keeps its own end. */
static void test_mixed(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b,
               "task sort(lengths=2..3,alphabet=4),session(lengths=3..4); model layers=1 width=32 heads=2 "
               "head_width=16 ffn=64; train 40; eval samples=20; prompt session 3 1 4");
    assert_int_equal(b.s->n_tokens, 1);
    assert_true(b.s->tokens[0].ended);
    bench_must(&b, "prompt sort 3 1");
    assert_int_equal(b.s->prompt.n, 7);
    assert_string_equal(b.s->prompt.labels[6], "</s>");
    const struct pw_ev_eval *e = &b.s->arms[0].rep[0].eval;
    for (int i = 0; i < e->n; i++)
        assert_int_equal(e->rows[i].tokens, 20 * (e->rows[i].task == 0 ? e->rows[i].length + 1 : 1));
    bench_close(&b);
}

static void test_who_reads_its_answers_is_told(void **state)
{
    static const char *const told =
        "causal=off: in training the model sees the answers of sort, so the loss does not predict decoding";
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "train 1");
    assert_int_equal(strncmp(b.note, told, strlen(told)), 0);
    bench_must(&b, "task session,sort; train 1");
    assert_int_equal(strncmp(b.note, told, strlen(told)), 0);
    bench_must(&b, "task session; train 1");
    assert_string_equal(b.note, "other tokens: all arms get new weights");
    bench_must(&b, "task sort; model causal=on; train 1");
    assert_string_equal(b.note, "other tokens: all arms get new weights");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_needs_an_encoding),
        cmocka_unit_test(test_awareness_shows_as_accuracy),
        cmocka_unit_test(test_the_answer_ends_after_one_token),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_who_reads_its_answers_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
