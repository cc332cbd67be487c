/* tables.c - the encoding's tables on the backend, and host copies of them for display.
 *
 * Fixed tables are built on the host in double precision for as many positions as a batch needs, in powers of
 * two up to the context. An entry does not depend on the number of positions, so growing changes no bit. With
 * rows by length a table grows with the square of the longest length, so its steps are smaller.
 *
 * A dense bias has an entry for every pair of positions, and its parameters change with every step. So the
 * backend computes it, for as many positions as the batch of a step has; evaluation, decoding and inspection
 * have it for all positions of the context (pw_tables_lay). No step waits for the host. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/score.h"
#include "model/reads.h"

_Static_assert(sizeof((struct pw_added *)0)->table / sizeof(float *) == PW_PE_ADDS, "what an encoding adds");

enum { LEAST_ROOM = 64 }; /* positions */

static int pairs_of(const struct pw_model *m)
{
    return m->pe.pe->uses & PW_PE_ROTATION ? m->pe.pe->pairs(m->pe.o.bytes, &m->cfg) : 0;
}

/* Tables that differ by layer: how many there are. */
static size_t layers_of(const struct pw_model *m, unsigned use)
{
    return m->pe.pe->by_layer & use ? (size_t)m->cfg.layers : 1;
}

/* Cosines of one layer in tables of so many rows: those of queries, then those of keys if they differ. */
static size_t turn_rows(const struct pw_model *m, int rows)
{
    return (size_t)rows * (m->pe.pe->key_turns ? 2 : 1);
}

/* Gains of one layer. */
static size_t gains_of(const struct pw_model *m, int rows)
{
    return (size_t)rows * (size_t)(m->pe.pe->head_gains ? m->cfg.heads : 1);
}

/* Sets the strides of tables that differ by layer. */
static void set_strides(const struct pw_model *m, struct pw_pe_tables *t)
{
    unsigned by = m->pe.pe->by_layer;

    t->turn_layer = by & PW_PE_ROTATION ? turn_rows(m, t->rows) * (size_t)pairs_of(m) : 0;
    t->gain_layer = by & PW_PE_GAIN ? gains_of(m, t->rows) : 0;
    t->bias_layer = by & PW_PE_BIASES ? pw_bias_of_head(m, t->P) * (size_t)m->cfg.heads : 0;
}

/* Builds host tables for P positions: fixed tables filled, the others zero. first: rows_by_length, or NULL.
 */
static enum pw_code build(const struct pw_model *m, int P, const int *first, struct pw_pe_tables *t,
                          struct pw_err *err)
{
    const struct pw_pe *pe = m->pe.pe;
    int turned = first != NULL ? pw_ids_rows(m, P) : P;
    size_t rows = (size_t)P, pairs = (size_t)pairs_of(m);
    size_t biases = layers_of(m, PW_PE_BIASES) * pw_bias_of_head(m, P) * (size_t)m->cfg.heads;
    size_t turns = layers_of(m, PW_PE_ROTATION) * turn_rows(m, turned) * pairs,
           gains = layers_of(m, PW_PE_GAIN) * gains_of(m, turned);
    bool added = true;

    *t = (struct pw_pe_tables){.P = P,
                               .rows = turned,
                               .first = first,
                               .from = (double)m->pe.tune.offset,
                               .step = (double)m->pe.tune.stretch};
    set_strides(m, t);
    for (int k = 0; k < pw_pe_adds(pe); k++) {
        t->add[k] = calloc(rows * pw_pe_add_width(pe, m->cfg.width), sizeof(float));
        added = added && t->add[k] != NULL;
    }
    if (pe->uses & PW_PE_ROTATION) {
        t->cosine = calloc(turns, sizeof(float));
        t->sine = calloc(turns, sizeof(float));
    }
    if (pe->uses & PW_PE_POLAR) {
        t->polar_cosine = calloc(rows * (size_t)m->cfg.head_width, sizeof(float));
        t->polar_sine = calloc(rows * (size_t)m->cfg.head_width, sizeof(float));
    }
    if (pe->uses & PW_PE_BIAS)
        t->bias = calloc(biases, sizeof(float));
    if (pe->uses & PW_PE_DENSE)
        t->dense = calloc(biases, sizeof(float));
    if (pw_pe_gains(&m->pe))
        t->gain = calloc(gains, sizeof(float));
    if (pe->uses & PW_PE_KEYS) {
        t->key_rows = pe->param_rows(m->pe.o.bytes, &m->cfg);
        t->reach = pe->reach(m->pe.o.bytes, &m->cfg);
        t->keys = calloc(m->lay.size - m->lay.core, sizeof(float));
    }
    if (!added || (pe->uses & PW_PE_ROTATION && (t->cosine == NULL || t->sine == NULL)) ||
        (pe->uses & PW_PE_POLAR && (t->polar_cosine == NULL || t->polar_sine == NULL)) ||
        (pe->uses & PW_PE_BIAS && t->bias == NULL) || (pe->uses & PW_PE_KEYS && t->keys == NULL) ||
        (pe->uses & PW_PE_DENSE && t->dense == NULL) || (pw_pe_gains(&m->pe) && t->gain == NULL)) {
        pw_pe_tables_free(t);
        return pw_fail(err, PW_ENOMEM, "out of memory for the tables of %d positions", P);
    }
    for (size_t i = 0; t->gain != NULL && i < gains; i++)
        t->gain[i] = 1;
    if (pe->build != NULL)
        pe->build(m->pe.o.bytes, &m->cfg, t);
    float *bias = t->bias != NULL ? t->bias : t->dense;
    for (size_t i = 0; bias != NULL && m->pe.tune.gain != 1 && i < biases; i++)
        bias[i] *= isinf(bias[i]) ? 1 : m->pe.tune.gain; /* -inf: a mask hides the key */
    for (size_t i = 0; m->pe.tune.logn > 0 && i < gains; i++)
        t->gain[i] *= pw_pe_query_gain(&m->pe.tune, (int)(i % rows));
    return PW_OK;
}

/* Returns a copy on the backend. */
static void *send(struct pw_model *m, const void *src, size_t bytes)
{
    void *dst = m->ops->alloc(m->be, bytes);

    if (dst != NULL && src != NULL)
        m->ops->upload(m->be, dst, src, bytes);
    return dst;
}

/* Returns, on the backend, the row of pe.bias for every entry of the bias table. */
static int *make_index(struct pw_model *m, int P)
{
    int n = 2 * P - 1, *index = malloc((size_t)n * sizeof *index), *dev;

    if (index == NULL)
        return NULL;
    for (int j = 0; j < n; j++) {
        int distance = j - (P - 1);
        index[j] = m->cfg.causal && distance < 0
                       ? -1
                       : m->pe.pe->index(m->pe.o.bytes, &m->cfg, pw_pe_stretched(&m->pe, distance));
    }
    dev = send(m, index, (size_t)n * sizeof *index);
    free(index);
    return dev;
}

size_t pw_learned_at(const struct pw_model *m, int k)
{
    size_t shift = m->pe.pe->by[k] == PW_PE_BY_POSITION ? (size_t)m->pe.tune.offset : 0;
    return pw_pe_add_at(m->pe.pe, &m->cfg, k) + shift * pw_pe_add_width(m->pe.pe, m->cfg.width);
}

/* Returns the most positions of a sequence; an offset leaves fewer rows of a learned table. */
static int most_positions(const struct pw_model *m)
{
    return m->cfg.context - (pw_pe_learns_rows(m->pe.pe) ? (int)m->pe.tune.offset : 0);
}

static enum pw_code too_many(const struct pw_model *m, int P, struct pw_err *err)
{
    if (P <= most_positions(m))
        return PW_OK;
    return pw_fail(err, PW_EUSER, "%d positions: offset=%g leaves %d of the %d learned rows", P,
                   (double)m->pe.tune.offset, most_positions(m), m->cfg.context);
}

/* Makes the transformation of each layer. Returns false if out of memory. */
static bool set_turns(struct pw_model *m, const struct pw_pe_tables *host)
{
    struct pw_tables *t = &m->tables;
    bool turns = t->cosine != NULL;

    if (!turns && t->gain == NULL)
        return true;
    t->turn = calloc((size_t)m->cfg.layers, sizeof *t->turn);
    for (size_t l = 0; t->turn != NULL && l < (size_t)m->cfg.layers; l++)
        t->turn[l] =
            (struct pw_turn){turns ? t->cosine + l * host->turn_layer : NULL,
                             turns ? t->sine + l * host->turn_layer : NULL,
                             m->pe.pe->key_turns ? host->rows : 0,
                             pairs_of(m),
                             turns ? m->pe.pe->pairing(m->pe.o.bytes) : PW_PAIRING_INTERLEAVED,
                             t->gain != NULL ? t->gain + l * host->gain_layer : NULL,
                             m->pe.pe->head_gains ? host->rows : 0,
                             pw_table_learned(m, PW_TABLE_GAIN) || pw_table_learned(m, PW_TABLE_COSINE)};
    return t->turn != NULL;
}

/* Sends the function of each layer, as `write` of the encoding writes it. Returns NULL if out of memory. */
static struct pw_score *send_functions(struct pw_model *m, const struct pw_pe_tables *host,
                                       void (*write)(const void *opts, const struct pw_config *cfg,
                                                     double from, double step, struct pw_score *out))
{
    struct pw_score *there = NULL, *f = calloc((size_t)m->cfg.layers, sizeof *f);

    if (f == NULL)
        return NULL;
    write(m->pe.o.bytes, &m->cfg, host->from, host->step, f);
    there = send(m, f, (size_t)m->cfg.layers * sizeof *f);
    free(f);
    return there;
}

static bool send_all_functions(struct pw_model *m, const struct pw_pe_tables *host)
{
    const struct pw_pe *pe = m->pe.pe;
    bool gates = pe->uses & PW_PE_TERMS && pe->gate != NULL;

    if (pe->uses & PW_PE_SCORE)
        m->tables.score = send_functions(m, host, pe->score);
    if (gates)
        m->tables.gate = send_functions(m, host, pe->gate);
    return (!(pe->uses & PW_PE_SCORE) || m->tables.score != NULL) && (!gates || m->tables.gate != NULL);
}

static bool send_all(struct pw_model *m, const struct pw_pe_tables *host)
{
    const struct pw_pe *pe = m->pe.pe;
    struct pw_tables *t = &m->tables;
    size_t rows = (size_t)host->P, L = (size_t)m->cfg.layers,
           turns = layers_of(m, PW_PE_ROTATION) * turn_rows(m, host->rows) * (size_t)pairs_of(m);
    bool learned = pw_pe_learns_rows(pe), added = true;

    t->P = t->laid = host->P;
    t->added = (struct pw_added){.n = pw_pe_adds(pe), .halves = pe->halves, .scale = m->cfg.embed_scale};
    for (int k = 0; k < t->added.n; k++) {
        size_t floats = rows * pw_pe_add_width(pe, m->cfg.width);
        t->fixed[k] = learned ? NULL : send(m, host->add[k], floats * sizeof(float));
        t->added.table[k] = learned ? m->p + m->lay.pe + pw_learned_at(m, k) : t->fixed[k];
        added = added && t->added.table[k] != NULL;
    }
    if (pe->uses & PW_PE_ROTATION) {
        t->cosine = send(m, host->cosine, turns * sizeof(float));
        t->sine = send(m, host->sine, turns * sizeof(float));
    }
    if (pe->uses & PW_PE_POLAR) {
        t->polar_cosine = send(m, host->polar_cosine, rows * (size_t)m->cfg.head_width * sizeof(float));
        t->polar_sine = send(m, host->polar_sine, rows * (size_t)m->cfg.head_width * sizeof(float));
        added = added && t->polar_cosine != NULL && t->polar_sine != NULL;
    }
    if (pe->uses & PW_PE_PLANES) {
        t->planes = send(m, NULL, L * pw_table_floats(m, PW_TABLE_PLANES, host->P) * sizeof(float));
        added = added && t->planes != NULL;
    }
    if (host->gain != NULL)
        t->gain = send(m, host->gain, layers_of(m, PW_PE_GAIN) * gains_of(m, host->rows) * sizeof(float));
    t->bias_layer = host->bias_layer;
    if (pe->uses & PW_PE_BIASES)
        t->bias =
            send(m, host->bias != NULL || pw_table_learned(m, PW_TABLE_BIAS) ? host->bias : host->dense,
                 layers_of(m, PW_PE_BIASES) * pw_bias_of_head(m, host->P) * m->cfg.heads * sizeof(float));
    if (pe->uses & PW_PE_BIAS && pe->index != NULL)
        t->index = make_index(m, host->P);
    if (pw_table_learned(m, PW_TABLE_BANK)) {
        t->bank_layer = pe->by_layer & PW_PE_MIXES ? pw_bank_floats(m) : 0;
        t->bank = send(m, NULL, layers_of(m, PW_PE_MIXES) * pw_bank_floats(m) * sizeof(float));
        added = added && t->bank != NULL;
    }
    if (pw_table_learned(m, PW_TABLE_SCORE)) {
        size_t floats = pw_table_floats(m, PW_TABLE_SCORE, host->P);
        t->learned_layer = pe->by_layer & PW_PE_SCORE ? floats : 0;
        t->learned = send(m, NULL, layers_of(m, PW_PE_SCORE) * floats * sizeof(float));
        added = added && t->learned != NULL;
    }
    if (pe->uses & PW_PE_KEYS) {
        t->keys = m->p + m->lay.pe;
        t->key_rows = host->key_rows;
        t->reach = host->reach;
    }
    return added && (host->gain == NULL || t->gain != NULL) &&
           (!(pe->uses & PW_PE_ROTATION) || (t->cosine != NULL && t->sine != NULL)) &&
           (!(pe->uses & PW_PE_BIASES) || t->bias != NULL) &&
           (!(pe->uses & PW_PE_BIAS) || pe->index == NULL || t->index != NULL) && set_turns(m, host) &&
           send_all_functions(m, host);
}

size_t pw_bias_of_head(const struct pw_model *m, int positions)
{
    return pw_bias_entries((m->pe.pe->uses & PW_PE_DENSE) != 0, positions);
}

void pw_tables_lay(struct pw_model *m, int positions)
{
    struct pw_tables *t = &m->tables;

    assert(positions <= t->P);
    if (!(m->pe.pe->uses & PW_PE_DENSE) || !pw_table_learned(m, PW_TABLE_BIAS) || t->laid == positions)
        return;
    t->laid = positions;
    m->stale |= PW_STALE_TABLES;
}

int pw_tables_room(const struct pw_model *m, int P)
{
    int n = LEAST_ROOM;

    if (m->first != NULL)
        return (P + n - 1) / n * n;
    while (n < P)
        n *= 2;
    return n;
}

enum pw_code pw_tables_fit(struct pw_model *m, int P, struct pw_err *err)
{
    struct pw_pe_tables host;
    enum pw_code code;
    int n = pw_tables_room(m, P);

    assert(P <= m->cfg.context);
    if (m->tables.P >= P)
        return PW_OK;
    code = too_many(m, P, err);
    if (code)
        return code;
    if (n > most_positions(m))
        n = most_positions(m);
    code = build(m, n, m->first, &host, err);
    if (code)
        return code;
    pw_model_abandon(m); /* the gradient of a bias has the shape of the old table */
    pw_tables_fini(m);
    if (!send_all(m, &host))
        code = pw_fail(err, PW_ENOMEM, "out of memory for the tables of %d positions", n);
    if (code == PW_OK)
        code = pw_tables_send_codes(m, err);
    if (code != PW_OK)
        pw_tables_fini(m);
    pw_pe_tables_free(&host);
    m->stale = PW_STALE_ALL;
    return code;
}

void pw_tables_fini(struct pw_model *m)
{
    for (int k = 0; k < PW_PE_ADDS; k++)
        m->ops->free(m->be, m->tables.fixed[k]);
    m->ops->free(m->be, m->tables.cosine);
    m->ops->free(m->be, m->tables.sine);
    m->ops->free(m->be, m->tables.polar_cosine);
    m->ops->free(m->be, m->tables.polar_sine);
    m->ops->free(m->be, m->tables.planes);
    m->ops->free(m->be, m->tables.bias);
    m->ops->free(m->be, m->tables.gain);
    m->ops->free(m->be, m->tables.bank);
    m->ops->free(m->be, m->tables.learned);
    m->ops->free(m->be, m->tables.index);
    m->ops->free(m->be, m->tables.score);
    m->ops->free(m->be, m->tables.gate);
    pw_tables_free_codes(m);
    free(m->tables.turn);
    m->tables = (struct pw_tables){0};
}

/* Fills the learned entries of the host tables from the parameters. */
static void fill_learned(struct pw_model *m, struct pw_pe_tables *t)
{
    const struct pw_pe *pe = m->pe.pe;
    size_t rows = (size_t)t->P, H = (size_t)m->cfg.heads;

    m->ops->download(m->be, m->host, m->p + m->lay.pe, (m->lay.size - m->lay.core) * sizeof(float));
    m->ops->sync(m->be, NULL); /* the backend keeps the error for a later call */
    for (int k = 0; k < pw_pe_adds(pe) && pw_pe_learns_rows(pe); k++)
        memcpy(t->add[k], m->host + pw_learned_at(m, k),
               rows * pw_pe_add_width(pe, m->cfg.width) * sizeof(float));
    if (t->keys != NULL)
        memcpy(t->keys, m->host, (m->lay.size - m->lay.core) * sizeof *t->keys);
    if (pe->fill != NULL)
        pw_tables_fetch(m, t);
    if (t->bias == NULL || pe->index == NULL)
        return;
    for (int r = m->cfg.causal ? 0 : -(t->P - 1); r < t->P; r++)
        for (size_t h = 0; h < H; h++)
            t->bias[h * (2 * rows - 1) + (rows - 1 + r)] =
                m->host[pe->index(m->pe.o.bytes, &m->cfg, pw_pe_stretched(&m->pe, r)) * H + h];
}

enum pw_code pw_model_tables(struct pw_model *m, int P, struct pw_pe_tables *out, struct pw_err *err)
{
    enum pw_code code;

    if (P < 1 || P > m->cfg.context)
        return pw_fail(err, PW_EUSER, "a table of %d positions: the model has context=%d", P, m->cfg.context);
    code = too_many(m, P, err);
    if (code == PW_OK && m->pe.pe->fill != NULL)
        code = pw_tables_fit(m, P, err);
    if (code == PW_OK)
        code = build(m, P, NULL, out, err);
    if (code != PW_OK)
        return code;
    if (m->lay.pe != PW_ABSENT)
        fill_learned(m, out);
    if (!(m->pe.pe->uses & PW_PE_ADDED))
        return PW_OK;
    out->added = malloc((size_t)P * m->cfg.width * sizeof *out->added);
    if (out->added == NULL) {
        pw_pe_tables_free(out);
        return pw_fail(err, PW_ENOMEM, "out of memory for the tables of %d positions", P);
    }
    pw_pe_compose(m->pe.pe, out->added, (const float *const *)out->add, P, m->cfg.width);
    return PW_OK;
}

void pw_pe_tables_free(struct pw_pe_tables *t)
{
    for (int k = 0; k < PW_PE_ADDS; k++)
        free(t->add[k]);
    free(t->added);
    free(t->cosine);
    free(t->sine);
    free(t->polar_cosine);
    free(t->polar_sine);
    free(t->bias);
    free(t->dense);
    free(t->gain);
    free(t->keys);
    *t = (struct pw_pe_tables){0};
}
