/* ref_math.h - exp, the normal distribution, the sigmoid and sums by 16 lanes in plain C.
 *
 * The steps are those of the vector functions in kernels/cpu/vmath.h, so that the bits are equal. The C
 * library's expf isn't used: its results differ between versions and processors. */
#ifndef PW_REF_MATH_H
#define PW_REF_MATH_H
#include <math.h>
#include <stdint.h>
#include <string.h>

/* exp for x <= 88 or NaN. The result is 0 below -87.33. x = n ln2 + r, |r| <= ln2/2; exp(r) = 1 + r + r^2
 * q(r), with q fitted by Remez exchange. Adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the
 * low bits. */
static inline float plain_exp(float x)
{
    const float lo = -87.33f, shift = 12582912.0f;
    float y = lo > x ? lo : x; /* a NaN passes through */
    float t = fmaf(y, 1.44269504f, shift);
    float n = t - shift;
    float r = fmaf(n, -0x1.62e43p-1f, y);
    r = fmaf(n, 1.90465430e-9f, r);
    float q = 0.00139412156f;
    q = fmaf(q, r, 0.00836323789f);
    q = fmaf(q, r, 0.0416663741f);
    q = fmaf(q, r, 0.166665766f);
    q = fmaf(q, r, 0.500000003f);
    q = fmaf(q, r, 1.0f);
    q = fmaf(q, r, 1.0f);
    uint32_t bits;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits + 127u) << 23; /* shifts the upper bits of `shift` out of the word */
    float pow2;
    memcpy(&pow2, &bits, sizeof pow2);
    float e = q * pow2;
    return x < lo ? 0.0f : e;
}

/* The normal distribution: *cdf = P(N(0,1) <= x), *pdf its density at x. Upper tail = exp(-x^2/2) u poly(u),
 * u = 1/(1 + 0.35|x|): the form of Hastings 1955 with coefficients fitted here. */
static inline void plain_normal(float x, float *cdf, float *pdf)
{
    float t = fabsf(x);
    float e = plain_exp(-0.5f * (t * t));
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

/* 1/(1+exp(-z)) and 1/(1+exp(z)), both without cancellation. */
static inline void plain_sigmoid(float z, float *s, float *s_minus)
{
    float e = plain_exp(0.0f - fabsf(z));
    float q = 1.0f / (1.0f + e);
    float eq = e * q;
    *s = z < 0.0f ? eq : q;
    *s_minus = z < 0.0f ? q : eq;
}

/* gelu(x) = x P(N <= x) (Hendrycks and Gimpel 2016). */
static inline float plain_gelu(float x)
{
    float cdf, pdf;
    plain_normal(x, &cdf, &pdf);
    return x * cdf;
}

static inline float plain_gelu_grad(float x)
{
    float cdf, pdf;
    plain_normal(x, &cdf, &pdf);
    return fmaf(x, pdf, cdf);
}

/* The tanh form of GELU: 0.5 x (1 + tanh(u)) = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3). */
static inline float plain_gelu_tanh(float x)
{
    float s, sm;
    float z = 1.59576912f * x * fmaf(0.044715f, x * x, 1.0f);
    plain_sigmoid(z, &s, &sm);
    return x * s;
}

static inline float plain_gelu_tanh_grad(float x)
{
    float s, sm;
    float z = 1.59576912f * x * fmaf(0.044715f, x * x, 1.0f);
    plain_sigmoid(z, &s, &sm);
    float dz = 1.59576912f * fmaf(0.134145f, x * x, 1.0f);
    return fmaf(x * (s * sm), dz, s);
}

static inline float plain_silu(float x)
{
    float s, sm;
    plain_sigmoid(x, &s, &sm);
    return x * s;
}

static inline float plain_silu_grad(float x)
{
    float s, sm;
    plain_sigmoid(x, &s, &sm);
    return fmaf(x, s * sm, s);
}

static inline float plain_act(float x, int act) /* act: enum pw_act */
{
    if (act == 4)
        return plain_silu(x);
    return act == 1 ? (0.0f > x ? 0.0f : x) : act == 2 ? plain_gelu(x) : act == 3 ? plain_gelu_tanh(x) : x;
}

/* The fixed tree that combines the 16 lanes of every sum. */
static inline float plain_tree(float lane[16])
{
    for (int step = 8; step > 0; step /= 2)
        for (int l = 0; l < step; l++)
            lane[l] += lane[l + step];
    return lane[0];
}

#endif
