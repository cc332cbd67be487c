/* heads.c - which heads of a replica are ablated; ablate.c changes it. */
#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"

static int count_off(const struct pw_replica *arm)
{
    int n = 0;
    for (int i = 0; i < arm->cfg.layers * arm->cfg.heads; i++)
        n += pw_model_replaced(arm->model, i / arm->cfg.heads, i % arm->cfg.heads) != PW_ABLATE_NONE;
    return n;
}

void pw_lab_emit_heads(struct pw_lab *lab, const struct pw_replica *arm)
{
    struct pw_event *event = pw_lab_event(PW_EV_HEADS, arm);
    struct pw_ev_heads *e = &event->u.heads;
    int H = arm->cfg.heads, n = arm->cfg.layers * H;
    e->layers = arm->cfg.layers;
    e->heads = H;
    e->mode = pw_alloc((size_t)n, sizeof *e->mode);
    for (int i = 0; i < n; i++)
        e->mode[i] = pw_model_replaced(arm->model, i / H, i % H);
    pw_lab_emit(lab, event);
}

bool pw_lab_heads_off(const struct pw_replica *arm)
{
    return arm->model != NULL && count_off(arm) > 0;
}

enum pw_code pw_lab_check_heads(const struct pw_replica *arm, const char *what, struct pw_err *err)
{
    for (int i = 0; i < arm->cfg.layers * arm->cfg.heads; i++) {
        int mode = pw_model_replaced(arm->model, i / arm->cfg.heads, i % arm->cfg.heads);
        if (mode > PW_ABLATE_RESAMPLE)
            return pw_fail(err, PW_EUSER, "%s: head %d.%d is replaced in an unknown mode (%d)", what,
                           i / arm->cfg.heads, i % arm->cfg.heads, mode);
    }
    return PW_OK;
}
