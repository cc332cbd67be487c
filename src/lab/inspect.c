/* inspect.c - looking into the pinned prompt head by head. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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
