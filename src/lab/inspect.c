/* inspect.c - what the workbench looks at while it trains, and the encoding's own tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "lab/lab_int.h"

void pw_lab_refresh(struct pw_lab *lab, bool table)
{
    struct pw_arm *arm = pw_lab_current(lab);
    struct pw_err err;
    struct pw_event *e;
    if (!lab->cfg.live)
        return;
    if (pw_lab_answer_again(lab, &err) != PW_OK)
        pw_lab_trouble(lab, &err);
    if (table && pw_lab_table(lab, arm, 0, &e, &err) == PW_OK)
        pw_lab_emit(lab, e);
}

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
    x->trained = arm->step > 0 ? trained_distance(lab) : 0;
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
