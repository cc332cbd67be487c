/* test_swap.c - tests swapping the encoding of a trained model. All other tensors and their moments must keep
 * their bits. The new encoding's parameters have initial values and a step count of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model_int.h"
#include "ref_toy.h"

#define OPTIONS "layers=2 width=12 heads=3 ffn=10 context=16 bias=on"

static struct pw_step_result train(struct pw_model *m, int n)
{
    struct pw_optim o = toy_optim("lr=0.01 warmup=10 steps=40");
    struct pw_batch *b = toy_batch(1, 6, 2, 9, 7);
    struct pw_step_result result = {0};
    struct pw_err err = {0};

    for (int i = 0; i < n; i++)
        if (pw_model_step(m, &o, b, NULL, &result, &err))
            fail_msg("%s", err.msg);
    toy_batch_free(b);
    return result;
}

/* Returns parameters and moments, three times the model's size. The caller frees them. */
static float *everything(struct pw_model *m)
{
    size_t n = pw_model_size(m);
    float *all = malloc(3 * n * sizeof *all);

    assert_non_null(all);
    pw_model_get(m, all, all + n, all + 2 * n);
    return all;
}

static const struct pw_param *find(struct pw_model *m, const char *name)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);

    for (int i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0)
            return &p[i];
    return NULL;
}

static void swap(struct pw_model **m, const char *pe, uint64_t seed, bool restart)
{
    struct pw_pe_use_opts use = toy_pe(pe, pw_model_config(*m));

    toy_swap(m, &use, seed, restart);
}

static void check_pair(struct toy *toy, const char *from, const char *to)
{
    struct pw_model *m = toy_model(toy, OPTIONS, from, 7, 1), *fresh = toy_model(toy, OPTIONS, to, 7, 9);
    float *before, *after, *first;
    size_t old_size, size, core;
    const struct pw_param *p;
    int n;

    train(m, 5);
    before = everything(m);
    old_size = pw_model_size(m);
    core = m->lay.core;
    swap(&m, to, 9, true);
    after = everything(m);
    size = pw_model_size(m);
    first = everything(fresh);
    assert_int_equal(size, pw_model_size(fresh));
    for (int set = 0; set < 3; set++)
        assert_memory_equal(before + set * old_size, after + set * size, core * sizeof(float));
    /* The encoding's parameters: as in a new model of that seed, with zero moments. */
    assert_memory_equal(after + core, first + core, (size - core) * sizeof(float));
    for (size_t i = core; i < size; i++)
        assert_true(after[size + i] == 0 && after[2 * size + i] == 0);

    p = pw_model_params(m, &n);
    for (int i = 0; i < n; i++)
        assert_int_equal(p[i].t, p[i].pe ? 0 : 5);
    assert_int_equal(pw_model_step_count(m), 5);
    train(m, 1);
    p = pw_model_params(m, &n);
    for (int i = 0; i < n; i++)
        assert_int_equal(p[i].t, p[i].pe ? 1 : 6);
    free(before);
    free(after);
    free(first);
    pw_model_destroy(m);
    pw_model_destroy(fresh);
}

static void test_all_pairs(void **state)
{
    (void)state;
    struct toy toy = toy_open(2);
    for (int a = 0; pw_pes[a] != NULL; a++)
        for (int b = 0; pw_pes[b] != NULL; b++)
            check_pair(&toy, pw_pes[a]->name, pw_pes[b]->name);
    toy_close(&toy);
}

/* Swapping to another encoding without parameters and back must change nothing. */
static void test_there_and_back(void **state)
{
    struct toy toy = toy_open(1);
    struct pw_model *m = toy_model(&toy, OPTIONS, "rotary", 7, 1),
                    *same = toy_model(&toy, OPTIONS, "rotary", 7, 1);
    uint64_t a[2], b[2];

    (void)state;
    train(m, 3);
    train(same, 3);
    swap(&m, "t5", 4, false);
    swap(&m, "rotary", 5, false);
    train(m, 3);
    train(same, 3);
    pw_model_digest(m, a);
    pw_model_digest(same, b);
    assert_memory_equal(a, b, sizeof a);
    pw_model_destroy(m);
    pw_model_destroy(same);
    toy_close(&toy);
}

/* restart must reset the learning rate to that of its first step. */
static void test_schedule(void **state)
{
    struct toy toy = toy_open(1);
    struct pw_model *m = toy_model(&toy, OPTIONS, "none", 7, 1);
    double first = train(m, 1).lr;

    (void)state;
    assert_true(train(m, 6).lr > 6 * first);
    swap(&m, "alibi", 1, false);
    assert_true(train(m, 1).lr > 7 * first);
    swap(&m, "t5", 1, true);
    assert_true(train(m, 1).lr == first);
    pw_model_destroy(m);
    toy_close(&toy);
}

/* A failed swap must change nothing. */
static void test_failure(void **state)
{
    struct toy toy = toy_open(1);
    struct pw_model *m = toy_model(&toy, OPTIONS, "learned", 7, 1), *next;
    struct pw_config wide = toy_config("width=64", 7);
    struct pw_pe_use_opts use = toy_pe("rotary dims=8", &wide); /* wider than the heads of m */
    struct pw_err err = {0};
    uint64_t a[2], b[2];

    (void)state;
    train(m, 2);
    pw_model_digest(m, a);
    assert_int_equal(pw_model_swap(&next, m, &use, 1, true, &err), PW_EUSER);
    assert_null(next);
    assert_string_equal(err.msg, "rotary: dims=8: at most the head width, 4");
    pw_model_digest(m, b);
    assert_memory_equal(a, b, sizeof a);
    assert_non_null(find(m, "pe.table"));
    train(m, 1);
    pw_model_destroy(m);
    toy_close(&toy);
}

/* The same seed must give the same initial tensors for any encoding. */
static void test_same_start(void **state)
{
    struct toy toy = toy_open(1);
    struct pw_model *a = toy_model(&toy, OPTIONS, "none", 7, 3),
                    *b = toy_model(&toy, OPTIONS, "learned", 7, 3);
    struct pw_model *c = toy_model(&toy, OPTIONS, "none", 7, 4);
    float *x = everything(a), *y = everything(b), *z = everything(c);

    (void)state;
    assert_memory_equal(x, y, pw_model_size(a) * sizeof *x);
    assert_memory_not_equal(x, z, pw_model_size(a) * sizeof *x);
    free(x);
    free(y);
    free(z);
    pw_model_destroy(a);
    pw_model_destroy(b);
    pw_model_destroy(c);
    toy_close(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),  cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_schedule),   cmocka_unit_test(test_failure),
        cmocka_unit_test(test_same_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
