/* test_tune.c - tests surgery on encodings. A change takes effect at once and only where it was made.
 * Reverting it restores the bits. */
#include "ref_lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/actions.h"

static void text_of(struct bench *b, int id, char out[PW_LINE])
{
    pw_text_copy(out, PW_LINE, b->s->arms[id - 1].info.pe);
}

static struct pw_model *model_of(const struct bench *b, int id)
{
    return pw_lab_arm(b->lab, id)->model;
}

/* Logits of a fixed sequence, [12,V]. */
static float *logits_of(struct bench *b, int id)
{
    int tokens[12], V = pw_model_config(model_of(b, id))->vocab;
    float *logits = malloc(12 * (size_t)V * sizeof *logits);
    struct pw_err err;
    for (int i = 0; i < 12; i++)
        tokens[i] = 2 + (7 * i) % (V - 2);
    assert_int_equal(
        pw_model_inspect(model_of(b, id), tokens, 12, &(struct pw_inspection){.logits = logits}, &err),
        PW_OK);
    return logits;
}

/* The largest difference of logits that a line makes. `tune off` and `undo` must restore the bits. */
static double effect(struct bench *b, const char *line, const char *undo)
{
    int V = pw_model_config(model_of(b, 1))->vocab;
    float *before = logits_of(b, 1), *turned, *after;
    double most = 0;
    bench_must(b, line);
    turned = logits_of(b, 1);
    bench_must(b, undo);
    after = logits_of(b, 1);
    for (int i = 0; i < 12 * V; i++)
        most = fmax(most, fabs((double)turned[i] - (double)before[i]));
    assert_memory_equal(before, after, 12 * (size_t)V * sizeof *before);
    free(before);
    free(turned);
    free(after);
    return most;
}

static void test_effects(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "pe rotary; train 20");
    assert_true(effect(&b, "tune offset=9", "tune off") < 1e-4); /* a relative encoding */
    assert_true(effect(&b, "tune stretch=0.5", "tune off") > 1e-3);
    assert_true(effect(&b, "tune temperature=2", "tune off") > 1e-3);
    assert_true(effect(&b, "tune base=50", "tune base=10000") > 1e-3);
    assert_true(effect(&b, "tune logn=2", "tune off") > 1e-3);
    assert_true(effect(&b, "tune logn=12", "tune off") == 0); /* no query of 12 tokens has more keys */
    bench_must(&b, "pe sinusoidal; train 20");
    assert_true(effect(&b, "tune offset=9", "tune off") > 1e-3);
    bench_must(&b, "pe alibi; train 20");
    assert_true(effect(&b, "tune gain=0.25", "tune off") > 1e-3);
    assert_true(effect(&b, "tune gain=2 stretch=0.5", "tune off") < 1e-5); /* slopes are linear in distance */
    bench_must(&b, "pe t5; train 20");
    assert_true(effect(&b, "tune stretch=0.25", "tune off") > 1e-3);
    assert_true(effect(&b, "tune logn=3", "tune off") > 1e-3);
    bench_close(&b);
}

/* A stretched or shifted table has the values of the original at the mapped positions. */
static void test_places(void **state)
{
    struct pw_pe_tables plain, turned;
    struct bench b;
    struct pw_err err;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "pe dpe");
    assert_int_equal(pw_model_tables(model_of(&b, 1), 32, &plain, &err), PW_OK);
    bench_must(&b, "tune offset=3 stretch=2");
    assert_int_equal(pw_model_tables(model_of(&b, 1), 12, &turned, &err), PW_OK);
    for (int r = 0; r < 12; r++) {
        assert_memory_equal(turned.add[0] + r * 32, plain.add[0] + (3 + 2 * r) * 32, 32 * sizeof(float));
        assert_memory_equal(turned.add[1] + r * 32, plain.add[1] + 2 * r * 32, 32 * sizeof(float));
    }
    pw_pe_tables_free(&plain);
    pw_pe_tables_free(&turned);
    bench_must(&b, "pe learned");
    assert_int_equal(pw_model_tables(model_of(&b, 1), 20, &plain, &err), PW_OK);
    bench_must(&b, "tune offset=4");
    assert_int_equal(pw_model_tables(model_of(&b, 1), 16, &turned, &err), PW_OK);
    assert_memory_equal(turned.added, plain.added + 4 * 64, 16 * 64 * sizeof(float));
    pw_pe_tables_free(&plain);
    pw_pe_tables_free(&turned);
    assert_int_equal(pw_model_tables(model_of(&b, 1), 125, &turned, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "offset=4 leaves 124"));
    bench_close(&b);
}

/* The change is part of the encoding's text. It persists through training, forks and evaluations. */
static void test_lives_on(void **state)
{
    char text[PW_LINE];
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "pe rotary; train 10; eval samples=4");
    bench_must(&b, "tune stretch=0.5 temperature=1.25; fork; train 5");
    for (int id = 1; id <= 2; id++) {
        text_of(&b, id, text);
        assert_string_equal(text, "rotary base=10000 dims=0 pairing=half stretch=0.5 temperature=1.25");
    }
    assert_true(b.evals > 0);
    bench_must(&b, "digest");
    char first[64], second[64];
    assert_int_equal(sscanf(b.digests, "arm 1 step 15 digest %63s arm 2 step 15 digest %63s", first, second),
                     2);
    assert_string_equal(first, second);
    bench_close(&b);
}

/* Whether arms 1 and 2 have the same n floats at an offset. */
static bool same_floats(const struct bench *b, size_t offset, size_t n)
{
    float mine[1024], theirs[1024];
    assert_in_range(n, 1, 1024);
    pw_model_read(model_of(b, 1), mine, offset, n);
    pw_model_read(model_of(b, 2), theirs, offset, n);
    return memcmp(mine, theirs, n * sizeof *mine) == 0;
}

/* Parameters and both moments of arm 1, [3 * size]; the caller frees them. */
static float *all_of(const struct bench *b)
{
    size_t n = pw_model_size(model_of(b, 1));
    float *all = malloc(3 * n * sizeof *all);
    assert_non_null(all);
    pw_model_get(model_of(b, 1), all, all + n, all + 2 * n);
    return all;
}

static void test_transplant(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "race t5,t5,none; seed 9 arm=2; train 10");
    float *before = all_of(&b);
    bench_must(&b, "transplant 2 arm=1");
    float *after = all_of(&b);
    int n;
    const struct pw_param *p = pw_model_params(model_of(&b, 1), &n);
    size_t size = pw_model_size(model_of(&b, 1)), at = p[n - 1].offset;
    for (size_t i = 0; i < 3 * size; i++)
        if (i % size < at || i % size >= at + 64)
            assert_true(after[i] == before[i]);
        else if (i >= size)
            assert_true(after[i] == 0.0f && before[i] != 0.0f);
    free(before);
    free(after);
    assert_int_equal(p[n - 1].rows * p[n - 1].cols, 64);
    assert_true(same_floats(&b, p[n - 1].offset, 64));
    assert_false(same_floats(&b, 0, 64));
    bench_must(&b, "train 3");
    bench_close(&b);
}

/* Learned entries that training never read get the values of the nearest trained one, and nothing else
 * changes. Sequences of sorting have at most 18 tokens here, so the buckets of longer distances are
 * untrained. */
static void test_transplant_nearest(void **state)
{
    static const struct {
        const char *line, *why;
    } refused[] = {{"transplant nearest arm=2", "none has no learned entries"},
                   {"transplant nearest arm=3", "arm 3 was not trained yet"},
                   {"transplant nearer", "'nearer' is neither the number of an arm nor 'nearest'"}};
    struct bench b;
    int n, changed = 0;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "task sort lengths=2..8; race \"t5 distance=64\",none; train 10; arm add t5");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        bench_run(&b, refused[i].line);
        assert_non_null(strstr(b.error, refused[i].why));
    }
    float *before = all_of(&b);
    bench_must(&b, "transplant nearest arm=1");
    float *after = all_of(&b);
    const struct pw_param *p = pw_model_params(model_of(&b, 1), &n);
    size_t size = pw_model_size(model_of(&b, 1)), at = p[n - 1].offset;
    int rows = p[n - 1].rows, cols = p[n - 1].cols;
    for (size_t i = 0; i < size; i++)
        if (i < at || i >= at + (size_t)(rows * cols))
            assert_true(after[i] == before[i]);
    for (int row = 0; row < rows; row++) {
        bool same =
            memcmp(after + at + row * cols, before + at + row * cols, (size_t)cols * sizeof *after) == 0;
        if (same)
            continue;
        assert_memory_equal(after + at + row * cols, after + at + (row - 1) * cols,
                            (size_t)cols * sizeof *after);
        changed++;
    }
    assert_true(changed > 0 && changed < rows / 2);
    free(before);
    free(after);
    bench_must(&b, "train 3");
    bench_close(&b);
}

/* Relative keys have a tensor in each layer: all are transplanted. */
static void test_transplant_of_layers(void **state)
{
    enum { N = 2 * 9 * 8 };
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "race shaw,shaw; seed 9 arm=2; train 3; transplant 2 arm=1");
    int n;
    const struct pw_param *p = pw_model_params(model_of(&b, 1), &n);
    assert_int_equal(p[n - 1].layers * p[n - 1].rows * p[n - 1].cols, N);
    assert_true(same_floats(&b, p[n - 1].offset, N));
    bench_close(&b);
}

/* An encoding with several tensors has all of them transplanted, and the note says so. */
static void test_transplant_of_tensors(void **state)
{
    struct bench b;
    char name[64] = "";
    size_t at, n = 0;
    int count;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "race fire,fire,fire(hidden=16); seed 9 arm=2; train 3");
    const struct pw_param *p = pw_model_params(model_of(&b, 1), &count);
    for (at = pw_model_size(model_of(&b, 1)); count > 0 && p[count - 1].pe; count--)
        at = p[count - 1].offset, n += pw_param_count(&p[count - 1]);
    assert_false(same_floats(&b, at, 1)); /* c */
    assert_false(same_floats(&b, at + n - 1, 1));
    bench_must(&b, "transplant 2 arm=1");
    assert_true(same_floats(&b, at, n));
    assert_false(same_floats(&b, 0, 64));
    snprintf(name, sizeof name, "pe.* (6 tensors, %zu numbers) are those of arm 2 now", n);
    assert_non_null(strstr(b.note, name));
    bench_must(&b, "train 2");
    bench_run(&b, "transplant 3 arm=1");
    assert_int_equal(b.errors, 1);
    assert_non_null(strstr(b.error, "arm 3 has pe.* (6 tensors, "));
    assert_non_null(strstr(b.error, "of the same shape"));
    bench_close(&b);
}

static void refuse(struct bench *b, const char *line, const char *why)
{
    bench_run(b, line);
    assert_int_equal(b->errors, 1);
    if (strstr(b->error, why) == NULL)
        fail_msg("%s: %s", line, b->error);
}

static void test_refused(void **state)
{
    char text[PW_LINE];
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    refuse(&b, "tune stretch=2", "no positions to stretch");
    refuse(&b, "tune offset=2", "no positions to shift");
    refuse(&b, "tune gain=2", "no fixed bias");
    refuse(&b, "tune logn=1", "lengths from 2 on");
    refuse(&b, "tune logn=-3", "logn");
    refuse(&b, "tune loud", "usage");
    refuse(&b, "transplant 2", "there is no arm 2");
    refuse(&b, "transplant 1", "source and target are the same arm");
    bench_must(&b, "model causal=off");
    refuse(&b, "tune logn=8", "every query sees all keys");
    bench_must(&b, "model causal=on; pe shaw");
    refuse(&b, "tune logn=8", "relative keys");
    bench_must(&b, "race t5,learned,none");
    refuse(&b, "tune buckets=16", "t5: this changes the number of parameters; 'pe t5 ...' draws new ones");
    refuse(&b, "tune stretch=0.5 arm=2", "between its learned rows");
    refuse(&b, "tune offset=0.5 arm=2", "whole numbers");
    refuse(&b, "transplant 2 arm=1", "the same encoding");
    refuse(&b, "transplant 3 arm=1", "transplant: none of arm 3 has no learned parameters");
    text_of(&b, 1, text);
    assert_string_equal(text, "t5 buckets=8 distance=16");
    bench_close(&b);
}

/* The first evaluation has measured some lengths when the model is tuned. Its other lengths would belong to
 * another model. So it is cancelled, and none is reported. */
static void test_ends_measuring(void **state)
{
    static const char *const lines[] = {"tune stretch=2", "transplant 2 arm=1"};
    struct bench b;
    (void)state;
    for (int i = 0; i < 2; i++) {
        bench_open(&b, 2, false);
        bench_must(&b, "race fire,fire; train 2");
        bench_begin_job(&b, "eval samples=4000");
        bench_send(&b, lines[i]);
        bench_until_idle(&b);
        assert_int_equal(b.s->job.state, PW_JOB_CANCELLED);
        assert_int_equal(b.evals, 0);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_effects),
                                       cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_lives_on),
                                       cmocka_unit_test(test_transplant),
                                       cmocka_unit_test(test_transplant_nearest),
                                       cmocka_unit_test(test_transplant_of_layers),
                                       cmocka_unit_test(test_transplant_of_tensors),
                                       cmocka_unit_test(test_ends_measuring),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
