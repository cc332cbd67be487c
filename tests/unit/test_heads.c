/* test_heads.c - tests head scores on constructed attention maps. */
#include "unit.h"

#include <math.h>

#include "probe/heads.h"

enum { N = 10 };

static const int gold[][2] = {{6, 1}, {6, 3}, {7, 2}};
static const int tokens[N] = {4, 5, 6, 4, 5, 6, 4, 5, 6, 4}; /* a block of 3, repeated */

static struct pw_head_input input(void)
{
    return (struct pw_head_input){.T = N, .causal = true, .tokens = tokens, .n_gold = 3, .gold = gold};
}

/* Each query attends to one key. */
static void look_at(float *A, int (*key)(int query))
{
    memset(A, 0, N * N * sizeof *A);
    for (int i = 0; i < N; i++)
        A[i * N + key(i)] = 1;
}

static int before(int i)
{
    return i > 0 ? i - 1 : 0;
}

static int itself(int i)
{
    return i;
}

static int first(int i)
{
    (void)i;
    return 0;
}

static int after_the_same(int i)
{
    return i >= 3 ? i - 2 : 0; /* the token at i - 3 equals the query's; attend to its successor */
}

static int pointed_at(int i)
{
    return i == 6 ? 3 : i == 7 ? 2 : 0;
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) < 1e-6))
        fail_msg("%g, not %g", got, want);
}

static void test_perfect_heads(void **state)
{
    (void)state;
    static const struct {
        int (*key)(int);
        enum pw_head_score score;
    } heads[] = {{before, PW_HEAD_PREVIOUS},
                 {itself, PW_HEAD_SELF},
                 {first, PW_HEAD_FIRST},
                 {after_the_same, PW_HEAD_INDUCTION},
                 {pointed_at, PW_HEAD_GOLD}};
    struct pw_head_input in = input();
    float A[N * N];
    double v[PW_HEAD_SCORES];
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
        look_at(A, heads[h].key);
        pw_head_measure(v, A, &in);
        assert_near(v[heads[h].score], 1);
        assert_near(v[PW_HEAD_ENTROPY], 0);
        assert_near(v[PW_HEAD_SPREAD], 0);
        for (size_t other = 0; other < sizeof heads / sizeof *heads; other++)
            if (other != h) /* no other score applies */
                assert_true(v[heads[other].score] < 0.8);
    }
    look_at(A, before);
    pw_head_measure(v, A, &in);
    assert_near(v[PW_HEAD_DISTANCE], 1);
}

/* The uniform head scores chance in everything; closed forms where they exist. */
static void test_chance(void **state)
{
    (void)state;
    struct pw_head_input in = input();
    float A[N * N] = {0};
    double chance[PW_HEAD_SCORES], v[PW_HEAD_SCORES], harmonic = 0;
    for (int i = 0; i < N; i++) {
        harmonic += 1.0 / (i + 1);
        for (int j = 0; j <= i; j++)
            A[i * N + j] = 1.0f / (float)(i + 1);
    }
    pw_head_measure(chance, NULL, &in);
    pw_head_measure(v, A, &in);
    for (int s = 0; s < PW_HEAD_SCORES; s++)
        assert_near(v[s], chance[s]);
    assert_near(chance[PW_HEAD_SELF], harmonic / N);
    assert_near(chance[PW_HEAD_PREVIOUS], (harmonic - 1) / (N - 1));
    assert_near(chance[PW_HEAD_FIRST], (harmonic - 1) / (N - 1));
    assert_near(chance[PW_HEAD_GOLD], (2.0 / 7 + 1.0 / 8) / 2);
    assert_near(chance[PW_HEAD_SPREAD], 1);
    assert_near(chance[PW_HEAD_DISTANCE], (N + 0.0) / 4); /* i / 2, over 1..T-1 */
    in.causal = false;
    pw_head_measure(chance, NULL, &in);
    assert_near(chance[PW_HEAD_SELF], 1.0 / N);
    assert_near(chance[PW_HEAD_ENTROPY], log2(N));
}

static void test_what_cannot_be_said(void **state)
{
    (void)state;
    static const int different[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct pw_head_input in = {.T = N, .causal = true, .tokens = different};
    double v[PW_HEAD_SCORES];
    pw_head_measure(v, NULL, &in);
    assert_true(isnan(v[PW_HEAD_INDUCTION]) && isnan(v[PW_HEAD_GOLD]));
    assert_false(isnan(v[PW_HEAD_PREVIOUS]));
    in.T = 1;
    pw_head_measure(v, NULL, &in);
    assert_near(v[PW_HEAD_SELF], 1);
    assert_true(isnan(v[PW_HEAD_PREVIOUS]) && isnan(v[PW_HEAD_SPREAD]));
}

/* Scores that are equal for all keys of a query don't distinguish heads. Others do, by their variance. */
static void test_variation(void **state)
{
    (void)state;
    const float rows[] = {7, 0, 0, 3, 3, 0, 1, 5, 9}, alternating[] = {0, 0, 0, -1, 1, 0, 0, 0, 0};
    const float causal[] = {1, -INFINITY, -INFINITY, 2, 3, -INFINITY, 4, 5, 6};
    const float windowed[] = {1, -INFINITY, -INFINITY, 2, 3, -INFINITY, -INFINITY, 5, 6};
    assert_near(pw_head_variation(rows, causal, 3), (0 + 0 + 32.0 / 3) / 3);
    assert_near(pw_head_variation(alternating, causal, 3), 1.0 / 3);
    assert_near(pw_head_variation(alternating, rows, 3), 2.0 / 3 / 3);
    assert_near(pw_head_variation(rows, windowed, 3), 4.0 / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perfect_heads),
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_variation),
        cmocka_unit_test(test_what_cannot_be_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
