/* test_golden_mix.c - tests the bias that a query mixes with numbers from PyTorch: InklingRelativeLogits of
 * transformers 5 and its factor tau, in double precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ref_toy.h"

enum { T = 4, D = 4, M = 2, REACH = 3 };

struct mixing {
    const struct pw_backend_ops *ops;
    struct pw_attn a;
    const struct pw_seqs *seqs;
    float *scores;
};

static void compute_scores(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    static const int pos[T] = {0, 1, 2, 3};
    static const float qkv[T * 3 * D] = {0}; /* q.k = 0: the bias alone */
    const struct mixing *x = arg;
    (void)chunk;
    (void)worker;
    x->ops->scores(c, x->scores, qkv, &x->a, pos, x->seqs);
}

static void test_scores(void **state)
{
    static const float weights[T * M] = {1, -0.5f, 0.25f, 2, -1, 0.5f, 0.125f, -0.75f};
    static const float bank[M * REACH] = {0.5f, -0.25f, 1, 0.75f, 0.125f, -0.5f};
    static const double want[T][T] = {
        {0.125, 0, 0, 0},
        {0.1875, 1.625, 0, 0},
        {-1.3006831385135207, 0.32517078462838017, -0.13006831385135206, 0},
        {0, 0.5346573590279973, -0.13366433975699932, -0.5346573590279973},
    };
    static const int start[] = {0, T};
    const struct pw_seqs seqs = {1, start, T, T};
    struct pw_pe_use_opts pe;
    struct pw_config cfg = toy_config("layers=1 width=4 heads=1 context=8", 5);
    struct pw_pe_tables t;
    struct pw_err err;
    float scores[T * T];
    struct toy toy = toy_open(1);
    (void)state;
    pe = toy_pe("inkling reach=3 mixes=2 alpha=0.1 floor=2", &cfg);
    struct pw_model *m = toy_model(&toy, "layers=1 width=4 heads=1 context=8",
                                   "inkling reach=3 mixes=2 alpha=0.1 floor=2", 5, 1);
    assert_int_equal(pw_model_tables(m, T, &t, &err), PW_OK);
    assert_true(pw_pe_gains(&pe) && t.gain != NULL); /* tau */
    struct pw_mix mix = {weights, bank, M, REACH, NULL, NULL};
    struct pw_turn turn = {.gain = t.gain};
    struct mixing x = {toy.ops,
                       {.heads = 1, .head_width = D, .scale = 1, .causal = true, .turn = &turn, .mix = &mix},
                       &seqs,
                       scores};
    toy.ops->for_chunks(toy.be, 1, compute_scores, &x);
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++)
            assert_true(fabs((double)scores[i * T + j] - want[i][j]) < 2e-7);
    pw_pe_tables_free(&t);
    pw_model_destroy(m);
    toy_close(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
