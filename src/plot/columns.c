/* columns.c - summarises many points in few columns. */
#include "plot/columns.h"
#include <math.h>

/* Returns the first index from `from` on whose step is greater than x. */
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

void pw_plot_extent(const struct pw_points *p, bool positive, float *lo, float *hi)
{
    struct pw_summary s = pw_pyramid_sum(p->pyramid, p->y, p->from, p->n);
    float least = positive ? s.above : s.lo;

    *lo = least < *lo ? least : *lo, *hi = s.hi > *hi ? s.hi : *hi;
}

void pw_columns_find(struct pw_summary *k, int *part, int n, const struct pw_points *p, double x0, double x1)
{
    double width = (x1 - x0) / (n > 1 ? n - 1 : 1);

    for (int i = p->from, swaps = 0, c = 0; c < n; c++) {
        int end = first_beyond(p->x, i, p->n, x0 + (c + 0.5) * width);
        k[c] = pw_pyramid_sum(p->pyramid, p->y, i, end);
        while (swaps < p->n_swaps && end > 0 && p->swaps[swaps] < p->step[end - 1])
            swaps++;
        part[c] = swaps;
        i = end;
    }
}

void pw_columns_means(const struct pw_summary *k, const int *part, int n_columns, int reach, float *mean)
{
    for (int d = 0; d < n_columns; d++) {
        double sum = 0;
        int n = 0;
        for (int i = d - reach < 0 ? 0 : d - reach; i <= d + reach && i < n_columns; i++)
            if (part[i] == part[d])
                sum += k[i].sum, n += k[i].n;
        mean[d] = k[d].n > 0 ? (float)(sum / n) : NAN;
    }
}
