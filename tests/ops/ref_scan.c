/* ref_scan.c - reference for bits: scans over the keys of a query, one key after the other. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <stdlib.h>

static float not_tiny(float x)
{
    return x < 0x1p-100f ? 0.0f : x;
}

void ref_stick(float *p, float *taken, int i)
{
    float left = 1.0f;
    for (int j = i - 1; j >= 0; j--) {
        float share, minus;
        plain_sigmoid(p[j], &share, &minus);
        p[j] = not_tiny(share * left);
        left = not_tiny(left * minus);
        if (taken != NULL)
            taken[j] = share;
    }
    p[i] = left;
    if (taken != NULL)
        taken[i] = 0.0f;
}

void ref_stick_bwd(float *ds, const float *p, const float *taken, int i)
{
    float sum = p[i] * ds[i];
    for (int j = 0; j < i; j++) {
        float t = p[j] * ds[j];
        sum = sum + t;
        ds[j] = t - taken[j] * sum;
    }
    ds[i] = 0.0f;
}

static float place_of(float sum, float last)
{
    return sum < last ? sum : last;
}

/* The product of a query and column k of the table; the columns from n on are the last one. */
static float product(const float *q, const struct pw_attn *a, int k)
{
    float v = 0.0f;
    k = k < a->scan.n ? k : a->scan.n - 1;
    for (int d = 0; d < a->head_width; d++)
        v = fmaf(q[d], a->scan.rows[d * a->scan.n + k], v);
    return v;
}

void ref_context(float *s, float *gates, const float *q, const struct pw_attn *a, int i)
{
    float sum = 0.0f, last = (float)(a->scan.n - 1);
    for (int j = i; j >= 0; j--) {
        float gate, minus;
        plain_sigmoid(s[j], &gate, &minus);
        sum = sum + gate;
        float place = place_of(sum, last), low;
        int f = (int)place;
        low = product(q, a, f);
        s[j] = s[j] + fmaf(place - (float)f, product(q, a, f + 1) - low, low);
        if (gates != NULL)
            gates[j] = gate;
    }
}

void ref_context_bwd(float *ds, float *u, const float *gates, const float *q, const struct pw_attn *a, int i)
{
    float sum = 0.0f, last = (float)(a->scan.n - 1), *place = malloc(((size_t)i + 1) * sizeof *place);
    for (int j = i; j >= 0; j--) {
        sum = sum + gates[j];
        place[j] = place_of(sum, last);
    }
    for (int k = 0; k <= a->scan.n; k++)
        u[k] = 0.0f;
    sum = 0.0f;
    for (int j = 0; j <= i; j++) {
        int f = (int)place[j];
        float w = place[j] - (float)f;
        u[f] = u[f] + (1.0f - w) * ds[j];
        u[f + 1] = u[f + 1] + w * ds[j];
        sum = sum + ds[j] * (product(q, a, f + 1) - product(q, a, f));
        ds[j] = ds[j] + sum * (gates[j] * (1.0f - gates[j]));
    }
    free(place);
}
