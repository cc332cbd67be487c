/* attention_long.c - data of all pairs of a long sequence, computed once for the frames of a map.
 *
 * A pooled map of 4,096 tokens shows eight million pairs in a few thousand pixels, and a frame has 16 ms. So
 * the pane's settle reads every pair once, and keeps the pixels, the queries' largest values and the keys'
 * means. It reads them again only if the map, its scale or its pooling changes. A frame without them, or of a
 * short sequence, reads the pairs; both draw the same picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/both.h"
#include "ui/panes/attention.h"

enum { SHORT = 256 }; /* tokens; up to here, reading all pairs takes less than a millisecond */

static bool same_map(const struct pw_att_map_key *a, const struct pw_att_map_key *b)
{
    return a->began_ns == b->began_ns && a->seq == b->seq && a->table == b->table && a->step == b->step &&
           a->T == b->T && a->layer == b->layer && a->head == b->head && a->view == b->view &&
           a->mean == b->mean && a->first_hidden == b->first_hidden && a->ref == b->ref;
}

static struct pw_att_map_key key_of(const struct pw_ui *ui, const struct pw_att *w)
{
    const struct pw_snapshot *s = ui->snap;
    bool file = w->arm == 0;

    return (struct pw_att_map_key){.began_ns = s->began_ns,
                                   .seq = file ? s->foreign_seq : s->attention_seq,
                                   .table = file ? 0 : s->arms[w->arm - 1].table_seq,
                                   .step = w->past ? w->step : -1,
                                   .T = w->T,
                                   .layer = w->layer,
                                   .head = w->head,
                                   .view = w->view,
                                   .mean = w->mean,
                                   .first_hidden = w->first_hidden,
                                   .ref = w->ref != NULL ? w->ref->id : 0};
}

void pw_att_take_long(struct pw_att *w, const struct pw_ui *ui)
{
    const struct pw_att_long *kept = ui->attention.kept;
    struct pw_att_map_key key;

    if (kept == NULL || w->T <= SHORT)
        return;
    key = key_of(ui, w);
    w->kept = same_map(&kept->key, &key) ? kept : NULL;
}

static void free_long(struct pw_att_long *kept)
{
    if (kept != NULL) {
        free(kept->row_top);
        free(kept->received);
        free(kept->cells);
        free(kept->unseen);
    }
    free(kept);
}

void pw_att_forget_long(struct pw_ui *ui)
{
    free_long(ui->attention.kept);
    free_long(ui->attention.before);
    ui->attention.kept = ui->attention.before = NULL;
}

/* ---- reading the pairs */

struct reading {
    const struct pw_att *w;
    struct pw_att_long *out;
    float *row;  /* [T] values of one query */
    float *most; /* [T] largest value of a key, over the queries of a row of pixels */
    int *n;      /* [T] queries that see a key */
    bool *seen;  /* [side,side] a pair of the pixel was seen in training */
};

static PW_WIDE void add_all(float *sum, const float *row, int end)
{
    for (int k = 0; k < end; k++)
        sum[k] += row[k];
}

/* Adds a row to the means of the visible keys; the sums have the order of the queries. n NULL: all keys below
 * end are visible. */
static PW_WIDE void add_received(float *sum, int *n, const float *row, int end)
{
    if (n == NULL) {
        add_all(sum, row, end);
        return;
    }
    for (int k = 0; k < end; k++) {
        bool visible = row[k] != -INFINITY;
        sum[k] += visible ? row[k] : 0;
        n[k] += visible;
    }
}

/* Returns the larger of two values with a sign, as pw_matrix_pooled compares them. */
static float larger(float best, float v)
{
    if (v == -INFINITY || isnan(best))
        return best;
    if (best == -INFINITY || isnan(v))
        return v;
    return fabsf(v) > fabsf(best) ? v : best;
}

/* Makes each of most [n] the larger of itself and v, values without a sign; NaN if one is. The bits of such
 * numbers have their order, -inf is below them and NaN above, so compilers can make this a vector loop. */
static PW_WIDE void take_larger(float *most, const float *v, int n)
{
    int32_t a, b;
    for (int i = 0; i < n; i++) {
        memcpy(&a, &most[i], sizeof a);
        memcpy(&b, &v[i], sizeof b);
        a = b > a ? b : a;
        memcpy(&most[i], &a, sizeof a);
    }
}

static float largest_of(const float *v, int n)
{
    float most = -INFINITY;
    for (int i = 0; i < n; i++)
        take_larger(&most, &v[i], 1);
    return most;
}

/* Writes a row of pixels from the largest values of its keys, and begins the next one. */
static void write_pixels(struct reading *r, int q)
{
    int pool = r->out->pool, T = r->w->T;
    float *cell = r->out->cells + (size_t)(q / pool) * r->out->side;

    for (int from = 0; from < T; from += pool, cell++)
        *cell = largest_of(r->most + from, from + pool < T ? pool : T - from);
    for (int k = 0; k < T; k++)
        r->most[k] = -INFINITY;
}

/* Marks the pixels of query q, of which `end` keys are visible, that have a pair that was seen in training.
 */
static void mark_seen(struct reading *r, int q, int end)
{
    const struct pw_att *w = r->w;
    int pool = r->out->pool;
    bool *seen = r->seen + (size_t)(q / pool) * r->out->side;

    for (int from = 0; from < end; from += pool, seen++)
        for (int k = from; !*seen && k < end && k < from + pool; k++)
            *seen = r->row[k] != -INFINITY && !pw_att_untrained(w, q, k);
}

/* Adds the row of query q, of which `end` keys are visible, to its pixels. */
static void add_pixels(struct reading *r, int q, int end)
{
    const struct pw_att *w = r->w;
    int pool = r->out->pool;
    float *cell = r->out->cells + (size_t)(q / pool) * r->out->side;
    float *row = r->row, top = r->out->row_top[q];

    for (int k = 0; r->out->scale == PW_ATT_ROW && k < end; k++)
        row[k] /= top;
    for (int from = 0; w->is_signed && from < end; from += pool, cell++)
        for (int k = from; k < end && k < from + pool; k++)
            *cell = larger(*cell, r->row[k]);
    if (!w->is_signed) {
        take_larger(r->most, r->row, end);
        if ((q + 1) % pool == 0 || q == w->T - 1)
            write_pixels(r, q);
    }
    if (w->unmet != NULL)
        mark_seen(r, q, end);
}

/* Marks the pixels that are hatched: no pair of them was seen in training, and the first one is visible. */
static void find_unseen(struct reading *r)
{
    struct pw_att_long *out = r->out;

    for (int i = 0; i < out->side; i++)
        for (int j = 0; j < out->side; j++)
            out->unseen[i * out->side + j] = r->w->unmet != NULL && !r->seen[i * out->side + j] &&
                                             pw_att_value(r->w, i * out->pool, j * out->pool) != -INFINITY;
}

static void read_pairs(struct pw_att_long *out, const struct pw_att *w)
{
    size_t T = (size_t)w->T, cells = (size_t)out->side * out->side;
    struct reading r = {.w = w,
                        .out = out,
                        .row = pw_alloc(T, sizeof(float)),
                        .most = pw_alloc(T, sizeof(float)),
                        .n = pw_alloc(T, sizeof(int)),
                        .seen = pw_alloc(cells, sizeof(bool))};

    bool masked = w->is_signed || w->first_hidden;        /* else all keys up to the query are visible */
    bool tops = w->is_signed || out->scale == PW_ATT_ROW; /* else they are not read */
    for (size_t i = 0; i < cells; i++)
        out->cells[i] = -INFINITY;
    for (size_t k = 0; k < T; k++)
        r.most[k] = -INFINITY;
    for (int q = 0; q < w->T; q++) {
        int end = w->a->sees_all ? w->T : q + 1;
        pw_att_visible(w, q, r.row);
        out->row_top[q] = tops ? pw_att_largest(r.row, end) : 0;
        add_received(out->received, masked ? r.n : NULL, r.row, end);
        out->top = w->is_signed && out->row_top[q] > out->top ? out->row_top[q] : out->top;
        if (out->side > 0)
            add_pixels(&r, q, end);
    }
    for (int k = 0; k < w->T && !masked; k++)
        r.n[k] = w->a->sees_all ? w->T : w->T - k;
    for (size_t k = 0; k < T; k++)
        out->received[k] = r.n[k] > 0 ? out->received[k] / (float)r.n[k] : -INFINITY;
    if (out->scale == PW_ATT_LOG) /* grows with the value, so it can follow the pooling */
        for (size_t i = 0; i < cells; i++)
            out->cells[i] = pw_att_scaled(w, PW_ATT_LOG, 0, out->cells[i]);
    find_unseen(&r);
    free(r.row);
    free(r.most);
    free(r.n);
    free(r.seen);
}

void pw_att_keep_long(struct pw_ui *ui, const struct pw_att *w, int pool)
{
    pool = pool > 1 ? pool : 1;
    int scale = pool > 1 ? (int)ui->attention.scale : 0;

    if (w->T <= SHORT || (w->kept != NULL && w->kept->pool == pool && w->kept->scale == scale))
        return;
    struct pw_att_long *before = ui->attention.before;
    struct pw_att_map_key key = key_of(ui, w);
    ui->attention.before = ui->attention.kept;
    ui->attention.kept = before;
    if (before != NULL && same_map(&before->key, &key) && before->pool == pool && before->scale == scale)
        return; /* the readout below the map has one line more or less, as before */
    free_long(before);
    struct pw_att_long *out = pw_alloc(1, sizeof *out);
    size_t T = (size_t)w->T;
    *out = (struct pw_att_long){.key = key, .pool = pool, .scale = scale, .top = w->is_signed ? 0 : 1};
    out->side = pool > 1 ? (w->T + pool - 1) / pool : 0;
    size_t cells = (size_t)out->side * out->side;
    out->row_top = pw_alloc(T, sizeof *out->row_top);
    out->received = pw_alloc(T, sizeof *out->received);
    out->cells = pw_alloc(cells, sizeof *out->cells);
    out->unseen = pw_alloc(cells, sizeof *out->unseen);
    ui->attention.kept = out;
    read_pairs(out, w);
}
