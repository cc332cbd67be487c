/* test_yield.c - tests steps that yield between blocks. A continued step must have the bits of an
 * uninterrupted one, whatever is computed in between. An abandoned step must change nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/decode.h"
#include "model/model_int.h"
#include "ref_toy.h"

enum { STEPS = 10, VOCAB = 7 };

/* Every gradient that has an accumulator of its own, dropout, and a slot of several chunks. */
static const struct {
    const char *options, *pe;
} models[] = {
    {"layers=2 width=16 heads=4 ffn=20 context=128 tied=on dropout=0.1", "t5 buckets=6 distance=8"},
    {"layers=2 width=12 heads=3 ffn=10 context=128 bias=on norm=layernorm act=gelu", "learned"},
    {"layers=1 width=8 heads=1 context=128", "rotary"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "shaw"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "fire hidden=9"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "fox"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "inkling"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "grape"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "stickbreaking"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "cope npos=6"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "selective"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "pope"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "grape_turn"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "path"},
    {"layers=2 width=12 heads=3 ffn=10 context=128", "wall"},
};
enum { N_MODELS = sizeof models / sizeof *models };

/* The flag is raised at some calls of two operations that every block makes, forward and backward: in the
 * middle of a step, by any worker. */
static const struct pw_backend_ops *cpu;
static atomic_bool flag;
static atomic_int calls;

static void count(void)
{
    if (atomic_fetch_add(&calls, 1) % 97 == 17)
        atomic_store(&flag, true);
}

static void norm_fwd(struct pw_ctx *c, float *y, float *stat, const float *x, const float *gain,
                     const float *bias, enum pw_norm kind, float eps, float scale, int R, int C)
{
    cpu->norm_fwd(c, y, stat, x, gain, bias, kind, eps, scale, R, C);
    count();
}

static void linear_dx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R)
{
    cpu->linear_dx(c, dx, dy, m, act, saved, scale, R);
    count();
}

static struct pw_backend_ops hooked(const struct pw_backend_ops *ops)
{
    struct pw_backend_ops h = *ops;

    h.norm_fwd = norm_fwd;
    h.linear_dx = linear_dx;
    return h;
}

/* Work that the lab may do between two parts of a step. Lengths increase, so that tables and buffers grow. */
static void look_around(struct pw_model *m, int turn)
{
    static float logits[128 * VOCAB], probs[4 * 2 * 128 * 128];
    static int best[4096], tokens[128];
    int T = turn % 2 ? 3 : turn < 60 ? 5 + turn : 70;
    struct pw_batch *b = toy_batch((uint64_t)turn, 5, 1, T, VOCAB);
    struct pw_inspection in = {.probs = probs, .logits = logits};
    struct pw_decoder *d;
    uint64_t digest[2];
    struct pw_err err = {0};

    assert_true(b->n_scored <= 4096);
    assert_int_equal(pw_model_eval(m, b, best, NULL, &err), PW_OK);
    assert_int_equal(pw_model_inspect(m, tokens, T, &in, &err), PW_OK);
    assert_int_equal(pw_decoder_create(&d, m, T, &err), PW_OK);
    assert_int_equal(pw_decoder_feed(d, tokens, T, logits, &err), PW_OK);
    pw_decoder_destroy(d);
    pw_model_digest(m, digest);
    toy_batch_free(b);
}

/* Writes the losses of all steps and the digest after the last. Returns the number of times that a step
 * yielded. */
static int train(uint64_t digest[2], double losses[STEPS], int model, int threads, bool disturbed)
{
    struct toy toy = toy_open(threads);
    struct pw_backend_ops ops = hooked(toy.ops);
    struct pw_model *m;
    struct pw_optim o = toy_optim("lr=0.01 warmup=5 steps=10");
    struct pw_step_result result;
    struct pw_err err = {0};
    int yields = 0;

    toy.ops = &ops;
    m = toy_model(&toy, models[model].options, models[model].pe, VOCAB, 1);
    m->chunk_rows = 5;
    for (int i = 0; i < STEPS; i++) {
        struct pw_batch *b = toy_batch((uint64_t)i, 23, 1, 12, VOCAB);
        enum pw_code code;
        while ((code = pw_model_step(m, &o, b, disturbed ? &flag : NULL, &result, &err)) == PW_EYIELD) {
            assert_true(disturbed && atomic_load(&flag));
            assert_int_equal(pw_model_step_count(m), i);
            look_around(m, yields++);
            atomic_store(&flag, false);
        }
        if (code)
            fail_msg("%s", err.msg);
        losses[i] = result.loss;
        toy_batch_free(b);
    }
    pw_model_digest(m, digest);
    pw_model_destroy(m);
    toy_close(&toy);
    return yields;
}

static void test_going_on(void **state)
{
    (void)state;
    for (int model = 0; model < N_MODELS; model++) {
        uint64_t first[2], digest[2];
        double first_losses[STEPS], losses[STEPS];
        assert_int_equal(train(first, first_losses, model, 1, false), 0);
        for (int threads = 1; threads <= 3; threads++) {
            int yields = train(digest, losses, model, threads, true);
            assert_true(yields > STEPS); /* more than once per step */
            assert_memory_equal(losses, first_losses, sizeof losses);
            assert_memory_equal(digest, first, sizeof digest);
        }
    }
}

/* All state of a model that a step changes. */
struct image {
    float *values; /* parameters, moments */
    size_t n;
    int64_t steps, schedule, t;
};

static struct image take(struct pw_model *m)
{
    struct image im = {.n = 3 * pw_model_size(m), .steps = m->steps, .schedule = m->schedule};
    size_t n = pw_model_size(m);

    im.values = malloc(im.n * sizeof *im.values);
    assert_non_null(im.values);
    pw_model_get(m, im.values, im.values + n, im.values + 2 * n);
    for (int i = 0; i < m->lay.n; i++)
        im.t += m->lay.params[i].t;
    return im;
}

static void same(struct pw_model *m, const struct image *a)
{
    struct image b = take(m);

    assert_memory_equal(a->values, b.values, a->n * sizeof *a->values);
    assert_true(a->steps == b.steps && a->schedule == b.schedule && a->t == b.t);
    free(b.values);
}

/* Steps on different batches; some of them are abandoned, in every possible way. */
static void test_abandoned(void **state)
{
    struct toy toy = toy_open(2);
    struct pw_backend_ops ops = hooked(toy.ops);
    struct pw_optim o = toy_optim("lr=0.01 warmup=0");
    struct pw_step_result result, other;
    struct pw_err err = {0};

    (void)state;
    toy.ops = &ops;
    for (int model = 0; model < N_MODELS; model++) {
        struct pw_model *m = toy_model(&toy, models[model].options, models[model].pe, VOCAB, 1);
        struct pw_model *calm = toy_model(&toy, models[model].options, models[model].pe, VOCAB, 1);
        size_t n = pw_model_size(m);
        float *p = malloc(n * sizeof *p);
        double loss;
        assert_non_null(p);
        m->chunk_rows = 5;
        for (int i = 0; i < 6; i++) {
            struct pw_batch *b = toy_batch((uint64_t)i, 23, 1, 12, VOCAB),
                            *wrong = toy_batch(99, 9, 2, 9, VOCAB);
            struct image before = take(m);
            atomic_store(&calls, 0);
            atomic_store(&flag, i % 3 == 0); /* before the first chunk, or after some */
            assert_int_equal(pw_model_step(m, &o, i % 2 ? b : wrong, &flag, &result, &err), PW_EYIELD);
            same(m, &before);
            if (i == 3) { /* a change of the parameters abandons the step */
                pw_model_get(m, p, NULL, NULL);
                pw_model_put(m, p, NULL, NULL);
            } else if (i == 4) {
                assert_int_equal(pw_model_gradient(m, b, p, &loss, &err), PW_OK);
            } else {
                pw_model_abandon(m);
            }
            same(m, &before);
            assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
            assert_int_equal(pw_model_step(calm, &o, b, NULL, &other, &err), PW_OK);
            assert_memory_equal(&result, &other, sizeof result);
            free(before.values);
            before = take(calm);
            same(m, &before);
            free(before.values);
            toy_batch_free(b);
            toy_batch_free(wrong);
        }
        free(p);
        pw_model_destroy(m);
        pw_model_destroy(calm);
    }
    toy_close(&toy);
}

/* The encoding is swapped in the middle of a step: the step must be that of the new encoding. */
static void test_swapped(void **state)
{
    struct toy toy = toy_open(2);
    struct pw_model *m = toy_model(&toy, models[0].options, models[0].pe, VOCAB, 1);
    struct pw_model *calm = toy_model(&toy, models[0].options, models[0].pe, VOCAB, 1);
    struct pw_pe_use_opts pe = toy_pe("rotary", pw_model_config(m));
    struct pw_batch *b = toy_batch(1, 23, 1, 12, VOCAB);
    struct pw_optim o = toy_optim("lr=0.01 warmup=0");
    struct pw_step_result result, other;
    struct pw_err err = {0};
    uint64_t d[2][2];

    (void)state;
    atomic_store(&flag, true);
    assert_int_equal(pw_model_step(m, &o, b, &flag, &result, &err), PW_EYIELD);
    toy_swap(&m, &pe, 1, true);
    toy_swap(&calm, &pe, 1, true);
    assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
    assert_int_equal(pw_model_step(calm, &o, b, NULL, &other, &err), PW_OK);
    pw_model_digest(m, d[0]);
    pw_model_digest(calm, d[1]);
    assert_memory_equal(d[0], d[1], sizeof d[0]);
    toy_batch_free(b);
    pw_model_destroy(m);
    pw_model_destroy(calm);
    toy_close(&toy);
}

/* After `optim trains=` a step that has yielded begins again: it changes what the option says. */
static void test_trains(void **state)
{
    struct toy toy = toy_open(2);
    struct pw_step_result result;
    struct pw_err err = {0};
    uint64_t digest[2][2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pw_model *m = toy_model(&toy, models[0].options, models[0].pe, VOCAB, 1);
        struct pw_batch *b = toy_batch(1, 23, 1, 12, VOCAB);
        struct pw_optim all = toy_optim("warmup=0"), norms = toy_optim("warmup=0 trains=norms");
        atomic_bool yield = true;
        if (i == 0)
            assert_int_equal(pw_model_step(m, &all, b, &yield, &result, &err), PW_EYIELD);
        assert_int_equal(pw_model_step(m, &norms, b, NULL, &result, &err), PW_OK);
        pw_model_digest(m, digest[i]);
        pw_model_destroy(m);
        toy_batch_free(b);
    }
    assert_memory_equal(digest[0], digest[1], sizeof *digest);
    toy_close(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_going_on), cmocka_unit_test(test_abandoned),
                                       cmocka_unit_test(test_swapped), cmocka_unit_test(test_trains)};

    cpu = pw_backend_cpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
