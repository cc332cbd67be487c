/* test_bf16.c - tests models in precision bf16. Gradients must be close to float32, and training must follow
 * float32. The bits must not depend on the number of threads. A change of precision must not change weights.
 * Skipped if the processor has no bf16 matrix unit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "ref_toy.h"

enum { VOCAB = 13 };

static const struct {
    const char *options, *pe;
} models[] = {
    {"layers=2 width=24 heads=3 ffn=40 context=16", "t5 buckets=6 distance=8"},
    {"layers=2 width=32 heads=4 context=16 bias=on norm=layernorm act=gelu", "learned"},
    {"layers=1 width=80 heads=5 context=16 tied=on logit_scale=0.25 act=gelu_tanh bias=on", "rotary"},
    {"layers=2 width=16 heads=2 context=16 dropout=0.1", "alibi"},
    {"layers=2 width=24 heads=3 ffn=40 context=16 adapter=3 act=gelu bias=on", "learned"},
};
enum { N_MODELS = sizeof models / sizeof *models };

static struct toy open_or_skip(const char *precision, int threads)
{
    struct pw_err err = {0};
    struct toy t = {.ops = pw_backend_cpu_precision("auto", precision, &err)};

    if (t.ops == NULL) {
        print_message("%s\n", err.msg);
        skip();
    }
    if (t.ops->open(&t.be, threads, &err))
        fail_msg("%s", err.msg);
    return t;
}

/* The error of each tensor's gradient must be a small part of its norm: 2^-9 per operand, in several layers,
 * and more where large terms cancel, as after a softmax. */
static void test_gradient(void **state)
{
    struct toy toys[] = {open_or_skip("bf16", 2), open_or_skip("fp32", 2)};

    (void)state;
    for (int k = 0; k < N_MODELS; k++) {
        struct pw_batch *b = toy_batch(5, 9, 1, 12, VOCAB);
        float *grad[2];
        double loss[2];
        const char *name;
        struct pw_model *m[2];
        double worst;
        for (int t = 0; t < 2; t++) {
            struct pw_err err = {0};
            m[t] = toy_model(&toys[t], models[k].options, models[k].pe, VOCAB, 3);
            grad[t] = malloc(pw_model_size(m[t]) * sizeof *grad[t]);
            assert_non_null(grad[t]);
            toy_shake(m[t], 11);
            if (pw_model_gradient(m[t], b, grad[t], &loss[t], &err))
                fail_msg("%s", err.msg);
        }
        assert_true(fabs(loss[0] - loss[1]) < 0.01 * loss[1]);
        worst = toy_gradient_off(m[0], grad[0], grad[1], &name);
        if (!(worst <= 0.1))
            fail_msg("model %d: the gradient of %s is off by %.3g of its length", k, name, worst);
        print_message("model %d: gradients off by up to %.3f of their length\n", k, worst);
        assert_true(memcmp(grad[0], grad[1], pw_model_size(m[0]) * sizeof(float)) != 0); /* in bf16 */
        for (int t = 0; t < 2; t++) {
            pw_model_destroy(m[t]);
            free(grad[t]);
        }
        toy_batch_free(b);
    }
    toy_close(&toys[0]);
    toy_close(&toys[1]);
}

/* Trains on batches that can be learned: every sequence counts up. Returns the mean loss of the last ten
 * steps. */
static double train(struct pw_model *m, int steps)
{
    struct pw_optim o = toy_optim("lr=0.003 warmup=20");
    double last = 0;

    for (int i = 0; i < steps; i++) {
        struct pw_batch *b = toy_batch((uint64_t)i, 11, 4, 12, VOCAB);
        struct pw_step_result result;
        struct pw_err err = {0};
        for (int r = 0; r < b->n_rows; r++)
            if (b->pos[r] > 0)
                ((int *)b->tokens)[r] = (b->tokens[r - 1] + 1) % VOCAB;
        for (int r = 0; r < b->n_scored; r++)
            ((int *)b->targets)[r] = (b->tokens[b->rows[r]] + 1) % VOCAB;
        if (pw_model_step(m, &o, b, NULL, &result, &err))
            fail_msg("%s", err.msg);
        last += i >= steps - 10 ? result.loss / 10 : 0;
        toy_batch_free(b);
    }
    return last;
}

static void test_training_tracks_float32(void **state)
{
    double loss[2];

    (void)state;
    for (int k = 0; k < N_MODELS; k++) {
        for (int t = 0; t < 2; t++) {
            struct toy toy = open_or_skip(t ? "fp32" : "bf16", 2);
            struct pw_model *m = toy_model(&toy, models[k].options, models[k].pe, VOCAB, 1);
            loss[t] = train(m, 100);
            pw_model_destroy(m);
            toy_close(&toy);
        }
        print_message("model %d: loss after 100 steps %.4f, in float32 %.4f\n", k, loss[0], loss[1]);
        assert_true(loss[1] < 1.5); /* 2.56 at the start */
        assert_true(fabs(loss[0] - loss[1]) < 0.03 * loss[1]);
    }
}

static void test_threads(void **state)
{
    uint64_t first[2], digest[2];

    (void)state;
    for (int k = 0; k < N_MODELS; k++)
        for (int threads = 1; threads <= 3; threads++) {
            struct toy toy = open_or_skip("bf16", threads);
            struct pw_model *m = toy_model(&toy, models[k].options, models[k].pe, VOCAB, 1);
            train(m, 30);
            pw_model_digest(m, threads == 1 ? first : digest);
            if (threads > 1)
                assert_memory_equal(digest, first, sizeof digest);
            pw_model_destroy(m);
            toy_close(&toy);
        }
}

/* To bf16 and back: parameters and moments keep their bits, and training in float32 continues with the same
 * bits. */
static void test_change_of_precision(void **state)
{
    struct toy bf16 = open_or_skip("bf16", 1), fp32 = open_or_skip("fp32", 2);
    struct pw_model *m = toy_model(&fp32, models[0].options, models[0].pe, VOCAB, 1), *there, *back;
    size_t n = pw_model_size(m);
    float *was = malloc(3 * n * sizeof *was), *is = malloc(3 * n * sizeof *is);
    struct pw_err err = {0};
    uint64_t stayed[2], returned[2];

    (void)state;
    assert_true(was != NULL && is != NULL);
    train(m, 20);
    pw_model_get(m, was, was + n, was + 2 * n);
    assert_int_equal(pw_model_clone(&there, m, bf16.ops, bf16.be, &err), PW_OK);
    pw_model_get(there, is, is + n, is + 2 * n);
    assert_memory_equal(was, is, 3 * n * sizeof *is);
    assert_int_equal(pw_model_clone(&back, there, fp32.ops, fp32.be, &err), PW_OK);
    pw_model_get(back, is, is + n, is + 2 * n);
    assert_memory_equal(was, is, 3 * n * sizeof *is);
    train(m, 5);
    train(there, 5);
    train(back, 5);
    pw_model_digest(m, stayed);
    pw_model_digest(back, returned);
    assert_memory_equal(stayed, returned, sizeof stayed);
    pw_model_digest(there, returned);
    assert_memory_not_equal(stayed, returned, sizeof stayed);
    pw_model_destroy(m);
    pw_model_destroy(there);
    pw_model_destroy(back);
    free(was);
    free(is);
    toy_close(&bf16);
    toy_close(&fp32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_training_tracks_float32),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_change_of_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
