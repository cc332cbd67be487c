/* test_t5_both.c - tests T5 without the causal mask. Half of its buckets are for keys after the query: in the
 * bucket function, in the bias table, in training and in files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/checkpoint.h"
#include "model/model.h"
#include "ref_toy.h"

#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

/* Without the causal mask, as in the code of Raffel et al. 2020: the sign of key - query selects the half,
 * the distance selects the bucket in that half. */
static int both_sides(int relative, int buckets, int distance)
{
    int half = buckets / 2, exact = half / 2, n = relative < 0 ? -relative : relative, bucket = n;

    if (n >= exact) {
        double x = log((double)n / exact) / log((double)distance / exact) * (half - exact);
        bucket = exact + (int)(x + 1e-9);
        bucket = bucket < half - 1 ? bucket : half - 1;
    }
    return (relative > 0 ? half : 0) + bucket;
}

static void test_both_directions(void **state)
{
    /* Buckets of their code for key - query = -130, -120, ..., 130. */
    static const int printed[] = {15, 15, 15, 15, 14, 14, 14, 13, 13, 12, 11, 10, 8, 0,
                                  24, 26, 27, 28, 29, 29, 30, 30, 30, 31, 31, 31, 31};
    static const int sizes[][2] = {{32, 128}, {8, 16}, {4, 7}, {16, 64}, {64, 512}, {6, 8}};
    const struct pw_config causal = toy_config("context=512", 7),
                           open = toy_config("causal=off context=512", 7);
    struct pw_err err;

    (void)state;
    for (int s = 0; s < LENGTH(sizes); s++) {
        int B = sizes[s][0], D = sizes[s][1];
        char text[64];
        snprintf(text, sizeof text, "t5 buckets=%d distance=%d", B, D);
        struct pw_pe_use_opts pe = toy_pe(text, &open);
        assert_int_equal(pe.pe->param_rows(pe.o.bytes, &open), B);
        for (int d = -600; d <= 600; d++) {
            assert_int_equal(pe.pe->index(pe.o.bytes, &open, d), both_sides(-d, B, D));
            if (d >= 0)
                assert_int_equal(pe.pe->index(pe.o.bytes, &causal, d), pw_t5_bucket(d, B, D));
        }
        for (int i = 0; s == 0 && i < LENGTH(printed); i++)
            assert_int_equal(pe.pe->index(pe.o.bytes, &open, 130 - 10 * i), printed[i]);
    }
    static const char *const refused[][2] = {
        {"t5 buckets=5 distance=8",
         "t5: buckets=5: with causal=off half of them are for later keys; use an even number from 4 on"},
        {"t5 buckets=2 distance=8",
         "t5: buckets=2: with causal=off half of them are for later keys; use an even number from 4 on"},
        {"t5 buckets=32 distance=8",
         "t5: buckets=32 distance=8: the distance must exceed a quarter of the buckets, 8"},
    };
    for (int i = 0; i < LENGTH(refused); i++) {
        struct pw_pe_use_opts pe;
        assert_int_equal(pw_pe_parse(&pe, refused[i][0], &open, &err), PW_EUSER);
        assert_string_equal(err.msg, refused[i][1]);
    }
}

/* The bias must be the entry of the key's bucket, before and after the query. */
static void test_bias_of_both_directions(void **state)
{
    enum { P = 12, H = 2, B = 8 };
    struct toy toy = toy_open(1);
    struct pw_model *m =
        toy_model(&toy, "causal=off width=8 heads=2 context=16", "t5 buckets=8 distance=9", 7, 3);
    struct pw_pe_tables t;
    struct pw_err err;
    float entries[B * H];
    int last;

    (void)state;
    const struct pw_param *p = pw_model_params(m, &last);
    pw_model_read(m, entries, p[last - 1].offset, B * H);
    assert_int_equal(pw_model_tables(m, P, &t, &err), PW_OK);
    for (int h = 0; h < H; h++)
        for (int query = 0; query < P; query++)
            for (int key = 0; key < P; key++)
                assert_true(pw_pe_bias_at(&t, h, query, key) ==
                            entries[both_sides(key - query, B, 9) * H + h]);
    pw_pe_tables_free(&t);
    pw_model_destroy(m);
    toy_close(&toy);
}

/* Every bucket of a distance that occurs in training must be trained, on both sides. The others must not,
 * including the one for later keys at distance 0. */
static void test_training_reaches_both_sides(void **state)
{
    enum { B = 12, D = 30, H = 2 };
    struct toy toy = toy_open(1);
    struct pw_model *m =
        toy_model(&toy, "causal=off layers=1 width=8 heads=2 context=32", "t5 buckets=12 distance=30", 7, 1);
    struct pw_optim o = toy_optim("");
    float mean[B * H];
    bool met[B] = {false};
    int longest = 0;

    (void)state;
    for (uint64_t k = 0; k < 11; k++) {
        struct pw_batch *b = toy_batch(k, 9, 3, 8, 7);
        struct pw_step_result result;
        struct pw_err err;
        assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
        for (int s = 0; s < b->n_seqs && k % 10 == 0; s++)
            longest = b->start[s + 1] - b->start[s] > longest ? b->start[s + 1] - b->start[s] : longest;
        toy_batch_free(b);
    }
    for (int r = -longest + 1; r < longest; r++)
        met[both_sides(r, B, D)] = true;
    assert_int_equal(pw_model_pe_gradient(m, mean), 2);
    for (int i = 0; i < B * H; i++)
        assert_true((mean[i] > 0) == met[i / H]);
    assert_true(!met[B / 2] && met[B / 2 + 1] && !met[B - 1] && !met[B / 2 - 1]);
    pw_model_destroy(m);
    toy_close(&toy);
}

/* Earlier versions gave bucket 0 to all later keys. Their files of such models don't state the rule. */
static void test_files_say_the_rule(void **state)
{
    struct toy toy = toy_open(1);
    char file[] = "/tmp/pewter-t5-XXXXXX", data[65536];
    struct pw_checkpoint_info info = {.optim = toy_optim("")};
    struct pw_checkpoint *c;
    struct pw_err err;

    (void)state;
    close(mkstemp(file));
    for (int causal = 0; causal < 2; causal++) {
        struct pw_model *m =
            toy_model(&toy, causal ? "width=8 heads=2 context=16" : "causal=off width=8 heads=2 context=16",
                      "t5 buckets=8 distance=9", 7, 3);
        assert_int_equal(pw_checkpoint_save(m, file, &info, false, &err), PW_OK);
        assert_int_equal(pw_checkpoint_open(&c, file, &err), PW_OK);
        assert_memory_equal(&pw_checkpoint_info(c)->pe, pw_model_pe(m), sizeof *pw_model_pe(m));
        pw_checkpoint_close(c);
        FILE *f = fopen(file, "r+b");
        size_t n = fread(data, 1, sizeof data, f);
        char *rule = memmem(data, n, ",\\\"rule\\\":1", 11);
        assert_int_equal(rule != NULL, !causal);
        if (rule != NULL) {
            memcpy(rule, "           ", 11); /* as an earlier version wrote it */
            rewind(f);
            assert_int_equal(fwrite(data, 1, n, f), n);
        }
        assert_int_equal(fclose(f), 0);
        assert_int_equal(pw_checkpoint_open(&c, file, &err), causal ? PW_OK : PW_EUSER);
        if (causal)
            pw_checkpoint_close(c);
        else
            assert_non_null(strstr(err.msg, "pewter.config: t5 of an earlier version"));
        pw_model_destroy(m);
    }
    unlink(file);
    toy_close(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_directions),
        cmocka_unit_test(test_bias_of_both_directions),
        cmocka_unit_test(test_training_reaches_both_sides),
        cmocka_unit_test(test_files_say_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
