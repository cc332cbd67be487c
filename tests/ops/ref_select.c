/* ref_select.c - selection: the reference for bits, and that for values in double precision. The sums of
 * votes are added up for each query. */
#include "tests/ops/ref_double.h"
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <stdlib.h>

/* The vote of row k on key j of the sequence that starts at row base. */
static float vote(const float *qkv, const struct pw_attn *a, int base, int k, int j)
{
    int D = a->head_width, w = 3 * a->heads * D;
    const float *query = qkv + (base + k) * w, *key = qkv + (base + j) * w + a->heads * D;
    float s = 0.0f;
    if (j == 0 || j >= k)
        return 0.0f;
    for (int d = 0; d < D; d++)
        s = fmaf(query[d], key[d], s);
    s = s * a->scale;
    return s > 0.0f ? s : 0.0f;
}

float *ref_votes(const float *qkv, const struct pw_attn *a, int base, int T)
{
    float *votes = malloc((size_t)T * (size_t)T * sizeof *votes);
    if (votes == NULL)
        abort();
    for (int k = 0; k < T; k++)
        for (int j = 0; j < T; j++)
            votes[k * T + j] = vote(qkv, a, base, k, j);
    return votes;
}

void ref_select(float *s, const float *votes, int T, int i)
{
    for (int j = 0; j <= i; j++) {
        float sum = 0.0f;
        for (int k = 0; k < i; k++)
            sum = sum + votes[k * T + j];
        s[j] = s[j] - sum;
    }
}

void ref_select_bwd(float *ds, const float *votes, int H, int T)
{
    float *sums = malloc((size_t)T * (size_t)T * sizeof *sums);
    if (sums == NULL)
        abort();
    for (int at = 0; at < T * T; at++) {
        sums[at] = ds[(H > 1 ? T * T : 0) + at];
        for (int h = 2; h < H; h++)
            sums[at] = sums[at] + ds[h * T * T + at];
        if (H > 1)
            sums[at] = sums[at] + ds[at];
    }
    for (int j = 0; j < T; j++) {
        float later = 0.0f;
        for (int k = T - 2; k > j; k--) {
            later = later + sums[(k + 1) * T + j];
            if (votes[k * T + j] > 0.0f)
                ds[k * T + j] = ds[k * T + j] - later;
        }
    }
    free(sums);
}

/* ---- values: first [T,T] holds the scores of head 0 without selection */

static double double_vote(const double *first, int T, int k, int j)
{
    return j > 0 && j < k && first[k * T + j] > 0 ? first[k * T + j] : 0;
}

void ref_double_select(double *s, const double *first, int T)
{
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < i; k++)
                s[i * T + j] -= double_vote(first, T, k, j);
}

void ref_double_select_bwd(double *ds, const double *first, const double *sums, int T)
{
    for (int k = 0; k < T; k++)
        for (int j = 0; j < k; j++)
            for (int i = k + 1; i < T && double_vote(first, T, k, j) > 0; i++)
                ds[k * T + j] -= sums[i * T + j];
}
