/* test_half.c - tests half precision against its definition, for every value and every tie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <float.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"

/* The definition (IEEE 754-2019, 3.4), in double precision, where every half is exact. It continues past the
 * largest finite value: pattern 0x7c00 reads as 65536, from which rounding to infinity is decided. */
static double half_value(unsigned h)
{
    int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 0x3ff);
    double v = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return h & 0x8000 ? -v : v;
}

static void test_every_half_reads_as_defined(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x10000; h++) {
        float x = pw_from_half((uint16_t)h);
        if ((h & 0x7c00) != 0x7c00) {
            assert_true((double)x == half_value(h));
            assert_int_equal(signbit(x) != 0, h >> 15);
        } else if ((h & 0x3ff) == 0) {
            assert_true(isinf(x) && (x < 0) == (h >> 15));
        } else {
            assert_true(isnan(x));
        }
        assert_int_equal(pw_half(x), h);
    }
}

/* Between neighbours a < b: the middle rounds to the even pattern, and values beside the middle round to
 * their side. */
static void test_ties_go_to_even(void **state)
{
    (void)state;
    for (unsigned a = 0; a < 0x7c00; a++) {
        unsigned b = a + 1, even = a & 1 ? b : a;
        float middle = (float)((half_value(a) + half_value(b)) / 2); /* exact: one bit more than a half has */
        assert_int_equal(pw_half(middle), even);
        assert_int_equal(pw_half(nextafterf(middle, 0)), a);
        assert_int_equal(pw_half(nextafterf(middle, INFINITY)), b);
        assert_int_equal(pw_half(-middle), 0x8000 | even);
        assert_int_equal(pw_half(nextafterf(-middle, -INFINITY)), 0x8000 | b);
    }
}

/* For any float, no half is nearer than the result. */
static void test_nearest(void **state)
{
    (void)state;
    uint32_t u = 1;
    for (int i = 0; i < 200000; i++) {
        u = u * 1664525 + 1013904223;
        float x;
        memcpy(&x, &u, sizeof x);
        unsigned h = pw_half(x), magnitude = h & 0x7fff;
        if (isnan(x)) {
            assert_true(isnan(pw_from_half((uint16_t)h)));
            continue;
        }
        assert_int_equal(h >> 15, signbit(x) != 0);
        double d = fabs(fabs((double)x) - half_value(magnitude));
        if (magnitude < 0x7c00)
            assert_true(d <= fabs(fabs((double)x) - half_value(magnitude + 1)));
        if (magnitude > 0)
            assert_true(d <= fabs(fabs((double)x) - half_value(magnitude - 1)) || fabs(x) > 65520);
    }
    assert_int_equal(pw_half(FLT_MAX), 0x7c00);
    assert_int_equal(pw_half(65504), 0x7bff);
    assert_int_equal(pw_half(-FLT_MIN), 0x8000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_half_reads_as_defined),
        cmocka_unit_test(test_ties_go_to_even),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
