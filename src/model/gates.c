/* gates.c - the projection of an encoding with terms or a mix (pe.h), from the normed input n of a layer. For
 * terms it is one number g = W n + b of each row and head, of which the backend makes the terms. For a mix it
 * is W n, the weights of each row and head, which attention reads with the bank.
 *
 * The projection is a linear layer like q, k and v, with packs of its own, because its weight belongs to the
 * encoding, whose tensors come after all others. */
#include <stdlib.h>

#include "kernels/score.h"
#include "model/reads.h"

static bool has_mix(const struct pw_model *m)
{
    return (m->pe.pe->uses & PW_PE_MIXES) != 0;
}

int pw_gate_columns(const struct pw_model *m)
{
    return pw_has_terms(m) ? m->cfg.heads : has_mix(m) ? m->cfg.heads * m->pe.pe->mixes(m->pe.o.bytes) : 0;
}

/* Floats of the packs of one layer, with both directions. */
static size_t pack_floats(const struct pw_model *m)
{
    struct pw_mat one = {.out = pw_gate_columns(m), .in = m->cfg.width};

    return pw_packs_place_both(m->ops, &one, 1, NULL);
}

size_t pw_bank_floats(const struct pw_model *m)
{
    const struct pw_pe *pe = m->pe.pe;

    return (size_t)pe->mixes(m->pe.o.bytes) * (size_t)pe->reach(m->pe.o.bytes, &m->cfg);
}

/* Floats a layer of the second parameter: the projection's bias, or the bank if it is not computed. The
 * weight is in m->gates. */
static size_t second_floats(const struct pw_model *m)
{
    return !has_mix(m) ? (size_t)m->cfg.heads : pw_table_learned(m, PW_TABLE_BANK) ? 0 : pw_bank_floats(m);
}

/* Offset of layer l's part of the second parameter, which is the encoding's last. */
static size_t second_at(const struct pw_model *m, int l)
{
    return m->lay.size - (size_t)(m->cfg.layers - l) * second_floats(m);
}

/* Offset of layer l's weight. */
static size_t weight_at(const struct pw_model *m, int l)
{
    return second_at(m, 0) - (size_t)(m->cfg.layers - l) * (size_t)pw_gate_columns(m) * (size_t)m->cfg.width;
}

/* Offset of the bias of layer l; a mix has none. */
static size_t bias_at(const struct pw_model *m, int l)
{
    return has_mix(m) ? PW_ABSENT : second_at(m, l);
}

/* The function of which layer l's terms are sums. */
static const struct pw_score *function_of(const struct pw_model *m, int l)
{
    return m->tables.gate != NULL ? &m->tables.gate[l] : NULL;
}

/* The mix of layer l, with weights [R,H,M]. */
static struct pw_mix mix_of(const struct pw_model *m, int l, const float *weights)
{
    bool computed = pw_table_learned(m, PW_TABLE_BANK);

    return (struct pw_mix){.weights = weights,
                           .bank = computed ? m->tables.bank + (size_t)l * m->tables.bank_layer
                                            : m->p + second_at(m, l),
                           .mixes = m->pe.pe->mixes(m->pe.o.bytes),
                           .reach = m->pe.pe->reach(m->pe.o.bytes, &m->cfg)};
}

enum pw_code pw_gates_init(struct pw_model *m, struct pw_err *err)
{
    size_t L = (size_t)m->cfg.layers, floats = L * pack_floats(m);
    int G = pw_gate_columns(m);

    if (G == 0)
        return PW_OK;
    m->gates = calloc(L, sizeof *m->gates);
    if (floats > 0)
        m->gate_pack = m->ops->alloc(m->be, floats * sizeof *m->gate_pack);
    if (m->gates == NULL || (floats > 0 && m->gate_pack == NULL))
        return pw_fail(err, PW_ENOMEM, "out of memory: the gates of the encoding need %zu MiB",
                       pw_gates_bytes(m) >> 20);
    for (int l = 0; l < m->cfg.layers; l++)
        m->gates[l] = (struct pw_mat){.w = m->p + weight_at(m, l), .out = G, .in = m->cfg.width};
    pw_packs_place_both(m->ops, m->gates, m->cfg.layers, m->gate_pack);
    return PW_OK;
}

void pw_gates_fini(struct pw_model *m)
{
    m->ops->free(m->be, m->gate_pack);
    free(m->gates);
}

size_t pw_gates_bytes(const struct pw_model *m)
{
    return pw_gate_columns(m) > 0 ? (size_t)m->cfg.layers * pack_floats(m) * sizeof *m->gate_pack : 0;
}

void pw_gates_prepare(struct pw_model *m)
{
    if (m->gates != NULL)
        m->ops->prepare(m->be, m->gates, m->cfg.layers);
}

void pw_gates_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                      struct pw_mix *mix, const struct pw_seqs *seqs, const struct pw_cache *cache, int R)
{
    size_t H = (size_t)m->cfg.heads;
    float *terms = a->terms;
    const float *before = NULL;

    if (m->gates == NULL)
        return;
    m->ops->linear_fwd(c, a->gate, NULL, a->n1, &m->gates[l], pw_at(m->p, bias_at(m, l)), NULL, PW_ACT_NONE,
                       R);
    if (has_mix(m)) {
        *mix = mix_of(m, l, a->gate);
        attn->mix = mix;
        return;
    }
    if (cache != NULL) {
        float *all = cache->terms + (size_t)l * cache->cap * H;
        terms = all + (size_t)cache->T * H;
        before = cache->T > 0 ? terms - H : NULL;
        attn->terms = all;
    } else {
        attn->terms = terms;
    }
    m->ops->terms_fwd(c, terms, a->gate, before, function_of(m, l), m->cfg.heads, cache != NULL ? NULL : seqs,
                      R);
}

void pw_gates_attend(struct pw_model *m, struct pw_work *w, const struct pw_slot *to, int l,
                     struct pw_attn *attn, struct pw_mix *mix)
{
    const struct pw_acts *a = &w->acts[l];

    attn->terms = a->terms;
    if (!has_mix(m))
        return;
    *mix = mix_of(m, l, a->gate);
    mix->d_weights = w->d_gate;
    mix->d_bank = to->table[PW_TABLE_BANK] != NULL ? to->table[PW_TABLE_BANK] + (size_t)l * pw_bank_floats(m)
                                                   : pw_grad_at(m, to, (size_t)(mix->bank - m->p));
    attn->mix = mix;
}

void pw_gates_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                       int l, const struct pw_seqs *seqs, float *dx, int R)
{
    const struct pw_acts *a = &w->acts[l];

    if (m->gates == NULL)
        return;
    const struct pw_mat *gate = &m->gates[l];
    if (pw_has_terms(m))
        m->ops->terms_bwd(c, w->d_gate, w->d_terms, a->gate, function_of(m, l), m->cfg.heads, seqs);
    m->ops->linear_dw(c, pw_grad_at(m, to, (size_t)(gate->w - m->p)), pw_grad_at(m, to, bias_at(m, l)),
                      w->d_gate, a->n1, true, gate->out, gate->in, R);
    m->ops->linear_dx(c, w->d_gated, w->d_gate, gate, PW_ACT_NONE, NULL, 1, R);
    m->ops->add(c, dx, w->d_gated, (size_t)R * m->cfg.width);
}
