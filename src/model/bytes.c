/* bytes.c - predicts the memory of a model from its configuration alone.
 *
 * It calls the functions that cut batches and carve the workers' memory, so that it cannot deviate
 * from them; a test compares it with the allocated memory. Counts have 64 bits; the largest
 * configuration is below 2^45 bytes. */
#include <stdint.h>

#include "model/reads.h"

/* Sets *m to a model with shapes but without memory. */
static void outline(struct pw_model *m, const struct pw_backend_ops *ops, const struct pw_config *cfg,
                    const struct pw_pe_use_opts *pe, int workers, int T)
{
    *m = (struct pw_model){.ops = ops, .cfg = *cfg, .pe = *pe, .workers = workers};
    pw_ids_form(m);
    m->tables.P = pw_tables_room(m, T);
    if (m->tables.P > cfg->context)
        m->tables.P = cfg->context;
    m->step_plan.sizes.positions = T;
}

static size_t pack_floats(const struct pw_model *m, bool backward)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, E = pw_config_embed_width(cfg);
    size_t sum = 0, ends = m->ops->mat_pack_floats(cfg->vocab, E, backward);

    for (int k = 0; k < PW_MATS; k++) {
        struct pw_shape s = pw_mat_shape(cfg, k);
        sum += m->ops->mat_pack_floats(s.out, s.in, backward);
    }
    if (cfg->embed_width > 0)
        ends += m->ops->mat_pack_floats(C, E, backward) + m->ops->mat_pack_floats(E, C, backward);
    return (size_t)cfg->layers * sum + ends;
}

static size_t table_floats(const struct pw_model *m)
{
    const struct pw_pe *pe = m->pe.pe;
    size_t P = (size_t)m->tables.P, rows = (size_t)pw_ids_rows(m, m->tables.P), L = (size_t)m->cfg.layers,
           sum = 0;
    size_t turns = pe->by_layer & PW_PE_ROTATION ? L : 1, gains = pe->by_layer & PW_PE_GAIN ? L : 1;
    size_t biases = pe->by_layer & PW_PE_BIASES ? L : 1;

    sum += P * pw_pe_adds(pe) * pw_pe_add_width(pe, m->cfg.width);
    if (pe->uses & PW_PE_ROTATION)
        sum += turns * (pe->key_turns ? 4 : 2) * rows * pe->pairs(m->pe.o.bytes, &m->cfg);
    if (pe->uses & PW_PE_POLAR)
        sum += 2 * P * (size_t)m->cfg.head_width;
    if (pe->uses & PW_PE_PLANES)
        sum += L * pw_table_floats(m, PW_TABLE_PLANES, m->tables.P);
    if (pe->uses & PW_PE_BIAS)
        sum += biases * 2 * P * (m->cfg.heads + 1);
    if (pe->uses & PW_PE_DENSE)
        sum += biases * P * P * m->cfg.heads;
    if (pw_table_learned(m, PW_TABLE_BANK))
        sum += (pe->by_layer & PW_PE_MIXES ? L : 1) * pw_bank_floats(m);
    if (pw_table_learned(m, PW_TABLE_SCORE))
        sum += (pe->by_layer & PW_PE_SCORE ? L : 1) * pw_table_floats(m, PW_TABLE_SCORE, m->tables.P);
    if (pw_pe_gains(&m->pe))
        sum += gains * rows * (size_t)(pe->head_gains ? m->cfg.heads : 1);
    return sum;
}

/* Bytes of one worker, with the quarter that pw_work_grow adds. */
static size_t worker_bytes(const struct pw_model *m, int batch, int T, bool train)
{
    int rows = pw_plan_rows(m, T, batch, train), seqs = rows / T;
    size_t save = pw_model_save_floats(m, (const int[]){0, T}, 1) * seqs;

    return pw_work_bytes(m, train, rows + rows / 4, rows + rows / 4, save + save / 4);
}

/* Bytes that the backend allocates for itself in a step of full batches, padded as in plan.c. */
static size_t beside(const struct pw_model *m, int batch, int T)
{
    const struct pw_config *cfg = &m->cfg;
    const struct pw_pe *pe = m->pe.pe;
    static const float something; /* stands for a table; never read */
    static const struct pw_turn turn;
    struct pw_made made = {.slopes = pe->uses & PW_PE_SLOPES ? &something : NULL,
                           .wide = pe->uses & PW_PE_WIDE ? &something : NULL,
                           .width = pw_wide_width(m)};
    struct pw_mix mix = {.weights = &something};
    const struct pw_walk walk = {.vectors = &something};
    int rows = pw_plan_rows(m, T, batch, true), QKV = 3 * cfg->heads * cfg->head_width, F = pw_up_rows(cfg);
    struct pw_attn attn = {.heads = cfg->heads,
                           .head_width = cfg->head_width,
                           .causal = cfg->causal,
                           .bias = pe->uses & PW_PE_BIASES ? &something : NULL,
                           .table =
                               pe->uses & PW_PE_DENSE && pw_table_learned(m, PW_TABLE_BIAS) ? T : m->tables.P,
                           .dense = pe->uses & PW_PE_DENSE,
                           .keys = pe->uses & PW_PE_KEYS ? &something : NULL,
                           .reach = pe->uses & PW_PE_KEYS ? pe->reach(m->pe.o.bytes, cfg) : 0,
                           .terms = pe->uses & PW_PE_TERMS ? &something : NULL,
                           .made = pe->uses & (PW_PE_SLOPES | PW_PE_WIDE) ? &made : NULL,
                           .mix = pe->uses & PW_PE_MIXES ? &mix : NULL,
                           .learned = pw_table_learned(m, PW_TABLE_SCORE) ? &something : NULL,
                           .turn = pe->uses & PW_PE_ROTATION || pw_pe_gains(&m->pe) ? &turn : NULL,
                           .walk = pe->uses & PW_PE_WALK ? &walk : NULL,
                           .scan = {.kind = pe->scan}};
    if (pe->scan == PW_SCAN_CONTEXT)
        attn.scan.n = pe->scan_rows(m->pe.o.bytes);
    if (attn.learned != NULL)
        attn.n_learned = pe->numbers;
    if (attn.mix != NULL) {
        mix.mixes = pe->mixes(m->pe.o.bytes);
        mix.reach = pe->reach(m->pe.o.bytes, cfg);
    }
    struct pw_seqs seqs = {.n = rows / T + rows / 4 / T + 1, .rows = rows + rows / 4, .longest = T + T / 4};

    return m->ops->beside != NULL ? m->ops->beside(&attn, &seqs, QKV > F ? QKV : F) : 0;
}

/* Steps of some kinds (pw_trains_kind), and the tensors of a model. */
struct steps {
    const struct pw_param *params;
    unsigned kinds;
};

static bool steps_change(const void *arg, int i)
{
    const struct steps *s = arg;
    bool any = false;

    for (int trains = PW_TRAINS_ALL; trains <= PW_TRAINS_ADAPTER; trains++)
        any = any || ((s->kinds & pw_trains_kind(trains)) != 0 &&
                      pw_param_trains(&s->params[i], (enum pw_trains)trains));
    return any;
}

/* Parameters of a packed model that are in no pack. */
static size_t vector_floats(const struct pw_param_layout *lay)
{
    size_t floats = 0;

    for (int i = 0; i < lay->n; i++)
        if (lay->params[i].rows == 0 || lay->params[i].pe)
            floats += pw_param_count(&lay->params[i]);
    return floats;
}

/* Elements of the forward packs of a packed model; *ends: of those of head and embedding. */
static size_t once_floats(const struct pw_model *m, size_t *ends)
{
    size_t head = m->ops->mat_pack_floats(m->cfg.vocab, pw_config_embed_width(&m->cfg), false);

    *ends = m->cfg.tied ? head : 2 * head;
    return pack_floats(m, false) - head + *ends;
}

size_t pw_model_bytes(const struct pw_backend_ops *ops, const struct pw_config *cfg,
                      const struct pw_pe_use_opts *pe, unsigned kinds, int weight_bytes, int batch,
                      int workers, int T)
{
    struct pw_model m;
    size_t floats, acts, ends, more = 0;
    bool once = weight_bytes > 0 && pw_model_one_copy(ops) && cfg->adapter == 0 &&
                (kinds & pw_trains_kind(PW_TRAINS_ALL)) == 0;

    T = T < 1 ? 1 : T > cfg->context ? cfg->context : T;
    outline(&m, ops, cfg, pe, workers, T);
    if (pw_layout_init(&m.lay, cfg, pe, NULL)) {
        pw_ids_fini(&m);
        return SIZE_MAX;
    }
    pw_places_set(&m.lay, steps_change, &(struct steps){m.lay.params, kinds});
    floats = once ? vector_floats(&m.lay) : 2 * m.lay.size; /* p, host */
    if (batch > 0)
        floats += (pw_model_one_slot(&m) ? 2 : 3) * m.lay.trained; /* m, v; and g, unless g is the slot */
    floats += 3 * (m.lay.size - m.lay.core) + 2 * (size_t)cfg->context; /* seen.c, flight.c */
    if (pe->pe->ids != NULL)
        floats += 4 * (size_t)cfg->context; /* seen.c */
    size_t packs = once ? once_floats(&m, &ends) : pack_floats(&m, false);
    packs += batch > 0 ? pack_floats(&m, true) : 0;
    more += packs * (once ? (size_t)weight_bytes : sizeof(float));
    if (batch > 0) {
        floats += (size_t)pw_model_slots(&m, batch) * pw_slot_floats(&m) + table_floats(&m);
        acts = (size_t)workers * (worker_bytes(&m, batch, T, true) + worker_bytes(&m, batch, T, false));
        more += pw_stage_bytes(pe->pe, batch, batch * T, 1 + pw_model_group(&m));
        more += 2 * (size_t)batch * sizeof(struct pw_chunk) + beside(&m, batch, T) + acts;
    }
    more += pw_adapters_bytes(&m) + pw_gates_bytes(&m) + pw_walks_bytes(&m);
    pw_layout_fini(&m.lay);
    pw_ids_fini(&m);
    return floats * sizeof(float) + more;
}

/* While a matrix is packed, it is there in float, too: packed.c. */
size_t pw_model_one_copy_need(const struct pw_backend_ops *ops, const struct pw_config *cfg,
                              const struct pw_pe_use_opts *pe, int weight_bytes)
{
    size_t C = (size_t)cfg->width, F = (size_t)cfg->ffn, V = (size_t)cfg->vocab;
    size_t E = (size_t)pw_config_embed_width(cfg), widest = F > E ? F : E, ends;
    size_t qkv = (size_t)pw_qkv_rows(cfg), up = (size_t)pw_up_rows(cfg), most = up > qkv ? up : qkv;
    struct pw_model m;

    if (!pw_model_one_copy(ops) || cfg->adapter > 0) /* packs of W + B A are a second copy */
        return pw_model_bytes(ops, cfg, pe, 0, 0, 0, 1, 1);
    outline(&m, ops, cfg, pe, 1, 1);
    if (pw_layout_init(&m.lay, cfg, pe, NULL)) {
        pw_ids_fini(&m);
        return SIZE_MAX;
    }
    size_t packs = once_floats(&m, &ends) * (size_t)weight_bytes;
    size_t floats = 3 * (m.lay.size - m.lay.core) + 2 * (size_t)cfg->context; /* seen.c, flight.c */
    floats += vector_floats(&m.lay);
    floats += (pw_gates_bytes(&m) + pw_walks_bytes(&m)) / sizeof(float);
    pw_layout_fini(&m.lay);
    pw_ids_fini(&m);
    size_t first = ends * (size_t)weight_bytes + V * E * sizeof(float); /* embedding and head */
    size_t last = packs + (most > widest ? most : widest) * C * sizeof(float);
    return floats * sizeof(float) + (first > last ? first : last);
}
