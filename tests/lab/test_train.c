/* test_train.c - tests which arms train and how far; a failing `train` must change nothing. */
#include <stdio.h>
#include <string.h>

#include "ref_lab.h"

static int64_t step_of(const struct bench *b, int arm, int replica)
{
    const struct pw_series *s = &b->s->arms[arm - 1].rep[replica - 1].series;
    return s->n > 0 ? s->step[s->n - 1] : 0;
}

static void test_one_arm(void **state)
{
    (void)state;
    struct bench b;
    char digests[sizeof b.digests];
    bench_open(&b, 2, false);
    bench_must(&b, "race none,alibi; train 12; digest");
    memcpy(digests, b.digests, sizeof digests);
    bench_must(&b, "race none,alibi; train 4 arm=2");
    assert_int_equal(step_of(&b, 1, 1), 0);
    assert_int_equal(step_of(&b, 2, 1), 4);
    bench_must(&b, "train until step=7 arm=1; train 5; digest"); /* 5 steps of each arm */
    assert_int_equal(step_of(&b, 1, 1), 12);
    assert_int_equal(step_of(&b, 2, 1), 9);
    bench_must(&b, "train until step=12; digest"); /* the result doesn't depend on the order */
    assert_string_equal(b.digests, digests);
    bench_run(&b, "train until step=12 arm=2");
    assert_string_equal(b.error, "arm 2 has reached this goal; 'train N arm=2' trains N more steps");
    bench_run(&b, "train 3 arm=3");
    assert_string_equal(b.error, "there is no arm 3; there are 1, 2");
    bench_close(&b);
}

/* A round that is stopped, and the rest of it. */
static void test_part_of_a_round(void **state)
{
    (void)state;
    static const char *const wrong[] = {"train until step=50 arm=1 replicate=4",
                                        "train until step=50 replicate=1",
                                        "train until loss=1 arm=1 replicate=1",
                                        "train 5 until step=50 arm=1 replicate=1", "train replicate=1"};
    struct bench b;
    char digests[sizeof b.digests];
    bench_open(&b, 2, false);
    bench_must(&b, "race none,alibi seeds=3; train 9; digest");
    memcpy(digests, b.digests, sizeof digests);
    bench_must(&b, "race none,alibi seeds=3; train until step=6; train until step=7 arm=2 replicate=1");
    assert_int_equal(step_of(&b, 1, 1), 6);
    for (int r = 1; r <= 3; r++)
        assert_int_equal(step_of(&b, 2, r), r == 1 ? 7 : 6);
    bench_must(&b, "train until step=7 arm=2 replicate=2");
    for (int r = 1; r <= 3; r++)
        assert_int_equal(step_of(&b, 2, r), r <= 2 ? 7 : 6);
    bench_must(&b, "train 2"); /* the rest of the round isn't counted */
    for (int r = 1; r <= 3; r++) {
        assert_int_equal(step_of(&b, 1, r), 8);
        assert_int_equal(step_of(&b, 2, r), 9);
    }
    bench_must(&b, "train until step=9; digest");
    assert_string_equal(b.digests, digests);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bench_run(&b, wrong[i]);
        assert_int_equal(b.errors, 1);
    }
    bench_close(&b);
}

static void test_failure_changes_nothing(void **state)
{
    (void)state;
    static const char *const in_vain[] = {"train until step=5", "train until flops=1",
                                          "train until step=5 arm=1"};
    for (size_t i = 0; i < sizeof in_vain / sizeof *in_vain; i++) {
        char line[64] = "train 20; ";
        struct bench b;
        bench_open(&b, 1, false);
        bench_must(&b, "train 5");
        pw_lab_send(b.lab, strcat(line, in_vain[i]), PW_SEND_NOW); /* both before the next step */
        bench_run(&b, "mark the end of training");
        assert_non_null(strstr(b.error, "has reached this goal"));
        assert_int_equal(step_of(&b, 1, 1), 25);
        bench_close(&b);
    }
}

/* The block of the first Transformer learns, and so does an embedding of another width. */
static void test_post_norm(void **state)
{
    (void)state;
    static const char *const models[] = {"norm_at=after",
                                         "norm=layernorm norm_at=after bias=on tied=on embed_width=24"};
    struct bench b;
    bench_open(&b, 2, false);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char line[160];
        snprintf(line, sizeof line, "task copy lengths=1..4; model tiny %s; pe learned; train 300",
                 models[i]);
        bench_must(&b, line);
        const struct pw_series *s = &b.s->arms[0].rep[0].series;
        assert_true(s->v[PW_M_LOSS][0] > 1.5f && s->v[PW_M_LOSS][s->n - 1] < 0.2f);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_arm),
        cmocka_unit_test(test_part_of_a_round),
        cmocka_unit_test(test_failure_changes_nothing),
        cmocka_unit_test(test_post_norm),
    };
    return cmocka_run_group_tests_name("train", tests, NULL, NULL);
}
