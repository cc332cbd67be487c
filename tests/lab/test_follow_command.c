/* test_follow_command.c - a command is re-run in the state in which it was recorded: behind an answer that it
 * waited for, and behind what had ended without an event of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_record.h"

#define SMALL "model tiny width=16 layers=1 heads=2; optim batch=4; "

/* Types lines, each when all before it is finished. */
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

/* Of the answer that is decoded again behind a setting, the recording has the prompt alone: tokens and pictures beside
 * training are left out when they come too often. The command behind it waits for that answer when it is
 * re-run; what the command itself tells comes after it. */
static void test_unrecorded_answer(void **state)
{
    static const char *const then[] = {"train until flops=1", "next", "back", "edit 6 4", "inspect head=1",
                                       "prompt sort 2 2 5 1", "sample"};
    (void)state;
    for (size_t i = 0; i < sizeof then / sizeof *then; i++) {
        struct record r;
        const char *lines[] = {SMALL "prompt sort 3 1 2; train 5", "set temperature 0", then[i], "digest", NULL};
        record_lines(&r, true, lines);
        int command = record_find(&r, PW_EV_COMMAND, then[i]), dropped = 0;
        for (int k = command - 1; k >= 0; k--) {
            enum pw_event_kind kind = r.e[k]->kind;
            bool answer = kind == PW_EV_TOKEN || kind == PW_EV_ATTENTION || kind == PW_EV_LOOK;
            if (r.e[k]->step == 5 && answer) {
                record_drop(&r, k);
                dropped++;
            }
        }
        assert_true(dropped > 3);
        record_must(&r, 1);
        assert_int_equal(r.v.commands, 7);
        record_free(&r);
    }
}

/* A check of `until` ends training without a step and without an event that is compared. What is typed behind it
 * finds training ended; what is typed in its middle doesn't. */
static void test_check(void **state)
{
    static const char *const then[] = {"step 2", "train 3", "train 3 arm=1", "stop; train 2", "reset; train 2",
                                       "pause; resume; step"};
    (void)state;
    for (int live = 0; live < 2; live++)
        for (size_t i = 0; i < sizeof then / sizeof *then; i++) {
            struct record r;
            const char *lines[] = {SMALL "race none,t5 seeds=2; train 50 until acc=0.9", then[i], "digest", NULL};
            record_lines(&r, live == 1, lines);
            record_must(&r, 1);
            assert_true(r.v.steps >= 4 * 50);
            record_free(&r);
        }
}

/* A command that fails when it is re-run and did not fail when it was recorded is a difference, also where the
 * recording has an error of an earlier line. */
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
    assert_non_null(strstr(r.v.text, "fails that did not fail"));
    record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unrecorded_answer),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_fails_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
