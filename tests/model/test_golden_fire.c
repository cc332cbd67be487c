/* test_golden_fire.c - compares FIRE with independent numbers: its formulas, evaluated with Python in double
 * precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "ref_toy.h"

static struct toy toy;

/* c = 0.1, L = 4, six positions: the normalised distances, and the bias of two heads from a network of four
 * units. */
static const double fire_near[6][6] = {{0},
                                       {0.2832631327, 0},
                                       {0.5418621121, 0.2832631327, 0},
                                       {0.7797501128, 0.5418621121, 0.2832631327, 0},
                                       {1, 0.7797501128, 0.5418621121, 0.2832631327, 0},
                                       {1, 0.8298426422, 0.6470698939, 0.4496602868, 0.2350638265, 0}};
static const double fire_bias[2][6][6] = {
    {{0.5},
     {0.375, 0.5},
     {0.395931056, 0.375, 0.5},
     {0.5148750564, 0.395931056, 0.375, 0.5},
     {0.625, 0.5148750564, 0.395931056, 0.375, 0.5},
     {0.625, 0.5399213211, 0.4485349469, 0.375, 0.3824680868, 0.5}},
    {{-0.24},
     {-0.1483684337, -0.24},
     {-0.02744136637, -0.1483684337, -0.24},
     {0.04392503385, -0.02744136637, -0.1483684337, -0.24},
     {0.11, 0.04392503385, -0.02744136637, -0.1483684337, -0.24},
     {0.11, 0.05895279265, 0.004120968158, -0.06516985661, -0.1694808521, -0.24}}};

/* The parameters of FIRE in a model of two heads, by name: values [count] each. */
struct fire_values {
    const char *name;
    float values[8];
};

static struct pw_pe_tables fire_tables(const char *pe, const struct fire_values *v)
{
    struct pw_model *m = toy_model(&toy, "width=8 heads=2", pe, 3, 1);
    float *all = malloc(pw_model_size(m) * sizeof *all);
    struct pw_pe_tables t;
    struct pw_err err = {0};
    int n;
    const struct pw_param *p = pw_model_params(m, &n);

    assert_non_null(all);
    pw_model_get(m, all, NULL, NULL);
    for (; v->name != NULL; v++) {
        int at = 0;
        while (at < n && strcmp(p[at].name, v->name) != 0)
            at++;
        assert_true(at < n && pw_param_count(&p[at]) <= 8);
        memcpy(all + p[at].offset, v->values, pw_param_count(&p[at]) * sizeof *all);
    }
    pw_model_put(m, all, NULL, NULL);
    if (pw_model_tables(m, 6, &t, &err))
        fail_msg("%s", err.msg);
    free(all);
    pw_model_destroy(m);
    return t;
}

static void test_fire(void **state)
{
    static const struct fire_values one[] = {{"pe.mlp.0.weight", {1}},
                                             {"pe.mlp.0.bias", {0}},
                                             {"pe.mlp.2.weight", {1, 2}},
                                             {"pe.mlp.2.bias", {0, 0}},
                                             {NULL, {0}}};
    static const struct fire_values four[] = {
        {"pe.mlp.0.weight", {1, -1, 2, 0.5f}},
        {"pe.mlp.0.bias", {0, 0.5f, -0.5f, 0.1f}},
        {"pe.mlp.2.weight", {-1, 0.5f, 0.25f, 2, 0.3f, -0.2f, 0.1f, -0.4f}},
        {"pe.mlp.2.bias", {0.05f, -0.1f}},
        {NULL, {0}}};
    struct pw_pe_tables t = fire_tables("fire hidden=1 threshold=4", one),
                        s = fire_tables("fire hidden=4 threshold=4", four);

    (void)state;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int h = 0; h < 2; h++) {
                double near = j <= i ? fire_near[i][j] : 0, bias = j <= i ? fire_bias[h][i][j] : 0;
                toy_near((double)pw_pe_bias_at(&t, h, i, j), near * (h + 1), 1e-5, "distance", i * 6 + j);
                toy_near((double)pw_pe_bias_at(&s, h, i, j), bias, 2e-5, "bias", i * 6 + j);
            }
    pw_pe_tables_free(&t);
    pw_pe_tables_free(&s);
}

/* Only the magnitudes of c and of the factor of L may matter. Positions are also shifted and stretched. */
static void test_fire_turned(void **state)
{
    static const struct fire_values one[] = {{"pe.mlp.0.weight", {1}},
                                             {"pe.mlp.0.bias", {0}},
                                             {"pe.mlp.2.weight", {1, 2}},
                                             {"pe.mlp.2.bias", {0, 0}},
                                             {"pe.c", {-0.3f}},
                                             {"pe.L_multiplier", {-0.75f}},
                                             {NULL, {0}}};
    struct pw_pe_tables t = fire_tables("fire hidden=1 threshold=4 offset=2 stretch=0.5", one);

    (void)state;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j <= i; j++) {
            double at = 2 + 0.5 * i, under = log(0.3 * (at > 3 ? at : 3) + 1);
            toy_near((double)pw_pe_bias_at(&t, 0, i, j), log(0.3 * 0.5 * (i - j) + 1) / under, 1e-5, "fire",
                     i * 6 + j);
        }
    pw_pe_tables_free(&t);
}

static int setup(void **state)
{
    (void)state;
    toy = toy_open(1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    toy_close(&toy);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fire),
        cmocka_unit_test(test_fire_turned),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
