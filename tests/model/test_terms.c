/* test_terms.c - tests the decomposition of a score's content into four terms. They must add up to it, and
 * each must be what its name says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "ref_toy.h"

#define OPTIONS "layers=2 width=12 heads=3 context=16 "

enum { V = 7, L = 2, H = 3, C = 12, T = 9, SQUARE = T * T };

/* Computes the terms of one head. p: the table in layer 0, an arbitrary vector for each position in deeper
 * layers. */
static void terms_of(struct pw_model *m, float terms[4 * SQUARE], float content[SQUARE], const int *tokens,
                     int layer, int head)
{
    static float all[L * H * SQUARE], resid[(L + 1) * T * C], p[T * C];
    struct pw_inspection in = {.content = all, .resid = resid};
    struct pw_pe_tables t;
    struct pw_err err;
    assert_int_equal(pw_model_inspect(m, tokens, T, &in, &err), PW_OK);
    assert_int_equal(pw_model_tables(m, T, &t, &err), PW_OK);
    for (int i = 0; i < T * C; i++)
        p[i] = layer == 0 && t.added != NULL ? t.added[i] : layer == 0 ? 0 : sinf((float)(i * i));
    pw_pe_tables_free(&t);
    assert_int_equal(pw_model_terms(m, terms, resid + layer * T * C, p, T, layer, head, &err), PW_OK);
    memcpy(content, all + (layer * H + head) * SQUARE, SQUARE * sizeof *content);
}

static const int tokens[T] = {0, 3, 1, 4, 1, 5, 2, 6, 5}, same[T] = {2, 2, 2, 2, 2, 2, 2, 2, 2};

static void test_sum(void **state)
{
    static const char *const kinds[] = {"norm=rmsnorm",
                                        "norm=layernorm bias=on",
                                        "norm=layernorm bias=off",
                                        "norm=none",
                                        "norm=rmsnorm bias=on",
                                        "norm=layernorm norm_at=ff",
                                        "norm=layernorm norm_at=after bias=on",
                                        "norm=rmsnorm causal=off scale=off",
                                        "kv_heads=1",
                                        "adapter=2",
                                        "qk_norm=head bias=qkv norm_eps=0.01 score_scale=0.5"};
    static const char *const pes[] = {"learned", "sinusoidal", "none", "t5", "rotary"};
    float terms[4 * SQUARE], content[SQUARE];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t e = 0; e < sizeof pes / sizeof *pes; e++) {
            char options[128];
            snprintf(options, sizeof options, OPTIONS "%s", kinds[i]);
            struct pw_model *m = toy_model(*state, options, pes[e], V, 1);
            bool causal = pw_model_config(m)->causal;
            toy_shake(m, 5);
            for (int lh = 0; lh < L * H; lh++) {
                terms_of(m, terms, content, tokens, lh / H, lh % H);
                for (int at = 0; at < SQUARE; at++) {
                    double sum = 0;
                    for (int term = 0; term < 4; term++)
                        sum += terms[term * SQUARE + at];
                    if (causal && at % T > at / T)
                        assert_true(sum == 0);
                    else if (!(fabs(sum - content[at]) < 1e-4))
                        fail_msg("%s %s layer %d: %g, not %g", kinds[i], pes[e], lh / H, sum,
                                 (double)content[at]);
                }
            }
            pw_model_destroy(m);
        }
}

/* Without a norm the terms don't mix. Position-position must be independent of the tokens, and
 * content-content must be the same wherever the same tokens occur. */
static void test_parts(void **state)
{
    struct pw_model *m = toy_model(*state, OPTIONS "norm=none bias=on", "learned", V, 1);
    float a[4 * SQUARE], b[4 * SQUARE], content[SQUARE];
    toy_shake(m, 5);
    terms_of(m, a, content, tokens, 0, 1);
    terms_of(m, b, content, same, 0, 1);
    for (int q = 0; q < T; q++)
        for (int k = 0; k <= q; k++) {
            int at = q * T + k;
            assert_true(fabsf(a[3 * SQUARE + at] - b[3 * SQUARE + at]) < 1e-5f);      /* pp */
            assert_true(fabsf(b[at] - b[0]) < 1e-5f);                                 /* cc */
            assert_true(fabsf(b[SQUARE + at] - b[SQUARE + T * (T - 1) + k]) < 1e-5f); /* cp: by key alone */
            assert_true(fabsf(b[2 * SQUARE + at] - b[2 * SQUARE + q * T]) < 1e-5f);   /* pc: by query alone */
        }
    assert_true(fabsf(a[0] - b[0]) > 1e-3f);
    assert_true(fabsf(b[3 * SQUARE] - b[3 * SQUARE + T]) > 1e-3f);
    pw_model_destroy(m);
}

static int setup(void **state)
{
    struct toy *t = malloc(sizeof *t);
    *t = toy_open(1);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    toy_close(*state);
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sum), cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
