/* ref_double_slopes.c - reference for values: slopes of rows in double precision, from their definition. The
 * gradients are those of y = w softplus(x.u / (|u| sqrt(D))) by the product and quotient rules. */
#include "tests/ops/ref_double.h"

#include <math.h>
#include <stdlib.h>

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* x.u and |u|, at least 1e-6, of head h of part k. */
static double product(const float *x, const float *u, int D, double *length)
{
    double sum = 0, square = 0;
    for (int i = 0; i < D; i++) {
        sum += (double)x[i] * (double)u[i];
        square += (double)u[i] * (double)u[i];
    }
    *length = fmax(sqrt(square), 1e-6);
    return sum;
}

void ref_double_slopes_fwd(struct pw_ctx *c, float *y, const float *qkv, const struct pw_slopes *s, int R)
{
    int H = s->heads, D = s->head_width;
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++) {
            const float *u = k < H ? s->query : s->key;
            double length, dot, w = softplus((double)s->omega[k % H]) * (double)s->slope[k % H];
            y[r * 2 * H + k] = 0;
            if (u == NULL)
                continue;
            dot = product(qkv + (r * 3 * H + k) * D, u + k % H * D, D, &length);
            y[r * 2 * H + k] = (float)(w * softplus(dot / length / sqrt(D)));
        }
}

void ref_double_slopes_bwd(struct pw_ctx *c, float *dqkv, const struct pw_slopes_grad *d, const float *dy,
                           const float *qkv, const struct pw_slopes *s, int R)
{
    int H = s->heads, D = s->head_width;
    double *learned = ref_room((size_t)(2 * H * D)), *omega = ref_room((size_t)H);
    (void)c;
    for (int r = 0; r < R; r++)
        for (int k = 0; k < 2 * H; k++) {
            int h = k % H;
            const float *u = k < H ? s->query : s->key, *x = qkv + (r * 3 * H + k) * D;
            double length, own = (double)dy[r * 2 * H + k], slope = (double)s->slope[h];
            if (u == NULL)
                continue;
            u += h * D;
            double dot = product(x, u, D, &length), arg = dot / length / sqrt(D);
            double w = softplus((double)s->omega[h]) * slope, g = own * w / (1 + exp(-arg)) / sqrt(D);
            for (int i = 0; i < D; i++) {
                float *dx = dqkv + (r * 3 * H + k) * D + i;
                *dx = (float)((double)*dx + g * (double)u[i] / length);
                learned[k * D + i] +=
                    g * ((double)x[i] / length - dot * (double)u[i] / (length * length * length));
            }
            omega[h] += own * softplus(arg) * slope / (1 + exp(-(double)s->omega[h]));
        }
    for (int i = 0; i < 2 * H * D; i++) {
        float *to = i < H * D ? d->query : d->key;
        bool some = (i < H * D ? s->query : s->key) != NULL;
        if (some)
            to[i % (H * D)] = (float)((double)to[i % (H * D)] + learned[i]);
    }
    for (int h = 0; h < H; h++)
        d->omega[h] = (float)((double)d->omega[h] + omega[h]);
    free(learned);
    free(omega);
}
