/* test_rank.c - tests the probe rank. A uniform head must have one component, an added table about as many as
 * it has columns, and tokens alone none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

enum { SHARE, FIRST, RANK, UNTRAINED_SHARE, UNTRAINED_FIRST, UNTRAINED_RANK, SHUFFLED };
enum { UNIFORM, ATTENTION, STREAM };

static void test_ranks(void **state)
{
    struct pw_model *none = ref_probe_model("layers=1", "none", 1),
                    *learned = ref_probe_model("layers=1", "learned", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "rank", "length=24", &none, &learned, 1);
    const struct pw_block *b = ref_block(&f, "share");
    assert_int_equal(b->rows, 3);
    assert_true(pw_finding_cell(&f, b, UNIFORM, FIRST) > 0.98 && pw_finding_cell(&f, b, UNIFORM, RANK) < 1.1);
    assert_true(pw_finding_cell(&f, b, ATTENTION, FIRST) > 0.9); /* content bends the line slightly */
    assert_true(pw_finding_cell(&f, b, STREAM, SHARE) > 0 && pw_finding_cell(&f, b, STREAM, SHARE) < 0.2);
    /* A table N(0,1) and tokens N(0,1): about half of the stream's variance, in all directions. */
    assert_true(pw_finding_cell(&f, b, STREAM, UNTRAINED_SHARE) > 0.3);
    assert_true(pw_finding_cell(&f, b, STREAM, UNTRAINED_RANK) > 8);
    for (int v = ATTENTION; v <= STREAM; v++)
        assert_true(fabs(pw_finding_cell(&f, b, v, SHUFFLED)) < 0.01);
    assert_int_equal(f.n_claims, 1); /* no claim about a single model */
    assert_int_equal(ref_claim(&f, "Su 2024, shortcoming 1")->verdict, PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
    pw_model_destroy(none);
    pw_model_destroy(learned);
}

/* With so few sequences that everything could be chance, only the share may be reported. */
static void test_chance(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "rank", "length=24 samples=8", &m, &m, 1);
    const struct pw_block *b = ref_block(&f, "share");
    for (int v = UNIFORM; v <= STREAM; v++) {
        assert_true(isfinite(pw_finding_cell(&f, b, v, SHARE)));
        assert_true(isnan(pw_finding_cell(&f, b, v, FIRST)) && isnan(pw_finding_cell(&f, b, v, RANK)));
    }
    assert_int_equal(ref_claim(&f, "Su 2024, shortcoming 1")->verdict, PW_CLAIM_INCONCLUSIVE);
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

/* Shares and ranks must stay in their ranges for any model, even with few sequences and mostly noise. */
static void test_bounds(void **state)
{
    static const char *const samples[] = {"16", "64", "512"}, *const pes[] = {"none", "learned", "rotary"};
    int told = 0;
    (void)state;
    for (int i = 0; i < 36; i++) {
        char opts[64];
        struct pw_model *m = ref_probe_model("layers=2", pes[i % 3], (uint64_t)i + 1);
        struct pw_finding f;
        snprintf(opts, sizeof opts, "length=%d samples=%s", 8 + i, samples[i / 3 % 3]);
        ref_probe(&f, "rank", opts, &m, &m, 1);
        const struct pw_block *b = ref_block(&f, "share");
        for (int r = 0; r < b->rows; r++)
            for (int c = SHARE; c <= SHUFFLED; c++) {
                double v = pw_finding_cell(&f, b, r, c);
                if (isnan(v))
                    continue;
                if (c == RANK || c == UNTRAINED_RANK)
                    assert_true(v >= 1);
                else
                    assert_true(v <= 1 && (v > 0 || c == SHARE || c == UNTRAINED_SHARE || c == SHUFFLED));
                told++;
            }
        pw_finding_fini(&f);
        pw_model_destroy(m);
    }
    assert_true(told > 300);
}

static void test_refused(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "rank", "samples=7", &m, &m, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe rank: samples=7: allowed are even numbers");
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_chance),
                                       cmocka_unit_test(test_bounds), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
