/* rng.c - Philox4x32-10, and random values made from it.
 *
 * Layout: the key is the seed; the counter is {block, stream, index low, index high}. Every input has its own
 * words, so no two (seed, stream, index, block) share a block. A generator gives 2^34 numbers before `block`
 * would wrap, which is asserted.
 *
 * A draw takes as many numbers as it needs and stores nothing: below() takes one and rarely more, unit() one,
 * normal() two. The second Box-Muller value is discarded; otherwise a value would depend on the number of
 * earlier draws. */
#include "base/rng.h"

#include <assert.h>
#include <math.h>

#include "base/maths.h"

void pw_philox(uint32_t out[4], const uint32_t ctr[4], const uint32_t key[2])
{
    uint32_t c0 = ctr[0], c1 = ctr[1], c2 = ctr[2], c3 = ctr[3], k0 = key[0], k1 = key[1];

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xd2511f53u * c0; /* multipliers: Salmon et al. 2011, table 2 */
        uint64_t p1 = (uint64_t)0xcd9e8d57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9e3779b9u; /* golden ratio */
        k1 += 0xbb67ae85u; /* sqrt(3) - 1 */
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void pw_rng_init(struct pw_rng *r, uint64_t seed, enum pw_stream stream, uint64_t index)
{
    *r = (struct pw_rng){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .ctr = {0, (uint32_t)stream, (uint32_t)index, (uint32_t)(index >> 32)},
        .used = 4,
    };
}

void pw_rng_skip(struct pw_rng *r, uint32_t blocks)
{
    assert(r->ctr[0] == 0);
    r->ctr[0] = blocks;
}

uint32_t pw_rng_u32(struct pw_rng *r)
{
    if (r->used == 4) {
        pw_philox(r->out, r->ctr, r->key);
        r->ctr[0]++;
        assert(r->ctr[0] != 0);
        r->used = 0;
    }
    return r->out[r->used++];
}

uint64_t pw_rng_u64(struct pw_rng *r)
{
    uint64_t high = pw_rng_u32(r);
    return high << 32 | pw_rng_u32(r);
}

/* Lemire 2019, "Fast random integer generation in an interval": return the upper half of x * n. The few x
 * whose lower half would make some results more likely are rejected and drawn again. */
uint32_t pw_rng_below(struct pw_rng *r, uint32_t n)
{
    assert(n > 0);
    uint64_t product = (uint64_t)pw_rng_u32(r) * n;
    if ((uint32_t)product < n) {
        uint32_t surplus = -n % n; /* 2^32 mod n */
        while ((uint32_t)product < surplus)
            product = (uint64_t)pw_rng_u32(r) * n;
    }
    return (uint32_t)(product >> 32);
}

int pw_rng_deal(struct pw_rng *r, int *rest, int n, int i)
{
    int j = i + (int)pw_rng_below(r, (uint32_t)(n - i)), dealt = rest[j];
    rest[j] = rest[i];
    rest[i] = dealt;
    return dealt;
}

double pw_rng_unit(struct pw_rng *r)
{
    return pw_rng_u32(r) * 0x1p-32;
}

double pw_rng_normal(struct pw_rng *r)
{
    double radius = (pw_rng_u32(r) + 1.0) * 0x1p-32; /* in (0,1], so that the logarithm is finite */
    double turn = pw_rng_unit(r);

    return sqrt(-2.0 * pw_log(radius)) * pw_cos(6.28318530717958647693 * turn);
}

/* A Feistel network (Luby and Rackoff 1988) on an even number of bits permutes up to 4n numbers. Iterating it
 * until the value is below n (cycle walking, Black and Rogaway 2002) gives a permutation of 0..n-1. Philox is
 * the round function, with the counter {round and half, stream, index}. Four rounds would suffice for large
 * n; eight are used because n may be small. */
uint32_t pw_rng_shuffled(uint64_t seed, enum pw_stream stream, uint64_t index, uint32_t n, uint32_t k)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    int bits = 1; /* bits of one half */
    assert(n > 0 && n <= 1u << 31 && k < n);
    while ((uint64_t)1 << 2 * bits < n)
        bits++;
    uint32_t mask = (1u << bits) - 1;
    do {
        uint32_t left = k >> bits, right = k & mask;
        for (uint32_t round = 0; round < 8; round++) {
            uint32_t out[4],
                ctr[4] = {round << 16 | right, (uint32_t)stream, (uint32_t)index, (uint32_t)(index >> 32)};
            pw_philox(out, ctr, key);
            uint32_t next = left ^ (out[0] & mask);
            left = right;
            right = next;
        }
        k = left << bits | right;
    } while (k >= n);
    return k;
}
