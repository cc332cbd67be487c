/* products.h - the best map from the products of two positions' encodings to the encoding of their sum (Qiu
 * et al. 2021, appendix E, Eq. 15 and 23): least squares of ONE map for all draws. Any thread. */
#ifndef PW_PRODUCTS_H
#define PW_PRODUCTS_H

enum { PW_PRODUCTS = 5 /* the four products of an entry at x and one at y, and 1 */ };

/* Sums of products; all 0 to begin with. */
struct pw_products {
    double n, xx[PW_PRODUCTS * PW_PRODUCTS], xy[2 * PW_PRODUCTS], y[2], yy[2];
};

/* The even and odd entries at x, at y, and at x + y, which are to be predicted. */
void pw_products_add(struct pw_products *p, const double x[2], const double y[2], const double sum[2]);
/* The share of both entries' variance that the best map has: 1 - least squares / variance. */
double pw_products_r2(const struct pw_products *p);

#endif
