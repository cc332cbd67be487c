/* test_expr.c - tests formulas of encodings: values of known ones, 10,000 random ones that are printed,
 * parsed again and differentiated, and malformed ones, each with one line that names its column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/expr/expr.h"
#include "ref_formula.h"

static struct pw_expr *parsed(const char *text)
{
    struct pw_expr *x;
    struct pw_err err = {0};
    if (pw_expr_parse(&x, text, NULL, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
    return x;
}

/* The bias of head 1 of 4 at a distance, with `param` for every parameter. */
static double bias_at(const char *text, double d, double param)
{
    struct pw_expr *x = parsed(text);
    double vars[PW_VARS] = {0}, regs[PW_EXPR_NODES], values[PW_EXPR_TABLE];
    const double *params[PW_EXPR_PARAMS];
    for (int k = 0; k < PW_EXPR_TABLE; k++)
        values[k] = param * (1 + k);
    for (int k = 0; k < PW_EXPR_PARAMS; k++)
        params[k] = values;
    vars[PW_VAR_I] = d + 5;
    vars[PW_VAR_J] = 5;
    vars[PW_VAR_DISTANCE] = d;
    vars[PW_VAR_HEAD] = 1;
    vars[PW_VAR_HEADS] = 4;
    vars[PW_VAR_TRAINED] = 16;
    double y = pw_expr_eval(x, PW_STAGE_BIAS, vars, params, regs);
    pw_expr_free(x);
    return y;
}

static void test_values(void **state)
{
    static const struct {
        const char *text;
        double d, param, value;
    } cases[] = {
        {"m = slopes()[h]; bias = -m * d", 3, 0, -3.0 / 16},
        {"bias = 2 ** 3 ** 2 - -2 ** 2", 0, 0, 516},
        {"bias = 1 + 2 * 3 - 8 / 4 % 3", 0, 0, 5},
        {"bias = d > 2 && !(d == 4) ? 1 : d <= 1 ? 2 : 3", 4, 0, 3},
        {"bias = (0 - 7) % 3", 0, 0, 2},
        {"bias = sum(k=1..4, k * d)", 2, 0, 20},
        {"bias = sum(k=1..3, sum(m=1..k, m))", 2, 0, 10},
        {"bias = sum(k=3..1, k)", 2, 0, 0},
        {"bias = list(4, 5 * d, 6)[1] + 100 * list(7)[d]", 2, 0, 710},
        {"bias = list(1, 2, 3, 4, 5)[d] + 10 * list(1, 2, 3)[0 - d] + 100 * list(1, 2)[d]", 3, 0, 214},
        {"bias = list(1, 2, 3)[d / 4] + 10 * list(1, 2, 3)[1.6]", 3, 0, 32},
        {"T = learn(normal(0.1), 8); bias = T[2] + T(0.5)", 0, 1, 4.5},
        {"T = learn(0, 8); bias = T[100] + T[0 - 3] + T(7.9)", 0, 1, 17},
        {"T = learn(0, 32) per head; bias = T[bucket(d, 32, 128)]", 40, 1, 1 + 23},
        {"a = learn(1) per head, layer; bias = -softplus(a) * log1p(d)", 1, 0, -0.48045301391820142},
        {"position = i * 0.5; bias = d", 6, 0, 3},
        {"position = floor(i / 2) + 1\nbias = position(i) * 100 + position(j)\n", 6, 0, 603},
        {"bias = tanh(0.5) + erf(0.5) + sigmoid(2)", 0, 0,
         0.46211715726000976 + 0.52049987781304654 + 0.88079707797788243},
        {"bias = log(exp(1)) + log2(8) + sqrt(16) + pow(2, 0.5)", 0, 0, 1 + 3 + 4 + 1.4142135623730951},
        {"bias = clip(d, 1, 3) + min(d, 2) + max(d, 9) + abs(0 - d) + floor(2.7) + round(2.5)", 5, 0,
         3 + 2 + 9 + 5 + 2 + 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double y = bias_at(cases[i].text, cases[i].d, cases[i].param);
        if (!(fabs(y - cases[i].value) <= 1e-14 * fabs(cases[i].value)))
            fail_msg("%s: %.17g instead of %.17g", cases[i].text, y, cases[i].value);
    }
}

static void test_program(void **state)
{
    struct pw_expr *x = parsed("a = 2 * 3; b = d * a; bias = b + d * 6 # a comment\n");
    struct pw_str text = {0};
    (void)state;
    assert_int_equal(pw_expr_n_nodes(x), 6); /* 2, 3, 6, d, d * 6, their sum: no node is there twice */
    assert_true(pw_expr_has(x, PW_STAGE_BIAS) && !pw_expr_has(x, PW_STAGE_MASK));
    assert_true(pw_expr_reads(x, PW_STAGE_BIAS, PW_VAR_DISTANCE));
    assert_false(pw_expr_reads(x, PW_STAGE_BIAS, PW_VAR_I) || pw_expr_learns(x, PW_STAGE_BIAS));
    pw_expr_print(x, &text);
    assert_string_equal(text.s, "a = 2 * 3; b = d * a; bias = b + d * 6");
    pw_str_fini(&text);
    pw_expr_free(x);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"bias = lgo(d)", "column 8: nothing has the name 'lgo'; did you mean 'log'?"},
        {"bias = -slope(h) * d", "column 9: nothing has the name 'slope'; did you mean 'slopes()[h]'?"},
        {"bias = -learn(0.3) * d",
         "column 9: 'learn' is a statement: write 'a = learn(...);' before, and 'a' here"},
        {"bias = d * option",
         "column 12: 'option' is a statement: write 'a = option(...);' before, and 'a' here"},
        {"bias = lo", "column 8: nothing has the name 'lo'; did you mean 'log'?"},
        {"bias = negative(d)", "column 8: nothing has the name 'negative'"},
        {"scan = sticks", "column 8: scan is 'stick' or 'context(64)'"},
        {"scan = context", "column 15: '(' is missing after context"},
        {"scan = context(1)", "column 16: the number of contextual positions is a whole number of 2..1024"},
        {"scan = context(3", "column 17: ')' is missing after the number of positions"},
        {"scan = stick; scan = context(3)", "column 15: 'scan' is defined twice"},
        {"bias = q * d; q = 3", "column 8: nothing has the name 'q'"},
        {"bias = m * d; m = 3",
         "column 8: 'm' is the number of a function of a mix, which only 'mix' can read"},
        {"mix = m * d", "column 1: a mix needs the number of its functions: 'mixes = 4; mix = ...'"},
        {"bias = d; mixes = 4", "column 20: nothing uses 'mixes': there is no mix"},
        {"mixes = 2; mix = m * d; mixes = 2", "column 25: 'mixes' is defined twice"},
        {"mixes = 65; mix = m * d", "column 9: the number of functions of a mix is a whole number of 1..64"},
        {"mixes = d; mix = m * d", "column 9: the number of functions of a mix is a whole number of 1..64"},
        {"T = learn(1, 4) per key; mixes = 2; mix = T[d]",
         "column 21: 'per head', 'per channel', 'per pair' or 'per mix', 'per layer', or two as in 'per "
         "head, "
         "layer'"},
        {"bias = (d + 1", "column 14: ')' is missing to close the bracket"},
        {"bias = d d", "column 10: ';' or the end was expected, not 'd'"},
        {"bias = ", "column 8: the expression is not complete"},
        {"", "column 1: the formula defines nothing: one of position, embed, angle, gain, bias, scale, "
             "score, mask, gate, mix, scan"},
        {"a = learn(1); bias = d", "column 1: nothing uses the parameter 'a'"},
        {"h = 3; bias = d", "column 1: 'h' has a meaning in formulas; choose another name"},
        {"a = 3; a = 4; bias = d", "column 8: 'a' is defined twice"},
        {"bias = d; bias = d", "column 11: 'bias' is defined twice"},
        {"T = learn(0, 4); bias = T",
         "column 25: 'T' is a table: 'T[n]' is an entry, 'T(x)' lies between entries"},
        {"T = learn(0, 1000000000); bias = T[d]",
         "column 14: the size of a table is a whole number of 2..4096"},
        {"a = learn(d); bias = a", "column 11: the initial value is a number or normal(deviation)"},
        {"bias = s", "column 8: 's' is the finished score, which only 'score' can read"},
        {"angle = d * p", "column 9: angle has no 'd': it is of one token"},
        {"bias = list(1, 2)", "column 18: '[' is missing after list(...)"},
        {"bias = list()[d]", "column 13: a number, a name or '(' was expected, not ')'"},
        {"bias = list(1, 2)[d", "column 20: ']' is missing after the entry's number"},
        {"list = 3; bias = d", "column 1: 'list' has a meaning in formulas; choose another name"},
        {"bias = max(1)", "column 8: max takes 2 arguments"},
        {"bias = d $ 2", "column 10: '$' has no meaning in a formula"},
        {"bias = bucket(d, d, 128)",
         "column 8: bucket(d, buckets, distance): 2..128 buckets, a distance from buckets to 65536"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_expr *x;
        struct pw_err err = {0};
        assert_int_equal(pw_expr_parse(&x, cases[i].text, NULL, &err), PW_EUSER);
        assert_string_equal(err.msg, cases[i].message);
        assert_null(x);
    }
    char *deep = malloc(1000001);
    struct pw_expr *x;
    struct pw_err err = {0};
    memset(deep, '(', 1000000);
    deep[1000000] = '\0';
    assert_int_equal(pw_expr_parse(&x, deep, NULL, &err), PW_EUSER);
    memcpy(deep, "bias = ", 7);
    deep[3000] = '\0';
    assert_int_equal(pw_expr_parse(&x, deep, NULL, &err), PW_EUSER);
    assert_string_equal(err.msg, "column 40: more than 64 nested brackets and operators");
    free(deep);
}

/* ---- random formulas */

static const char *const leaves[] = {"d",   "i",    "h", "a", "b", "T[h]", "T(a * 0.3 + 1.13)",
                                     "1.5", "0.25", "L", "n", NULL};

/* The same for a mix. */
static const char *const mix_leaves[] = {"d",   "m",    "P", "a", "T[d]", "T(P * 0.3 + 1.13)",
                                         "1.5", "0.25", NULL};

enum { N_PARAMS = 4, N_TABLE = 6, LARGEST = 2 /* the parameter with entries */ };

/* Compares the gradient of a stage with differences. Returns the number of comparisons. */
static int compare_gradient(const struct pw_expr *x, enum pw_stage stage, double value[N_PARAMS][N_TABLE],
                            const char *text)
{
    static double regs[PW_EXPR_NODES], adjoint[PW_EXPR_NODES];
    double vars[PW_VARS] = {
        [PW_VAR_I] = 7,        [PW_VAR_J] = 5,    [PW_VAR_DISTANCE] = 2, [PW_VAR_N] = 9,
        [PW_VAR_TRAINED] = 16, [PW_VAR_HEAD] = 1, [PW_VAR_HEADS] = 4,    [PW_VAR_MIX] = 2};
    double d[N_PARAMS][N_TABLE] = {{0}}, *grads[N_PARAMS];
    const double *params[N_PARAMS];
    int compared = 0;
    for (int k = 0; k < N_PARAMS; k++) {
        params[k] = value[k];
        grads[k] = d[k];
    }
    double y = pw_expr_eval(x, stage, vars, params, regs);
    assert_true(isfinite(y));
    pw_expr_gradient(x, stage, vars, params, regs, 1, grads, adjoint);
    for (int k = 0; k < N_PARAMS; k++)
        for (int e = 0; e < (k == LARGEST ? N_TABLE : 1); e++) {
            double was = value[k][e], step = 1e-5;
            value[k][e] = was + step;
            double up = pw_expr_eval(x, stage, vars, params, regs);
            value[k][e] = was - step;
            double down = pw_expr_eval(x, stage, vars, params, regs), difference = (up - down) / (2 * step);
            value[k][e] = was;
            double size = fabs(d[k][e]) + fabs(y) + 1;
            if (!(fabs(difference - d[k][e]) < 1e-5 * size)) /* a cubic term of a steep formula */
                fail_msg("%s: %s, parameter %d[%d]: gradient %.9g, difference %.9g", text,
                         pw_stage_names[stage], k, e, d[k][e], difference);
            compared++;
        }
    return compared;
}

static void test_random(void **state)
{
    struct ref_maker m = {0};
    int compared = 0;
    (void)state;
    pw_rng_init(&m.rng, 7, PW_STREAM_INIT, 2);
    for (int round = 0; round < 10000; round++) {
        pw_str_clear(&m.out);
        pw_str_add(&m.out, "a = learn(0.5) per head; b = learn(-0.3);T = learn(normal(0.1), 6) per "
                           "head; P=learn(0.4) per mix, layer\nbias=a * b * T[0] +");
        m.leaves = leaves;
        ref_add_expression(&m, 1 + (int)ref_any(&m, 5));
        pw_str_add(&m.out, "%s; mixes=3 ;mix = P*m+",
                   (const char *const[]){"", ";scan=stick", "\n scan =context( 9)"}[round % 3]);
        m.leaves = mix_leaves;
        ref_add_expression(&m, 1 + (int)ref_any(&m, 3));
        struct pw_expr *x = parsed(m.out.s), *again;
        struct pw_str text = {0}, twice = {0};
        pw_expr_print(x, &text);
        again = parsed(text.s);
        pw_expr_print(again, &twice);
        assert_true(pw_expr_same(x, again));
        assert_string_equal(text.s, twice.s);
        double value[N_PARAMS][N_TABLE];
        for (int k = 0; k < N_PARAMS; k++)
            for (int e = 0; e < N_TABLE; e++)
                value[k][e] = 0.01 * (double)ref_any(&m, 100) - 0.5;
        compared += compare_gradient(x, PW_STAGE_BIAS, value, text.s);
        compared += compare_gradient(x, PW_STAGE_MIX, value, text.s);
        pw_str_fini(&text);
        pw_str_fini(&twice);
        pw_expr_free(again);
        pw_expr_free(x);
    }
    assert_true(compared == 2 * 10000 * (N_PARAMS - 1 + N_TABLE));
    pw_str_fini(&m.out);
}

/* Formulas with a few bytes changed: parsed, or refused with one line that names a column inside of the text.
 */
static void test_malformed(void **state)
{
    static const char letters[] = "()[]+-*/%^,;=<>?:!&|.abdhijknTL0123456789 \n#\"$\xc3\xa4";
    struct ref_maker m = {.leaves = leaves};
    int refused = 0;
    (void)state;
    pw_rng_init(&m.rng, 7, PW_STREAM_INIT, 3);
    while (refused < 10000) {
        struct pw_expr *x;
        struct pw_err err = {0};
        int at;
        pw_str_clear(&m.out);
        pw_str_add(
            &m.out,
            "a = learn(0.5) per head; b = learn(-0.3); T = learn(normal(0.1), 6); bias = a * b * T[0] + ");
        ref_add_expression(&m, 1 + (int)ref_any(&m, 4));
        pw_str_add(&m.out, "; mixes = 3; mix = b * m * d");
        for (unsigned k = 1 + ref_any(&m, 3); k > 0; k--)
            m.out.s[ref_any(&m, (unsigned)m.out.len)] = letters[ref_any(&m, sizeof letters - 1)];
        if (pw_expr_parse(&x, m.out.s, &at, &err) == PW_OK) {
            pw_expr_free(x);
            continue;
        }
        refused++;
        assert_true(strncmp(err.msg, "column ", 7) == 0 && strchr(err.msg, '\n') == NULL);
        assert_in_range(at, 0, strlen(m.out.s));
    }
    pw_str_fini(&m.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_program),   cmocka_unit_test(test_errors),
        cmocka_unit_test(test_random), cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
