/* columns.c - many points on few columns. */
#include "plot/columns.h"
#include <math.h>

/* First index from `from` on whose step lies right of x. */
static int first_beyond(const int64_t *step, int from, int n, double x)
{
    while (from < n) {
        int mid = from + (n - from) / 2;
        if ((double)step[mid] > x)
            n = mid;
        else
            from = mid + 1;
    }
    return from;
}

/* The same for points of which some are no numbers. */
static struct pw_column column_of_broken(const float *y, int from, int end)
{
    struct pw_column k = {INFINITY, -INFINITY, NAN, NAN, 0, 0, false};

    for (int i = from; i < end; i++) {
        float v = y[i];
        if (!isfinite(v)) {
            k.broken = true;
            continue;
        }
        if (k.n++ == 0)
            k.first = v;
        k.lo = v < k.lo ? v : k.lo, k.hi = v > k.hi ? v : k.hi;
        k.last = v;
        k.sum += (double)v;
    }
    return k;
}

/* Long runs have millions of points, all of which are looked at in each frame: no branch in the loop. */
static struct pw_column column_from(const float *y, int from, int end)
{
    struct pw_column k = {INFINITY, -INFINITY, NAN, NAN, 0, end - from, false};
    float zero = 0; /* stays 0 as long as everything is finite */

    for (int i = from; i < end; i++) {
        float v = y[i];
        k.lo = v < k.lo ? v : k.lo, k.hi = v > k.hi ? v : k.hi;
        k.sum += (double)v;
        zero += v - v;
    }
    if (zero != 0)
        return column_of_broken(y, from, end);
    if (k.n > 0)
        k.first = y[from], k.last = y[end - 1];
    return k;
}

void pw_plot_extent(const float *y, int n, bool positive, float *lo, float *hi)
{
    enum { BLOCK = 512 };

    for (int i = 0; i < n; i += BLOCK) {
        int end = i + BLOCK < n ? i + BLOCK : n;
        struct pw_column k = column_from(y, i, end);
        if (positive && !(k.lo > 0)) {
            k.lo = INFINITY;
            for (int j = i; j < end; j++)
                if (y[j] > 0 && y[j] < k.lo)
                    k.lo = y[j];
        }
        *lo = k.lo < *lo ? k.lo : *lo, *hi = k.hi > *hi ? k.hi : *hi;
    }
}

void pw_columns_find(struct pw_column *k, int n, const struct pw_points *p, double x0, double x1)
{
    double width = (x1 - x0) / (n > 1 ? n - 1 : 1);

    for (int i = 0, c = 0; c < n; c++) {
        int end = first_beyond(p->x, i, p->n, x0 + (c + 0.5) * width);
        k[c] = column_from(p->y, i, end);
        i = end;
    }
}

void pw_columns_means(const struct pw_column *k, int n_columns, int reach, float *mean)
{
    for (int d = 0; d < n_columns; d++) {
        double sum = 0;
        int n = 0;
        for (int i = d - reach < 0 ? 0 : d - reach; i <= d + reach && i < n_columns; i++)
            sum += k[i].sum, n += k[i].n;
        mean[d] = k[d].n > 0 ? (float)(sum / n) : NAN;
    }
}
