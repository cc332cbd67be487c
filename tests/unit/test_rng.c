/* test_rng.c - tests Philox against known answers, the layout of key and counter, and the distributions. */
#include "unit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/rng.h"

/* From the Random123 distribution (Salmon et al. 2011), kat_vectors, philox4x32 with 10 rounds. */
static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t ctr[4], key[2], out[4];
    } kat[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof kat / sizeof *kat; i++) {
        uint32_t out[4];
        pw_philox(out, kat[i].ctr, kat[i].key);
        assert_memory_equal(out, kat[i].out, sizeof out);
    }
}

/* A generator yields blocks 0, 1, 2, ... of the documented key and counter, from the first number on. */
static void layout(void **state)
{
    (void)state;
    const uint64_t seed = 0x0123456789abcdefu, index = 0xfedcba9876543210u;
    struct pw_rng r;

    pw_rng_init(&r, seed, PW_STREAM_VALID, index);
    for (uint32_t block = 0; block < 5; block++) {
        uint32_t out[4], key[2] = {0x89abcdef, 0x01234567};
        uint32_t ctr[4] = {block, PW_STREAM_VALID, 0x76543210, 0xfedcba98};
        pw_philox(out, ctr, key);
        for (int i = 0; i < 4; i++)
            assert_int_equal(pw_rng_u32(&r), out[i]);
    }
}

static uint64_t first(uint64_t seed, enum pw_stream stream, uint64_t index)
{
    struct pw_rng r;

    pw_rng_init(&r, seed, stream, index);
    uint64_t high = pw_rng_u32(&r);
    return high << 32 | pw_rng_u32(&r);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Every bit of seed and index, and every stream, changes the numbers. The first 64 bits of 645 generators are
 * compared: two are equal by chance with probability 1e-14. */
static void all_inputs_matter(void **state)
{
    (void)state;
    uint64_t seen[5 * (1 + 64 + 64)];
    size_t n = 0;

    for (int stream = PW_STREAM_INIT; stream <= PW_STREAM_PROMPT; stream++) {
        seen[n++] = first(7, (enum pw_stream)stream, 5);
        for (int bit = 0; bit < 64; bit++) {
            seen[n++] = first(7 ^ (uint64_t)1 << bit, (enum pw_stream)stream, 5);
            seen[n++] = first(7, (enum pw_stream)stream, 5 ^ (uint64_t)1 << bit);
        }
    }
    assert_int_equal(n, sizeof seen / sizeof *seen);
    qsort(seen, n, sizeof *seen, by_value);
    for (size_t i = 1; i < n; i++)
        assert_true(seen[i - 1] != seen[i]);
}

static void below_is_uniform(void **state)
{
    (void)state;
    enum { N = 100000, K = 10 };
    int count[K] = {0};
    double chi2 = 0;
    struct pw_rng r;

    pw_rng_init(&r, 11, PW_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        uint32_t x = pw_rng_below(&r, K);
        assert_in_range(x, 0, K - 1);
        count[x]++;
    }
    for (int i = 0; i < K; i++)
        chi2 += (count[i] - N / K) * (double)(count[i] - N / K) / (N / K);
    assert_true(chi2 < 27.9); /* 9 degrees of freedom: 0.1 % of generators would be above */
    for (int i = 0; i < 100; i++)
        assert_int_equal(pw_rng_below(&r, 1), 0);
}

/* For n = 3 * 2^30 a plain x * n >> 32 (or x % n) yields a third of the results twice as often. */
static void below_has_no_bias(void **state)
{
    (void)state;
    enum { N = 60000 };
    const uint32_t n = 3u << 30;
    int thirds[3] = {0}, by_rest[3] = {0};
    struct pw_rng r;

    pw_rng_init(&r, 12, PW_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        uint32_t x = pw_rng_below(&r, n);
        assert_true(x < n);
        thirds[x >> 30]++;
        by_rest[x % 3]++;
    }
    for (int i = 0; i < 3; i++) {
        assert_in_range(thirds[i], N / 3 - 500, N / 3 + 500); /* 115 is one standard deviation */
        assert_in_range(by_rest[i], N / 3 - 500, N / 3 + 500);
    }
}

static void unit_is_uniform(void **state)
{
    (void)state;
    enum { N = 100000 };
    double sum = 0, square = 0;
    struct pw_rng r;

    pw_rng_init(&r, 13, PW_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        double u = pw_rng_unit(&r);
        assert_true(u >= 0 && u < 1);
        sum += u;
        square += u * u;
    }
    assert_true(fabs(sum / N - 0.5) < 4 * 0.2887 / sqrt(N));
    assert_true(fabs(square / N - 1.0 / 3) < 4 * 0.2981 / sqrt(N));
}

static void normal_is_normal(void **state)
{
    (void)state;
    enum { N = 100000 };
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    int within1 = 0, beyond3 = 0;
    struct pw_rng r;

    pw_rng_init(&r, 14, PW_STREAM_INIT, 0);
    for (int i = 0; i < N; i++) {
        double x = pw_rng_normal(&r);
        m1 += x;
        m2 += x * x;
        m3 += x * x * x;
        m4 += x * x * x * x;
        within1 += fabs(x) < 1;
        beyond3 += fabs(x) > 3;
    }
    /* Four standard deviations of each mean: sqrt of 1, 2, 15 and 96 over N. */
    assert_true(fabs(m1 / N) < 4 * sqrt(1.0 / N));
    assert_true(fabs(m2 / N - 1) < 4 * sqrt(2.0 / N));
    assert_true(fabs(m3 / N) < 4 * sqrt(15.0 / N));
    assert_true(fabs(m4 / N - 3) < 4 * sqrt(96.0 / N));
    assert_in_range(within1, 68269 - 600, 68269 + 600);
    assert_in_range(beyond3, 270 - 66, 270 + 66);
}

/* One normal takes exactly two numbers and buffers none. */
static void positions(void **state)
{
    (void)state;
    struct pw_rng a, b;

    pw_rng_init(&a, 15, PW_STREAM_TRAIN, 3);
    pw_rng_init(&b, 15, PW_STREAM_TRAIN, 3);
    for (int i = 0; i < 7; i++) {
        pw_rng_normal(&a);
        pw_rng_u32(&b);
        pw_rng_u32(&b);
        pw_rng_unit(&a);
        pw_rng_u32(&b);
    }
    assert_int_equal(pw_rng_u32(&a), pw_rng_u32(&b));
}

/* Initial weights and samples have these bits; recorded sessions depend on them. */
static void golden_bits(void **state)
{
    (void)state;
    uint64_t h = 0xcbf29ce484222325u;
    struct pw_rng r;

    pw_rng_init(&r, 42, PW_STREAM_INIT, 1);
    for (int i = 0; i < 4000; i++) {
        double x = i % 3 == 0 ? pw_rng_below(&r, (uint32_t)i + 1) : pw_rng_normal(&r);
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        h = (h ^ bits) * 0x100000001b3u;
        h ^= h >> 32;
    }
    print_message("%016llx\n", (unsigned long long)h);
    assert_true(h == 0x29ea4ca9b6692f69u);
}

/* Every number occurs once, for any n, and another index gives another order. */
static void shuffled_is_a_permutation(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4096, 4097, 30000};
    static bool met[30000];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint32_t n = sizes[k], fixed = 0, same = 0;
        memset(met, 0, sizeof met);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t to = pw_rng_shuffled(7, PW_STREAM_EPOCH, 3, n, i);
            assert_true(to < n && !met[to]);
            met[to] = true;
            fixed += to == i;
            same += to == pw_rng_shuffled(7, PW_STREAM_EPOCH, 4, n, i);
        }
        if (n > 20) /* one expected of each */
            assert_true(fixed < 10 && same < 10);
    }
    assert_true(pw_rng_shuffled(7, PW_STREAM_EPOCH, 3, 1u << 31, 5) < 1u << 31);
}

/* All 24 orders of four occur equally often: 1000 of each are expected, with five standard deviations as the
 * limit. */
static void shuffled_has_every_order(void **state)
{
    (void)state;
    int count[256] = {0}, orders = 0;
    for (uint64_t index = 0; index < 24000; index++) {
        uint32_t code = 0;
        for (uint32_t i = 0; i < 4; i++)
            code = code << 2 | pw_rng_shuffled(1, PW_STREAM_EPOCH, index, 4, i);
        count[code]++;
    }
    for (int i = 0; i < 256; i++) {
        orders += count[i] > 0;
        assert_true(count[i] == 0 || (count[i] > 845 && count[i] < 1155));
    }
    assert_int_equal(orders, 24);
}

/* A whole deal has each entry once, and every entry comes first equally often. */
static void deal(void **state)
{
    enum { N = 5, TIMES = 5000 };
    int first_of[N] = {0};
    struct pw_rng r;
    (void)state;

    pw_rng_init(&r, 3, PW_STREAM_PROBE, 0);
    for (int t = 0; t < TIMES; t++) {
        int rest[N] = {0, 1, 2, 3, 4}, seen[N] = {0};
        for (int i = 0; i < N; i++) {
            int dealt = pw_rng_deal(&r, rest, N, i);
            assert_int_equal(dealt, rest[i]);
            assert_int_equal(seen[dealt]++, 0);
        }
        first_of[rest[0]]++;
    }
    for (int i = 0; i < N; i++)
        assert_in_range(first_of[i], TIMES / N - 120, TIMES / N + 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deal),
        cmocka_unit_test(known_answers),
        cmocka_unit_test(layout),
        cmocka_unit_test(all_inputs_matter),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(unit_is_uniform),
        cmocka_unit_test(normal_is_normal),
        cmocka_unit_test(positions),
        cmocka_unit_test(golden_bits),
        cmocka_unit_test(shuffled_is_a_permutation),
        cmocka_unit_test(shuffled_has_every_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
