/* seen.c - counts of what was seen in training since the encoding was set: pairs at each distance, and the
 * gradient of each of the encoding's parameters.
 *
 * An encoding must extrapolate beyond these counts. Pairs follow from lengths: a sequence of n rows has n - d
 * pairs at distance d. If the encoding makes position ids from tokens, every pair is counted. Gradients are
 * sampled every tenth step only, after the reduction and before clipping; nothing flows back into training.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/checkpoint.h"
#include "model/model_int.h"

enum { SAMPLE_EVERY = 10 };

static size_t learned(const struct pw_model *m)
{
    return m->lay.size - m->lay.core;
}

int pw_seen_dims(const struct pw_model *m, int64_t dims[4])
{
    const struct pw_param *last = &m->lay.params[m->lay.n - 1];

    if (learned(m) == 0 || pw_param_count(last) == learned(m))
        return learned(m) == 0 ? 0 : pw_param_dims(last, dims);
    dims[0] = (int64_t)learned(m);
    dims[1] = 0;
    return 1;
}

bool pw_seen_init(struct pw_model *m)
{
    struct pw_seen_counts *met = &m->met;

    *met = (struct pw_seen_counts){.seqs = calloc((size_t)m->cfg.context + 1, sizeof *met->seqs)};
    if (learned(m) > 0)
        met->grad = calloc(learned(m), sizeof *met->grad);
    if (m->pe.pe->ids != NULL)
        met->ids = calloc(2 * (size_t)m->cfg.context, sizeof *met->ids);
    return met->seqs != NULL && (learned(m) == 0 || met->grad != NULL) &&
           (m->pe.pe->ids == NULL || met->ids != NULL);
}

void pw_seen_fini(struct pw_model *m)
{
    free(m->met.seqs);
    free(m->met.ids);
    free(m->met.grad);
    m->met = (struct pw_seen_counts){0};
}

void pw_seen_copy(struct pw_model *to, const struct pw_model *from)
{
    memcpy(to->met.seqs, from->met.seqs, ((size_t)from->cfg.context + 1) * sizeof *to->met.seqs);
    if (from->met.ids != NULL)
        memcpy(to->met.ids, from->met.ids, 2 * (size_t)from->cfg.context * sizeof *to->met.ids);
    if (from->met.grad != NULL)
        memcpy(to->met.grad, from->met.grad, learned(from) * sizeof *to->met.grad);
    to->met.steps = from->met.steps;
    to->met.sampled = from->met.sampled;
}

bool pw_seen_set(struct pw_model *m, const int64_t *steps, const int64_t *seqs, const int64_t *ids,
                 const double *grad)
{
    double rows = 0; /* all rows; no distance has more pairs */

    for (int n = 0; n <= m->cfg.context; n++) {
        if (seqs[n] < 0)
            return false;
        rows += (double)n * (double)seqs[n];
    }
    for (int k = 0; k < 2 * m->cfg.context && m->met.ids != NULL; k++)
        if (ids[k] < 0 || ids[k] > (int64_t)1 << 60)
            return false;
    if (rows > 0x1p60 || steps[0] < 0 || steps[0] > PW_MOST_STEPS || steps[1] < 0 || steps[1] > steps[0])
        return false;
    m->met.steps = steps[0];
    m->met.sampled = steps[1];
    memcpy(m->met.seqs, seqs, ((size_t)m->cfg.context + 1) * sizeof *seqs);
    if (m->met.ids != NULL)
        memcpy(m->met.ids, ids, 2 * (size_t)m->cfg.context * sizeof *ids);
    if (m->met.grad != NULL)
        memcpy(m->met.grad, grad, learned(m) * sizeof *grad);
    return true;
}

bool pw_seen_samples_gradient(const struct pw_model *m, int ahead)
{
    return m->met.grad != NULL && (m->met.steps + ahead) % SAMPLE_EVERY == 0;
}

/* Counts the rows and pairs of sequences of these lengths, whose ids follow. */
static void count_ids(struct pw_model *m, const int *rows, int n_seqs)
{
    const int *id = rows + n_seqs;
    int64_t *pairs = m->met.ids + m->cfg.context;

    for (int s = 0; s < n_seqs; id += rows[s++])
        for (int i = 0; i < rows[s]; i++) {
            m->met.ids[id[i]]++;
            for (int j = 0; j < (m->cfg.causal ? i + 1 : rows[s]); j++)
                pairs[abs(id[i] - id[j])]++;
        }
}

void pw_seen_step(struct pw_model *m, const int *rows, int n_seqs, const float *grad)
{
    struct pw_seen_counts *met = &m->met;

    for (int s = 0; s < n_seqs; s++)
        met->seqs[rows[s]]++;
    if (met->ids != NULL)
        count_ids(m, rows, n_seqs);
    met->steps++;
    for (size_t i = 0; grad != NULL && i < learned(m); i++)
        met->grad[i] += fabs((double)grad[i]);
    met->sampled += grad != NULL;
}

int64_t pw_model_seen(const struct pw_model *m, int64_t *pairs, int64_t *rows)
{
    int64_t longer = 0, sum = 0; /* sequences of more than d rows, and their pairs at distance d */
    size_t ids = (size_t)m->cfg.context;

    if (m->met.ids != NULL) {
        memcpy(rows, m->met.ids, ids * sizeof *rows);
        memcpy(pairs, m->met.ids + ids, ids * sizeof *pairs);
        return m->met.steps;
    }
    for (int d = m->cfg.context - 1; d >= 0; d--) {
        longer += m->met.seqs[d + 1];
        sum += longer;
        rows[d] = longer;
        pairs[d] = !m->cfg.causal && d > 0 ? 2 * sum : sum;
    }
    return m->met.steps;
}

int64_t pw_model_pe_gradient(const struct pw_model *m, float *mean)
{
    for (size_t i = 0; i < learned(m) && m->met.sampled > 0; i++)
        mean[i] = (float)(m->met.grad[i] / (double)m->met.sampled);
    return m->met.sampled;
}
