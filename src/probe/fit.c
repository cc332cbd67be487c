/* fit.c - see fit.h. */
#include "probe/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct pw_fitted_line pw_fit_line(const double *x, const double *y, int n)
{
    double mx = 0, my = 0, xy = 0, xx = 0, yy = 0;
    for (int i = 0; i < n; i++) {
        mx += x[i] / n;
        my += y[i] / n;
    }
    for (int i = 0; i < n; i++) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
    }
    return (struct pw_fitted_line){
        .slope = xy / xx, .level = my - xy / xx * mx, .r2 = yy > 0 ? xy * xy / (xx * yy) : NAN};
}

/* Overwrites a with its Cholesky factor. A pivot that rounding has made 0 becomes infinite, so that division
 * by it gives 0. */
static void factor(double *a, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[(size_t)i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[(size_t)i * n + k] * a[(size_t)j * n + k];
            if (j < i)
                a[(size_t)i * n + j] = sum / a[(size_t)j * n + j];
            else
                a[(size_t)i * n + i] = sum > 1e-14 ? sqrt(sum) : INFINITY;
        }
}

void pw_cholesky_solve(double *a, double *b, int n, int K)
{
    factor(a, n);
    for (int k = 0; k < K; k++) {
        for (int i = 0; i < n; i++) {
            double sum = b[(size_t)i * K + k];
            for (int j = 0; j < i; j++)
                sum -= a[(size_t)i * n + j] * b[(size_t)j * K + k];
            b[(size_t)i * K + k] = sum / a[(size_t)i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            double sum = b[(size_t)i * K + k];
            for (int j = i + 1; j < n; j++)
                sum -= a[(size_t)j * n + i] * b[(size_t)j * K + k];
            b[(size_t)i * K + k] = sum / a[(size_t)i * n + i];
        }
    }
}

/* ---- ridge regression */

bool pw_ridge_init(struct pw_ridge *r, int F, int K)
{
    *r = (struct pw_ridge){.F = F, .K = K};
    r->xx = calloc((size_t)F * F + (size_t)F * K + 2 * F + K, sizeof *r->xx);
    if (r->xx == NULL)
        return false;
    r->xy = r->xx + (size_t)F * F;
    r->x = r->xy + (size_t)F * K;
    r->y = r->x + F;
    r->from = r->y + K;
    return true;
}

void pw_ridge_fini(struct pw_ridge *r)
{
    free(r->xx);
    memset(r, 0, sizeof *r);
}

void pw_ridge_add(struct pw_ridge *r, const float *x, const double *y)
{
    for (int i = 0; r->rows == 0 && i < r->F; i++)
        r->from[i] = (double)x[i];
    for (int i = 0; i < r->F; i++) {
        double *row = r->xx + (size_t)i * r->F, xi = (double)x[i] - r->from[i];
        for (int j = 0; j <= i; j++)
            row[j] += xi * ((double)x[j] - r->from[j]);
        for (int k = 0; k < r->K; k++)
            r->xy[(size_t)i * r->K + k] += xi * y[k];
        r->x[i] += xi;
    }
    for (int k = 0; k < r->K; k++)
        r->y[k] += y[k];
    r->rows++;
}

/* Replaces sums by correlations. scale [F] is 1 / standard deviation, or 0 for a constant feature. */
static void standardise(struct pw_ridge *r, double *scale, double lambda)
{
    int F = r->F, K = r->K;
    for (int i = 0; i < F; i++) {
        double square = r->xx[(size_t)i * F + i] / r->rows, mean = r->x[i] / r->rows;
        double variance = square - mean * mean;
        scale[i] = variance > 1e-12 * square && variance > 0 ? 1 / sqrt(variance) : 0;
    }
    for (int i = 0; i < F; i++) {
        for (int j = 0; j <= i; j++) {
            double *v = &r->xx[(size_t)i * F + j];
            *v = (*v / r->rows - r->x[i] / r->rows * (r->x[j] / r->rows)) * scale[i] * scale[j];
        }
        for (int k = 0; k < K; k++) {
            double *v = &r->xy[(size_t)i * K + k];
            *v = (*v / r->rows - r->x[i] / r->rows * (r->y[k] / r->rows)) * scale[i];
        }
        r->xx[(size_t)i * F + i] += scale[i] > 0 ? lambda : 1;
    }
}

void pw_ridge_solve(struct pw_ridge *r, double *weights, double lambda)
{
    int F = r->F, K = r->K;
    double *scale = pw_alloc((size_t)F, sizeof *scale);
    standardise(r, scale, lambda);
    pw_cholesky_solve(r->xx, r->xy, F, K);
    for (int k = 0; k < K; k++) {
        double level = r->y[k] / r->rows;
        for (int i = 0; i < F; i++) {
            double w = r->xy[(size_t)i * K + k] * scale[i];
            weights[(size_t)i * K + k] = w;
            level -= w * (r->x[i] / r->rows + r->from[i]);
        }
        weights[(size_t)F * K + k] = level;
    }
    free(scale);
}

double pw_ridge_predict(const double *weights, const float *x, int F, int K, int k)
{
    double sum = weights[(size_t)F * K + k];
    for (int i = 0; i < F; i++)
        sum += (double)x[i] * weights[(size_t)i * K + k];
    return sum;
}

/* ---- eigenvalues */

/* Applies one rotation that makes a[p,q] zero (Golub and Van Loan, section 8.5). */
static void rotate(double *a, int n, int p, int q)
{
    double apq = a[(size_t)p * n + q];
    double tau = (a[(size_t)q * n + q] - a[(size_t)p * n + p]) / (2 * apq);
    double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau)), c = 1 / sqrt(1 + t * t), s = t * c;
    for (int k = 0; k < n; k++) {
        double kp = a[(size_t)k * n + p], kq = a[(size_t)k * n + q];
        a[(size_t)k * n + p] = c * kp - s * kq;
        a[(size_t)k * n + q] = s * kp + c * kq;
    }
    for (int k = 0; k < n; k++) {
        double pk = a[(size_t)p * n + k], qk = a[(size_t)q * n + k];
        a[(size_t)p * n + k] = c * pk - s * qk;
        a[(size_t)q * n + k] = s * pk + c * qk;
    }
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

void pw_eigenvalues(double *values, double *a, int n)
{
    double total = 0;
    for (int i = 0; i < n * n; i++)
        total += a[i] * a[i];
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                off += 2 * a[(size_t)p * n + q] * a[(size_t)p * n + q];
        if (off <= 1e-24 * total)
            break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (a[(size_t)p * n + q] != 0)
                    rotate(a, n, p, q);
    }
    for (int i = 0; i < n; i++)
        values[i] = a[(size_t)i * n + i];
    qsort(values, (size_t)n, sizeof *values, descending);
}
