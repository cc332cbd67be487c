/* attention_maps.c - the maps and the scores of all heads from one pass over a sequence. The pass hands out
 * rows of queries, and no map is held. An event has every map of a small model; of a large one it has pooled
 * maps, and all pairs of the inspected head. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "kernels/backend.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "probe/heads.h"

#define MOST_PAIRS (1 << 24) /* of all heads, in an event: 32 MiB */
#define MOST_CELLS (1 << 22) /* of pooled maps */
#define LONG       1024      /* tokens; above, only the shown view of the inspected head */
#define COUNTED    512       /* queries of a long sequence whose entropy and parts are computed */

/* Shares of what separates the keys of a query, after the scores of pw_head_measure. */
enum { POSITION_PART = PW_HEAD_SCORES, GATE_PART };

/* ---- scores */

static void name_score(struct pw_score_kind *kind, const char *name, const char *unit, double chance)
{
    pw_text_copy(kind->name, sizeof kind->name, name);
    pw_text_copy(kind->unit, sizeof kind->unit, unit);
    kind->chance = (float)chance;
}

void pw_lab_name_scores(struct pw_ev_attention *a, const struct pw_head_input *in)
{
    _Static_assert((int)GATE_PART < PW_MAX_SCORES, "an event holds every score");
    double chance[PW_HEAD_SCORES];
    a->n_scores = a->source[0] != '\0' ? POSITION_PART : a->gates ? GATE_PART + 1 : POSITION_PART + 1;
    a->scores = pw_alloc((size_t)a->layers * a->heads * a->n_scores, sizeof *a->scores);
    pw_head_measure(chance, NULL, in);
    for (int s = 0; s < PW_HEAD_SCORES; s++)
        name_score(&a->kinds[s], pw_head_scores[s].name, pw_head_scores[s].unit, chance[s]);
    if (a->n_scores > POSITION_PART)
        name_score(&a->kinds[POSITION_PART], "position's part", "", NAN);
    if (a->n_scores > GATE_PART)
        name_score(&a->kinds[GATE_PART], "gate's part", "", NAN);
}

int pw_lab_every(int T)
{
    return T <= LONG ? 1 : (T + COUNTED - 1) / COUNTED;
}

static float *scores_of(const struct pw_ev_attention *a, int layer, int head)
{
    return a->scores + ((size_t)layer * a->heads + head) * a->n_scores;
}

/* Write the scores of a head; its parts are NaN. */
static void write_scores(struct pw_ev_attention *a, int layer, int head, const double *v)
{
    float *to = scores_of(a, layer, head);
    for (int s = 0; s < PW_HEAD_SCORES; s++)
        to[s] = (float)v[s];
    for (int s = POSITION_PART; s < a->n_scores; s++)
        to[s] = NAN;
}

void pw_lab_score_head(struct pw_ev_attention *a, int layer, int head, const float *probs,
                       const struct pw_head_input *in)
{
    double v[PW_HEAD_SCORES];
    pw_head_measure(v, probs, in);
    write_scores(a, layer, head, v);
}

static float share_of(double part, double all)
{
    return all > 0.0 ? (float)(part / all) : NAN;
}

bool pw_lab_acts_on_scores(const struct pw_ev_attention *a)
{
    return a->biases || a->rotates || a->gates;
}

float pw_lab_position_part(const float *content, const float *position, int n, const float *score, int T)
{
    double c = pw_head_variation(content, score, T), p = 0.0;
    for (int i = 0; i < n; i++)
        p += pw_head_variation(position + (size_t)i * T * T, score, T);
    return share_of(p, c + p);
}

/* ---- maps */

/* Choose between all pairs and pooled maps, and make room. */
static void make_room(struct pw_ev_attention *a)
{
    size_t heads = (size_t)a->layers * a->heads;
    if (heads * a->T * a->T <= MOST_PAIRS) {
        a->probs = pw_alloc(heads * a->T * a->T, sizeof *a->probs);
        return;
    }
    for (a->pool = 2;; a->pool++) {
        a->side = (a->T + a->pool - 1) / a->pool;
        if (a->side <= 1 || heads * a->side * a->side <= MOST_CELLS)
            break;
    }
    a->pooled = pw_alloc(heads * a->side * a->side, sizeof *a->pooled);
}

/* Sums over the rows of one head. */
struct of_head {
    struct pw_head_sums sums;
    double content, position, gates; /* variations of the parts of the scores */
    float *largest;     /* [T] largest probability of a key, over the queries of a row of cells */
    float *bias, *gate; /* [T] of a query: gate is the part of terms or votes; score - content - this part */
};

struct pass {
    struct pw_ev_attention *a;
    int layer; /* the layer of the present rows */
    const struct pw_head_input *input;
    const float *terms; /* [layers,T,heads]; NULL: the encoding has none */
    const float *walk;  /* [layers,T,columns] of struct pw_inspection; NULL: the encoding has no walk */
    int columns;
    struct of_head *head; /* [heads] */
    float *score;         /* [T,T] of the inspected head; NULL: not wanted */
    bool known;           /* the other heads are known, and the scores of this one */
    bool to_the_end;      /* later layers are wanted, too */
    int most_position;    /* of a scan that counts positions; 0: there is none */
};

/* Write a row of cells, and begin the next one. */
static void write_cells(const struct pw_ev_attention *a, uint16_t *cells, float *largest)
{
    for (int c = 0; c < a->side; c++) {
        float most = 0.0f;
        for (int k = c * a->pool; k < (c + 1) * a->pool && k < a->T; k++)
            most = largest[k] > most ? largest[k] : most;
        cells[c] = pw_half(most);
    }
    memset(largest, 0, (size_t)a->T * sizeof *largest);
}

/* Add query q, of which the first n keys are visible to some query of its block. */
static void pool_row(const struct pw_ev_attention *a, uint16_t *map, float *largest, const float *probs,
                     int q, int n)
{
    for (int k = 0; k < n; k++)
        largest[k] = probs[k] > largest[k] ? probs[k] : largest[k];
    if ((q + 1) % a->pool == 0 || q == a->T - 1)
        write_cells(a, map + (size_t)(q / a->pool) * a->side, largest);
}

static void write_halves(uint16_t *to, const float *x, int n, float rest, int T)
{
    if (to == NULL)
        return;
    for (int k = 0; k < n; k++)
        to[k] = pw_half(x[k]);
    for (int k = n; k < T; k++)
        to[k] = pw_half(rest);
}

static uint16_t *row_of(uint16_t *map, size_t q, size_t T)
{
    return map != NULL ? map + q * T : NULL;
}

/* Write the contextual positions of the first `own` keys from their scores (PW_SCAN_CONTEXT). */
static void write_positions(uint16_t *to, const float *content, int own, int T, double most)
{
    double sum = 0.0;
    memset(to, 0, (size_t)T * sizeof *to);
    for (int k = own - 1; k >= 0; k--) {
        sum += 1.0 / (1.0 + pw_exp(-(double)content[k]));
        to[k] = pw_half((float)(sum < most ? sum : most));
    }
}

/* Keep query q of the inspected head, which sees the first `own` keys. */
static void keep_inspected(const struct pass *p, const float *probs, const float *score, const float *content,
                           const struct of_head *h, size_t q, int own)
{
    struct pw_ev_attention *a = p->a;
    int T = a->T;
    size_t n = (size_t)T;
    write_halves(row_of(a->map, q, n), probs, own, 0.0f, T);
    write_halves(row_of(a->score, q, n), score, own, -INFINITY, T);
    write_halves(row_of(a->content, q, n), content, own, -INFINITY, T);
    write_halves(row_of(a->bias, q, n), h->bias, own, 0.0f, T);
    write_halves(row_of(a->gate, q, n), h->gate, own, 0.0f, T);
    if (a->positions != NULL && content != NULL)
        write_positions(row_of(a->positions, q, n), content, own, T, p->most_position);
    for (int k = 0; p->score != NULL && k < T; k++)
        p->score[q * n + k] = k < own ? score[k] : -INFINITY;
}

/* Split the scores of a query into content, gate and bias. The bias is exactly 0 if terms or votes alone act:
 * score - content is the rounded sum of content and gate. */
static void split_row(const struct pass *p, struct of_head *h, int head, const float *score,
                      const float *content, int q, int own)
{
    const struct pw_ev_attention *a = p->a;
    const float *terms = p->terms != NULL ? p->terms + (size_t)p->layer * a->T * a->heads + head : NULL;
    bool rest = content != score && (a->biases || a->rotates);
    for (int k = 0; k < own; k++) {
        h->gate[k] = terms != NULL ? terms[(size_t)q * a->heads] - terms[(size_t)k * a->heads]
                     : a->gates    ? score[k] - content[k]
                                   : 0.0f;
        h->bias[k] = rest ? score[k] - content[k] - h->gate[k] : 0.0f;
    }
}

/* Heads write to places of their own, so any worker can take any of them. */
static void keep_rows(void *arg, const struct pw_map_rows *r)
{
    const struct pass *p = arg;
    struct pw_ev_attention *a = p->a;
    struct of_head *h = &p->head[r->head];
    bool inspected = p->layer == a->layer && r->head == a->head;
    size_t at = (size_t)p->layer * a->heads + r->head, T = (size_t)a->T;
    for (int i = 0; i < r->n; i++) {
        int q = r->query + i, own = p->input->causal ? q + 1 : a->T;
        size_t row = (size_t)i * r->stride;
        const float *probs = r->probs + row, *score = r->scores != NULL ? r->scores + row : NULL;
        const float *content = r->content != NULL ? r->content + row : score;
        if (!p->known) {
            if (a->probs != NULL)
                write_halves(a->probs + (at * T + q) * T, probs, own, 0.0f, a->T);
            else
                pool_row(a, a->pooled + at * a->side * a->side, h->largest, probs, q, r->keys);
            pw_head_add(&h->sums, probs, q, p->input);
        }
        if (score != NULL)
            split_row(p, h, r->head, score, content, q, own);
        if (!p->known && r->content != NULL && pw_head_counts(p->input, q)) {
            h->content += pw_head_variation_of(content, score, own) / a->T;
            h->position += pw_head_variation_of(h->bias, score, own) / a->T;
            h->gates += pw_head_variation_of(h->gate, score, own) / a->T;
        }
        if (inspected)
            keep_inspected(p, probs, score, content, h, (size_t)q, own);
    }
}

/* The scores of a block are read by the inspected head's views, and by the position's part. */
static bool wants_scores(void *arg, int head, int query, int n)
{
    const struct pass *p = arg;
    const struct pw_ev_attention *a = p->a;
    bool views =
        a->score != NULL || a->content != NULL || a->bias != NULL || a->gate != NULL || p->score != NULL;
    bool wanted = p->layer == a->layer && head == a->head && views;
    for (int q = query; !p->known && !wanted && q < query + n; q++)
        wanted = pw_head_counts(p->input, q);
    return wanted;
}

static bool begin_layer(void *arg, int layer)
{
    struct pass *p = arg;
    struct pw_ev_attention *a = p->a;
    size_t square = (size_t)a->T * a->T;
    bool all = a->pool == 0 || a->T <= LONG;
    p->layer = layer;
    for (int h = 0; h < a->heads; h++) {
        struct of_head *of = &p->head[h];
        pw_head_begin(&of->sums);
        of->content = of->position = of->gates = 0.0;
        memset(of->largest, 0, (size_t)a->T * sizeof *of->largest);
    }
    if (layer != a->layer)
        return !p->known;
    a->map = a->pool > 0 ? pw_alloc(square, sizeof *a->map) : NULL;
    a->score = all || a->view == PW_VIEW_SCORE ? pw_alloc(square, sizeof *a->score) : NULL;
    a->content = all || a->view == PW_VIEW_CONTENT ? pw_alloc(square, sizeof *a->content) : NULL;
    a->bias = all || a->view == PW_VIEW_BIAS ? pw_alloc(square, sizeof *a->bias) : NULL;
    a->positions = all && p->most_position > 0 ? pw_alloc(square, sizeof *a->positions) : NULL;
    a->gate = a->gates && (all || a->view == PW_VIEW_GATE) ? pw_alloc(square, sizeof *a->gate) : NULL;
    return true;
}

/* Keep the gates of the inspected layer: the part of the earlier tokens that a head keeps at each token. */
static void keep_gates(const struct pass *p)
{
    struct pw_ev_attention *a = p->a;
    const float *terms = p->terms + (size_t)a->layer * a->T * a->heads;
    a->gate_values = pw_alloc((size_t)a->heads * a->T, sizeof *a->gate_values);
    for (int h = 0; h < a->heads; h++)
        for (int t = 0; t < a->T; t++) {
            const float *at = terms + (size_t)t * a->heads + h;
            double before = t > 0 ? (double)at[-a->heads] : 0.0;
            a->gate_values[(size_t)h * a->T + t] = (float)pw_exp((double)*at - before);
        }
}

/* Keep the same of a walk: the factor of each reflection, or the mean gate of a head's entries. */
static void keep_walk(const struct pass *p)
{
    struct pw_ev_attention *a = p->a;
    int n = p->columns / a->heads;
    a->gate_values = pw_alloc((size_t)a->heads * a->T, sizeof *a->gate_values);
    for (int t = 0; t < a->T; t++)
        for (int h = 0; h < a->heads; h++) {
            const float *at = p->walk + ((size_t)a->layer * a->T + t) * p->columns + (size_t)h * n;
            double sum = 0.0;
            for (int i = 0; i < n; i++)
                sum += (double)at[i];
            a->gate_values[(size_t)h * a->T + t] = (float)(sum / n);
        }
}

static bool end_layer(void *arg, int layer)
{
    struct pass *p = arg;
    struct pw_ev_attention *a = p->a;
    for (int h = 0; h < a->heads && !p->known; h++) {
        const struct of_head *of = &p->head[h];
        double v[PW_HEAD_SCORES];
        pw_head_end(v, &of->sums);
        write_scores(a, layer, h, v);
        double whole = of->content + of->position + of->gates;
        if (pw_lab_acts_on_scores(a))
            scores_of(a, layer, h)[POSITION_PART] = share_of(of->position, whole);
        if (a->gates)
            scores_of(a, layer, h)[GATE_PART] = share_of(of->gates, whole);
    }
    if (layer == a->layer && p->terms != NULL)
        keep_gates(p);
    if (layer == a->layer && p->walk != NULL)
        keep_walk(p);
    return !p->known || layer < a->layer || p->to_the_end;
}

/* Take all that does not depend on the inspected head from an earlier attention of the same pass. */
static void take_known(struct pw_ev_attention *a, const struct pw_ev_attention *known)
{
    size_t heads = (size_t)a->layers * a->heads, T = (size_t)a->T, side = (size_t)known->side;
    a->pool = known->pool, a->side = known->side;
    if (known->probs != NULL)
        a->probs = pw_copy(known->probs, heads * T * T, sizeof *a->probs);
    else
        a->pooled = pw_copy(known->pooled, heads * side * side, sizeof *a->pooled);
    a->n_scores = known->n_scores;
    memcpy(a->kinds, known->kinds, sizeof a->kinds);
    a->scores = pw_copy(known->scores, heads * a->n_scores, sizeof *a->scores);
    for (size_t h = 0; h < heads && !pw_lab_acts_on_scores(a); h++) /* of the terms, for one head */
        a->scores[h * a->n_scores + POSITION_PART] = NAN;
}

/* Make the room of every head in one block, which the caller frees. */
static void *head_room(struct pass *p, const struct pw_ev_attention *a)
{
    size_t H = (size_t)a->heads, T = (size_t)a->T;
    float *rows = pw_alloc(3 * H * T, sizeof *rows);
    p->head = pw_alloc(H, sizeof *p->head);
    for (size_t h = 0; h < H; h++) {
        p->head[h].largest = rows + 3 * h * T;
        p->head[h].bias = rows + (3 * h + 1) * T;
        p->head[h].gate = rows + (3 * h + 2) * T;
    }
    return rows;
}

/* Is there memory for the event, twice because it is kept, and for the maps that a device needs? */
static enum pw_code check_memory(const struct pw_lab *lab, const struct pw_ev_attention *a,
                                 struct pw_err *err)
{
    size_t square = (size_t)a->T * a->T, pairs = (size_t)a->layers * a->heads * square, views = 6;
    size_t bytes = 2 * (views * square + (pairs < MOST_PAIRS ? pairs : MOST_PAIRS)) * sizeof(uint16_t);
    if (!lab->ops->host)
        bytes += 6 * (size_t)a->heads * square * sizeof(float);
    if (bytes <= pw_lab_memory())
        return PW_OK;
    return pw_fail(err, PW_ENOMEM, "out of memory: the attention of %d tokens needs %zu MiB", a->T,
                   bytes >> 20);
}

enum pw_code pw_lab_look_at_heads(const struct pw_lab *lab, const struct pw_replica *arm, const int *tokens,
                                  struct pw_ev_attention *a, const struct pw_ev_attention *known,
                                  const struct pw_head_input *input, float *score, struct pw_inspection *in,
                                  struct pw_err *err)
{
    if (check_memory(lab, a, err) != PW_OK)
        return PW_ENOMEM;
    struct pass p = {.a = a, .input = input, .score = score, .known = known != NULL};
    struct pw_map_reader reader = {begin_layer, keep_rows, wants_scores, end_layer, &p};
    p.to_the_end = in->one_row;
    const struct pw_pe *pe = arm->pe.pe;
    if (pe->scan == PW_SCAN_CONTEXT)
        p.most_position = pe->scan_rows(arm->pe.o.bytes) - 1;
    if (known != NULL) {
        take_known(a, known);
    } else {
        make_room(a);
        pw_lab_name_scores(a, input);
    }
    float *rows = head_room(&p, a), *terms = NULL, *walk = NULL;
    p.columns = pw_model_walk_columns(arm->model);
    if (p.columns > 0)
        walk = pw_alloc((size_t)a->layers * a->T * p.columns, sizeof *walk);
    if (pe->uses & PW_PE_TERMS)
        terms = pw_alloc((size_t)a->layers * a->T * a->heads, sizeof *terms);
    in->reader = &reader;
    p.terms = in->terms = terms;
    p.walk = in->walk = walk;
    enum pw_code code = pw_model_inspect(arm->model, tokens, a->T, in, err);
    in->reader = NULL;
    in->terms = in->walk = NULL;
    free(terms);
    free(walk);
    free(p.head);
    free(rows);
    return code;
}
