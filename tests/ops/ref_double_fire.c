/* ref_double_fire.c - reference for values: FIRE in double precision, from its definition (Li et al. 2023).
 * The gradients of c and of the threshold's factor use the quotient rule. */
#include "tests/ops/ref_double.h"

#include <math.h>
#include <stdlib.h>

struct net {
    int K, H;
    double c, factor;
    const float *w1, *b1, *w2, *b2;
};

static struct net net_of(const float *param, const struct pw_fire *f, int H)
{
    int K = f->hidden;
    return (struct net){
        K, H, param[0], param[1], param + 2, param + 2 + K, param + 2 + 2 * K, param + 2 + 2 * K + H * K};
}

static double psi(const struct net *n, double x)
{
    return log(fabs(n->c) * x + 1);
}

/* The normalised distance, and its derivatives with respect to c and to the factor. */
static double distance(const struct net *n, const struct pw_fire *f, int i, int j, double by[2])
{
    double x = abs(i - j) * (double)f->step, at = (double)f->from + i * (double)f->step;
    double L = fabs(n->factor * (double)f->threshold), y = at > L ? at : L, C = fabs(n->c);
    double under = psi(n, y) + (double)PW_FIRE_EPS, u = psi(n, x) / under;
    double sign = n->c < 0 ? -1 : 1, grows = (n->factor < 0 ? -1 : 1) * (double)f->threshold;
    by[0] = sign * (x / (C * x + 1) * under - psi(n, x) * y / (C * y + 1)) / (under * under);
    by[1] = at > L ? 0 : -u * C / (C * L + 1) / under * grows;
    return u;
}

static bool hidden(const struct pw_fire *f, int i, int j)
{
    return f->causal && j > i;
}

void ref_double_fire_fwd(struct pw_ctx *c, float *bias, const float *param, const struct pw_fire *f, int H,
                         int P)
{
    struct net n = net_of(param, f, H);
    double by[2];
    (void)c;
    for (int h = 0; h < H; h++)
        for (int i = 0; i < P; i++)
            for (int j = 0; j < P; j++) {
                double u = distance(&n, f, i, j, by), sum = (double)n.b2[h];
                for (int k = 0; k < n.K; k++)
                    sum += (double)n.w2[h * n.K + k] * fmax(0, (double)n.w1[k] * u + (double)n.b1[k]);
                *bias++ = hidden(f, i, j) ? 0 : (float)sum;
            }
}

void ref_double_fire_bwd(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                         const struct pw_fire *f, int L, int H, int P)
{
    struct net n = net_of(param, f, H);
    size_t floats = pw_fire_floats(n.K, H);
    double *d = ref_room(floats), *d_w1 = d + 2, *d_b1 = d_w1 + n.K, *d_w2 = d_b1 + n.K,
           *d_b2 = d_w2 + H * n.K;
    (void)c;
    for (int at = 0; at < H * P * P; at++) {
        int h = at / (P * P), i = at / P % P, j = at % P;
        double by[2], u = distance(&n, f, i, j, by), g = 0;
        for (int l = 0; l < L; l++)
            g += hidden(f, i, j) ? 0 : (double)d_bias[l * H * P * P + at];
        d_b2[h] += g;
        for (int k = 0; k < n.K; k++) {
            double pre = (double)n.w1[k] * u + (double)n.b1[k], w2 = (double)n.w2[h * n.K + k];
            if (pre <= 0)
                continue;
            d_w2[h * n.K + k] += g * pre;
            d_b1[k] += g * w2;
            d_w1[k] += g * w2 * u;
            for (int p = 0; p < 2; p++)
                d[p] += g * w2 * (double)n.w1[k] * by[p];
        }
    }
    for (size_t p = 0; p < floats; p++)
        d_param[p] = (float)((double)d_param[p] + d[p]);
    free(d);
}
