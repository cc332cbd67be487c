/* expr_maths.h - the operators and functions of formulas, and their derivatives: one source for the host, the
 * cpu backend and CUDA kernels.
 *
 * Double precision throughout; only +, -, *, /, fma, sqrt, floor and comparisons in a fixed order, so all
 * give the same bits. At a kink (abs, relu, min, max, clip) the derivative is that of the first of the equal
 * branches. The derivatives of floor, round and comparisons are 0. */
#ifndef PW_EXPR_MATHS_H
#define PW_EXPR_MATHS_H
#include "base/exp_pair.h"
#include "base/sin_pair.h"
#include <stdbool.h>

/* F(identifier, name in a formula, arguments, has a derivative). An operator has a name that no call can
 * contain. */
#define PW_EXPR_FUNCTIONS(F)                                                                                 \
    F(ADD, "+", 2, true)                                                                                     \
    F(SUBTRACT, "-", 2, true)                                                                                \
    F(MULTIPLY, "*", 2, true)                                                                                \
    F(DIVIDE, "/", 2, true)                                                                                  \
    F(MODULO, "%", 2, true)                                                                                  \
    F(RAISE, "**", 2, true)                                                                                  \
    F(NEGATE, "-x", 1, true)                                                                                 \
    F(BELOW, "<", 2, false)                                                                                  \
    F(ABOVE, ">", 2, false)                                                                                  \
    F(AT_MOST, "<=", 2, false)                                                                               \
    F(AT_LEAST, ">=", 2, false)                                                                              \
    F(EQUAL, "==", 2, false)                                                                                 \
    F(DIFFERENT, "!=", 2, false)                                                                             \
    F(BOTH, "&&", 2, false)                                                                                  \
    F(EITHER, "||", 2, false)                                                                                \
    F(NOT, "!", 1, false)                                                                                    \
    F(MIN, "min", 2, true)                                                                                   \
    F(MAX, "max", 2, true)                                                                                   \
    F(CLIP, "clip", 3, true)                                                                                 \
    F(ABS, "abs", 1, true)                                                                                   \
    F(FLOOR, "floor", 1, false)                                                                              \
    F(ROUND, "round", 1, false)                                                                              \
    F(EXP, "exp", 1, true)                                                                                   \
    F(LOG, "log", 1, true)                                                                                   \
    F(LOG1P, "log1p", 1, true)                                                                               \
    F(LOG2, "log2", 1, true)                                                                                 \
    F(SQRT, "sqrt", 1, true)                                                                                 \
    F(POW, "pow", 2, true)                                                                                   \
    F(SIN, "sin", 1, true)                                                                                   \
    F(COS, "cos", 1, true)                                                                                   \
    F(TANH, "tanh", 1, true)                                                                                 \
    F(SIGMOID, "sigmoid", 1, true)                                                                           \
    F(SOFTPLUS, "softplus", 1, true)                                                                         \
    F(RELU, "relu", 1, true)                                                                                 \
    F(ERF, "erf", 1, true)                                                                                   \
    F(BUCKET, "bucket", 3, false)                                                                            \
    F(SLOPE, "slopes()[h]", 2, false)

#define PW_EXPR_IDENTIFIER(id, name, args, smooth) PW_F_##id,
enum pw_expr_function { PW_EXPR_FUNCTIONS(PW_EXPR_IDENTIFIER) PW_F_COUNT };

/* W. Kahan: the error of 1 + x cancels in the quotient. */
PW_BOTH double pw_f_log1p(double x)
{
    double u = 1 + x;
    return u == 1 ? x : isinf(u) ? u : pw_log_inline(u) * x / (u - 1);
}

PW_BOTH double pw_f_expm1(double x)
{
    double u = pw_exp_pair(x, 0);
    return u == 1 ? x : u - 1 == -1 || isinf(u) ? u - 1 : (u - 1) * x / pw_log_inline(u);
}

PW_BOTH double pw_f_sigmoid(double x)
{
    double e = pw_exp_pair(-fabs(x), 0);
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

PW_BOTH double pw_f_pow(double x, double y)
{
    double whole = rint(y);
    if (y == 0)
        return 1;
    if (x > 0)
        return pw_pow_inline(x, y);
    if (x == 0)
        return y > 0 ? 0 : INFINITY;
    if (whole != y)
        return NAN;
    double size = pw_pow_inline(-x, y);
    return whole * 0.5 != rint(whole * 0.5) ? -size : size;
}

/* The series of positive terms x (2x^2)^n / (2n+1)!! times exp(-x^2); its relative error stays below 1e-15.
 */
PW_BOTH double pw_f_erf(double x)
{
    double term = x, sum = x;
    if (isnan(x))
        return x;
    if (fabs(x) > 6)
        return x > 0 ? 1 : -1;
    for (int n = 1; fabs(term) > fabs(sum) * 1e-17; n++)
        sum += term *= 2 * x * x / (2 * n + 1);
    return 1.1283791670955126 * pw_exp_pair(-x * x, 0) * sum; /* 2 / sqrt(pi) */
}

/* The value of a function. BUCKET and SLOPE are tables (struct pw_expr_code); NaN here. */
PW_BOTH double pw_f_value(enum pw_expr_function f, double a, double b, double c)
{
    switch (f) {
    case PW_F_ADD: return a + b;
    case PW_F_SUBTRACT: return a - b;
    case PW_F_MULTIPLY: return a * b;
    case PW_F_DIVIDE: return a / b;
    case PW_F_MODULO: return a - b * floor(a / b); /* the sign of the divisor */
    case PW_F_RAISE:
    case PW_F_POW: return pw_f_pow(a, b);
    case PW_F_NEGATE: return -a;
    case PW_F_BELOW: return a < b;
    case PW_F_ABOVE: return a > b;
    case PW_F_AT_MOST: return a <= b;
    case PW_F_AT_LEAST: return a >= b;
    case PW_F_EQUAL: return a == b;
    case PW_F_DIFFERENT: return a != b;
    case PW_F_BOTH: return a != 0 && b != 0;
    case PW_F_EITHER: return a != 0 || b != 0;
    case PW_F_NOT: return a == 0;
    case PW_F_MIN: return a <= b ? a : b;
    case PW_F_MAX: return a >= b ? a : b;
    case PW_F_CLIP: return a < b ? b : a > c ? c : a;
    case PW_F_ABS: return fabs(a);
    case PW_F_FLOOR: return floor(a);
    case PW_F_ROUND: return rint(a);
    case PW_F_EXP: return pw_exp_pair(a, 0);
    case PW_F_LOG: return pw_log_inline(a);
    case PW_F_LOG1P: return pw_f_log1p(a);
    case PW_F_LOG2: return pw_log_inline(a) * 0x1.71547652b82fep+0; /* 1 / ln 2 */
    case PW_F_SQRT: return sqrt(a);
    case PW_F_SIN: return pw_sin_inline(a);
    case PW_F_COS: return pw_cos_inline(a);
    case PW_F_TANH: {
        double e = pw_f_expm1(-2 * fabs(a));
        return copysign(-e / (2 + e), a);
    }
    case PW_F_SIGMOID: return pw_f_sigmoid(a);
    case PW_F_SOFTPLUS: return (a > 0 ? a : 0) + pw_f_log1p(pw_exp_pair(-fabs(a), 0));
    case PW_F_RELU: return a > 0 ? a : 0;
    case PW_F_ERF: return pw_f_erf(a);
    case PW_F_BUCKET:
    case PW_F_SLOPE:
    case PW_F_COUNT: break;
    }
    return NAN;
}

/* Writes the derivatives with respect to the arguments; y is the value. Those of constant functions are 0. */
PW_BOTH void pw_f_slopes(enum pw_expr_function f, double a, double b, double c, double y, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    switch (f) {
    case PW_F_ADD: out[0] = out[1] = 1; break;
    case PW_F_SUBTRACT:
        out[0] = 1;
        out[1] = -1;
        break;
    case PW_F_MULTIPLY:
        out[0] = b;
        out[1] = a;
        break;
    case PW_F_DIVIDE:
        out[0] = 1 / b;
        out[1] = -y / b;
        break;
    case PW_F_MODULO:
        out[0] = 1;
        out[1] = -floor(a / b);
        break;
    case PW_F_RAISE:
    case PW_F_POW:
        out[0] = b == 0 ? 0 : b * pw_f_pow(a, b - 1);
        out[1] = a > 0 ? y * pw_log_inline(a) : 0;
        break;
    case PW_F_NEGATE: out[0] = -1; break;
    case PW_F_MIN: out[a <= b ? 0 : 1] = 1; break;
    case PW_F_MAX: out[a >= b ? 0 : 1] = 1; break;
    case PW_F_CLIP: out[a < b ? 1 : a > c ? 2 : 0] = 1; break;
    case PW_F_ABS: out[0] = a >= 0 ? 1 : -1; break;
    case PW_F_EXP: out[0] = y; break;
    case PW_F_LOG: out[0] = 1 / a; break;
    case PW_F_LOG1P: out[0] = 1 / (1 + a); break;
    case PW_F_LOG2: out[0] = 1.4426950408889634 / a; break; /* 1 / log(2) */
    case PW_F_SQRT: out[0] = 0.5 / y; break;
    case PW_F_SIN: out[0] = pw_cos_inline(a); break;
    case PW_F_COS: out[0] = -pw_sin_inline(a); break;
    case PW_F_TANH: out[0] = 1 - y * y; break;
    case PW_F_SIGMOID: out[0] = y * (1 - y); break;
    case PW_F_SOFTPLUS: out[0] = pw_f_sigmoid(a); break;
    case PW_F_RELU: out[0] = a > 0; break;
    case PW_F_ERF: out[0] = 1.1283791670955126 * pw_exp_pair(-a * a, 0); break;
    default: break;
    }
}

/* Adjoint times derivative, 0 if either is 0: a branch that is not taken can't spoil a gradient by an
 * infinite derivative. */
PW_BOTH double pw_f_product(double adjoint, double slope)
{
    return adjoint == 0 || slope == 0 ? 0 : adjoint * slope;
}

/* The table entry at `at`, limited to 0..size-1, and the share of the entry after it. between: the one below;
 * otherwise the nearest, and share is 0. */
PW_BOTH int pw_f_entry(double at, int size, bool between, double *share)
{
    double last = size - 1, inside = !(at > 0) ? 0 : at > last ? last : at;
    double low = between ? floor(inside) : rint(inside);
    *share = between ? inside - low : 0;
    return (int)low;
}

/* The number of thresholds [n], ascending, that `at`, rounded, reaches. */
PW_BOTH double pw_f_reached(const double *thresholds, int n, double at)
{
    int low = 0, high = n;
    double x = rint(at);
    while (low < high) {
        int mid = (low + high) / 2;
        if (thresholds[mid] <= x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

#endif
