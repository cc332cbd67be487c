/* products.c - see products.h. */
#include "probe/products.h"

#include <string.h>

#include "probe/fit.h"

void pw_products_add(struct pw_product_sums *p, const double x[2], const double y[2], const double sum[2])
{
    const double f[PW_PRODUCTS] = {x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1], 1};
    for (int i = 0; i < PW_PRODUCTS; i++) {
        for (int j = 0; j <= i; j++)
            p->xx[i * PW_PRODUCTS + j] += f[i] * f[j];
        for (int k = 0; k < 2; k++)
            p->xy[2 * i + k] += f[i] * sum[k];
    }
    for (int k = 0; k < 2; k++) {
        p->y[k] += sum[k];
        p->yy[k] += sum[k] * sum[k];
    }
    p->n++;
}

double pw_products_r2(const struct pw_product_sums *p)
{
    struct pw_product_sums a = *p; /* a copy, because the solver overwrites its input */
    double left = 0, variance = 0;
    for (int i = 0; i < PW_PRODUCTS * PW_PRODUCTS; i++)
        a.xx[i] /= p->n;
    for (int i = 0; i < 2 * PW_PRODUCTS; i++)
        a.xy[i] /= p->n;
    double b[2 * PW_PRODUCTS];
    memcpy(b, a.xy, sizeof b);
    pw_cholesky_solve(a.xx, b, PW_PRODUCTS, 2);
    for (int k = 0; k < 2; k++) {
        double mean = p->y[k] / p->n, square = p->yy[k] / p->n;
        variance += square - mean * mean;
        left += square;
        for (int i = 0; i < PW_PRODUCTS; i++)
            left -= b[2 * i + k] * a.xy[2 * i + k];
    }
    return 1 - left / variance;
}
