/* pattern.c - an attention pattern of one model on the values of another. */
#include "probe/pattern.h"

void pw_pattern_apply(float *z, const float *P, const float *v, int T, int h, const struct pw_config *c)
{
    int D = c->head_width;
    for (int t = 0; t < T; t++)
        for (int d = 0; d < D; d++) {
            double sum = 0;
            for (int j = 0; j < T; j++)
                sum += (double)P[(size_t)t * T + j] * (double)v[((size_t)j * c->heads + h) * D + d];
            z[(size_t)t * D + d] = (float)sum;
        }
}
