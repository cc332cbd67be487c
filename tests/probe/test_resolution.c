/* test_resolution.c - tests the probe resolution. The limits of the scalar must have values computed
 * independently with Python. The frequency of the most likely n is compared with an independent
 * simulation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void check_steps(const struct pw_finding *f)
{
    static const double relative[] = {0.2928932188134524,    0.18350341907227397,  0.10557280900008414,
                                      0.057190958417936644,  0.029857499854668124, 0.015268072165338098,
                                      0.007722123286332372,  0.003883509816495434, 0.0019474215171114695,
                                      0.0009751343128597822, 0.0004879239129211843};
    const struct pw_block *steps = ref_block(f, "the scalar"), *same = ref_block(f, "first n");
    for (int i = 0; i < 11; i++)
        assert_true(fabs(pw_finding_cell(f, steps, i, 3) - relative[i]) < 1e-12);
    assert_true(pw_finding_cell(f, same, 0, 0) == 111);
    assert_true(pw_finding_cell(f, same, 1, 0) == 660);
    assert_true(pw_finding_cell(f, same, 2, 0) == 6660630);
}

static void check_odds(const struct pw_finding *f, const int n[4], const double right[4])
{
    const struct pw_block *b = ref_block(f, "frequency");
    for (int k = 0; k < 4; k++) {
        assert_true(fabs(pw_finding_y_at(f, b, n[k] - 1, 1, 0) - right[k]) < 1e-3);
        assert_true(fabs(pw_finding_y_at(f, b, n[k] - 1, 0, 0) - right[k]) < 0.08);
    }
}

/* A learned table must be resolved as well at the end as at the start; a shuffled target must not be
 * readable. */
static void check_arm(const struct pw_finding *f)
{
    const struct pw_block *b = ref_block(f, "a readout's means"), *error = ref_block(f, "mean |error|");
    double early = 0, late = 0, right = 0, shuffled = 0;
    assert_int_equal(b->rows, 18);
    assert_int_equal(error->rows, 19);
    for (int i = 0; i < 18; i++) {
        double y = pw_finding_y_at(f, b, i, 0, 0);
        early += i < 9 ? y / 9 : 0;
        late += i < 9 ? 0 : y / 9;
        right += pw_finding_y_at(f, error, i, 0, 0) / 18;
        shuffled += pw_finding_y_at(f, error, i, 2, 0) / 18;
    }
    assert_true(early > 0.5 && late > 0.5 && early < 2 * late && late < 2 * early);
    assert_true(right < 2 && shuffled > 4); /* always predicting the middle gives 4.7 */
}

static void test_learned(void **state)
{
    static const int n[] = {1, 4, 8, 16};
    static const double wide[] = {0.971, 0.524, 0.277, 0.140}, narrow[] = {0.804, 0.277, 0.139, 0.07};
    struct pw_model *m = ref_probe_model("layers=1", "learned", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "resolution", "samples=256 length=20", &m, &m, 1);
    check_steps(&f);
    check_odds(&f, n, wide);
    check_arm(&f);
    assert_int_equal(f.n_claims, 2); /* no claim about an arm with an encoding */
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
    ref_probe(&f, "resolution", "samples=8 length=20 width=16", &m, &m, 1);
    check_odds(&f, n, narrow);
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

static void test_refused(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "resolution", "width=63", &m, &m, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe resolution: width=63: allowed are even numbers");
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_learned), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
