/* maths.c - elementary functions made of +, -, *, / and fma only.
 *
 * IEEE 754 rounds all of these correctly, fma() included (in hardware, or more slowly in the C library).
 * -ffp-contract=off keeps the compiler from fusing other operations. So this source determines the bits.
 *
 * Each function reduces its argument with an exactly known remainder. Then it sums a series around 0 whose
 * first omitted term is below 2^-57 of the result. The coefficients are those of the Taylor series. On
 * intervals this short a fitted polynomial would save one or two terms and be harder to check. */
#include "base/maths.h"
#include "base/exp_pair.h"
#include "base/sin_pair.h"

#include <assert.h>
#include <math.h>

/* Use the processor's fma instruction if it exists, instead of a call: three times as fast, the same bits.
 * Sanitizers do not work with functions that are selected when the program is loaded. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&    \
    !defined(__SANITIZE_THREAD__)
#define WITH_FMA __attribute__((target_clones("default", "fma")))
#else
#define WITH_FMA
#endif

WITH_FMA double pw_exp(double x)
{
    return pw_exp_pair(x, 0);
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
    return pw_pow_inline(x, y);
}

WITH_FMA double pw_sin(double x)
{
    assert(!(fabs(x) >= 1e6));
    return pw_sin_inline(x);
}

WITH_FMA double pw_cos(double x)
{
    assert(!(fabs(x) >= 1e6));
    return pw_cos_inline(x);
}
