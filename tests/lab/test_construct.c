/* test_construct.c - tests that an arm with a proof's weights works as any arm: any task and prompt,
 * training, saving, re-run and verification. Invalid requests must be refused in one line and change
 * nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ref_record.h"
#include "ref_state.h"

static const struct pw_finding *finding(const struct bench *b, const char *name)
{
    const struct pw_finding_view *v = pw_finding_of(b->s, name, "1");
    if (v == NULL)
        fail_msg("no finding %s of arm 1", name);
    return &v->f;
}

static bool remarks(const struct pw_finding *f, const char *text)
{
    for (int i = 0; i < f->n_remarks; i++)
        if (strstr(f->remarks[i].text, text) != NULL)
            return true;
    return false;
}

static void must_be_proved(struct bench *b, const char *name)
{
    const struct pw_finding *f = finding(b, name);
    assert_true(f->n_claims > 0);
    if (pw_finding_verdict(f) != PW_CLAIM_REPRODUCED)
        fail_msg("%s: %s", f->title, pw_claim_verdicts[pw_finding_verdict(f)]);
}

/* <bos> is the first token of every prompt. */
static void test_tasks(void **state)
{
    static const char *const tasks[] = {"sort",   "copy",       "reverse", "addition", "summation",
                                        "parity", "polynomial", "lego",    NULL};
    static const char *const texts[] = {"short", "paper", "seed", NULL};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "construct theorem1 T=16");
    for (int i = 0; tasks[i] != NULL; i++)
        for (int k = 0; texts[k] != NULL; k++) {
            char line[256];
            snprintf(line, sizeof line,
                     "task %s text=%s lengths=2..3 test=4..5; sample length=5; probe theorem1", tasks[i],
                     texts[k]); /* the task has other tokens: the weights are constructed again */
            bench_must(&b, line);
            must_be_proved(&b, "theorem1");
            if (!remarks(finding(&b, "theorem1"), "are the pinned prompt"))
                fail_msg("%s: the prompt isn't in it", line);
        }
    bench_must(&b, "task sort,copy lengths=2..3; construct theorem2 T=16; prompt copy 3 1 2; probe theorem2");
    must_be_proved(&b, "theorem2");
    assert_true(remarks(finding(&b, "theorem2"), "are the pinned prompt"));
    bench_close(&b);
}

/* Every command that restarts an arm rebuilds the construction; a model preset ends it. */
static void test_stays(void **state)
{
    static const char *const lines[] = {"train 3; reset", "seed 7",      "seed 8 arm=1", "model width=24",
                                        "model layers=3", "task parity", "fork",         "pe none"};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "pe t5; construct theorem1 T=9");
    assert_string_equal(b.s->arms[0].info.name, "none");
    assert_non_null(strstr(b.s->arms[0].info.model, "theorem1 1x16"));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bench_must(&b, lines[i]);
        bench_must(&b, "arm 1; probe theorem1");
        must_be_proved(&b, "theorem1");
    }
    bench_must(&b, "model tiny");
    assert_non_null(strstr(b.s->arms[0].info.model, "tiny 2x64"));
    bench_run(&b, "probe theorem1");
    assert_string_equal(
        b.error,
        "probe theorem1: arm 1 isn't the construction of a proof: create one with 'construct theorem1'");
    bench_close(&b);
}

/* The seed determines the weights that the proof leaves free, for each replica. */
static void test_seeds(void **state)
{
    char first[64], second[64];
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "construct theorem1 T=9 seed=3; digest");
    snprintf(first, sizeof first, "%.60s", strstr(b.digests, "digest"));
    bench_must(&b, "construct theorem1 T=9; digest"); /* with the arm's seed */
    assert_non_null(strstr(b.digests, first));
    bench_must(&b, "construct theorem1 T=9 seed=4; digest");
    snprintf(second, sizeof second, "%.60s", strstr(b.digests, "digest"));
    assert_string_not_equal(first, second);
    bench_must(&b, "model tiny; race none seeds=2; construct theorem1 T=9 seed=3; digest");
    assert_non_null(strstr(b.digests, first));
    assert_non_null(strstr(b.digests, second)); /* the second replica's */
    bench_close(&b);
}

static void test_trains(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    for (int i = 1; i <= 2; i++) {
        char line[128];
        snprintf(line, sizeof line, "construct theorem%d T=16; train 30; probe theorem%d", i, i);
        bench_must(&b, line);
        const struct pw_finding *f = finding(&b, i == 1 ? "theorem1" : "theorem2");
        assert_int_equal(f->n_claims, 0);
        assert_true(remarks(f, "no longer the construction (after 30 steps of training)"));
        const struct pw_series *losses = &b.s->arms[0].rep[0].series;
        assert_int_equal(losses->n, 30);
        for (int k = 0; k < losses->n; k++) /* initially the output head reads none of the three dimensions */
            assert_true(losses->v[PW_M_LOSS][k] < 8);
    }
    bench_close(&b);
}

static void test_refused(void **state)
{
    static const char *const wrong[][2] = {
        {"construct", "construct: too few arguments"},
        {"construct theorem3", "construct: no 'theorem3'; there are theorem1 and theorem2"},
        {"construct theorem1 theorem2", "construct: too many arguments"},
        {"construct theorem1 T=0", "T=0: allowed are"},
        {"construct theorem1 T=2049", "T=2049: allowed are"},
        {"construct theorem1 T=64 context=32", "context=32: must be at least T=64"},
        {"construct theorem1 T=2 context=8", "the longest sample has"},
        {"construct theorem1 width=10", "width=10 heads=4"},
        {"construct theorem2 width=8 heads=8", "init=theorem2 needs"},
        {"construct theorem2 layers=1", "init=theorem2 needs"},
        {"construct theorem1 arm=2", "there is no arm 2"},
        {"model norm=rmsnorm", "init=theorem1 needs norm=none"},
        {"task session", "prompts of the task session start with different words"},
        {"model init=theorem1", NULL},
        {"probe theorem2", "isn't the construction of this proof"},
        {"probe theorem1 positions=4000", "positions=4000: arm 1 has context=64"},
        {"probe theorem1 5", "'5': unexpected; it measures one arm, the current one or arm=K"},
    };
    struct bench b;
    char before[64];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "construct theorem1 T=16; digest");
    snprintf(before, sizeof before, "%.60s", strstr(b.digests, "digest"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bench_run(&b, wrong[i][0]);
        if (wrong[i][1] == NULL ? b.errors != 0 : b.errors != 1 || strstr(b.error, wrong[i][1]) == NULL)
            fail_msg("%s: %s", wrong[i][0], b.error);
        bench_must(&b, "digest");
        assert_non_null(strstr(b.digests, before));
    }
    bench_close(&b);
}

/* Writes lines "go a c" and, if their first words are to differ, "stop a c". */
static void write_lines(const char *path, bool differ)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 40; i++)
        fprintf(file, "%s a %c\tb\n", differ && i % 2 == 1 ? "stop" : "go", 'c' + i % 5);
    fclose(file);
}

/* A file's lines may begin with any word, but a proof needs one first word, and a prompt that begins with
 * it. */
static void test_first_word(void **state)
{
    static const char *const path = "construct-test.txt";
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    write_lines(path, true);
    bench_must(&b, "task file path=construct-test.txt");
    bench_run(&b, "construct theorem1 T=16");
    assert_non_null(strstr(b.error, "prompts of the task file start with different words"));
    write_lines(path, false);
    bench_must(&b,
               "task file path=construct-test.txt; construct theorem1 T=16; prompt a go c; probe theorem1");
    must_be_proved(&b, "theorem1");
    assert_true(remarks(finding(&b, "theorem1"), "the pinned prompt doesn't contain <bos>"));
    bench_must(&b, "prompt go a d; probe theorem1");
    must_be_proved(&b, "theorem1");
    assert_true(remarks(finding(&b, "theorem1"), "are the pinned prompt"));
    unlink(path);
    bench_close(&b);
}

/* Saved and restored, or exported and imported, the arm still is the construction. */
static void test_kept(void **state)
{
    static const char *const begin = "construct theorem2 T=16 seed=5";
    struct life a, b;
    struct saved s = {0};
    struct pw_err err;
    struct bench x;
    (void)state;
    life_open(&a, 1, false);
    life_open(&b, 1, false);
    life_run(&a, begin);
    life_save(&a, &s);
    assert_int_equal(life_restore(&b, &s, &err), PW_OK);
    (void)life_told(&a);
    (void)life_told(&b);
    life_run(&b, "probe theorem2; train 2; wait; digest; reset; probe theorem2; digest");
    assert_false(b.failed);
    saved_free(&s);
    life_close(&a);
    life_close(&b);
    bench_open(&x, 1, false);
    bench_must(&x, "construct theorem2 T=16 seed=5; export weights construct-test.safetensors");
    bench_must(&x, "model tiny; import weights construct-test.safetensors; probe theorem2");
    must_be_proved(&x, "theorem2");
    unlink("construct-test.safetensors");
    bench_close(&x);
}

/* For any number of threads and any instruction set, a session's findings are compared bit by bit. */
static void test_followed(void **state)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct bench b;
        struct record r;
        char script[256];
        snprintf(script, sizeof script,
                 "set isa %s; construct theorem2 T=16; prompt sort 3 1 2; probe theorem1; probe theorem2; "
                 "train 5; probe theorem1; digest",
                 isas[i]);
        record_open(&b, &r, 2, false);
        bench_run(&b, script);
        bench_close(&b);
        if (record_find(&r, PW_EV_ERROR, NULL) < 0) { /* the processor supports it */
            record_must(&r, i + 1);
            assert_true(record_find(&r, PW_EV_FINDING, NULL) >= 0);
        }
        record_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tasks),   cmocka_unit_test(test_stays),
                                       cmocka_unit_test(test_seeds),   cmocka_unit_test(test_trains),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_first_word),
                                       cmocka_unit_test(test_kept),    cmocka_unit_test(test_followed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
