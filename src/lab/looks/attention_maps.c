/* attention_maps.c - the maps and the scores of all heads from one pass over a sequence. Only one layer's
 * maps are held at a time. An event holds every map of a small model; of a large one pooled maps, and all
 * pairs of the inspected head. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "probe/heads.h"

#define MOST_PAIRS (1 << 24) /* of all heads, in an event: 32 MiB */
#define MOST_CELLS (1 << 22) /* of pooled maps */
#define LONG       1024      /* tokens; above, only the shown view of the inspected head */

static uint16_t *halves(const float *x, size_t n)
{
    uint16_t *out = pw_alloc(n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = pw_half(x[i]);
    return out;
}

/* ---- scores */

static void name_score(struct pw_score_kind *kind, const char *name, const char *unit, double chance)
{
    pw_text_copy(kind->name, sizeof kind->name, name);
    pw_text_copy(kind->unit, sizeof kind->unit, unit);
    kind->chance = (float)chance;
}

void pw_lab_name_scores(struct pw_ev_attention *a, const struct pw_head_input *in)
{
    enum { N = PW_HEAD_SCORES + 1 };
    _Static_assert((int)N <= PW_MAX_SCORES, "an event holds every score");
    double chance[PW_HEAD_SCORES];
    a->n_scores = a->source[0] != '\0' ? PW_HEAD_SCORES : N;
    a->scores = pw_alloc((size_t)a->layers * a->heads * a->n_scores, sizeof *a->scores);
    pw_head_measure(chance, NULL, in);
    for (int s = 0; s < PW_HEAD_SCORES; s++)
        name_score(&a->kinds[s], pw_head_scores[s].name, pw_head_scores[s].unit, chance[s]);
    if (a->n_scores == N)
        name_score(&a->kinds[PW_HEAD_SCORES], "position's part", "", NAN);
}

void pw_lab_score_head(struct pw_ev_attention *a, int layer, int head, const float *probs,
                       const struct pw_head_input *in)
{
    float *to = a->scores + ((size_t)layer * a->heads + head) * a->n_scores;
    double v[PW_HEAD_SCORES];
    pw_head_measure(v, probs, in);
    for (int s = 0; s < PW_HEAD_SCORES; s++)
        to[s] = (float)v[s];
    if (a->n_scores > PW_HEAD_SCORES)
        to[PW_HEAD_SCORES] = NAN;
}

float pw_lab_position_part(const float *content, const float *position, int n, const float *score, int T)
{
    double c = pw_head_variation(content, score, T), p = 0.0;
    for (int i = 0; i < n; i++)
        p += pw_head_variation(position + (size_t)i * T * T, score, T);
    return c + p > 0.0 ? (float)(p / (c + p)) : NAN;
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

/* Write the largest probability of each cell of map [T,T]. */
static void pool_map(const struct pw_ev_attention *a, uint16_t *cells, const float *map)
{
    float *row = pw_alloc((size_t)a->side, sizeof *row);
    for (int r = 0; r < a->side; r++) {
        memset(row, 0, (size_t)a->side * sizeof *row);
        for (int q = r * a->pool; q < (r + 1) * a->pool && q < a->T; q++)
            for (int k = 0; k < a->T; k++) {
                float p = map[(size_t)q * a->T + k], *to = &row[k / a->pool];
                *to = p > *to ? p : *to;
            }
        for (int c = 0; c < a->side; c++)
            cells[(size_t)r * a->side + c] = pw_half(row[c]);
    }
    free(row);
}

struct pass {
    const struct pw_lab *lab;
    struct pw_ev_attention *a;
    int layer;               /* the layer of the present maps */
    struct pw_inspection in; /* of one layer */
    const struct pw_head_input *input;
    float *score; /* [T,T] of the inspected head */
    bool known;   /* the other heads are known, and the scores of this one */
};

/* Heads write to places of their own, so any worker can take any of them. */
static void keep_head(struct pw_ctx *c, int head, int worker, void *arg)
{
    struct pass *p = arg;
    struct pw_ev_attention *a = p->a;
    int layer = p->layer;
    size_t square = (size_t)a->T * a->T, at = head * square, to = (size_t)layer * a->heads + head;
    (void)c;
    (void)worker;
    if (a->probs != NULL)
        for (size_t i = 0; i < square; i++)
            a->probs[to * square + i] = pw_half(p->in.probs[at + i]);
    else
        pool_map(a, a->pooled + to * a->side * a->side, p->in.probs + at);
    pw_lab_score_head(a, layer, head, p->in.probs + at, p->input);
    if (a->biases || a->rotates)
        a->scores[to * a->n_scores + PW_HEAD_SCORES] =
            pw_lab_position_part(p->in.content + at, p->in.bias + at, 1, p->in.score + at, a->T);
}

static bool keep_layer(void *arg, int layer)
{
    struct pass *p = arg;
    struct pw_ev_attention *a = p->a;
    size_t square = (size_t)a->T * a->T, at = a->head * square;
    bool all = a->pool == 0 || a->T <= LONG;
    p->layer = layer;
    if (!p->known)
        p->lab->ops->for_chunks(p->lab->be, a->heads, keep_head, p);
    if (layer != a->layer)
        return true;
    memcpy(p->score, p->in.score + at, square * sizeof *p->score);
    if (a->pool > 0)
        a->map = halves(p->in.probs + at, square);
    if (all || a->view == PW_VIEW_SCORE)
        a->score = halves(p->in.score + at, square);
    if (all || a->view == PW_VIEW_CONTENT)
        a->content = halves(p->in.content + at, square);
    if (all || a->view == PW_VIEW_BIAS)
        a->bias = halves(p->in.bias + at, square);
    return !p->known;
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
    for (size_t h = 0; h < heads && !a->biases && !a->rotates; h++) /* of the terms, for one head */
        a->scores[h * a->n_scores + PW_HEAD_SCORES] = NAN;
}

enum pw_code pw_lab_look_at_heads(const struct pw_lab *lab, const struct pw_replica *arm, const int *tokens,
                                  struct pw_ev_attention *a, const struct pw_ev_attention *known,
                                  const struct pw_head_input *input, float *score, float *resid,
                                  struct pw_err *err)
{
    size_t layer = (size_t)a->heads * a->T * a->T;
    float *maps = pw_lab_maps((size_t)a->heads, a->T, 0, err);
    if (maps == NULL)
        return PW_ENOMEM;
    struct pass p = {.lab = lab, .a = a, .input = input, .score = score, .known = known != NULL};
    p.in = (struct pw_inspection){.probs = maps,
                                  .score = maps + layer,
                                  .content = maps + 2 * layer,
                                  .bias = maps + 3 * layer,
                                  .resid = resid,
                                  .each = keep_layer,
                                  .arg = &p};
    if (known != NULL) {
        take_known(a, known);
    } else {
        make_room(a);
        pw_lab_name_scores(a, input);
    }
    enum pw_code code = pw_model_inspect(arm->model, tokens, a->T, &p.in, err);
    free(maps);
    return code;
}
