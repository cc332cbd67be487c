/* contrast.c - differences between training runs; contrast.h has the contract. */
#include "reproduce/contrast.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "reproduce/suite.h"

void pw_contrast_measure(struct pw_run_contrast *c, const double *first, const double *second, int n)
{
    double a[PW_TWO_SAMPLE_MAX / 2], b[PW_TWO_SAMPLE_MAX / 2], d[PW_TWO_SAMPLE_MAX / 2] = {0};
    int m = 0;
    for (int i = 0; i < n && m < PW_TWO_SAMPLE_MAX / 2; i++) {
        if (isnan(first[i]) || isnan(second[i]))
            continue;
        a[m] = first[i];
        b[m] = second[i];
        d[m] = first[i] - second[i];
        m++;
    }
    c->difference = pw_mean_interval(d, m);
    c->p = c->corrected = m > 0 ? pw_two_sample(a, m, b, m) : 1;
}

void pw_contrast_correct(struct pw_run_contrast *c, int n)
{
    double *p = pw_alloc((size_t)n, sizeof *p), *corrected = pw_alloc((size_t)n, sizeof *corrected);
    for (int i = 0; i < n; i++)
        p[i] = c[i].p;
    pw_holm(corrected, p, n);
    for (int i = 0; i < n; i++)
        c[i].corrected = corrected[i];
    free(p);
    free(corrected);
}

int pw_contrast_sign(const struct pw_run_contrast *c)
{
    if (c->difference.n < PW_CONTRAST_RUNS || !(c->corrected < PW_CONTRAST_LEVEL))
        return 0;
    return c->difference.mean > 0 ? 1 : -1;
}

bool pw_contrast_within(const struct pw_run_contrast *c, double margin)
{
    const struct pw_interval *d = &c->difference;
    return d->n >= PW_CONTRAST_RUNS && d->lo > -margin && d->hi < margin;
}

bool pw_contrast_beyond(const struct pw_run_contrast *c, double margin)
{
    const struct pw_interval *d = &c->difference;
    return d->n >= PW_CONTRAST_RUNS && (d->lo > margin || d->hi < -margin);
}

void pw_contrast_name_columns(struct pw_finding *f, int table)
{
    static const char *const names[PW_CONTRAST_COLUMNS] = {"points", "from", "to", "p", "corrected", "seeds"};
    for (int i = 0; i < PW_CONTRAST_COLUMNS; i++)
        pw_finding_col(f, table, i, "%s", names[i]);
}

void pw_contrast_put(struct pw_finding *f, int table, int row, const struct pw_run_contrast *c)
{
    const struct pw_interval *d = &c->difference;
    const double cells[PW_CONTRAST_COLUMNS] = {
        d->mean, d->lo, d->hi, d->n > 0 ? c->p : NAN, d->n > 0 ? c->corrected : NAN, d->n};
    for (int i = 0; i < PW_CONTRAST_COLUMNS; i++)
        pw_finding_put(f, table, row, i, cells[i]);
}

int pw_contrast_runs(int tests)
{
    int n = 1;
    double p = 1; /* smallest p that n runs of each side can have: 2 / C(2n, n) */
    for (; n < PW_TWO_SAMPLE_MAX / 2 && (n < PW_CONTRAST_RUNS || !(tests * p < PW_CONTRAST_LEVEL)); n++)
        p *= (n + 1) / (4.0 * n + 2);
    return n;
}

enum pw_claim_verdict pw_contrast_verdict(int protocol, int runs, int needed, bool contradicted,
                                          bool supported)
{
    if (runs < needed || contradicted == supported)
        return PW_CLAIM_INCONCLUSIVE;
    if (contradicted)
        return PW_CLAIM_CONTRADICTED;
    return protocol == PW_PROTOCOL_PAPER ? PW_CLAIM_REPRODUCED : PW_CLAIM_TOY;
}
