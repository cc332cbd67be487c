/* decide.c - simulates how often pewter's rules report a difference between arms: without a difference (the
 * error rate) and with one (the power).
 *
 * usage: bench_decide [RACES]     default 2,000; the same numbers on every machine
 *
 * A race is a snapshot with evaluations of 1,000 samples per run. The code that judges real races judges it.
 * The results of runs have the shapes that occur in practice. Bell: around 50 %, with a standard deviation of
 * 7 points. Two-humped: a run reaches 95 % or stays at 10 %. Skewed: most runs are near 0. With `shared`
 * seeds, the two runs of a pair share half of their variance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sessions/paired.h"

enum { SAMPLES = 1000, WORDS = (SAMPLES + 63) / 64 };

enum shape { BELL, TWO_HUMPED, SKEWED, SHAPES };
static const char *const shape_names[SHAPES] = {"bell", "two-humped", "skewed"};

/* The share of samples that a run answers right. place in [0,1): the quantile of the run in its
 * distribution. */
static double right_of(enum shape shape, double place, double more)
{
    double x = shape == BELL         ? 0.38 + 0.24 * place
               : shape == TWO_HUMPED ? (place < 0.5 ? 0.1 : 0.95) + 0.04 * place
                                     : place * place * place;
    x += more;
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static void put_eval(struct pw_snapshot *s, int arm, int replica, int right)
{
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    struct pw_ev_eval *v = &e->u.eval;
    e->arm = arm, e->replica = replica;
    v->draw = 1, v->n = 1, v->n_words = WORDS;
    v->rows = calloc(1, sizeof *v->rows);
    v->outcomes = calloc(WORDS, sizeof *v->outcomes);
    v->rows[0] = (struct pw_eval_row){.length = 9, .samples = SAMPLES, .exact = right};
    for (int i = 0; i < right; i++)
        v->outcomes[i / 64] |= UINT64_C(1) << i % 64;
    pw_fold(s, e);
    pw_event_free(e);
}

struct design {
    int arms, seeds;
    bool shared;
    enum shape shape;
    double more; /* added to the results of arm 1 */
};

/* The share of races whose best arm is reported as best. */
static double called_best(const struct design *d, int races)
{
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_rng r;
    int best = 0;
    pw_rng_init(&r, (uint64_t)(d->arms * 1000 + d->seeds * 10 + (int)d->shape), PW_STREAM_PROBE, d->shared);
    for (int id = 1; id <= d->arms; id++) {
        struct pw_event *e = pw_event_new(PW_EV_ARM);
        e->arm = id;
        e->u.arm = (struct pw_ev_arm){
            .id = id, .replicas = d->seeds, .name = "none", .seed = d->shared ? 1 : (uint64_t)(500 * id)};
        pw_fold(s, e);
        pw_event_free(e);
    }
    for (int race = 0; race < races; race++) {
        struct pw_paired x;
        for (int k = 1; k <= d->seeds; k++) {
            double common = pw_rng_unit(&r);
            for (int a = 1; a <= d->arms; a++) {
                bool same = d->shared && pw_rng_unit(&r) < 0.5;
                double place = same ? common : pw_rng_unit(&r);
                double right = right_of(d->shape, place, a == 1 ? d->more : 0);
                put_eval(s, a, k, (int)(SAMPLES * right + 0.5));
            }
        }
        pw_paired_find(&x, s, ~0u, 0, 0, 99);
        best += d->more > 0 ? x.best == 1 : x.best > 0;
    }
    pw_snapshot_free(s);
    return (double)best / races;
}

int main(int argc, char **argv)
{
    static const int arms[] = {2, 3, 5}, seeds[] = {4, 6, 8, 10};
    int races = argc > 1 ? atoi(argv[1]) : 2000;
    if (races < 1) {
        fprintf(stderr, "bench_decide: RACES is a number of 1 or more\n");
        return 2;
    }
    printf("Per cent of %d simulated races in which an arm is called best.\n\n", races);
    printf("| arms | seeds | batches and seeds | no difference: %s | %s | %s | 15 points more: %s |\n",
           shape_names[0], shape_names[1], shape_names[2], shape_names[0]);
    printf("|--:|--:|---|--:|--:|--:|--:|\n");
    for (size_t a = 0; a < sizeof arms / sizeof *arms; a++)
        for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++)
            for (int shared = 1; shared >= 0; shared--) {
                struct design d = {arms[a], seeds[k], shared, BELL, 0};
                printf("| %d | %d | %s |", d.arms, d.seeds, d.shared ? "shared" : "other seeds");
                for (d.shape = BELL; d.shape < SHAPES; d.shape++)
                    printf(" %.1f |", 100 * called_best(&d, races));
                d.shape = BELL, d.more = 0.15;
                printf(" %.0f |\n", 100 * called_best(&d, races));
            }
    return 0;
}
