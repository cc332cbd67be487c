/* test_met.c - tests the counts of distances and positions seen in training. They must be exact, and belong
 * to the encoding that was trained. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model_int.h"
#include "ref_toy.h"

#define MODEL "layers=2 width=16 heads=2 context=24"
#define VOCAB 7
#define CTX   24
#define ADAM  "lr=0.01 warmup=0 clip=1"

/* Runs one step on batch number k and returns the batch. The caller frees it. */
static struct pw_batch *step(struct pw_model *m, uint64_t k)
{
    struct pw_optim o = toy_optim(ADAM);
    struct pw_batch *b = toy_batch(k, 9, 3, 11, VOCAB);
    struct pw_step_result r;
    struct pw_err err = {0};

    if (pw_model_step(m, &o, b, NULL, &r, &err))
        fail_msg("%s", err.msg);
    return b;
}

/* Counts every query and key of a batch directly. */
static void count(const struct pw_batch *b, bool causal, int64_t *pairs, int64_t *rows)
{
    for (int s = 0; s < b->n_seqs; s++)
        for (int i = b->start[s]; i < b->start[s + 1]; i++) {
            rows[b->pos[i]]++;
            for (int j = b->start[s]; j < b->start[s + 1]; j++)
                if (!causal || j <= i)
                    pairs[abs(b->pos[i] - b->pos[j])]++;
        }
}

static void pairs_are_counted_exactly(void **state)
{
    (void)state;
    static const char *const models[] = {MODEL " causal=on", MODEL " causal=off"};
    struct toy t = toy_open(2);

    for (int causal = 1; causal >= 0; causal--) {
        struct pw_model *m = toy_model(&t, models[!causal], "t5 buckets=8 distance=16", VOCAB, 1);
        int64_t want[CTX] = {0}, want_rows[CTX] = {0}, got[CTX], got_rows[CTX];
        for (uint64_t k = 0; k < 12; k++) {
            struct pw_batch *b = step(m, k);
            count(b, causal, want, want_rows);
            toy_batch_free(b);
        }
        assert_int_equal(pw_model_seen(m, got, got_rows), 12);
        assert_memory_equal(got, want, sizeof want);
        assert_memory_equal(got_rows, want_rows, sizeof want_rows);
        assert_true(got[10] > 0 && got[11] == 0);
        pw_model_destroy(m);
    }
    toy_close(&t);
}

/* The means must be those of pw_model_gradient at steps 1, 11 and 21 of a twin. */
static void gradients_are_those_of_every_tenth_step(void **state)
{
    (void)state;
    static const char *const encodings[] = {"t5 buckets=12 distance=20", "learned", "shaw",
                                            "fire hidden=3 threshold=4"};
    struct toy t = toy_open(1);

    for (int e = 0; e < 4; e++) {
        struct pw_model *m = toy_model(&t, MODEL, encodings[e], VOCAB, 1);
        struct pw_err err = {0};
        int n;
        const struct pw_param *p = pw_model_params(m, &n);
        for (p += n - 1; p[-1].pe; p--)
            continue;
        assert_true(p->pe);
        size_t size = pw_model_size(m), own = size - p->offset;
        float *grad = calloc(size, sizeof *grad), *mean = calloc(own, sizeof *mean);
        double *want = calloc(own, sizeof *want), loss;
        assert_true(grad != NULL && mean != NULL && want != NULL);
        mean[0] = -1;
        assert_int_equal(pw_model_pe_gradient(m, mean), 0);
        assert_true(mean[0] == -1); /* unchanged */
        for (uint64_t k = 0; k < 23; k++) {
            struct pw_batch *b = toy_batch(k, 9, 3, 11, VOCAB);
            if (k % 10 == 0) {
                assert_int_equal(pw_model_gradient(m, b, grad, &loss, &err), PW_OK);
                for (size_t i = 0; i < own; i++)
                    want[i] += fabs((double)grad[p->offset + i]) / 3;
            }
            toy_batch_free(b);
            toy_batch_free(step(m, k));
        }
        assert_int_equal(pw_model_pe_gradient(m, mean), 3);
        for (size_t i = 0; i < own; i++)
            assert_true(fabs((double)mean[i] - want[i]) <= 1e-6 * want[i]);
        free(grad);
        free(mean);
        free(want);
        pw_model_destroy(m);
    }
    toy_close(&t);
}

/* Buckets that occurred in no sequence must have no gradient at all; buckets that occurred must have one. */
static void what_was_never_met_has_no_gradient(void **state)
{
    (void)state;
    struct toy t = toy_open(2);
    struct pw_model *m = toy_model(&t, MODEL, "t5 buckets=12 distance=20", VOCAB, 1);
    float mean[12 * 2];

    for (uint64_t k = 0; k < 11; k++)
        toy_batch_free(step(m, k));
    assert_int_equal(pw_model_pe_gradient(m, mean), 2);
    for (int b = 0; b < 12; b++)
        for (int h = 0; h < 2; h++)
            if (b <= pw_t5_bucket(10, 12, 20))
                assert_true(mean[b * 2 + h] > 0);
            else
                assert_true(mean[b * 2 + h] == 0);
    assert_true(pw_t5_bucket(10, 12, 20) < 11);
    pw_model_destroy(m);
    toy_close(&t);
}

static int64_t steps_of(const struct pw_model *m)
{
    int64_t pairs[CTX], rows[CTX], steps = pw_model_seen(m, pairs, rows);

    assert_true((steps > 0) == (pairs[0] > 0) && (steps > 0) == (rows[0] > 0));
    return steps;
}

static void counts_belong_to_the_encoding(void **state)
{
    (void)state;
    struct toy t = toy_open(1);
    struct pw_model *m = toy_model(&t, MODEL, "t5", VOCAB, 1), *copy;
    struct pw_config cfg = toy_config(MODEL, VOCAB);
    struct pw_pe_use_opts rotary = toy_pe("rotary", &cfg);
    struct pw_err err = {0};
    float a[16], b[16];

    assert_int_equal(steps_of(m), 0);
    toy_batch_free(step(m, 0));
    toy_batch_free(step(m, 1));
    assert_int_equal(pw_model_clone(&copy, m, t.ops, t.be, &err), PW_OK);
    assert_int_equal(steps_of(copy), 2);
    assert_int_equal(pw_model_pe_gradient(m, a), 1);
    assert_int_equal(pw_model_pe_gradient(copy, b), 1);
    assert_memory_equal(a, b, sizeof a);
    toy_swap(&copy, &rotary, 1, true);
    assert_int_equal(steps_of(copy), 0);
    assert_int_equal(pw_model_pe_gradient(copy, b), 0);
    toy_batch_free(step(copy, 2));
    assert_int_equal(steps_of(copy), 1);
    assert_int_equal(pw_model_pe_gradient(copy, b), 0); /* rotary has no learned parameters */
    assert_int_equal(steps_of(m), 2);
    pw_model_destroy(copy);
    pw_model_destroy(m);
    toy_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_counted_exactly),
        cmocka_unit_test(gradients_are_those_of_every_tenth_step),
        cmocka_unit_test(what_was_never_met_has_no_gradient),
        cmocka_unit_test(counts_belong_to_the_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
