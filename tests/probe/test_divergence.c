/* test_divergence.c - tests the distances of attention patterns: golden values, general properties, and the
 * matching of heads against all permutations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "probe/divergence.h"

#define LN2 0.693147180559945

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12f, not %.12f", a, b);
}

/* Computed in double precision by another program; the inputs here are rounded to float. */
static void test_golden_rows(void **state)
{
    static const struct {
        int n;
        float p[4], q[4];
        double jsd, released;
    } rows[] = {
        {2, {.5f, .5f}, {.9f, .1f}, .101749225, .117973233},
        {3, {.7f, .2f, .1f}, {.1f, .2f, .7f}, .253101615, .330671429},
        {3, {.7f, .2f, .1f}, {.1f, .3f, .6f}, .230645488, .295347596},
        {3, {.98f, .01f, .01f}, {.01f, .01f, .98f}, .630315186, 1.593394041},
        {2, {1e-6f, 1 - 1e-6f}, {1 - 1e-6f, 1e-6f}, .693132365, 6.214608598},
        {4, {.25f, .25f, .25f, .25f}, {.97f, .01f, .01f, .01f}, .320209430, .503238546},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        near(pw_divergence(PW_DIVERGENCE_JSD, rows[i].p, rows[i].q, rows[i].n), rows[i].jsd, 1e-7);
        near(pw_divergence(PW_DIVERGENCE_RELEASED, rows[i].p, rows[i].q, rows[i].n), rows[i].released, 1e-6);
    }
}

static void test_ends(void **state)
{
    const float one[] = {1, 0}, other[] = {0, 1}, third[] = {.5f, .5f};
    (void)state;
    near(pw_divergence(PW_DIVERGENCE_JSD, one, other, 2), LN2, 1e-15);
    assert_true(isinf(pw_divergence(PW_DIVERGENCE_RELEASED, one, other, 2)));
    assert_true(isinf(pw_divergence(PW_DIVERGENCE_RELEASED, one, third, 2)));
    assert_true(pw_divergence(PW_DIVERGENCE_JSD, one, one, 2) == 0);
    assert_true(pw_divergence(PW_DIVERGENCE_RELEASED, one, one, 2) == 0); /* both are 0 at the second key */
}

/* Two layers of two heads over three queries, one row per line: the paper's Eq. 2, and the released code's
 * rule. */
static void test_golden_layers(void **state)
{
    static const float P[2 * 9] = {1, 0, 0, .5f, .5f, 0, .2f, .3f, .5f, /* head 0 */
                                   1, 0, 0, .9f, .1f, 0, .6f, .3f, .1f};
    static const float Q[2 * 9] = {1, 0, 0, .6f, .4f, 0, .3f, .3f, .4f, /* head 0 */
                                   1, 0, 0, .1f, .9f, 0, .1f, .1f, .8f};
    static const double jsd[4] = {.004292263, .051290421, .045652956, .216076401};
    static const double released[4] = {.004325018, .057786920, .051127069, .291154482};
    double D[4];
    int match[2];
    (void)state;
    pw_head_distances(PW_DIVERGENCE_RELEASED, D, P, 2, Q, 2, 3, 0, true);
    for (int i = 0; i < 4; i++)
        near(D[i], released[i], 1e-7);
    pw_head_distances(PW_DIVERGENCE_JSD, D, P, 2, Q, 2, 3, 0, true);
    for (int i = 0; i < 4; i++)
        near(D[i], jsd[i], 1e-7);
    near(pw_distance_least(D, 2, 2, false), jsd[0], 1e-7);
    near(pw_distance_least(D, 2, 2, true), jsd[1], 1e-7);
    near(pw_distance_matched(D, 2, 2, match), (jsd[1] + jsd[2]) / 2, 1e-7);
    assert_true(match[0] == 1 && match[1] == 0);
    near(pw_distance_same(D, 2), (jsd[0] + jsd[3]) / 2, 1e-7);
    /* Row 0 has one key and divergence 0, so leaving it out scales the mean. Without the mask nothing
     * changes, because the other keys have weight 0. */
    pw_head_distances(PW_DIVERGENCE_JSD, D, P, 2, Q, 2, 3, 1, false);
    near(D[0], jsd[0] * 3 / 2, 1e-7);
}

static void draw_maps(struct pw_rng *rng, float *maps, int H, int T)
{
    for (int h = 0; h < H; h++)
        for (int t = 0; t < T; t++) {
            float *row = maps + (h * T + t) * T, sum = 0;
            memset(row, 0, (size_t)T * sizeof *row);
            for (int j = 0; j <= t; j++)
                sum += row[j] = (float)(pw_rng_below(rng, 1000) * pw_rng_below(rng, 1000)) + 1e-3f;
            for (int j = 0; j <= t; j++)
                row[j] /= sum;
        }
}

static void test_invariants(void **state)
{
    enum { H = 4, T = 9 };
    float P[H * T * T], Q[H * T * T];
    double D[H * H], E[H * H];
    struct pw_rng rng;
    (void)state;
    pw_rng_init(&rng, 1, PW_STREAM_TEST, 0);
    for (int round = 0; round < 20; round++) {
        draw_maps(&rng, P, H, T);
        draw_maps(&rng, Q, H, T);
        pw_head_distances(PW_DIVERGENCE_JSD, D, P, H, Q, H, T, 1, true);
        pw_head_distances(PW_DIVERGENCE_JSD, E, Q, H, P, H, T, 1, true);
        for (int a = 0; a < H; a++)
            for (int b = 0; b < H; b++) {
                assert_true(D[a * H + b] == E[b * H + a]);
                assert_true(D[a * H + b] > 0 && D[a * H + b] < LN2);
            }
        double least = pw_distance_least(D, H, H, false), matched = pw_distance_matched(D, H, H, NULL);
        assert_true(least <= matched && matched <= pw_distance_same(D, H) + 1e-15);
        assert_true(least <= pw_distance_least(D, H, H, true));
        /* the released formula is positive: the arithmetic mean exceeds the geometric */
        pw_head_distances(PW_DIVERGENCE_RELEASED, E, P, H, Q, H, T, 1, true);
        for (int i = 0; i < H * H; i++)
            assert_true(E[i] > 0);
        pw_head_distances(PW_DIVERGENCE_JSD, D, P, H, P, H, T, 1, true);
        for (int a = 0; a < H; a++)
            assert_true(D[a * H + a] == 0);
    }
}

/* The minimum over all assignments of the fewer heads to distinct heads of the other layer, by exhaustive
 * search. */
static double brute(const double *D, int A, int B, int a, unsigned taken)
{
    double least = INFINITY;
    if (a == A)
        return 0;
    for (int b = 0; b < B; b++)
        if ((taken >> b & 1) == 0) {
            double d = D[a * B + b] + brute(D, A, B, a + 1, taken | 1u << b);
            least = d < least ? d : least;
        }
    return least;
}

static void test_matching(void **state)
{
    struct pw_rng rng;
    (void)state;
    pw_rng_init(&rng, 2, PW_STREAM_TEST, 0);
    for (int round = 0; round < 300; round++) {
        int A = 1 + (int)pw_rng_below(&rng, 6), B = A + (int)pw_rng_below(&rng, 2), match[8];
        double D[64], turned[64], sum = 0;
        for (int i = 0; i < A * B; i++) /* with ties */
            D[i] = pw_rng_below(&rng, 10) / 16.0;
        for (int a = 0; a < A; a++)
            for (int b = 0; b < B; b++)
                turned[b * A + a] = D[a * B + b];
        double least = brute(D, A, B, 0, 0) / A;
        near(pw_distance_matched(D, A, B, match), least, 1e-12);
        for (int a = 0; a < A; a++)
            sum += D[a * B + match[a]];
        near(sum / A, least, 1e-12);
        near(pw_distance_matched(turned, B, A, match), least, 1e-12);
        int without = 0;
        for (int b = 0; b < B; b++)
            without += match[b] < 0;
        assert_int_equal(without, B - A);
    }
}

/* A pair at infinite distance may be matched only if there is no alternative. */
static void test_infinite(void **state)
{
    const double D[4] = {INFINITY, .25, .5, INFINITY}, all[4] = {INFINITY, INFINITY, 1, INFINITY};
    (void)state;
    near(pw_distance_matched(D, 2, 2, NULL), .375, 0);
    assert_true(isinf(pw_distance_matched(all, 2, 2, NULL)));
    near(pw_distance_least(D, 2, 2, false), .25, 0);
    assert_true(isnan(pw_distance_least(D, 1, 1, true))); /* one head has no pair a < b */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_rows),   cmocka_unit_test(test_ends),
        cmocka_unit_test(test_golden_layers), cmocka_unit_test(test_invariants),
        cmocka_unit_test(test_matching),      cmocka_unit_test(test_infinite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
