/* ticks.c - round numbers along an axis. */
#include "plot/ticks.h"
#include <math.h>
#include <stdio.h>

double pw_tick_step(double lo, double hi, int max)
{
    static const double factors[] = {2, 2.5, 2};
    double step = pow(10, floor(log10((hi - lo) / (max + 1))));

    for (int i = 0; floor(hi / step + 1e-9) - ceil(lo / step - 1e-9) + 1 > max && i < 12; i++)
        step *= factors[i % 3];
    return step;
}

/* Writes the ticks of a log axis: the first `each` of 1, 2, 5 in every skip-th decade. Writes at most `room`
 * and returns how many are on the axis. */
static int log_ticks(double *at, int room, double lo, double hi, int each, int skip)
{
    static const double within[] = {1, 2, 5};
    int n = 0;

    for (double d = floor(log10(lo) / skip) * skip; d <= log10(hi); d += skip)
        for (int i = 0; i < each; i++) {
            double v = within[i] * pow(10, d);
            if (v >= lo * 0.999 && v <= hi * 1.001 && n++ < room)
                at[n - 1] = v;
        }
    return n;
}

int pw_ticks(double *at, int max, double lo, double hi, bool log)
{
    int n = 0;

    max = max < 1 ? 1 : max > PW_MAX_TICKS_AXIS ? PW_MAX_TICKS_AXIS : max;
    if (log) {
        n = log_ticks(at, max, lo, hi, 3, 1);
        for (int skip = 1; n > max; skip++)
            n = log_ticks(at, max, lo, hi, 1, skip);
        if (n > 1 || (n == 1 && (max == 1 || hi > 5 * lo)))
            return n;
        n = 0; /* a single number is no scale; use even steps, which such a narrow range hardly distorts */
    }
    double step = pw_tick_step(lo, hi, max);
    for (double k = ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9 && n < max; k++)
        at[n++] = k * step + 0.0; /* no -0 */
    return n;
}

void pw_tick_text(char *dst, size_t size, double v, bool percent)
{
    if (percent)
        snprintf(dst, size, "%.0f%%", v * 100);
    else if (v != 0 && (fabs(v) < 1e-3 || fabs(v) >= 1e5))
        snprintf(dst, size, "%.0e", v);
    else
        snprintf(dst, size, "%.4g", v);
}

void pw_count(char *dst, size_t size, double n)
{
    if (fabs(n) < 10000)
        snprintf(dst, size, "%.4g", n);
    else if (fabs(n) < 1e6)
        snprintf(dst, size, "%.3gk", n / 1e3);
    else
        snprintf(dst, size, "%.3gM", n / 1e6);
}
