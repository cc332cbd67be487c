/* ref_double_scan.c - reference for values: weights of attention and their derivatives in double precision,
 * from their definitions. */
#include "tests/ops/ref_double.h"

#include <math.h>

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* The weights of one row of a stick: s [i+1] becomes them. */
static void stick(double *s, int i)
{
    double left = 1;
    for (int j = i - 1; j >= 0; j--) {
        double share = sigmoid(s[j]);
        s[j] = share * left;
        left *= 1 - share;
    }
    s[i] = left;
}

void ref_double_weights(double *p, const struct pw_attn *a, int T)
{
    if (a->scan.kind != PW_SCAN_STICK) {
        ref_softmax(p, T, T);
        return;
    }
    for (int i = 0; i < T; i++) {
        stick(p + i * T, i);
        for (int j = i + 1; j < T; j++)
            p[i * T + j] = 0;
    }
}

/* The derivative of the weight of key j with respect to the score of key l, both at most i. */
static double stick_by(const double *s, const double *p, int i, int j, int l)
{
    double share = sigmoid(s[l]);
    bool later = l > j || j == i; /* key l takes its share before key j */
    if (l == i)
        return 0;
    return j == l ? p[j] * (1 - share) : later ? -p[j] * share : 0;
}

void ref_double_weights_bwd(double *ds, const double *dp, const double *p, const double *s,
                            const struct pw_attn *a, int T)
{
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++)
            for (int l = 0; l < T; l++) {
                const double *row = p + i * T;
                double by = row[l] * ((j == l) - row[j]);
                if (a->scan.kind == PW_SCAN_STICK)
                    by = j <= i && l <= i ? stick_by(s + i * T, row, i, l, j) : 0;
                ds[i * T + j] += dp[i * T + l] * by;
            }
}
