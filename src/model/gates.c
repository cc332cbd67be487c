/* gates.c - the projection of an encoding with terms (pe.h): one number g = W n + b of each row and head,
 * from the normed input n of a layer, and the terms that the backend makes of it.
 *
 * The projection is a linear layer like q, k and v, with packs of its own, because its weight belongs to the
 * encoding, whose tensors come after all others. */
#include <stdlib.h>

#include "model/model_int.h"

/* Floats of the packs of one layer, with both directions. */
static size_t pack_floats(const struct pw_model *m)
{
    int H = m->cfg.heads, C = m->cfg.width;

    return pw_whole_lines(m->ops->mat_pack_floats(H, C, false)) +
           pw_whole_lines(m->ops->mat_pack_floats(H, C, true));
}

/* Offset of the bias of layer l; its weight is in m->gates. */
static size_t bias_at(const struct pw_model *m, int l)
{
    size_t L = (size_t)m->cfg.layers, H = (size_t)m->cfg.heads, C = (size_t)m->cfg.width;

    return m->lay.pe + L * H * C + (size_t)l * H;
}

enum pw_code pw_gates_init(struct pw_model *m, struct pw_err *err)
{
    size_t L = (size_t)m->cfg.layers, H = (size_t)m->cfg.heads, C = (size_t)m->cfg.width,
           floats = L * pack_floats(m);

    if (!pw_has_terms(m))
        return PW_OK;
    m->gates = calloc(L, sizeof *m->gates);
    if (floats > 0)
        m->gate_pack = m->ops->alloc(m->be, floats * sizeof *m->gate_pack);
    if (m->gates == NULL || (floats > 0 && m->gate_pack == NULL))
        return pw_fail(err, PW_ENOMEM, "out of memory: the gates of the encoding need %zu MiB",
                       pw_gates_bytes(m) >> 20);
    for (size_t l = 0; l < L; l++)
        m->gates[l] =
            (struct pw_mat){.w = m->p + m->lay.pe + l * H * C, .out = m->cfg.heads, .in = m->cfg.width};
    size_t forward = pw_packs_place(m->ops, m->gates, m->cfg.layers, false, m->gate_pack);
    pw_packs_place(m->ops, m->gates, m->cfg.layers, true,
                   m->gate_pack != NULL ? m->gate_pack + forward : NULL);
    return PW_OK;
}

void pw_gates_fini(struct pw_model *m)
{
    m->ops->free(m->be, m->gate_pack);
    free(m->gates);
}

size_t pw_gates_bytes(const struct pw_model *m)
{
    return pw_has_terms(m) ? (size_t)m->cfg.layers * pack_floats(m) * sizeof *m->gate_pack : 0;
}

void pw_gates_prepare(struct pw_model *m)
{
    if (m->gates != NULL)
        m->ops->prepare(m->be, m->gates, m->cfg.layers);
}

void pw_gates_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                      const struct pw_seqs *seqs, const struct pw_cache *cache, int R)
{
    size_t H = (size_t)m->cfg.heads;
    float *terms = a->terms;
    const float *before = NULL;

    if (m->gates == NULL)
        return;
    if (cache != NULL) {
        float *all = cache->terms + (size_t)l * cache->cap * H;
        terms = all + (size_t)cache->T * H;
        before = cache->T > 0 ? terms - H : NULL;
        attn->terms = all;
    } else {
        attn->terms = terms;
    }
    m->ops->linear_fwd(c, a->gate, NULL, a->n1, &m->gates[l], m->p + bias_at(m, l), NULL, PW_ACT_NONE, R);
    m->ops->terms_fwd(c, terms, a->gate, before, m->pe.pe->terms, m->cfg.heads, cache != NULL ? NULL : seqs,
                      R);
}

void pw_gates_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                       int l, const struct pw_seqs *seqs, float *dx, int R)
{
    const struct pw_acts *a = &w->acts[l];

    if (m->gates == NULL)
        return;
    const struct pw_mat *gate = &m->gates[l];
    m->ops->terms_bwd(c, w->d_gate, w->d_terms, a->gate, m->pe.pe->terms, m->cfg.heads, seqs);
    m->ops->linear_dw(c, to->grad + (gate->w - m->p), to->grad + bias_at(m, l), w->d_gate, a->n1, true,
                      gate->out, gate->in, R);
    m->ops->linear_dx(c, w->d_gated, w->d_gate, gate, PW_ACT_NONE, NULL, 1, R);
    m->ops->add(c, dx, w->d_gated, (size_t)R * m->cfg.width);
}
