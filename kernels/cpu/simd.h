/* simd.h - vectors of sixteen float lanes: one AVX-512 register, two AVX2 registers, or an array of sixteen
 * floats.
 *
 * An operation of the backend is written once with these functions and gives the same bits on each form.
 * Every lane operation is one IEEE operation; fma runs in hardware, or as the C library's fmaf, which is
 * correctly rounded. No sum leaves the order that kernels/backend.h defines. The array form also serves
 * processors other than x86; compilers vectorise its loops for the machine. */
#ifndef PW_CPU_SIMD_H
#define PW_CPU_SIMD_H
#include <stdint.h>
#include <string.h>

/* Loops over registers must be unrolled completely; otherwise the compiler keeps the registers in memory. */
#if defined(__clang__)
#define V_UNROLL _Pragma("clang loop unroll(full)")
#else
#define V_UNROLL _Pragma("GCC unroll 16")
#endif
#define V_INLINE static inline __attribute__((always_inline, unused))
/* For long functions. Lane by lane they are hundreds of statements, so there every use would cost the
 * compiler seconds, and the call costs nothing beside the lanes. */
#if defined(__AVX2__)
#define V_LONG V_INLINE
#else
#define V_LONG static __attribute__((noinline, unused))
#endif

#if defined(__AVX512F__)
#include <immintrin.h>

/* clang-format off */
typedef __m512 v16;    /* lanes */
typedef __mmask16 m16; /* one truth value per lane */

V_INLINE v16 v_zero(void) { return _mm512_setzero_ps(); }
V_INLINE v16 v_set(float x) { return _mm512_set1_ps(x); }
V_INLINE v16 v_load(const float *p) { return _mm512_loadu_ps(p); }
V_INLINE void v_store(float *p, v16 a) { _mm512_storeu_ps(p, a); }
V_INLINE v16 v_add(v16 a, v16 b) { return _mm512_add_ps(a, b); }
V_INLINE v16 v_sub(v16 a, v16 b) { return _mm512_sub_ps(a, b); }
V_INLINE v16 v_mul(v16 a, v16 b) { return _mm512_mul_ps(a, b); }
V_INLINE v16 v_div(v16 a, v16 b) { return _mm512_div_ps(a, b); }
V_INLINE v16 v_sqrt(v16 a) { return _mm512_sqrt_ps(a); }
V_INLINE v16 v_fma(v16 a, v16 b, v16 c) { return _mm512_fmadd_ps(a, b, c); }
V_INLINE v16 v_max(v16 a, v16 b) { return _mm512_max_ps(a, b); } /* a > b ? a : b, so b if one is NaN */
V_INLINE m16 m_first(int n) { return (m16)((1u << n) - 1u); }    /* lanes 0..n-1, n <= 16 */
V_INLINE m16 v_less(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
V_INLINE m16 v_equal(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
V_INLINE unsigned m_bits(m16 m) { return m; }
V_INLINE v16 v_select(m16 m, v16 a, v16 b) { return _mm512_mask_blend_ps(m, b, a); } /* m ? a : b */
V_INLINE v16 v_load_m(const float *p, m16 m) { return _mm512_maskz_loadu_ps(m, p); }
V_INLINE void v_store_m(float *p, m16 m, v16 a) { _mm512_mask_storeu_ps(p, m, a); }
V_INLINE v16 v_abs(v16 a) { return _mm512_abs_ps(a); }
V_INLINE int v_any_between_0_and(v16 a, float limit) /* 0 < a < limit; compares bits - 1, where 0 wraps */
{
    __m512i one = _mm512_set1_epi32(1), end = _mm512_castps_si512(v_set(limit));
    return _mm512_cmplt_epu32_mask(_mm512_sub_epi32(_mm512_castps_si512(a), one), _mm512_sub_epi32(end, one));
}
V_INLINE v16 v_dup_even(v16 a) { return _mm512_moveldup_ps(a); } /* lanes 0 0 2 2 4 4 .. */
V_INLINE v16 v_dup_odd(v16 a) { return _mm512_movehdup_ps(a); }  /* lanes 1 1 3 3 5 5 .. */
/* The same in groups of four: lanes 0123 0123 89ab 89ab, and 4567 4567 cdef cdef. */
V_INLINE v16 v_dup_even4(v16 a) { return _mm512_shuffle_f32x4(a, a, 0xa0); }
V_INLINE v16 v_dup_odd4(v16 a) { return _mm512_shuffle_f32x4(a, a, 0xf5); }
/* Sixteen numbers of 16 bits, widened exactly. */
V_INLINE v16 v_from_bf16(const uint16_t *p)
{
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}
V_INLINE v16 v_from_f16(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
/* The other direction, for numbers of half precision. */
V_INLINE void v_to_f16(uint16_t *p, v16 a)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
/* 2^n for -126 <= n <= 127, from t = 1.5 * 2^23 + n */
V_INLINE v16 v_pow2(v16 t)
{
    __m512i bits = _mm512_add_epi32(_mm512_castps_si512(t), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 23));
}
/* Transpose a 16x16 matrix: lane j of r[i] is exchanged with lane i of r[j]. */
V_INLINE void v_transpose(v16 r[16])
{
    v16 t[16];
    V_UNROLL
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    V_UNROLL
    for (int i = 0; i < 16; i += 4)
        for (int k = 0; k < 2; k++) {
            __m512d a = _mm512_castps_pd(t[i + k]), b = _mm512_castps_pd(t[i + 2 + k]);
            r[i + 2 * k] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            r[i + 2 * k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
    V_UNROLL
    for (int i = 0; i < 16; i += 8)
        for (int k = 0; k < 4; k++) {
            t[i + k] = _mm512_shuffle_f32x4(r[i + k], r[i + 4 + k], 0x88);
            t[i + 4 + k] = _mm512_shuffle_f32x4(r[i + k], r[i + 4 + k], 0xdd);
        }
    V_UNROLL
    for (int i = 0; i < 8; i++) {
        r[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
    }
}

#elif defined(__AVX2__)
#include <immintrin.h>

typedef struct {
    __m256 a, b; /* lanes 0..7, 8..15 */
} v16;
typedef struct {
    __m256 a, b; /* all bits set where true */
} m16;

#define V_BOTH(op, x, y) ((v16){op((x).a, (y).a), op((x).b, (y).b)})
V_INLINE v16 v_zero(void) { return (v16){_mm256_setzero_ps(), _mm256_setzero_ps()}; }
V_INLINE v16 v_set(float x) { return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
V_INLINE v16 v_load(const float *p) { return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
V_INLINE void v_store(float *p, v16 x)
{
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
}
V_INLINE v16 v_add(v16 x, v16 y) { return V_BOTH(_mm256_add_ps, x, y); }
V_INLINE v16 v_sub(v16 x, v16 y) { return V_BOTH(_mm256_sub_ps, x, y); }
V_INLINE v16 v_mul(v16 x, v16 y) { return V_BOTH(_mm256_mul_ps, x, y); }
V_INLINE v16 v_div(v16 x, v16 y) { return V_BOTH(_mm256_div_ps, x, y); }
V_INLINE v16 v_sqrt(v16 x) { return (v16){_mm256_sqrt_ps(x.a), _mm256_sqrt_ps(x.b)}; }
V_INLINE v16 v_fma(v16 x, v16 y, v16 z)
{
    return (v16){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
V_INLINE v16 v_max(v16 x, v16 y) { return V_BOTH(_mm256_max_ps, x, y); }
V_INLINE m16 m_first(int n)
{
    __m256i i = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), m = _mm256_set1_epi32(n);
    return (m16){_mm256_castsi256_ps(_mm256_cmpgt_epi32(m, i)),
                 _mm256_castsi256_ps(_mm256_cmpgt_epi32(m, _mm256_add_epi32(i, _mm256_set1_epi32(8))))};
}
V_INLINE m16 v_less(v16 x, v16 y)
{
    return (m16){_mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ)};
}
V_INLINE m16 v_equal(v16 x, v16 y)
{
    return (m16){_mm256_cmp_ps(x.a, y.a, _CMP_EQ_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_EQ_OQ)};
}
V_INLINE unsigned m_bits(m16 m)
{
    return (unsigned)_mm256_movemask_ps(m.a) | (unsigned)_mm256_movemask_ps(m.b) << 8;
}
V_INLINE v16 v_select(m16 m, v16 x, v16 y)
{
    return (v16){_mm256_blendv_ps(y.a, x.a, m.a), _mm256_blendv_ps(y.b, x.b, m.b)};
}
V_INLINE v16 v_load_m(const float *p, m16 m)
{
    return (v16){_mm256_maskload_ps(p, _mm256_castps_si256(m.a)),
                 _mm256_maskload_ps(p + 8, _mm256_castps_si256(m.b))};
}
V_INLINE void v_store_m(float *p, m16 m, v16 x)
{
    _mm256_maskstore_ps(p, _mm256_castps_si256(m.a), x.a);
    _mm256_maskstore_ps(p + 8, _mm256_castps_si256(m.b), x.b);
}
V_INLINE v16 v_abs(v16 x)
{
    __m256 sign = _mm256_set1_ps(-0.0f);
    return (v16){_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
}
V_INLINE v16 v_dup_even(v16 x) { return (v16){_mm256_moveldup_ps(x.a), _mm256_moveldup_ps(x.b)}; }
V_INLINE v16 v_dup_odd(v16 x) { return (v16){_mm256_movehdup_ps(x.a), _mm256_movehdup_ps(x.b)}; }
V_INLINE v16 v_dup_even4(v16 x)
{
    return (v16){_mm256_permute2f128_ps(x.a, x.a, 0x00), _mm256_permute2f128_ps(x.b, x.b, 0x00)};
}
V_INLINE v16 v_dup_odd4(v16 x)
{
    return (v16){_mm256_permute2f128_ps(x.a, x.a, 0x11), _mm256_permute2f128_ps(x.b, x.b, 0x11)};
}
V_INLINE __m256 half_from_bf16(const uint16_t *p)
{
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}
V_INLINE v16 v_from_bf16(const uint16_t *p) { return (v16){half_from_bf16(p), half_from_bf16(p + 8)}; }
V_INLINE __m256 half_from_f16(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
V_INLINE v16 v_from_f16(const uint16_t *p) { return (v16){half_from_f16(p), half_from_f16(p + 8)}; }
V_INLINE void v_to_f16(uint16_t *p, v16 x)
{
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(x.a, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128((__m128i *)(p + 8), _mm256_cvtps_ph(x.b, _MM_FROUND_TO_NEAREST_INT));
}
V_INLINE __m256 half_pow2(__m256 t)
{
    __m256i bits = _mm256_add_epi32(_mm256_castps_si256(t), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 23));
}
V_INLINE v16 v_pow2(v16 t) { return (v16){half_pow2(t.a), half_pow2(t.b)}; }
V_INLINE void half_transpose(__m256 r[8])
{
    __m256 t[8];
    V_UNROLL
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    V_UNROLL
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            __m256d a = _mm256_castps_pd(t[i + k]), b = _mm256_castps_pd(t[i + 2 + k]);
            r[i + 2 * k] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
            r[i + 2 * k + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
        }
    V_UNROLL
    for (int i = 0; i < 4; i++) {
        t[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        t[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
    V_UNROLL
    for (int i = 0; i < 8; i++)
        r[i] = t[i];
}
V_INLINE void v_transpose(v16 r[16])
{
    __m256 q[4][8]; /* quarters */
    for (int i = 0; i < 8; i++) {
        q[0][i] = r[i].a;
        q[1][i] = r[i].b;
        q[2][i] = r[i + 8].a;
        q[3][i] = r[i + 8].b;
    }
    for (int k = 0; k < 4; k++)
        half_transpose(q[k]);
    for (int i = 0; i < 8; i++) {
        r[i] = (v16){q[0][i], q[2][i]};
        r[i + 8] = (v16){q[1][i], q[3][i]};
    }
}

#else
#include "base/half.h"
#include <math.h>

typedef struct {
    float f[16];
} v16;
typedef struct {
    uint32_t bits; /* lane l: bit l */
} m16;

#define V_EACH(expr)                                                                                         \
    v16 r_;                                                                                                  \
    for (int l = 0; l < 16; l++)                                                                             \
        r_.f[l] = (expr);                                                                                    \
    return r_
#define M_EACH(cond)                                                                                         \
    m16 r_ = {0};                                                                                            \
    for (int l = 0; l < 16; l++)                                                                             \
        r_.bits |= (uint32_t)(cond) << l;                                                                    \
    return r_
V_INLINE v16 v_set(float x) { V_EACH(x); }
V_INLINE v16 v_zero(void) { return v_set(0.0f); }
V_INLINE v16 v_load(const float *p) { V_EACH(p[l]); }
V_INLINE void v_store(float *p, v16 a) { memcpy(p, a.f, sizeof a.f); }
V_INLINE v16 v_add(v16 a, v16 b) { V_EACH(a.f[l] + b.f[l]); }
V_INLINE v16 v_sub(v16 a, v16 b) { V_EACH(a.f[l] - b.f[l]); }
V_INLINE v16 v_mul(v16 a, v16 b) { V_EACH(a.f[l] * b.f[l]); }
V_INLINE v16 v_div(v16 a, v16 b) { V_EACH(a.f[l] / b.f[l]); }
V_INLINE v16 v_sqrt(v16 a) { V_EACH(sqrtf(a.f[l])); }
V_INLINE v16 v_fma(v16 a, v16 b, v16 c) { V_EACH(fmaf(a.f[l], b.f[l], c.f[l])); }
V_INLINE v16 v_max(v16 a, v16 b) { V_EACH(a.f[l] > b.f[l] ? a.f[l] : b.f[l]); }
V_INLINE m16 m_first(int n) { return (m16){(1u << n) - 1u}; }
V_INLINE m16 v_less(v16 a, v16 b) { M_EACH(a.f[l] < b.f[l]); }
V_INLINE m16 v_equal(v16 a, v16 b) { M_EACH(a.f[l] == b.f[l]); }
V_INLINE unsigned m_bits(m16 m) { return m.bits; }
V_INLINE v16 v_select(m16 m, v16 a, v16 b) { V_EACH(m.bits >> l & 1u ? a.f[l] : b.f[l]); }
V_INLINE v16 v_load_m(const float *p, m16 m) { V_EACH(m.bits >> l & 1u ? p[l] : 0.0f); }
V_INLINE void v_store_m(float *p, m16 m, v16 a)
{
    for (int l = 0; l < 16; l++)
        if (m.bits >> l & 1u)
            p[l] = a.f[l];
}
V_INLINE v16 v_abs(v16 a) { V_EACH(fabsf(a.f[l])); }
V_INLINE v16 v_dup_even(v16 a) { V_EACH(a.f[l & ~1]); }
V_INLINE v16 v_dup_odd(v16 a) { V_EACH(a.f[l | 1]); }
V_INLINE v16 v_dup_even4(v16 a) { V_EACH(a.f[l & ~4]); }
V_INLINE v16 v_dup_odd4(v16 a) { V_EACH(a.f[l | 4]); }
V_INLINE v16 v_from_bf16(const uint16_t *p)
{
    v16 r;
    for (int l = 0; l < 16; l++) {
        uint32_t bits = (uint32_t)p[l] << 16;
        memcpy(&r.f[l], &bits, sizeof bits);
    }
    return r;
}
V_INLINE v16 v_from_f16(const uint16_t *p)
{
    v16 r;
    pw_from_halves(r.f, p, 16);
    return r;
}
V_INLINE void v_to_f16(uint16_t *p, v16 a)
{
    for (int l = 0; l < 16; l++)
        p[l] = pw_half(a.f[l]);
}
V_INLINE v16 v_pow2(v16 t)
{
    for (int l = 0; l < 16; l++) {
        uint32_t bits;
        memcpy(&bits, &t.f[l], sizeof bits);
        bits = (bits + 127u) << 23;
        memcpy(&t.f[l], &bits, sizeof bits);
    }
    return t;
}
V_INLINE void v_transpose(v16 r[16])
{
    for (int i = 0; i < 16; i++)
        for (int l = 0; l < i; l++) {
            float t = r[i].f[l];
            r[i].f[l] = r[l].f[i];
            r[l].f[i] = t;
        }
}
#endif

/* Load or store the first n lanes: none for n <= 0, all for n >= 16. Other lanes load as 0; their memory is
 * not written. */
V_INLINE v16 v_load_n(const float *p, int n)
{
    return n >= 16 ? v_load(p) : v_load_m(p, m_first(n < 0 ? 0 : n));
}
V_INLINE void v_store_n(float *p, int n, v16 a)
{
    if (n >= 16)
        v_store(p, a);
    else
        v_store_m(p, m_first(n < 0 ? 0 : n), a);
}

/* The end of every sum by lanes: l + (l+8), then 4, 2, 1. */
V_INLINE float v_tree(v16 a)
{
#if defined(__AVX512F__) || defined(__AVX2__)
#if defined(__AVX512F__)
    __m256 lo = _mm512_castps512_ps256(a);
    __m256 hi = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
    __m256 s8 = _mm256_add_ps(lo, hi);
#else
    __m256 s8 = _mm256_add_ps(a.a, a.b);
#endif
    __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
#else
    for (int step = 8; step > 0; step /= 2)
        for (int l = 0; l < step; l++)
            a.f[l] += a.f[l + step];
    return a.f[0];
#endif
}

/* The largest lane. The order of comparisons can't affect the result. */
V_INLINE float v_largest(v16 a)
{
#if defined(__AVX512F__) || defined(__AVX2__)
#if defined(__AVX512F__)
    __m256 lo = _mm512_castps512_ps256(a);
    __m256 hi = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
    __m256 s8 = _mm256_max_ps(lo, hi);
#else
    __m256 s8 = _mm256_max_ps(a.a, a.b);
#endif
    __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
#else
    float m = a.f[0];
    for (int l = 1; l < 16; l++)
        m = a.f[l] > m ? a.f[l] : m;
    return m;
#endif
}

#endif
