/* test_follow.c - tests re-runs: any recorded session must re-run to the same bits, whenever its lines were
 * typed. The session continues where its record ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "ref_record.h"
#include "sessions/codec.h"

#define SMALL "model tiny width=16 layers=1 heads=2; optim batch=4; "

/* Runs a script to its end, and records it. */
static void record_script(struct record *r, int threads, bool live, const char *script)
{
    struct bench b;
    record_open(&b, r, threads, live);
    bench_run(&b, script);
    bench_close(&b);
}

/* Any number of threads, any instruction set. */
static void test_machines(void **state)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    static const int threads[] = {1, 2, 8};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct record r;
        char script[256];
        snprintf(script, sizeof script,
                 SMALL
                 "race none,t5,rotary seeds=2; set isa %s; train 20; eval lengths=2..4 samples=9; digest",
                 isas[i]);
        record_script(&r, 2, false, script);
        if (record_find(&r, PW_EV_ERROR, NULL) < 0) { /* the processor supports it */
            record_must(&r, threads[i]);
            assert_int_equal(r.v.steps, 120);
            assert_int_equal(r.v.evals, 6);
            assert_int_equal(r.v.digests, 6);
        }
        record_free(&r);
    }
}

/* Lines typed at random moments of the training of a race, with live events. They arrive in the middle of
 * steps, of rounds, of evaluations, of answers. */
static void test_typed(void **state)
{
    static const char *const changes[] = {
        "pe rotary",
        "next; back 2",
        "edit 6 4",
        "ablate 0.1",
        "arm 1",
        "fork t5",
        "stop; train 300",
        "restore",
        "patch heads from=\"sort 3 1 4\"",
        "set temperature 0.7",
        "failing",
        "ablate 1.* mode=mean",
        "optim lr=0.002",
        "set isa scalar; set threads 1",
        "no such thing",
        NULL,
    };
    static const char *const *const typed[] = {bench_asked, changes};
    struct bench b;
    struct record r;
    struct pw_rng rng;
    (void)state;
    pw_rng_init(&rng, 1, PW_STREAM_TEST, 0);
    record_open(&b, &r, 2, true);
    bench_send(&b, "model tiny width=32; optim batch=16; race t5,rotary seeds=2; train 300");
    for (int i = 0; i < 2; i++)
        for (const char *const *line = typed[i]; *line != NULL; line++) {
            int64_t steps = b.s != NULL ? b.s->arms[0].info.step : 0;
            for (int k = 0; k < 20 && (b.s == NULL || b.s->arms[0].info.step < steps + 2); k++)
                bench_look(&b, 10);
            bench_doze(4.0 * pw_rng_unit(&rng));
            bench_send(&b, *line);
        }
    bench_send(&b, "stop; digest");
    bench_until_idle(&b);
    bench_close(&b);
    record_must(&r, 1);
    assert_true(r.v.steps > 0 && r.v.tokens > 10 && r.v.others > 10);
    record_free(&r);
}

/* Ctrl-C is recorded as the command that it meant. */
static void test_interrupts(void **state)
{
    struct bench b;
    struct record r;
    (void)state;
    record_open(&b, &r, 2, false);
    bench_send(&b, SMALL "race none,t5 seeds=3; train 1000000");
    while (r.n < 40)
        bench_look(&b, 100);
    pw_lab_interrupt(b.lab);
    while (record_find(&r, PW_EV_COMMAND, "pause") < 0)
        bench_look(&b, 100);
    bench_send(&b, "eval lengths=2..16 samples=100000");
    while (record_find(&r, PW_EV_JOB, NULL) < 0)
        bench_look(&b, 100);
    pw_lab_interrupt(b.lab);
    while (record_find(&r, PW_EV_COMMAND, "cancel eval") < 0)
        bench_look(&b, 100);
    bench_send(&b, "cancel; cancel train"); /* 'train' names no job */
    bench_send(&b, "resume; step");         /* fails during training */
    bench_send(&b, "stop; digest");
    bench_until_idle(&b);
    bench_close(&b);
    record_must(&r, 2);
    record_free(&r);
}

/* A head is switched while another head's mean is being measured: the re-run refuses it, too. On a busy
 * machine the measurement may end before the second line arrives. Then the test tries again with more
 * samples. */
static void test_in_the_middle(void **state)
{
    static const char *const second[] = {"ablate 0.1", "restore 0.1", "ablate 0.1 mode=resample samples=3"};
    (void)state;
    for (int i = 0, samples = 4000; i < 3; samples *= 2) {
        struct bench b;
        struct record r;
        char first[64];
        snprintf(first, sizeof first, "ablate 0.0 mode=mean samples=%d", samples);
        record_open(&b, &r, 1, true);
        bench_must(&b, SMALL "prompt sort 3 1 2; train 10");
        bench_send(&b, first);
        while (record_find(&r, PW_EV_COMMAND, first) < 0)
            bench_look(&b, 10);
        bench_send(&b, second[i]);
        bench_until_idle(&b);
        bench_close(&b);
        record_must(&r, 2);
        i += record_find(&r, PW_EV_ERROR, NULL) >= 0;
        record_free(&r);
    }
}

/* Training with measured goals, schedules, budgets; heads that are off; the script of a demo. */
static void test_scenarios(void **state)
{
    static const char *const scripts[] = {
        "train 120 until acc=0.01; digest; train until loss=2.3; digest",
        "race none,t5 seeds=2; train 60 until acc=0.9; train 3",
        "set share flops; race none,alibi; model tiny width=8 layers=1 heads=1 arm=2; train flops=3e6; "
        "digest",
        "train 20; ablate 0.0 mode=resample samples=9; eval lengths=2..3; restore; prompt sort 3 1 2; pe "
        "sinusoidal; train 20; "
        "prompt sort 2 2; next; edit 5 1; failing; patch heads from=\"sort 2 3\"; digest",
        "task addition data=64; train 10; sample length=3; task sort; seed 3; train 5; arm add t5; fork "
        "rotary; train 5; arm drop 1; "
        "reset; train 2; digest",
    };
    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        for (int live = 0; live < 2; live++) {
            struct record r;
            struct pw_str script = {0};
            pw_str_add(&script, SMALL "%s", scripts[i]);
            record_script(&r, 2, live == 1, script.s);
            record_must(&r, 1);
            pw_str_fini(&script);
            record_free(&r);
        }
}

/* A session with gaps is compared as far as possible. */
static void test_gaps(void **state)
{
    struct record r;
    struct pw_rng rng;
    int steps = 0;
    (void)state;
    record_script(&r, 1, true,
                  SMALL "race none,t5 seeds=2; prompt sort 3 1 2; train 40; next; eval lengths=2..3 "
                        "samples=20; pe alibi; train 40; digest");
    pw_rng_init(&rng, 3, PW_STREAM_TEST, 0);
    for (int i = r.n - 1; i >= 0; i--) {
        enum pw_event_kind k = r.e[i]->kind;
        bool may = k == PW_EV_STEP || k == PW_EV_UPDATES || k == PW_EV_LOOK || k == PW_EV_ATTENTION ||
                   k == PW_EV_TABLE || k == PW_EV_STATE || k == PW_EV_JOB;
        bool answer = (k == PW_EV_PROMPT || k == PW_EV_TOKEN) && r.e[i]->step > 0 && r.e[i]->step < 40;
        if (answer || (may && pw_rng_below(&rng, 3) == 0)) {
            steps += k == PW_EV_STEP;
            record_drop(&r, i);
        }
    }
    record_must(&r, 1);
    assert_true(steps > 20);
    assert_int_equal(r.v.steps + r.v.unrecorded, 320);
    record_free(&r);
}

/* ---- continuing where a record ends */

static bool is_bits(const struct pw_event *e)
{
    return e->kind == PW_EV_STEP || e->kind == PW_EV_UPDATES || e->kind == PW_EV_DIGEST ||
           e->kind == PW_EV_EVAL || e->kind == PW_EV_TOKEN || e->kind == PW_EV_NOTE || e->kind == PW_EV_HEADS;
}

/* The record is cut after any event, re-run to its end, and continued live. No event may be missing, and none
 * may be emitted twice. */
static void test_cut_off(void **state)
{
    static const char script[] = SMALL "race none,t5 seeds=2; prompt sort 3 1 2; digest; train 110";
    struct record r;
    struct pw_rng rng;
    (void)state;
    record_script(&r, 1, false, script);
    pw_rng_init(&rng, 4, PW_STREAM_TEST, 0);
    int begins = record_find(&r, PW_EV_COMMAND, "train"), all = r.n,
        first = record_find(&r, PW_EV_COMMAND, "digest");
    for (int k = 0; k < 16; k++) {
        struct bench b;
        struct record told;
        r.n = (k < 8 ? begins + 1 : first + 1) +
              (int)pw_rng_below(&rng, (uint32_t)(k < 8 ? all - begins - 1 : 8));
        struct pw_follow_opts opts = record_opts(&r, false);
        record_resume(&b, &told, &opts, false);
        if (r.n <= begins)
            pw_lab_send(b.lab, "train 110", PW_SEND_SCRIPT);
        bench_until_idle(&b);
        bench_close(&b);
        assert_int_equal(r.v.end, PW_FOLLOW_EQUAL);
        struct pw_difference difference;
        int i = r.n, j = 0;
        for (; i < all; i++) {
            if (!is_bits(r.e[i]))
                continue;
            while (j < told.n && !is_bits(told.e[j]))
                j++;
            assert_true(j < told.n);
            assert_int_equal(told.e[j]->kind, r.e[i]->kind);
            assert_int_equal(told.e[j]->step, r.e[i]->step);
            assert_true(pw_event_same(r.e[i], told.e[j], &difference));
            j++;
        }
        while (j < told.n && !is_bits(told.e[j]))
            j++;
        assert_int_equal(j, told.n);
        record_free(&told);
    }
    r.n = all;
    record_free(&r);
}

/* Ctrl-C ends the re-run; lines typed meanwhile run then. */
static void test_stopped(void **state)
{
    struct record r, told;
    struct bench b;
    (void)state;
    record_script(&r, 1, false, "model tiny width=32; optim batch=8; train 400");
    struct pw_follow_opts opts = record_opts(&r, false);
    opts.last = r.e[r.n - 1]->seq;
    record_resume(&b, &told, &opts, false);
    bench_send(&b, "stop; say typed");
    while (record_find(&told, PW_EV_JOB, NULL) < 0)
        bench_look(&b, 100);
    assert_int_equal(r.ended, 0);
    pw_lab_interrupt(b.lab);
    bench_until_idle(&b);
    bench_close(&b);
    assert_int_equal(r.ended, 1);
    assert_int_equal(r.v.end, PW_FOLLOW_STOPPED);
    assert_true(r.v.steps < 400);
    int say = record_find(&told, PW_EV_COMMAND, "say");
    assert_true(say >= 0);
    assert_int_equal(told.e[say]->u.command.at[0], r.v.steps);
    record_free(&told);
    record_free(&r);
}

/* ---- files that commands read */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void test_files(void **state)
{
    char folder[] = "/tmp/pewter-follow-XXXXXX", name[3][64], copy[128], sha[65];
    static const char *const texts[] = {"a b\tb a\nb a\ta b\na a\ta a\n", "2 0.5\n3 0.25\n4 0.25\n"};
    struct record r;
    struct pw_str script = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 3; i++)
        snprintf(name[i], sizeof name[i], "%s/%d%s", folder, i, i == 2 ? ".safetensors" : "");
    for (int i = 0; i < 2; i++)
        write_text(name[i], texts[i]);
    pw_str_add(
        &script,
        SMALL "train 3; export weights %s; task file path=%s; train 3; eval; task sort lengths=2..4 dist=%s; "
              "train 3; eval; import weights %s; train 3; digest",
        name[2], name[0], name[1], name[2]);
    record_script(&r, 1, false, script.s);
    assert_int_equal(record_find(&r, PW_EV_ERROR, NULL), -1);
    int files = 0;
    for (int i = 0; i < r.n; i++) {
        const struct pw_ev_file *f = &r.e[i]->u.file;
        char *data;
        size_t size;
        struct pw_err err;
        if (r.e[i]->kind != PW_EV_FILE)
            continue;
        files++;
        pw_sha256_text(sha, f->sha);
        snprintf(copy, sizeof copy, "%s/%s", folder, sha);
        assert_int_equal(pw_file_read(f->name, 1 << 20, &data, &size, &err), PW_OK);
        assert_int_equal(size, f->bytes);
        FILE *out = fopen(copy, "w");
        assert_int_equal(fwrite(data, 1, size, out), size);
        fclose(out);
        free(data);
    }
    assert_true(files >= 3);
    for (int i = 0; i < 2; i++) /* the current file doesn't count */
        write_text(name[i], "x y\ty x\n");
    assert_int_equal(unlink(name[2]), 0);
    r.files = folder;
    record_must(&r, 1);
    assert_int_equal(access(name[2], F_OK), -1); /* no file is written again */
    r.files = "/nonexistent";
    record_follow(&r, 1);
    assert_int_equal(r.v.end, PW_FOLLOW_DIFFERENT);
    assert_non_null(strstr(r.v.text, "the session has no copy of this file"));
    snprintf(copy, sizeof copy, "rm -r '%s'", folder);
    assert_int_equal(system(copy), 0);
    pw_str_fini(&script);
    record_free(&r);
}

/* ---- commands as they are recorded */

/* From a version that cut long remarks without a message. */
static void test_long_remark(void **state)
{
    (void)state;
    struct record r;
    record_script(&r, 1, false, SMALL "mark x; train 2; say x");
    for (int i = 0; i < 2; i++) {
        char *x = strchr(r.e[record_find(&r, PW_EV_COMMAND, i == 0 ? "mark" : "say")]->u.command.text, 'x');
        memset(x, 'x', 600);
        x[600] = '\0';
    }
    record_must(&r, 1);
    record_free(&r);
}

static void test_text(void **state)
{
    struct bench b;
    struct record r;
    struct pw_str line = {0};
    (void)state;
    record_open(&b, &r, 1, false);
    bench_must(&b, SMALL "train\t2;\tprompt sort\t3 1 2");
    assert_true(record_find(&r, PW_EV_COMMAND, "train 2") >= 0);
    pw_str_add(&line, "say ");
    for (int i = 0; i < 300; i++)
        pw_str_add(&line, "0123456789");
    bench_must(&b, line.s);
    assert_int_equal(strlen(r.e[record_find(&r, PW_EV_COMMAND, "say")]->u.command.text), 3004);
    for (int i = 0; i < 200; i++)
        pw_str_add(&line, "0123456789");
    bench_run(&b, line.s);
    assert_int_equal(record_find(&r, PW_EV_ERROR, "5004 bytes; at most 4095 are allowed") >= 0, true);
    bench_close(&b);
    record_must(&r, 1);
    pw_str_fini(&line);
    record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines),   cmocka_unit_test(test_typed),
        cmocka_unit_test(test_interrupts), cmocka_unit_test(test_in_the_middle),
        cmocka_unit_test(test_scenarios),  cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_cut_off),    cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_files),      cmocka_unit_test(test_long_remark),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
