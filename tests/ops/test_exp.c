/* test_exp.c - measures the largest errors of exp, the activations and their derivatives over a dense sweep,
 * on every instruction set. The functions are called through the operations, as a model calls them. */
#include "tests/ops/ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { POINTS = 8000 };

/* One table under test, and the parameters of one sweep. */
struct sweep {
    const struct pw_backend_ops *ops;
    enum pw_act act;
    float lo, hi;
    double worst_f, worst_g; /* of value and derivative, in units of 2^-24 of max(|reference|, floor) */
    double floor;
};

static double ulps(double got, double want, double least)
{
    return fabs(got - want) / fmax(fabs(want), least) * 0x1p24;
}

/* Logits (0, x): p[1] = exp(x) / (1 + exp(x)), up to one rounding each of sum and quotient. */
static void sweep_exp(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct sweep *s = arg;
    (void)chunk;
    (void)worker;
    for (int i = 0; i < POINTS; i++) {
        float x = s->lo + (s->hi - s->lo) * (float)i / (float)(POINTS - 1), in[2] = {0.0f, x}, p[2];
        s->ops->softmax(c, p, in, 1.0f, 1, 2);
        double e = exp((double)x);
        s->worst_f = fmax(s->worst_f, ulps((double)p[1], e / (1.0 + e), 0.0));
    }
}

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

static void reference(enum pw_act act, double x, double *f, double *g)
{
    if (act == PW_ACT_GELU) {
        *f = x * normal_cdf(x);
        *g = normal_cdf(x) + x * exp(-0.5 * x * x) / sqrt(2.0 * acos(-1.0));
    } else if (act == PW_ACT_SILU) {
        double s = 1.0 / (1.0 + exp(-x));
        *f = x * s;
        *g = s * (1.0 + x * (1.0 - s));
    } else {
        double k = sqrt(2.0 / acos(-1.0)), t = tanh(k * (x + 0.044715 * x * x * x));
        *f = 0.5 * x * (1.0 + t);
        *g = 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * k * (1.0 + 3.0 * 0.044715 * x * x);
    }
}

/* A layer with one input and weight 1 computes the activation itself, and its dx the derivative. */
static void sweep_act(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct sweep *s = arg;
    float w = 1.0f, pack[32] = {1.0f}, back[32] = {1.0f};
    struct pw_mat m = {.w = &w, .out = 1, .in = 1, .pack = pack, .back = back};
    float *x = malloc(POINTS * sizeof *x), *y = malloc(POINTS * sizeof *y), *d = malloc(POINTS * sizeof *d);
    float *one = malloc(POINTS * sizeof *one);
    (void)chunk;
    (void)worker;
    for (int i = 0; i < POINTS; i++) {
        x[i] = s->lo + (s->hi - s->lo) * (float)i / (float)(POINTS - 1);
        one[i] = 1.0f;
    }
    s->ops->linear_fwd(c, y, NULL, x, &m, NULL, NULL, s->act, POINTS);
    s->ops->linear_dx(c, d, one, &m, s->act, x, 1.0f, POINTS);
    for (int i = 0; i < POINTS; i++) {
        double f, g;
        reference(s->act, (double)x[i], &f, &g);
        s->worst_f = fmax(s->worst_f, ulps((double)y[i], f, s->floor));
        s->worst_g = fmax(s->worst_g, ulps((double)d[i], g, s->floor));
    }
    free(x);
    free(y);
    free(d);
    free(one);
}

static void each_isa(struct sweep s, void (*fn)(struct pw_ctx *, int, int, void *), double limit_f,
                     double limit_g, const char *what)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    for (int i = 0; i < 3; i++) {
        struct pw_err err;
        struct pw_backend *be;
        setenv("PEWTER_ISA", isas[i], 1);
        s.ops = pw_backend_cpu();
        enum pw_code code = s.ops->open(&be, 1, &err);
        unsetenv("PEWTER_ISA");
        if (code != PW_OK)
            continue;
        s.worst_f = s.worst_g = 0.0;
        s.ops->for_chunks(be, 1, fn, &s);
        s.ops->close(be);
        print_message("%s %s: %.2f, derivative %.2f units of 2^-24\n", isas[i], what, s.worst_f, s.worst_g);
        assert_true(s.worst_f <= limit_f); /* also fails on NaN */
        assert_true(s.worst_g <= limit_g);
    }
}

static void test_exp(void **state)
{
    (void)state;
    each_isa((struct sweep){.lo = -87.0f, .hi = 0.0f}, sweep_exp, 4.0, 0.0, "exp in a softmax of two");
}

static void test_gelu(void **state)
{
    struct sweep s = {.act = PW_ACT_GELU, .lo = -2.0f, .hi = 12.0f, .floor = 0.125};
    (void)state;
    each_isa(s, sweep_act, 9.0, 12.0, "gelu");
    s = (struct sweep){.act = PW_ACT_GELU, .lo = -30.0f, .hi = -2.0f, .floor = 0.125};
    each_isa(s, sweep_act, 9.0, 12.0, "gelu, left tail");
}

static void test_gelu_tanh(void **state)
{
    struct sweep s = {.act = PW_ACT_GELU_TANH, .lo = -12.0f, .hi = 12.0f, .floor = 0.125};
    (void)state;
    each_isa(s, sweep_act, 9.0, 12.0, "gelu_tanh");
}

static void test_silu(void **state)
{
    struct sweep s = {.act = PW_ACT_SILU, .lo = -40.0f, .hi = 40.0f, .floor = 0.125};
    (void)state;
    each_isa(s, sweep_act, 9.0, 12.0, "silu");
}

/* Infinite and huge scores must not give NaN if the definition doesn't. */
static void extremes(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct sweep *s = arg;
    float in[3] = {0.0f, -INFINITY, -1e30f}, p[3], nan[2] = {0.0f, NAN};
    (void)chunk;
    (void)worker;
    s->ops->softmax(c, p, in, 1.0f, 1, 3);
    assert_true(p[0] == 1.0f && p[1] == 0.0f && p[2] == 0.0f);
    s->ops->softmax(c, p, nan, 1.0f, 1, 2);
    assert_true(isnan(p[0]) && isnan(p[1])); /* NaN must propagate, so that a broken model is visible */
}

static void test_extremes(void **state)
{
    (void)state;
    each_isa((struct sweep){0}, extremes, 0.0, 0.0, "extremes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),  cmocka_unit_test(test_gelu),     cmocka_unit_test(test_gelu_tanh),
        cmocka_unit_test(test_silu), cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
