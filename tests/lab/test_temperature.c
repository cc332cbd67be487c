/* test_temperature.c - tests sampled answers: the same for the same seed and prompt, with any threads; spread
 * by the temperature; and without effect on training. */
#include <stdio.h>
#include <string.h>

#include "ref_lab.h"

/* Labels of the decoded tokens, one after the other. */
static void answer(struct bench *b, const char *script, char out[1024])
{
    bench_must(b, script);
    out[0] = '\0';
    for (int i = 0; i < b->s->n_tokens; i++)
        snprintf(out + strlen(out), 1024 - strlen(out), "%s ", b->s->tokens[i].label);
}

static void test_drawn(void **state)
{
    static const char drawn[] = "set temperature 2; prompt sort 3 1 2 9 4";
    char greedy[1024], cold[1024], first[1024], second[1024], again[1024];
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 5");
    answer(&b, "prompt sort 3 1 2 9 4", greedy);
    answer(&b, "set temperature 0.0001; prompt sort 3 1 2 9 4", cold);
    assert_string_equal(cold, greedy);
    answer(&b, drawn, first);
    answer(&b, drawn, second); /* another prompt has its own random numbers */
    assert_string_not_equal(first, second);
    answer(&b, "set temperature 0; prompt sort 3 1 2 9 4", again);
    assert_string_equal(again, greedy);
    bench_run(&b, "set temperature -1");
    assert_string_equal(b.error, "set: temperature=-1: allowed are 0..100");
    bench_close(&b);

    bench_open(&b, 2, true); /* the third prompt again: other threads, live */
    bench_must(&b, "train 5; prompt sort 1; prompt sort 1");
    answer(&b, drawn, again);
    assert_string_equal(again, first);
    bench_close(&b);
}

/* At a high temperature the first token comes from a nearly flat distribution: 60 samples cover many
 * tokens. */
static void test_spread(void **state)
{
    struct bench b;
    int hit[256] = {0}, kinds = 0;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "set temperature 100");
    for (int i = 0; i < 60; i++) {
        bench_must(&b, "prompt sort 5 2");
        assert_true(b.s->n_tokens > 0);
        kinds += hit[b.s->tokens[0].token & 255]++ == 0;
        assert_true(b.s->tokens[0].prob < 0.2f);
    }
    assert_true(kinds >= 6);
    bench_close(&b);
}

static void test_training_keeps_its_bits(void **state)
{
    struct bench b;
    char quiet[sizeof b.digests];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 20; digest");
    memcpy(quiet, b.digests, sizeof quiet);
    bench_close(&b);
    bench_open(&b, 1, true);
    bench_must(&b, "set temperature 1; train 7; prompt sort 3 1; train 13; digest");
    assert_string_equal(b.digests, quiet);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drawn),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_training_keeps_its_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
