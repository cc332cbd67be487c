/* test_pyramid.c - tests that a range of a series sums to the value of a plain loop over its points, for any
 * series and range. */
#include "unit.h"

#include <float.h>
#include <math.h>

#include "base/pyramid.h"
#include "base/rng.h"

enum { LONGEST = 40000 }; /* more than a block of the third level */

/* ---- the plain loop */

static struct pw_summary walk(const float *y, int from, int end, double *size)
{
    struct pw_summary s = {.lo = INFINITY, .hi = -INFINITY, .above = INFINITY, .first = NAN, .last = NAN};
    *size = 0;
    for (int i = from; i < end; i++) {
        if (!isfinite(y[i])) {
            s.broken = true;
            continue;
        }
        if (s.n++ == 0)
            s.first = y[i];
        s.last = y[i];
        s.lo = y[i] < s.lo ? y[i] : s.lo;
        s.hi = y[i] > s.hi ? y[i] : s.hi;
        if (y[i] > 0 && y[i] < s.above)
            s.above = y[i];
        s.sum += (double)y[i];
        *size += fabs((double)y[i]);
    }
    return s;
}

static bool same_float(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same(const struct pw_summary *a, const struct pw_summary *b)
{
    return same_float(a->lo, b->lo) && same_float(a->hi, b->hi) && same_float(a->above, b->above) &&
           same_float(a->first, b->first) && same_float(a->last, b->last) && a->n == b->n &&
           a->broken == b->broken;
}

static void check(const struct pw_pyramid *p, const float *y, int from, int end)
{
    double size;
    struct pw_summary plain = walk(y, from, end, &size), with = pw_pyramid_sum(p, y, from, end),
                      without = pw_pyramid_sum(NULL, y, from, end);
    if (!same(&with, &plain) || !same(&without, &plain))
        fail_msg("%d to %d: not what its points come to", from, end);
    if (memcmp(&with.sum, &without.sum, sizeof with.sum) != 0)
        fail_msg("%d to %d: %a with a pyramid, %a without", from, end, with.sum, without.sum);
    if (!(fabs(with.sum - plain.sum) <= (end - from) * DBL_EPSILON * size))
        fail_msg("%d to %d: the sum is %a, not %a", from, end, with.sum, plain.sum);
}

/* ---- series */

enum kind { NOISE, BROKEN, NOTHING, WIDE, FLAT, KINDS };

static float point(struct pw_rng *r, enum kind kind, int i)
{
    double u = pw_rng_unit(r);
    switch (kind) {
    case BROKEN: return u < 0.02 ? NAN : u < 0.03 ? INFINITY : u < 0.1 ? 0 : (float)(u - 0.5);
    case NOTHING: return NAN;
    case WIDE: return (float)ldexp(pw_rng_unit(r) - 0.3, (int)(u * 200) - 100);
    case FLAT: return i / 5000 % 2 == 0 ? -0.0f : 0.0f;
    default: return (float)(2 / (1 + 0.001 * i) + 0.1 * u);
    }
}

static float *make(struct pw_pyramid *p, struct pw_rng *r, enum kind kind, int n)
{
    float *y = malloc((size_t)n * sizeof *y);
    assert_non_null(y);
    for (int i = 0; i < n; i++) {
        y[i] = point(r, kind, i);
        pw_pyramid_add(p, y, i + 1);
    }
    return y;
}

static void check_windows(const struct pw_pyramid *p, const float *y, int n, struct pw_rng *r, int times)
{
    check(p, y, 0, n);
    for (int i = 0; i < times; i++) {
        int a = (int)pw_rng_below(r, (uint32_t)n + 1), b = (int)pw_rng_below(r, (uint32_t)n + 1);
        if (i % 3 == 0) /* at the edges of blocks, and next to them */
            a = a / 1024 * 1024, b = b / 32 * 32 + i % 2;
        b = b < n ? b : n;
        check(p, y, a < b ? a : b, a < b ? b : a);
    }
}

/* ---- tests */

static void any_stretch_is_what_its_points_are(void **state)
{
    (void)state;
    static const int lengths[] = {1, 2, 31, 32, 33, 63, 64, 1023, 1024, 1025, 2048, 5000, LONGEST};
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            struct pw_pyramid p = {0};
            struct pw_rng r;
            pw_rng_init(&r, kind, PW_STREAM_TRAIN, i);
            float *y = make(&p, &r, kind, lengths[i]);
            check_windows(&p, y, lengths[i], &r, 60);
            pw_pyramid_fini(&p);
            free(y);
        }
}

/* A series is cut and continued with other values: no old value remains. */
static void going_back_leaves_nothing(void **state)
{
    (void)state;
    struct pw_pyramid p = {0};
    struct pw_rng r;
    pw_rng_init(&r, 7, PW_STREAM_TRAIN, 0);
    float *y = make(&p, &r, NOISE, LONGEST);
    for (int n = LONGEST, i = 0; i < 40; i++) {
        int from = (int)pw_rng_below(&r, (uint32_t)n), more = (int)pw_rng_below(&r, 4000);
        from = i % 2 == 0 ? from : from / 32 * 32;
        n = from + more < LONGEST ? from + more : LONGEST;
        n = n > 0 ? n : 1;
        for (int k = from; k < n; k++) {
            y[k] = point(&r, i % 3 == 0 ? BROKEN : WIDE, k);
            pw_pyramid_add(&p, y, k + 1);
        }
        check_windows(&p, y, n, &r, 20);
    }
    pw_pyramid_fini(&p);
    free(y);
}

/* A prefix is summed with the pyramid of the whole series; a pyramid of the prefix continues by itself. */
static void a_prefix_needs_no_other(void **state)
{
    (void)state;
    struct pw_pyramid p = {0};
    struct pw_rng r;
    pw_rng_init(&r, 8, PW_STREAM_TRAIN, 0);
    float *y = make(&p, &r, BROKEN, LONGEST);
    for (int i = 0; i < 50; i++) {
        int n = 1 + (int)pw_rng_below(&r, LONGEST);
        struct pw_pyramid own = p;
        check_windows(&p, y, n, &r, 5);
        pw_pyramid_own(&own, n);
        for (int k = n; k < n + 100 && k < LONGEST; k++)
            pw_pyramid_add(&own, y, k + 1);
        check_windows(&own, y, n + 100 < LONGEST ? n + 100 : LONGEST, &r, 5);
        pw_pyramid_fini(&own);
    }
    pw_pyramid_fini(&p);
    free(y);
}

/* Points between the blocks at the ends of the range are not read again: they may be overwritten. */
static void a_long_stretch_is_not_walked(void **state)
{
    (void)state;
    struct pw_pyramid p = {0};
    struct pw_rng r;
    double size;
    pw_rng_init(&r, 9, PW_STREAM_TRAIN, 0);
    float *y = make(&p, &r, NOISE, LONGEST);
    for (int i = 0; i < 20; i++) {
        int from = (int)pw_rng_below(&r, 1000), end = LONGEST - (int)pw_rng_below(&r, 1000);
        float *edges = malloc(LONGEST * sizeof *edges);
        assert_non_null(edges);
        for (int k = 0; k < LONGEST; k++)
            edges[k] = k < from + 32 || k >= end - 32 ? y[k] : NAN;
        struct pw_summary plain = walk(y, from, end, &size), s = pw_pyramid_sum(&p, edges, from, end);
        assert_true(same(&s, &plain));
        free(edges);
    }
    pw_pyramid_fini(&p);
    free(y);
}

static void nothing_is_nothing(void **state)
{
    (void)state;
    struct pw_pyramid p = {0};
    float y[32] = {1};
    struct pw_summary s = pw_pyramid_sum(&p, y, 0, 0);
    assert_true(s.n == 0 && s.sum == 0 && s.lo > s.hi && isnan(s.first) && !s.broken);
    s = pw_pyramid_sum(&p, y, 0, 32); /* without nodes it reads the points */
    assert_true(s.n == 32 && s.sum == 1 && s.above == 1 && s.lo == 0);
    pw_pyramid_own(&p, 0);
    pw_pyramid_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_stretch_is_what_its_points_are),
        cmocka_unit_test(going_back_leaves_nothing),
        cmocka_unit_test(a_prefix_needs_no_other),
        cmocka_unit_test(a_long_stretch_is_not_walked),
        cmocka_unit_test(nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
