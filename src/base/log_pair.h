/* log_pair.h - natural logarithm with more bits than a double has, for pw_log and pw_pow. One definition
 * serves host and CUDA kernels.
 *
 * It uses only +, -, *, / and fma in a fixed order, so host and device get the same bits. A number is an
 * unevaluated sum of two doubles (struct pw_double_double). */
#ifndef PW_LOG_PAIR_H
#define PW_LOG_PAIR_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/both.h"

/* ln 2 as a sum. The first part has 42 bits, so its product with an exponent is exact. */
#define PW_LN2_HI 0x1.62e42fefa3800p-1
#define PW_LN2_LO 0x1.ef35793c76730p-45

#define PW_LOG2_E 0x1.71547652b82fep+0 /* 1 / ln 2 */

/* A number as the unevaluated sum hi + lo; |lo| is at most half a unit in the last place of hi. */
struct pw_double_double {
    double hi, lo;
};

/* The sum a + b, exact for any a and b (Knuth's TwoSum). */
PW_BOTH struct pw_double_double pw_two_sum(double a, double b)
{
    double s = a + b, t = s - a;
    struct pw_double_double sum = {s, (a - (s - t)) + (b - t)};
    return sum;
}

/* The product a * b, exact unless it underflows. */
PW_BOTH struct pw_double_double pw_two_product(double a, double b)
{
    double p = a * b;
    struct pw_double_double product = {p, fma(a, b, -p)};
    return product;
}

/* log x with a relative error of about 2^-65, for a finite x > 0.
 *
 * Write x = 2^k m with sqrt(1/2) < m <= sqrt(2), and let s = (m - 1) / (m + 1). Then log x = k ln 2 + log m,
 * and log m = 2 atanh(s) = 2 s (1 + s^2/3 + s^4/5 + ...). pw_pow needs the bits beyond a double, because it
 * multiplies the error of log x by up to 745. */
PW_BOTH struct pw_double_double pw_log_pair(double x)
{
    uint64_t bits;
    /* Without branches, so that compilers can use vectors in a loop of logarithms. */
    double scaled = x * 0x1p54;
    bool tiny = x < 0x1p-1022;
    int k = tiny ? -54 : 0;

    x = tiny ? scaled : x;
    memcpy(&bits, &x, sizeof bits);
    k += (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffff) | 0x3ff0000000000000;
    double m;
    memcpy(&m, &bits, sizeof m);
    double half = m * 0.5;
    bool upper = m > 0x1.6a09e667f3bcdp+0;
    m = upper ? half : m;
    k += upper;
    double f = m - 1; /* exact */
    struct pw_double_double d = pw_two_sum(m, 1);
    double s = f / d.hi;
    double s_lo = (fma(-s, d.hi, f) - s * d.lo) / d.hi;

    /* s^2/3 needs a pair; one double is enough for the rest of the series. */
    struct pw_double_double s2 = pw_two_product(s, s);
    s2.lo += 2 * s * s_lo;
    struct pw_double_double third = pw_two_product(s2.hi, 0x1.5555555555555p-2);
    third.lo += s2.hi * 0x1.5555555555555p-56 + s2.lo * 0x1.5555555555555p-2;
    double z = s2.hi, q = 1.0 / 21;
    q = fma(q, z, 1.0 / 19);
    q = fma(q, z, 1.0 / 17);
    q = fma(q, z, 1.0 / 15);
    q = fma(q, z, 1.0 / 13);
    q = fma(q, z, 1.0 / 11);
    q = fma(q, z, 1.0 / 9);
    q = fma(q, z, 1.0 / 7);
    q = fma(q, z, 1.0 / 5);
    struct pw_double_double u = pw_two_sum(third.hi, third.lo + z * z * q);
    struct pw_double_double su = pw_two_product(s, u.hi);
    su.lo += s * u.lo + s_lo * u.hi;
    struct pw_double_double log_m = pw_two_sum(2 * s, 2 * su.hi);
    log_m.lo += 2 * (s_lo + su.lo);

    struct pw_double_double sum = pw_two_sum(k * PW_LN2_HI, log_m.hi); /* the product is exact */
    return pw_two_sum(sum.hi, sum.lo + (k * PW_LN2_LO + log_m.lo));
}

/* The logarithm as pw_log (base/maths.h) defines it: log(0) = -inf, NaN for x < 0. */
PW_BOTH double pw_log_inline(double x)
{
    if (x == 0)
        return -INFINITY;
    if (!(x > 0))
        return NAN;
    return isinf(x) ? x : pw_log_pair(x).hi;
}

#endif
