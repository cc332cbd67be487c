/* planes.c - q and k turned in learned planes (pe.h, kernels/backend.h). The unit vectors are a table that
 * the backend computes once after each change of the parameters (learned.c). Their gradients are sums of a
 * slot, from which those of the learned vectors follow at its end. The content part of a score is the plain
 * product of q and k. */
#include "model/reads.h"

/* Offset of the log_factor of layer l. */
static size_t log_factor_at(const struct pw_model *m, int l, int planes)
{
    return m->lay.pe + (size_t)l * (size_t)(m->cfg.heads * planes);
}

static struct pw_planes planes_of(const struct pw_model *m, int l)
{
    struct pw_planes p = {.heads = m->cfg.heads,
                          .head_width = m->cfg.head_width,
                          .from = (double)m->pe.tune.offset,
                          .step = (double)m->pe.tune.stretch};

    p.planes = m->pe.pe->planes(m->pe.o.bytes, &m->cfg, &p.fall);
    p.unit = m->tables.planes + (size_t)l * pw_table_floats(m, PW_TABLE_PLANES, m->tables.P);
    p.log_factor = m->p + log_factor_at(m, l, p.planes);
    return p;
}

void pw_planes_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                       struct pw_made *made, const int *pos, int R)
{
    if (!pw_has_planes(m))
        return;
    struct pw_planes p = planes_of(m, l);
    m->ops->planes_fwd(c, a->wide, a->qkv, &p, pos, R);
    *made = (struct pw_made){.wide = a->wide, .width = m->cfg.head_width};
    attn->made = made;
}

void pw_planes_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                        float *d_unit, int l, const int *pos, int R)
{
    if (!pw_has_planes(m))
        return;
    struct pw_planes p = planes_of(m, l);
    m->ops->planes_bwd(c, w->d_qkv, d_unit, pw_grad_at(m, to, log_factor_at(m, l, p.planes)), w->d_wide,
                       w->acts[l].qkv, &p, pos, R);
}
