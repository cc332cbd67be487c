/* ref_loss.c - reference for bits: cross entropy and softmax. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include "base/maths.h"

void PW_OP(cross_entropy)(struct pw_ctx *c, float *loss, int *best, float *d_logits, const float *logits,
                          const int *targets, const float *scale, int N, int V)
{
    (void)c;
    for (int n = 0; n < N; n++, logits += V) {
        float lane[16] = {0};
        int arg = 0;
        for (int i = 1; i < V; i++)
            arg = logits[i] > logits[arg] ? i : arg;
        float max = logits[arg];
        for (int i = 0; i < V; i++)
            lane[i % 16] += plain_exp(logits[i] - max);
        float sum = plain_tree(lane);
        best[n] = arg;
        loss[n] = targets[n] < 0 ? 0.0f : (max - logits[targets[n]]) + (float)pw_log((double)sum);
        for (int i = 0; d_logits != NULL && i < V; i++) {
            float p = plain_exp(logits[i] - max) / sum;
            d_logits[(size_t)n * (size_t)V + (size_t)i] =
                targets[n] < 0 ? 0.0f : *scale * (i == targets[n] ? p - 1.0f : p);
        }
    }
}

void PW_OP(softmax)(struct pw_ctx *c, float *p, const float *logits, float temperature, int N, int V)
{
    (void)c;
    for (int n = 0; n < N; n++, logits += V, p += V) {
        float lane[16] = {0}, max = -INFINITY;
        for (int i = 0; i < V; i++) {
            float v = logits[i] / temperature;
            max = v > max ? v : max;
        }
        for (int i = 0; i < V; i++)
            lane[i % 16] += plain_exp(logits[i] / temperature - max);
        float sum = plain_tree(lane);
        for (int i = 0; i < V; i++)
            p[i] = plain_exp(logits[i] / temperature - max) / sum;
    }
}
