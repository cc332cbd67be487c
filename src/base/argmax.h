/* argmax.h - the greedy choice among logits. */
#ifndef PW_ARGMAX_H
#define PW_ARGMAX_H

/* Returns the index of the largest of n >= 1 values, the lowest one on ties. Any thread. */
static inline int pw_argmax(const float *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

#endif
