/* half.c - conversion between float and half precision, done on the bits. */
#include "base/half.h"
#include "base/both.h"

#include <stdbool.h>
#include <string.h>

/* Half precision has 5 exponent bits (bias 15) and 10 fraction bits; single precision has 8 (bias 127) and
 * 23. */
uint16_t pw_half(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    uint32_t sign = u >> 16 & 0x8000, h;
    u &= 0x7fffffff;
    if (u > 0x7f800000) { /* NaN; a fraction of 0 would make it infinity */
        uint32_t payload = u >> 13 & 0x3ff;
        h = 0x7c00 | (payload != 0 ? payload : 0x200);
    } else if (u >= 0x47800000) { /* 2^16 and more */
        h = 0x7c00;
    } else if (u >= 0x38800000) { /* normal, from 2^-14 */
        /* A carry into the exponent is right, also for 65520, which becomes infinity. */
        h = (u - 0x38000000 + 0xfff + (u >> 13 & 1)) >> 13;
    } else if (u >= 0x33000000) { /* subnormal, in units of 2^-24; from half a unit on */
        uint32_t fraction = (u & 0x7fffff) | 0x800000, shift = 126 - (u >> 23); /* 14..24 */
        uint32_t rest = fraction & ((1u << shift) - 1), tie = 1u << (shift - 1);
        h = fraction >> shift;
        h += rest > tie || (rest == tie && (h & 1));
    } else {
        h = 0;
    }
    return (uint16_t)(sign | h);
}

float pw_from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff, u;
    if (exponent == 31) {
        u = 0x7f800000 | fraction << 13;
    } else if (exponent != 0) {
        u = (exponent + 112) << 23 | fraction << 13;
    } else { /* subnormal: exact in single precision, so the multiplication does the shifting */
        float value = (float)fraction * 0x1p-24f;
        memcpy(&u, &value, sizeof u);
    }
    u |= sign;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Returns all bits set if yes. */
static inline uint32_t mask_of(bool yes)
{
    return (uint32_t)0 - (uint32_t)yes;
}

/* Without branches, so that compilers can use vectors: attention has subnormal and normal numbers in any
 * order. */
PW_WIDE void pw_from_halves(float *out, const uint16_t *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t all = h[i], fraction = all & 0x3ff, exponent = all & 0x7c00;
        uint32_t infinite = mask_of(exponent == 0x7c00), subnormal = mask_of(exponent == 0), low, u;
        float value = (float)(int32_t)fraction * 0x1p-24f;
        memcpy(&low, &value, sizeof low);
        u = ((all & 0x7fff) << 13) + (112u << 23);
        u = (u & ~(infinite | subnormal)) | ((0x7f800000 | fraction << 13) & infinite) | (low & subnormal);
        u |= (all & 0x8000) << 16;
        memcpy(&out[i], &u, sizeof u);
    }
}
