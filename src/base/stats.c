/* stats.c - see stats.h. Terms of the binomial distribution are summed from the largest down, each from the
 * one before, so neither a large n nor a small p leaves the range of a double before the result does. */
#include "base/stats.h"

#include "base/maths.h"

/* log n!: the sum of logarithms, or Stirling's series to 1/n^5, whose next term is below 1e-12 from 32 on. */
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
    double term = 1.0, sum = 0.0; /* in units of the largest, that of k */
    for (int64_t i = k; i >= 0 && term > 1e-17 * sum; i--) {
        sum += term;
        term *= (double)i / (double)(n - i + 1);
    }
    double p = 2.0 * pw_exp(log_most + pw_log(sum));
    return p < 1.0 ? p : 1.0;
}

void pw_holm(double *adjusted, const double *p, int n)
{
    for (int i = 0; i < n; i++) {
        adjusted[i] = 0.0;
        for (int j = 0; j < n; j++) { /* those that come before it, itself among them */
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
