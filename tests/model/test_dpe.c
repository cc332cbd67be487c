/* test_dpe.c - tests encodings whose rows depend on the length of the sequence (Qiu et al. 2021): golden
 * rows, relations between the definitions, and that each sequence of a batch uses its own length. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "ref_toy.h"

enum { C = 8, MOST = 20, V = 7 };

static struct toy toy;

/* Writes the rows [l,C] that a sequence of length l gets. */
static void rows(struct pw_model *m, int l, float *out)
{
    struct pw_pe_tables t;
    struct pw_err err = {0};

    if (pw_model_tables(m, l, &t, &err))
        fail_msg("%s", err.msg);
    memcpy(out, t.added, (size_t)l * pw_model_config(m)->width * sizeof *out);
    pw_pe_tables_free(&t);
}

static struct pw_model *model(const char *pe)
{
    return toy_model(&toy, "layers=1 width=8 heads=2 context=20", pe, V, 1);
}

static void rows_of(const char *pe, int l, float *out)
{
    struct pw_model *m = model(pe);

    rows(m, l, out);
    pw_model_destroy(m);
}

static void assert_near(double found, double expected, double tolerance, const char *pe, int pos, int c)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: row %d, column %d is %.9g, not %.9g", pe, pos, c, found, expected);
}

static void test_golden(void **state)
{
    static const struct {
        const char *pe;
        int l, pos;
        double row[C];
    } golden[] = {
        {"rspe",
         10,
         0,
         {0.4121184852417566, -0.9111302618846768, 0.7833269096274834, 0.6216099682706645,
          0.08987854919801105, 0.9959527330119942, 0.008999878500492076, 0.9999595002733743}},
        {"rspe",
         10,
         1,
         {0.9893582466233817, -0.14550003380861354, 0.7173560908995228, 0.6967067093471655,
          0.0799146939691727, 0.9968017063026193, 0.007999914666939733, 0.9999680001706664}},
        {"rspe",
         10,
         5,
         {-0.7568024953079284, -0.6536436208636119, 0.38941834230865047, 0.921060994002885,
          0.03998933418663416, 0.999200106660978, 0.003999989333341867, 0.9999920000106668}},
        {"rspe", 10, 9, {0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0}},
        {"rspe",
         20,
         0,
         {0.14987720966295234, 0.9887046181866692, 0.9463000876874146, -0.3232895668635034,
          0.1888588949765006, 0.9820042351172704, 0.018998856853967315, 0.9998195054299764}},
        {"rspe",
         20,
         1,
         {-0.7509872467716763, 0.6603167082440802, 0.9738476308781954, -0.22720209469308691,
          0.17902957342582418, 0.9838436927881214, 0.01799902801574628, 0.999838004373953}},
        {"rspe",
         20,
         10,
         {0.4121184852417566, -0.9111302618846768, 0.7833269096274834, 0.6216099682706645,
          0.08987854919801105, 0.9959527330119942, 0.008999878500492076, 0.9999595002733743}},
        {"rspe", 20, 19, {0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0}},
        {"dpe",
         10,
         0,
         {0.0, 1.0, 0.0, 1.0, 0.4121184852417566, -0.9111302618846768, 0.08987854919801105,
          0.9959527330119942}},
        {"dpe",
         10,
         1,
         {0.8414709848078965, 0.5403023058681397, 0.009999833334166664, 0.9999500004166654,
          0.9893582466233817, -0.14550003380861354, 0.0799146939691727, 0.9968017063026193}},
        {"dpe",
         10,
         5,
         {-0.9589242746631386, 0.2836621854632263, 0.04997916927067833, 0.9987502603949663,
          -0.7568024953079284, -0.6536436208636119, 0.03998933418663416, 0.999200106660978}},
        {"dpe",
         10,
         9,
         {0.4121184852417566, -0.9111302618846768, 0.08987854919801105, 0.9959527330119942, 0.0, 1.0, 0.0,
          1.0}},
        {"dpe",
         20,
         0,
         {0.0, 1.0, 0.0, 1.0, 0.14987720966295234, 0.9887046181866692, 0.1888588949765006,
          0.9820042351172704}},
        {"dpe",
         20,
         1,
         {0.8414709848078965, 0.5403023058681397, 0.009999833334166664, 0.9999500004166654,
          -0.7509872467716763, 0.6603167082440802, 0.17902957342582418, 0.9838436927881214}},
        {"dpe",
         20,
         10,
         {-0.5440211108893698, -0.8390715290764524, 0.09983341664682817, 0.9950041652780256,
          0.4121184852417566, -0.9111302618846768, 0.08987854919801105, 0.9959527330119942}},
        {"dpe",
         20,
         19,
         {0.14987720966295234, 0.9887046181866692, 0.1888588949765006, 0.9820042351172704, 0.0, 1.0, 0.0,
          1.0}},
        {"aspe",
         10,
         0,
         {-0.9111302618846768, 1.4121184852417565, 0.6216099682706645, 1.7833269096274833, 0.9959527330119942,
          1.089878549198011, 0.9999595002733743, 1.008999878500492}},
    };
    float x[MOST * C];

    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        rows_of(golden[i].pe, golden[i].l, x);
        for (int c = 0; c < C; c++)
            assert_near(x[golden[i].pos * C + c], golden[i].row[c], 2.4e-7, golden[i].pe, golden[i].pos, c);
    }
}

/* RSPE is SPE in reverse order. Reversing the rows of ASPE swaps the sine and cosine of each pair. */
static void test_reversed(void **state)
{
    float spe[MOST * C], rspe[MOST * C], aspe[MOST * C];

    (void)state;
    for (int l = 1; l <= MOST; l++) {
        rows_of("sinusoidal layout=split base=100", l, spe);
        rows_of("rspe layout=split base=100", l, rspe);
        for (int pos = 0; pos < l; pos++)
            assert_memory_equal(spe + pos * C, rspe + (l - 1 - pos) * C, C * sizeof *spe);
        rows_of("aspe", l, aspe);
        for (int pos = 0; pos < l; pos++)
            for (int c = 0; c < C; c++)
                assert_true(aspe[pos * C + c] == aspe[(l - 1 - pos) * C + (c ^ 1)]);
    }
}

/* Each pair of ASPE is R [sin(w pos + phi), cos(w pos + phi)], R = 2 cos(pi/4 - wL/2), phi = pi/4 - wL/2, L =
 * l - 1. The golden R and phi are those of l = 10. */
static void test_amplitude_and_phase(void **state)
{
    static const double R10[] = {-1.6805466284764352, 1.888558661851669, 1.4764000468694192,
                                 1.4205631830372716},
                        phi10[] = {-3.7146018366025517, 0.3353981633974483, 0.7403981633974482,
                                   0.7808981633974483};
    float x[MOST * C];

    (void)state;
    for (int l = 1; l <= MOST; l++) {
        rows_of("aspe", l, x);
        for (int i = 0; i < C / 2; i++) {
            double w = pow(10000, -2.0 * i / C), phi = M_PI / 4 - w * (l - 1) / 2, R = 2 * cos(phi);
            if (l == 10) {
                assert_near(R, R10[i], 1e-12, "R", l, i);
                assert_near(phi, phi10[i], 1e-12, "phi", l, i);
            }
            for (int pos = 0; pos < l; pos++) {
                assert_near(x[pos * C + 2 * i], R * sin(w * pos + phi), 3e-7, "aspe", pos, 2 * i);
                assert_near(x[pos * C + 2 * i + 1], R * cos(w * pos + phi), 3e-7, "aspe", pos, 2 * i + 1);
            }
        }
    }
}

/* Returns true if columns first .. first+3 of two lengths are equal at every position, counted from the front
 * or from the end. */
static bool same(const float *a, int p, const float *b, int q, int first, bool back)
{
    for (int i = 0; i < p; i++)
        if (memcmp(a + (back ? p - 1 - i : i) * C + first, b + (back ? q - 1 - i : i) * C + first,
                   C / 2 * sizeof *a) != 0)
            return false;
    return true;
}

/* Figures 2 and 6: the halves that lengths 10 and 20 share, bit by bit. */
static void test_shared_halves(void **state)
{
    static const struct {
        const char *pe;
        bool front[2], back[2]; /* left half, right half */
    } cases[] = {
        {"sinusoidal", {true, true}, {false, false}}, {"learned", {true, true}, {false, false}},
        {"rspe", {false, false}, {true, true}},       {"learned_reversed", {false, false}, {true, true}},
        {"aspe", {false, false}, {false, false}},     {"2dspe", {true, false}, {false, false}},
        {"dpe", {true, false}, {false, true}},        {"ldpe", {true, false}, {false, true}},
    };
    float a[10 * C], b[20 * C];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rows_of(cases[i].pe, 10, a);
        rows_of(cases[i].pe, 20, b);
        for (int half = 0; half < 2; half++) {
            assert_int_equal(same(a, 10, b, 20, half * C / 2, false), cases[i].front[half]);
            assert_int_equal(same(a, 10, b, 20, half * C / 2, true), cases[i].back[half]);
        }
    }
}

/* The right half of 2DSPE (Eq. 24) is one row, for l and not for l - 1. */
static void test_length(void **state)
{
    float x[MOST * C];

    (void)state;
    for (int l = 1; l <= MOST; l++) {
        rows_of("2dspe", l, x);
        for (int pos = 0; pos < l; pos++)
            for (int c = 0; c < C / 2; c++) {
                double w = pow(10000, -4.0 * (c / 2) / C);
                assert_near(x[pos * C + c], c % 2 ? cos(pos * w) : sin(pos * w), 1e-7, "2dspe", pos, c);
                assert_near(x[pos * C + C / 2 + c], c % 2 ? cos(l * w) : sin(l * w), 1e-7, "2dspe", pos, c);
            }
    }
}

/* The rows of pe.table; ldpe's second table follows its first. */
static void test_learned(void **state)
{
    static const char *const pes[] = {"ldpe", "learned_reversed"};

    (void)state;
    for (int e = 0; e < 2; e++) {
        struct pw_model *m = model(pes[e]);
        int n, last;
        const struct pw_param *p = pw_model_params(m, &last) + last - 1;
        float *table, x[MOST * C];
        assert_string_equal(p->name, "pe.table");
        assert_true(p->pe && p->decay && p->init_std == 1);
        assert_int_equal(p->rows, e == 0 ? 40 : 20);
        assert_int_equal(p->cols, e == 0 ? 4 : 8);
        n = p->rows * p->cols;
        table = malloc((size_t)n * sizeof *table);
        assert_non_null(table);
        pw_model_read(m, table, p->offset, (size_t)n);
        for (int l = 1; l <= MOST; l += 7) {
            rows(m, l, x);
            for (int pos = 0; pos < l; pos++)
                for (int c = 0; c < C; c++) {
                    int back = l - 1 - pos;
                    float ldpe = c < 4 ? table[pos * 4 + c] : table[(20 + back) * 4 + c - 4];
                    assert_true(x[pos * C + c] == (e == 0 ? ldpe : table[back * C + c]));
                }
        }
        free(table);
        pw_model_destroy(m);
    }
}

/* pw_pe_uses_length must be true exactly for the encodings whose rows depend on the length. */
static void test_uses_length(void **state)
{
    (void)state;
    for (int e = 0; pw_pes[e] != NULL; e++) {
        const char *name = pw_pes[e]->name;
        bool added = pw_pes[e]->uses & PW_PE_ADDED, differs = false;
        float a[10 * C], b[20 * C];
        assert_int_equal(added, pw_pe_adds(pw_pes[e]) > 0);
        if (added) {
            rows_of(name, 10, a);
            rows_of(name, 20, b);
            differs = memcmp(a, b, sizeof a) != 0;
        }
        assert_int_equal(pw_pe_uses_length(pw_pes[e]), differs);
    }
}

/* Clipped distances, and keys after the query without the causal mask. */
static void test_clipped(void **state)
{
    struct pw_config cfg = toy_config("causal=off", V);
    struct pw_pe_use_opts pe = toy_pe("clipped distance=3", &cfg);
    static const int index[] = {6, 6, 5, 4, 0, 1, 2, 3, 3};

    (void)state;
    for (int d = -4; d <= 4; d++)
        assert_int_equal(pe.pe->index(pe.o.bytes, &cfg, d), index[d + 4]);
    assert_int_equal(pe.pe->param_rows(pe.o.bytes, &cfg), 7);
    cfg.causal = true;
    assert_int_equal(pe.pe->param_rows(pe.o.bytes, &cfg), 4);
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
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_reversed),
        cmocka_unit_test(test_amplitude_and_phase),
        cmocka_unit_test(test_shared_halves),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_learned),
        cmocka_unit_test(test_uses_length),
        cmocka_unit_test(test_clipped),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
