/* test_ranges.c - bounds of a formula's values hold for every input, and are found for the usual formulas;
 * a value whose unchanged parts are not computed again has the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "model/expr/expr_int.h"
#include "ref_formula.h"

enum { POSITIONS = 64, TABLE = 8 };

/* Positions up to 63 of a causal model with 4 heads, 2 layers, width 32 and head width 8. */
static const struct pw_bounds ranges[PW_VARS] = {
    [PW_VAR_I] = {0, POSITIONS - 1}, [PW_VAR_J] = {0, POSITIONS - 1}, [PW_VAR_DISTANCE] = {0, POSITIONS - 1},
    [PW_VAR_N] = {1, POSITIONS},     [PW_VAR_TRAINED] = {16, 16},     [PW_VAR_CONTEXT] = {64, 64},
    [PW_VAR_HEAD] = {0, 3},          [PW_VAR_HEADS] = {4, 4},         [PW_VAR_LAYER] = {0, 1},
    [PW_VAR_LAYERS] = {2, 2},        [PW_VAR_PAIR] = {0, 3},          [PW_VAR_PAIRS] = {4, 4},
    [PW_VAR_CHANNEL] = {0, 31},      [PW_VAR_CHANNELS] = {32, 32},    [PW_VAR_WIDTH] = {8, 8},
    [PW_VAR_SCORE] = {NAN, NAN}};

static struct pw_expr *parsed(const char *text)
{
    struct pw_expr *x;
    struct pw_err err = {0};
    if (pw_expr_parse(&x, text, NULL, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
    return x;
}

/* A random input within the ranges. */
static void draw(struct ref_maker *m, double *vars)
{
    for (int v = 0; v < PW_VARS; v++) {
        double n = ranges[v].hi - ranges[v].lo;
        vars[v] = isnan(n) ? 0 : ranges[v].lo + (n > 0 ? ref_any(m, (unsigned)n + 1) : 0);
    }
    if (vars[PW_VAR_J] > vars[PW_VAR_I])
        vars[PW_VAR_J] = vars[PW_VAR_I];
    vars[PW_VAR_DISTANCE] = vars[PW_VAR_I] - vars[PW_VAR_J];
    vars[PW_VAR_N] = vars[PW_VAR_I] + 1;
}

static void test_usual(void **state)
{
    static const struct {
        const char *formula;
        double most;
        bool within;
    } cases[] = {
        {"bias = -slopes()[h] * d", 63.1, true},
        {"bias = -slopes()[h] * d", 60, false}, /* a slope counts as up to 1 */
        {"bias = -softplus(0.3) * log1p(abs(0 - 2) * d)", 5, true},
        {"bias = 1 / d", 1e300, false},
        {"bias = 1 / (d + 1)", 1.01, true},
        {"bias = d == 0 ? 0 : 1 / d", 1e300, false}, /* finite, but the bounds don't show it */
        {"bias = 4 > 3 ? d : 1 / d", 63.1, true},
        {"bias = log(d)", 1e300, false},
        {"bias = log(d + 1)", 4.2, true},
        {"bias = sqrt(d - 1)", 1e300, false},
        {"bias = cos(d * 1e7)", 1e300, false},
        {"bias = cos(d * 1e3)", 1, true},
        {"bias = exp(d * 20)", 1e300, false},
        {"bias = (d - 7) % 3", 3.1, true},
        {"bias = (d - 7) ** 2", 3200, true},
        {"bias = (d - 7) ** 0.5", 1e300, false},
        {"bias = d ** 0.5", 8.1, true},
        {"bias = 10000 ** (-2 * d / D)", 1.01, true},
        {"bias = bucket(d, 8, 16)", 8, true},
        {"bias = sum(k=1..4, cos(k * d))", 4.1, true},
        {"bias = sum(k=1..d, k)", 64 * 64, true},
        {"bias = sum(k=1..d, sum(n0=1..k, 1))", 1e300, false},
        {"bias = sum(k=0..1e6, 1)", 1e300, false},
        {"a = learn(2); T = learn(normal(0.5), 8); bias = a * T(d)", 1.01, true},
        {"bias = mlp(log1p(d) / log1p(max(i, 3)), hidden=4)", 1e3, true},
        {"bias = clip(1 / d, 0, 1)", 1e300, false},
        {"bias = clip(d, 1, 3)", 3, true},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pw_expr *x = parsed(cases[k].formula);
        if (pw_expr_within(x, PW_STAGE_BIAS, ranges, cases[k].most) != cases[k].within)
            fail_msg("%s: within %g: %s", cases[k].formula, cases[k].most, cases[k].within ? "no" : "yes");
        pw_expr_free(x);
    }
}

/* Learned parameters are drawn within their initial values. */
static void test_random(void **state)
{
    static const char *const leaves[] = {"d",   "i",    "h", "a", "b", "T[h]", "T(a * 0.3 + 1.13)",
                                         "1.5", "0.25", "L", "n", "l", "j",    NULL};
    static double regs[PW_EXPR_NODES], again[PW_EXPR_NODES];
    struct ref_maker m = {.leaves = leaves};
    int found = 0;
    (void)state;
    pw_rng_init(&m.rng, 11, PW_STREAM_INIT, 2);
    for (int round = 0; round < 3000; round++) {
        double a = 0.5, b = -0.3, T[TABLE], most = 1, vars[PW_VARS] = {0}, before[PW_VARS];
        const double *param[] = {&a, &b, T};
        pw_str_clear(&m.out);
        pw_str_add(&m.out, "a = learn(0.5) per head; b = learn(-0.3); T = learn(normal(0.1), 8) per head; "
                           "bias = a * b * T[0] + ");
        ref_add_expression(&m, 1 + (int)ref_any(&m, 5));
        struct pw_expr *x = parsed(m.out.s);
        while (most < 1e12 && !pw_expr_within(x, PW_STAGE_BIAS, ranges, most))
            most *= 2;
        found += most < 1e12;
        for (int k = 0; k < 40; k++) {
            for (int e = 0; k == 0 && e < TABLE; e++)
                T[e] = 0.1 * ((double)ref_any(&m, 201) / 100 - 1);
            memcpy(before, vars, sizeof vars);
            draw(&m, vars);
            if (k > 0 && ref_any(&m, 2)) { /* only some of them change */
                vars[PW_VAR_HEAD] = before[PW_VAR_HEAD];
                vars[PW_VAR_LAYER] = before[PW_VAR_LAYER];
            }
            uint64_t changed = 0;
            for (int v = 0; v < PW_VARS; v++)
                changed |= k == 0 || vars[v] != before[v] ? UINT64_C(1) << v : 0;
            double y = pw_expr_eval(x, PW_STAGE_BIAS, vars, param, regs);
            if (most < 1e12 && !(fabs(y) <= most))
                fail_msg("%s: %.17g is not within %g", m.out.s, y, most);
            double z = k == 0 ? pw_expr_eval(x, PW_STAGE_BIAS, vars, param, again)
                              : pw_expr_eval_changed(x, PW_STAGE_BIAS, vars, param, again, changed);
            assert_memory_equal(&y, &z, sizeof y);
        }
        pw_expr_free(x);
    }
    assert_true(found > 1500);
    pw_str_fini(&m.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
