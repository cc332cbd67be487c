/* test_memory.c - tests that models and steps that can't fit in memory are refused at once, in one line, and
 * change nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/actions.h"
#include "ref_lab.h"

/* Available memory in KiB that the system reports; 0: the real number. */
static int available;

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

FILE *__wrap_fopen(const char *path, const char *mode)
{
    static char text[64];
    if (available == 0 || strcmp(path, "/proc/meminfo") != 0)
        return __real_fopen(path, mode);
    snprintf(text, sizeof text, "MemAvailable: %d kB\n", available);
    return fmemopen(text, strlen(text), "r");
}

static void test_refused(void **state)
{
    static const char *const absurd[] = {
        "model layers=64 width=8192",
        "model paper width=8192 ffn=65536 heads=64",
        "model width=8192 layers=40 heads=128 head_width=512 ffn=65536",
    };
    struct bench b;
    char before[sizeof b.digests];
    struct timespec t0, t1;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 2; digest");
    memcpy(before, b.digests, sizeof before);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0); /* other processes may use the machine */
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        bench_run(&b, absurd[i]);
        assert_int_equal(b.errors, 1);
        assert_non_null(strstr(b.error, "this model needs "));
        assert_non_null(strstr(b.error, " GiB are free; "));
        assert_null(strchr(b.error, '\n'));
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    assert_true(t1.tv_sec - t0.tv_sec < 3);
    bench_run(&b, "model layers=1000 width=65536");
    assert_string_equal(b.error, "model: layers=1000: allowed are 1..64");
    bench_must(&b, "digest");
    assert_string_equal(b.digests, before);
    bench_close(&b);
}

/* Absurd numbers: one line that names the allowed range, at once. */
static void test_absurd(void **state)
{
    static const char *const absurd[][2] = {
        {"model width=99999999", "allowed are 1..8192"},
        {"model context=99999999999", "allowed are fit|2..131072"},
        {"model ffn=1000000000", "allowed are 0..65536"},
        {"task copy alphabet=100000", "allowed are 1..62"},
        {"task sort lengths=1..99999999999999", "or A in 1..256"},
        {"optim batch=1000000", "allowed are 1..4096"},
        {"optim steps=99999999999999", "allowed are 1..1000000000"},
        {"train 99999999999999", "1..1000000000"},
        {"train until step=1e10", "allowed are 1..1000000000"},
        {"eval samples=1000000000", "allowed are 1..1000000"},
        {"eval lengths=1..1000000", "or A in 1..16384"},
        {"step 99999999", "1..1000"},
        {"set threads 100000", "allowed are 0..64"},
        {"race none seeds=99999999", "allowed are 1..10"},
        {"arm 99999999999", "1..8"},
        {"seed 99999999999999999999999", "allowed are 0..18446744073709551615"},
        {"table length=99999999", "allowed are 0..65536"},
        {"set temperature 1e30", "allowed are 0..100"},
    };
    struct bench b;
    char before[sizeof b.digests];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 2; digest");
    memcpy(before, b.digests, sizeof before);
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        bench_run(&b, absurd[i][0]);
        if (b.errors != 1 || strstr(b.error, absurd[i][1]) == NULL)
            fail_msg("%s: %s", absurd[i][0], b.error);
        assert_null(strchr(b.error, '\n'));
    }
    bench_must(&b, "digest");
    assert_string_equal(b.digests, before);
    bench_close(&b);
}

static void refuse(struct bench *b, const char *line)
{
    bench_run(b, line);
    if (b->errors != 1 || strstr(b->error, "training needs ") == NULL || strchr(b->error, '\n') != NULL)
        fail_msg("%s: %d errors, the last: %s", line, b->errors, b->error);
}

/* The batch that the message proposes instead. */
static int proposed(struct bench *b, const char *line)
{
    refuse(b, line);
    const char *fits = strstr(b->error, "are free; optim batch=");
    assert_non_null(fits);
    return atoi(strchr(fits, '=') + 1);
}

/* Steps that would need more memory than is free are refused before one allocates it. Memory that models hold
 * already doesn't count. */
static void test_steps(void **state)
{
    struct bench b;
    char line[128];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "model tiny layers=1 width=16 heads=2; task sort test=9..12; race none,t5,alibi; train 1");
    available = 6000;
    int batch = proposed(&b, "optim batch=4096");
    assert_in_range(batch, 64, 2048);
    snprintf(line, sizeof line, "optim batch=%d", batch);
    bench_must(&b, line);
    snprintf(line, sizeof line, "optim batch=%d", 2 * batch); /* nor in two steps */
    assert_int_equal(proposed(&b, line), batch);
    snprintf(line, sizeof line, "optim batch=%d arm=2; optim batch=%d arm=3", batch, batch);
    refuse(&b, line); /* nor in three arms */
    snprintf(line, sizeof line, "train 1; optim batch=%d arm=3; train 1", batch);
    bench_must(&b, line);
    available = 100;
    snprintf(line, sizeof line, "optim batch=8; optim lr=0.1; train 1; optim batch=%d; train 1", batch);
    bench_must(&b, line);
    refuse(&b, "task sort test=9..40");
    assert_string_equal(b.s->lab.task, "sort test=9..12");
    bench_must(&b, "task sort lengths=2..7 test=8..9; train 1; prompt sort 2 1");
    available = 0;
    bench_must(&b, "task sort test=9..40; race none seeds=3; train 1");
    available = 6000;
    assert_in_range(proposed(&b, "optim batch=4096"), 1, batch);
    available = 0;
    bench_close(&b);
}

/* A model from a file that is only looked at needs no memory for training; its first step does. */
static void test_looked_at(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    for (available = 10;; available += 2) {
        bench_run(&b, "model from=" PEWTER_SOURCE_DIR "/tests/golden/gguf/qwen3.gguf");
        if (b.errors == 0)
            break;
        assert_true(available < 100000);
        assert_non_null(strstr(b.error, "this model needs "));
    }
    struct pw_model *m = pw_lab_arm(b.lab, 1)->model;
    size_t weights = pw_model_size(m) * 2, once = pw_model_one_copy_bytes(m); /* the file has 16 bits */
    assert_in_range(once, weights, 3 * weights / 2);
    /* in KiB, of which nine tenths may be taken: one copy, and a matrix that is read, in float */
    if ((size_t)available * 1024 > 4 * once)
        fail_msg("%d KiB are asked for, %zu bytes are taken", available, once);
    refuse(&b, "train 1");
    assert_true(pw_model_one_copy_bytes(m) > 0);
    bench_run(&b, "fork"); /* has each weight once, too */
    assert_int_equal(b.errors, 0);
    assert_int_equal(pw_model_one_copy_bytes(pw_lab_arm(b.lab, 2)->model), pw_model_one_copy_bytes(m));
    available = 0;
    bench_must(&b, "train 1 arm=1");
    assert_non_null(
        strstr(b.note, "arm 1: from its first step on its weights are float32, with packed copies"));
    assert_int_equal(pw_model_one_copy_bytes(m), 0);
    bench_must(&b, "train 1 arm=1");
    assert_int_equal(b.notes, 0);
    bench_close(&b);
}

/* Steps that change vectors alone keep each weight as the file has it. Those that change all are refused
 * without memory. */
static void test_part(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b,
               "model from=" PEWTER_SOURCE_DIR "/tests/golden/gguf/qwen3.gguf; optim trains=norms; train 1");
    assert_non_null(strstr(b.note, "arm 1: from its first step on its weights have a second copy"));
    struct pw_model *m = pw_lab_arm(b.lab, 1)->model;
    assert_true(pw_model_one_copy_bytes(m) > 0);
    bench_must(&b, "train 1");
    assert_int_equal(b.notes, 0);
    available = 4;
    bench_must(&b, "optim trains=encoding; optim trains=norms; train 1");
    refuse(&b, "optim trains=all");
    available = 0;
    bench_must(&b, "optim trains=all; train 1");
    assert_non_null(strstr(b.note, "its weights are float32"));
    assert_int_equal(pw_model_one_copy_bytes(m), 0);
    available = 4;
    bench_must(&b, "optim trains=norms; train 1; optim trains=all; train 1");
    available = 0;
    bench_close(&b);
}

/* A model with an adapter is built beside the old one. */
static void test_adapter(void **state)
{
    struct bench b;
    char before[sizeof b.digests];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "model tiny layers=1 width=16 heads=2; train 1; digest");
    memcpy(before, b.digests, sizeof before);
    available = 10;
    bench_run(&b, "optim trains=adapter lr=0.1");
    assert_int_equal(b.errors, 1);
    assert_non_null(strstr(b.error, "optim: an adapter: this model needs "));
    bench_run(&b, "model adapter=256");
    assert_int_equal(b.errors, 1);
    available = 0;
    bench_must(&b, "optim; digest");
    assert_string_equal(b.digests, before);
    bench_must(&b, "optim");
    assert_non_null(strstr(b.note, "lr=0.003 "));
    assert_null(strstr(b.note, "trains="));
    bench_must(&b, "optim trains=adapter; train 1");
    bench_close(&b);
}

static void test_twins(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "model tiny layers=1 width=16 heads=2; train 1");
    available = 10;
    bench_run(&b, "probe decay");
    assert_int_equal(b.errors, 1);
    assert_non_null(strstr(b.error, "cannot build the untrained twin of arm 1: this model needs "));
    available = 0;
    bench_must(&b, "probe decay");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),   cmocka_unit_test(test_absurd),
                                       cmocka_unit_test(test_steps),     cmocka_unit_test(test_twins),
                                       cmocka_unit_test(test_looked_at), cmocka_unit_test(test_part),
                                       cmocka_unit_test(test_adapter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
