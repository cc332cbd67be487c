/* attention_value.c - the values of the attention pane: a view of a head, or the mean of a layer's heads, now
 * or at a kept moment. Optionally without the first position, or minus a reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/both.h"
#include "ui/panes/attention.h"

float pw_att_prob(const struct pw_att *w, int q, int k)
{
    float sum = 0;

    if (!w->mean)
        return pw_att_prob_of(w->a, w->layer, w->head, q, k);
    for (int h = 0; h < w->a->heads; h++)
        sum += pw_att_prob_of(w->a, w->layer, h, q, k);
    return sum / (float)w->a->heads;
}

bool pw_att_gold(const struct pw_att *w, int q, int k)
{
    for (int i = 0; w->a->gold != NULL && i < w->a->n_gold; i++)
        if (w->a->gold[i].query == q && w->a->gold[i].key == k)
            return true;
    return false;
}

/* ---- selecting the map */

static bool set_row_words(struct pw_att *w, const char *first, const char *second, const char *third)
{
    w->why[0] = first, w->why[1] = second, w->why[2] = third, w->why[3] = NULL;
    return false;
}

/* Returns the map of a view [T,T]; if it does not exist, returns NULL and sets why. */
static const uint16_t *matrix_of(struct pw_att *w)
{
    const struct pw_ev_attention *a = w->a;
    const uint16_t *m = pw_att_matrix(a, w->view);

    if (w->view == PW_VIEW_SCORE && a->all_scores != NULL)
        return a->all_scores + ((size_t)w->layer * a->heads + w->head) * a->T * a->T;
    if (w->view == PW_VIEW_BIAS && !a->biases && !a->rotates) {
        if (a->adds)
            set_row_words(w, "only the content acts on the scores", "v: the content in four terms",
                          "this encoding adds its rows to the embeddings");
        else if (a->gates)
            set_row_words(w, "the scores have no positional part", "v: the part of the gates",
                          "this encoding reads the tokens, not their positions");
        else
            set_row_words(w, "nothing to separate here: no encoding acts on the scores",
                          "the scores are all content",
                          a->rests ? "order enters because the nearest keys take their share first"
                                   : "order enters through the causal mask alone");
        return NULL;
    }
    if (w->view == PW_VIEW_GATE && !a->gates) {
        set_row_words(w, "nothing to separate here: this encoding has no gates", "v: the next view", NULL);
        return NULL;
    }
    if (pw_view_of_terms(w->view) && m == NULL && w->layer == 0)
        set_row_words(w, "nothing to separate here: no position enters layer 0",
                      "its scores have no positional term",
                      "} in the next layer the mask has added positions");
    else if (m == NULL)
        set_row_words(w, "this view was not recorded", "v: the next one", NULL);
    return m;
}

/* ---- values */

/* Returns the value of a pair, or of a pooled cell, before the first key is left out; -inf where hidden. */
static float plain(const struct pw_att *w, int q, int k)
{
    if (pw_att_hidden(w->a, q, k))
        return -INFINITY;
    if (w->cells)
        return pw_att_cell_of(w->a, w->layer, w->head, q, k);
    return w->m != NULL ? pw_from_half(w->m[(size_t)q * w->a->T + k]) : pw_att_prob(w, q, k);
}

/* Leaves out the first key, whose value is `first`; probabilities are renormalised to sum to one. */
static float without_first(float v, float first, int k, bool probs)
{
    float rest = 1 - first;

    if (k == 0)
        return -INFINITY;
    if (!probs || v == -INFINITY)
        return v;
    return rest > 1e-3f ? v / rest : 0; /* smaller rests are lost in 16 bits */
}

float pw_att_value(const struct pw_att *w, int q, int k)
{
    const struct pw_att_ref *ref = w->ref;
    bool probs = w->view == PW_VIEW_PROBS && !w->cells;
    float v = plain(w, q, k);

    if (w->first_hidden)
        v = without_first(v, probs ? plain(w, q, 0) : 0, k, probs);
    if (ref == NULL)
        return v;
    const float *row = ref->v + (size_t)q * ref->T;
    float r = w->first_hidden ? without_first(row[k], row[0], k, probs) : row[k];
    return v == -INFINITY || r == -INFINITY ? -INFINITY : v - r;
}

/* Writes what pw_att_prob says of all keys that the query sees. */
static void fill_probs(const struct pw_att *w, int q, int seen, float *row)
{
    const struct pw_ev_attention *a = w->a;
    size_t T = (size_t)a->T, map = (size_t)w->layer * a->heads + w->head;
    bool inspected = w->layer == a->layer && w->head == a->head;

    if (!w->mean && a->probs != NULL)
        pw_from_halves(row, a->probs + (map * T + q) * T, (size_t)seen);
    else if (!w->mean && inspected && a->map != NULL)
        pw_from_halves(row, a->map + (size_t)q * T, (size_t)seen);
    else
        for (int k = 0; k < seen; k++)
            row[k] = pw_att_prob(w, q, k);
}

void pw_att_visible(const struct pw_att *w, int q, float *row)
{
    int seen = w->a->sees_all || w->T <= q ? w->T : q + 1;

    if (w->cells || w->ref != NULL) {
        for (int k = 0; k < seen; k++)
            row[k] = pw_att_value(w, q, k);
        return;
    }
    if (w->m != NULL)
        pw_from_halves(row, w->m + (size_t)q * w->a->T, (size_t)seen);
    else
        fill_probs(w, q, seen, row);
    float first = w->view == PW_VIEW_PROBS ? row[0] : 0;
    for (int k = 0; k < seen && w->first_hidden; k++)
        row[k] = without_first(row[k], first, k, w->view == PW_VIEW_PROBS);
}

static void row_of(const struct pw_att *w, int q, float *row)
{
    pw_att_visible(w, q, row);
    for (int k = w->a->sees_all || w->T <= q ? w->T : q + 1; k < w->T; k++)
        row[k] = -INFINITY;
}

/* Takes the common prefix of tokens with the reference. */
static bool meet_reference(struct pw_att *w)
{
    const struct pw_att_ref *ref = w->ref;
    int n = 0;

    if ((ref->view == PW_VIEW_PROBS) != (w->view == PW_VIEW_PROBS))
        return set_row_words(w, "probabilities can't be compared with scores", "v: another view",
                             "c: drop the reference");
    while (n < w->T && n < ref->T && strcmp(ref->labels[n], w->a->labels[n]) == 0)
        n++;
    w->renamed = n < w->T && w->T == ref->T && (ref->file || w->a->source[0] != '\0');
    if (w->renamed) /* a file can name tokens differently: compare positions */
        n = w->T;
    if (n == 0)
        return set_row_words(w, "the reference has different tokens: nothing to compare",
                             "c: drop the reference", NULL);
    w->T = n;
    return true;
}

PW_WIDE float pw_att_largest(const float *row, int T)
{
    uint32_t most = 0, bits;
    float top;

    for (int k = 0; k < T; k++) { /* by their bits, which a compiler can compare in vectors */
        memcpy(&bits, &row[k], sizeof bits);
        bits &= 0x7fffffff;
        bits &= (uint32_t)0 - (uint32_t)(bits < 0x7f800000); /* 0 unless finite */
        most = bits > most ? bits : most;
    }
    memcpy(&top, &most, sizeof top);
    return top > 1e-6f ? top : 1e-6f;
}

/* Finds the upper end of a query's scale. */
static float measure_row(const struct pw_att *w, int q)
{
    float *row = pw_alloc((size_t)w->T, sizeof *row);
    row_of(w, q, row);
    float top = pw_att_largest(row, w->T);
    free(row);
    return top;
}

/* Finds the upper end of the scale. The queries' own are found when they are drawn. */
static void measure(struct pw_att *w)
{
    w->top = w->is_signed ? 0 : 1;
    if (w->kept != NULL) {
        w->row_top = pw_copy(w->kept->row_top, (size_t)w->T, sizeof *w->row_top);
        w->top = w->kept->top;
        return;
    }
    w->row_top = pw_alloc((size_t)w->T, sizeof *w->row_top); /* 0: not known yet */
    for (int q = 0; w->is_signed && q < w->T; q++) {
        w->row_top[q] = measure_row(w, q);
        w->top = w->row_top[q] > w->top ? w->row_top[q] : w->top;
    }
}

float pw_att_scaled(const struct pw_att *w, int scale, int q, float v)
{
    float top = w->top, decades = w->is_signed ? 2 : 3;

    if (!isfinite(v))
        return v;
    if (scale == PW_ATT_ROW && w->row_top[q] == 0)
        w->row_top[q] = measure_row(w, q);
    if (scale == PW_ATT_ROW)
        top = w->row_top[q];
    if (scale != PW_ATT_LOG)
        return v / top;
    float x = 1 + log10f(fabsf(v) / top) / decades;
    return copysignf(x > 0 ? x : 0, v);
}

const struct pw_replica_view *pw_att_measured(const struct pw_ui *ui, const struct pw_att *w)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, w->arm);

    return arm != NULL && w->replica >= 1 && w->replica <= arm->info.replicas ? &arm->rep[w->replica - 1]
                                                                              : NULL;
}

bool pw_att_off(const struct pw_ui *ui, const struct pw_att *w, int layer, int head)
{
    const struct pw_replica_view *rep = pw_att_measured(ui, w);

    return rep != NULL && pw_head_mode(rep, layer, head) != PW_ABLATE_NONE;
}

bool pw_att_find(struct pw_att *w, const struct pw_ui *ui)
{
    const struct pw_snapshot *s = ui->snap;

    *w = (struct pw_att){.arm = s->attention_arm, .replica = s->attention_replica};
    if (pw_att_of_file(ui)) {
        pw_att_find_file(w, ui);
        return true;
    }
    w->step = s->attention_step;
    w->a = &s->attention;
    w->layer = s->attention.layer, w->head = s->attention.head;
    w->view = s->attention.view >= 0 && s->attention.view < PW_VIEWS ? s->attention.view : PW_VIEW_PROBS;
    w->mean = ui->attention.mean;
    if (ui->time >= 0 && ui->time < s->attention_step) {
        w->a = pw_kept_attention(s, w->arm, ui->time, &w->step);
        w->past = true;
        if (w->a == NULL)
            return set_row_words(w, "no attention was kept from this step", "pin a prompt before you train",
                                 NULL);
        w->layer = w->layer < w->a->layers ? w->layer : w->a->layers - 1;
        w->head = w->head < w->a->heads ? w->head : w->a->heads - 1;
    }
    if (w->mean || w->past)
        w->view = PW_VIEW_PROBS; /* only probabilities are kept and averaged */
    return true;
}

/* ---- not seen in training */

static bool met(const struct pw_ev_table *t, int distance)
{
    return t->met != NULL && distance < t->length ? t->met[distance] > 0 : distance <= t->trained;
}

/* Marks the distances below T that were not seen. A bucket was seen if one of its distances was. Distances
 * beyond the table have the last distance's bucket, or one that cannot have been seen. */
static void mark_buckets(const struct pw_ev_table *t, bool *unmet, int T)
{
    bool *seen = pw_alloc((size_t)t->n_buckets, sizeof *seen);

    for (int i = 0; i < t->length; i++)
        seen[t->bucket[i]] = seen[t->bucket[i]] || met(t, i);
    for (int i = 0; i < T; i++) {
        int d = i < t->length ? i : t->length - 1;
        unmet[i] = (d < i && t->bucket[d] < t->n_buckets - t->later - 1) || !seen[t->bucket[d]];
    }
    free(seen);
}

/* Uses the table of the inspected arm; does nothing before the first training step. */
static void find_unmet(struct pw_att *w, const struct pw_snapshot *s)
{
    const struct pw_ev_table *t = pw_table_of(s, w->arm);

    if (t == NULL || t->trained <= 0 || t->length <= 0)
        return;
    w->hatch = t->bucket != NULL  ? "bucket"
               : t->by_length     ? "length"
               : t->added != NULL ? "position"
                                  : "distance";
    w->by_position = t->bucket == NULL && t->added != NULL;
    w->unmet = pw_alloc((size_t)w->T, sizeof *w->unmet);
    if (t->bucket != NULL && !t->by_length)
        mark_buckets(t, w->unmet, w->T);
    else
        for (int i = 0; i < w->T; i++)
            w->unmet[i] = t->by_length     ? w->T - 1 > t->trained
                          : w->by_position ? i > t->trained /* positions start at 0 */
                                           : !met(t, i);
}

bool pw_att_untrained(const struct pw_att *w, int q, int k)
{
    return w->unmet != NULL && (w->by_position ? w->unmet[q] || w->unmet[k] : w->unmet[abs(q - k)]);
}

bool pw_att_init(struct pw_att *w, const struct pw_ui *ui)
{
    if (!pw_att_find(w, ui))
        return false;
    if (w->view != PW_VIEW_PROBS && (w->m = matrix_of(w)) == NULL)
        return false;
    w->T = w->a->T;
    w->first_hidden = ui->attention.first_hidden;
    w->ref = ui->attention.ref;
    if (w->ref != NULL && !meet_reference(w))
        return false;
    w->is_signed = w->view != PW_VIEW_PROBS || w->ref != NULL;
    pw_att_take_long(w, ui);
    measure(w);
    find_unmet(w, ui->snap);
    return true;
}

void pw_att_init_head(struct pw_att *out, const struct pw_ui *ui, const struct pw_att *w, int layer, int head)
{
    *out = (struct pw_att){.a = w->a,
                           .arm = w->arm,
                           .replica = w->replica,
                           .step = w->step,
                           .past = w->past,
                           .layer = layer,
                           .head = head,
                           .T = (w->a->T + pw_att_pool(w->a) - 1) / pw_att_pool(w->a),
                           .cells = pw_att_pool(w->a) > 1,
                           .first_hidden = ui->attention.first_hidden};
    measure(out);
}

void pw_att_fini(struct pw_att *w)
{
    free(w->row_top);
    free(w->unmet);
    w->row_top = NULL;
    w->unmet = NULL;
}

/* ---- the reference */

void pw_att_forget(struct pw_ui *ui)
{
    if (ui->attention.ref != NULL) {
        free(ui->attention.ref->labels);
        free(ui->attention.ref->v);
    }
    free(ui->attention.ref);
    ui->attention.ref = NULL;
}

void pw_att_own_reference(struct pw_ui *copy)
{
    copy->attention.kept = copy->attention.before = NULL; /* made again when the copy is settled */
    if (copy->attention.ref == NULL)
        return;
    struct pw_att_ref *own = pw_copy(copy->attention.ref, 1, sizeof *own);
    size_t T = (size_t)own->T;
    own->labels = pw_copy(own->labels, T, sizeof *own->labels);
    own->v = pw_copy(own->v, T * T, sizeof *own->v);
    copy->attention.ref = own;
}

void pw_att_reference(struct pw_ui *ui)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->attention_arm);
    bool first_hidden = ui->attention.first_hidden;
    struct pw_att w;
    struct pw_str name = {0};

    ui->attention.first_hidden = false; /* the reference keeps all positions */
    if (pw_att_init(&w, ui)) {
        struct pw_att_ref *ref = pw_alloc(1, sizeof *ref);
        ref->id = ++ui->attention.last_ref;
        ref->file = w.a->source[0] != '\0';
        if (ref->file)
            pw_str_add(&name, "%.32s", w.a->source);
        else if (arm != NULL)
            pw_replica_name(arm, w.replica, &name);
        pw_str_add(&name, w.mean ? " layer %d mean" : " head " PW_HEAD, w.layer, w.head);
        if (w.view != PW_VIEW_PROBS)
            pw_str_add(&name, " %s", pw_view_names[w.view]);
        if (!ref->file)
            pw_str_add(&name, " step %lld", (long long)w.step);
        pw_text_copy(ref->name, sizeof ref->name, name.s);
        ref->view = w.view;
        ref->T = w.T;
        ref->labels = pw_alloc((size_t)w.T, sizeof *ref->labels);
        memcpy(ref->labels, w.a->labels, (size_t)w.T * sizeof *ref->labels);
        ref->v = pw_alloc((size_t)w.T * w.T, sizeof *ref->v);
        for (int q = 0; q < w.T; q++)
            row_of(&w, q, ref->v + (size_t)q * w.T);
        ui->attention.ref = ref;
        pw_str_fini(&name);
    }
    pw_att_fini(&w);
    ui->attention.first_hidden = first_hidden;
}
