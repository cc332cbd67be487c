/* divergence.c - see divergence.h. */
#include "probe/divergence.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"

/* ---- rows */

/* lp and lq are ln p and ln q; the caller computes them once per row. Both halves of each term are added
 * first, so that the bits don't depend on the order of p and q. */
static double jsd(const float *p, const double *lp, const float *q, const double *lq, int n)
{
    double sum = 0;
    for (int j = 0; j < n; j++) {
        double m = ((double)p[j] + (double)q[j]) / 2;
        double lm = m > 0 ? pw_log(m) : 0;
        sum += (p[j] > 0 ? (double)p[j] * (lp[j] - lm) : 0) + (q[j] > 0 ? (double)q[j] * (lq[j] - lm) : 0);
    }
    return sum > 0 ? sum / 2 : 0; /* rounding can make it negative if the rows are equal */
}

static double released(const float *p, const double *lp, const float *q, const double *lq, int n)
{
    double sum = 0;
    for (int j = 0; j < n; j++) {
        double m = ((double)p[j] + (double)q[j]) / 2;
        if (m > 0)
            sum += m * (2 * pw_log(m) - (lp[j] + lq[j]));
    }
    return sum > 0 ? sum / 2 : 0;
}

static double of_rows(enum pw_divergence kind, const float *p, const double *lp, const float *q,
                      const double *lq, int n)
{
    return kind == PW_DIVERGENCE_JSD ? jsd(p, lp, q, lq, n) : released(p, lp, q, lq, n);
}

static void take_logs(double *out, const float *p, int n)
{
    for (int j = 0; j < n; j++)
        out[j] = pw_log(p[j]);
}

double pw_divergence(enum pw_divergence kind, const float *p, const float *q, int n)
{
    double *lp = pw_alloc((size_t)n, sizeof *lp), *lq = pw_alloc((size_t)n, sizeof *lq);
    take_logs(lp, p, n);
    take_logs(lq, q, n);
    double d = of_rows(kind, p, lp, q, lq, n);
    free(lp);
    free(lq);
    return d;
}

void pw_head_distances(enum pw_divergence kind, double *out, const float *P, int A, const float *Q, int B,
                       int T, int first, bool causal)
{
    double *lp = pw_alloc((size_t)A * T, sizeof *lp), *lq = pw_alloc((size_t)B * T, sizeof *lq);
    assert(first >= 0 && first < T);
    for (int i = 0; i < A * B; i++)
        out[i] = 0;
    for (int t = first; t < T; t++) {
        int n = causal ? t + 1 : T;
        for (int a = 0; a < A; a++)
            take_logs(lp + (size_t)a * T, P + ((size_t)a * T + t) * T, n);
        for (int b = 0; b < B; b++)
            take_logs(lq + (size_t)b * T, Q + ((size_t)b * T + t) * T, n);
        for (int a = 0; a < A; a++)
            for (int b = 0; b < B; b++)
                out[a * B + b] += of_rows(kind, P + ((size_t)a * T + t) * T, lp + (size_t)a * T,
                                          Q + ((size_t)b * T + t) * T, lq + (size_t)b * T, n);
    }
    for (int i = 0; i < A * B; i++)
        out[i] /= T - first;
    free(lp);
    free(lq);
}

/* ---- layers */

double pw_distance_least(const double *D, int A, int B, bool half)
{
    double least = NAN;
    for (int a = 0; a < A; a++)
        for (int b = half ? a + 1 : 0; b < B; b++)
            if (isnan(least) || D[a * B + b] < least)
                least = D[a * B + b];
    return least;
}

double pw_distance_same(const double *D, int A)
{
    double sum = 0;
    for (int a = 0; a < A; a++)
        sum += D[a * A + a];
    return sum / A;
}

/* The cost of row r and column c: D, transposed if needed so that there are at least as many columns as rows.
 * An infinite cost is cut to 1e12, because a difference of two infinities is NaN. */
static double cost_at(const double *D, int A, int B, int r, int c)
{
    double d = A <= B ? D[r * B + c] : D[c * B + r];
    return isinf(d) ? 1e12 : d;
}

/* The Hungarian method (Kuhn 1955) with potentials: one row at a time along the shortest alternating path,
 * O(rows^2 columns). Rows and columns count from 1; column 0 holds the row to be assigned. Fills of_column
 * [columns + 1] with rows, 0: none. */
static void assign(const double *D, int A, int B, int *of_column)
{
    int rows = A <= B ? A : B, columns = A <= B ? B : A;
    double *u = pw_alloc((size_t)rows + 1, sizeof *u), *v = pw_alloc((size_t)columns + 1, sizeof *v);
    double *slack = pw_alloc((size_t)columns + 1, sizeof *slack);
    int *way = pw_alloc((size_t)columns + 1, sizeof *way);
    bool *used = pw_alloc((size_t)columns + 1, sizeof *used);
    for (int r = 1; r <= rows; r++) {
        int at = 0;
        of_column[0] = r;
        for (int c = 0; c <= columns; c++) {
            slack[c] = INFINITY;
            used[c] = false;
        }
        do {
            int next = 0;
            double least = INFINITY;
            used[at] = true;
            for (int c = 1; c <= columns; c++) {
                if (used[c])
                    continue;
                double s = cost_at(D, A, B, of_column[at] - 1, c - 1) - u[of_column[at]] - v[c];
                if (s < slack[c]) {
                    slack[c] = s;
                    way[c] = at;
                }
                if (slack[c] < least) {
                    least = slack[c];
                    next = c;
                }
            }
            for (int c = 0; c <= columns; c++)
                if (used[c]) {
                    u[of_column[c]] += least;
                    v[c] -= least;
                } else
                    slack[c] -= least;
            at = next;
        } while (of_column[at] != 0);
        for (; at != 0; at = way[at])
            of_column[at] = of_column[way[at]];
    }
    free(u);
    free(v);
    free(slack);
    free(way);
    free(used);
}

double pw_distance_matched(const double *D, int A, int B, int *match)
{
    int n = A < B ? A : B, columns = A < B ? B : A;
    int *of_column = pw_alloc((size_t)columns + 1, sizeof *of_column);
    double sum = 0;
    assign(D, A, B, of_column);
    for (int a = 0; match != NULL && a < A; a++)
        match[a] = -1;
    for (int c = 1; c <= columns; c++) {
        int r = of_column[c] - 1;
        if (r < 0)
            continue;
        int a = A <= B ? r : c - 1, b = A <= B ? c - 1 : r;
        sum += D[a * B + b];
        if (match != NULL)
            match[a] = b;
    }
    free(of_column);
    return sum / n;
}
