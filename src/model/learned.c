/* learned.c - tables of the encoding that the backend derives from learned parameters: gathered (t5) or
 * computed (fire, formulas); their gradients, and copies for display. */
#include <stdlib.h>

#include "kernels/expr_code.h"
#include "model/reads.h"

bool pw_table_learned(const struct pw_model *m, enum pw_pe_table which)
{
    const struct pw_pe *pe = m->pe.pe;

    if (m->lay.pe == PW_ABSENT)
        return false;
    return pw_pe_computes(pe, which) ||
           (which == PW_TABLE_BIAS && pe->param != NULL && (pe->uses & PW_PE_BIASES) != 0);
}

size_t pw_table_floats(const struct pw_model *m, enum pw_pe_table which, int positions)
{
    size_t P = (size_t)positions;

    switch (which) {
    case PW_TABLE_BIAS: return (size_t)m->cfg.heads * pw_bias_of_head(m, positions);
    case PW_TABLE_GAIN: return (size_t)m->cfg.heads * P;
    case PW_TABLE_ADDED: return (size_t)m->cfg.width * P;
    case PW_TABLE_BANK: return pw_bank_floats(m);
    case PW_TABLE_PLANES: {
        double fall;
        size_t N = (size_t)m->pe.pe->planes(m->pe.o.bytes, &m->cfg, &fall);
        return (size_t)m->cfg.heads * 2 * N * (size_t)m->cfg.head_width;
    }
    case PW_TABLE_SCORE: return (size_t)m->cfg.heads * (size_t)m->pe.pe->numbers;
    default: return (size_t)m->pe.pe->pairs(m->pe.o.bytes, &m->cfg) * P;
    }
}

/* Returns the number of parts of a table. */
static int layers_of(const struct pw_model *m, enum pw_pe_table which)
{
    return m->pe.pe->by_layer & pw_pe_use_of(which) ? m->cfg.layers : 1;
}

int pw_table_gradients(const struct pw_model *m, enum pw_pe_table which)
{
    return which == PW_TABLE_ADDED ? 1 : m->cfg.layers;
}

static float *table_of(const struct pw_model *m, enum pw_pe_table which)
{
    const struct pw_tables *t = &m->tables;

    switch (which) {
    case PW_TABLE_BIAS: return t->bias;
    case PW_TABLE_GAIN: return t->gain;
    case PW_TABLE_COSINE: return t->cosine;
    case PW_TABLE_SINE: return t->sine;
    case PW_TABLE_BANK: return t->bank;
    case PW_TABLE_PLANES: return t->planes;
    case PW_TABLE_SCORE: return t->learned;
    default: return t->fixed[0];
    }
}

/* A bank has the distances of its own reach, and the numbers of a score have places. */
static struct pw_pe_pass pass_of(const struct pw_model *m, struct pw_ctx *c, enum pw_pe_table which,
                                 int positions)
{
    const struct pw_pe *pe = m->pe.pe;
    int P = which == PW_TABLE_BANK    ? pe->reach(m->pe.o.bytes, &m->cfg)
            : which == PW_TABLE_SCORE ? pe->numbers
                                      : positions;

    return (struct pw_pe_pass){.use = &m->pe,
                               .cfg = &m->cfg,
                               .ops = m->ops,
                               .c = c,
                               .P = P,
                               .which = which,
                               .layers = layers_of(m, which),
                               .floats = pw_table_floats(m, which, positions),
                               .code = m->tables.code[which],
                               .there = m->tables.there[which]};
}

static void compute(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct pw_model *m = arg;

    (void)chunk;
    (void)worker;
    for (int k = 0; k < PW_PE_TABLES; k++) {
        enum pw_pe_table which = (enum pw_pe_table)k;
        struct pw_pe_pass pass;
        if (!pw_table_learned(m, which))
            continue;
        if (m->pe.pe->fill == NULL) {
            m->ops->gather_bias_fwd(c, m->tables.bias, m->p + m->lay.pe, m->tables.index, m->cfg.heads,
                                    2 * m->tables.P - 1);
            continue;
        }
        pass = pass_of(m, c, which, which == PW_TABLE_BIAS ? m->tables.laid : m->tables.P);
        if (which == PW_TABLE_BIAS) /* its layers lie as far apart as for all positions */
            pass.floats = m->tables.bias_layer;
        m->pe.pe->fill(&pass, table_of(m, which), m->p + m->lay.pe);
    }
}

void pw_tables_compute(struct pw_model *m)
{
    for (int k = 0; k < PW_PE_TABLES; k++)
        if (pw_table_learned(m, (enum pw_pe_table)k)) {
            m->ops->for_chunks(m->be, 1, compute, m);
            return;
        }
}

void pw_tables_differentiate(struct pw_model *m, struct pw_ctx *c, float *grad,
                             float *const table[PW_PE_TABLES], int positions)
{
    for (int k = 0; k < PW_PE_TABLES; k++) {
        enum pw_pe_table which = (enum pw_pe_table)k;
        struct pw_pe_pass pass;
        if (table[k] == NULL)
            continue;
        if (m->pe.pe->fill_bwd == NULL) {
            m->ops->gather_bias_bwd(c, grad, table[k], m->tables.index, m->cfg.layers, m->cfg.heads,
                                    2 * m->tables.P - 1);
            continue;
        }
        pass = pass_of(m, c, which, which == PW_TABLE_BIAS ? positions : m->tables.P);
        m->pe.pe->fill_bwd(&pass, grad, table[k], m->p + m->lay.pe);
    }
}

static enum pw_code send_code(struct pw_model *m, enum pw_pe_table which, struct pw_err *err)
{
    struct pw_expr_code **code = &m->tables.code[which], **there = &m->tables.there[which];
    enum pw_code failed = m->pe.pe->code(m->pe.o.bytes, &m->cfg, which, code, err);

    if (failed != PW_OK)
        return failed;
    if (m->ops->expr_fwd == NULL)
        return pw_fail(err, PW_EUSER, "expr: no learned parameters on '%s' yet", m->ops->name);
    *there = m->ops->alloc(m->be, (*code)->bytes);
    if (*there == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for the encoding's program");
    m->ops->upload(m->be, *there, *code, (*code)->bytes);
    return PW_OK;
}

enum pw_code pw_tables_send_codes(struct pw_model *m, struct pw_err *err)
{
    enum pw_code code = PW_OK;

    for (int k = 0; k < PW_PE_TABLES && code == PW_OK; k++)
        if (m->pe.pe->code != NULL && pw_table_learned(m, (enum pw_pe_table)k))
            code = send_code(m, (enum pw_pe_table)k, err);
    return code;
}

void pw_tables_free_codes(struct pw_model *m)
{
    for (int k = 0; k < PW_PE_TABLES; k++) {
        m->ops->free(m->be, m->tables.there[k]);
        free(m->tables.code[k]);
    }
}

/* Rows of n floats, `from_row` apart on the backend. */
static void fetch_rows(struct pw_model *m, float *to, const float *from, size_t rows, size_t n,
                       size_t from_row)
{
    for (size_t r = 0; r < rows; r++)
        m->ops->download(m->be, to + r * n, from + r * from_row, n * sizeof *from);
}

/* The table on the backend has at least t->P positions; a dense bias has exactly so many. */
static void fetch(struct pw_model *m, enum pw_pe_table which, struct pw_pe_tables *t)
{
    size_t P = (size_t)t->P, have = (size_t)m->tables.P, H = (size_t)m->cfg.heads;
    size_t layer = pw_table_floats(m, which, t->P);
    size_t from_layer =
        which == PW_TABLE_BIAS ? m->tables.bias_layer : pw_table_floats(m, which, m->tables.P);
    const float *from = table_of(m, which);

    for (int l = 0; l < layers_of(m, which); l++, from += from_layer) {
        size_t at = (size_t)l * layer;
        switch (which) {
        case PW_TABLE_BIAS:
            if (t->dense != NULL)
                fetch_rows(m, t->dense + at, from, 1, layer, layer);
            else
                fetch_rows(m, t->bias + at, from + have - P, H, 2 * P - 1, 2 * have - 1);
            break;
        case PW_TABLE_GAIN: fetch_rows(m, t->gain + at, from, H, P, have); break;
        case PW_TABLE_COSINE: fetch_rows(m, t->cosine + at, from, 1, layer, layer); break;
        case PW_TABLE_SINE: fetch_rows(m, t->sine + at, from, 1, layer, layer); break;
        case PW_TABLE_PLANES: break; /* the host has no copy */
        default: fetch_rows(m, t->add[0] + at, from, 1, layer, layer);
        }
    }
}

void pw_tables_fetch(struct pw_model *m, struct pw_pe_tables *t)
{
    pw_model_refresh(m, t->P);
    for (int k = 0; k < PW_PE_TABLES; k++)
        if (pw_table_learned(m, (enum pw_pe_table)k) && k != PW_TABLE_BANK && k != PW_TABLE_SCORE)
            fetch(m, (enum pw_pe_table)k, t);
    m->ops->sync(m->be, NULL);
}
