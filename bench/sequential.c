/* sequential.c - simulates studies that add seeds until they are decided: how often they report a difference
 * that does not exist, how soon they find one that does, and how often their intervals contain it.
 *
 * usage: bench_sequential [STUDIES]     default 2,000; the same numbers on every machine
 *
 * A study compares all pairs of its arms after every seed, from LEAST_SEEDS up to its budget, at 0.05 after
 * Holm's correction. It stops once all are decided. The results of runs have four shapes. Bell: normal around
 * 35 %, with a standard deviation of 7 or 15 points, not cut off at 0. Two-humped: a run reaches 95 % or
 * stays at 10 %. Skewed: most runs are near 0. All or nothing: a run reaches 100 % or stays at 0. With
 * `shared` seeds, the runs of a pair share half of their variance. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/sequential.h"

enum { LEAST_SEEDS = 3, MAX_SEEDS = 40, MAX_ARMS = 5, MAX_PAIRS = 10 };
#define LEVEL 0.05
static const int budgets[] = {20, 40};
enum { BUDGETS = sizeof budgets / sizeof *budgets };

enum shape { BELL, TWO_HUMPED, SKEWED, ALL_OR_NOTHING, SHAPES };
static const char *const shape_names[SHAPES] = {"bell", "two-humped", "skewed", "all or nothing"};

struct design {
    enum shape shape;
    int arms, budget;
    bool shared;
    double deviation; /* of a bell */
    double more;      /* mean of arm 0 minus the mean of any other */
};

/* A result of a run, from uniform draws of its own and of its seed. */
static double result_of(const struct design *d, struct pw_rng *r, double common, double more)
{
    double place = pw_rng_unit(r);
    if (d->shared && pw_rng_unit(r) < 0.5)
        place = common;
    switch (d->shape) {
    case TWO_HUMPED: return (place >= 0.5 - more / 0.85 ? 0.95 : 0.1) + 0.04 * pw_rng_unit(r);
    case ALL_OR_NOTHING: return place >= 0.5 - more;
    default: return place * place * place + more;
    }
}

/* A normal result: the sum of a part of the seed and a part of its own, of equal variance if shared. */
static double bell_of(const struct design *d, struct pw_rng *r, double common, double more)
{
    double own = pw_rng_normal(r);
    return 0.35 + more + d->deviation * (d->shared ? sqrt(0.5) * (common + own) : own);
}

/* The differences of one study: pair [k] has arms a < b, and MAX_SEEDS differences a minus b. */
struct study {
    int pairs;
    double d[MAX_PAIRS][MAX_SEEDS];
};

static void draw_study(struct study *s, const struct design *d, int number)
{
    struct pw_rng r;
    uint64_t seed = (uint64_t)(d->arms * 1000 + (int)d->shape * 10 + d->shared);
    pw_rng_init(&r, seed + 10000 * (uint64_t)(1000 * d->more + 0.5), PW_STREAM_PROBE, (uint64_t)number);
    for (int k = 0; k < MAX_SEEDS; k++) {
        double x[MAX_ARMS], common = d->shape == BELL ? pw_rng_normal(&r) : pw_rng_unit(&r);
        for (int a = 0; a < d->arms; a++)
            x[a] = d->shape == BELL ? bell_of(d, &r, common, a == 0 ? d->more : 0)
                                    : result_of(d, &r, common, a == 0 ? d->more : 0);
        s->pairs = 0;
        for (int a = 0; a < d->arms; a++)
            for (int b = a + 1; b < d->arms; b++)
                s->d[s->pairs++][k] = x[a] - x[b];
    }
}

/* How a study ended. The pairs with arm 0 are the first arms - 1. */
struct end {
    int seeds; /* when it stopped */
    int first; /* when the first pair was decided; the budget if it was not */
    int side[MAX_PAIRS];
};

static void run_study(struct end *e, const struct study *s, int budget)
{
    struct pw_evidence evidence[MAX_PAIRS];
    struct pw_decision decision[MAX_PAIRS];
    bool all = false;
    memset(e, 0, sizeof *e);
    e->first = budget;
    for (e->seeds = LEAST_SEEDS - 1; e->seeds < budget && !all;) {
        e->seeds++;
        for (int i = 0; i < s->pairs; i++)
            evidence[i] = pw_evidence_of(s->d[i], e->seeds);
        pw_decide(decision, evidence, s->pairs, LEVEL);
        all = true;
        for (int i = 0; i < s->pairs; i++) {
            e->side[i] = decision[i].side;
            all = all && decision[i].side != 0;
        }
        if (e->side[0] != 0 && e->first > e->seeds)
            e->first = e->seeds;
    }
}

/* Per cent of studies without a difference that decide at least one comparison. */
static double false_studies(const struct design *d, int studies)
{
    int wrong = 0;
    for (int i = 0; i < studies; i++) {
        struct study s;
        struct end e;
        bool any = false;
        draw_study(&s, d, i);
        run_study(&e, &s, d->budget);
        for (int k = 0; k < s.pairs; k++)
            any = any || e.side[k] != 0;
        wrong += any;
    }
    return 100.0 * wrong / studies;
}

static void print_errors(int studies)
{
    static const int arms[] = {2, 3, 5};
    printf("Per cent of %d studies without a difference that decide a comparison.\n\n", studies);
    printf("| arms | comparisons | seeds | variance in a pair |");
    for (int i = 0; i < SHAPES; i++)
        printf(" %s |", shape_names[i]);
    printf("\n|--:|--:|--:|---|--:|--:|--:|--:|\n");
    for (size_t a = 0; a < sizeof arms / sizeof *arms; a++)
        for (int b = 0; b < BUDGETS; b++)
            for (int shared = 1; shared >= 0; shared--) {
                struct design d = {BELL, arms[a], budgets[b], shared, 0.07, 0};
                printf("| %d | %d | %d to %d | %s |", d.arms, d.arms * (d.arms - 1) / 2, LEAST_SEEDS,
                       d.budget, shared ? "half shared" : "own");
                for (int i = 0; i < SHAPES; i++) {
                    d.shape = (enum shape)i;
                    printf(" %.1f |", false_studies(&d, studies));
                }
                printf("\n");
            }
}

/* One row of the table of power: the comparison of arm 0 with arm 1, and errors: arm 1 is called better, or
 * arms without a difference are decided. */
static void print_power(struct design d, int studies)
{
    int wrong = 0;
    printf("| %d | %.0f | %.0f | %s |", d.arms, 100 * d.more, 100 * d.deviation,
           d.shared ? "half shared" : "own");
    for (int b = 0; b < BUDGETS; b++) {
        int found = 0;
        double seeds = 0;
        d.budget = budgets[b];
        wrong = 0; /* of the last, which is the largest */
        for (int i = 0; i < studies; i++) {
            struct study s;
            struct end e;
            draw_study(&s, &d, i);
            run_study(&e, &s, d.budget);
            bool any = false;
            for (int k = 0; k < s.pairs; k++)
                any = any || (k < d.arms - 1 ? e.side[k] < 0 : e.side[k] != 0);
            found += e.side[0] > 0;
            wrong += any;
            seeds += e.first;
        }
        printf(" %.1f | %.1f |", 100.0 * found / studies, seeds / studies);
    }
    printf(" %.1f |\n", 100.0 * wrong / studies);
}

static void print_powers(int studies)
{
    static const double more[] = {0.05, 0.15, 0.30}, deviation[] = {0.07, 0.15};
    static const int arms[] = {2, 5};
    printf("\n| arms | points more | deviation | variance in a pair | up to 20 seeds: found | mean seeds | "
           "up to "
           "40 seeds: found | mean seeds | an error |\n|--:|--:|--:|---|--:|--:|--:|--:|--:|\n");
    for (size_t a = 0; a < sizeof arms / sizeof *arms; a++)
        for (size_t v = 0; v < sizeof deviation / sizeof *deviation; v++)
            for (size_t m = 0; m < sizeof more / sizeof *more; m++)
                for (int shared = 1; shared >= 0; shared--)
                    print_power((struct design){BELL, arms[a], 0, shared, deviation[v], more[m]}, studies);
}

static bool covers(struct pw_interval v, double truth)
{
    return v.lo <= truth && truth <= v.hi;
}

/* Per cent of the intervals of all pairs with arm 0 that contain the difference, after a study that stopped;
 * mean seeds of a study; the mean error of a difference, in points. */
struct coverage {
    double t, widened, seeds, bias;
};

static struct coverage coverage_of(const struct design *d, int studies)
{
    struct coverage c = {0, 0, 0, 0};
    int t = 0, widened = 0, pairs = d->arms - 1;
    double all = (double)studies * pairs;
    for (int i = 0; i < studies; i++) {
        struct study s;
        struct end e;
        draw_study(&s, d, i);
        run_study(&e, &s, d->budget);
        c.seeds += (double)e.seeds / studies;
        for (int k = 0; k < pairs; k++) {
            struct pw_interval v = pw_mean_interval(s.d[k], e.seeds);
            t += covers(v, d->more);
            widened += covers(pw_interval_after_looks(s.d[k], e.seeds, s.pairs), d->more);
            c.bias += 100 * (v.mean - d->more) / all;
        }
    }
    c.t = 100 * t / all;
    c.widened = 100 * widened / all;
    return c;
}

/* Per cent of Student's intervals of n seeds, chosen beforehand, that contain the difference. */
static double coverage_fixed(const struct design *d, int studies, int n)
{
    int t = 0;
    for (int i = 0; i < studies; i++) {
        struct study s;
        draw_study(&s, d, i);
        t += covers(pw_mean_interval(s.d[0], n), d->more);
    }
    return 100.0 * t / studies;
}

static void print_coverages(int studies)
{
    static const double more[] = {0, 0.02, 0.05, 0.15, 0.3};
    static const int counts[] = {6, 10, 20};
    printf(
        "\n| shape | points more | t of 6 | t of 10 | t of 20 | up to 20 seeds: t | widened | mean seeds | "
        "bias | up to 40 seeds: t | widened | mean seeds | bias | 5 arms, up to 20 seeds: t | widened |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            struct design d = {(enum shape)shape, 2, 0, true, 0.07, more[m]};
            printf("| %s | %.0f |", shape_names[shape], 100 * d.more);
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                printf(" %.1f |", coverage_fixed(&d, studies, counts[i]));
            for (int b = 0; b < BUDGETS; b++) {
                d.budget = budgets[b];
                struct coverage c = coverage_of(&d, studies);
                printf(" %.1f | %.1f | %.1f | %+.1f |", c.t, c.widened, c.seeds,
                       fabs(c.bias) < 0.05 ? 0 : c.bias); /* never -0.0 */
            }
            d.arms = 5, d.budget = 20;
            struct coverage c = coverage_of(&d, studies);
            printf(" %.1f | %.1f |\n", c.t, c.widened);
        }
}

int main(int argc, char **argv)
{
    int studies = argc > 1 ? atoi(argv[1]) : 2000;
    if (studies < 1) {
        fprintf(stderr, "bench_sequential: STUDIES is a number of 1 or more\n");
        return 2;
    }
    print_errors(studies);
    print_powers(studies);
    print_coverages(studies);
    return 0;
}
