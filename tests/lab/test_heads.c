/* test_heads.c - tests heads that are switched off and on in a lab: during training, across swaps, copies and
 * threads, and in all replicas. Some commands keep heads off, others switch all on. Also tests cancelled jobs
 * and failing allocations. */
#include <stdio.h>
#include <string.h>

#include "lab/core/lab_int.h"
#include "ref_lab.h"

#define SMALL "model tiny width=16 heads=8 ffn=16; optim batch=8; "

static enum pw_ablation mode(const struct bench *b, int arm, int layer, int head)
{
    return pw_head_mode(&b->s->arms[arm - 1].rep[0], layer, head);
}

static float first_digits(const struct bench *b)
{
    return pw_eval_mean(&b->s->lab, &b->s->arms[0].rep[0].eval, -1, false);
}

/* ---- ablation */

static void test_off_and_on(void **state)
{
    struct bench b;
    char whole[sizeof b.digests], off[sizeof b.digests];
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "train 16; digest");
    memcpy(whole, b.digests, sizeof whole);
    bench_must(&b, "reset; train 8; ablate 0.1,1.3; train 8; digest");
    memcpy(off, b.digests, sizeof off);
    assert_string_not_equal(off, whole);
    assert_int_equal(mode(&b, 1, 0, 1), PW_ABLATE_ZERO);
    assert_int_equal(mode(&b, 1, 1, 3), PW_ABLATE_ZERO);
    assert_int_equal(mode(&b, 1, 0, 3), PW_ABLATE_NONE);
    bench_must(&b, "restore 0.1");
    assert_string_equal(b.note, "arm 1: heads off L1H3 zero");
    bench_must(&b, "restore");
    assert_string_equal(b.note, "arm 1: all heads are on");
    bench_must(&b, "reset; train 8; ablate 0.* 1.2 mode=mean; restore; train 8; digest");
    assert_string_equal(b.digests, whole);
    bench_close(&b);

    bench_open(&b, 1, true); /* live, with requests, one thread and a mode that changes */
    bench_must(
        &b,
        SMALL "train 8; prompt sort 3 1 2; ablate 1.3 mode=resample; ablate 0.1; ablate 1.3; eval samples=4; "
              "prompt sort 4 1 2; train 8; digest");
    assert_string_equal(b.digests, off);
    bench_close(&b);
}

/* The replacement for a head is measured on the whole network. The order and the number of threads don't
 * matter. */
static void test_measured(void **state)
{
    static const char *const scripts[] = {
        SMALL "train 5; ablate 0.1 mode=mean; ablate 1.0 mode=resample; train 5; digest",
        SMALL "train 5; ablate 1.0 mode=resample samples=64; ablate 0.1 mode=mean; train 5; digest",
        SMALL
        "train 5; ablate 0.1 mode=resample; ablate 1.0; ablate 1.0 mode=resample; ablate 0.1 mode=mean; "
        "fork rotary; arm drop 2; arm 1; set threads 3; train 5; digest",
        SMALL "train 5; ablate 0.1 mode=mean samples=63; ablate 1.0 mode=resample; train 5; digest",
    };
    struct bench b;
    char first[sizeof b.digests];
    (void)state;
    for (int i = 0; i < 4; i++) {
        bench_open(&b, i % 2 + 1, false);
        bench_must(&b, scripts[i]);
        if (i == 0)
            memcpy(first, b.digests, sizeof first);
        else if (i < 3)
            assert_string_equal(b.digests, first);
        else
            assert_string_not_equal(b.digests, first);
        assert_int_equal(mode(&b, 1, 0, 1), PW_ABLATE_MEAN);
        assert_int_equal(mode(&b, 1, 1, 0), PW_ABLATE_RESAMPLE);
        bench_close(&b);
    }
    bench_open(&b, 2, false);
    bench_must(&b, "ablate 1.7 mode=mean samples=5");
    assert_non_null(strstr(b.note, "arm 1: heads off L1H7 mean; from 5 validation samples, "));
    bench_close(&b);
}

static void test_what_ends_it(void **state)
{
    static const char *const kept[] = {
        "pe rotary", "set threads 1", "set isa scalar", "task sort test=9..12", "optim lr=0.001", "fork t5"};
    static const char *const ends[] = {"reset",     "seed 3",      "model tiny heads=4",
                                       "task copy", "reset arm=1", "race none,t5"};
    struct bench b;
    char line[256];
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "train 3; ablate 0.1 mode=mean; ablate 1.2");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        bench_must(&b, kept[i]);
        assert_int_equal(mode(&b, 1, 0, 1), PW_ABLATE_MEAN);
        assert_int_equal(mode(&b, 1, 1, 2), PW_ABLATE_ZERO);
    }
    assert_int_equal(mode(&b, 2, 0, 1), PW_ABLATE_MEAN); /* the fork */
    bench_must(&b, "restore arm=2; arm 1");
    assert_int_equal(mode(&b, 2, 0, 1), PW_ABLATE_NONE);
    assert_int_equal(mode(&b, 1, 0, 1), PW_ABLATE_MEAN);
    bench_must(&b, "arm drop 2");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(line, sizeof line, "ablate 0.1; %s", ends[i]);
        bench_must(&b, line);
        assert_int_equal(mode(&b, 1, 0, 1), PW_ABLATE_NONE);
        if (i == 0)
            assert_string_equal(b.note, "arm 1: new weights; all heads are on");
    }
    bench_close(&b);
}

static void test_replicas(void **state)
{
    struct bench b;
    char first[sizeof b.digests];
    (void)state;
    for (int i = 0; i < 2; i++) {
        bench_open(&b, 2 - i, false);
        bench_must(&b, SMALL
                   "race none,t5 seeds=2; train 3; ablate 0.1,1.1 mode=resample arm=2; train 2; digest");
        if (i == 0)
            memcpy(first, b.digests, sizeof first);
        else
            assert_string_equal(b.digests, first);
        assert_int_equal(mode(&b, 2, 0, 1), PW_ABLATE_RESAMPLE);
        assert_int_equal(mode(&b, 1, 0, 1), PW_ABLATE_NONE);
        bench_close(&b);
    }
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "race none,t5 seeds=2; train 5; digest");
    /* arm 1 is unchanged, both replicas of arm 2 differ */
    for (int k = 0; k < 4; k++)
        assert_int_equal(same_line(digest_line(first, k), digest_line(b.digests, k)), k < 2);
    bench_close(&b);
}

/* Switches heads of one replica only: the other replicas keep their bits. */
static void test_one_replica(void **state)
{
    static const char *const modes[] = {"zero", "mean", "resample"};
    struct bench b;
    char whole[sizeof b.digests], line[256];
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "race none seeds=3; train 6; digest");
    memcpy(whole, b.digests, sizeof whole);
    for (int m = 0; m < 3; m++) {
        snprintf(line, sizeof line,
                 SMALL "race none seeds=3; train 3; ablate 1.3 mode=%s replicate=2; train 3; digest",
                 modes[m]);
        bench_must(&b, line);
        for (int r = 0; r < 3; r++) {
            assert_int_equal(same_line(digest_line(b.digests, r), digest_line(whole, r)), r != 1);
            assert_int_equal(pw_head_mode(&b.s->arms[0].rep[r], 1, 3), r == 1 ? m + 1 : PW_ABLATE_NONE);
        }
    }
    bench_must(&b, "ablate 1.3,0.0 replicate=3; fork t5; fork");
    for (int arm = 0; arm < 3; arm++) {
        assert_int_equal(pw_head_mode(&b.s->arms[arm].rep[1], 1, 3), PW_ABLATE_RESAMPLE);
        assert_int_equal(pw_head_mode(&b.s->arms[arm].rep[2], 1, 3), PW_ABLATE_ZERO);
        assert_int_equal(pw_head_mode(&b.s->arms[arm].rep[0], 1, 3), PW_ABLATE_NONE);
    }
    bench_must(&b, "restore 1.3 replicate=3 arm=1");
    assert_string_equal(b.note, "arm 1: heads off L1H3 resample in replica 2; L0H0 zero in replica 3");
    bench_must(&b, "restore replicate=2; restore 0.0"); /* of arm 1, which is the current one */
    assert_string_equal(b.note, "arm 1: all heads are on");
    bench_must(&b, "reset arm=2");
    assert_string_equal(b.note, "arm 2: new weights; all heads are on");
    bench_run(&b, "ablate 0.0 replicate=4");
    assert_string_equal(b.error, "ablate: replica=4: arm 1 has replicas 1..3");
    bench_close(&b);
}

/* Without any head of a layer nothing comes from other positions: the model can only guess the order. */
static void test_what_it_does(void **state)
{
    struct bench b;
    float whole;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b,
               "model tiny width=32 heads=8; task sort lengths=2..2 test=3..3; train 150; eval samples=64");
    whole = first_digits(&b);
    assert_true(whole > 0.5f);
    assert_int_equal(b.s->arms[0].rep[0].eval_before.n, 0);
    bench_must(&b, "ablate 0.*,1.*; eval samples=64");
    assert_true(first_digits(&b) < 0.2f * whole);
    assert_int_equal(b.s->arms[0].rep[0].eval_before_step, 150);
    assert_true(pw_eval_mean(&b.s->lab, &b.s->arms[0].rep[0].eval_before, -1, false) == whole);
    bench_must(&b, "eval samples=64; restore; eval samples=64");
    assert_true(first_digits(&b) == whole);
    assert_true(pw_eval_mean(&b.s->lab, &b.s->arms[0].rep[0].eval_before, -1, false) < 0.2f * whole);
    bench_close(&b);
    bench_open(&b, 2, true); /* live: the length curve is computed again at once */
    bench_must(&b, SMALL "train 10");
    int64_t n = b.s->arms[0].rep[0].track.n;
    bench_must(&b, "ablate 0.1");
    assert_true(b.s->arms[0].rep[0].eval_before.n > 0 || b.s->arms[0].rep[0].track.n > n);
    bench_close(&b);
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"ablate",
         "ablate: too few arguments; usage: ablate L.H[,L.H...] [mode=zero|mean|resample] [samples=N] "
         "[arm=K] [replica=R]"},
        {"ablate 0.8", "ablate: no head '0.8': arm 1 has L0H0 to L1H7 (or 0.0 to 1.7)"},
        {"ablate 2.0", "ablate: no head '2.0': arm 1 has L0H0 to L1H7 (or 0.0 to 1.7)"},
        {"ablate 0.1,,1.1", "ablate: no head '': arm 1 has L0H0 to L1H7 (or 0.0 to 1.7)"},
        {"ablate 0.1x", "ablate: no head '0.1x': arm 1 has L0H0 to L1H7 (or 0.0 to 1.7)"},
        {"ablate 0.99999999999999999", "ablate: no head '0.99999999999999999': arm 1 has L0H0 to L1H7 "
                                       "(or 0.0 to 1.7)"},
        {"ablate -1.0", "ablate: no head '-1.0': arm 1 has L0H0 to L1H7 (or 0.0 to 1.7)"},
        {"ablate 0.1 mode=on", "ablate: mode=on: allowed are zero|mean|resample"},
        {"ablate 0.1 arm=4", "there is no arm 4; there is only arm 1"},
        {"ablate 0.1 replicate=2",
         "ablate: replica=2: arm 1 has one replica; 'race PE,... seeds=N' makes N of each"},
        {"ablate 0.1 replicate=0", "ablate: replica=0: allowed are all|1..10"},
        {"restore replicate=3",
         "restore: replica=3: arm 1 has one replica; 'race PE,... seeds=N' makes N of each"},
        {"restore 0.1 mode=zero", "restore: no option 'mode'; there are replica"},
        {"restore 0.0.0", "restore: no head '0.0.0': arm 1 has L0H0 to L1H7 (or 0.0 to 1.7)"},
    };
    struct bench b;
    char digest[sizeof b.digests];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "train 3; digest");
    memcpy(digest, b.digests, sizeof digest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i].line);
        assert_string_equal(b.error, cases[i].error);
        assert_null(b.s->arms[0].rep[0].heads_off.mode);
    }
    bench_must(&b, "digest");
    assert_string_equal(b.digests, digest);
    bench_close(&b);
}

/* ---- jobs */

/* Measuring and patching are jobs. A cancelled job leaves nothing behind. These jobs take at least half a
 * second. */
#define TEN  " 2 3 4 5 6 7 8 9 0 1"
#define TAIL TEN TEN TEN " 2 3 4 5 6 7 8 9 0"
static void test_cancelled(void **state)
{
    static const char *const lines[] = {"ablate 0.*,1.* mode=resample samples=4096",
                                        "patch resid from=\"sort 9" TAIL "\""};
    static const char *const ends[] = {"stop", "pe t5", NULL};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..20 test=21..40; model tiny width=128 layers=6; "
                   "prompt sort 1" TAIL "; train 1");
    for (int i = 0; i < 6; i++) {
        bench_begin_job(&b, lines[i / 3]);
        if (ends[i % 3] != NULL)
            pw_lab_send(b.lab, ends[i % 3], PW_SEND_NOW);
        else
            pw_lab_interrupt(b.lab);
        bench_must(&b, "digest");
        assert_int_equal(b.s->job.state, PW_JOB_CANCELLED);
        assert_null(b.s->arms[0].rep[0].heads_off.mode);
        assert_false(b.s->has_patch);
    }
    bench_close(&b);
}

/* While a job measures replacements for heads, other switches are refused at once, without waiting. */
static void test_meanwhile(void **state)
{
    static const char *const refused[] = {"ablate 1.1", "ablate 1.1 mode=mean", "restore"};
    struct bench b;
    char error[128];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..20 test=21..40; model tiny width=128 layers=6; train 1");
    bench_send(&b, "ablate 0.*,1.* mode=mean samples=4096");
    for (int i = 0; i < 3; i++) {
        bench_send(&b, refused[i]);
        while (b.errors < i + 1) {
            bench_look(&b, 10000);
            assert_false(pw_lab_idle(b.lab)); /* fails if the refusal waited for the measurement's end */
        }
        snprintf(
            error, sizeof error,
            "%.*s: the replacements for heads of arm 1 are still being measured; 'cancel ablate' ends that",
            (int)strcspn(refused[i], " "), refused[i]);
        assert_string_equal(b.error, error);
    }
    bench_send(&b, "cancel ablate");
    bench_until_idle(&b);
    assert_int_equal(b.s->job.state, PW_JOB_CANCELLED);
    assert_null(b.s->arms[0].rep[0].heads_off.mode);
    bench_close(&b);
}

/* ---- failing allocations */

static const struct pw_backend_ops *cpu;
static int left; /* allocations of the backend until one fails; < 0: none fails */

static void *alloc(struct pw_backend *be, size_t bytes)
{
    return left >= 0 && left-- == 0 ? NULL : cpu->alloc(be, bytes);
}

/* Writes the logits of two replicas for one sequence, one after the other. */
static void read_logits(const struct bench *b, float out[2 * 3 * 64])
{
    struct pw_err err;
    for (int r = 0; r < 2; r++) {
        struct pw_inspection in = {.logits = out + r * 3 * 64};
        struct pw_model *m = pw_lab_replica(b->lab, 1, r + 1)->model;
        assert_true(pw_model_config(m)->vocab <= 64);
        assert_int_equal(pw_model_inspect(m, (const int[]){3, 5, 4}, 3, &in, &err), PW_OK);
    }
}

/* If memory for one head is missing, all replicas stay unchanged, including heads that were off before. No
 * event reports a change. */
static void test_no_memory(void **state)
{
    struct bench b;
    struct pw_backend_ops ops;
    float before[2 * 3 * 64] = {0}, after[2 * 3 * 64] = {0};
    int failures = 0;
    (void)state;
    bench_open(&b, 1, false);
    cpu = b.lab->ops;
    ops = *cpu;
    ops.alloc = alloc;
    left = -1;
    b.lab->ops = &ops;
    bench_must(&b, SMALL "race none seeds=2; train 3; ablate 0.0; ablate 1.1 mode=mean samples=9; ablate 0.3 "
                         "mode=resample samples=8; restore 0.3");
    read_logits(&b, before);
    for (left = 0;; failures++) {
        int at = left;
        bench_run(&b, "ablate 0.0,1.1,1.2 mode=mean samples=5");
        if (b.errors == 0)
            break;
        assert_string_equal(b.error, "out of memory for a head's replacement");
        assert_int_equal(b.notes, 0);
        read_logits(&b, after);
        assert_memory_equal(before, after, sizeof before);
        for (int r = 0; r < 2; r++)
            for (int h = 0; h < 16; h++) {
                int was = h == 0 ? PW_ABLATE_ZERO : h == 9 ? PW_ABLATE_MEAN : PW_ABLATE_NONE;
                struct pw_model *m = pw_lab_replica(b.lab, 1, r + 1)->model;
                assert_int_equal(pw_model_replaced(m, h / 8, h % 8), was);
                assert_int_equal(pw_head_mode(&b.s->arms[0].rep[r], h / 8, h % 8), was);
            }
        left = at + 1;
    }
    assert_int_equal(failures, 6);
    assert_int_equal(mode(&b, 1, 1, 2), PW_ABLATE_MEAN);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_off_and_on),   cmocka_unit_test(test_measured),
        cmocka_unit_test(test_what_ends_it), cmocka_unit_test(test_replicas),
        cmocka_unit_test(test_one_replica),  cmocka_unit_test(test_what_it_does),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_meanwhile),    cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
