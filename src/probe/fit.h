/* fit.h - least squares for probes: a line, ridge regression, and the eigenvalues of a symmetric matrix.
 * Double precision, sums in a fixed order. Any thread. Only pw_ridge_init can fail. */
#ifndef PW_FIT_H
#define PW_FIT_H
#include <stdbool.h>

/* A straight line, fitted by least squares. */
struct pw_fitted_line {
    double slope, level; /* y = level + slope x */
    double r2;           /* share of y's variance explained; NaN if y is constant */
};

/* Fits n >= 2 points. At least two values of x must differ. */
struct pw_fitted_line pw_fit_line(const double *x, const double *y, int n);

/* Ridge regression (Hoerl and Kennard 1970) from F features to K targets. Rows are added one by one and are
 * not stored; only sums of products are. */
struct pw_ridge {
    int F, K;
    double rows;
    double *xx; /* [F,F], the lower half */
    double *xy; /* [F,K] */
    double *x;  /* [F] */
    double *y;  /* [K] */
    /* [F] the first row, which is subtracted from every row: features that vary little around 1 would lose
     * their variance to rounding in the sum of squares */
    double *from;
};

bool pw_ridge_init(struct pw_ridge *r, int F, int K); /* false: out of memory */
void pw_ridge_fini(struct pw_ridge *r);
void pw_ridge_add(struct pw_ridge *r, const float *x, const double *y); /* x [F], y [K] */

/* Writes weights [F+1,K]; the last row is the intercept. They minimise the sum of squares + lambda * rows *
 * |weights of standardised features|^2. The weight of a constant feature is 0. Overwrites r: afterwards call
 * only pw_ridge_fini. */
void pw_ridge_solve(struct pw_ridge *r, double *weights, double lambda);
/* The prediction of target k for the features x [F]. weights: of pw_ridge_solve. */
double pw_ridge_predict(const double *weights, const float *x, int F, int K, int k);

/* Solves a x = b in place: b [n,K] becomes x. a [n,n] is symmetric and positive semi-definite; only its lower
 * half is read, and it is overwritten. Components with a pivot below 1e-14 become 0, which fixes a free
 * gauge. */
void pw_cholesky_solve(double *a, double *b, int n, int K);

/* Writes the eigenvalues of the symmetric matrix a [n,n] in descending order (Jacobi 1846). Overwrites a. */
void pw_eigenvalues(double *values, double *a, int n);

#endif
