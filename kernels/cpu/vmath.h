/* vmath.h - exp, the normal distribution, the sigmoid and the activation functions, on sixteen lanes
 * (simd.h).
 *
 * The functions are our own, because those of the C library differ between versions and processors. They use
 * only correctly rounded operations in the order written here, so the bits are the same everywhere. The
 * polynomials' coefficients come from the Remez exchange algorithm. tests/ops/test_exp.c measures the largest
 * errors. */
#ifndef PW_CPU_VMATH_H
#define PW_CPU_VMATH_H
#include "kernels/backend.h"
#include "kernels/cpu/simd.h"

/* exp(x) for x <= 88; NaN stays NaN. Below -87.33 the result is 0, so no result is subnormal. x = n ln2 + r
 * with |r| <= ln2/2, and exp(r) = 1 + r + r^2 q(r). Adding 1.5 * 2^23 rounds to the nearest integer n and
 * leaves n in the low bits of the sum. */
V_LONG v16 v_exp(v16 x)
{
    v16 lo = v_set(-87.33f), shift = v_set(12582912.0f);
    v16 y = v_max(lo, x); /* NaN stays NaN */
    v16 t = v_fma(y, v_set(1.44269504f), shift);
    v16 n = v_sub(t, shift);
    v16 r = v_fma(n, v_set(-0x1.62e43p-1f), y); /* ln2 as a sum of two floats */
    r = v_fma(n, v_set(1.90465430e-9f), r);
    v16 q = v_set(0.00139412156f);
    q = v_fma(q, r, v_set(0.00836323789f));
    q = v_fma(q, r, v_set(0.0416663741f));
    q = v_fma(q, r, v_set(0.166665766f));
    q = v_fma(q, r, v_set(0.500000003f));
    q = v_fma(q, r, v_set(1.0f));
    q = v_fma(q, r, v_set(1.0f));
    return v_select(v_less(x, lo), v_zero(), v_mul(q, v_pow2(t)));
}

/* A divisor for many divisions. The product x * (1/by) is corrected by the remainder, which fma computes
 * without rounding the product. That gives the correctly rounded quotient (after Markstein 1990), so the bits
 * are those of a division at a third of the time. tests/ops/test_quotient.c has the proof. It does not hold
 * if the remainder could underflow: x below 2^-90. */
struct v_divisor {
    v16 by, minus, inverse;
};

V_INLINE struct v_divisor v_divisor(float by)
{
    return (struct v_divisor){v_set(by), v_set(-by), v_div(v_set(1.0f), v_set(by))};
}

/* x / by, for 0 <= x <= 1 and 1 <= by < 2^24, or NaN. */
V_LONG v16 v_quotient(v16 x, const struct v_divisor *d)
{
#if defined(__AVX512F__)
    if (v_any_between_0_and(x, 0x1p-90f))
        return v_div(x, d->by);
    v16 q = v_mul(x, d->inverse);
    return v_fma(v_fma(q, d->minus, x), d->inverse, q);
#else
    return v_div(x, d->by); /* AVX2 and scalar: the division itself costs less than the correction */
#endif
}

/* cdf = P(N(0,1) <= x) and pdf, its density. The tail is exp(-x^2/2) u p(u) with u = 1/(1 + 0.35|x|): the
 * form of Hastings 1955 with more terms. There is no cancellation for negative x, where gelu needs
 * precision. */
V_LONG void v_normal(v16 x, v16 *cdf, v16 *pdf)
{
    v16 t = v_abs(x), one = v_set(1.0f);
    v16 e = v_exp(v_mul(v_set(-0.5f), v_mul(t, t)));
    v16 u = v_div(one, v_fma(v_set(0.35f), t, one));
    v16 p = v_set(-0.0291459166f);
    p = v_fma(p, u, v_set(0.143971632f));
    p = v_fma(p, u, v_set(-0.255714120f));
    p = v_fma(p, u, v_set(0.159174008f));
    p = v_fma(p, u, v_set(-0.0231097321f));
    p = v_fma(p, u, v_set(0.105507961f));
    p = v_fma(p, u, v_set(0.119832878f));
    p = v_fma(p, u, v_set(0.139861868f));
    p = v_fma(p, u, v_set(0.139621404f));
    v16 tail = v_mul(e, v_mul(p, u));
    *cdf = v_select(v_less(x, v_zero()), tail, v_sub(one, tail));
    *pdf = v_mul(v_set(0.398942280f), e);
}

/* s = 1/(1+exp(-z)) and minus = 1/(1+exp(z)), both without cancellation. */
V_LONG void v_sigmoid(v16 z, v16 *s, v16 *minus)
{
    v16 one = v_set(1.0f);
    v16 e = v_exp(v_sub(v_zero(), v_abs(z)));
    v16 q = v_div(one, v_add(one, e));
    v16 eq = v_mul(e, q);
    m16 left = v_less(z, v_zero());
    *s = v_select(left, eq, q);
    *minus = v_select(left, q, eq);
}

/* ln(1/(1+exp(-x))) without cancellation or overflow; kernels/backend.h has the formula (terms_fwd). ln(1 +
 * e) is 2 artanh(e / (2 + e)), whose argument is at most 1/3. */
V_LONG v16 v_log_sigmoid(v16 x)
{
    v16 e = v_exp(v_sub(v_zero(), v_abs(x)));
    v16 t = v_div(e, v_add(v_set(2.0f), e));
    v16 u = v_mul(t, t);
    v16 p = v_set(1.0f / 15);
    p = v_fma(p, u, v_set(1.0f / 13));
    p = v_fma(p, u, v_set(1.0f / 11));
    p = v_fma(p, u, v_set(1.0f / 9));
    p = v_fma(p, u, v_set(1.0f / 7));
    p = v_fma(p, u, v_set(1.0f / 5));
    p = v_fma(p, u, v_set(1.0f / 3));
    p = v_fma(p, u, v_set(1.0f));
    return v_sub(v_select(v_less(x, v_zero()), x, v_zero()), v_mul(v_add(t, t), p));
}

/* z = 2 sqrt(2/pi) (x + 0.044715 x^3), the argument of gelu's tanh form: 0.5 x (1 + tanh(z/2)) = x
 * sigmoid(z). */
V_LONG v16 v_gelu_arg(v16 x)
{
    return v_mul(v_mul(v_set(1.59576912f), x), v_fma(v_set(0.044715f), v_mul(x, x), v_set(1.0f)));
}

/* The activation functions. gelu(x) = x P(N(0,1) <= x), its tanh approximation (Hendrycks and Gimpel 2016),
 * and silu(x) = x sigmoid(x) (Elfwing et al. 2017). */
V_LONG v16 v_act(v16 x, enum pw_act act)
{
    v16 a, b;
    switch (act) {
    case PW_ACT_RELU: return v_max(v_zero(), x); /* 0 > x ? 0 : x, so NaN stays NaN */
    case PW_ACT_GELU: v_normal(x, &a, &b); return v_mul(x, a);
    case PW_ACT_GELU_TANH: v_sigmoid(v_gelu_arg(x), &a, &b); return v_mul(x, a);
    case PW_ACT_SILU: v_sigmoid(x, &a, &b); return v_mul(x, a);
    case PW_ACT_NONE: break;
    }
    return x;
}

/* The gradient act'(x) * d. x is the pre-activation; for relu it may be the activation. */
V_LONG v16 v_act_grad(v16 d, v16 x, enum pw_act act)
{
    v16 a, b, dz;
    switch (act) {
    case PW_ACT_RELU: return v_select(v_less(v_zero(), x), d, v_zero());
    case PW_ACT_GELU: v_normal(x, &a, &b); return v_mul(d, v_fma(x, b, a));
    case PW_ACT_GELU_TANH:
        v_sigmoid(v_gelu_arg(x), &a, &b);
        dz = v_mul(v_set(1.59576912f), v_fma(v_set(0.134145f), v_mul(x, x), v_set(1.0f)));
        return v_mul(d, v_fma(v_mul(x, v_mul(a, b)), dz, a));
    case PW_ACT_SILU: v_sigmoid(x, &a, &b); return v_mul(d, v_fma(x, v_mul(a, b), a));
    case PW_ACT_NONE: break;
    }
    return d;
}

#endif
