/* test_fresh.c - tests a request for the answers of several arms. Each arm answers with its current
 * weights, the chosen arm last. No weight changes, and a re-run gives the same bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_record.h"

#define RACE  "model tiny width=16 layers=1 heads=2; optim batch=4; seed 3; race none,t5,rotary; "
#define EVERY (~1u) /* also names arms that don't exist */

static void ask(struct bench *b, unsigned answer_of)
{
    uint64_t done = pw_lab_requests_done(b->lab);
    pw_lab_request(b->lab, &(struct pw_needs){.answer = true, .answer_of = answer_of});
    while (pw_lab_requests_done(b->lab) == done)
        bench_look(b, 100);
}

/* Returns the last attention that is kept of an arm. */
static const struct pw_ev_attention *kept(const struct pw_snapshot *s, int arm, int64_t *step)
{
    const struct pw_ev_attention *a = pw_kept_attention(s, arm, INT64_MAX, step);
    assert_non_null(a);
    return a;
}

static void test_every_arm_answers(void **state)
{
    struct bench b, c;
    int64_t step;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, RACE "train 20; prompt sort 3 1; arm 2");
    ask(&b, EVERY);
    assert_int_equal(b.s->current, 2);
    assert_int_equal(b.s->attention_arm, 2);
    assert_int_equal(b.s->prompt_arm, 2);
    for (int arm = 1; arm <= 3; arm++) {
        char script[160];
        const struct pw_ev_attention *a = kept(b.s, arm, &step);
        assert_int_equal(step, 20);
        snprintf(script, sizeof script, RACE "train 20; arm %d; prompt sort 3 1", arm);
        bench_open(&c, 2, false);
        bench_must(&c, script);
        const struct pw_ev_attention *want = &c.s->attention;
        assert_int_equal(a->T, want->T);
        assert_memory_equal(a->labels, want->labels, (size_t)a->T * sizeof *a->labels);
        assert_memory_equal(a->probs, want->probs, (size_t)2 * a->T * a->T * sizeof *a->probs);
        bench_close(&c);
    }
    bench_close(&b);
}

/* Weights and later training are the same as without the request. */
static void test_no_weight_moves(void **state)
{
    char digests[2][4096];
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        struct bench b;
        bench_open(&b, 1, false);
        bench_must(&b, RACE "train 9; prompt sort 3 1");
        if (asked)
            ask(&b, EVERY);
        bench_must(&b, "train 9; digest");
        memcpy(digests[asked], b.digests, sizeof b.digests);
        bench_close(&b);
    }
    assert_true(strlen(digests[0]) > 90);
    assert_string_equal(digests[0], digests[1]);
}

static void test_nothing_is_pinned(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, RACE "train 2");
    ask(&b, EVERY);
    assert_false(b.s->has_attention);
    assert_int_equal(b.decoded, 0);
    bench_close(&b);
}

/* Requests between commands, and between the steps of a race that trains. The record may end before the
 * chosen arm has answered again. */
static void test_recorded(void **state)
{
    (void)state;
    for (int live = 0; live < 2; live++) {
        struct bench b;
        struct record r;
        record_open(&b, &r, 2, live);
        bench_must(&b, RACE "train 10; prompt sort 3 1; arm 3");
        ask(&b, 1u << 1 | 1u << 2);
        bench_must(&b, "train 5; next; set temperature 0.7");
        ask(&b, EVERY);
        bench_send(&b, "train 400");
        ask(&b, 1u << 2);
        bench_send(&b, "stop; arm 1; digest");
        bench_until_idle(&b);
        bench_close(&b);
        record_must(&r, 1);
        assert_true(r.v.tokens > 10);
        record_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_arm_answers),
        cmocka_unit_test(test_no_weight_moves),
        cmocka_unit_test(test_nothing_is_pinned),
        cmocka_unit_test(test_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
