/* attn.c - the attention of a layer and its heads in the backend's terms (kernels/operands.h): with the
 * tables of the encoding, and the parameters that it reads. */
#include "kernels/score.h"
#include "model/reads.h"

struct pw_attn pw_model_attn(const struct pw_model *m, int layer)
{
    const struct pw_tables *t = &m->tables;

    return (struct pw_attn){
        .heads = m->cfg.heads,
        .head_width = m->cfg.head_width,
        .scale = pw_config_score_scale(&m->cfg) / m->pe.tune.temperature,
        .causal = m->cfg.causal,
        .bias = t->bias != NULL ? t->bias + (size_t)layer * t->bias_layer : NULL,
        .table = t->laid,
        .dense = m->pe.pe->uses & PW_PE_DENSE,
        .keys = t->keys != NULL ? t->keys + (size_t)layer * t->key_rows * m->cfg.head_width : NULL,
        .reach = t->reach,
        .turn = t->turn != NULL ? &t->turn[layer] : NULL,
        .score = t->score != NULL ? &t->score[layer] : NULL,
        .learned = t->learned != NULL ? t->learned + (size_t)layer * t->learned_layer : NULL,
        .n_learned = t->learned != NULL ? m->pe.pe->numbers : 0,
        .scan = pw_scan_of(m, layer, NULL),
    };
}

struct pw_heads pw_model_heads(const struct pw_model *m, int layer)
{
    const struct pw_layer_at *at = &m->lay.layer[layer];

    return (struct pw_heads){.heads = m->cfg.heads,
                             .kv_heads = pw_config_kv_heads(&m->cfg),
                             .head_width = m->cfg.head_width,
                             .q_gain = pw_at(m->p, at->q_norm),
                             .k_gain = pw_at(m->p, at->k_norm),
                             .eps = pw_norm_eps(&m->cfg)};
}

size_t pw_model_save_floats(const struct pw_model *m, const int *start, int n_seqs)
{
    static const struct pw_score some; /* its address alone matters, like that of term */
    static const float term;           /* also a learned number */
    static const struct pw_made made = {.slopes = &term};
    static const struct pw_mix mix;
    static const struct pw_walk walk;
    struct pw_attn a = {.heads = m->cfg.heads,
                        .score = m->pe.pe->uses & PW_PE_SCORE ? &some : NULL,
                        .learned = pw_table_learned(m, PW_TABLE_SCORE) ? &term : NULL,
                        .terms = pw_has_terms(m) ? &term : NULL,
                        .mix = m->pe.pe->uses & PW_PE_MIXES ? &mix : NULL,
                        .made = pw_makes(m) ? &made : NULL,
                        .walk = pw_walks(m) ? &walk : NULL,
                        .scan = {.kind = m->pe.pe->scan}};
    return m->ops->attn_save_floats(&a, start, n_seqs);
}
