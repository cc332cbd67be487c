/* exp_pair.h - exponential function of a pair of doubles, for pw_exp and pw_pow. One definition serves host
 * and CUDA kernels, with the same bits (base/maths.h). */
#ifndef PW_EXP_PAIR_H
#define PW_EXP_PAIR_H
#include "base/log_pair.h"

PW_BOTH double pw_power_of_two(int n) /* -1022 <= n <= 1023 */
{
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* exp(hi + lo): with hi + lo = n ln 2 + r and |r| <= ln 2 / 2, the result is 2^n exp(r). */
PW_BOTH double pw_exp_pair(double hi, double lo)
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
    return y * pw_power_of_two(half) * pw_power_of_two((int)n - half);
}

/* The power as pw_pow (base/maths.h) defines it. */
PW_BOTH double pw_pow_inline(double x, double y)
{
    if (x == 1 || y == 0)
        return 1;
    if (!(x > 0) || isinf(x) || isnan(y))
        return pw_exp_pair(y * pw_log_inline(x), 0);
    struct pw_double_double log_x = pw_log_pair(x), p = pw_two_product(y, log_x.hi);
    if (!(fabs(p.hi) < 800)) /* also infinity, which has no remainder */
        return pw_exp_pair(p.hi, 0);
    return pw_exp_pair(p.hi, p.lo + y * log_x.lo);
}

#endif
