/* test_score.c - tests the function of scores (kernels/score.h): known values, derivatives against
 * differences for every function, and hidden keys. */
#include "kernels/score.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct pw_score_pair pair = {.query = 9, .key = 4, .h = 2};

static float value_at(const struct pw_score *x, float s, float *slope)
{
    return pw_score_value(x, pair, s, slope);
}

/* 30 tanh(s / 30) */
static void test_soft_cap(void **state)
{
    const struct pw_score cap = {.n = 5,
                                 .node = {{.op = PW_SCORE_S},
                                          {.op = PW_SCORE_NUMBER, .value = 30},
                                          {.op = PW_SCORE_CALL, .function = PW_F_DIVIDE, .arg = {0, 1}},
                                          {.op = PW_SCORE_CALL, .function = PW_F_TANH, .arg = {2}},
                                          {.op = PW_SCORE_CALL, .function = PW_F_MULTIPLY, .arg = {1, 3}}}};
    (void)state;
    for (float s = -100; s <= 100; s += 7) {
        float slope, y = value_at(&cap, s, &slope);
        double t = tanh((double)s / 30);
        assert_true(fabs((double)y - 30 * t) < 1e-5);
        assert_true(fabs((double)slope - (1 - t * t)) < 1e-6);
    }
    float slope, hidden = value_at(&cap, -INFINITY, &slope);
    assert_true(isinf(hidden) && hidden < 0 && slope == 0);
}

static void test_pair(void **state)
{
    const struct pw_score x = {.n = 6,
                               .node = {{.op = PW_SCORE_QUERY, .value = 1, .step = 0.5},
                                        {.op = PW_SCORE_KEY, .value = 0, .step = 2},
                                        {.op = PW_SCORE_HEAD},
                                        {.op = PW_SCORE_S},
                                        {.op = PW_SCORE_SELECT, .arg = {2, 0, 1}},
                                        {.op = PW_SCORE_CALL, .function = PW_F_MULTIPLY, .arg = {3, 4}}}};
    float slope;
    (void)state;
    assert_true(value_at(&x, 2, &slope) == 11 && slope == 5.5f); /* head 2: 1 + 9/2 */
    assert_true(pw_score_value(&x, (struct pw_score_pair){.query = 9, .key = 4}, 2, &slope) == 16 &&
                slope == 8);
}

/* f(s + 2, 1.5, 3), whose arguments are away from kinks and poles. */
static void test_derivatives(void **state)
{
    struct pw_score x = {.n = 6,
                         .node = {{.op = PW_SCORE_S},
                                  {.op = PW_SCORE_NUMBER, .value = 2},
                                  {.op = PW_SCORE_CALL, .function = PW_F_ADD, .arg = {0, 1}},
                                  {.op = PW_SCORE_NUMBER, .value = 1.5},
                                  {.op = PW_SCORE_NUMBER, .value = 3},
                                  {.op = PW_SCORE_CALL, .arg = {2, 3, 4}}}};
    int smooth = 0;
    (void)state;
    for (int f = 0; f < PW_F_COUNT; f++) {
        if (f == PW_F_BUCKET || f == PW_F_SLOPE)
            continue;
        x.node[5].function = f;
        float slope, unused, h = 1.0f / 64, s = 0.27f;
        value_at(&x, s, &slope);
        double by =
            ((double)value_at(&x, s + h, &unused) - (double)value_at(&x, s - h, &unused)) / (2 * (double)h);
        if (!(fabs(by - (double)slope) < 1e-3 * (1 + fabs(by))))
            fail_msg("function %d: the derivative is %g, differences give %g", f, (double)slope, by);
        smooth += slope != 0;
    }
    assert_true(smooth >= 20);
}

/* f(b + 2, s + 2, 3) along the second of two learned numbers, b. */
static void test_learned(void **state)
{
    float learned[] = {100, 0.27f};
    struct pw_score_pair at = pair;
    struct pw_score x = {.n = 7,
                         .node = {{.op = PW_SCORE_LEARNED, .function = 1},
                                  {.op = PW_SCORE_NUMBER, .value = 2},
                                  {.op = PW_SCORE_CALL, .function = PW_F_ADD, .arg = {0, 1}},
                                  {.op = PW_SCORE_S},
                                  {.op = PW_SCORE_NUMBER, .value = 3},
                                  {.op = PW_SCORE_CALL, .function = PW_F_ADD, .arg = {3, 1}},
                                  {.op = PW_SCORE_CALL, .arg = {2, 5, 4}}}};
    int smooth = 0;
    (void)state;
    at.learned = learned;
    for (int f = 0; f < PW_F_COUNT; f++) {
        if (f == PW_F_BUCKET || f == PW_F_SLOPE)
            continue;
        x.node[6].function = f;
        float along, other, unused, h = 1.0f / 64, s = -0.5f, here = learned[1];
        float value = pw_score_along(&x, at, s, 1, &along);
        assert_true(pw_score_along(&x, at, s, 0, &other) == value && other == 0);
        assert_true(pw_score_value(&x, at, s, &unused) == value);
        learned[1] = here + h;
        double up = (double)pw_score_value(&x, at, s, &unused);
        learned[1] = here - h;
        double by = (up - (double)pw_score_value(&x, at, s, &unused)) / (2 * (double)h);
        learned[1] = here;
        if (!(fabs(by - (double)along) < 1e-3 * (1 + fabs(by))))
            fail_msg("function %d: the derivative is %g, differences give %g", f, (double)along, by);
        smooth += along != 0;
    }
    assert_true(smooth >= 20);
    float slope, hidden = pw_score_along(&x, at, -INFINITY, 1, &slope);
    assert_true(isinf(hidden) && hidden < 0 && slope == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soft_cap),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
