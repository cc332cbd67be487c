/* scratchpads_best.c - compare scratchpad formats with one another (Kazemnejad et al. 2023, Figure E.6): is
 * one format the best for all encodings?
 *
 * For each encoding all pairs of formats are compared over the seeds, and all these tests are corrected
 * together. The paper's claim, that no format is the best for all, is supported if each format loses to
 * another for some encoding. It is contradicted if one format beats every other for every encoding. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "reproduce/scratchpads.h"

enum { FORMATS = PW_PAD_FORMATS, PES = PW_PAPER_PES };

bool pw_pads_measured(const struct pw_pads *d, int pe, int format)
{
    return !isnan(d->in_range[pe][format]);
}

void pw_pads_compare(struct pw_run_contrast *c, const struct pw_pads *d, int pe, int first, int second)
{
    bool both = d->in_range[pe][first] >= 100 * PW_ORDER_IN_RANGE &&
                d->in_range[pe][second] >= 100 * PW_ORDER_IN_RANGE;
    pw_contrast_measure(c, d->right[pe][first], d->right[pe][second], both ? PW_MAX_REPLICAS : 0);
}

void pw_pads_add(struct pw_pads *sum, const struct pw_pads *d, bool first)
{
    for (int i = 0; i < PES; i++)
        for (int k = 0; k < FORMATS; k++) {
            sum->in_range[i][k] = first ? d->in_range[i][k] : fmin(sum->in_range[i][k], d->in_range[i][k]);
            if (isnan(d->in_range[i][k]))
                sum->in_range[i][k] = NAN;
            for (int r = 0; r < PW_MAX_REPLICAS; r++)
                sum->right[i][k][r] = d->right[i][k][r] + (first ? 0 : sum->right[i][k][r]);
        }
    sum->runs = first || d->runs < sum->runs ? d->runs : sum->runs;
}

/* Results of compare_formats, [PES][FORMATS][FORMATS]: 1: the format wins, -1: it loses, 0: undecided, NO:
 * not compared. */
enum { NO = 2 };

static int compare_formats(int8_t win[PES][FORMATS][FORMATS], const struct pw_pads *d)
{
    int n = 0;
    struct pw_run_contrast *c = pw_alloc((size_t)PES * FORMATS * FORMATS, sizeof *c);
    for (int i = 0; i < PES; i++)
        for (int a = 1; a < FORMATS; a++)
            for (int b = a + 1; b < FORMATS; b++)
                if (pw_pads_measured(d, i, a) && pw_pads_measured(d, i, b))
                    pw_pads_compare(&c[n++], d, i, a, b);
    pw_contrast_correct(c, n);
    n = 0;
    for (int i = 0; i < PES; i++)
        for (int a = 1; a < FORMATS; a++)
            for (int b = a + 1; b < FORMATS; b++) {
                int sign =
                    pw_pads_measured(d, i, a) && pw_pads_measured(d, i, b) ? pw_contrast_sign(&c[n++]) : NO;
                win[i][a][b] = (int8_t)sign;
                win[i][b][a] = (int8_t)(sign == NO ? NO : -sign);
            }
    free(c);
    return n;
}

void pw_pads_claim_best(struct pw_finding *f, const struct pw_pads *d, int tasks, int protocol)
{
    int8_t win[PES][FORMATS][FORMATS] = {{{0}}};
    int tests = compare_formats(win, d), n = 0, beaten = 0, differ = 0, needed = pw_contrast_runs(tests);
    const char *best = NULL;
    for (int a = 1; a < FORMATS; a++) {
        int compared = 0, won = 0, lost = 0;
        for (int i = 0; i < PES; i++)
            for (int b = 1; b < FORMATS; b++)
                if (b != a && win[i][a][b] != NO) {
                    compared++;
                    won += win[i][a][b] == 1;
                    lost += win[i][a][b] == -1;
                }
        n += compared > 0;
        beaten += lost > 0;
        differ += won;
        if (compared > 0 && won == compared)
            best = pw_pad_formats[a];
    }
    if (tests == 0)
        return;
    pw_finding_claim(f, pw_contrast_verdict(protocol, d->runs, needed, best != NULL, beaten == n),
                     "Kazemnejad et al. 2023, Figure E.6: no scratchpad format is the best for all encodings",
                     "mean over %d task%s, %d replica%s (a claim needs %d): %d of %d pairs of formats differ "
                     "(corrected p < %g); %d of %d formats lose to another for at least one encoding%s%s",
                     tasks, tasks == 1 ? "" : "s", d->runs, d->runs == 1 ? "" : "s", needed, differ, tests,
                     PW_CONTRAST_LEVEL, beaten, n, best != NULL ? "; best for every encoding: " : "",
                     best != NULL ? best : "");
}
