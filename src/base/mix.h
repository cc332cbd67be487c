/* mix.h - a 64-bit hash: Stafford's mix 13, the finaliser of SplitMix64. Every bit of x affects every bit of
 * the result. */
#ifndef PW_MIX_H
#define PW_MIX_H
#include <stdint.h>

#include "base/both.h"

PW_BOTH uint64_t pw_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
