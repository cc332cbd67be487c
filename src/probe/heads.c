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

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/log_pair.h"
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

static void add_to_mean(struct pw_head_sums *s, enum pw_head_score score, double x)
{
    s->sum[score] += x;
    s->n[score]++;
}

static int keys_of(const struct pw_head_input *in, int i)
{
    return in->causal ? i + 1 : in->T;
}

/* The weight of query i on key j. */
static double weight(const float *row, const struct pw_head_input *in, int i, int j)
{
    if (j >= keys_of(in, i))
        return 0.0;
    return row != NULL ? (double)row[j] : 1.0 / keys_of(in, i);
}

/* Returns the first position from j on with this token. */
static int find_token(const struct pw_head_input *in, int token, int j)
{
    while (j < in->T && in->tokens[j] != token)
        j++;
    return j;
}

/* Adds up the weights of query i on the keys that follow other occurrences of its token. Returns false if
 * there are none. */
static bool prefix_match(const float *row, const struct pw_head_input *in, int i, double *mass)
{
    bool any = false;
    int last = keys_of(in, i) - 1, token = in->tokens[i];
    *mass = 0.0;
    for (int j = in->first != NULL ? in->first[i] : find_token(in, token, 0); j < last;) {
        if (j != i) {
            *mass += weight(row, in, i, j + 1);
            any = true;
        }
        j = in->later != NULL ? in->later[j] : find_token(in, token, j + 1);
    }
    return any;
}

void pw_head_find_tokens(int *first, int *later, const int *tokens, int T)
{
    for (int i = 0; i < T; i++) {
        int before = i - 1;
        while (before >= 0 && tokens[before] != tokens[i])
            before--;
        first[i] = before >= 0 ? first[before] : i;
        later[i] = T;
        if (before >= 0)
            later[before] = i;
    }
}

bool pw_head_counts(const struct pw_head_input *in, int query)
{
    return in->every <= 1 || query / PW_HEAD_BLOCK % in->every == 0;
}

enum { TERMS = 64 };

/* t [n] = p log2 p, or 0 where p is not positive. A loop without a sum, so compilers can use vectors. */
static PW_WIDE void entropy_terms(double *t, const double *p, int n)
{
    for (int k = 0; k < n; k++) {
        double x = p[k] > 0.0 && p[k] <= DBL_MAX ? p[k] : 1.0;
        t[k] = p[k] * (pw_log_pair(x).hi * PW_LOG2_E);
        t[k] = p[k] > 0.0 ? t[k] : 0.0;
    }
}

static void add_entropy(struct pw_head_sums *s, const float *row, int i, const struct pw_head_input *in)
{
    int seen = keys_of(in, i);
    double entropy = 0.0, distance = 0.0, p[TERMS], t[TERMS];
    for (int from = 0; from < seen; from += TERMS) {
        int n = seen - from < TERMS ? seen - from : TERMS;
        for (int k = 0; k < n; k++)
            p[k] = row != NULL ? (double)row[from + k] : 1.0 / seen;
        entropy_terms(t, p, n);
        for (int k = 0; k < n; k++) {
            entropy -= t[k];
            distance += p[k] * abs(i - from - k);
        }
    }
    add_to_mean(s, PW_HEAD_ENTROPY, entropy);
    add_to_mean(s, PW_HEAD_SPREAD, entropy / pw_log2(seen));
    add_to_mean(s, PW_HEAD_DISTANCE, distance);
}

static void add_gold(struct pw_head_sums *s, const float *row, int i, const struct pw_head_input *in)
{
    for (; s->gold < in->n_gold && in->gold[s->gold][0] <= i; s->gold++) {
        bool same_query = s->gold > 0 && in->gold[s->gold][0] == in->gold[s->gold - 1][0];
        s->sum[PW_HEAD_GOLD] += weight(row, in, i, in->gold[s->gold][1]);
        s->n[PW_HEAD_GOLD] += !same_query;
    }
}

void pw_head_begin(struct pw_head_sums *s)
{
    *s = (struct pw_head_sums){0};
}

void pw_head_add(struct pw_head_sums *s, const float *row, int i, const struct pw_head_input *in)
{
    double mass;
    add_to_mean(s, PW_HEAD_SELF, weight(row, in, i, i));
    if (prefix_match(row, in, i, &mass))
        add_to_mean(s, PW_HEAD_INDUCTION, mass);
    add_gold(s, row, i, in);
    if (i == 0)
        return;
    add_to_mean(s, PW_HEAD_PREVIOUS, weight(row, in, i, i - 1));
    add_to_mean(s, PW_HEAD_FIRST, weight(row, in, i, 0));
    if (pw_head_counts(in, i))
        add_entropy(s, row, i, in);
}

void pw_head_end(double out[PW_HEAD_SCORES], const struct pw_head_sums *s)
{
    for (int k = 0; k < PW_HEAD_SCORES; k++)
        out[k] = s->n[k] > 0 ? s->sum[k] / s->n[k] : NAN;
}

void pw_head_measure(double out[PW_HEAD_SCORES], const float *A, const struct pw_head_input *in)
{
    struct pw_head_sums s;
    pw_head_begin(&s);
    for (int i = 0; i < in->T; i++)
        pw_head_add(&s, A != NULL ? A + (size_t)i * in->T : NULL, i, in);
    pw_head_end(out, &s);
}

double pw_head_variation_of(const float *part, const float *score, int n)
{
    double mean = 0.0, square = 0.0;
    int seen = 0;
    for (int j = 0; j < n; j++)
        seen += score[j] != -INFINITY;
    for (int j = 0; j < n; j++)
        mean += score[j] != -INFINITY ? (double)part[j] / seen : 0;
    for (int j = 0; j < n; j++)
        square += score[j] != -INFINITY ? ((double)part[j] - mean) * ((double)part[j] - mean) / seen : 0;
    return square;
}

double pw_head_variation(const float *part, const float *score, int T)
{
    double all = 0.0;
    for (int i = 0; i < T; i++, part += T, score += T)
        all += pw_head_variation_of(part, score, T) / T;
    return all;
}
