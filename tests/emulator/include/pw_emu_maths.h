/* pw_emu_maths.h - CUDA's functions on numbers and bits, and the constructors of vector types, for a host C++
 * compiler.
 *
 * Functions that CUDA rounds correctly have the same bits here. __expf, __logf and other approximations are
 * those of the C library, so their results can only be compared within a tolerance. */
#ifndef PW_EMU_MATHS_H
#define PW_EMU_MATHS_H
#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

static inline float2 make_float2(float x, float y)
{
    return {x, y};
}
static inline float3 make_float3(float x, float y, float z)
{
    return {x, y, z};
}
static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
static inline double2 make_double2(double x, double y)
{
    return {x, y};
}
static inline int2 make_int2(int x, int y)
{
    return {x, y};
}
static inline int4 make_int4(int x, int y, int z, int w)
{
    return {x, y, z, w};
}
static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

/* ---- bits */
template <class To, class From> inline To pw_emu_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
static inline unsigned __float_as_uint(float x)
{
    return pw_emu_bits<unsigned>(x);
}
static inline int __float_as_int(float x)
{
    return pw_emu_bits<int>(x);
}
static inline float __uint_as_float(unsigned x)
{
    return pw_emu_bits<float>(x);
}
static inline float __int_as_float(int x)
{
    return pw_emu_bits<float>(x);
}
static inline long long __double_as_longlong(double x)
{
    return pw_emu_bits<long long>(x);
}
static inline double __longlong_as_double(long long x)
{
    return pw_emu_bits<double>(x);
}
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __clz(int x)
{
    return x != 0 ? __builtin_clz((unsigned)x) : 32;
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}

/* ---- arithmetic */
static inline float __fadd_rn(float a, float b)
{
    return a + b;
}
static inline float __fsub_rn(float a, float b)
{
    return a - b;
}
static inline float __fmul_rn(float a, float b)
{
    return a * b;
}
static inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
static inline float __frcp_rn(float a)
{
    return 1.0f / a;
}
static inline float __fsqrt_rn(float a)
{
    return sqrtf(a);
}
static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}
static inline double __dadd_rn(double a, double b)
{
    return a + b;
}
static inline double __dmul_rn(double a, double b)
{
    return a * b;
}
static inline double __ddiv_rn(double a, double b)
{
    return a / b;
}
static inline double __dsqrt_rn(double a)
{
    return sqrt(a);
}
static inline double __fma_rn(double a, double b, double c)
{
    return fma(a, b, c);
}
static inline float __fdividef(float a, float b)
{
    return a / b;
}
static inline float rsqrtf(float a)
{
    return 1.0f / sqrtf(a);
}
inline float __expf(float a) /* not static: glibc declares these two */
{
    return expf(a);
}
inline float __logf(float a)
{
    return logf(a);
}
static inline float __saturatef(float a)
{
    return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; /* NaN: 0 */
}
static inline int __float2int_rn(float a)
{
    return (int)rintf(a);
}
static inline float __int2float_rn(int a)
{
    return (float)a;
}

#define PW_EMU_MIN_MAX(type)                                                                                 \
    static inline type min(type a, type b)                                                                   \
    {                                                                                                        \
        return b < a ? b : a;                                                                                \
    }                                                                                                        \
    static inline type max(type a, type b)                                                                   \
    {                                                                                                        \
        return a < b ? b : a;                                                                                \
    }
PW_EMU_MIN_MAX(int)
PW_EMU_MIN_MAX(unsigned)
PW_EMU_MIN_MAX(long)
PW_EMU_MIN_MAX(unsigned long)
PW_EMU_MIN_MAX(long long)
PW_EMU_MIN_MAX(unsigned long long)
#undef PW_EMU_MIN_MAX
static inline float min(float a, float b)
{
    return fminf(a, b);
}
static inline float max(float a, float b)
{
    return fmaxf(a, b);
}
static inline double min(double a, double b)
{
    return fmin(a, b);
}
static inline double max(double a, double b)
{
    return fmax(a, b);
}

#endif
