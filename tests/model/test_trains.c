/* test_trains.c - tests that steps with trains=norms, encoding and adapter change these parameters alone, in
 * the direction of a step that changes all. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model_int.h"
#include "ref_toy.h"

enum { VOCAB = 7, MOST = 1 << 14, MOST_ROWS = 100 };

static const struct {
    const char *options, *pe;
} models[] = {
    {"layers=2 width=16 heads=4 kv_heads=2 ffn=20 context=32 tied=on gated=on qk_norm=head post_norm=on",
     "t5"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 bias=on norm=layernorm embed_norm=on head_bias=on "
     "dropout=0.1",
     "learned"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 parallel=shared adapter=2", "fire"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 parallel=on", "alibi"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 norm_at=after norm=layernorm bias=on adapter=2 "
     "embed_width=7",
     "learned"},
    {"layers=2 width=12 heads=3 ffn=10 context=32 adapter=3",
     "expr 'T = learn(normal(0.5), 40) per head; bias = T[d]'"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "fox"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "inkling"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "cope"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "grape"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "pope"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "grape_turn"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "path"},
    {"layers=2 width=12 heads=3 ffn=10 context=32", "wall"},
};
enum { MODELS = sizeof models / sizeof *models };

static bool may_change(const struct pw_param *p, enum pw_trains trains)
{
    bool norm = strncmp(p->name, "pe.", 3) != 0 && strstr(p->name, "norm") != NULL;

    return trains == PW_TRAINS_ALL || strncmp(p->name, "pe.", 3) == 0 ||
           (trains == PW_TRAINS_NORMS && norm) ||
           (trains == PW_TRAINS_ADAPTER && strstr(p->name, ".adapter_") != NULL);
}

/* Makes model k and a step's settings. Without clipping, the step of a tensor depends on no other gradient.
 */
static struct pw_model *open_model(struct toy *toy, int k, int threads, struct pw_optim *o)
{
    struct pw_model *m;

    *toy = toy_open(threads);
    m = toy_model(toy, models[k].options, models[k].pe, VOCAB, 3);
    *o = toy_optim("lr=0.01 warmup=0 clip=0 decay=0.1");
    toy_shake(m, 2);
    assert_true(pw_model_size(m) <= MOST);
    return m;
}

static void step(struct pw_model *m, const struct pw_optim *o, uint64_t seed)
{
    struct pw_batch *b = toy_batch(seed, 5, 6, 20, VOCAB);
    struct pw_step_result result;
    struct pw_err err = {0};

    if (pw_model_step(m, o, b, NULL, &result, &err) != PW_OK)
        fail_msg("%s", err.msg);
    toy_batch_free(b);
}

/* Checks after against before: frozen tensors have the same bits, and others have other bits. */
static void check(const struct pw_model *m, enum pw_trains trains, const float *before, const float *after)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);

    for (int i = 0; i < n; i++) {
        size_t bytes = pw_param_count(&p[i]) * sizeof *before;
        bool same = memcmp(before + p[i].offset, after + p[i].offset, bytes) == 0;
        if (same == may_change(&p[i], trains))
            fail_msg("%s: %s", p[i].name, same ? "has not changed" : "has changed");
    }
}

/* The steps before, which change all, leave moments; these must not move a tensor either. */
static void test_only_these_change(void **state)
{
    static float before[MOST], after[MOST];

    (void)state;
    for (int k = 0; k < MODELS; k++)
        for (int trains = PW_TRAINS_ALL; trains <= PW_TRAINS_ADAPTER; trains++) {
            struct toy toy;
            struct pw_optim o;
            struct pw_model *m = open_model(&toy, k, 2, &o);
            if (trains >= PW_TRAINS_ENCODING && strcmp(models[k].pe, "alibi") == 0)
                goto next;
            step(m, &o, 1);
            step(m, &o, 2);
            pw_model_get(m, before, NULL, NULL);
            o.trains = trains;
            step(m, &o, 3);
            step(m, &o, 4);
            pw_model_get(m, after, NULL, NULL);
            check(m, (enum pw_trains)trains, before, after);
            memcpy(before, after, sizeof before);
            o.trains = PW_TRAINS_ALL;
            step(m, &o, 5);
            pw_model_get(m, after, NULL, NULL);
            check(m, PW_TRAINS_ALL, before, after);
        next:
            pw_model_destroy(m);
            toy_close(&toy);
        }
}

/* One step of the parameters that change has the bits that it has in a step of all parameters. */
static void test_same_step(void **state)
{
    static float all[MOST], some[MOST];

    (void)state;
    for (int k = 0; k < MODELS; k++) {
        const struct pw_param *p;
        int n;
        for (int trains = PW_TRAINS_ALL; trains <= PW_TRAINS_ADAPTER; trains++) {
            struct toy toy;
            struct pw_optim o;
            struct pw_model *m = open_model(&toy, k, 1 + trains, &o);
            o.trains = trains == PW_TRAINS_ENCODING ? PW_TRAINS_NORMS : trains;
            if (pw_model_config(m)->adapter == 0 && trains == PW_TRAINS_ADAPTER)
                goto next;
            step(m, &o, 1);
            pw_model_get(m, trains == PW_TRAINS_ALL ? all : some, NULL, NULL);
            p = pw_model_params(m, &n);
            for (int i = 0; trains != PW_TRAINS_ALL && i < n; i++)
                if (may_change(&p[i], (enum pw_trains)o.trains))
                    assert_memory_equal(all + p[i].offset, some + p[i].offset,
                                        pw_param_count(&p[i]) * sizeof *all);
        next:
            pw_model_destroy(m);
            toy_close(&toy);
        }
    }
}

static void losses(struct pw_model *m, float *loss)
{
    struct pw_batch *b = toy_batch(9, 5, 6, 20, VOCAB);
    struct pw_err err = {0};
    int best[MOST_ROWS];

    assert_true(b->n_scored <= MOST_ROWS);
    assert_int_equal(pw_model_eval(m, b, best, loss, &err), PW_OK);
    toy_batch_free(b);
}

/* After a step, what is derived from the changed parameters is derived again: a copy has the same losses. */
static void test_nothing_is_stale(void **state)
{
    static float loss[MOST_ROWS], copied[MOST_ROWS];

    (void)state;
    for (int k = 0; k < MODELS; k++)
        for (int trains = PW_TRAINS_ALL; trains <= PW_TRAINS_ADAPTER; trains++) {
            struct toy toy;
            struct pw_optim o;
            struct pw_model *m = open_model(&toy, k, 2, &o), *copy;
            struct pw_err err = {0};
            losses(m, loss);
            o.trains = trains;
            if (trains < PW_TRAINS_ENCODING || strcmp(models[k].pe, "alibi") != 0)
                step(m, &o, 1);
            losses(m, loss);
            assert_int_equal(pw_model_clone(&copy, m, toy.ops, toy.be, &err), PW_OK);
            losses(copy, copied);
            assert_memory_equal(loss, copied, sizeof loss);
            pw_model_destroy(copy);
            pw_model_destroy(m);
            toy_close(&toy);
        }
}

/* The gradient's norm is that of the parameters that change. */
static void test_norm(void **state)
{
    static float grad[MOST];

    (void)state;
    for (int trains = PW_TRAINS_ALL; trains <= PW_TRAINS_ENCODING; trains++) {
        struct toy toy;
        struct pw_optim o;
        struct pw_model *m = open_model(&toy, 0, 1, &o);
        struct pw_batch *b = toy_batch(1, 5, 6, 20, VOCAB);
        struct pw_step_result result;
        struct pw_err err = {0};
        double loss, sum = 0;
        int n;
        const struct pw_param *p = pw_model_params(m, &n);
        assert_int_equal(pw_model_gradient(m, b, grad, &loss, &err), PW_OK);
        for (int i = 0; i < n; i++)
            for (size_t e = 0; may_change(&p[i], (enum pw_trains)trains) && e < pw_param_count(&p[i]); e++)
                sum += (double)grad[p[i].offset + e] * (double)grad[p[i].offset + e];
        o.trains = trains;
        assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
        assert_true(fabs(result.grad_norm - sqrt(sum)) < 1e-5 * sqrt(sum));
        toy_batch_free(b);
        pw_model_destroy(m);
        toy_close(&toy);
    }
}

/* Tensors that steps leave out keep every bit, also that of -0; and their moments and counts. */
static void test_left_out(void **state)
{
    static float before[3 * MOST], after[3 * MOST];
    struct toy toy;
    struct pw_optim o;
    struct pw_model *m = open_model(&toy, 1, 2, &o);
    const struct pw_param *p = pw_model_params(m, &(int){0});
    size_t n = pw_model_size(m);

    (void)state;
    step(m, &o, 1);
    pw_model_get(m, before, before + n, before + 2 * n);
    for (size_t i = 0; i < pw_param_count(p); i += 3) /* the embedding */
        before[i] = -0.0f;
    pw_model_put(m, before, NULL, NULL);
    o.trains = PW_TRAINS_NORMS;
    step(m, &o, 2);
    step(m, &o, 3);
    pw_model_get(m, after, after + n, after + 2 * n);
    for (int set = 0; set < 3; set++)
        assert_memory_equal(before + set * n, after + set * n, pw_param_count(p) * sizeof *before);
    assert_int_equal(p->t, 1);
    assert_int_equal(pw_model_step_count(m), 3);
    float ratio[5]; /* embedding, two layers, norm and head, encoding: only tensors that train count */
    pw_model_updates(m, ratio);
    for (int i = 0; i < 5; i++)
        assert_true(ratio[i] > 1e-4f && ratio[i] < 1);
    o.trains = PW_TRAINS_ENCODING;
    step(m, &o, 4);
    pw_model_updates(m, ratio);
    assert_true(isnan(ratio[0]) && isnan(ratio[1]) && isnan(ratio[3]) && ratio[4] > 1e-4f);
    pw_model_destroy(m);
    toy_close(&toy);
}

static void test_nothing_to_train(void **state)
{
    struct toy toy = toy_open(1);
    struct pw_model *m = toy_model(&toy, "layers=1 width=8 heads=2", "rotary", VOCAB, 1);
    struct pw_optim o = toy_optim("trains=encoding");
    struct pw_batch *b = toy_batch(1, 3, 4, 9, VOCAB);
    struct pw_step_result result;
    struct pw_err err = {0};

    (void)state;
    assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_EUSER);
    assert_string_equal(err.msg,
                        "steps with trains=encoding change nothing: the encoding rotary has no parameters");
    o.trains = PW_TRAINS_ADAPTER;
    assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_EUSER);
    assert_string_equal(err.msg, "steps with trains=adapter change nothing: the encoding rotary has no "
                                 "parameters, and the model has no adapter");
    o.trains = PW_TRAINS_ALL;
    assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
    toy_batch_free(b);
    pw_model_destroy(m);
    toy_close(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_these_change), cmocka_unit_test(test_same_step),
        cmocka_unit_test(test_nothing_is_stale),  cmocka_unit_test(test_norm),
        cmocka_unit_test(test_left_out),          cmocka_unit_test(test_nothing_to_train)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
