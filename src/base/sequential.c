/* sequential.c - e-process of paired differences, decisions on it, and effect sizes. The header has the
 * formulas and their sources. */
#include "base/sequential.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"

/* A bet of 1 would lose everything to one contrary pair. */
#define CAP 0.95

static const double grid[] = {1.2, 2.2};
enum { GRID = sizeof grid / sizeof *grid };
enum { UNDECIDED = 6 }; /* seeds up to which a t interval after a decision needs no factor */

/* tanh(x) for x >= 0, also infinity. The C library's is not the same on every machine. */
static double tanh_of(double x)
{
    return 1.0 - 2.0 / (pw_exp(2.0 * x) + 1.0);
}

struct pw_evidence pw_evidence_of(const double *d, int n)
{
    struct pw_evidence r = {.n = 0, .e = 1.0, .most = 1.0, .p = 1.0, .side = 0};
    double first[GRID], second[GRID], squares = 0.0;
    int untied = 0;
    for (int i = 0; i < GRID; i++)
        first[i] = second[i] = 1.0;
    for (int k = 0; k < n; k++) {
        double size = d[k] < 0 ? -d[k] : d[k], for_first = 0.0, for_second = 0.0;
        if (isnan(d[k]))
            continue;
        r.n++;
        if (size == 0)
            continue;
        if (isfinite(size)) {
            squares += size * size;
            untied++;
        }
        double scale = isfinite(size) ? sqrt(squares / untied) : 1.0;
        for (int i = 0; i < GRID; i++) {
            double bet = fmin(tanh_of(grid[i] * (size / scale)), CAP);
            bet = d[k] > 0 ? bet : -bet;
            first[i] *= 1.0 + bet;
            second[i] *= 1.0 - bet;
            for_first += first[i];
            for_second += second[i];
        }
        r.e = (for_first + for_second) / (2 * GRID);
        if (r.e > r.most) {
            r.most = r.e;
            r.side = for_first > for_second ? 1 : -1;
        }
    }
    r.p = 1.0 / r.most;
    return r;
}

void pw_decide(struct pw_decision *out, const struct pw_evidence *e, int n, double level)
{
    double *p = pw_alloc((size_t)n * 2, sizeof *p), *corrected = p + n;
    for (int i = 0; i < n; i++)
        p[i] = e[i].p;
    pw_holm(corrected, p, n);
    for (int i = 0; i < n; i++)
        out[i] = (struct pw_decision){
            .p = p[i], .corrected = corrected[i], .side = corrected[i] <= level ? e[i].side : 0};
    free(p);
}

struct pw_interval pw_interval_after_looks(const double *d, int n, int m)
{
    struct pw_interval r = pw_mean_interval(d, n);
    if (r.n > UNDECIDED) {
        double half = (r.hi - r.mean) * (1.0 + (0.10 + 0.12 / m) * (1.0 - (double)UNDECIDED / r.n));
        r.lo = r.mean - half;
        r.hi = r.mean + half;
    }
    return r;
}

double pw_effect_size(const double *d, int n)
{
    double mean = pw_mean_interval(d, n).mean, squares = 0.0;
    int count = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(d[i])) {
            squares += (d[i] - mean) * (d[i] - mean);
            count++;
        }
    if (count < 2)
        return (double)NAN;
    double deviation = sqrt(squares / (count - 1));
    return deviation > 1e-12 * (mean < 0 ? -mean : mean) ? mean / deviation : (double)NAN;
}
