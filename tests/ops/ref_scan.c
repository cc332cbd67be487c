/* ref_scan.c - reference for bits: scans over the keys of a query, one key after the other. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

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
