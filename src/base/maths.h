/* maths.h - exp, log, log2, sin, cos and pow in double precision, with the same bits on every machine.
 *
 * The C library's results differ between versions and processors by one unit in the last place, which is
 * enough to make two training runs diverge. These functions use only +, -, *, / and fma in a fixed order.
 * Their relative error is below 2e-15 (measured in tests/unit/test_maths.c). Any thread may call them. */
#ifndef PW_MATHS_H
#define PW_MATHS_H

/* Radians below which sines and cosines are computed. pw_sin_inline and pw_cos_inline (base/sin_pair.h)
 * return NaN for larger angles. */
#define PW_MOST_ANGLE 1e6

double pw_exp(double x);
double pw_log(double x); /* x > 0; log(0) = -inf, NaN for x < 0 */
double pw_log2(double x);
double pw_sin(double x);           /* |x| < PW_MOST_ANGLE */
double pw_cos(double x);           /* |x| < PW_MOST_ANGLE */
double pw_pow(double x, double y); /* x > 0 */

#endif
