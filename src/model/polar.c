/* polar.c - the wide q and k of an encoding in polar form (pe.h, kernels/backend.h). The content part of a
 * score is the product of their lengths: the score at equal positions without phases. */
#include "model/reads.h"

/* Offset of the phases of layer l. */
static size_t phase_at(const struct pw_model *m, int l)
{
    return m->lay.pe + (size_t)l * (size_t)m->cfg.heads * (size_t)m->cfg.head_width;
}

static struct pw_polar polar_of(const struct pw_model *m, int l)
{
    return (struct pw_polar){.heads = m->cfg.heads,
                             .head_width = m->cfg.head_width,
                             .cosine = m->tables.polar_cosine,
                             .sine = m->tables.polar_sine,
                             .phase = m->p + phase_at(m, l)};
}

void pw_polar_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                      struct pw_made *made, const int *pos, int R)
{
    if (!pw_is_polar(m))
        return;
    struct pw_polar p = polar_of(m, l);
    m->ops->polar_fwd(c, a->wide, a->qkv, &p, pos, R);
    *made = (struct pw_made){.wide = a->wide, .width = 2 * m->cfg.head_width};
    attn->made = made;
}

const struct pw_made *pw_polar_content(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a,
                                       struct pw_made *made, int R)
{
    if (!pw_is_polar(m))
        return NULL;
    struct pw_polar p = {.heads = m->cfg.heads, .head_width = m->cfg.head_width};
    m->ops->polar_fwd(c, a->flat, a->qkv, &p, NULL, R);
    *made = (struct pw_made){.wide = a->flat, .width = m->cfg.head_width};
    return made;
}

void pw_polar_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                       int l, const int *pos, int R)
{
    if (!pw_is_polar(m))
        return;
    struct pw_polar p = polar_of(m, l);
    m->ops->polar_bwd(c, w->d_qkv, pw_grad_at(m, to, phase_at(m, l)), w->d_wide, w->acts[l].qkv, &p, pos, R);
}
