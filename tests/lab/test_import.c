/* test_import.c - tests weights from a file: the whole file is valid, or the lab is as before. */
#include "ref_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL "model tiny layers=1 width=16 heads=2; optim batch=4; "

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/pewter_import_XXXXXX.safetensors");
    int fd = mkstemps(path, (int)strlen(".safetensors"));
    return fd < 0 || close(fd) != 0;
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

/* Exports the current arm to the file after `script`. */
static void export_from(const char *script)
{
    struct bench b;
    char line[256];
    bench_open(&b, 1, false);
    snprintf(line, sizeof line, "%s; export weights %s", script, path);
    bench_must(&b, line);
    bench_close(&b);
}

/* Replaces the first `from` in the file by `to`, of the same length. */
static void change(const char *from, const char *to)
{
    char bytes[4096] = "";
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    char *at = memmem(bytes, n, from, strlen(from));
    assert_non_null(at);
    assert_int_equal(fseek(f, at - bytes, SEEK_SET), 0);
    assert_int_equal(fwrite(to, 1, strlen(to), f), strlen(to));
    assert_int_equal(fclose(f), 0);
}

static void import(struct bench *b)
{
    char line[128];
    snprintf(line, sizeof line, "import weights %s", path);
    bench_run(b, line);
}

/* Files of a model of another task, with a defect that is detected late. */
static void test_refused(void **state)
{
    static const char *const wrong[][3] = {
        {"layers.0.attn.q.weight", "layers.0.attn.r.weight", "tensor 'layers.0.attn.q.weight' is missing"},
        {"context\\\":128", "context\\\":100", "the longest sample has 102 positions, this model reads 100"},
        {"width\\\":16", "width\\\":18", "has the shape [24,16]; this model needs [24,18]"},
    };
    struct bench b;
    char before[sizeof b.digests];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "train 5; prompt sort 3 1 2; digest");
    memcpy(before, b.digests, sizeof before);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        export_from("task copy lengths=1..49 test=50..50; " SMALL "train 1");
        change(wrong[i][0], wrong[i][1]);
        import(&b);
        if (b.errors != 1 || b.notes > 0 || strstr(b.error, wrong[i][2]) == NULL)
            fail_msg("%s: %d errors, %d notes, the last '%s', '%s'", wrong[i][1], b.errors, b.notes, b.error,
                     b.note);
        assert_string_equal(b.s->lab.task, "sort");
        assert_int_equal(b.s->arms[0].rep[0].series.n, 5);
        bench_must(&b, "inspect head=1; digest"); /* the prompt is pinned */
        assert_string_equal(b.digests, before);
    }
    bench_must(&b, "train 2; prompt sort 2 1");
    bench_close(&b);
}

/* A file of another task sets that task; the model is the one that was saved. */
static void test_other_task(void **state)
{
    struct bench b;
    char saved[64], loaded[64];
    (void)state;
    export_from("task copy lengths=1..3 test=4..5; " SMALL "pe t5; train 3");
    bench_open(&b, 1, false);
    bench_must(&b, "task copy lengths=1..3 test=4..5; " SMALL "pe t5; train 3; digest");
    assert_int_equal(sscanf(b.digests, "arm 1 step 3 digest %63s", saved), 1);
    bench_must(&b, "task sort; " SMALL "race none,rotary; train 2");
    import(&b);
    assert_non_null(strstr(b.error, "the weights were trained on the vocabulary of 'task copy lengths=1..3 "
                                    "test=4..5'; run that first (it applies to all arms)"));
    bench_must(&b, "arm drop 2; prompt sort 2 1");
    import(&b);
    assert_int_equal(b.errors, 0);
    assert_int_equal(b.notes, 1);
    assert_non_null(strstr(b.note, "(step 3)"));
    assert_string_equal(b.s->lab.task, "copy lengths=1..3 test=4..5");
    bench_must(&b, "digest");
    assert_int_equal(sscanf(b.digests, "arm 1 step 3 digest %63s", loaded), 1);
    assert_string_equal(loaded, saved);
    bench_must(&b, "train 2; prompt copy 2 1; eval samples=2");
    bench_close(&b);
}

/* A file has one model: a note reports that the arm's other replicas are dropped. */
static void test_replicas(void **state)
{
    static const char *const tasks[] = {"task sort", "task copy lengths=1..3 test=4..5"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bench b;
        bench_open(&b, 1, false);
        export_from("task sort; " SMALL "train 1");
        bench_must(&b, tasks[i]);
        bench_must(&b, SMALL "race none seeds=3; train 1");
        import(&b);
        assert_non_null(strstr(b.note, "; the file holds one model, so the other replicas were dropped"));
        assert_int_equal(b.s->arms[0].info.replicas, 1);
        import(&b);
        assert_null(strstr(b.note, "replicas"));
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_task, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replicas, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
