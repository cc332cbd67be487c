/* simd_double.h - sixteen double lanes, for the networks of formulas (expr.c): two AVX-512 registers, four
 * AVX2 registers, or an array. Every function is one IEEE operation for each lane (simd.h). */
#ifndef PW_CPU_SIMD_DOUBLE_H
#define PW_CPU_SIMD_DOUBLE_H
#include "kernels/cpu/simd.h"

#include <math.h>

/* clang-format off */
#if defined(__AVX512F__)
enum { W_PARTS = 2, W_LANES = 8 };
typedef __m512d w_part;
V_INLINE w_part w_part_set(double x) { return _mm512_set1_pd(x); }
V_INLINE w_part w_part_load(const double *p) { return _mm512_loadu_pd(p); }
V_INLINE void w_part_store(double *p, w_part a) { _mm512_storeu_pd(p, a); }
V_INLINE w_part w_part_add(w_part a, w_part b) { return _mm512_add_pd(a, b); }
V_INLINE w_part w_part_fma(w_part a, w_part b, w_part c) { return _mm512_fmadd_pd(a, b, c); }
/* 0 > a ? 0 : a, so a if it is NaN; and 0 < of ? a : 0 */
V_INLINE w_part w_part_relu(w_part a) { return _mm512_max_pd(w_part_set(0), a); }
V_INLINE w_part w_part_where(w_part of, w_part a)
{
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(w_part_set(0), of, _CMP_LT_OQ), a);
}
#elif defined(__AVX2__)
enum { W_PARTS = 4, W_LANES = 4 };
typedef __m256d w_part;
V_INLINE w_part w_part_set(double x) { return _mm256_set1_pd(x); }
V_INLINE w_part w_part_load(const double *p) { return _mm256_loadu_pd(p); }
V_INLINE void w_part_store(double *p, w_part a) { _mm256_storeu_pd(p, a); }
V_INLINE w_part w_part_add(w_part a, w_part b) { return _mm256_add_pd(a, b); }
V_INLINE w_part w_part_fma(w_part a, w_part b, w_part c) { return _mm256_fmadd_pd(a, b, c); }
V_INLINE w_part w_part_relu(w_part a) { return _mm256_max_pd(w_part_set(0), a); }
V_INLINE w_part w_part_where(w_part of, w_part a)
{
    return _mm256_and_pd(_mm256_cmp_pd(w_part_set(0), of, _CMP_LT_OQ), a);
}
#else
enum { W_PARTS = 16, W_LANES = 1 };
typedef double w_part;
V_INLINE w_part w_part_set(double x) { return x; }
V_INLINE w_part w_part_load(const double *p) { return *p; }
V_INLINE void w_part_store(double *p, w_part a) { *p = a; }
V_INLINE w_part w_part_add(w_part a, w_part b) { return a + b; }
V_INLINE w_part w_part_fma(w_part a, w_part b, w_part c) { return fma(a, b, c); }
V_INLINE w_part w_part_relu(w_part a) { return 0 > a ? 0 : a; }
V_INLINE w_part w_part_where(w_part of, w_part a) { return 0 < of ? a : 0; }
#endif
/* clang-format on */

typedef struct {
    w_part part[W_PARTS];
} w16;

#define W_EACH(result, expression)                                                                           \
    w16 result;                                                                                              \
    V_UNROLL                                                                                                 \
    for (int i = 0; i < W_PARTS; i++)                                                                        \
        result.part[i] = expression;                                                                         \
    return result

V_INLINE w16 w_set(double x)
{
    W_EACH(y, w_part_set(x));
}
V_INLINE w16 w_load(const double *p)
{
    W_EACH(y, w_part_load(p + i * W_LANES));
}
V_INLINE void w_store(double *p, w16 a)
{
    V_UNROLL
    for (int i = 0; i < W_PARTS; i++)
        w_part_store(p + i * W_LANES, a.part[i]);
}
V_INLINE w16 w_add(w16 a, w16 b)
{
    W_EACH(y, w_part_add(a.part[i], b.part[i]));
}
V_INLINE w16 w_fma(w16 a, w16 b, w16 c)
{
    W_EACH(y, w_part_fma(a.part[i], b.part[i], c.part[i]));
}
V_INLINE w16 w_relu(w16 a)
{
    W_EACH(y, w_part_relu(a.part[i]));
}
V_INLINE w16 w_where_positive(w16 of, w16 a)
{
    W_EACH(y, w_part_where(of.part[i], a.part[i]));
}

/* Adds the lanes: l and l+8, then l+4, l+2, l+1. */
V_INLINE double w_tree(w16 a)
{
#if defined(__AVX2__)
#if defined(__AVX512F__)
    __m512d eight = _mm512_add_pd(a.part[0], a.part[1]);
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
#else
    __m256d four = _mm256_add_pd(_mm256_add_pd(a.part[0], a.part[2]), _mm256_add_pd(a.part[1], a.part[3]));
#endif
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
#else
    for (int by = 8; by > 0; by /= 2)
        for (int l = 0; l < by; l++)
            a.part[l] += a.part[l + by];
    return a.part[0];
#endif
}

#endif
