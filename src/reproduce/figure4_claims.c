/* figure4_claims.c - compare the runs of Figure 4 with the paper's claims.
 *
 * The unit of the tests is the run. Within a run all distances refer to the same NoPE model. Between runs
 * that model, the data and the initial weights differ, as in a repetition of the experiment. Differences are
 * tested over runs (contrast.h), so one run decides nothing. */
#include "reproduce/figure4.h"

#include <math.h>
#include <stdio.h>

#include "reproduce/contrast.h"

/* These bounds were fixed before the numbers were measured. suite.h has the rule for pairs: encodings that
 * differ by at least 0.1 in the paper. */
#define NEAR_T5 0.25 /* T5 is as near as NoPE* if its distance is within this share of NoPE*'s */
/* A distance grows if the longest three lengths have more than this factor of lengths 8..12. The paper's
 * factors: 1.7, 1.5, 1.4 for ALiBi, rotary, APE; 1.15, 1.24 for NoPE*, T5. */
#define GROWTH 1.2

enum { PES = PW_PAPER_PES, RUNS = PW_FIGURE4_RUNS, OTHERS = PES - PW_PAPER_ALIBI };

const float pw_figure4_paper[PES] = {26.5f, 26.3f, 49.0f, 98.7f, 71.9f};

static double mean_of(const double x[RUNS], int n)
{
    return pw_mean_interval(x, n).mean;
}

/* Return the number of runs of the pair that was compared in the most runs. */
static int most_runs(const struct pw_run_contrast *c, int n)
{
    int most = 0;
    for (int i = 0; i < n; i++)
        most = c[i].difference.n > most ? c[i].difference.n : most;
    return most;
}

/* Write means over runs, such as "NoPE* 0.092, T5 0.199, ALiBi -, ..."; "-": not learned. */
static void list_means(char *out, size_t size, const double values[PES][RUNS], int n, int decimals)
{
    size_t used = 0;
    for (int pe = 0; pe < PES && used < size; pe++) {
        double mean = mean_of(values[pe], n);
        used += (size_t)snprintf(out + used, size - used, isnan(mean) ? "%s%s -" : "%s%s %.*f",
                                 pe > 0 ? ", " : "", pw_figure4_names[pe], decimals, mean);
    }
}

/* Add a claim as inconclusive if no run can judge it. Returns whether it was added. */
static bool claim_unknown(struct pw_finding *f, const struct pw_figure4_runs *r, int runs, int needed,
                          const char *claim)
{
    if (runs == 0)
        pw_finding_claim(f, PW_CLAIM_INCONCLUSIVE, claim,
                         "%d run%s of 6 models; in none of them did NoPE, NoPE* and both encodings of a pair "
                         "learn the trained lengths (a claim needs %d runs)",
                         r->n, r->n == 1 ? "" : "s", needed);
    return runs == 0;
}

static void claim_order(struct pw_finding *f, const struct pw_figure4_runs *r, int view, int protocol,
                        const char *claim)
{
    char means[128];
    struct pw_run_contrast c[PES * PES];
    int paper_sign[PES * PES], pairs = 0, alike = 0, opposite = 0;
    const double(*d)[RUNS] = r->distance[view];
    for (int i = 0; i < PES; i++)
        for (int k = i + 1; k < PES; k++) {
            if (fabsf(pw_figure4_paper[i] - pw_figure4_paper[k]) < (float)(100 * PW_ORDER_PAPER))
                continue;
            pw_contrast_measure(&c[pairs], d[i], d[k], r->n);
            paper_sign[pairs++] = pw_figure4_paper[i] > pw_figure4_paper[k] ? 1 : -1;
        }
    pw_contrast_correct(c, pairs);
    for (int i = 0; i < pairs; i++) {
        alike += pw_contrast_sign(&c[i]) == paper_sign[i];
        opposite += pw_contrast_sign(&c[i]) == -paper_sign[i];
    }
    int needed = pw_contrast_runs(pairs), runs = most_runs(c, pairs);
    if (claim_unknown(f, r, runs, needed, claim))
        return;
    list_means(means, sizeof means, d, r->n, 3);
    pw_finding_claim(f,
                     pw_contrast_verdict(protocol, runs, needed, opposite > alike,
                                         opposite == 0 && 4 * alike >= 3 * pairs),
                     claim,
                     "%d runs of 6 models that learned (a claim needs %d): %s; of %d pairs, %d are in the "
                     "paper's order (corrected p < %g), %d in the opposite order, %d undecided",
                     runs, needed, means, pairs, alike, PW_CONTRAST_LEVEL, opposite,
                     pairs - alike - opposite);
}

/* Claim that T5 is the nearest encoding, and as near as NoPE*. */
static void claim_t5(struct pw_finding *f, const struct pw_figure4_runs *r, int view, int protocol,
                     const char *claim)
{
    struct pw_run_contrast c[OTHERS];
    const double(*d)[RUNS] = r->distance[view];
    double share[RUNS];
    char interval[32] = "";
    int nearer = 0, further = 0, needed = pw_contrast_runs(OTHERS);
    for (int i = 0; i < OTHERS; i++)
        pw_contrast_measure(&c[i], d[PW_PAPER_ALIBI + i], d[PW_PAPER_T5], r->n);
    pw_contrast_correct(c, OTHERS);
    for (int i = 0; i < OTHERS; i++) {
        nearer += pw_contrast_sign(&c[i]) > 0;
        further += pw_contrast_sign(&c[i]) < 0;
    }
    for (int k = 0; k < r->n; k++)
        share[k] = d[PW_PAPER_T5][k] / d[PW_PAPER_NONE][k];
    struct pw_interval x = pw_mean_interval(share, r->n);
    bool as_near = x.lo >= 1 - NEAR_T5 && x.hi <= 1 + NEAR_T5,
         not_so = x.lo > 1 + NEAR_T5 || x.hi < 1 - NEAR_T5;
    int runs = most_runs(c, OTHERS);
    if (x.n > 1)
        snprintf(interval, sizeof interval, " (%.2f to %.2f)", x.lo, x.hi);
    if (claim_unknown(f, r, runs, needed, claim))
        return;
    pw_finding_claim(
        f, pw_contrast_verdict(protocol, runs, needed, further > 0 || not_so, nearer == OTHERS && as_near),
        claim,
        "%d runs of 6 models that learned (a claim needs %d): T5 has %.2f%s times NoPE*'s distance (as near: "
        "within %.0f %%); of ALiBi, rotary and APE, %d are farther than T5, %d nearer (corrected p < %g)",
        runs, needed, x.mean, interval, 100 * NEAR_T5, nearer, further, PW_CONTRAST_LEVEL);
}

static void claim_growth(struct pw_finding *f, const struct pw_figure4_runs *r, int protocol)
{
    static const char claim[] =
        "Kazemnejad et al. 2023, Figure 4: distances grow with length for ALiBi, rotary and APE, "
        "less so for NoPE* and T5";
    char means[128];
    struct pw_run_contrast c[2 * OTHERS]; /* each encoding against NoPE* and T5 */
    int grow = 0, flat = 0, needed = pw_contrast_runs(2 * OTHERS);
    for (int i = 0; i < OTHERS; i++)
        for (int k = 0; k < 2; k++)
            pw_contrast_measure(&c[2 * i + k], r->growth[PW_PAPER_ALIBI + i],
                                r->growth[k == 0 ? PW_PAPER_NONE : PW_PAPER_T5], r->n);
    pw_contrast_correct(c, 2 * OTHERS);
    for (int i = 0; i < OTHERS; i++) {
        struct pw_interval x = pw_mean_interval(r->growth[PW_PAPER_ALIBI + i], r->n);
        int none = pw_contrast_sign(&c[2 * i]), t5 = pw_contrast_sign(&c[2 * i + 1]);
        grow += x.lo >= GROWTH && none > 0 && t5 > 0;
        flat += x.hi < GROWTH || none < 0 || t5 < 0;
    }
    int runs = most_runs(c, 2 * OTHERS);
    if (claim_unknown(f, r, runs, needed, claim))
        return;
    list_means(means, sizeof means, r->growth, r->n, 2);
    pw_finding_claim(
        f, pw_contrast_verdict(protocol, runs, needed, flat == OTHERS, grow == OTHERS), claim,
        "%d runs of 6 models that learned (a claim needs %d): growth from lengths 8..12 to the longest "
        "three: %s; growing (by %.1f, and more than NoPE* and T5): %d of 3, not growing: %d",
        runs, needed, means, GROWTH, grow, flat);
}

/* Figure E.5: compare ALiBi, rotary and APE with T5 in each layer. */
static void claim_layers(struct pw_finding *f, const struct pw_figure4_runs *r, int protocol)
{
    static const char claim[] =
        "Kazemnejad et al. 2023, Figure E.5: in every layer T5 is nearer to NoPE than ALiBi, rotary and APE";
    struct pw_run_contrast c[PW_FIGURE4_LAYERS_MAX * OTHERS];
    int tests = r->layers * OTHERS, nearer = 0, further = 0, all = 0;
    for (int l = 0; l < r->layers; l++)
        for (int i = 0; i < OTHERS; i++)
            pw_contrast_measure(&c[l * OTHERS + i], r->layer[l][PW_PAPER_ALIBI + i], r->layer[l][PW_PAPER_T5],
                                r->n);
    pw_contrast_correct(c, tests);
    for (int l = 0; l < r->layers; l++) {
        int here = 0;
        for (int i = 0; i < OTHERS; i++) {
            int sign = pw_contrast_sign(&c[l * OTHERS + i]);
            here += sign > 0;
            further += sign < 0;
        }
        nearer += here;
        all += here == OTHERS;
    }
    int needed = pw_contrast_runs(tests), runs = most_runs(c, tests);
    if (claim_unknown(f, r, runs, needed, claim))
        return;
    pw_finding_claim(
        f, pw_contrast_verdict(protocol, runs, needed, further > nearer, tests > 0 && all == r->layers),
        claim,
        "%d runs of 6 models that learned (a claim needs %d): in %d of %d layers T5 is nearer than all "
        "three; of %d comparisons, %d support the claim, %d contradict it (corrected p < %g)",
        runs, needed, all, r->layers, tests, nearer, further, PW_CONTRAST_LEVEL);
}

void pw_figure4_claim(struct pw_finding *f, const struct pw_figure4_runs *r, int protocol)
{
    claim_order(f, r, PW_FIGURE4_RELEASED, protocol,
                "Kazemnejad et al. 2023, Figure 4: NoPE* = T5 < ALiBi < APE < rotary in their distance from "
                "NoPE (released formula: .265, .263, .490, .719, .987)");
    claim_t5(f, r, PW_FIGURE4_RELEASED, protocol,
             "Kazemnejad et al. 2023, section 5.2: NoPE's attention is most similar to T5's, as similar as "
             "to that of another NoPE model");
    claim_growth(f, r, protocol);
    claim_layers(f, r, protocol);
    claim_order(f, r, PW_FIGURE4_JSD, protocol,
                "the same order by Jensen-Shannon divergence, which is Eq. 2 as printed");
    claim_order(
        f, r, PW_FIGURE4_JSD_OTHER, protocol,
        "a control that the paper lacks: the same order if no two models started from the same weights");
    claim_t5(f, r, PW_FIGURE4_JSD_OTHER, protocol,
             "a control that the paper lacks: T5 is the nearest, and as near as NoPE*, if no two models "
             "started from the same weights");
}
