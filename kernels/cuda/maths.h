/* maths.h - exp, log, the normal distribution, the sigmoid and the activations on the device, one number at a
 * time.
 *
 * They are the operations of kernels/cpu/vmath.h in the same order, so the bits are those of the cpu backend.
 * They use only correctly rounded operations, fma only where it is written (-fmad=false), and none of CUDA's
 * own functions. A result that is NaN on one backend is NaN on the other, but its payload may differ. */
#ifndef PW_CUDA_MATHS_H
#define PW_CUDA_MATHS_H
#include "base/log_pair.h"
#include "kernels/backend.h"
#include "kernels/cuda/device.h"

/* exp(x) for x <= 88; NaN stays NaN. Below -87.33 the result is 0, so no result is subnormal. x = n ln2 + r
 * with |r| <= ln2/2, and exp(r) = 1 + r + r^2 q(r). Adding 1.5 * 2^23 rounds to the nearest integer n and
 * leaves n in the low bits of the sum. */
__device__ __forceinline__ float pw_dev_exp(float x)
{
    const float lo = -87.33f, shift = 12582912.0f;
    float y = lo > x ? lo : x; /* NaN stays NaN */
    float t = fmaf(y, 1.44269504f, shift);
    float n = t - shift;
    float r = fmaf(n, -0x1.62e43p-1f, y); /* ln2 as a sum of two floats */
    r = fmaf(n, 1.90465430e-9f, r);
    float q = 0.00139412156f;
    q = fmaf(q, r, 0.00836323789f);
    q = fmaf(q, r, 0.0416663741f);
    q = fmaf(q, r, 0.166665766f);
    q = fmaf(q, r, 0.500000003f);
    q = fmaf(q, r, 1.0f);
    q = fmaf(q, r, 1.0f);
    float power = __uint_as_float((__float_as_uint(t) + 127u) << 23); /* 2^n */
    return x < lo ? 0.0f : q * power;
}

/* log(x) as pw_log (base/maths.h) computes it in double precision, rounded to float. */
__device__ __forceinline__ float pw_dev_log(float x)
{
    return (float)pw_log_inline((double)x);
}

/* cdf = P(N(0,1) <= x) and pdf, its density. The tail is exp(-x^2/2) u p(u) with u = 1/(1 + 0.35|x|): the
 * form of Hastings 1955 with more terms. There is no cancellation for negative x, where gelu needs precision.
 */
__device__ __forceinline__ void pw_dev_normal(float x, float *cdf, float *pdf)
{
    float t = fabsf(x);
    float e = pw_dev_exp(-0.5f * (t * t));
    float u = 1.0f / fmaf(0.35f, t, 1.0f);
    float p = -0.0291459166f;
    p = fmaf(p, u, 0.143971632f);
    p = fmaf(p, u, -0.255714120f);
    p = fmaf(p, u, 0.159174008f);
    p = fmaf(p, u, -0.0231097321f);
    p = fmaf(p, u, 0.105507961f);
    p = fmaf(p, u, 0.119832878f);
    p = fmaf(p, u, 0.139861868f);
    p = fmaf(p, u, 0.139621404f);
    float tail = e * (p * u);
    *cdf = x < 0.0f ? tail : 1.0f - tail;
    *pdf = 0.398942280f * e;
}

/* s = 1/(1+exp(-z)) and minus = 1/(1+exp(z)), both without cancellation. */
__device__ __forceinline__ void pw_dev_sigmoid(float z, float *s, float *minus)
{
    float e = pw_dev_exp(0.0f - fabsf(z));
    float q = 1.0f / (1.0f + e);
    float eq = e * q;
    *s = z < 0.0f ? eq : q;
    *minus = z < 0.0f ? q : eq;
}

/* ln(1/(1+exp(-x))), the function of terms_fwd (kernels/backend.h). */
__device__ __forceinline__ float pw_dev_log_sigmoid(float x)
{
    float e = pw_dev_exp(0.0f - fabsf(x));
    float t = e / (2.0f + e), u = t * t;
    float p = 1.0f / 15;
    p = fmaf(p, u, 1.0f / 13);
    p = fmaf(p, u, 1.0f / 11);
    p = fmaf(p, u, 1.0f / 9);
    p = fmaf(p, u, 1.0f / 7);
    p = fmaf(p, u, 1.0f / 5);
    p = fmaf(p, u, 1.0f / 3);
    p = fmaf(p, u, 1.0f);
    return (x < 0.0f ? x : 0.0f) - (t + t) * p;
}

/* ln(1+exp(x)), as slopes_fwd has it (kernels/backend.h). */
__device__ __forceinline__ float pw_dev_softplus(float x)
{
    return 0.0f - pw_dev_log_sigmoid(0.0f - x);
}

/* z = 2 sqrt(2/pi) (x + 0.044715 x^3), the argument of gelu's tanh form: 0.5 x (1 + tanh(z/2)) = x
 * sigmoid(z). */
__device__ __forceinline__ float pw_dev_gelu_arg(float x)
{
    return (1.59576912f * x) * fmaf(0.044715f, x * x, 1.0f);
}

/* The activation functions. gelu(x) = x P(N(0,1) <= x), its tanh approximation (Hendrycks and Gimpel 2016),
 * and silu(x) = x sigmoid(x) (Elfwing et al. 2017). */
__device__ __forceinline__ float pw_dev_act(float x, enum pw_act act)
{
    float a, b;
    switch (act) {
    case PW_ACT_RELU: return 0.0f > x ? 0.0f : x; /* so NaN stays */
    case PW_ACT_GELU: pw_dev_normal(x, &a, &b); return x * a;
    case PW_ACT_GELU_TANH: pw_dev_sigmoid(pw_dev_gelu_arg(x), &a, &b); return x * a;
    case PW_ACT_SILU: pw_dev_sigmoid(x, &a, &b); return x * a;
    case PW_ACT_NONE: break;
    }
    return x;
}

/* The gradient act'(x) * d. x is the pre-activation; for relu it may be the activation. */
__device__ __forceinline__ float pw_dev_act_grad(float d, float x, enum pw_act act)
{
    float a, b, dz;
    switch (act) {
    case PW_ACT_RELU: return 0.0f < x ? d : 0.0f;
    case PW_ACT_GELU: pw_dev_normal(x, &a, &b); return d * fmaf(x, b, a);
    case PW_ACT_GELU_TANH:
        pw_dev_sigmoid(pw_dev_gelu_arg(x), &a, &b);
        dz = 1.59576912f * fmaf(0.134145f, x * x, 1.0f);
        return d * fmaf(x * (a * b), dz, a);
    case PW_ACT_SILU: pw_dev_sigmoid(x, &a, &b); return d * fmaf(x, a * b, a);
    case PW_ACT_NONE: break;
    }
    return d;
}

#endif
