/* t5.c - a learned bias on the score per head and bucket of distances, shared by all layers (Raffel et al.
 * 2020, section 2.1).
 *
 * Buckets. With E = floor(B/2), each distance below E has its own bucket. The other B - E buckets share
 * E..D-1 in logarithmic steps, and the last one takes everything beyond:
 *     bucket(n) = E + floor(ln(n/E) / ln(D/E) * (B - E)),  at most B - 1.
 * (Kazemnejad et al. 2023 print B/2 throughout, which is wrong for odd B; their own example, B = 5 and D = 6,
 * follows the formula above.) The floor of a quotient of logarithms is fragile: for B = 9, D = 128, n = 8
 * double precision gives 4, but the exact value is 5. So this file compares powers instead: bucket >= E + j
 * <=>  n^k E^j >= D^j E^k  with k = B - E, in exact integers. tests/model/test_golden_pe.c compares both.
 *
 * Without the causal mask half of the buckets are for keys after the query. The first B/2 are for distances n
 * >= 0, the others for the absolute values of negative distances, each half as above with B/2 in place of B.
 * The first bucket of the second half would be for absolute value 0, so it is never used (as in T5's code).
 *
 * Defaults follow the model. With short training sequences, T5's 32 buckets up to distance 128 would mostly
 * stay untrained, and longer distances would have random biases. So contexts up to 256 use 8 and 16. Models
 * of the released code of Kazemnejad et al. 2023 have 32 and 128 at every length. */
#include <assert.h>
#include <stdint.h>

#include "model/pe.h"

enum { SMALL_CONTEXT = 256, MAX_BUCKETS = 128, MAX_DISTANCE = 65536 };

struct options {
    int buckets, distance; /* 0: not given */
};

static const struct pw_opt opts_table[] = {
    {"buckets", PW_OPT_INT, offsetof(struct options, buckets), NULL, 2, MAX_BUCKETS, NULL, 0,
     "learned biases per head; with causal=off half are for later keys; default: 8 for contexts up to 256, "
     "else 32"},
    {"distance", PW_OPT_INT, offsetof(struct options, distance), NULL, 2, MAX_DISTANCE, NULL, 0,
     "all distances from here on share one bias; default: twice the buckets; 128 for 32"},
    {0},
};

/* A natural number, little-endian words. The products have fewer than B factors of at most 17 bits. */
struct big {
    uint32_t word[MAX_BUCKETS * 17 / 32 + 1];
    int n;
};

static void big_mul(struct big *b, uint32_t factor, int times)
{
    for (; times > 0; times--) {
        uint64_t carry = 0;
        for (int i = 0; i < b->n; i++) {
            carry += (uint64_t)b->word[i] * factor;
            b->word[i] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry) {
            assert(b->n < (int)(sizeof b->word / sizeof *b->word));
            b->word[b->n++] = (uint32_t)carry;
        }
    }
}

/* a^i b^j >= c^k d^l */
static bool powers_reach(uint32_t a, int i, uint32_t b, int j, uint32_t c, int k, uint32_t d, int l)
{
    struct big left = {{1}, 1}, right = {{1}, 1};

    big_mul(&left, a, i);
    big_mul(&left, b, j);
    big_mul(&right, c, k);
    big_mul(&right, d, l);
    if (left.n != right.n)
        return left.n > right.n;
    for (int w = left.n - 1; w >= 0; w--)
        if (left.word[w] != right.word[w])
            return left.word[w] > right.word[w];
    return true;
}

int pw_t5_bucket(int distance, int buckets, int max_distance)
{
    int exact = buckets / 2, log_buckets = buckets - exact;
    int low = 0, high = log_buckets; /* bucket - exact is in [low, high) */

    assert(buckets >= 2 && buckets <= MAX_BUCKETS && max_distance > exact && max_distance <= MAX_DISTANCE);
    if (distance < exact)
        return distance < 0 ? 0 : distance;
    if (distance >= max_distance)
        return buckets - 1;
    while (high - low > 1) {
        int j = (low + high) / 2;
        if (powers_reach((uint32_t)distance, log_buckets, (uint32_t)exact, j, (uint32_t)max_distance, j,
                         (uint32_t)exact, log_buckets))
            low = j;
        else
            high = j;
    }
    return exact + low;
}

static void resolve(void *opts, const struct pw_config *cfg)
{
    struct options *o = opts;

    if (o->buckets == 0)
        o->buckets = cfg->context <= SMALL_CONTEXT && !pw_config_released(cfg) ? 8 : 32;
    if (o->distance == 0)
        o->distance = o->buckets == 32 ? 128 : 2 * o->buckets;
}

/* Buckets of keys before the query; later keys have as many, without the causal mask. */
static int buckets_a_side(const struct options *o, const struct pw_config *cfg)
{
    return cfg->causal ? o->buckets : o->buckets / 2;
}

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    const struct options *o = opts;
    int exact = buckets_a_side(o, cfg) / 2;

    if (!cfg->causal && (o->buckets < 4 || o->buckets % 2 != 0))
        return pw_fail(
            err, PW_EUSER,
            "t5: buckets=%d: with causal=off half of them are for later keys; use an even number from 4 on",
            o->buckets);
    if (o->distance <= exact)
        return pw_fail(err, PW_EUSER,
                       "t5: buckets=%d distance=%d: the distance must exceed %s the buckets, %d", o->buckets,
                       o->distance, cfg->causal ? "half" : "a quarter of", exact);
    return PW_OK;
}

/* Version 0.1 had all later keys in bucket 0. */
static int rule(const struct pw_config *cfg)
{
    return cfg->causal ? 0 : 1;
}

static int rows(const void *opts, const struct pw_config *cfg)
{
    (void)cfg;
    return ((const struct options *)opts)->buckets;
}

static int bucket(const void *opts, const struct pw_config *cfg, int distance)
{
    const struct options *o = opts;
    int side = buckets_a_side(o, cfg);

    if (distance >= 0)
        return pw_t5_bucket(distance, side, o->distance);
    return side + pw_t5_bucket(-distance, side, o->distance);
}

const struct pw_pe pw_pe_t5 = {
    .name = "t5",
    .summary = "a learned bias on the score for each head and bucket of distances",
    .source = "Raffel et al. 2020, section 2.1",
    .aliases = {"t5_bias", "t5_relative_bias"},
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_BIAS,
    .resolve = resolve,
    .choice = "8/16 up to context 256, 32/128 beyond",
    .check = check,
    .rule = rule,
    .param = "bias",
    .param_rows = rows,
    .init_std = 0.1f,
    .index = bucket,
};
