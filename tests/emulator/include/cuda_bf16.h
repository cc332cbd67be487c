/* cuda_bf16.h - bfloat16: the part of NVIDIA's header that kernels use. Rounding is to nearest, ties to even.
 */
#ifndef PW_EMU_CUDA_BF16_H
#define PW_EMU_CUDA_BF16_H
#ifdef __cplusplus
#include <pw_emu_maths.h>

struct PW_EMU_ALIGNED(2) __nv_bfloat16 {
    unsigned short bits;

    __nv_bfloat16() = default;
    inline __nv_bfloat16(float x);
    inline operator float() const;
};

static inline float __bfloat162float(__nv_bfloat16 x)
{
    return __uint_as_float((unsigned)x.bits << 16);
}
static inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    unsigned u = __float_as_uint(x);
    __nv_bfloat16 y;
    if ((u & 0x7fffffffu) > 0x7f800000u)
        y.bits = 0x7fff; /* CUDA's one NaN */
    else
        y.bits = (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
    return y;
}
static inline __nv_bfloat16 __float2bfloat16(float x)
{
    return __float2bfloat16_rn(x);
}
inline __nv_bfloat16::__nv_bfloat16(float x)
{
    *this = __float2bfloat16_rn(x);
}
inline __nv_bfloat16::operator float() const
{
    return __bfloat162float(*this);
}
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x)
{
    return x.bits;
}
static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    __nv_bfloat16 y;
    y.bits = bits;
    return y;
}

struct PW_EMU_ALIGNED(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

static inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
    __nv_bfloat162 r;
    r.x = __float2bfloat16_rn(a);
    r.y = __float2bfloat16_rn(b);
    return r;
}
static inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
    __nv_bfloat162 r;
    r.x = a;
    r.y = b;
    return r;
}
static inline float2 __bfloat1622float2(__nv_bfloat162 v)
{
    return make_float2(__bfloat162float(v.x), __bfloat162float(v.y));
}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
#endif
