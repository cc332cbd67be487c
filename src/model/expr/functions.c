/* functions.c - the operators and functions of formulas, with their derivatives. At a kink (abs, relu, min,
 * max, clip) the derivative is that of the first of the equal branches; floor, round, bucket and comparisons
 * have the derivative 0. */
#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "model/expr/expr_int.h"
#include "model/pe.h"

/* W. Kahan: the error of 1 + x cancels in the quotient. */
static double log_of_1_plus(double x)
{
    double u = 1 + x;
    return u == 1 ? x : isinf(u) ? u : pw_log(u) * x / (u - 1);
}

static double exp_minus_1(double x)
{
    double u = pw_exp(x);
    return u == 1 ? x : u - 1 == -1 || isinf(u) ? u - 1 : (u - 1) * x / pw_log(u);
}

static double sigmoid_of(double x)
{
    double e = pw_exp(-fabs(x));
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

static double power(double x, double y)
{
    double whole = nearbyint(y);
    if (y == 0)
        return 1;
    if (x > 0)
        return pw_pow(x, y);
    if (x == 0)
        return y > 0 ? 0 : INFINITY;
    if (whole != y)
        return NAN;
    double size = pw_pow(-x, y);
    return fmod(whole, 2) != 0 ? -size : size;
}

/* The series of positive terms x (2x^2)^n / (2n+1)!! times exp(-x^2); its relative error stays below 1e-15.
 */
static double erf_of(double x)
{
    double term = x, sum = x;
    if (isnan(x))
        return x;
    if (fabs(x) > 6)
        return x > 0 ? 1 : -1;
    for (int n = 1; fabs(term) > fabs(sum) * 1e-17; n++)
        sum += term *= 2 * x * x / (2 * n + 1);
    return 1.1283791670955126 * pw_exp(-x * x) * sum; /* 2 / sqrt(pi) */
}

/* pw_sin and pw_cos reduce angles below 1e6 only; a larger one is not a value, and is refused with its place.
 */
static double sine(double x)
{
    return fabs(x) < 1e6 ? pw_sin(x) : NAN;
}

static double cosine(double x)
{
    return fabs(x) < 1e6 ? pw_cos(x) : NAN;
}

#define VALUE(name, expression)                                                                              \
    static double name##_value(const double *a)                                                              \
    {                                                                                                        \
        return expression;                                                                                   \
    }
#define SLOPE(name, ...)                                                                                     \
    static void name##_slope(const double *a, double y, double *out)                                         \
    {                                                                                                        \
        (void)a;                                                                                             \
        (void)y;                                                                                             \
        __VA_ARGS__                                                                                          \
    }

VALUE(plus, a[0] + a[1])
SLOPE(plus, out[0] = out[1] = 1;)
VALUE(minus, a[0] - a[1])
SLOPE(minus, out[0] = 1; out[1] = -1;)
VALUE(times, a[0] * a[1])
SLOPE(times, out[0] = a[1]; out[1] = a[0];)
VALUE(over, a[0] / a[1])
SLOPE(over, out[0] = 1 / a[1]; out[1] = -y / a[1];)
VALUE(modulo, a[0] - a[1] * floor(a[0] / a[1])) /* the sign of the divisor */
SLOPE(modulo, out[0] = 1; out[1] = -floor(a[0] / a[1]);)
VALUE(power, power(a[0], a[1]))
SLOPE(power, out[0] = a[1] == 0 ? 0 : a[1] * power(a[0], a[1] - 1); out[1] = a[0] > 0 ? y * pw_log(a[0]) : 0;)
VALUE(negative, -a[0])
SLOPE(negative, out[0] = -1;)
VALUE(below, a[0] < a[1])
VALUE(above, a[0] > a[1])
VALUE(at_most, a[0] <= a[1])
VALUE(at_least, a[0] >= a[1])
VALUE(equal, a[0] == a[1])
VALUE(different, a[0] != a[1])
VALUE(both, a[0] != 0 && a[1] != 0)
VALUE(either, a[0] != 0 || a[1] != 0)
VALUE(not, a[0] == 0)
VALUE(min, a[0] <= a[1] ? a[0] : a[1])
SLOPE(min, out[a[0] <= a[1] ? 0 : 1] = 1;)
VALUE(max, a[0] >= a[1] ? a[0] : a[1])
SLOPE(max, out[a[0] >= a[1] ? 0 : 1] = 1;)
VALUE(clip, a[0]<a[1] ? a[1] : a[0]> a[2] ? a[2] : a[0])
SLOPE(clip, out[a[0] < a[1] ? 1 : a[0] > a[2] ? 2 : 0] = 1;)
VALUE(abs, fabs(a[0]))
SLOPE(abs, out[0] = a[0] >= 0 ? 1 : -1;)
VALUE(floor, floor(a[0]))
VALUE(round, nearbyint(a[0]))
VALUE(exp, pw_exp(a[0]))
SLOPE(exp, out[0] = y;)
VALUE(log, pw_log(a[0]))
SLOPE(log, out[0] = 1 / a[0];)
VALUE(log1p, log_of_1_plus(a[0]))
SLOPE(log1p, out[0] = 1 / (1 + a[0]);)
VALUE(log2, pw_log2(a[0]))
SLOPE(log2, out[0] = 1.4426950408889634 / a[0];) /* 1 / log(2) */
VALUE(sqrt, sqrt(a[0]))
SLOPE(sqrt, out[0] = 0.5 / y;)
VALUE(sin, sine(a[0]))
SLOPE(sin, out[0] = cosine(a[0]);)
VALUE(cos, cosine(a[0]))
SLOPE(cos, out[0] = -sine(a[0]);)
VALUE(tanh, copysign(-exp_minus_1(-2 * fabs(a[0])) / (2 + exp_minus_1(-2 * fabs(a[0]))), a[0]))
SLOPE(tanh, out[0] = 1 - y * y;)
VALUE(sigmoid, sigmoid_of(a[0]))
SLOPE(sigmoid, out[0] = y * (1 - y);)
VALUE(softplus, (a[0] > 0 ? a[0] : 0) + log_of_1_plus(pw_exp(-fabs(a[0]))))
SLOPE(softplus, out[0] = sigmoid_of(a[0]);)
VALUE(relu, a[0] > 0 ? a[0] : 0)
SLOPE(relu, out[0] = a[0] > 0;)
VALUE(erf, erf_of(a[0]))
SLOPE(erf, out[0] = 1.1283791670955126 * pw_exp(-a[0] * a[0]);)
VALUE(bucket, pw_t5_bucket((int)fmin(fmax(nearbyint(a[0]), 0), 1e9), (int)a[1], (int)a[2]))
VALUE(slope, pw_alibi_slope((int)fmin(fmax(nearbyint(a[0]), 0), a[1] - 1), (int)a[1]))

#define FIXED(name, args, function)                                                                          \
    {                                                                                                        \
        name, args, function##_value, NULL                                                                   \
    }
#define SMOOTH(name, args, function)                                                                         \
    {                                                                                                        \
        name, args, function##_value, function##_slope                                                       \
    }
const struct pw_function pw_functions[] = {
    SMOOTH("+", 2, plus),
    SMOOTH("-", 2, minus),
    SMOOTH("*", 2, times),
    SMOOTH("/", 2, over),
    SMOOTH("%", 2, modulo),
    SMOOTH("**", 2, power),
    SMOOTH("-x", 1, negative),
    FIXED("<", 2, below),
    FIXED(">", 2, above),
    FIXED("<=", 2, at_most),
    FIXED(">=", 2, at_least),
    FIXED("==", 2, equal),
    FIXED("!=", 2, different),
    FIXED("&&", 2, both),
    FIXED("||", 2, either),
    FIXED("!", 1, not ),
    SMOOTH("min", 2, min),
    SMOOTH("max", 2, max),
    SMOOTH("clip", 3, clip),
    SMOOTH("abs", 1, abs),
    FIXED("floor", 1, floor),
    FIXED("round", 1, round),
    SMOOTH("exp", 1, exp),
    SMOOTH("log", 1, log),
    SMOOTH("log1p", 1, log1p),
    SMOOTH("log2", 1, log2),
    SMOOTH("sqrt", 1, sqrt),
    SMOOTH("pow", 2, power),
    SMOOTH("sin", 1, sin),
    SMOOTH("cos", 1, cos),
    SMOOTH("tanh", 1, tanh),
    SMOOTH("sigmoid", 1, sigmoid),
    SMOOTH("softplus", 1, softplus),
    SMOOTH("relu", 1, relu),
    SMOOTH("erf", 1, erf),
    FIXED("bucket", 3, bucket),
    FIXED("slopes()[h]", 2, slope),
    {0},
};

int pw_function_find(const char *name, int length)
{
    for (int i = 0; pw_functions[i].name != NULL; i++)
        if ((int)strlen(pw_functions[i].name) == length &&
            memcmp(pw_functions[i].name, name, (size_t)length) == 0)
            return i;
    return -1;
}
