/* test_eval_decode.c - tests evaluation by decoding, which scratchpads and models without the causal mask
 * need. It must count the prompts that are answered right, one by one. Tests also that it can be cancelled,
 * moves to another backend, and is recorded. It must be used only where it is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_lab.h"
#include "ref_record.h"
#include "sessions/paired.h"
#include "tasks/task.h"

#define SMALL "model tiny layers=1 width=16 heads=2 context=96; optim batch=16 warmup=10; "

static const struct pw_eval_row *row_of(const struct bench *b, int arm, int i)
{
    const struct pw_ev_eval *e = &b->s->arms[arm - 1].rep[0].eval;
    assert_true(i < e->n);
    return &e->rows[i];
}

/* Sends the samples of one length as prompts, and counts those answered right, also token by token. Both
 * counts must equal the evaluation's. */
static void hold_against_prompts(struct bench *b, const char *task, int length, int n, int *otherwise)
{
    struct pw_taskset set;
    struct pw_err err;
    char line[2048];
    int every_token = 0;
    assert_int_equal(pw_taskset_init(&set, task, &err), PW_OK);
    snprintf(line, sizeof line, "eval lengths=%d samples=%d", length, n);
    bench_must(b, line);
    struct pw_eval_row row = *row_of(b, 1, 0);
    bool right[256];
    for (int i = 0; i < n; i++)
        right[i] = pw_eval_right(&b->s->arms[0].rep[0].eval, &row, i);
    assert_int_equal(row.judge, PW_JUDGE_DECODED);
    assert_int_equal(row.samples, n);
    int wrong = row.errors[PW_ERROR_EARLY] + row.errors[PW_ERROR_LATE] + row.errors[PW_ERROR_WRONG];
    assert_int_equal(row.exact + wrong, n);
    for (int i = 0; i < n; i++) {
        struct pw_str prompt = {0}, answer = {0};
        pw_taskset_sample_text(&set, 0, PW_SPLIT_TEST, (uint64_t)i, 0, length, &prompt, &answer);
        snprintf(line, sizeof line, "prompt \"%s\"", pw_str_text(&prompt));
        bench_must(b, line);
        assert_int_equal(b->decoded, 1);
        assert_int_equal(b->exact, right[i]);
        bool all = true;
        for (int k = 0; k < b->s->n_tokens; k++)
            all = all && b->s->tokens[k].right;
        every_token += all && b->exact;
        *otherwise += b->exact && !all;
        pw_str_fini(&prompt);
        pw_str_fini(&answer);
    }
    if (strcmp(b->s->arms[0].info.name, "t5") == 0) /* others profit from teacher forcing */
        assert_int_equal(every_token, row.taught);
    pw_taskset_fini(&set);
}

static void test_it_is_what_prompts_are_answered(void **state)
{
    static const struct {
        const char *task, *model, *pe;
        int length;
    } cases[] = {
        {"parity scratchpad=full lengths=2..3 test=4", "", "t5", 3},
        {"parity scratchpad=minimal lengths=2..3 test=4 text=paper", "", "t5", 3},
        {"addition scratchpad=o lengths=1 test=2", "", "t5", 1},
        {"lego scratchpad=bare lengths=2..3 test=4", "", "t5", 3},
        {"sort alphabet=3 lengths=2..3", "causal=off", "none", 3},
        {"sort alphabet=3 lengths=2..3", "", "dpe", 3}, /* teacher forcing reveals the answer's length */
        {"parity scratchpad=co lengths=2..3 test=4", "", "ldpe", 3},
    };
    int otherwise = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench b;
        char line[256];
        bench_open(&b, 2, false);
        snprintf(line, sizeof line,
                 SMALL "model tiny layers=1 width=16 heads=2 context=96 %s; pe %s; task %s; train 60",
                 cases[i].model, cases[i].pe, cases[i].task);
        bench_must(&b, line);
        hold_against_prompts(&b, cases[i].task, cases[i].length, 24, &otherwise);
        bench_close(&b);
    }
    assert_true(otherwise > 3); /* the answer is right, although the scratchpad isn't: that case occurred */
}

/* The numbers don't depend on the number of workers, and the models may move to another backend in
 * between. */
static void test_it_depends_on_nobody_else(void **state)
{
    struct pw_eval_row first = {0};
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        struct bench b;
        bench_open(&b, threads, false);
        bench_must(&b, SMALL "task parity scratchpad=full lengths=2..3 test=4; train 80");
        bench_send(&b, "eval lengths=4 samples=100");
        bench_look(&b, 5);
        if (threads == 3)
            bench_send(&b, "set threads 2; prompt parity 1 0 1; set isa scalar");
        bench_until_idle(&b);
        struct pw_eval_row row = *row_of(&b, 1, 0);
        assert_int_equal(row.samples, 100);
        assert_true(row.exact > 0 && row.exact < 100);
        if (threads == 1)
            first = row;
        assert_memory_equal(&row, &first, sizeof row);
        bench_close(&b);
    }
}

/* Without a scratchpad and with a causal mask, teacher forcing is exact and sufficient. */
static void test_it_is_done_only_where_it_tells_more(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "task sort,parity(scratchpad=bare) lengths=2..3 test=4; train 5; eval samples=9");
    const struct pw_ev_eval *e = &b.s->arms[0].rep[0].eval;
    assert_int_equal(e->n, 6);
    for (int i = 0; i < e->n; i++) {
        assert_int_equal(e->rows[i].judge, e->rows[i].task == 1 ? PW_JUDGE_DECODED : PW_JUDGE_EXACT);
        assert_true(e->rows[i].task == 1 || e->rows[i].taught == 0);
    }
    assert_int_equal(b.s->arms[0].rep[0].track.n, 1);
    /* Answers of one token have no end mark: without the mask the model can't read the answer. */
    bench_must(&b, "model tiny layers=1 width=16 heads=2 causal=off; pe dpe; task session lengths=2..3; "
                   "train 5; eval samples=9");
    for (int i = 0; i < b.s->arms[0].rep[0].eval.n; i++)
        assert_int_equal(row_of(&b, 1, i)->judge, PW_JUDGE_EXACT);
    bench_close(&b);
}

/* The pairs of a row are counted here, too. */
static void test_pairs(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "task addition scratchpad=bare lengths=1 test=2; train 30; eval samples=40");
    const struct pw_ev_eval *e = &b.s->arms[0].rep[0].eval;
    for (int i = 0; i < e->n; i++) {
        int samples = 0, exact = 0, taught = 0;
        for (int k = 0; k < e->rows[i].n_pairs; k++) {
            const struct pw_eval_pair *p = &e->pairs[e->rows[i].first_pair + k];
            samples += p->samples, exact += p->exact, taught += p->taught;
        }
        assert_int_equal(samples, 40);
        assert_true(exact == e->rows[i].exact && taught == e->rows[i].taught);
    }
    bench_close(&b);
}

static void test_cancelled(void **state)
{
    struct bench b;
    char before[sizeof b.digests];
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "task parity scratchpad=full lengths=2..3 test=4; train 20; digest");
    memcpy(before, b.digests, sizeof before);
    bench_begin_job(&b, "eval samples=100000");
    b.decoded = 0;
    bench_send(&b, "prompt parity 1 0 1"); /* served in between */
    while (b.decoded == 0)
        bench_look(&b, 1000);
    pw_lab_interrupt(b.lab);
    bench_until_idle(&b);
    assert_string_equal(b.note, "cancelled: eval");
    assert_int_equal(b.s->job.state, PW_JOB_CANCELLED);
    assert_int_equal(b.s->arms[0].rep[0].eval.n, 0);
    bench_must(&b, "digest");
    assert_string_equal(b.digests, before);
    bench_send(&b, "eval samples=100000"); /* the decoding state is freed with its model */
    bench_look(&b, 50);
    b.note[0] = '\0';
    bench_send(&b, "reset");
    bench_until_idle(&b);
    assert_string_equal(b.note, "cancelled: eval");
    bench_must(&b, "eval lengths=2 samples=3");
    assert_int_equal(row_of(&b, 1, 0)->samples, 3);
    bench_close(&b);
}

static void test_recorded(void **state)
{
    struct bench b;
    struct record r;
    (void)state;
    record_open(&b, &r, 2, true);
    bench_must(&b, SMALL "race none,t5; task parity scratchpad=full lengths=2..3 test=4; train 30; "
                         "eval lengths=3..4 samples=40; prompt parity 1 1 0; failing length=4; digest");
    bench_send(&b, "eval samples=100000");
    bench_look(&b, 50);
    bench_send(&b, "cancel");
    bench_until_idle(&b);
    bench_close(&b);
    record_must(&r, 1);
    assert_true(r.v.steps == 60 && r.v.others > 3);
    record_free(&r);
}

/* During training the cheap number is reported as teacher-forced, and isn't compared. */
static void test_live(void **state)
{
    struct bench b;
    struct pw_paired x;
    (void)state;
    bench_open(&b, 2, true);
    bench_must(&b, SMALL "race none,t5; task parity scratchpad=full lengths=2..3 test=4; train 20");
    assert_true(b.s->arms[0].rep[0].eval.live);
    for (int i = 0; i < b.s->arms[0].rep[0].eval.n; i++)
        assert_int_equal(row_of(&b, 1, i)->judge, PW_JUDGE_TAUGHT);
    assert_int_equal(b.s->arms[0].rep[0].track.n, 0);
    pw_paired_find(&x, b.s, ~0u, 0, 1, 9);
    assert_true(x.n == 0 && x.left_out == 2);
    bench_must(&b, "eval samples=20");
    assert_int_equal(row_of(&b, 1, 0)->judge, PW_JUDGE_DECODED);
    assert_int_equal(b.s->arms[0].rep[0].track.n, 1);
    pw_paired_find(&x, b.s, ~0u, 0, 1, 9);
    assert_int_equal(x.n, 1);
    bench_close(&b);
}

/* Lengths whose scratchpads exceed those of training, or the model's context. */
static void test_long_ones(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "model tiny layers=1 width=8 heads=1 context=3000; task sort scratchpad=full lengths=2..3 "
                   "text=paper; eval lengths=30 samples=1");
    assert_int_equal(row_of(&b, 1, 0)->samples, 1);
    assert_true(row_of(&b, 1, 0)->tokens > 1000);
    bench_run(&b, "eval lengths=60 samples=1");
    assert_string_equal(
        b.error,
        "eval: length 60 of sort needs 4639 positions, the model has 3000: use 'model context=4639'");
    bench_run(&b, "task sort scratchpad=full lengths=2..40 text=paper");
    assert_string_equal(b.error, "the longest sample has 7779 positions, this model reads 3000: use shorter "
                                 "lengths= or test=, or set the model before the task: 'model context=7779'");
    bench_must(&b, "task sort lengths=2..5");
    bench_run(&b, "model context=9");
    assert_string_equal(b.error, "the longest sample has 22 positions, this model reads 9: use shorter "
                                 "lengths= or test=, or 'model context=22'");
    bench_run(&b, "model context=22");
    assert_string_equal(b.error, "");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_what_prompts_are_answered),
        cmocka_unit_test(test_it_depends_on_nobody_else),
        cmocka_unit_test(test_it_is_done_only_where_it_tells_more),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_long_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
