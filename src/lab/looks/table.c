/* table.c - the encoding's tables as an event: their values, what was seen in training, and their effect on a
 * layer's scores by distance.
 *
 * The workbench emits them continuously, so nothing here may take long. The kernel is measured on as many
 * validation samples as a fixed amount of work allows, a number that depends only on shapes. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "probe/kernel.h"

#define KERNEL_SAMPLES 16
/* limit of multiplications for the samples, unless a command asks for the table */
#define KERNEL_WORK 3e8
#define FARTHEST    (1 << 20) /* largest distance at which an encoding may start a bucket */

/* If rows depend on the length: how often the rows of each position of a sequence of length N were seen in
 * training. With two tables the rarer row counts. A row is seen from the end as often as from the front. The
 * count of a row by length includes longer sequences, so these are subtracted. rows [context] are by
 * position. */
static int64_t *rows_of_length(const struct pw_pe *pe, const int64_t *rows, int N, int context)
{
    int64_t *out = pw_alloc((size_t)N, sizeof *out);
    for (int p = 0; p < N; p++)
        for (int k = 0; k < pw_pe_adds(pe); k++) {
            int row = pw_pe_row(pe->by[k], p, N);
            int64_t longer = pe->by[k] == PW_PE_BY_LENGTH && N < context ? rows[N] : 0;
            int64_t n = rows[row] - longer;
            out[p] = k == 0 || n < out[p] ? n : out[p];
        }
    return out;
}

/* Fill in the counts of training. Weights from a file have seen their task's training data, but uncounted. */
static void tell_met(struct pw_lab *lab, const struct pw_replica *arm, struct pw_ev_table *x)
{
    int context = arm->cfg.context;
    int64_t *pairs = pw_alloc((size_t)context, sizeof *pairs),
            *rows = pw_alloc((size_t)context, sizeof *rows);
    x->met_from = arm->step - pw_model_seen(arm->model, pairs, rows);
    x->trained =
        arm->flops_from > 0 && arm->swaps == 0 && arm->pe.pe->ids == NULL ? pw_lab_trained_distance(lab) : 0;
    for (int d = x->trained + 1; d < context && pairs[d] > 0 && arm->pe.pe->ids == NULL; d++)
        x->trained = d; /* a distance of tokens; the encoding's own are counted in met */
    x->met = pairs;     /* N <= context; the rest is not read */
    x->rows = rows;
    x->by_length = pw_pe_adds_by_length(arm->pe.pe);
    if (x->by_length) {
        x->rows = rows_of_length(arm->pe.pe, rows, x->length, context);
        free(rows);
    }
}

/* The number of pairs of row r of the relative keys that were seen in training. Without the causal mask, half
 * of the pairs of a distance are on either side. */
static int64_t met_of_key(const struct pw_ev_table *x, const int64_t *pairs, int context, int r)
{
    int from = x->key_from + r, to = r == x->n_keys - 1 ? context : from + 1;
    int64_t sum = 0;
    for (int d = r == 0 && from < 0 ? 1 - context : from; d < to; d++)
        if (abs(d) < context)
            sum += x->key_from < 0 && d != 0 ? pairs[abs(d)] / 2 : pairs[d];
    return sum;
}

static void tell_keys(const struct pw_replica *arm, const struct pw_pe_tables *t, const int64_t *pairs,
                      struct pw_ev_table *x)
{
    int rows = x->n_keys = t->key_rows, D = x->key_width = arm->cfg.head_width;
    size_t layer = (size_t)rows * D, first = layer * x->layer;
    x->key_from = arm->cfg.causal ? 0 : -t->reach;
    x->keys = pw_alloc(layer, sizeof *x->keys);
    memcpy(x->keys, t->keys + first, layer * sizeof *x->keys);
    x->key_met = pw_alloc((size_t)rows, sizeof *x->key_met);
    for (int r = 0; r < rows; r++)
        x->key_met[r] = met_of_key(x, pairs, arm->cfg.context, r);
    float *mean = pw_alloc(layer * x->layers, sizeof *mean);
    x->n_grad = pw_model_pe_gradient(arm->model, mean);
    if (x->n_grad > 0)
        x->key_grad = pw_alloc((size_t)rows, sizeof *x->key_grad);
    for (size_t i = 0; x->key_grad != NULL && i < layer; i++)
        x->key_grad[i / D] += mean[first + i] / (float)D;
    free(mean);
}

/* Gradient of each entry of a learned bias; for learned tables that are added to a position, the mean over
 * the width. */
static void tell_gradient(const struct pw_replica *arm, struct pw_ev_table *x)
{
    const struct pw_pe *pe = arm->pe.pe;
    int C = arm->cfg.width, cols = pe->index != NULL ? arm->cfg.heads : pw_pe_add_width(pe, C);
    int rows = pe->param != NULL ? pe->param_rows(arm->pe.o.bytes, &arm->cfg) : 0;
    float *mean = pw_alloc((size_t)rows * cols, sizeof *mean);
    x->n_grad = pw_model_pe_gradient(arm->model, mean);
    if (x->n_grad > 0 && pe->index != NULL) {
        x->grad = mean;
        return;
    }
    if (x->n_grad > 0) {
        const float *tables[] = {mean, mean + pw_pe_add_at(pe, &arm->cfg, 1)};
        float *added = pw_alloc((size_t)x->length * C, sizeof *added);
        pw_pe_compose(pe, added, tables, x->length, C);
        x->grad = pw_alloc((size_t)x->length, sizeof *x->grad);
        for (int p = 0; p < x->length; p++) {
            double sum = 0;
            for (int i = 0; i < C; i++)
                sum += (double)added[(size_t)p * C + i];
            x->grad[p] = (float)(sum / C);
        }
        free(added);
    }
    free(mean);
}

/* The bucket of distance d; side -1: of a key d positions after the query. */
static int bucket_at(const struct pw_replica *arm, int side, int d)
{
    return arm->pe.pe->index(arm->pe.o.bytes, &arm->cfg, side * d);
}

/* The first distance, at least `from`, of bucket b of a side: buckets ascend. */
static int bucket_begin(const struct pw_replica *arm, int side, int b, int from)
{
    int low = from - 1, high = from; /* bisection: the first is in (low, high] */
    while (high < FARTHEST && bucket_at(arm, side, high) < b) {
        low = high;
        high = 2 * high + 1;
    }
    if (high >= FARTHEST)
        return INT_MAX;
    while (high - low > 1) {
        int mid = low + (high - low) / 2;
        if (bucket_at(arm, side, mid) < b)
            low = mid;
        else
            high = mid;
    }
    return high;
}

/* Buckets of keys before the query; without the causal mask then those of keys after it. */
static void tell_buckets(const struct pw_replica *arm, struct pw_ev_table *x)
{
    int last, before = bucket_at(arm, 1, FARTHEST) + 1,
              n = arm->cfg.causal ? before : bucket_at(arm, -1, FARTHEST) + 1;
    const struct pw_param *p = pw_model_params(arm->model, &last);
    x->n_buckets = n;
    x->later = n - before;
    x->bucket = pw_alloc((size_t)x->length, sizeof *x->bucket);
    for (int d = 0; d < x->length; d++)
        x->bucket[d] = bucket_at(arm, 1, d);
    x->bucket_from = pw_alloc((size_t)n + 1, sizeof *x->bucket_from);
    for (int b = 1; b < n; b++)
        x->bucket_from[b] = b < before    ? bucket_begin(arm, 1, b, x->bucket_from[b - 1])
                            : b == before ? bucket_begin(arm, -1, b, 1)
                                          : bucket_begin(arm, -1, b, x->bucket_from[b - 1]);
    x->bucket_from[n] = INT_MAX;
    x->bucket_bias = pw_alloc((size_t)n * x->heads, sizeof *x->bucket_bias);
    pw_model_read(arm->model, x->bucket_bias, p[last - 1].offset, (size_t)n * x->heads);
}

/* Write NaN for the bias of a hidden key. */
static void mark_hidden(float *bias, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isinf(bias[i]))
            bias[i] = NAN;
}

/* If a fixed bias is proportional to the distance, its slopes describe it completely. */
static void tell_bias(const struct pw_replica *arm, const struct pw_pe_tables *t, struct pw_ev_table *x)
{
    bool linear = arm->pe.pe->param == NULL;
    int N = x->length;
    x->bias = pw_alloc((size_t)x->heads * N, sizeof *x->bias);
    x->slopes = pw_alloc((size_t)x->heads, sizeof *x->slopes);
    for (int h = 0; h < x->heads; h++) {
        const float *row = t->bias + (size_t)h * (2 * t->P - 1) + t->P - 1;
        memcpy(x->bias + (size_t)h * N, row, (size_t)N * sizeof *row);
        x->slopes[h] = N > 1 ? row[0] - row[1] : 0.0f;
        for (int r = 0; r < N; r++)
            linear = linear && isfinite(row[r]) &&
                     fabsf(row[r] + x->slopes[h] * (float)r) <= 1e-5f * fabsf(row[r]);
    }
    mark_hidden(x->bias, (size_t)x->heads * N);
    if (!linear) {
        free(x->slopes);
        x->slopes = NULL;
    }
}

/* Number of samples for the kernel: 0 if a single one takes too long and no command asked for it. */
static int kernel_samples(const struct pw_lab *lab, const struct pw_replica *arm, bool asked)
{
    double one = (double)pw_model_size(arm->model) * lab->tasks.max_tokens;
    double n = KERNEL_WORK / one;
    return n >= KERNEL_SAMPLES ? KERNEL_SAMPLES : n >= 1.0 ? (int)n : asked;
}

static enum pw_code tell_kernel(struct pw_lab *lab, struct pw_replica *arm, bool asked,
                                const struct pw_pe_tables *t, struct pw_ev_table *x, struct pw_err *err)
{
    size_t n = (size_t)x->heads * x->length;
    int samples = kernel_samples(lab, arm, asked);
    struct pw_samples s = {0};
    if (samples == 0 && x->bias == NULL)
        return PW_OK;
    if (samples == 0) { /* an encoding that is its own kernel needs no measurement */
        x->kernel = pw_alloc(n, sizeof *x->kernel);
        for (int h = 0; h < x->heads; h++)
            for (int d = 0; d < x->length; d++)
                x->kernel[(size_t)h * x->length + d] = pw_kernel_bias(t, x->length, h, d);
        mark_hidden(x->kernel, n);
        return PW_OK;
    }
    pw_samples_fill(&s, &lab->tasks, lab->seed, PW_SPLIT_VALID, 0, samples, 0, 0);
    x->kernel = pw_alloc(n, sizeof *x->kernel);
    x->score = pw_alloc(n, sizeof *x->score);
    x->parts = x->pairs > 0 ? pw_alloc(2 * (size_t)x->heads * x->pairs, sizeof *x->parts) : NULL;
    struct pw_kernel k = {x->layer, x->length, x->kernel, x->score, x->parts};
    enum pw_code code = pw_kernel_measure(&k, arm->model, &s.b, err);
    mark_hidden(x->kernel, n);
    pw_samples_fini(&s);
    x->n_kernel = samples;
    if (!pw_kernel_has(&arm->cfg, arm->pe.pe, x->layer)) {
        free(x->kernel);
        x->kernel = NULL;
    }
    return code;
}

/* Return the angle from position 0 to position 1 of a pair, below pi for every base. */
static float turn_between(const float *cosine, const float *sine, int pairs)
{
    return (float)atan2(sine[pairs] * cosine[0] - cosine[pairs] * sine[0],
                        cosine[pairs] * cosine[0] + sine[pairs] * sine[0]);
}

/* Returns where order comes from if an encoding that reads the tokens has no table; "": it reads none. */
static const char *order_of(unsigned uses)
{
    return uses & PW_PE_TERMS    ? "the gates, which read the tokens"
           : uses & PW_PE_SCAN   ? "a scan over the keys, which reads the tokens"
           : uses & PW_PE_SLOPES ? "slopes by distance, which queries and keys make"
           : uses & PW_PE_MIXES  ? "a bias by distance, which each token mixes"
           : uses & PW_PE_WIDE   ? "the angles of queries and keys"
           : uses & PW_PE_VOTES  ? "votes of tokens, which hide keys from later ones"
           : uses & PW_PE_WALK   ? "a walk of each query over its keys, which reads the tokens"
                                 : "";
}

enum pw_code pw_lab_table(struct pw_lab *lab, struct pw_replica *arm, struct pw_table_choice look, bool asked,
                          struct pw_event **out, struct pw_err *err)
{
    int context = arm->cfg.context, C = arm->cfg.width;
    bool data = arm->pe.pe->ids != NULL; /* a position can be any below the context */
    int N = look.length > 0                            ? look.length
            : lab->tasks.max_tokens < context && !data ? lab->tasks.max_tokens
                                                       : context;
    if (N > context)
        return pw_fail(err, PW_EUSER, "length=%d: the model has %d positions", N, context);
    if (look.layer >= arm->cfg.layers)
        return pw_fail(err, PW_EUSER, "table: layer=%d: arm %d has layers 0..%d", look.layer, arm->id,
                       arm->cfg.layers - 1);
    struct pw_pe_tables all = {0};
    enum pw_code code = pw_model_tables(arm->model, N, &all, err);
    if (code != PW_OK)
        return code;
    const struct pw_pe_tables t = pw_pe_tables_at(&all, look.layer);
    const struct pw_pe *pe = arm->pe.pe;
    struct pw_event *e = pw_lab_event(PW_EV_TABLE, arm);
    struct pw_ev_table *x = &e->u.table;
    struct pw_str text = {0};
    pw_pe_print(&arm->pe, &text);
    pw_text_copy(x->pe, sizeof x->pe, pw_str_text(&text));
    pw_str_fini(&text);
    x->length = N;
    x->heads = arm->cfg.heads;
    x->width = C;
    x->layer = look.layer;
    x->layers = arm->cfg.layers;
    x->by_layer = pe->by_layer != 0;
    pw_text_copy(x->order, sizeof x->order, order_of(pe->uses));
    tell_met(lab, arm, x);
    if (t.keys != NULL)
        tell_keys(arm, &t, x->met, x);
    else if (pe->param != NULL)
        tell_gradient(arm, x);
    if (t.bias != NULL)
        tell_bias(arm, &t, x);
    if (t.dense != NULL)
        pw_lab_emit_dense(arm, &t, x);
    if (pe->index != NULL)
        tell_buckets(arm, x);
    pw_lab_emit_learned(arm, x);
    if (t.cosine != NULL) {
        x->pairs = pe->pairs(arm->pe.o.bytes, &arm->cfg);
        x->frequencies = pw_alloc((size_t)x->pairs, sizeof *x->frequencies);
        for (int i = 0; i < x->pairs && t.P > 1; i++)
            x->frequencies[i] = turn_between(&t.cosine[i], &t.sine[i], x->pairs);
    }
    if (t.added != NULL) {
        x->added = pw_alloc((size_t)N * C, sizeof *x->added);
        memcpy(x->added, t.added, (size_t)N * C * sizeof *x->added);
    }
    code = tell_kernel(lab, arm, asked, &t, x, err);
    pw_pe_tables_free(&all);
    if (code == PW_OK)
        *out = e;
    else
        pw_event_free(e);
    return code;
}

struct pw_table_choice pw_lab_table_choice(const struct pw_lab *lab, const struct pw_replica *arm)
{
    struct pw_table_choice look = lab->table;
    look.length = look.length < arm->cfg.context ? look.length : arm->cfg.context;
    look.layer = look.layer < arm->cfg.layers ? look.layer : arm->cfg.layers - 1;
    return look;
}

/* Takes ownership of e. */
static void emit_table(struct pw_lab *lab, const struct pw_replica *arm, struct pw_event *e)
{
    lab->table_told |= 1u << arm->id;
    lab->table_generation[arm->id] = pw_model_generation(arm->model);
    pw_lab_emit(lab, e);
}

static void emit_shown_table(struct pw_lab *lab, struct pw_replica *arm, bool asked)
{
    struct pw_event *e;
    struct pw_err err;
    if (pw_lab_table(lab, arm, pw_lab_table_choice(lab, arm), asked, &e, &err) == PW_OK)
        emit_table(lab, arm, e);
}

void pw_lab_refresh_tables(struct pw_lab *lab, bool told, unsigned demanded)
{
    if (demanded & 1u)
        demanded |= 1u << lab->current;
    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        struct pw_replica *arm = pw_lab_inspected_of(lab, id);
        bool was = lab->table_told >> id & 1 || (lab->table_told != 0 && id == lab->current);
        bool asked = demanded >> id & 1;
        if (arm != NULL && (asked || (told && was)) &&
            lab->table_generation[id] != pw_model_generation(arm->model))
            emit_shown_table(lab, arm, asked);
    }
}

enum pw_code pw_lab_choose_table(struct pw_lab *lab, struct pw_replica *any, int length, struct pw_move layer,
                                 struct pw_err *err)
{
    bool stays = layer.by && layer.n == 0;
    struct pw_replica *arm = pw_lab_inspected_of(lab, any->id);
    struct pw_table_choice fits = pw_lab_table_choice(lab, arm);
    struct pw_event *e;
    fits.length = length >= 0 ? length : fits.length;
    fits.layer = pw_move_round(layer, fits.layer, arm->cfg.layers);
    struct pw_table_choice asked = {length >= 0 ? length : lab->table.length,
                                    stays ? lab->table.layer : fits.layer};
    enum pw_code code = pw_lab_table(lab, arm, fits, true, &e, err);
    if (code != PW_OK)
        return code;
    lab->table = asked;
    /* the other tables were emitted with other lengths or layers */
    memset(lab->table_generation, 0, sizeof lab->table_generation);
    emit_table(lab, arm, e);
    if (lab->cfg.live) /* also the tables that it is compared with */
        pw_lab_refresh_tables(lab, true, 0);
    return PW_OK;
}

void pw_lab_emit_tables(struct pw_lab *lab)
{
    double began = pw_now();
    int id = lab->table_next;
    emit_shown_table(lab, pw_lab_inspected(lab), false);
    lab->table_told |= 1u << lab->current;
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        id = id % PW_MAX_ARMS + 1;
        if (id != lab->current && lab->table_told >> id & 1 && pw_lab_arm(lab, id) != NULL) {
            emit_shown_table(lab, pw_lab_inspected_of(lab, id), false);
            break;
        }
    }
    lab->table_next = id;
    lab->table_s = pw_now() - began;
}
