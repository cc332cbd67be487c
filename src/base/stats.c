/* stats.c - exact tests by enumeration. Terms of the binomial distribution are summed from the largest down,
 * each computed from the one before. So neither a large n nor a small p overflows or underflows before the
 * result does. */
#include "base/stats.h"

#include <math.h>
#include <stdbool.h>

#include "base/maths.h"

/* log n!: the sum of logarithms, or from n = 32 on Stirling's series to 1/n^5, whose next term is then below
 * 1e-12. */
static double log_factorial(int64_t n)
{
    double x = (double)n, sum = 0.0;
    if (n < 32) {
        for (int64_t i = 2; i <= n; i++)
            sum += pw_log((double)i);
        return sum;
    }
    return (x + 0.5) * pw_log(x) - x + 0.91893853320467274178 + 1.0 / (12.0 * x) - 1.0 / (360.0 * x * x * x) +
           1.0 / (1260.0 * x * x * x * x * x);
}

double pw_mcnemar(int64_t only_a, int64_t only_b)
{
    int64_t n = only_a + only_b, k = only_a < only_b ? only_a : only_b;
    double log_most =
        log_factorial(n) - log_factorial(k) - log_factorial(n - k) - (double)n * 0.69314718055994530942;
    double term = 1.0, sum = 0.0; /* in units of the largest term, that of k */
    for (int64_t i = k; i >= 0 && term > 1e-17 * sum; i--) {
        sum += term;
        term *= (double)i / (double)(n - i + 1);
    }
    double p = 2.0 * pw_exp(log_most + pw_log(sum));
    return p < 1.0 ? p : 1.0;
}

/* Tolerance for equal sums: two sums of the same numbers in another order differ by rounding only. */
static double rounding(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++)
        most += x[i] < 0 ? -x[i] : x[i];
    return 1e-9 * most;
}

double pw_sign_flip(const double *d, int n)
{
    double observed = 0.0, slack = rounding(d, n);
    uint32_t extreme = 0;
    if (n < 1 || n > PW_SIGN_FLIP_MAX)
        return (double)NAN;
    for (int i = 0; i < n; i++)
        observed += d[i];
    observed = observed < 0 ? -observed : observed;
    for (uint32_t signs = 0; signs < UINT32_C(1) << n; signs++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++)
            sum += signs >> i & 1 ? -d[i] : d[i];
        extreme += (sum < 0 ? -sum : sum) >= observed - slack;
    }
    return (double)extreme / (double)(UINT32_C(1) << n);
}

/* Enumerates every choice of `left` more numbers of x [n], and adds them to sum. */
struct choices {
    const double *x;
    double least; /* absolute value from which a sum counts as extreme */
    int64_t extreme, all;
};

static void choose(struct choices *c, int n, int left, double sum)
{
    if (left == 0) {
        c->all++;
        c->extreme += sum >= c->least || -sum >= c->least;
        return;
    }
    for (int i = left - 1; i < n; i++)
        choose(c, i, left - 1, sum + c->x[i]);
}

double pw_two_sample(const double *a, int n, const double *b, int m)
{
    double x[PW_TWO_SAMPLE_MAX], mean = 0.0, observed = 0.0;
    int total = n + m;
    if (n < 1 || m < 1 || total > PW_TWO_SAMPLE_MAX)
        return (double)NAN;
    for (int i = 0; i < total; i++)
        mean += (x[i] = i < n ? a[i] : b[i - n]);
    mean /= total;
    for (int i = 0; i < total; i++)
        x[i] -= mean;
    for (int i = 0; i < n; i++)
        observed += x[i];
    struct choices c = {.x = x, .least = (observed < 0 ? -observed : observed) - rounding(x, total)};
    choose(&c, total, n, 0.0);
    return (double)c.extreme / (double)c.all;
}

struct pw_interval pw_mean_interval(const double *x, int n)
{
    /* The 0.975 quantile for 1, 2, ... degrees of freedom. Beyond the table 1.96 + 2.4 / df is within 0.001
     * of it. */
    static const double quantile[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646,
                                      2.3060,  2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
                                      2.1314,  2.1199, 2.1098, 2.1009, 2.0930, 2.0860};
    enum { QUANTILES = sizeof quantile / sizeof *quantile };
    struct pw_interval r = {0, (double)NAN, (double)NAN, (double)NAN};
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < n; i++)
        if (!isnan(x[i])) {
            sum += x[i];
            r.n++;
        }
    if (r.n == 0)
        return r;
    r.mean = sum / r.n;
    for (int i = 0; i < n; i++)
        if (!isnan(x[i]))
            squares += (x[i] - r.mean) * (x[i] - r.mean);
    if (r.n > 1) {
        double t = r.n - 1 <= QUANTILES ? quantile[r.n - 2] : 1.96 + 2.4 / (r.n - 1);
        double half = t * sqrt(squares / (r.n - 1) / r.n);
        r.lo = r.mean - half;
        r.hi = r.mean + half;
    }
    return r;
}

void pw_holm(double *adjusted, const double *p, int n)
{
    for (int i = 0; i < n; i++) {
        adjusted[i] = 0.0;
        for (int j = 0; j < n; j++) { /* the values of rank up to that of i */
            int before = 0;
            if (p[j] > p[i] || (p[j] == p[i] && j > i))
                continue;
            for (int k = 0; k < n; k++)
                before += p[k] < p[j] || (p[k] == p[j] && k < j);
            double x = (n - before) * p[j];
            adjusted[i] = x > adjusted[i] ? x : adjusted[i];
        }
        adjusted[i] = adjusted[i] < 1.0 ? adjusted[i] : 1.0;
    }
}

double pw_reciprocal_rank(const double *x, int n, int i)
{
    int better = 0, same = 0;
    if (isnan(x[i]))
        return (double)NAN;
    for (int k = 0; k < n; k++) {
        better += x[k] > x[i];
        same += x[k] == x[i];
    }
    return 1 / (better + (same + 1) / 2.0);
}

int pw_mean_reciprocal_ranks(double *out, const double *x, int rows, int n)
{
    int used = 0;
    for (int i = 0; i < n; i++)
        out[i] = 0.0;
    for (int row = 0; row < rows; row++, x += n) {
        bool whole = true;
        for (int i = 0; i < n; i++)
            whole = whole && !isnan(x[i]);
        for (int i = 0; i < n && whole; i++)
            out[i] += pw_reciprocal_rank(x, n, i);
        used += whole;
    }
    for (int i = 0; i < n; i++)
        out[i] = used > 0 ? out[i] / used : (double)NAN;
    return used;
}
