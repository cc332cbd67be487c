/* maths.c - elementary functions made of +, -, *, / and fma only.
 *
 * IEEE 754 rounds all of these correctly, fma() included (in hardware, or more slowly in the C library).
 * -ffp-contract=off keeps the compiler from fusing other operations. So this source determines the bits.
 *
 * Each function reduces its argument with an exactly known remainder. Then it sums a series around 0 whose
 * first omitted term is below 2^-57 of the result. The coefficients are those of the Taylor series. On
 * intervals this short a fitted polynomial would save one or two terms and be harder to check. */
#include "base/maths.h"
#include "base/both.h"
#include "base/exp_pair.h"
#include "base/sin_pair.h"

#include <assert.h>
#include <math.h>

PW_WITH_FMA double pw_exp(double x)
{
    return pw_exp_pair(x, 0);
}

PW_WITH_FMA double pw_log(double x)
{
    return pw_log_inline(x);
}

PW_WITH_FMA double pw_log2(double x)
{
    return pw_log_inline(x) * PW_LOG2_E;
}

PW_WITH_FMA double pw_pow(double x, double y)
{
    return pw_pow_inline(x, y);
}

PW_WITH_FMA double pw_sin(double x)
{
    assert(!(fabs(x) >= PW_MOST_ANGLE));
    return pw_sin_inline(x);
}

PW_WITH_FMA double pw_cos(double x)
{
    assert(!(fabs(x) >= PW_MOST_ANGLE));
    return pw_cos_inline(x);
}
