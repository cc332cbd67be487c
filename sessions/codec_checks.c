/* codec_checks.c - checks across the members of an event, which a field table can't express.
 *
 * Each check covers an assumption of some reader of the event, which indexes or sums by it. When a check
 * runs, all fields are within their limits, and arrays have the lengths that the counts say. */
#include <limits.h>

#include "sessions/codec_int.h"

const char *pw_check_row(const void *row)
{
    const struct pw_eval_row *r = row;
    int64_t sum = r->exact;
    for (int i = 0; i < PW_ERRORS; i++)
        sum += r->errors[i];
    return sum > r->samples || r->taught > r->samples || r->tokens_right > r->tokens
               ? "more samples are right or wrong than were tried"
               : NULL;
}

const char *pw_check_pair(const void *pair)
{
    const struct pw_eval_pair *p = pair;
    return p->exact > p->samples || p->taught > p->samples || p->tokens_right > p->tokens
               ? "more samples are right than were tried"
               : NULL;
}

/* Rows ascend, and no row shares its pairs or outcomes with another, so loops over all of them are
 * bounded. */
const char *pw_check_eval(const void *eval)
{
    const struct pw_ev_eval *e = eval;
    int64_t pairs = 0, words = 0, all = 0, losses = 0, sampled = 0;
    for (int i = 0; i < e->n; i++) {
        const struct pw_eval_row *r = &e->rows[i];
        int64_t samples = 0;
        if (i > 0 && (r->task < r[-1].task || (r->task == r[-1].task && r->length <= r[-1].length)))
            return "its rows are not in ascending order";
        if (r->first_pair < pairs || (pairs = (int64_t)r->first_pair + r->n_pairs) > e->n_pairs)
            return "a row refers to pairs that do not exist";
        for (int k = 0; k < r->n_pairs; k++)
            samples += e->pairs[r->first_pair + k].samples;
        if (samples > r->samples)
            return "the pairs of a row have more samples than it has";
        if ((all += r->samples) > INT_MAX / PW_MAX_REPLICAS) /* panes sum over all replicas */
            return "its number of samples is out of range";
        if (e->n_words > 0 &&
            (r->first_word < words || (words = r->first_word + ((int64_t)r->samples + 63) / 64) > e->n_words))
            return "a row refers to outcomes that do not exist";
        if (r->n_losses > 0 &&
            (r->first_loss < losses || (losses = (int64_t)r->first_loss + r->n_losses) > e->n_losses))
            return "a row refers to losses that do not exist";
        if (e->n_sampled > 0 &&
            (r->first_sampled < sampled || (sampled = (int64_t)r->first_sampled + r->samples) > e->n_sampled))
            return "a row refers to samples that do not exist";
    }
    return NULL;
}

const char *pw_check_prompt(const void *prompt)
{
    const struct pw_ev_prompt *p = prompt;
    return p->n_prompt > p->n ? "the prompt is longer than it is with its answer" : NULL;
}

const char *pw_check_inspection(const void *look)
{
    const struct pw_ev_inspection *k = look;
    return (k->n > 0 ? k->said >= k->n : k->said > 0) || k->target >= (k->n > 0 ? k->n : 1)
               ? "the chosen token, or the right one, is not among the candidates"
               : NULL;
}

const char *pw_check_attention(const void *attention)
{
    const struct pw_ev_attention *a = attention;
    if ((a->layers > 0 && a->layer >= a->layers) || (a->heads > 0 && a->head >= a->heads))
        return "the inspected head does not exist";
    if ((int64_t)a->pool * a->side < (a->pool > 0 ? a->T : 0) || (a->pool > 0) != (a->side > 0))
        return "its pooled maps do not cover the tokens";
    for (int i = 0; i < a->n_gold; i++)
        if (a->gold[i].query >= a->T || a->gold[i].key >= a->T)
            return "a gold pointer lies outside of the map";
    return NULL;
}

/* Do the parts of the learned parameters follow each other, and are their entries among those of the table?
 */
static bool params_fit(const struct pw_ev_table *t)
{
    int64_t at = 0;
    for (int i = 0; i < t->n_params; i++) {
        const struct pw_table_param *p = &t->params[i];
        int64_t parts = (int64_t)p->layers * p->heads;
        if (p->part != at || (p->entry >= 0 && p->entry + parts * p->size > t->n_entries))
            return false;
        at += parts;
    }
    return at == t->n_learned;
}

const char *pw_check_table(const void *table)
{
    const struct pw_ev_table *t = table;
    for (int i = 0; t->bucket != NULL && i < t->length; i++)
        if (t->bucket[i] >= t->n_buckets)
            return "a distance has no bucket";
    for (int b = 0; t->bucket_from != NULL && b < t->n_buckets; b++)
        if (t->bucket_from[b + 1] < t->bucket_from[b] && (t->later == 0 || b + 1 != t->n_buckets - t->later))
            return "its buckets are not in ascending order";
    for (int q = 0; q < t->n_queries; q++)
        if (t->queries[q] >= t->length || (q > 0 && t->queries[q] <= t->queries[q - 1]))
            return "the queries of the bias are not ascending positions";
    if (t->grad != NULL && t->n_buckets > 0 && t->added != NULL)
        return "it has gradients of both buckets and rows"; /* the length of grad would be ambiguous */
    if (!params_fit(t))
        return "its learned parameters don't have these values";
    return t->layers > 0 && t->layer >= t->layers ? "its layer does not exist" : NULL;
}

const char *pw_check_finding(const void *finding)
{
    return pw_finding_check(finding);
}

/* Number of entries of a gradient: one per bucket and head for learned biases, one per learned row
 * otherwise. */
int pw_gradients(const void *table)
{
    const struct pw_ev_table *t = table;
    int64_t n = t->n_buckets > 0 ? (int64_t)t->n_buckets * t->heads : t->length;
    return n <= INT_MAX ? (int)n : -1;
}

bool pw_event_placed(const struct pw_event *e)
{
    return e->seq >= 1 && e->seq <= (uint64_t)PW_MANY && e->arm >= 0 && e->arm <= PW_MAX_ARMS &&
           e->replica >= 0 && e->replica <= PW_MAX_REPLICAS && e->step >= 0 && e->step <= PW_MANY &&
           e->t_ns >= 0 && e->t_ns <= INT64_MAX / 2;
}
