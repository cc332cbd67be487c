/* inspect.c - looking into the pinned prompt head by head, and at the encoding's own tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "lab/lab_int.h"

static uint16_t *halves(const float *x, size_t n)
{
    uint16_t *out = pw_alloc(n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = pw_half(x[i]);
    return out;
}

enum pw_code pw_lab_tell_attention(struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    int T = pin->n < arm->cfg.context ? pin->n : arm->cfg.context, L = arm->cfg.layers, H = arm->cfg.heads;
    size_t head = (size_t)T * T, all = (size_t)L * H * head;
    float *maps = pw_lab_maps(&arm->cfg, T, 0, err);
    if (maps == NULL)
        return PW_ENOMEM;
    struct pw_inspection in = {
        .probs = maps, .score = maps + all, .content = maps + 2 * all, .bias = maps + 3 * all};
    enum pw_code code = pw_model_inspect(arm->model, pin->tokens, T, &in, err);
    if (code == PW_OK) {
        struct pw_event *e = pw_lab_event(lab, PW_EV_ATTENTION, arm);
        struct pw_ev_attention *a = &e->u.attention;
        a->layer = pin->layer < L ? pin->layer : L - 1;
        a->head = pin->head < H ? pin->head : H - 1;
        size_t at = ((size_t)a->layer * H + a->head) * head;
        a->prompt = pin->id;
        a->T = T;
        a->layers = L;
        a->heads = H;
        a->view = pin->view;
        a->labels = pw_lab_labels(lab, pin->tokens, T);
        a->n_prompt = pin->sample.n_prompt;
        a->probs = halves(in.probs, all);
        a->score = halves(in.score + at, head);
        a->content = halves(in.content + at, head);
        a->bias = halves(in.bias + at, head);
        pw_lab_emit(lab, e);
    }
    free(maps);
    return code;
}

enum pw_code pw_lab_look(struct pw_lab *lab, int layer, int head, int view, struct pw_err *err)
{
    struct pw_arm *arm = pw_lab_current(lab);
    if (layer >= arm->cfg.layers)
        return pw_fail(err, PW_EUSER, "inspect: layer=%d: arm %d has layers 0..%d", layer, arm->id,
                       arm->cfg.layers - 1);
    if (head >= arm->cfg.heads)
        return pw_fail(err, PW_EUSER, "inspect: head=%d: arm %d has heads 0..%d", head, arm->id,
                       arm->cfg.heads - 1);
    if (lab->pin.id == 0)
        return pw_fail(err, PW_EUSER,
                       "inspect: nothing to look at yet; type a prompt first, such as 'prompt %s %s'",
                       lab->tasks.use[0].task->name, lab->tasks.use[0].task->example);
    lab->pin.layer = layer >= 0 ? layer : lab->pin.layer;
    lab->pin.head = head >= 0 ? head : lab->pin.head;
    lab->pin.view = view >= 0 ? view : lab->pin.view;
    return pw_lab_tell_attention(lab, arm, err);
}

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
