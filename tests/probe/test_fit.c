/* test_fit.c - tests the line fit, ridge regression and eigenvalues against known results. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "probe/fit.h"

static void test_line(void **state)
{
    const double x[] = {0, 1, 2, 3}, y[] = {1, 3, 5, 7}, bent[] = {0, 1, 1, 0}, flat[] = {2, 2, 2, 2};
    (void)state;
    struct pw_fitted_line line = pw_fit_line(x, y, 4);
    assert_true(fabs(line.slope - 2) < 1e-15 && fabs(line.level - 1) < 1e-15 && fabs(line.r2 - 1) < 1e-15);
    line = pw_fit_line(x, bent, 4);
    assert_true(line.slope == 0 && line.level == 0.5 && line.r2 == 0);
    assert_true(isnan(pw_fit_line(x, flat, 4).r2));
}

enum { F = 5, K = 2, ROWS = 60 };

/* Random features. The last one is constant; the one before it is twice the first. Targets are linear. */
static void fill(float x[F], double y[K], int row)
{
    struct pw_rng rng;
    pw_rng_init(&rng, 1, PW_STREAM_PROBE, (uint64_t)row);
    for (int f = 0; f < 3; f++)
        x[f] = (float)pw_rng_unit(&rng) * (f == 1 ? 100 : 1);
    x[3] = 2 * x[0];
    x[4] = 7;
    y[0] = 3 + 2 * (double)x[0] - 0.5 * (double)x[1];
    y[1] = (double)x[2] - 1;
}

static void collect(struct pw_ridge *r)
{
    float x[F];
    double y[K];
    assert_true(pw_ridge_init(r, F, K));
    for (int i = 0; i < ROWS; i++) {
        fill(x, y, i);
        pw_ridge_add(r, x, y);
    }
}

static void test_ridge_exact(void **state)
{
    struct pw_ridge r;
    double w[(F + 1) * K], y[K];
    float x[F];
    (void)state;
    collect(&r);
    pw_ridge_solve(&r, w, 1e-9);
    for (int i = 1000; i < 1020; i++) { /* rows outside the fit */
        fill(x, y, i);
        for (int k = 0; k < K; k++)
            assert_true(fabs(pw_ridge_predict(w, x, F, K, k) - y[k]) < 1e-5);
    }
    assert_true(w[4 * K] == 0 && w[4 * K + 1] == 0); /* a constant feature has weight 0 */
    pw_ridge_fini(&r);
}

/* For one standardised feature the weight is covariance / (1 + lambda). */
static void test_ridge_shrinks(void **state)
{
    struct pw_ridge r;
    double w[2];
    (void)state;
    assert_true(pw_ridge_init(&r, 1, 1));
    for (int i = 0; i < 4; i++) {
        float x = (float)(i % 2 ? 3 : 1);
        double y = i % 2 ? 8 : 4;
        pw_ridge_add(&r, &x, &y);
    }
    pw_ridge_solve(&r, w, 1);
    assert_true(fabs(w[0] - 1) < 1e-12); /* 2 without shrinkage */
    assert_true(fabs(w[1] - 4) < 1e-12);
    pw_ridge_fini(&r);
}

/* A singular system with a solution: the direction (1,1,1) is free. */
static void test_gauge(void **state)
{
    double a[] = {2, 0, 0, -1, 2, 0, -1, -1, 2}, b[] = {3, 0, -3};
    (void)state;
    pw_cholesky_solve(a, b, 3, 1);
    assert_true(fabs(b[0] - b[1] - 1) < 1e-12 && fabs(b[1] - b[2] - 1) < 1e-12);
}

static void test_eigenvalues(void **state)
{
    /* The second difference on n points has the eigenvalues 2 - 2 cos(pi k / (n + 1)). */
    enum { N = 12 };
    double a[N * N] = {0}, values[N], none[4] = {0}, two[2];
    (void)state;
    for (int i = 0; i < N; i++) {
        a[i * N + i] = 2;
        if (i > 0)
            a[i * N + i - 1] = a[(i - 1) * N + i] = -1;
    }
    pw_eigenvalues(values, a, N);
    for (int k = 0; k < N; k++)
        assert_true(fabs(values[N - 1 - k] - (2 - 2 * cos(acos(-1) * (k + 1) / (N + 1)))) < 1e-12);
    pw_eigenvalues(two, none, 2);
    assert_true(two[0] == 0 && two[1] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_line), cmocka_unit_test(test_ridge_exact),
                                       cmocka_unit_test(test_ridge_shrinks), cmocka_unit_test(test_gauge),
                                       cmocka_unit_test(test_eigenvalues)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
