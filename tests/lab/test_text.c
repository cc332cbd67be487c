/* test_text.c - tests running text in the lab: loss by length and position, prompts, and what text refuses.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ref_lab.h"
#include "sessions/paired.h"

#define TEXT  "task text path=" PEWTER_SOURCE_DIR "/texts/chronicle.txt lengths=16 test=17..40; "
#define MODEL "seed 3; model tiny layers=1 width=16 heads=2 context=64; "

static const struct pw_ev_eval *eval_of(const struct bench *b, int arm)
{
    return &b->s->arms[arm - 1].rep[0].eval;
}

/* The mean of a row's samples, and that of its positions, is its loss. */
static void test_means_agree(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, MODEL TEXT "train 30; eval samples=25");
    const struct pw_ev_eval *e = eval_of(&b, 1);
    static const int lengths[] = {16, 20, 24, 28, 32, 40};
    assert_int_equal(e->n, 6);
    assert_int_equal(e->n_losses, 16 + 40);
    for (int i = 0; i < e->n; i++) {
        const struct pw_eval_row *r = &e->rows[i];
        double sum = 0, places = 0;
        assert_int_equal(r->length, lengths[i]);
        assert_int_equal(r->samples, 25);
        assert_int_equal(r->exact, 0);
        assert_int_equal(r->tokens, 25 * lengths[i]);
        assert_true(r->loss > 1 && r->loss < 7);
        for (int k = 0; k < r->samples; k++)
            sum += (double)e->sampled[r->first_sampled + k];
        assert_true(fabs(sum / 25 - (double)r->loss) < 1e-5);
        assert_int_equal(r->n_losses, i == 0 || i == 5 ? r->length : 0);
        for (int k = 0; k < r->n_losses; k++)
            places += (double)e->losses[r->first_loss + k];
        if (r->n_losses > 0)
            assert_true(fabs(places / (double)r->length - (double)r->loss) < 1e-5);
    }
    assert_true(isnan(pw_eval_mean(&b.s->lab, e, -1, false)));
    assert_true(fabs((double)pw_eval_loss(&b.s->lab, e, false) - (double)e->rows[0].loss) < 1e-6);
    const struct pw_track *t = &b.s->arms[0].rep[0].track; /* the curve of held-out loss over steps */
    assert_int_equal(t->n, 1);
    assert_true(t->step[0] == 30 && isnan(t->in_range[0]) && isnan(t->beyond[0]));
    assert_true(t->held[0] == pw_eval_loss(&b.s->lab, e, false));
    assert_true(t->held_beyond[0] == pw_eval_loss(&b.s->lab, e, true));
    bench_must(&b, "train 10; eval samples=25");
    assert_true(t->n == 2 && t->step[1] == 40);
    bench_close(&b);
}

/* The same numbers for any number of threads, beside live evaluations, and for one length or all. */
static void test_the_same_for_any_threads(void **state)
{
    float first[6];
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        struct bench b;
        bench_open(&b, threads, threads == 3);
        bench_must(&b, MODEL TEXT "train 20; eval samples=33");
        assert_int_equal(eval_of(&b, 1)->n, 6);
        for (int i = 0; i < 6; i++) {
            float loss = eval_of(&b, 1)->rows[i].loss;
            if (threads == 1)
                first[i] = loss;
            assert_memory_equal(&loss, &first[i], sizeof loss);
        }
        bench_must(&b, "eval lengths=28 samples=33");
        assert_int_equal(eval_of(&b, 1)->n, 1);
        assert_memory_equal(&eval_of(&b, 1)->rows[0].loss, &first[3], sizeof first[3]);
        bench_close(&b);
    }
}

static void test_prompts_are_continued(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, MODEL TEXT "train 10; prompt In the year↵x");
    assert_int_equal(b.s->prompt.n_prompt, 13);
    assert_int_equal(b.s->prompt.n, 13);
    assert_string_equal(b.s->prompt.labels[2], "·");
    assert_string_equal(b.s->prompt.labels[11], "↵");
    assert_int_equal(b.s->n_tokens, 48);
    bench_must(&b, "prompt \"one;two\"");
    bench_must(&b, "set temperature 1; prompt The");
    assert_int_equal(b.s->n_tokens, 48);
    bench_must(&b, "set temperature 0; sample length=16 index=2");
    assert_int_equal(b.s->prompt.n, 17);
    assert_int_equal(b.s->prompt.n_prompt, 9);
    assert_int_equal(b.s->n_tokens, 8);
    bench_close(&b);
}

/* Arms are compared by their losses on the same windows. */
static void test_paired_by_loss(void **state)
{
    struct bench b;
    struct pw_paired x;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, MODEL TEXT "race none,alibi seeds=2; train 30; eval samples=20");
    pw_paired_find(&x, b.s, 3, 0, 16, 40);
    assert_true(x.losses);
    assert_int_equal(x.n, 1);
    assert_int_equal(x.tests[0].seeds, 2);
    assert_int_equal(x.tests[0].samples, 2 * 6 * 20);
    assert_int_equal(x.tests[0].only_a + x.tests[0].only_b, 2 * 6 * 20);
    double sum = 0;
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 6; i++)
            sum +=
                (double)b.s->arms[1].rep[r].eval.rows[i].loss - (double)b.s->arms[0].rep[r].eval.rows[i].loss;
    assert_true(fabs(x.tests[0].difference - sum / 12) < 1e-5);
    bench_must(&b, "paired");
    bench_close(&b);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"failing", "has no right and wrong samples"},
        {"probe ablation", "it counts right answers, and text has none"},
        {"export errors /tmp/pewter-none.csv", "text has no right and wrong answers"},
        {"train 10 until acc=0.9", "has no right answers to count"},
        {"eval lengths=1..64", "length"},
        {"task text path=/dev/null", "is a device or a pipe"},
        {"task text lengths=9..80 path=" PEWTER_SOURCE_DIR "/texts/chronicle.txt", "this model reads 64"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, MODEL TEXT "train 2; eval samples=2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strncmp(cases[i].line, "eval", 4) == 0) {
            bench_must(&b, cases[i].line);
            assert_int_equal(eval_of(&b, 1)->n, 20);
            continue;
        }
        bench_run(&b, cases[i].line);
        assert_int_equal(b.errors, 1);
        if (strstr(b.error, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].line, b.error);
    }
    bench_must(&b, "model causal=off");
    bench_run(&b, "eval samples=2");
    assert_non_null(strstr(b.error, "sees the tokens of the text"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means_agree),
        cmocka_unit_test(test_the_same_for_any_threads),
        cmocka_unit_test(test_prompts_are_continued),
        cmocka_unit_test(test_paired_by_loss),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
