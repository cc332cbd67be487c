/* fit.h - least squares for probes, in double precision and a fixed order: a line, ridge regression, and the
 * eigenvalues of a symmetric matrix. Any thread. */
#ifndef PW_FIT_H
#define PW_FIT_H
#include <stdbool.h>

struct pw_line {
    double slope, level; /* y = level + slope x */
    double r2;           /* share of y's variance; NaN where y has none */
};

/* n >= 2 points, not all at one x. */
struct pw_line pw_fit_line(const double *x, const double *y, int n);

/* Ridge regression (Hoerl and Kennard 1970) from F features to K targets, of rows that come one after the
 * other and are not kept: sums of products are. */
struct pw_ridge {
    int F, K;
    double rows;
    double *xx;   /* [F,F], the lower half */
    double *xy;   /* [F,K] */
    double *x;    /* [F] */
    double *y;    /* [K] */
    double *from; /* [F] the first row, from which features are counted: what varies little around 1 would
                     drown in its own square */
};

bool pw_ridge_init(struct pw_ridge *r, int F, int K); /* false: no memory */
void pw_ridge_fini(struct pw_ridge *r);
void pw_ridge_add(struct pw_ridge *r, const float *x, const double *y); /* x [F], y [K] */

/* Weights [F+1,K], the last row the level: least sum of squares + lambda * rows * |weights of standardised
 * features|^2. A feature that doesn't vary gets 0. Uses r up: afterwards only fini. */
void pw_ridge_solve(struct pw_ridge *r, double *weights, double lambda);
double pw_ridge_predict(const double *weights, const float *x, int F, int K, int k);

/* a x = b for a symmetric positive a [n,n], of which the lower half is read, and b [n,K], which becomes x; a
 * is used up. Directions in which a is 0 (no pivot above 1e-14) get 0: it suits a gauge. */
void pw_cholesky_solve(double *a, double *b, int n, int K);

/* The eigenvalues of a symmetric matrix a [n,n], which is used up, in descending order (Jacobi 1846). */
void pw_eigenvalues(double *values, double *a, int n);

#endif
