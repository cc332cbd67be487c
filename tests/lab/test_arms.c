/* test_arms.c - tests several arms in one lab: commands for one arm, equal work instead of equal steps, the
 * measurements of each arm, and the comparison with earlier runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "ref_lab.h"

/* ---- the arm of a command */

static void test_next(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "arm next");
    assert_int_equal(b.s->current, 1); /* the only arm */
    bench_must(&b, "race none,t5,alibi,rotary; arm drop 3; arm next; arm next");
    assert_int_equal(b.s->current, 4);
    bench_must(&b, "arm next");
    assert_int_equal(b.s->current, 1);
    bench_must(&b, "arm prev; arm prev");
    assert_int_equal(b.s->current, 2);
    bench_run(&b, "arm next 2");
    assert_non_null(strstr(b.error, "usage: arm [N|next|prev]"));
    bench_close(&b);
}

/* If only other arms train, the current arm isn't shown as training. */
static void test_others_train(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(
        &b, "race none,t5; model layers=1 width=16 heads=2; train 2; model layers=1 width=16 heads=2 arm=2");
    bench_send(&b, "train 100000");
    while (b.s->state.run != PW_RUN_TRAINING)
        bench_look(&b, 10000);
    assert_false(b.s->state.others);
    assert_int_equal(b.s->state.until, 100002);
    bench_send(&b, "model width=32"); /* arm 1 restarts at step 0 and isn't training */
    while (!b.s->state.others)
        bench_look(&b, 10000);
    assert_int_equal(b.s->state.run, PW_RUN_TRAINING);
    bench_send(&b, "arm 2");
    while (b.s->current != 2 || b.s->state.others)
        bench_look(&b, 10000);
    assert_int_equal(b.s->state.until, 100000);
    bench_close(&b);
}

static void test_scope(void **state)
{
    struct bench b, one;
    (void)state;
    bench_open(&b, 2, false);
    bench_open(&one, 1, false);
    bench_must(&b, "race none,t5,alibi; optim lr=0.002 arm=3; train 4; digest");
    bench_must(&one, "pe alibi; optim lr=0.002; train 4; digest");
    assert_true(
        same_line(strstr(digest_line(b.digests, 2), "step"), strstr(digest_line(one.digests, 0), "step")));
    assert_int_equal(b.s->current, 1);
    bench_must(&one, "pe none; optim lr=0.003; reset; train 4; digest"); /* other arms keep theirs */
    assert_true(same_line(digest_line(b.digests, 0), digest_line(one.digests, 0)));

    bench_must(&b, "reset arm=2; digest");
    assert_int_equal(b.s->arms[0].info.step, 4);
    assert_int_equal(b.s->arms[1].info.step, 0);
    assert_int_equal(b.s->arms[1].rep[0].series.n, 0);
    assert_int_equal(b.s->arms[2].rep[0].series.n, 4);
    bench_must(&b, "train 2; pe rotary arm=3; model width=32 heads=4 arm=2");
    assert_string_equal(b.s->arms[2].info.name, "rotary");
    assert_int_equal(b.s->arms[2].n_marks, 1);
    assert_int_equal(b.s->arms[1].info.width, 32);
    assert_int_equal(b.s->arms[0].info.width, 64);
    assert_int_equal(b.s->arms[0].info.step, 6);
    bench_must(&b, "reset");
    assert_int_equal(b.s->arms[0].info.step, 0);
    assert_int_equal(b.s->arms[2].info.step, 0);
    bench_close(&one);
    bench_close(&b);
}

/* ---- equal work */

/* Two arms of two replicas. A step of the first arm costs about four steps of the second. */
#define TWO_SIZES                                                                                            \
    "race none,t5 seeds=2; model width=32 heads=4 arm=2; optim batch=8 arm=1; optim batch=8 arm=2; "

static void test_budget(void **state)
{
    struct bench b, other;
    int64_t large, small;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, TWO_SIZES "train flops=1e9; digest");
    large = b.s->arms[0].info.step;
    small = b.s->arms[1].info.step;
    assert_true(large >= 10 && small > 3 * large && small < 5 * large);
    for (int r = 0; r < 2; r++) { /* replicas stay in step */
        assert_int_equal(b.s->arms[0].rep[r].series.n, large);
        assert_int_equal(b.s->arms[1].rep[r].series.n, small);
    }
    assert_int_equal(b.s->state.run, PW_RUN_IDLE);
    bench_open(&other, 1, false); /* round-robin or by work, in one command or two: the same steps and bits */
    bench_must(&other, TWO_SIZES "set share flops; train until flops=4e8; train until flops=1e9; digest");
    assert_string_equal(other.digests, b.digests);
    bench_must(&b, "train flops=5e8"); /* a goal relative to the work done so far */
    assert_true(b.s->arms[0].info.step >= large + large / 2 - 2 &&
                b.s->arms[0].info.step <= large + large / 2 + 2);
    assert_non_null(strstr(b.note, "arm 2 (t5): flops 1.5"));
    bench_run(&b, "train 3 until flops=1e12");
    assert_int_equal(b.errors, 1 + 1); /* each arm reports it */
    assert_non_null(strstr(b.error, "flops=1e+12 was not reached by step"));
    bench_close(&other);
    bench_close(&b);
}

static void test_share(void **state)
{
    struct bench b, other;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, TWO_SIZES "train 12; digest");
    assert_memory_equal(b.order, "12121212", 8);
    bench_open(&other, 3, false);
    bench_must(&other, TWO_SIZES "set share flops; train 12; digest");
    assert_string_equal(other.digests, b.digests);
    const char *at = other.order;
    assert_memory_equal(at, "11", 2); /* both replicas; then the second arm catches up */
    for (int round = 0; round < 2; round++) {
        size_t n = strspn(at += 2, "2");
        assert_true(n >= 2 * 3 && n <= 2 * 5);
        assert_memory_equal(at += n, "11", 2);
    }
    bench_must(&b, "arm add alibi; set share flops; arm drop 2; train 3"); /* a new arm catches up first */
    assert_memory_equal(b.order, "333333", 6);
    bench_must(&b, "set share steps; train 2");
    assert_memory_equal(b.order, "13131313", 8);
    bench_close(&other);
    bench_close(&b);
}

/* ---- measurements of each arm */

static void test_measures(void **state)
{
    static const char script[] =
        "model layers=1 width=16 heads=2; optim batch=4; race t5,none seeds=2; train 100";
    struct bench b, other;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, script);
    const struct pw_arm_view *a = b.s->arms;
    for (int i = 0; i < 2; i++)
        for (int r = 0; r < 2; r++) {
            const struct pw_updates *u = &a[i].rep[r].updates;
            assert_int_equal(u->n, 10);
            assert_int_equal(u->blocks, 1 + 3);
            assert_int_equal(u->step[9], 100);
            for (int k = 0; k < u->n * u->blocks; k++)
                assert_true(i == 1 && k % 4 == 3 ? isnan(u->ratio[k]) : u->ratio[k] > 0 && u->ratio[k] < 1);
            assert_true(a[i].rep[r].has_digest);
            assert_int_equal(a[i].rep[r].digest_step, 100);
        }
    for (int threads = 2; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
        bench_open(&other, threads, threads == 2);
        bench_must(&other, script);
        for (int i = 0; i < 2; i++)
            for (int r = 0; r < 2; r++) {
                const struct pw_replica_view *x = &a[i].rep[r], *y = &other.s->arms[i].rep[r];
                assert_memory_equal(x->digest, y->digest, sizeof x->digest);
                assert_memory_equal(x->updates.ratio, y->updates.ratio, 40 * sizeof *x->updates.ratio);
            }
        bench_close(&other);
    }
    uint64_t before[2];
    memcpy(before, a[1].rep[1].digest, sizeof before);
    bench_must(&b, "digest"); /* the automatic digest equals the requested one */
    for (int i = 0; i < 4; i++) {
        char text[33];
        pw_digest_text(text, a[i / 2].rep[i % 2].digest);
        assert_memory_equal(strstr(digest_line(b.digests, i), "digest ") + 7, text, 32);
    }
    assert_memory_equal(a[1].rep[1].digest, before, sizeof before);
    bench_must(&b, "train 7; digest");
    assert_int_equal(a[1].rep[1].digest_step, 107);
    assert_memory_not_equal(a[1].rep[1].digest, before, sizeof before);
    bench_must(&b, "reset arm=2; pe none; train 10"); /* the series of a swapped arm continues */
    assert_false(a[1].rep[1].has_digest);
    assert_int_equal(a[1].rep[0].updates.n, 1);
    assert_int_equal(a[0].rep[0].updates.n, 11);
    assert_true(isnan(a[0].rep[0].updates.ratio[43]));
    bench_close(&b);
}

/* Counts the lines of a file that contain this text. */
static int lines_with(const char *path, const char *what)
{
    struct pw_err err;
    char *text, *line, *state = NULL;
    size_t size;
    int n = 0;
    assert_int_equal(pw_file_read(path, 1 << 20, &text, &size, &err), PW_OK);
    for (line = strtok_r(text, "\n", &state); line != NULL; line = strtok_r(NULL, "\n", &state))
        n += strstr(line, what) != NULL;
    free(text);
    return n;
}

static void test_sheets(void **state)
{
    struct bench b;
    char dir[] = "/tmp/pewter_arms_XXXXXX", line[256], csv[64], jsonl[64];
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(csv, sizeof csv, "%s/x.csv", dir);
    snprintf(jsonl, sizeof jsonl, "%s/x.jsonl", dir);
    bench_open(&b, 2, false);
    bench_must(&b, "model layers=1 width=16 heads=2; optim batch=4; race t5,none; train 20; eval "
                   "lengths=2..3 samples=2; "
                   "train 5; eval samples=2");
    snprintf(line, sizeof line, "export updates %s; export track %s", csv, jsonl);
    bench_must(&b, line);
    assert_int_equal(lines_with(csv, "arm,pe,step,block,ratio"), 1);
    assert_int_equal(lines_with(csv, ","), 1 + 2 * 4 + 2 * 3); /* none has no block of its own */
    assert_int_equal(lines_with(csv, "1,t5 buckets=8 distance=16,20,layers.0,0."), 1);
    assert_int_equal(lines_with(csv, ",pe,"), 1 + 2); /* and the header line */
    assert_int_equal(lines_with(jsonl, "\"step\":20,\"exact\":"), 2);
    assert_int_equal(lines_with(jsonl, "\"exact_beyond\":null"), 2); /* no longer lengths were evaluated */
    assert_int_equal(lines_with(jsonl, "\"step\":25,"), 2);
    snprintf(line, sizeof line, "race t5,none seeds=2; train 10; export updates %s; export track %s", csv,
             csv);
    bench_must(&b, line);
    assert_int_equal(lines_with(csv, "arm,pe,step,exact,exact_beyond,seed"), 1);
    unlink(csv);
    unlink(jsonl);
    rmdir(dir);
    bench_close(&b);
}

/* ---- earlier runs */

static void test_runs(void **state)
{
    struct bench b;
    char dir[] = "/tmp/pewter_arms_XXXXXX", line[512], path[3][64];
    FILE *f;
    (void)state;
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "%s/%c.safetensors", dir, 'a' + i);
    bench_open(&b, 2, false);
    snprintf(line, sizeof line,
             "seed 3; task copy(variant=rsc),sort lengths=2..4; pe t5 buckets=6; train 5; export weights %s; "
             "task sort; pe none; optim lr=0.01; train 2; export weights %s moments=on; race none,t5",
             path[0], path[1]);
    bench_must(&b, line);
    assert_non_null(f = fopen(path[2], "w"));
    fputs("no weights", f);
    fclose(f);

    const struct {
        const char *filter, *last; /* part of the last note */
    } cases[] = {
        {"lr=1e-2 model=imported", "pe=none layers=2 width=64 heads=8 file=b.safetensors"},
        {"copy=1", NULL},
        {"task=copy", "pe=t5 layers=2 width=64 heads=8 file=a.safetensors"},
        {"t5 buckets=6",
         "5        -         -         -        -  1  pe=t5 layers=2 width=64 heads=8 file=a"},
        {"seed=3 task=sort none", "file=b.safetensors"},
        {"seed=3 task=sort NoPE", "file=b.safetensors"},
        {"seed=3 task=sort pe=nope", "file=b.safetensors"},
        {"seed=3 task=sort alibi", "no run of 4 matches"},
        {"", "file=b.safetensors"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(line, sizeof line, "runs path=%s %s", dir, cases[i].filter);
        bench_run(&b, line);
        assert_int_equal(b.errors, cases[i].last == NULL);
        assert_true(cases[i].last == NULL || strstr(b.note, "1 cannot be read: ") != NULL);
    }
    unlink(path[2]); /* without this file the last line is the last run */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(line, sizeof line, "runs path=%s %s", dir, cases[i].filter);
        bench_run(&b, line);
        if (cases[i].last != NULL && strstr(b.note, cases[i].last) == NULL)
            fail_msg("%s: '%s' has no '%s'", line, b.note, cases[i].last);
    }
    bench_must(&b, "train 2; runs t5");
    assert_non_null(strstr(b.note, "    2       2 "));
    assert_non_null(strstr(b.note, "e+0")); /* floating-point operations */
    unlink(path[0]);
    unlink(path[1]);
    rmdir(dir);
    bench_close(&b);
}

/* A bare encoding name reports its defaults for this model when it is typed. A name with explicit options
 * reports nothing. */
static void test_choice_is_said(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    static const struct {
        const char *line, *note;
    } cases[] = {
        {"race none,t5", "arm 2: t5 8/16 (context 128); default t5: 8/16 up to context 256, 32/128 beyond"},
        {"pe shaw arm=1", "arm 1: shaw 8 (context 128); default shaw: 8 up to context 256, 16 beyond"},
        {"arm add fire", "arm 3: fire threshold=8 (context 128); default fire: a threshold of a sixteenth"},
        {"fork t5", "arm 4: t5 8/16 (context 128)"},
        {"model tiny context=512; pe t5", "arm 1: t5 32/128 (context 512)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_must(&b, cases[i].line);
        assert_non_null(strstr(b.note, cases[i].note));
        if (i < 2) /* fits a narrow screen, whose last line starts with a blank */
            assert_in_range(strlen(b.note), 1, 79);
    }
    bench_must(&b, "race t5(buckets=32,distance=128)");
    bench_must(&b, "arm");
    assert_null(strstr(b.note, "alone is"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice_is_said), cmocka_unit_test(test_next),
        cmocka_unit_test(test_scope),          cmocka_unit_test(test_budget),
        cmocka_unit_test(test_share),          cmocka_unit_test(test_measures),
        cmocka_unit_test(test_sheets),         cmocka_unit_test(test_runs),
        cmocka_unit_test(test_others_train),
    };
    return cmocka_run_group_tests_name("arms", tests, NULL, NULL);
}
