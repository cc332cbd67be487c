/* test_replicates.c - tests forks and replicas: several models on the same batches. Each has the same bits
 * as the model that trains alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "lab/core/lab_int.h"
#include "lab/loop/loop.h"
#include "ref_lab.h"

/* Returns line i of the output of `digest`, without the arm and the replica. */
static const char *life(const struct bench *b, int i)
{
    return strstr(digest_line(b->digests, i), "  step");
}

static void test_fork(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 2, false);
    bench_must(&b, "pe t5; train 12; fork; train 9; digest"); /* both copies of one model */
    assert_true(same_line(life(&b, 0), life(&b, 1)));
    assert_int_equal(b.s->arms[1].info.parent, 1);
    assert_int_equal(b.s->arms[1].info.parent_step, 12);
    assert_int_equal(b.s->arms[1].n_marks, 0);
    assert_int_equal(b.s->arms[1].rep[0].series.n, 9);
    assert_int_equal(b.s->arms[1].rep[0].series.step[0], 13);
    assert_int_equal(b.s->arms[1].info.step, 21);
    assert_int_equal(b.s->current, 1);
    bench_must(&b, "fork rotary base=100; train 7; arm drop 2; arm drop 1; digest");
    assert_string_equal(b.s->arms[2].info.pe, "rotary base=100 dims=0 pairing=half");
    assert_int_equal(b.s->arms[2].n_marks, 1);
    assert_int_equal((int)b.s->arms[2].marks[0], 21);
    char forked[sizeof b.digests];
    snprintf(forked, sizeof forked, "%s", life(&b, 0));
    bench_must(&b, "reset; fork none");
    assert_int_equal(b.s->arms[2].info.parent, 0); /* after a restart it is no arm's fork */
    assert_string_equal(b.note, "arm 1: fork of 3 @ 0, none");
    bench_close(&b);
    bench_open(&b, 1, false); /* equals a swap in place */
    bench_must(&b, "pe t5; train 21; pe rotary base=100; train 7; digest");
    assert_true(same_line(life(&b, 0), forked));
    bench_close(&b);
}

static void test_bits(void **state)
{
    (void)state;
    struct bench b;
    char raced[sizeof b.digests];
    bench_open(&b, 2, false);
    bench_must(&b, "seed 7; race t5,none seeds=3; train 8; digest");
    assert_int_equal(b.steps, 6 * 8);
    memcpy(raced, b.digests, sizeof raced);
    struct bench all = b;
    for (int k = 0; k < 3; k++) { /* alone, with the same data and another thread count */
        char script[128];
        struct bench one;
        snprintf(script, sizeof script, "seed 7; race none; seed %d arm=1; train 8; digest", 7 + k);
        bench_open(&one, 1, false);
        bench_must(&one, script);
        assert_true(same_line(life(&one, 0), life(&all, 3 + k)));
        bench_close(&one);
    }
    for (int i = 0; i < 6; i++) /* and all differ */
        for (int k = 0; k < i; k++)
            assert_false(same_line(life(&all, i), life(&all, k)));
    bench_must(&b, "seed 7; train 4; prompt sort 2 1; eval samples=3 lengths=2..3; train 4; digest");
    assert_string_equal(b.digests, raced);
    bench_close(&b);
}

static void test_events(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 2, false);
    bench_must(&b, "seed 3; race alibi,none seeds=4; train 6; eval lengths=2..4 samples=5");
    assert_int_equal(b.steps, 2 * 4 * 6);
    assert_int_equal(b.evals, 2 * 4);
    for (int i = 0; i < 2; i++) {
        const struct pw_arm_view *a = &b.s->arms[i];
        assert_int_equal(a->info.replicas, 4);
        assert_int_equal(a->info.seed, 3);
        for (int r = 0; r < PW_MAX_REPLICAS; r++) {
            assert_int_equal(a->rep[r].series.n, r < 4 ? 6 : 0);
            assert_int_equal(a->rep[r].eval.n, r < 4 ? 3 : 0);
        }
        struct pw_spread loss = pw_spread_last(a, PW_M_LOSS);
        assert_int_equal(loss.n, 4);
        assert_true(loss.lo < loss.median && loss.median < loss.hi);
    }
    bench_must(&b, "step 2");
    assert_int_equal(b.steps, 2 * 4 * 2);
    bench_must(&b, "race none; train 5");
    assert_int_equal(b.steps, 5);
    assert_int_equal(b.s->arms[0].info.replicas, 1);
    assert_int_equal(b.s->arms[0].rep[1].series.n, 0);
    bench_close(&b);
}

/* A command that changes an arm changes all its replicas. */
static void test_together(void **state)
{
    (void)state;
    struct bench b, one;
    bench_open(&b, 2, false);
    bench_must(&b,
               "race none seeds=2; optim lr=0.002; train 5; pe t5; train 5; fork rotary; train 3; digest");
    bench_open(&one, 1, false);
    bench_must(&one, "seed 1 arm=1; optim lr=0.002; train 5; pe t5; train 5; fork rotary; train 3; digest");
    assert_true(same_line(life(&one, 0), life(&b, 1)));
    assert_true(same_line(life(&one, 1), life(&b, 3)));
    assert_int_equal(b.s->arms[1].info.replicas, 2);
    assert_int_equal(b.s->arms[1].rep[1].series.n, 3);
    bench_must(&b, "arm add alibi; arm drop 2; model layers=1; train 2; digest");
    assert_int_equal(b.steps, 2 * 2 * 2);
    assert_int_equal(b.s->arms[1].info.replicas, 0); /* the arm was dropped */
    bench_must(&one, "arm drop 2; model layers=1; seed 1 arm=1; train 2; digest");
    assert_true(same_line(life(&one, 0), life(&b, 1)));
    bench_must(&b, "seed 9 arm=1; reset; set threads 3; train 3; digest"); /* 9 and 10 */
    bench_must(&one, "seed 10 arm=1; reset; train 3; digest");
    assert_true(same_line(life(&one, 0), life(&b, 1)));
    bench_must(&b, "task copy; train 1; arm drop 3; train 1");
    assert_int_equal(b.steps, 2 * 2 + 2);
    bench_close(&b);
    bench_close(&one);
}

/* An arm trains until all its replicas have reached the goal, and they stay in step. */
static void test_until(void **state)
{
    (void)state;
    struct bench b;
    int64_t longest = 0;
    bench_open(&b, 2, false);
    for (int seed = 0; seed < 3; seed++) {
        char script[128];
        snprintf(script, sizeof script, "race none; seed %d arm=1; train until loss=2.3", seed);
        bench_must(&b, script);
        longest = b.s->arms[0].info.step > longest ? b.s->arms[0].info.step : longest;
    }
    bench_must(&b, "race none seeds=3; train until loss=2.3");
    assert_non_null(strstr(b.note, "the worst of n=3"));
    for (int r = 0; r < 3; r++)
        assert_int_equal(b.s->arms[0].rep[r].series.n, longest);
    bench_run(&b, "train 3 until acc=1");
    assert_int_equal(b.errors, 1);
    assert_non_null(strstr(b.error, "the worst of n=3"));
    bench_close(&b);
}

/* Counts the lines of a file that end in this text. */
static int lines_ending(const char *path, const char *end)
{
    struct pw_err err;
    char *text, *next;
    size_t size;
    int n = 0;
    assert_int_equal(pw_file_read(path, 1 << 20, &text, &size, &err), PW_OK);
    for (char *line = text; *line != '\0'; line = next) {
        size_t len = strcspn(line, "\n");
        next = line + len + (line[len] == '\n');
        n += len >= strlen(end) && strncmp(line + len - strlen(end), end, strlen(end)) == 0;
    }
    free(text);
    return n;
}

static void test_exports(void **state)
{
    (void)state;
    struct bench b;
    char dir[] = "/tmp/pewter_replicates_XXXXXX", line[256], path[64], weights[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/x.csv", dir);
    snprintf(weights, sizeof weights, "%s/w.safetensors", dir);
    bench_open(&b, 2, false);
    snprintf(line, sizeof line, "seed 18446744073709551615; race none,t5 seeds=2; train 4; export curves %s",
             path);
    bench_must(&b, line);
    assert_int_equal(lines_ending(path, ",seed"), 1);
    assert_int_equal(lines_ending(path, ",18446744073709551615"),
                     8); /* printed exactly; the next seed wraps to 0 */
    assert_int_equal(lines_ending(path, ",0"), 8);
    snprintf(line, sizeof line, "eval lengths=2..4 samples=3; export lengths %s", path);
    bench_must(&b, line);
    assert_int_equal(lines_ending(path, ",18446744073709551615"), 6);
    assert_int_equal(lines_ending(path, ",0"), 6);
    /* Exported weights of the second replica have its bits. */
    char second[sizeof b.digests];
    bench_must(&b, "digest");
    snprintf(second, sizeof second, "%s", life(&b, 1));
    snprintf(line, sizeof line,
             "arm add none; export weights %s replicate=2; arm 3; import weights %s; digest", weights,
             weights);
    bench_must(&b, "arm 1");
    bench_must(&b, line);
    assert_true(same_line(life(&b, 4), second));
    bench_must(&b, "arm drop 3; arm 1");
    bench_run(&b, "export weights x.safetensors replicate=3");
    assert_string_equal(b.error, "export weights: replica=3: arm 1 has replicas 1..2");
    /* Weights from a file are one model: the arm has one replica then. */
    snprintf(line, sizeof line, "export weights %s; import weights %s; train 2", weights, weights);
    bench_must(&b, line);
    assert_int_equal(b.s->arms[0].info.replicas, 1);
    assert_int_equal(b.steps, 2 * (1 + 2));
    bench_close(&b);
    unlink(path);
    unlink(weights);
    rmdir(dir);
}

/* The last note must contain these texts. */
static void assert_note(const struct bench *b, const char *first, const char *second)
{
    if (strstr(b->note, first) == NULL || strstr(b->note, second) == NULL)
        fail_msg("'%s' has no '%s' and '%s'", b->note, first, second);
}

static void test_runs(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 2, false);
    bench_must(&b, "runs");
    assert_note(&b, "*   1       0        -         -         -        -  1  pe=none", "");
    bench_must(&b, "race none,t5 seeds=2; arm 2; optim lr=0.002; train 3; eval lengths=8..9 samples=1; runs");
    assert_note(&b, "*   2       3 ", "%  2  pe=t5 buckets=8 distance=16 lr=0.002");
    assert_null(strstr(b.note, "layers=")); /* equal in both arms */
    assert_null(strstr(b.note, "seed"));
    bench_must(&b, "runs pe=none");
    assert_note(&b, "    1       3 ", "2  pe=none");
    assert_null(strstr(b.note, "lr=")); /* with one arm there is no difference to list */
    bench_must(&b, "runs lr=2e-3 layers=2");
    assert_note(&b, "*   2 ", "pe=t5");
    bench_must(&b, "runs lr=0.5");
    assert_string_equal(b.note, "no arm of 2 matches");
    bench_must(&b, "fork; runs fork=2@3");
    assert_note(&b, "    3       3 ", "pe=t5");
    bench_close(&b);
}

/* A command's event records for every replica whether it was training, up to the tenth replica of the
 * eighth arm. */
static void test_stand(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "race none,none,none,none,none,none,none,none seeds=10");
    struct pw_replica *last = pw_lab_replica(b.lab, 8, 10), *ninth = pw_lab_replica(b.lab, 1, 9);
    struct pw_event *e = pw_event_new(PW_EV_COMMAND);
    last->training = ninth->training = ninth->checking = true; /* no command runs: the lab thread sleeps */
    pw_lab_stand(b.lab, e);
    last->training = ninth->training = ninth->checking = false;
    assert_true(e->u.command.training[0] == 0 && e->u.command.checking[0] == 0);
    assert_true(e->u.command.training[1] == 0x8001 && e->u.command.checking[1] == 1);
    pw_event_free(e);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork),     cmocka_unit_test(test_bits),  cmocka_unit_test(test_events),
        cmocka_unit_test(test_together), cmocka_unit_test(test_until), cmocka_unit_test(test_exports),
        cmocka_unit_test(test_runs),     cmocka_unit_test(test_stand),
    };
    return cmocka_run_group_tests_name("replicates", tests, NULL, NULL);
}
