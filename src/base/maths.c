/* maths.c - elementary functions made of +, -, *, / and fma only.
 *
 * IEEE 754 rounds all of these correctly, fma() included (in hardware, or more slowly in the C library).
 * -ffp-contract=off keeps the compiler from fusing other operations. So this source determines the bits.
 *
 * Each function reduces its argument with an exactly known remainder. Then it sums a series around 0 whose
 * first omitted term is below 2^-57 of the result. The coefficients are those of the Taylor series. On
 * intervals this short a fitted polynomial would save one or two terms and be harder to check. */
#include "base/maths.h"
#include "base/log_pair.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Use the processor's fma instruction if it exists, instead of a call: three times as fast, the same bits.
 * Sanitizers do not work with functions that are selected when the program is loaded. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&    \
    !defined(__SANITIZE_THREAD__)
#define WITH_FMA __attribute__((target_clones("default", "fma")))
#else
#define WITH_FMA
#endif
#define INSIDE static inline __attribute__((always_inline)) /* inlined into both clones */

INSIDE double power_of_two(int n) /* -1022 <= n <= 1023 */
{
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* exp(hi + lo): with hi + lo = n ln 2 + r and |r| <= ln 2 / 2, the result is 2^n exp(r). */
INSIDE double exp_pair(double hi, double lo)
{
    if (hi > 710)
        return INFINITY;
    if (hi < -746)
        return 0;
    if (isnan(hi))
        return hi;
    double n = floor(hi * 0x1.71547652b82fep+0 + 0.5);
    double head = hi - n * PW_LN2_HI; /* exact */
    double tail = lo - n * PW_LN2_LO;
    double r = head + tail, lost = tail - (r - head);
    double q = 1.0 / 6227020800; /* 1/13! */
    q = fma(q, r, 1.0 / 479001600);
    q = fma(q, r, 1.0 / 39916800);
    q = fma(q, r, 1.0 / 3628800);
    q = fma(q, r, 1.0 / 362880);
    q = fma(q, r, 1.0 / 40320);
    q = fma(q, r, 1.0 / 5040);
    q = fma(q, r, 1.0 / 720);
    q = fma(q, r, 1.0 / 120);
    q = fma(q, r, 1.0 / 24);
    q = fma(q, r, 1.0 / 6);
    q = fma(q, r, 0.5);
    double y = 1 + (r + fma(r * r, q, lost));
    /* Scale in two steps. 2^n may be out of range although the result is not; and only the second product can
     * be subnormal, so there is only one rounding. */
    int half = (int)n / 2;
    return y * power_of_two(half) * power_of_two((int)n - half);
}

WITH_FMA double pw_exp(double x)
{
    return exp_pair(x, 0);
}

WITH_FMA double pw_log(double x)
{
    return pw_log_inline(x);
}

WITH_FMA double pw_log2(double x)
{
    return pw_log_inline(x) * 0x1.71547652b82fep+0; /* 1 / ln 2 */
}

WITH_FMA double pw_pow(double x, double y)
{
    if (x == 1 || y == 0)
        return 1;
    if (!(x > 0) || isinf(x) || isnan(y))
        return exp_pair(y * pw_log(x), 0);
    struct pw_double_double log_x = pw_log_pair(x), p = pw_two_product(y, log_x.hi);
    if (!(fabs(p.hi) < 800)) /* also infinity, which has no remainder */
        return exp_pair(p.hi, 0);
    return exp_pair(p.hi, p.lo + y * log_x.lo);
}

/* Write x = n pi/2 + r with |r| slightly above pi/4 at most; returns n mod 4. This is Cody and Waite's scheme
 * with three parts of pi/2. The first two parts have 33 bits and n has 20, so the products are exact. The
 * rounding error of the second subtraction is kept, so sin and cos are accurate near their zeros too. */
INSIDE int reduce(double x, struct pw_double_double *r)
{
    assert(fabs(x) < 1e6);
    double n = floor(x * 0x1.45f306dc9c883p-1 + 0.5);
    double head = x - n * 0x1.921fb54400000p+0;
    struct pw_double_double sum = pw_two_sum(head, -(n * 0x1.0b4611a600000p-34));
    *r = pw_two_sum(sum.hi, sum.lo - n * 0x1.3198a2e037073p-69);
    return (int)n & 3;
}

INSIDE double sin_series(struct pw_double_double r) /* |r| <= pi/4 */
{
    double z = r.hi * r.hi, q = 1.0 / 355687428096000; /* 1/17! */

    q = fma(q, z, -1.0 / 1307674368000);
    q = fma(q, z, 1.0 / 6227020800);
    q = fma(q, z, -1.0 / 39916800);
    q = fma(q, z, 1.0 / 362880);
    q = fma(q, z, -1.0 / 5040);
    q = fma(q, z, 1.0 / 120);
    q = fma(q, z, -1.0 / 6);
    return r.hi + fma(r.hi * z, q, r.lo * (1 - 0.5 * z));
}

INSIDE double cos_series(struct pw_double_double r)
{
    double z = r.hi * r.hi, q = -1.0 / 6402373705728000; /* 1/18! */

    q = fma(q, z, 1.0 / 20922789888000);
    q = fma(q, z, -1.0 / 87178291200);
    q = fma(q, z, 1.0 / 479001600);
    q = fma(q, z, -1.0 / 3628800);
    q = fma(q, z, 1.0 / 40320);
    q = fma(q, z, -1.0 / 720);
    q = fma(q, z, 1.0 / 24);
    /* 1 - z/2 loses up to half a unit in the last place, which is exactly ((1 - w) - z/2). */
    double w = 1 - 0.5 * z;
    return w + (((1 - w) - 0.5 * z) + fma(z * z, q, -r.hi * r.lo));
}

INSIDE double sin_quarter(double x, int turn) /* sin(x + turn pi/2) */
{
    struct pw_double_double r;

    if (isnan(x))
        return x;
    int quarter = (reduce(x, &r) + turn) & 3;
    double y = quarter & 1 ? cos_series(r) : sin_series(r);
    return quarter & 2 ? -y : y;
}

WITH_FMA double pw_sin(double x)
{
    return x == 0 ? x : sin_quarter(x, 0); /* keeps the sign of -0 */
}

WITH_FMA double pw_cos(double x)
{
    return sin_quarter(x, 1);
}
