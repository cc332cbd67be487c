/* test_awareness.c - tests the probe awareness against the theorems of Qiu et al. 2021, and against an
 * independent computation in double precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static double cell(const struct pw_finding *f, const char *title, const char *pe, int col)
{
    const struct pw_block *b = ref_block(f, title);
    for (int i = 0; i < b->rows; i++)
        if (strcmp(pw_finding_row_name(f, b, i), pe) == 0)
            return pw_finding_cell(f, b, i, col);
    fail_msg("no row '%s'", pe);
    return 0;
}

static void test_rows(void **state)
{
    static const struct {
        const char *pe;
        int forward, backward; /* of 64 columns */
    } want[] = {{"sinusoidal", 64, 0}, {"rspe", 0, 64},    {"aspe", 0, 0},   {"2dspe", 32, 0},
                {"dpe", 32, 32},       {"learned", 64, 0}, {"ldpe", 32, 32}, {"learned_reversed", 0, 64},
                {"none", 0, 0},        {"alibi", 0, 0},    {"t5", 0, 0},     {"rotary", 0, 0}};
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "awareness", "width=64", NULL, NULL, 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal((int)cell(&f, "rows", want[i].pe, 3), want[i].forward);
        assert_int_equal((int)cell(&f, "rows", want[i].pe, 4), want[i].backward);
        assert_int_equal((int)cell(&f, "rows", want[i].pe, 0), want[i].forward > 0);
        assert_int_equal((int)cell(&f, "rows", want[i].pe, 1), want[i].backward > 0);
    }
    assert_true(fabs(cell(&f, "rows", "sinusoidal", 5) - 1.472) < 5e-4);
    assert_true(fabs(cell(&f, "rows", "dpe", 5) - 1.172) < 5e-4);
    assert_int_equal((int)cell(&f, "rows", "2dspe", 2), 32); /* the other half is constant */
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
}

/* Properties 3.1 and 3.2: one f for all lengths. They must hold for every aware encoding and for no other. */
static void test_properties(void **state)
{
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "awareness", "width=64", NULL, NULL, 0);
    for (int i = 0; i < 2; i++) {
        const struct pw_claim *c =
            ref_claim(&f, i == 0 ? "Qiu et al. 2021, Property 3.1" : "Qiu et al. 2021, Property 3.2");
        int held, aware, pairs, applies, others;
        assert_int_equal(c->verdict, PW_CLAIM_REPRODUCED);
        assert_int_equal(sscanf(c->found,
                                "f taken from length 20: correct on every pair for %d of %d aware encodings "
                                "(%d pairs, lengths "
                                "10 to 19); for the other encodings it applies to %d of %d pairs",
                                &held, &aware, &pairs, &applies, &others),
                         5);
        /* sinusoidal, 2dspe, dpe, learned, ldpe; from the end: rspe, dpe, ldpe, learned_reversed */
        assert_int_equal(aware, i == 0 ? 5 : 4);
        assert_int_equal(held, aware);
        assert_int_equal(pairs, aware * 2185); /* 10^2 + ... + 19^2 */
        assert_int_equal(applies, 0);
        assert_true(others >= 2185);
    }
    pw_finding_fini(&f);
}

static void test_scores(void **state)
{
    static const char *const both[] = {"none",    "alibi", "rotary",           "t5",
                                       "clipped", "shaw",  "fire threshold=20"};
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "awareness", "width=64", NULL, NULL, 0);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        for (int k = 0; k < 3; k++)
            assert_true(cell(&f, "scores", both[i], k) < 1e-6);
    assert_true(cell(&f, "scores", "sinusoidal", 0) < 1e-6 && cell(&f, "scores", "sinusoidal", 1) > 1e-2);
    assert_true(cell(&f, "scores", "rspe", 1) < 1e-6 && cell(&f, "scores", "rspe", 0) > 1e-2);
    assert_true(cell(&f, "scores", "dpe", 0) > 1e-2 && cell(&f, "scores", "dpe", 1) > 1e-2);
    /* Beyond its threshold (by default 4 here) FIRE depends on the query's position. A causal model doesn't
     * need the length for this, so scores from the front don't change. */
    assert_true(cell(&f, "scores", "fire", 0) < 1e-6);
    assert_true(cell(&f, "scores", "fire", 1) > 1e-2 && cell(&f, "scores", "fire", 2) > 1e-2);
    assert_non_null(strstr(ref_claim(&f, "Qiu et al. 2021, Corollary 3.5")->found,
                           "6 of 6 add no rows, but the scores of 6 "));
    pw_finding_fini(&f);
}

static void test_decoding(void **state)
{
    static const char *const both[] = {"aspe", "2dspe", "dpe"};
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "awareness", "width=64", NULL, NULL, 0);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        for (int k = 0; k < 2; k++)
            assert_true(cell(&f, "R^2", both[i], k) > 0.99);
    assert_true(cell(&f, "R^2", "sinusoidal", 0) > 0.99);
    assert_true(fabs(cell(&f, "R^2", "sinusoidal", 1) - 0.58) < 0.02);
    assert_true(fabs(cell(&f, "R^2", "rspe", 0) - 0.58) < 0.02);
    assert_true(cell(&f, "R^2", "none", 0) < 0);
    pw_finding_fini(&f);
}

static void test_refused(void **state)
{
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "awareness", "width=40", NULL, NULL, 0, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "allowed are multiples of 16"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_properties),
                                       cmocka_unit_test(test_scores), cmocka_unit_test(test_decoding),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
