/* products.h - the best linear map from the products of two positions' encodings to the encoding of their sum
 * (Qiu et al. 2021, appendix E, Eq. 15 and 23). One least-squares map is fitted to all draws. Any thread.
 * Nothing can fail. */
#ifndef PW_PRODUCTS_H
#define PW_PRODUCTS_H

enum { PW_PRODUCTS = 5 /* four products of an entry at x and an entry at y, and the constant 1 */ };

/* Sums of products. Initialise with zeros. */
struct pw_product_sums {
    double n, xx[PW_PRODUCTS * PW_PRODUCTS], xy[2 * PW_PRODUCTS], y[2], yy[2];
};

/* Adds one draw. x, y: the even and odd entry at x and at y. sum: those at x + y, which the map predicts. */
void pw_products_add(struct pw_product_sums *p, const double x[2], const double y[2], const double sum[2]);
/* The share of the variance of both entries that the best map explains: 1 - residual / variance. */
double pw_products_r2(const struct pw_product_sums *p);

#endif
