/* test_maths.c - tests the elementary functions against the C library in long double, at special values, and
 * bit by bit.
 *
 * The header guarantees a relative error below 2e-15. The measured error is below one unit in the last place
 * (2.2e-16). The test asserts that, to detect a wrong last digit of a coefficient. */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/maths.h"
#include "base/rng.h"

/* Where long double is no wider than double, the reference itself is half a unit off. */
#define LIMIT (LDBL_MANT_DIG > DBL_MANT_DIG ? 2.3e-16 : 4.5e-16)

enum { N = 20000 };

static double worst(double seen, double got, long double want)
{
    double error = (double)fabsl(((long double)got - want) / want);

    return error > seen || isnan(error) ? error : seen;
}

#define assert_accurate(error)                                                                               \
    do {                                                                                                     \
        print_message("%s: largest relative error %.3g\n", __func__, error);                                 \
        assert_true((error) < LIMIT);                                                                        \
    } while (0)

static double between(struct pw_rng *r, double lo, double hi)
{
    double u = (pw_rng_u32(r) + pw_rng_unit(r)) * 0x1p-32; /* 64 bits, so that all bits of a double vary */

    return lo + (hi - lo) * u;
}

static void exp_accuracy(void **state)
{
    (void)state;
    struct pw_rng r;
    double error = 0;

    pw_rng_init(&r, 1, PW_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        double x = between(&r, -708, 709.7), y = between(&r, -1, 1), z = y * 1e-9;
        error = worst(error, pw_exp(x), expl((long double)x));
        error = worst(error, pw_exp(y), expl((long double)y));
        error = worst(error, pw_exp(z), expl((long double)z));
    }
    assert_accurate(error);
}

static void log_accuracy(void **state)
{
    (void)state;
    struct pw_rng r;
    double error = 0;

    pw_rng_init(&r, 2, PW_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        double x = ldexp(between(&r, 1, 2), (int)pw_rng_below(&r, 2090) - 1070), y = between(&r, 0.5, 2);
        double z = 1 + between(&r, -1, 1) * 1e-7;
        error = worst(error, pw_log(x), logl((long double)x));
        error = worst(error, pw_log2(x), log2l((long double)x));
        if (y != 1)
            error = worst(error, pw_log(y), logl((long double)y));
        if (z != 1)
            error = worst(error, pw_log(z), logl((long double)z));
    }
    assert_accurate(error);
}

static void sin_cos_accuracy(void **state)
{
    (void)state;
    struct pw_rng r;
    double error = 0;

    pw_rng_init(&r, 3, PW_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        double x = between(&r, -1e6, 1e6), y = between(&r, -7, 7);
        error = worst(error, pw_sin(x), sinl((long double)x));
        error = worst(error, pw_cos(x), cosl((long double)x));
        error = worst(error, pw_sin(y), sinl((long double)y));
        error = worst(error, pw_cos(y), cosl((long double)y));
    }
    assert_accurate(error);
}

/* The doubles nearest to the zeros, where the reduction loses most precision. The long double reference has
 * its own pi; only its absolute error is small. */
static void zeros_of_sin_and_cos(void **state)
{
    (void)state;
    double error = 0;

    for (int n = 1; n < 630000; n += n < 1000 ? 1 : 997) {
        double x = n * 1.57079632679489661923;
        double s = fabs(pw_sin(x) - (double)sinl((long double)x));
        double c = fabs(pw_cos(x) - (double)cosl((long double)x));
        error = s > error ? s : error;
        error = c > error ? c : error;
    }
    assert_accurate(error);
    /* sin(pi) and cos(pi/2) of the doubles equal the remainder of pi: 3.14159265358979323846... to 36 digits
     * minus the double, 1.2246467991473531772e-16. */
    assert_true(fabs(pw_sin(0x1.921fb54442d18p+1) / 1.2246467991473531772e-16 - 1) < LIMIT);
    assert_true(fabs(pw_cos(0x1.921fb54442d18p+0) / 6.1232339957367658861e-17 - 1) < LIMIT);
}

static void pow_accuracy(void **state)
{
    (void)state;
    struct pw_rng r;
    double error = 0;
    int large = 0;

    pw_rng_init(&r, 4, PW_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        double x = ldexp(between(&r, 1, 2), (int)pw_rng_below(&r, 200) - 100);
        double y = between(&r, -10, 10), theta = between(&r, -1, 0), near = 1 + between(&r, -1, 1) * 1e-3;
        double far = between(&r, -7e5, 7e5), got = pw_pow(near, far);
        error = worst(error, pw_pow(x, y), powl((long double)x, (long double)y));
        error = worst(error, pw_pow(10000, theta), powl(10000, (long double)theta));
        if (got > 1e-300 && got < 1e300) { /* y log x is as large as it can be */
            error = worst(error, got, powl((long double)near, (long double)far));
            large++;
        }
    }
    assert_true(large > N / 2);
    assert_accurate(error);
}

static bool same(double a, double b) /* also the sign of 0, and NaN equals NaN */
{
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void special_values(void **state)
{
    (void)state;
    const double inf = INFINITY, nan = NAN, tiny = 0x1p-1074;

    assert_true(same(pw_exp(0), 1) && same(pw_exp(-0.0), 1));
    assert_true(same(pw_exp(inf), inf) && same(pw_exp(-inf), 0) && same(pw_exp(nan), nan));
    assert_true(same(pw_exp(709.79), inf) && isfinite(pw_exp(709.78)) && same(pw_exp(1e300), inf));
    assert_true(same(pw_exp(-745.2), 0) && same(pw_exp(-745.1), tiny) && same(pw_exp(-1e300), 0));
    assert_true(same(pw_exp(-720), 0x0.0000993b4dc95p-1022)); /* subnormal */
    assert_true(same(pw_exp(tiny), 1) && same(pw_exp(1), 0x1.5bf0a8b145769p+1));

    assert_true(same(pw_log(1), 0) && same(pw_log(0), -inf) && same(pw_log(-0.0), -inf));
    assert_true(same(pw_log(-1), nan) && same(pw_log(nan), nan) && same(pw_log(-inf), nan));
    assert_true(same(pw_log(inf), inf) && same(pw_log(2), 0x1.62e42fefa39efp-1));
    assert_true(same(pw_log(tiny), -1074 * 0x1.62e42fefa39efp-1) &&
                same(pw_log(DBL_MAX), 0x1.62e42fefa39efp+9));

    assert_true(same(pw_sin(0), 0) && same(pw_sin(-0.0), -0.0) && same(pw_cos(0), 1) &&
                same(pw_cos(-0.0), 1));
    assert_true(same(pw_sin(nan), nan) && same(pw_cos(nan), nan));
    assert_true(same(pw_sin(tiny), tiny) && same(pw_sin(-tiny), -tiny) && same(pw_sin(1e-200), 1e-200));
    assert_true(same(pw_sin(999999.9), -pw_sin(-999999.9)) && same(pw_cos(999999.9), pw_cos(-999999.9)));

    assert_true(same(pw_pow(2, 10), 1024) && same(pw_pow(3, 20), 3486784401));
    assert_true(same(pw_pow(5, 0), 1) && same(pw_pow(1, 1e300), 1) && same(pw_pow(1, inf), 1));
    assert_true(same(pw_pow(nan, 0), 1) && same(pw_pow(nan, 1), nan) && same(pw_pow(2, nan), nan));
    assert_true(same(pw_pow(2, 1024), inf) && same(pw_pow(2, -1075), 0) && same(pw_pow(2, -1074), tiny));
    assert_true(same(pw_pow(10, 400), inf) && same(pw_pow(10, -400), 0) && same(pw_pow(1e300, 1e300), inf));
    assert_true(same(pw_pow(2, inf), inf) && same(pw_pow(2, -inf), 0) && same(pw_pow(0.5, inf), 0));
    assert_true(same(pw_pow(inf, 2), inf) && same(pw_pow(inf, -2), 0) && same(pw_pow(0, 2), 0));
    assert_true(same(pw_pow(0, -2), inf) && same(pw_pow(-2, 2), nan));
}

/* Properties of the exact functions. The series are so exact that rounding rarely breaks them. */
static void shape(void **state)
{
    (void)state;
    struct pw_rng r;

    pw_rng_init(&r, 5, PW_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        double x = between(&r, -100, 100), step = nextafter(x, INFINITY);
        assert_true(pw_exp(x) <= pw_exp(step));
        assert_true(fabs(pw_log(pw_exp(x / 100)) - x / 100) < 3e-16);
        assert_true(fabs(pw_sin(x)) <= 1 && fabs(pw_cos(x)) <= 1);
        assert_true(same(pw_sin(-x), -pw_sin(x)) && same(pw_cos(-x), pw_cos(x)));
    }
}

static uint64_t hash(uint64_t h, double x) /* FNV-1a over the bytes, lowest first */
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    for (int i = 0; i < 64; i += 8)
        h = (h ^ (bits >> i & 0xff)) * 0x100000001b3u;
    return h;
}

/* The bits of these functions must never change with the compiler, the optimisation level, the C library or
 * the processor. A changed constant breaks every recorded session. */
static void golden_bits(void **state)
{
    (void)state;
    struct pw_rng r;
    uint64_t e = 0xcbf29ce484222325u, l = e, s = e, c = e, p = e;

    pw_rng_init(&r, 6, PW_STREAM_TEST, 0);
    for (int i = 0; i < 4000; i++) {
        double x = between(&r, -750, 750), y = between(&r, 0, i % 2 ? 2 : 1e9), z = between(&r, -1e6, 1e6);
        double t = z / (i % 3 ? 1e5 : 1e8), base = between(&r, 0, 1e4), power = between(&r, -3, 3);
        e = hash(hash(e, pw_exp(x)), pw_exp(t));
        l = hash(l, pw_log(y));
        s = hash(hash(s, pw_sin(z)), pw_sin(t));
        c = hash(hash(c, pw_cos(z)), pw_cos(t));
        p = hash(p, pw_pow(base, power));
    }
    print_message("exp %016llx log %016llx sin %016llx cos %016llx pow %016llx\n", (unsigned long long)e,
                  (unsigned long long)l, (unsigned long long)s, (unsigned long long)c, (unsigned long long)p);
    assert_true(e == 0x9a1426299a2ef51au);
    assert_true(l == 0x7d4f6d305a41969eu);
    assert_true(s == 0x6502e0c2a5bd0c1cu);
    assert_true(c == 0xa899880756c9a652u);
    assert_true(p == 0xed3fa5d096ed9ad6u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_accuracy),
        cmocka_unit_test(log_accuracy),
        cmocka_unit_test(sin_cos_accuracy),
        cmocka_unit_test(zeros_of_sin_and_cos),
        cmocka_unit_test(pow_accuracy),
        cmocka_unit_test(special_values),
        cmocka_unit_test(shape),
        cmocka_unit_test(golden_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
