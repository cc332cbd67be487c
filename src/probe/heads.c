/* heads.c - see heads.h. A[i,j] is the weight of query i on key j, and d = i - j. Means are over queries:
 *
 *     previous    mean over i >= 1 of A[i,i-1]
 *     induction   mean of sum over j with x[j-1] = x[i] of A[i,j], over the i that have such a j: prefix
 *                 matching on the given input (Olsson et al. 2022)
 *     self        mean of A[i,i]
 *     first       mean over i >= 1 of A[i,0]
 *     gold        mean of sum over gold keys of i of A[i,j], over the i that have a gold key
 *     entropy     mean over i >= 1 of H[i] = - sum A log2 A; spread: of H[i] / log2(keys that i sees)
 *     distance    mean over i >= 1 of sum A |d|
 *
 * Query 0 of a causal head has only one key, so its weights carry no information and it is left out. `self`
 * includes it, as the diagonal score of TransformerLens does. */
#include "probe/heads.h"

#include <math.h>
#include <stdlib.h>

#include "base/maths.h"

const struct pw_head_score_info pw_head_scores[PW_HEAD_SCORES] = {
    [PW_HEAD_PREVIOUS] = {"previous token", ""},
    [PW_HEAD_INDUCTION] = {"induction", ""},
    [PW_HEAD_SELF] = {"itself", ""},
    [PW_HEAD_FIRST] = {"first token", ""},
    [PW_HEAD_GOLD] = {"gold pointers", ""},
    [PW_HEAD_ENTROPY] = {"entropy", "bits"},
    [PW_HEAD_SPREAD] = {"spread", ""},
    [PW_HEAD_DISTANCE] = {"distance", "positions"},
};

struct mean {
    double sum;
    int n;
};

static void add_to_mean(struct mean *m, double x)
{
    m->sum += x;
    m->n++;
}

static int keys_of(const struct pw_head_input *in, int i)
{
    return in->causal ? i + 1 : in->T;
}

static double weight(const float *A, const struct pw_head_input *in, int i, int j)
{
    if (j >= keys_of(in, i))
        return 0.0;
    return A != NULL ? (double)A[(size_t)i * in->T + j] : 1.0 / keys_of(in, i);
}

/* Adds up the weights of query i on the keys that follow other occurrences of its token. Returns false if
 * there are none. */
static bool prefix_match(const float *A, const struct pw_head_input *in, int i, double *mass)
{
    bool any = false;
    int seen = keys_of(in, i), token = in->tokens[i];
    *mass = 0.0;
    for (int j = 1; j < seen; j++)
        if (in->tokens[j - 1] == token && j - 1 != i) {
            *mass += weight(A, in, i, j);
            any = true;
        }
    return any;
}

void pw_head_measure(double out[PW_HEAD_SCORES], const float *A, const struct pw_head_input *in)
{
    struct mean m[PW_HEAD_SCORES] = {0};
    for (int i = 0; i < in->T; i++) {
        int seen = keys_of(in, i);
        double mass, entropy = 0.0, distance = 0.0;
        add_to_mean(&m[PW_HEAD_SELF], weight(A, in, i, i));
        if (prefix_match(A, in, i, &mass))
            add_to_mean(&m[PW_HEAD_INDUCTION], mass);
        if (i == 0)
            continue;
        add_to_mean(&m[PW_HEAD_PREVIOUS], weight(A, in, i, i - 1));
        add_to_mean(&m[PW_HEAD_FIRST], weight(A, in, i, 0));
        const float *row = A != NULL ? A + (size_t)i * in->T : NULL;
        for (int j = 0; j < seen; j++) {
            double p = row != NULL ? (double)row[j] : 1.0 / seen;
            entropy -= p > 0.0 ? p * pw_log2(p) : 0.0;
            distance += p * abs(i - j);
        }
        add_to_mean(&m[PW_HEAD_ENTROPY], entropy);
        add_to_mean(&m[PW_HEAD_SPREAD], entropy / pw_log2(seen));
        add_to_mean(&m[PW_HEAD_DISTANCE], distance);
    }
    for (int g = 0; g < in->n_gold; g++) {
        bool same_query = g > 0 && in->gold[g][0] == in->gold[g - 1][0];
        m[PW_HEAD_GOLD].sum += weight(A, in, in->gold[g][0], in->gold[g][1]);
        m[PW_HEAD_GOLD].n += !same_query;
    }
    for (int s = 0; s < PW_HEAD_SCORES; s++)
        out[s] = m[s].n > 0 ? m[s].sum / m[s].n : NAN;
}

double pw_head_variation(const float *part, const float *score, int T)
{
    double all = 0.0;
    for (int i = 0; i < T; i++, part += T, score += T) {
        double mean = 0.0, square = 0.0;
        int seen = 0;
        for (int j = 0; j < T; j++)
            seen += score[j] != -INFINITY;
        for (int j = 0; j < T; j++)
            mean += score[j] != -INFINITY ? (double)part[j] / seen : 0;
        for (int j = 0; j < T; j++)
            square += score[j] != -INFINITY ? ((double)part[j] - mean) * ((double)part[j] - mean) / seen : 0;
        all += square / T;
    }
    return all;
}
