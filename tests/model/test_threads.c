/* test_threads.c - tests that the bits don't depend on the number of threads and the size of a chunk, over
 * 200 steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/decode.h"
#include "model/model_int.h"
#include "ref_toy.h"

enum { STEPS = 200, VOCAB = 7 };

/* Dropout, tied head, learned bias, biases and gains: every parameter whose gradient could be summed in
 * another order. */
static const struct {
    const char *options, *pe;
} models[] = {
    {"layers=2 width=16 heads=4 ffn=20 context=32 tied=on logit_scale=0.25", "t5 buckets=6 distance=8"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 bias=on norm=layernorm act=gelu", "learned"},
    {"layers=1 width=8 heads=1 context=32", "rotary"},
    {"layers=2 width=24 heads=6 kv_heads=2 ffn=10 context=32 gated=on act=silu qk_norm=head dropout=0.1 "
     "post_norm=on logit_cap=3 tied=on embed_scale=2",
     "rotary"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 norm=layernorm bias=on head_bias=on parallel=shared "
     "embed_norm=on",
     "alibi"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 parallel=on bias=mlp", "t5"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 norm=layernorm norm_at=after bias=on tied=on dropout=0.1 "
     "embed_width=7",
     "learned"},
    {"layers=1 width=12 heads=3 ffn=10 context=32 embed_width=20 embed_scale=2", "sinusoidal"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 gated=on adapter=3", "learned"},
    {"layers=2 width=16 heads=2 context=32 tied=on dropout=0.1 act=gelu", "alibi"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "shaw distance=3"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "fox"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "inkling reach=20 mixes=3 alpha=0.4 floor=5"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "grape"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "stickbreaking"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "cope npos=6"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "selective"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "pope"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "grape_turn"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "path"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1", "wall"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 tied=on", "fire threshold=4"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "expr 'gate = -exp(g) * (l + 1); mask = d < 9 || j < h'"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1",
     "expr 'scan = context(7); scale = 1 + h * 0.1'"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1",
     "expr 'mixes = 5; P = learn(normal(0.2), 9) per mix; mix = P(log2(1 + d) + l); bias = -0.1 * d'"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 dropout=0.1",
     "expr 'cap = learn(3) per head; tilt = learn(0.1) per layer; score = cap * tanh(s / cap) - tilt * d'"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "expr 'bias = -d; score = 4 * tanh(s / 4) * (1 + l)'"},
    {"layers=2 width=12 heads=3 ffn=10 context=32",
     "expr 'angle = l * i * 0.1; bias = -l * d; mask = d < 3 + l || j < h'"},
};

/* Writes the loss of every step, and the digest of the parameters after the last one. */
static void run(uint64_t digest[2], double losses[STEPS], int model, int threads, int chunk_rows)
{
    struct toy toy = toy_open(threads);
    struct pw_model *m = toy_model(&toy, models[model].options, models[model].pe, VOCAB, 1);
    struct pw_optim o = toy_optim("lr=0.01 warmup=20 steps=200");
    struct pw_err err = {0};

    m->chunk_rows = chunk_rows;
    for (int i = 0; i < STEPS; i++) {
        struct pw_batch *b = toy_batch((uint64_t)i, 11, 1, 12, VOCAB);
        struct pw_step_result result;
        if (m->cfg.adapter > 0 && i == STEPS / 2)
            o.trains = PW_TRAINS_ADAPTER;
        if (pw_model_step(m, &o, b, NULL, &result, &err))
            fail_msg("%s", err.msg);
        losses[i] = result.loss;
        toy_batch_free(b);
    }
    pw_model_digest(m, digest);
    pw_model_destroy(m);
    toy_close(&toy);
}

static void test_bits(void **state)
{
    static const struct {
        int threads, chunk_rows;
    } ways[] = {{1, 0}, {2, 0}, {3, 0}, {8, 0}, {1, 1}, {2, 5}, {3, 13}, {1, 1000}};

    (void)state;
    for (int model = 0; model < (int)(sizeof models / sizeof *models); model++) {
        uint64_t first[2], digest[2];
        double first_losses[STEPS], losses[STEPS];
        run(first, first_losses, model, ways[0].threads, ways[0].chunk_rows);
        assert_true(first_losses[STEPS - 1] < first_losses[0]); /* it trained */
        for (size_t w = 1; w < sizeof ways / sizeof *ways; w++) {
            run(digest, losses, model, ways[w].threads, ways[w].chunk_rows);
            for (int i = 0; i < STEPS; i++)
                if (losses[i] != first_losses[i])
                    fail_msg("%s, %d threads, chunks of %d rows: loss differs at step %d", models[model].pe,
                             ways[w].threads, ways[w].chunk_rows, i + 1);
            assert_memory_equal(digest, first, sizeof digest);
        }
    }
}

/* Ten sequences in eight slots. Only the second sequences of slots 3 and 7 have a loss: the gradient must
 * contain nothing of the slots' previous contents. */
static void test_slots_without_loss(void **state)
{
    struct toy toy = toy_open(2);
    struct pw_batch *full = toy_batch(1, 10, 4, 12, VOCAB), some = *full;
    int rows[120], targets[120];
    double loss;
    struct pw_err err = {0};

    (void)state;
    some.rows = rows;
    some.targets = targets;
    some.n_scored = 0;
    for (int i = 0; i < full->n_scored; i++) {
        int row = full->rows[i];
        if ((row >= full->start[4] && row < full->start[5]) || row >= full->start[9]) {
            rows[some.n_scored] = row;
            targets[some.n_scored++] = full->targets[i];
        }
    }
    assert_true(rows[0] < full->start[5] && rows[some.n_scored - 1] >= full->start[9]);
    for (int model = 0; model < (int)(sizeof models / sizeof *models); model++) {
        struct pw_model *m[2];
        float *grad[2];
        for (int i = 0; i < 2; i++) {
            m[i] = toy_model(&toy, models[model].options, models[model].pe, VOCAB, 1);
            m[i]->chunk_rows = 1;
            grad[i] = malloc(pw_model_size(m[i]) * sizeof **grad);
            assert_non_null(grad[i]);
            if (i == 1)
                assert_int_equal(pw_model_gradient(m[i], full, grad[i], &loss, &err), PW_OK);
            assert_int_equal(pw_model_gradient(m[i], &some, grad[i], &loss, &err), PW_OK);
        }
        assert_memory_equal(grad[0], grad[1], pw_model_size(m[0]) * sizeof **grad);
        for (int i = 0; i < 2; i++) {
            free(grad[i]);
            pw_model_destroy(m[i]);
        }
    }
    toy_batch_free(full);
    toy_close(&toy);
}

/* Dropout is for training only: evaluation must have the same bits with and without it. The mask must change
 * from step to step and with the seed, and must be constant if neither changes. */
static void test_dropout(void **state)
{
    struct toy toy = toy_open(2);
    struct pw_batch *b = toy_batch(1, 11, 4, 12, VOCAB);
    double losses[5];
    struct pw_step_result result;
    struct pw_err err = {0};

    (void)state;
    for (int i = 0; i < 5; i++) { /* no dropout; twice one seed; another seed; the first seed after a step */
        struct pw_model *m =
            toy_model(&toy, i == 0 ? "layers=1 width=16 heads=2" : "layers=1 width=16 heads=2 dropout=0.5",
                      "none", VOCAB, i == 3 ? 2 : 1);
        struct pw_optim o = toy_optim("lr=0");
        int best[200];
        static float evaluated[200], first[200];
        size_t n = pw_model_size(m);
        float *grad = malloc(n * sizeof *grad);
        assert_non_null(grad);
        if (i == 4)
            assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
        assert_true(b->n_scored <= 200);
        assert_int_equal(pw_model_eval(m, b, best, i == 0 ? first : evaluated, &err), PW_OK);
        if (i == 1 || i == 2 || i == 4)
            assert_memory_equal(evaluated, first, b->n_scored * sizeof *first);
        assert_int_equal(pw_model_gradient(m, b, grad, &losses[i], &err), PW_OK);
        free(grad);
        pw_model_destroy(m);
    }
    assert_true(losses[1] == losses[2]);
    assert_true(losses[0] != losses[1] && losses[1] != losses[3] && losses[1] != losses[4]);
    toy_batch_free(b);
    toy_close(&toy);
}

/* The digest must detect a single flipped bit, and depend on its place. */
static void test_digest(void **state)
{
    struct toy toy = toy_open(1);
    struct pw_model *m = toy_model(&toy, models[0].options, models[0].pe, VOCAB, 1);
    size_t n = pw_model_size(m);
    float *p = malloc(n * sizeof *p), keep;
    uint64_t whole[2], d[2], before[2] = {0, 0};

    (void)state;
    assert_non_null(p);
    pw_model_get(m, p, NULL, NULL);
    pw_model_digest(m, whole);
    for (size_t i = 0; i < n; i += 97) {
        uint32_t bits;
        keep = p[i];
        memcpy(&bits, &p[i], 4);
        bits ^= 1;
        memcpy(&p[i], &bits, 4);
        pw_model_put(m, p, NULL, NULL);
        pw_model_digest(m, d);
        assert_true(d[0] != whole[0] && d[1] != whole[1] && d[0] != before[0]);
        memcpy(before, d, sizeof d);
        p[i] = keep;
    }
    pw_model_put(m, p, NULL, NULL);
    pw_model_digest(m, d);
    assert_memory_equal(d, whole, sizeof d);
    free(p);
    pw_model_destroy(m);
    toy_close(&toy);
}

/* A loss that is not finite must leave the model unchanged. */
static void test_nothing_changed(void **state)
{
    struct toy toy = toy_open(2);
    struct pw_model *m = toy_model(&toy, models[0].options, models[0].pe, VOCAB, 1);
    struct pw_batch *b = toy_batch(1, 11, 1, 12, VOCAB);
    struct pw_optim o = toy_optim("warmup=0");
    size_t n = pw_model_size(m);
    float *p = malloc(3 * n * sizeof *p), *now = malloc(3 * n * sizeof *now);
    struct pw_step_result result;
    struct pw_err err = {0};

    (void)state;
    assert_true(p != NULL && now != NULL);
    assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
    pw_model_get(m, p, p + n, p + 2 * n);
    for (size_t i = 0; i < n; i++)
        p[i] = i % 2 ? 1e30f : -1e30f;
    pw_model_put(m, p, NULL, NULL);
    assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "not finite at step 2"));
    pw_model_get(m, now, now + n, now + 2 * n);
    assert_memory_equal(p, now, 3 * n * sizeof *p);
    assert_int_equal(pw_model_step_count(m), 1);
    free(p);
    free(now);
    toy_batch_free(b);
    pw_model_destroy(m);
    toy_close(&toy);
}

/* One sequence alone: the workers share the layers of a wide model, in a whole pass and in decoding. */
static void test_shared_layers(void **state)
{
    enum { T = 70, WIDE = 300 };
    static const char options[] = "layers=1 width=1024 heads=4 ffn=1000 context=80 bias=on act=gelu";
    static const char *const pes[] = {"rotary", "shaw", "alibi"};
    static float first[2 * T * WIDE], logits[2 * T * WIDE];
    struct pw_batch *b = toy_batch(1, 1, T, T, WIDE);

    (void)state;
    for (int i = 0; i < 9; i++) {
        int threads = 1 + i % 3 * 2;
        struct toy toy = toy_open(threads);
        struct pw_model *m = toy_model(&toy, options, pes[i / 3], WIDE, 1);
        struct pw_decoder *d;
        struct pw_err err = {0};
        assert_int_equal(pw_model_inspect(m, b->tokens, T, &(struct pw_inspection){.logits = logits}, &err),
                         PW_OK);
        assert_int_equal(pw_decoder_create(&d, m, T, &err), PW_OK);
        for (int t = 0; t < T; t++)
            assert_int_equal(pw_decoder_feed(d, &b->tokens[t], 1, logits + (size_t)(T + t) * WIDE, &err),
                             PW_OK);
        assert_memory_equal(logits, logits + (size_t)T * WIDE, (size_t)T * WIDE * sizeof *logits);
        pw_decoder_rewind(d, 0); /* also all tokens at once, whose heads the workers share */
        assert_int_equal(pw_decoder_feed(d, b->tokens, T, logits + (size_t)T * WIDE, &err), PW_OK);
        assert_memory_equal(logits + (size_t)(T - 1) * WIDE, logits + (size_t)T * WIDE,
                            WIDE * sizeof *logits);
        memcpy(logits + (size_t)T * WIDE, logits, WIDE * sizeof *logits);
        if (threads == 1)
            memcpy(first, logits, sizeof first);
        assert_memory_equal(first, logits, sizeof first);
        pw_decoder_destroy(d);
        pw_model_destroy(m);
        toy_close(&toy);
    }
    toy_batch_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_digest),
                                       cmocka_unit_test(test_slots_without_loss),
                                       cmocka_unit_test(test_dropout),
                                       cmocka_unit_test(test_shared_layers),
                                       cmocka_unit_test(test_nothing_changed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
