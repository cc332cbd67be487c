/* sin_pair.h - sine and cosine, for pw_sin and pw_cos. One definition serves host and CUDA kernels, with the
 * same bits (base/maths.h). */
#ifndef PW_SIN_PAIR_H
#define PW_SIN_PAIR_H
#include "base/log_pair.h"
#include "base/maths.h"

/* Write x = n pi/2 + r with |r| slightly above pi/4 at most; returns n mod 4. |x| < PW_MOST_ANGLE. This is
 * Cody and Waite's scheme with three parts of pi/2. The first two parts have 33 bits and n has 20, so the
 * products are exact. The rounding error of the second subtraction is kept, so sin and cos are accurate near
 * their zeros too. */
PW_BOTH int pw_quarter_turns(double x, struct pw_double_double *r)
{
    double n = floor(x * 0x1.45f306dc9c883p-1 + 0.5);
    double head = x - n * 0x1.921fb54400000p+0;
    struct pw_double_double sum = pw_two_sum(head, -(n * 0x1.0b4611a600000p-34));
    *r = pw_two_sum(sum.hi, sum.lo - n * 0x1.3198a2e037073p-69);
    return (int)n & 3;
}

PW_BOTH double pw_sin_series(struct pw_double_double r) /* |r| <= pi/4 */
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

PW_BOTH double pw_cos_series(struct pw_double_double r)
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

/* sin(x + turn pi/2); NaN for |x| >= PW_MOST_ANGLE. */
PW_BOTH double pw_sin_turned(double x, int turn)
{
    struct pw_double_double r;

    if (!(fabs(x) < PW_MOST_ANGLE))
        return NAN;
    int quarter = (pw_quarter_turns(x, &r) + turn) & 3;
    double y = quarter & 1 ? pw_cos_series(r) : pw_sin_series(r);
    return quarter & 2 ? -y : y;
}

PW_BOTH double pw_sin_inline(double x)
{
    return x == 0 ? x : pw_sin_turned(x, 0); /* keeps the sign of -0 */
}

PW_BOTH double pw_cos_inline(double x)
{
    return pw_sin_turned(x, 1);
}

#endif
