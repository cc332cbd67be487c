/* maths.h - exp, log, log2, sin, cos, pow in double precision with the same bits on every machine.
 *
 * The C library's results differ between versions and processors (by one unit in the last place, which
 * is enough to part two training runs). These use only +, -, *, / and fma in a fixed order. Relative
 * error below 2e-15 (measured in tests/unit/test_maths.c). */
#ifndef PW_MATHS_H
#define PW_MATHS_H

double pw_exp(double x);
double pw_log(double x); /* x > 0; log(0) = -inf, x < 0 NaN */
double pw_log2(double x);
double pw_sin(double x);           /* |x| < 1e6 */
double pw_cos(double x);           /* |x| < 1e6 */
double pw_pow(double x, double y); /* x > 0 */

#endif
