/* test_follow_command.c - tests that a command is re-run in the state in which it was recorded. It comes
 * after an answer that it waited for, and after work that ended without an event of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_record.h"

#define SMALL "model tiny width=16 layers=1 heads=2; optim batch=4; "

/* Sends lines, each after all earlier work has finished. */
static void record_lines(struct record *r, bool live, const char *const *lines)
{
    struct bench b;
    record_open(&b, r, 2, live);
    for (; *lines != NULL; lines++) {
        bench_send(&b, *lines);
        bench_until_idle(&b);
    }
    bench_close(&b);
}

static bool is_answer(const struct pw_event *e)
{
    return e->kind == PW_EV_PROMPT || e->kind == PW_EV_TOKEN || e->kind == PW_EV_ATTENTION ||
           e->kind == PW_EV_LOOK;
}

/* Drops the recorded answer at a step, before event `end`: all of it, or all but the prompt. Returns the
 * number of dropped events. */
static int drop_answer(struct record *r, int end, int64_t step, bool whole)
{
    int dropped = 0;
    for (int k = end - 1; k >= 0; k--) {
        if (r->e[k]->step == step && is_answer(r->e[k]) && (whole || r->e[k]->kind != PW_EV_PROMPT)) {
            record_drop(r, k);
            dropped++;
        }
    }
    return dropped;
}

/* During training an answer is not recorded, or its tokens aren't, if answers come too often. A command that
 * needed the answer must find it in a re-run. The command's own events come after the answer. */
static void test_unrecorded_answer(void **state)
{
    static const char *const then[] = {
        "train until flops=1", "next",  "back", "edit 6 4", "edit 7 2; next; edit 6 3", "inspect head=1",
        "prompt sort 2 2 5 1", "sample"};
    (void)state;
    for (int whole = 0; whole < 2; whole++)
        for (size_t i = 0; i < sizeof then / sizeof *then; i++) {
            struct record r;
            const char *lines[] = {SMALL "prompt sort 3 1 2; train 5", "set temperature 0.3", then[i],
                                   "digest", NULL};
            char first[32];
            snprintf(first, sizeof first, "%.*s", (int)strcspn(then[i], ";"), then[i]);
            record_lines(&r, true, lines);
            assert_true(drop_answer(&r, record_find(&r, PW_EV_COMMAND, first), 5, whole == 1) > 3);
            record_must(&r, 1);
            assert_true(r.v.commands >= 7);
            record_free(&r);
        }
}

/* During training the answer is from some earlier step. An inspection of a head decodes it with the current
 * weights. */
static void test_old_answer(void **state)
{
    struct record r;
    struct bench b;
    (void)state;
    record_open(&b, &r, 2, true);
    bench_must(&b, SMALL "set temperature 2; prompt sort 3 1 2 5 4; train 5");
    bench_send(&b, "train 100000");
    for (int i = 0; i < 20; i++) {
        bench_send(&b, i % 2 == 0 ? "inspect head=+1" : "inspect view=+1");
        bench_look(&b, 10);
    }
    bench_send(&b, "stop; digest");
    bench_until_idle(&b);
    bench_close(&b);
    for (int k = r.n - 1, of = k; k >= 0;
         k--) { /* answers that no command caused: after a step, not after a command */
        for (of = k; of >= 0 && r.e[of]->kind != PW_EV_STEP && r.e[of]->kind != PW_EV_COMMAND;)
            of--;
        if (of >= 0 && r.e[of]->kind == PW_EV_STEP && is_answer(r.e[k]))
            record_drop(&r, k);
    }
    record_must(&r, 1);
    record_free(&r);
}

/* A check of `until` ends training without a step and without a compared event. A line typed after the check
 * finds training ended; one typed during the check doesn't. */
static void test_check(void **state)
{
    static const char *const then[] = {"step 2",        "train 3",        "train 3 arm=1",
                                       "stop; train 2", "reset; train 2", "pause; resume; step"};
    (void)state;
    for (int live = 0; live < 2; live++)
        for (size_t i = 0; i < sizeof then / sizeof *then; i++) {
            struct record r;
            const char *lines[] = {SMALL "race none,t5 seeds=2; train 50 until acc=0.9", then[i], "digest",
                                   NULL};
            record_lines(&r, live == 1, lines);
            record_must(&r, 1);
            assert_true(r.v.steps >= 4 * 50);
            record_free(&r);
        }
}

/* After a check an answer is decoded, and a command that doesn't wait for it runs in between. The check ends
 * before that command, and the answer after it. Whether the command runs in between is random, and the events
 * record the order. */
static void test_check_and_answer(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        struct bench b;
        struct record r;
        record_open(&b, &r, 2, true);
        bench_must(&b,
                   "model tiny width=32 context=60; optim batch=4; prompt sort 3 1 2 5 4 6 7 8 9 1 2 3 4");
        bench_send(&b, "train 50 until acc=0.9");
        while (b.s->arms[0].info.step < 50)
            bench_look(&b, 1);
        bench_doze(0.2 * i);
        bench_send(&b, "mark here");
        bench_until_idle(&b);
        bench_close(&b);
        record_must(&r, 1);
        record_free(&r);
    }
}

/* Training is paused during a check. Then an evaluation begins that doesn't belong to the round. */
static bool pause_in_check(struct record *r)
{
    struct bench b;
    record_open(&b, r, 2, true);
    bench_send(&b, "model tiny width=32; optim batch=4; race none,t5 seeds=2; train 100 until acc=0.9");
    while (b.s == NULL || b.s->arms[0].info.step < 50)
        bench_look(&b, 1);
    bench_send(&b, "pause");
    bench_send(&b, "ablate 0.0");
    while (record_find(r, PW_EV_HEADS, NULL) < 0)
        bench_look(&b, 10);
    for (int i = 0; i < 100; i++) /* the evaluation */
        bench_look(&b, 10);
    bench_send(&b, "resume; stop; digest");
    bench_until_idle(&b);
    bench_close(&b);
    return r->e[record_find(r, PW_EV_COMMAND, "pause")]->u.command.checking[0] != 0;
}

static void test_paused_check(void **state)
{
    bool paused = false;
    (void)state;
    for (int i = 0; i < 20 && !paused; i++) {
        struct record r;
        paused = pause_in_check(&r);
        record_must(&r, 1);
        record_free(&r);
    }
    if (!paused)
        skip(); /* the machine is too busy to type during a check */
}

/* A command that fails in the re-run but not in the record is a difference, also if the record has an error
 * of an earlier line. */
static void test_fails_now(void **state)
{
    struct record r;
    const char *lines[] = {SMALL "train 5", "nonsense", "arm 2", "digest", NULL};
    (void)state;
    record_lines(&r, false, lines);
    int failed = record_find(&r, PW_EV_COMMAND, "arm 2");
    record_must(&r, 1);
    record_drop(&r, failed + 1);
    record_follow(&r, 1);
    assert_int_equal(r.v.end, PW_FOLLOW_DIFFERENT);
    assert_non_null(
        strstr(r.v.text, "a command fails now that did not fail when it was recorded: there is no arm 2"));
    record_free(&r);
}

/* Makes a record in which two lines were typed after the first token of an answer. The first is an unknown
 * command, the second a command that doesn't wait for the answer. Returns the index of the error. */
static int record_error_in_answer(struct record *r)
{
    struct pw_event *error = pw_event_new(PW_EV_ERROR);
    snprintf(error->u.text, sizeof error->u.text, "no command 'no'");
    record_lines(r, false, (const char *[]){SMALL "prompt sort 3 1 2 5 4 6; say here", NULL});
    int say = record_find(r, PW_EV_COMMAND, "say"), token = 0, end = r->n;
    while (r->e[token]->kind != PW_EV_TOKEN)
        token++;
    assert_true(say < token); /* typed on one line, so the answer had not begun */
    struct pw_event *command = r->e[say];
    record_add(r, error);
    pw_event_free(error);
    error = r->e[end];
    memmove(r->e + say, r->e + say + 1, (size_t)(token - say) * sizeof *r->e);
    memmove(r->e + token + 2, r->e + token + 1, (size_t)(end - token - 1) * sizeof *r->e);
    r->e[token] = error;
    r->e[token + 1] = command;
    for (int i = 0; i < r->n; i++)
        r->e[i]->seq = (uint64_t)i + 1;
    return token;
}

/* The re-run stops the answer at the same token. */
static void test_error_in_answer(void **state)
{
    struct record r;
    (void)state;
    record_error_in_answer(&r);
    record_must(&r, 1);
    assert_true(r.v.tokens > 2);
    record_free(&r);
}

/* The record ends with that error: the rest of the answer is emitted, and no event twice. */
static void test_ends_with_error(void **state)
{
    struct record r, told;
    struct bench b;
    (void)state;
    int end = record_error_in_answer(&r), all = r.n, tokens = 0;
    struct pw_follow_opts opts = record_opts(&r, false);
    r.n = end + 1;
    record_resume(&b, &told, &opts, false);
    bench_until_idle(&b);
    bench_close(&b);
    assert_int_equal(r.v.end, PW_FOLLOW_EQUAL);
    assert_int_equal(r.v.tokens, 1);
    r.n = all;
    for (int i = end; i < all; i++)
        tokens += r.e[i]->kind == PW_EV_TOKEN;
    for (int i = 0; i < told.n; i++)
        tokens -= told.e[i]->kind == PW_EV_TOKEN;
    assert_int_equal(tokens, 0);
    record_free(&told);
    record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unrecorded_answer),
        cmocka_unit_test(test_old_answer),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_and_answer),
        cmocka_unit_test(test_paused_check),
        cmocka_unit_test(test_fails_now),
        cmocka_unit_test(test_error_in_answer),
        cmocka_unit_test(test_ends_with_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
