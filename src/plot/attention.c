/* attention.c - reads an attention event: views, values, labels, scores. */
#include "plot/attention.h"
#include "plot/names.h"
#include <math.h>
#include <string.h>

const char *pw_att_view_name(const struct pw_ev_attention *a, int view)
{
    static const char *const names[PW_VIEWS] = {
        [PW_VIEW_PROBS] = "probabilities",          [PW_VIEW_SCORE] = "scores",
        [PW_VIEW_CONTENT] = "content scores",       [PW_VIEW_BIAS] = "positional bias",
        [PW_VIEW_CC] = "content to content",        [PW_VIEW_CP] = "content to position",
        [PW_VIEW_PC] = "position to content",       [PW_VIEW_PP] = "position to position",
        [PW_VIEW_GATE] = "gate, ln of what is kept"};
    bool reflects = pw_att_reflects(a);
    if (a->rotates && view == PW_VIEW_CONTENT)
        return reflects ? "content, unreflected" : "content, unrotated";
    if (view == PW_VIEW_BIAS && pw_att_shows_gates(a, view))
        return reflects ? "content by reflections" : "what fading takes";
    if (a->rotates && view == PW_VIEW_BIAS)
        return "content by rotation";
    return names[view];
}

bool pw_att_usable(const struct pw_snapshot *s)
{
    const struct pw_ev_attention *a = &s->attention;

    return s->has_attention && a->T > 0 && a->layers > 0 && a->heads > 0 && a->layer >= 0 &&
           a->layer < a->layers && a->head >= 0 && a->head < a->heads && a->labels != NULL &&
           (a->probs != NULL || (a->pooled != NULL && a->map != NULL && a->pool > 0));
}

const char *pw_att_label(const struct pw_ev_attention *a, int t)
{
    return pw_label(a->labels[t]);
}

bool pw_att_hidden(const struct pw_ev_attention *a, int q, int k)
{
    return !a->sees_all && k > q;
}

/* Returns true if the event has every probability of the head; false: only pooled ones (pw_att_pool). */
static bool has_exact(const struct pw_ev_attention *a, int layer, int head)
{
    return a->probs != NULL || (layer == a->layer && head == a->head);
}

int pw_att_pool(const struct pw_ev_attention *a)
{
    return a->probs == NULL && a->pool > 1 ? a->pool : 1;
}

float pw_att_cell_of(const struct pw_ev_attention *a, int layer, int head, int row, int col)
{
    size_t map = (size_t)layer * a->heads + head;

    return a->probs != NULL ? pw_from_half(a->probs[(map * a->T + row) * a->T + col])
                            : pw_from_half(a->pooled[(map * a->side + row) * a->side + col]);
}

float pw_att_prob_of(const struct pw_ev_attention *a, int layer, int head, int q, int k)
{
    if (a->probs != NULL || !has_exact(a, layer, head))
        return pw_att_cell_of(a, layer, head, q / pw_att_pool(a), k / pw_att_pool(a));
    return pw_from_half(a->map[(size_t)q * a->T + k]);
}

const uint16_t *pw_att_matrix(const struct pw_ev_attention *a, int view)
{
    return view == PW_VIEW_SCORE                        ? a->score
           : view == PW_VIEW_CONTENT                    ? a->content
           : view == PW_VIEW_BIAS                       ? a->bias
           : view == PW_VIEW_GATE                       ? a->gate
           : pw_view_of_terms(view) && a->terms != NULL ? a->terms + (size_t)(view - PW_VIEW_CC) * a->T * a->T
                                                        : NULL;
}

bool pw_att_loses(const struct pw_ev_attention *a)
{
    return a->gates && a->gate != NULL && a->gate_values == NULL;
}

float pw_att_gate(const struct pw_ev_attention *a, int layer, int head, int t)
{
    return a->gate_values != NULL && layer == a->layer ? a->gate_values[(size_t)head * a->T + t] : NAN;
}

bool pw_att_reflects(const struct pw_ev_attention *a)
{
    return a->rotates && !a->gates && a->gate_values != NULL;
}

bool pw_att_shows_gates(const struct pw_ev_attention *a, int view)
{
    return view == (a->gates ? PW_VIEW_GATE : PW_VIEW_BIAS) && a->gate_values != NULL;
}

int pw_att_n_scores(const struct pw_ev_attention *a)
{
    return a->scores != NULL ? (a->n_scores < PW_MAX_SCORES ? a->n_scores : PW_MAX_SCORES) : 0;
}

enum { LAST = 3 };

/* Returns the place of a score among those that are displayed first; LAST: behind them. */
static int rank_of(const char *name)
{
    static const char *const first[LAST] = {"gold pointers", "position's part", "gate's part"};
    int rank = 0;

    while (rank < LAST && strcmp(name, first[rank]) != 0)
        rank++;
    return rank;
}

int pw_att_score_at(const struct pw_ev_attention *a, int i)
{
    int n = pw_att_n_scores(a), at = 0;

    for (int rank = 0; rank <= LAST; rank++)
        for (int k = 0; k < n; k++)
            if (rank_of(a->kinds[k].name) == rank && at++ == i)
                return k;
    return 0;
}

float pw_att_score(const struct pw_ev_attention *a, int layer, int head, int k)
{
    return k >= 0 && k < pw_att_n_scores(a)
               ? a->scores[((size_t)layer * a->heads + head) * (size_t)a->n_scores + k]
               : NAN;
}
