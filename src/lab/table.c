/* table.c - the encoding's own tables, and what training has met of them, as an event. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/lab_int.h"

/* Largest distance between two rows of a training sample. */
static int trained_distance(const struct pw_lab *lab)
{
    int most = 0;
    for (int t = 0; t < lab->tasks.n; t++) {
        int d = pw_lab_rows_at(lab, t, pw_task_train(&lab->tasks.use[t]).hi) - 1;
        most = d > most ? d : most;
    }
    return most;
}

/* What training has met. Weights that came from a file have met what their task trains on, uncounted. */
static void tell_met(struct pw_lab *lab, const struct pw_arm *arm, struct pw_ev_table *x)
{
    int context = arm->cfg.context;
    int64_t *pairs = pw_alloc((size_t)context, sizeof *pairs),
            *rows = pw_alloc((size_t)context, sizeof *rows);
    x->met_from = arm->step - pw_model_met(arm->model, pairs, rows);
    x->trained = arm->flops_from > 0 && arm->swaps == 0 ? trained_distance(lab) : 0;
    for (int d = x->trained + 1; d < context && pairs[d] > 0; d++)
        x->trained = d;
    x->met = pairs; /* N <= context; the rest is not looked at */
    x->rows = rows;
}

/* Of a learned bias each entry, of learned rows the mean over the width. */
static void tell_gradient(const struct pw_arm *arm, struct pw_ev_table *x)
{
    const struct pw_pe *pe = arm->pe.pe;
    int cols = pe->index != NULL ? arm->cfg.heads : arm->cfg.width;
    int rows = pe->param != NULL ? pe->param_rows(arm->pe.o.bytes, &arm->cfg) : 0;
    float *mean = pw_alloc((size_t)rows * cols, sizeof *mean);
    x->n_grad = pw_model_pe_gradient(arm->model, mean);
    if (x->n_grad > 0 && pe->index != NULL) {
        x->grad = mean;
        return;
    }
    if (x->n_grad > 0)
        x->grad = pw_alloc((size_t)x->length, sizeof *x->grad);
    for (int p = 0; x->grad != NULL && p < x->length; p++) {
        double sum = 0;
        for (int i = 0; i < cols; i++)
            sum += (double)mean[(size_t)p * cols + i];
        x->grad[p] = (float)(sum / cols);
    }
    free(mean);
}

enum pw_code pw_lab_table(struct pw_lab *lab, struct pw_arm *arm, int length, struct pw_event **out,
                          struct pw_err *err)
{
    int context = arm->cfg.context, H = arm->cfg.heads, C = arm->cfg.width;
    int N = length > 0 ? length : lab->tasks.max_tokens < context ? lab->tasks.max_tokens : context;
    if (N > context)
        return pw_fail(err, PW_EUSER, "length=%d: the model has %d positions", N, context);
    struct pw_pe_tables t = {0};
    enum pw_code code = pw_model_tables(arm->model, N, &t, err);
    if (code != PW_OK)
        return code;
    const struct pw_pe *pe = arm->pe.pe;
    struct pw_event *e = pw_lab_event(lab, PW_EV_TABLE, arm);
    struct pw_ev_table *x = &e->u.table;
    struct pw_str text = {0};
    pw_pe_print(&arm->pe, &text);
    pw_text_copy(x->pe, sizeof x->pe, pw_str_text(&text));
    pw_str_fini(&text);
    x->length = N;
    x->heads = H;
    x->width = C;
    tell_met(lab, arm, x);
    tell_gradient(arm, x);
    if (t.bias != NULL) {
        bool linear = pe->param == NULL; /* fixed and proportional to the distance: slopes say all */
        x->bias = pw_alloc((size_t)H * N, sizeof *x->bias);
        x->slopes = pw_alloc((size_t)H, sizeof *x->slopes);
        for (int h = 0; h < H; h++) {
            const float *row = t.bias + (size_t)h * (2 * t.P - 1) + t.P - 1;
            memcpy(x->bias + (size_t)h * N, row, (size_t)N * sizeof *row);
            x->slopes[h] = N > 1 ? row[0] - row[1] : 0.0f;
            for (int r = 0; r < N; r++)
                linear = linear && fabsf(row[r] + x->slopes[h] * (float)r) <= 1e-5f * fabsf(row[r]);
        }
        if (!linear) {
            free(x->slopes);
            x->slopes = NULL;
        }
    }
    if (pe->index != NULL) {
        x->bucket = pw_alloc((size_t)N, sizeof *x->bucket);
        x->n_buckets = pe->param_rows(arm->pe.o.bytes, &arm->cfg);
        for (int r = 0; r < N; r++)
            x->bucket[r] = pe->index(arm->pe.o.bytes, r);
    }
    if (t.cosine != NULL) {
        x->pairs = pe->pairs(arm->pe.o.bytes, &arm->cfg);
        x->frequencies = pw_alloc((size_t)x->pairs, sizeof *x->frequencies);
        for (int i = 0; i < x->pairs && t.P > 1; i++) /* the angle of position 1, below pi for every base */
            x->frequencies[i] = (float)atan2(t.sine[x->pairs + i], t.cosine[x->pairs + i]);
    }
    if (t.added != NULL) {
        x->added = pw_alloc((size_t)N * C, sizeof *x->added);
        memcpy(x->added, t.added, (size_t)N * C * sizeof *x->added);
    }
    pw_pe_tables_free(&t);
    *out = e;
    return PW_OK;
}
