/* labels.c - tokens as the screen shows them, and the probabilities of the next one. */
#include <math.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"

void pw_lab_label(const struct pw_lab *lab, int token, char out[PW_LABEL])
{
    const char *w = lab->tasks.vocab.words[token];
    pw_text_copy(out, PW_LABEL, w[0] == ' ' && w[1] != '\0' ? w + 1 : w);
}

char (*pw_lab_labels(const struct pw_lab *lab, const int *tokens, int n))[PW_LABEL]
{
    char(*out)[PW_LABEL] = pw_alloc((size_t)n, PW_LABEL);
    for (int i = 0; i < n; i++)
        pw_lab_label(lab, tokens[i], out[i]);
    return out;
}

void pw_lab_softmax(float *p, const float *logits, int V, double temperature)
{
    double most = logits[0], sum = 0.0;
    for (int i = 1; i < V; i++)
        most = logits[i] > most ? logits[i] : most;
    for (int i = 0; i < V; i++)
        sum += pw_exp((logits[i] - most) / temperature);
    for (int i = 0; i < V; i++)
        p[i] = (float)(pw_exp((logits[i] - most) / temperature) / sum);
}

int pw_lab_top(int *ids, int most, const float *v, int n)
{
    int found = 0;
    for (int i = 0; i < n; i++) { /* insert into a short sorted list */
        int k = found < most ? found++ : most;
        for (; k > 0 && v[i] > v[ids[k - 1]]; k--)
            if (k < most)
                ids[k] = ids[k - 1];
        if (k < most)
            ids[k] = i;
    }
    return found;
}

float pw_lab_entropy(const float *p, int n)
{
    double bits = 0.0;
    for (int i = 0; i < n; i++)
        if (p[i] > 0.0f)
            bits -= (double)p[i] * pw_log2((double)p[i]);
    return (float)bits;
}
