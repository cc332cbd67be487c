/* test_quotient.c - tests division of many numbers by one with fma. It must give the bits of division: for
 * all mantissas, for quotients nearest to the midpoint between two floats, and where remainders underflow. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/ops/ref.h"
#include "tests/ops/ref_quotient.h"

enum { MANTISSAS = 1 << 23, BLOCK = 1 << 16 };

static int skip_where_it_cannot_run(void **state)
{
    (void)state;
    if (!ref_quotients_run())
        print_message("this processor has no AVX-512\n");
    return 0;
}

static void check(const float *x, int n, float by)
{
    int at = ref_quotients_run() ? ref_quotients_differ(x, n, by) : -1;
    if (at >= 0)
        fail_msg("%a / %a is %a", (double)x[at], (double)by, (double)(x[at] / by));
}

/* Maps a significand in [2^23, 2^24) to a number in 0.5 .. 1. */
static float numerator(uint32_t significand)
{
    return ldexpf((float)significand, -24);
}

static void test_all_mantissas(void **state)
{
    static const float by[] = {1.0f,          0x1.000002p0f,  0x1.fffffep0f, 3.0f,
                               7.0f,          10.0f,          1.618034f,     0x1.555556p0f,
                               0x1.aaaaaap2f, 0x1.fffffep23f, 65537.0f / 4,  20.000002f};
    float *x = malloc(BLOCK * sizeof *x);
    (void)state;
    assert_non_null(x);
    for (uint32_t first = MANTISSAS; first < 2 * MANTISSAS; first += BLOCK) {
        for (uint32_t i = 0; i < BLOCK; i++)
            x[i] = numerator(first + i);
        for (size_t k = 0; k < sizeof by / sizeof *by; k++)
            check(x, BLOCK, by[k]);
    }
    free(x);
}

/* Adds to x [n] the significands X with X 2^k = M T + rho or M T - rho, and returns the new n. If 2^j divides
 * T, these are the solutions for T / 2^j and rho / 2^j. Multiplication by 2^-1 modulo an odd T is halving,
 * after T is added to odd values. */
static int near(float *x, int n, uint32_t T, int k, uint32_t rho)
{
    for (; T % 2 == 0; T /= 2, rho /= 2, k--)
        if (rho % 2 != 0)
            return n;
    uint32_t X = rho;
    for (; k > 0; k--)
        X = X % 2 == 0 ? X / 2 : (X + T) / 2;
    for (uint32_t sign = 0; sign < 2; sign++)
        for (uint32_t at = sign ? T - X : X; at < 2 * MANTISSAS; at += T)
            if (at >= MANTISSAS)
                x[n++] = numerator(at);
    return n;
}

/* The uncorrected quotient is off by less than 1.5 units, and the inverse by a relative 2^-24. The value
 * before the final rounding is therefore off by about 1.5 * 2^-24. It can round wrongly only if x / by is
 * this close to the midpoint between two floats; there |X 2^k - M T| is at most 3. The test covers all such
 * cases of all divisors, and some more. */
static void test_nearest_to_the_middle(void **state)
{
    float x[256];
    long met = 0;
    (void)state;
    for (uint32_t T = MANTISSAS; T < 2 * MANTISSAS; T++) {
        int n = 0;
        for (int k = 24; k <= 25; k++)
            for (uint32_t rho = 1; rho <= 4; rho++)
                n = near(x, n, T, k, rho);
        assert_true(n <= 256);
        check(x, n, ldexpf((float)T, -23));
        met += n;
    }
    assert_true(met > MANTISSAS);
}

/* Inputs of a softmax: any exponent, 0, denormal numbers, and rows with NaN. */
static void test_all_sizes(void **state)
{
    uint64_t s = 7;
    float x[256];
    (void)state;
    for (int i = 0; i < 40000; i++) {
        int lowest = -(int)(ref_next(&s) % 150), zeros = (int)(ref_next(&s) % 4);
        for (int k = 0; k < 256; k++)
            x[k] = (int)(ref_next(&s) % 8) < zeros
                       ? 0.0f
                       : ldexpf(numerator(MANTISSAS | (uint32_t)(ref_next(&s) % MANTISSAS)),
                                -(int)(ref_next(&s) % (uint64_t)(1 - lowest)));
        check(x, 256,
              ldexpf((float)(MANTISSAS | (ref_next(&s) % MANTISSAS)), -23 + (int)(ref_next(&s) % 23)));
    }
    check((const float[]){1.0f, NAN, 0.0f, 0.5f}, 4, 3.0f);
    check((const float[]){1.0f, 0.25f, 0.0f, NAN}, 4, NAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_mantissas),
        cmocka_unit_test(test_nearest_to_the_middle),
        cmocka_unit_test(test_all_sizes),
    };
    return cmocka_run_group_tests(tests, skip_where_it_cannot_run, NULL);
}
