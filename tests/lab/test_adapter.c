/* test_adapter.c - tests `optim trains=adapter`: a model whose encoding was swapped heals by its adapter
 * alone, an arm that trains gets one without losing its place, and what is refused. test_source.c resumes
 * such sessions. */
#include "ref_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/actions.h"

#define FROM "model from=" PEWTER_SOURCE_DIR "/tests/golden/gguf/llama.gguf context=32"

static const struct pw_replica *arm_of(const struct bench *b)
{
    return pw_lab_arm(b->lab, 1);
}

/* The mean loss of n steps from `from` on. */
static double mean_loss(const struct bench *b, int from, int n)
{
    const struct pw_series *s = &b->s->arms[0].rep[0].series;
    double sum = 0;
    int found = 0;
    for (int i = 0; i < s->n; i++)
        if (s->step[i] >= from && s->step[i] < from + n) {
            sum += s->v[PW_M_LOSS][i];
            found++;
        }
    assert_true(found > 0);
    return sum / found;
}

/* Returns the bits of all parameters that are no adapter's. The caller frees them. */
static float *frozen(const struct bench *b, size_t *n)
{
    struct pw_model *m = arm_of(b)->model;
    int n_params, n_pe;
    const struct pw_param *p = pw_model_params(m, &n_params);
    float *all = malloc(pw_model_size(m) * sizeof *all);
    assert_non_null(all);
    pw_model_get(m, all, NULL, NULL);
    pw_model_pe_params(m, &n_pe);
    assert_int_equal(n_pe, 0);
    for (*n = 0; n_params > 0 && !p->adapter; n_params--, p++)
        *n += pw_param_count(p);
    return all;
}

static void test_heals(void **state)
{
    struct bench b;
    size_t n, after_n;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(
        &b, "task sort lengths=2..4; model layers=2 width=32 heads=4; pe alibi; optim lr=0.005; train 300");
    double before = mean_loss(&b, 280, 20);
    float *weights = frozen(&b, &n);
    bench_must(&b, "pe rotary; optim trains=adapter rank=4; train 300");
    double hurt = mean_loss(&b, 301, 5), healed = mean_loss(&b, 580, 20);
    if (!(hurt > before + 0.2 && healed < hurt - 0.3 * (hurt - before)))
        fail_msg("the loss was %g, then %g, then %g", before, hurt, healed);
    float *now = frozen(&b, &after_n);
    assert_int_equal(n, after_n);
    assert_memory_equal(weights, now, n * sizeof *now);
    free(weights);
    free(now);
    bench_must(&b, "optim trains=all; train 5");
    now = frozen(&b, &n);
    assert_int_equal(arm_of(&b)->cfg.adapter, 4); /* it stays */
    assert_int_equal(pw_model_step_count(arm_of(&b)->model), 605);
    free(now);
    bench_close(&b);
}

static void test_foreign_heals(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, FROM "; optim trains=adapter rank=2 lr=0.01 warmup=5 batch=8; train 100");
    assert_true(mean_loss(&b, 80, 20) < mean_loss(&b, 0, 20) - 0.05);
    bench_close(&b);
}

static void test_listed(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "arm");
    assert_null(strstr(b.note, "adapter"));
    bench_must(&b, "optim trains=adapter");
    assert_non_null(strstr(b.note, " trains=adapter"));
    assert_non_null(strstr(b.s->arms[0].info.model, ", adapter=8, "));
    bench_must(&b, "arm");
    assert_non_null(strstr(b.note, ", adapter=8, "));
    bench_close(&b);
}

/* One arm gets an adapter with all its replicas; forks and swaps keep it. */
static void test_arms(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "model layers=1 width=16 heads=2; race rotary seeds=2; train 20; fork; optim "
                   "trains=adapter rank=2 arm=2; train 1 arm=1");
    assert_int_equal(pw_lab_arm(b.lab, 2)->cfg.adapter, 2);
    assert_int_equal(pw_lab_replica(b.lab, 2, 2)->cfg.adapter, 2);
    assert_int_equal(arm_of(&b)->cfg.adapter, 0);
    assert_int_equal(pw_lab_arm(b.lab, 2)->step, 20);
    bench_must(&b, "optim trains=adapter rank=2 arm=1; train 4; fork; pe alibi; train 3");
    assert_int_equal(pw_lab_arm(b.lab, 3)->cfg.adapter, 2);
    assert_int_equal(pw_model_step_count(pw_lab_arm(b.lab, 3)->model), 28);
    bench_close(&b);
}

/* While an arm trains it gets an adapter, and continues to its goal. */
static void test_in_training(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "model layers=1 width=16 heads=2");
    bench_send(&b, "train 2000");
    do
        bench_look(&b, 5);
    while (b.s->arms[0].rep[0].series.n < 5);
    bench_send(&b, "optim trains=adapter rank=2");
    bench_until_idle(&b);
    assert_int_equal(arm_of(&b)->step, 2000);
    assert_int_equal(arm_of(&b)->cfg.adapter, 2);
    int n;
    const struct pw_param *p = pw_model_params(arm_of(&b)->model, &n);
    assert_in_range(p->t, 5, 1999); /* the embedding: steps before the adapter */
    assert_int_equal(p[n - 1].t, 2000 - p->t);
    bench_close(&b);
}

static void test_refused(void **state)
{
    char then[4096];
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "optim trains=adapter rank=4; train 5; digest");
    memcpy(then, b.digests, sizeof then);
    bench_run(&b, "optim trains=adapter rank=8");
    assert_int_equal(b.errors, 1);
    assert_string_equal(b.error,
                        "optim: rank=8: arm 1 has an adapter of rank 4, which keeps its rank; 'model "
                        "adapter=8' starts again with new weights");
    bench_run(&b, "optim rank=257");
    assert_int_equal(b.errors, 1);
    assert_non_null(strstr(b.error, "allowed are 0..256"));
    bench_must(&b, "optim trains=norms; optim trains=adapter; digest");
    assert_string_equal(then, b.digests);
    bench_must(&b, "model adapter=8; train 2; optim trains=adapter rank=8; train 2");
    assert_int_equal(arm_of(&b)->cfg.adapter, 8);
    bench_must(&b, FROM);
    assert_int_equal(arm_of(&b)->cfg.adapter, 0); /* a new model trains all again */
    assert_int_equal(arm_of(&b)->optim.trains, PW_TRAINS_ALL);
    bench_must(&b, "optim trains=adapter rank=2");
    bench_run(&b, "optim rank=3");
    assert_int_equal(b.errors, 1);
    assert_non_null(strstr(b.error, "llama.gguf' starts again without an adapter"));
    bench_must(&b, "model tiny; train 1");
    assert_int_equal(arm_of(&b)->cfg.adapter, 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heals), cmocka_unit_test(test_foreign_heals), cmocka_unit_test(test_listed),
        cmocka_unit_test(test_arms),  cmocka_unit_test(test_in_training),   cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
