/* checkpoint.c - reads a model from safetensors (checkpoint_save.c writes them).
 *
 * Everything is read and checked in separate memory and then put into the model, so a
 * faulty file changes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "model/checkpoint_int.h"
#include "model/expr/numbers.h"
#include "model/metadata.h"
#include "model/safetensors.h"

struct pw_checkpoint {
    struct pw_st st;
    struct pw_checkpoint_info info;
    struct pw_metadata_counts counts;
    char path[256];
};

/* ---- opening */

static enum pw_code create(struct pw_checkpoint **out, const char *what, struct pw_err *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    pw_text_copy((*out)->path, sizeof(*out)->path, what);
    return PW_OK;
}

static bool is_numbers(const struct pw_st_tensor *t)
{
    return pw_numbers_names(t->name, (int)strlen(t->name));
}

/* Keeps the arrays of a formula, which the metadata names. */
static enum pw_code keep_numbers(const struct pw_checkpoint *c, struct pw_err *err)
{
    enum pw_code code = PW_OK;

    for (int i = 0; i < c->st.n && code == PW_OK; i++) {
        const struct pw_st_tensor *t = &c->st.tensors[i];
        const struct pw_numbers *x;
        int dims[PW_NUMBERS_DIMS] = {0};
        if (!is_numbers(t))
            continue;
        if (t->type != PW_ST_F32 || t->n_dims < 1 || t->n_dims > PW_NUMBERS_DIMS)
            return pw_fail(err, PW_EUSER, "%s: tensor '%s' must be F32 of 1..%d dimensions", c->path, t->name,
                           PW_NUMBERS_DIMS);
        for (int d = 0; d < t->n_dims; d++)
            dims[d] = t->dims[d] <= PW_NUMBERS_MOST ? (int)t->dims[d] : 0;
        float *v = malloc(t->bytes + 1); /* t->data can be unaligned */
        if (v == NULL)
            return pw_fail(err, PW_ENOMEM, "out of memory for '%s'", t->name);
        memcpy(v, t->data, t->bytes);
        code = pw_numbers_keep(&x, v, dims, t->n_dims, err);
        free(v);
        if (code != PW_OK)
            pw_err_at(err, t->name);
        else if (strcmp(x->name, t->name) != 0)
            code = pw_fail(err, PW_EUSER, "%s: tensor '%s' has other numbers than its name says", c->path,
                           t->name);
    }
    return code;
}

/* Completes opening: code is the result of opening *out's file; reads the metadata. */
static enum pw_code finish(struct pw_checkpoint **out, enum pw_code code, struct pw_err *err)
{
    struct pw_checkpoint *c = *out;

    if (code == PW_OK)
        code = keep_numbers(c, err);
    if (code == PW_OK)
        code = pw_metadata_read(&c->st, &c->info, &c->counts, c->path, err);
    if (code) {
        pw_checkpoint_close(c);
        *out = NULL;
    }
    return code;
}

enum pw_code pw_checkpoint_open(struct pw_checkpoint **c, const char *path, struct pw_err *err)
{
    enum pw_code code = create(c, path, err);

    return code ? code : finish(c, pw_st_open(&(*c)->st, path, err), err);
}

enum pw_code pw_checkpoint_open_bytes(struct pw_checkpoint **c, const void *bytes, size_t n, const char *what,
                                      struct pw_err *err)
{
    enum pw_code code = create(c, what, err);

    return code ? code : finish(c, pw_st_open_bytes(&(*c)->st, bytes, n, what, err), err);
}

enum pw_code pw_checkpoint_open_header(struct pw_checkpoint **c, const char *path, struct pw_err *err)
{
    enum pw_code code = create(c, path, err);

    if (code != PW_OK)
        return code;
    code = pw_st_open_header(&(*c)->st, path, err);
    for (int i = 0; code == PW_OK && i < (*c)->st.n; i++)
        if (is_numbers(&(*c)->st.tensors[i])) { /* the encoding can't be read without them */
            pw_st_close(&(*c)->st);
            code = pw_st_open(&(*c)->st, path, err);
            break;
        }
    return finish(c, code, err);
}

const struct pw_checkpoint_info *pw_checkpoint_info(const struct pw_checkpoint *c)
{
    return &c->info;
}

void pw_checkpoint_close(struct pw_checkpoint *c)
{
    if (c == NULL)
        return;
    pw_metadata_fini(&c->info);
    pw_st_close(&c->st);
    free(c);
}

/* ---- loading */

/* The contents of a file for a model, until all are read and checked. */
struct loading {
    const struct pw_checkpoint *c;
    struct pw_model *m;
    bool *taken;   /* [c->st.n] */
    bool *moments; /* [n] does the tensor have moments? */
    /* [n] of pw_checkpoint_places: a file that refers to other files lacks tensors of those */
    size_t *place;
    size_t floats; /* of a set */
    /* [floats]; moments are zero if the file has none: the optimiser starts fresh. NULL: the model has no
     * moments */
    float *values[PW_SETS];
    int64_t *counts; /* [n] by name order */
    int64_t met[2], *seqs, *ids;
    double *grad;
    struct pw_replaced *replaced;
};

/* "[64,16]" */
static struct pw_tensor_name shape_text(int n_dims, const int64_t *dims)
{
    struct pw_str s = {0};
    struct pw_tensor_name n;

    for (int d = 0; d < n_dims; d++)
        pw_str_add(&s, "%s%lld", d > 0 ? "," : "", (long long)dims[d]);
    snprintf(n.text, sizeof n.text, "[%s]", pw_str_text(&s));
    pw_str_fini(&s);
    return n;
}

/* Copies the tensor `name` to `to`; its type and shape must match. */
static enum pw_code take(struct loading *x, void *to, const char *name, enum pw_st_type type, int n_dims,
                         const int64_t *dims, struct pw_err *err)
{
    const struct pw_st_tensor *t = pw_st_find(&x->c->st, name);
    const char *path = x->c->path;

    if (t == NULL)
        return pw_fail(err, PW_EUSER, "%s: tensor '%s' is missing", path, name);
    if (t->type != type)
        return pw_fail(err, PW_EUSER, "%s: tensor '%s' must be %s", path, name, pw_st_type_names[type]);
    if (t->n_dims != n_dims || memcmp(t->dims, dims, (size_t)n_dims * sizeof *dims) != 0)
        return pw_fail(err, PW_EUSER, "%s: tensor '%s' has the shape %s; this model needs %s", path, name,
                       shape_text(t->n_dims, t->dims).text, shape_text(n_dims, dims).text);
    x->taken[t - x->c->st.tensors] = true;
    memcpy(to, t->data, t->bytes);
    return pw_progress_add(t->bytes, err);
}

static enum pw_code take_set(struct loading *x, int set, struct pw_err *err)
{
    enum pw_code code = PW_OK;

    for (int i = 0; i < x->m->lay.n && code == PW_OK; i++) {
        const struct pw_param *p = &x->m->lay.params[i];
        int64_t dims[4];
        int n = pw_param_dims(p, dims);
        if (x->place[i] != PW_ABSENT)
            code =
                take(x, x->values[set] + x->place[i], pw_tensor_name(set, p).text, PW_ST_F32, n, dims, err);
    }
    return code;
}

static enum pw_code take_counts(struct loading *x, struct pw_err *err)
{
    enum pw_code code = take(x, x->counts, "adam.t", PW_ST_I64, 1, (int64_t[]){x->m->lay.n}, err);

    for (int i = 0; i < x->m->lay.n && code == PW_OK; i++)
        if (x->counts[i] < 0 || x->counts[i] > PW_MOST_STEPS)
            code = pw_fail(err, PW_EUSER, "%s: adam.t has the step count %lld; allowed are 0..%lld",
                           x->c->path, (long long)x->counts[i], (long long)PW_MOST_STEPS);
    return code;
}

/* Returns true for a file of version 0.1 whose encoding has several parameters. It has the gradient sums in
 * the shape of the last parameter, so it lacks most of them. */
static bool is_partial(const struct loading *x, size_t needed)
{
    const struct pw_st_tensor *t = pw_st_find(&x->c->st, "met.grad");
    size_t last = pw_param_count(&x->m->lay.params[x->m->lay.n - 1]);
    return t != NULL && last < needed && t->bytes == last * sizeof(double);
}

static enum pw_code take_met(struct loading *x, struct pw_err *err)
{
    const struct pw_model *m = x->m;
    int64_t dims[4];
    int n = pw_seen_dims(m, dims);
    enum pw_code code = take(x, x->met, "met.steps", PW_ST_I64, 1, (int64_t[]){2}, err);

    if (code == PW_OK)
        code = take(x, x->seqs, "met.seqs", PW_ST_I64, 1, (int64_t[]){m->cfg.context + 1}, err);
    if (code == PW_OK && m->met.ids != NULL)
        code = take(x, x->ids, "met.ids", PW_ST_I64, 2, (int64_t[]){2, m->cfg.context}, err);
    if (code != PW_OK || n == 0)
        return code;
    if (!is_partial(x, m->lay.size - m->lay.core))
        return take(x, x->grad, "met.grad", PW_ST_F64, n, dims, err);
    n = pw_param_dims(&m->lay.params[m->lay.n - 1], dims);
    code = take(x, x->grad, "met.grad", PW_ST_F64, n, dims, err);
    memset(x->grad, 0, (m->lay.size - m->lay.core) * sizeof *x->grad);
    x->met[1] = 0; /* sums start again */
    return code;
}

/* Reads the replaced heads of a file with n tables. */
static enum pw_code take_tables(struct loading *x, int64_t *as, int64_t *at, float *tables, int64_t n,
                                struct pw_err *err)
{
    const struct pw_config *cfg = &x->m->cfg;
    int64_t shape[] = {cfg->layers, cfg->heads}, of_tables[] = {n, cfg->context, cfg->head_width};
    enum pw_code code = take(x, as, "heads.as", PW_ST_I64, 2, shape, err);

    if (code == PW_OK)
        code = take(x, at, "heads.at", PW_ST_I64, 2, shape, err);
    if (code == PW_OK && n > 0)
        code = take(x, tables, "heads.tables", PW_ST_F32, 3, of_tables, err);
    for (int i = 0; i < cfg->layers * cfg->heads && code == PW_OK; i++)
        if (as[i] < 0 || as[i] > UINT8_MAX || at[i] < -1 || at[i] >= n)
            code = pw_fail(err, PW_EUSER, "%s: heads.as and heads.at name a head that does not exist",
                           x->c->path);
    return code == PW_OK ? pw_replaced_make(&x->replaced, x->m, as, at, tables, err) : code;
}

static enum pw_code take_heads(struct loading *x, struct pw_err *err)
{
    const struct pw_st_tensor *list = pw_st_find(&x->c->st, "heads.tables");
    size_t heads = (size_t)x->m->cfg.layers * x->m->cfg.heads;
    int64_t n = list != NULL && list->n_dims == 3 ? list->dims[0] : 0;
    int64_t *as = calloc(heads, sizeof *as), *at = calloc(heads, sizeof *at);
    float *tables = list != NULL ? malloc(list->bytes + sizeof *tables) : NULL;
    enum pw_code code;

    if (as != NULL && at != NULL && (tables != NULL || list == NULL))
        code = take_tables(x, as, at, tables, n, err);
    else
        code = pw_fail(err, PW_ENOMEM, "out of memory for the heads' replacements");
    free(as);
    free(at);
    free(tables);
    return code;
}

/* An unexpected tensor shows that the file belongs to another model, so it is an error. more: tensors other
 * than parameters can still be taken later. */
static enum pw_code check_surplus(const struct loading *x, bool more, struct pw_err *err)
{
    static const char *const others[] = {"adam.t",   "met.steps", "met.seqs", "met.ids",
                                         "met.grad", "heads.as",  "heads.at", "heads.tables"};

    const struct pw_numbers *data[PW_PE_NUMBERS];
    int n_data = pw_pe_numbers(&x->m->pe, data);

    for (int i = 0; i < x->c->st.n; i++) {
        bool known = x->taken[i];
        for (int k = 0; k < n_data; k++)
            known = known || strcmp(data[k]->name, x->c->st.tensors[i].name) == 0;
        for (size_t k = 0; k < sizeof others / sizeof *others && more && !known; k++)
            known = strcmp(others[k], x->c->st.tensors[i].name) == 0;
        if (!known)
            return pw_fail(err, PW_EUSER, "%s: has a tensor '%.80s' that this model does not have",
                           x->c->path, x->c->st.tensors[i].name);
    }
    return PW_OK;
}

/* Names of tensors that the model's files don't have must be those of its parameters. */
static enum pw_code check_own(const struct loading *x, const struct pw_source_files *s, struct pw_err *err)
{
    for (int k = 0; k < s->n_own; k++) {
        bool found = false;
        for (int i = 0; i < x->m->lay.n && !found; i++) {
            const struct pw_param *p = &x->m->lay.params[i];
            found = strcmp(p->name, s->own[k]) == 0 && !p->pe && !p->adapter;
        }
        if (!found)
            return pw_fail(err, PW_EUSER, "%s: pewter.source: own has '%s', which is no weight of this model",
                           x->c->path, s->own[k]);
    }
    return PW_OK;
}

/* Weights that the file refers to must be in the model already. */
static enum pw_code check_source(const struct loading *x, bool resumable, struct pw_err *err)
{
    const struct pw_source_files *there = x->c->info.source, *here = x->m->source;

    if (there == NULL)
        return PW_OK;
    if (resumable && x->floats == 0)
        return pw_fail(err, PW_EUSER, "%s: has moments, but pewter.source in place of weights", x->c->path);
    if (here == NULL || !here->pe || here->n_own > 0 || !pw_source_same(here, there))
        return pw_fail(err, PW_EUSER,
                       "%s: has no weights: it is part of a session, and refers to those of %.160s; 'model "
                       "from=' reads them",
                       x->c->path, there->path);
    return check_own(x, there, err);
}

/* Takes everything from the file. The groups met.* and heads.*, which only images
 * have, are complete or absent. */
static enum pw_code take_all(struct loading *x, bool resumable, struct pw_err *err)
{
    const struct pw_st *st = &x->c->st;
    enum pw_code code = check_source(x, resumable, err);

    for (int s = 0; s < (resumable ? PW_SETS : 1) && code == PW_OK; s++)
        code = take_set(x, s, err);
    if (code == PW_OK)
        code = check_surplus(x, true, err);
    if (code == PW_OK && resumable)
        code = take_counts(x, err);
    if (code == PW_OK && pw_st_find(st, "met.steps") != NULL)
        code = take_met(x, err);
    if (code == PW_OK && pw_st_find(st, "heads.as") != NULL)
        code = take_heads(x, err);
    if (code == PW_OK)
        code = check_surplus(x, false, err);
    if (code == PW_OK && !pw_seen_set(x->m, x->met, x->seqs, x->ids, x->grad))
        code = pw_fail(err, PW_EUSER, "%s: met.steps and met.seqs are inconsistent", x->c->path);
    return code;
}

/* Puts the tensors that the file has into a model that has the others already. */
static void put_own(const struct loading *x, bool moments)
{
    struct pw_model *m = x->m;
    const struct pw_param *p = m->lay.params;

    for (int i = 0; i < m->lay.n; i++)
        if (x->place[i] != PW_ABSENT && pw_packed_has(m, &p[i]))
            pw_model_unpack(m, true);
    pw_model_put(m, NULL, NULL, NULL);
    pw_moments_clear(m, false);
    for (int i = 0; i < m->lay.n; i++) {
        size_t at = x->place[i], bytes = pw_param_count(&p[i]) * sizeof(float);
        if (at == PW_ABSENT)
            continue;
        m->ops->upload(m->be, m->p + p[i].offset, x->values[PW_SET_PARAMS] + at, bytes);
        if (!moments || p[i].place == PW_ABSENT)
            continue;
        m->ops->upload(m->be, m->m + p[i].place, x->values[PW_SET_M] + at, bytes);
        m->ops->upload(m->be, m->v + p[i].place, x->values[PW_SET_V] + at, bytes);
    }
    pw_model_set_source(m, x->c->info.source); /* its path is that of the file, too */
}

/* Puts the contents into the model; cannot fail. */
static void put(struct loading *x, bool resumable, const int *order)
{
    struct pw_model *m = x->m;

    bool moments = m->m != NULL; /* without: they are zeros in the file, too */
    if (x->c->info.source != NULL)
        put_own(x, moments);
    else
        pw_model_put(m, x->values[PW_SET_PARAMS], moments ? x->values[PW_SET_M] : NULL,
                     moments ? x->values[PW_SET_V] : NULL);
    for (int i = 0; i < m->lay.n; i++)
        m->lay.params[order[i]].t = x->counts[i];
    m->steps = resumable ? x->c->counts.taken : 0;
    m->schedule = resumable ? x->c->counts.schedule : 0;
    m->seed = resumable ? x->c->info.seed : m->seed;
    pw_replaced_take(m, x->replaced);
    x->replaced = NULL;
}

static bool is_zero(const float *x, size_t n)
{
    static const float zero;
    bool all = true;

    for (size_t i = 0; i < n && all; i++)
        all = memcmp(&x[i], &zero, sizeof zero) == 0;
    return all;
}

static bool wants(const void *moments, int i)
{
    return ((const bool *)moments)[i];
}

/* Makes room for the moments of the file: those of tensors that steps have changed, and those that are not
 * zeros. */
static enum pw_code reserve(struct loading *x, const int *order, struct pw_err *err)
{
    struct pw_model *m = x->m;
    bool any = false;

    for (int k = 0; k < m->lay.n; k++) {
        int i = order[k];
        size_t at = x->place[i], n = pw_param_count(&m->lay.params[i]);
        x->moments[i] = x->counts[k] > 0 || (at != PW_ABSENT && !(is_zero(x->values[PW_SET_M] + at, n) &&
                                                                  is_zero(x->values[PW_SET_V] + at, n)));
        any = any || x->moments[i];
    }
    for (int i = m->lay.n_core; i < m->lay.n; i++) /* every step changes the encoding */
        x->moments[i] = any;
    return pw_model_reason(m, pw_model_reserve(m, wants, x->moments, err), err);
}

enum pw_code pw_checkpoint_load(const struct pw_checkpoint *c, struct pw_model *m, struct pw_err *err)
{
    bool resumable = pw_st_find(&c->st, "adam.t") != NULL, room = true;
    int *order = pw_param_order(m->lay.params, m->lay.n);
    size_t learned = m->lay.size - m->lay.core;
    struct loading x = {.c = c,
                        .m = m,
                        .taken = calloc((size_t)c->st.n + 1, sizeof *x.taken),
                        .moments = calloc((size_t)m->lay.n, sizeof *x.moments),
                        .counts = calloc((size_t)m->lay.n, sizeof *x.counts),
                        .seqs = calloc((size_t)m->cfg.context + 1, sizeof *x.seqs),
                        .ids = calloc(2 * (size_t)m->cfg.context, sizeof *x.ids),
                        .grad = calloc(learned + 1, sizeof *x.grad),
                        .place = calloc((size_t)m->lay.n, sizeof *x.place)};
    enum pw_code code;

    if (x.place != NULL)
        x.floats = pw_checkpoint_places(&m->lay, c->info.source, x.place);
    for (int s = 0; s < PW_SETS; s++) {
        if (s != PW_SET_PARAMS && !resumable && m->m == NULL)
            continue;
        x.values[s] = calloc(x.floats + 1, sizeof(float));
        room = room && x.values[s] != NULL;
    }
    pw_progress_begin("loading the weights", (resumable ? PW_SETS : 1) * x.floats * sizeof(float));
    if (room && x.place != NULL && x.taken != NULL && x.moments != NULL && x.counts != NULL &&
        x.seqs != NULL && x.ids != NULL && x.grad != NULL)
        code = take_all(&x, resumable, err);
    else
        code = pw_fail(err, PW_ENOMEM, "out of memory for a checkpoint");
    pw_progress_end();
    if (code == PW_OK && resumable)
        code = reserve(&x, order, err);
    if (code == PW_OK) {
        put(&x, resumable, order);
        pw_model_set_origin(m, pw_st_meta(&c->st, PW_METADATA_ORIGIN));
    }
    pw_replaced_free(m, x.replaced);
    for (int s = 0; s < PW_SETS; s++)
        free(x.values[s]);
    free(x.taken);
    free(x.moments);
    free(x.counts);
    free(x.seqs);
    free(x.ids);
    free(x.grad);
    free(x.place);
    free(order);
    return code;
}
