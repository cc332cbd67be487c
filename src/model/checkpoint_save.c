/* checkpoint_save.c - writes a model as safetensors, to a file or to memory.
 *
 * A resumable file holds all state of the next step except the data: parameters, both moments, each tensor's
 * step count, the place in the schedule, the number of steps taken, and the seed (from which dropout's masks
 * follow). An image also holds the rest of a model's behaviour and display: the counts of what was seen in
 * training, and replaced heads.
 *
 * An image omits the tensors that no step has changed since a file of another program gave them (source.h),
 * with their moments, and moments and counts that are all zero. So equal models with equal histories give
 * equal images. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/checkpoint_int.h"
#include "model/expr/numbers.h"
#include "model/metadata.h"
#include "model/safetensors.h"

enum what { WEIGHTS, RESUMABLE, IMAGE, WHOLE_IMAGE };

/* The sets of tensors and groups of counts in a file. */
struct extent {
    bool moments; /* with the step counts */
    bool met, heads;
};

/* Host copies, and the list of tensors that points into them and into names. */
struct parts {
    struct extent has;
    size_t *place;          /* [n] of pw_checkpoint_places */
    size_t floats;          /* of a set */
    float *values[PW_SETS]; /* [floats]; NULL: not in the file */
    int64_t *t;             /* [n] in name order */
    int64_t met[2];
    int64_t *as, *at; /* [L,H]; NULL: no head is replaced */
    float *tables;    /* [n_tables,context,D] */
    int n_tables;
    struct pw_st_tensor *list;
    struct pw_tensor_name *names;
    int n;
};

struct pw_tensor_name pw_tensor_name(int set, const struct pw_param *p)
{
    static const char *const prefixes[PW_SETS] = {"", "adam.m.", "adam.v."};
    struct pw_tensor_name n;

    snprintf(n.text, sizeof n.text, "%s%s", prefixes[set], p->name);
    return n;
}

size_t pw_checkpoint_places(const struct pw_param_layout *lay, const struct pw_source_files *s, size_t *at)
{
    size_t floats = 0;

    for (int i = 0; i < lay->n; i++) {
        bool in = s == NULL || pw_source_owns(s, &lay->params[i]);
        at[i] = in ? floats : PW_ABSENT;
        floats += in ? pw_param_count(&lay->params[i]) : 0;
    }
    return floats;
}

static void parts_fini(struct parts *x)
{
    free(x->place);
    for (int s = 0; s < PW_SETS; s++)
        free(x->values[s]);
    free(x->t);
    free(x->as);
    free(x->at);
    free(x->tables);
    free(x->list);
    free(x->names);
}

static size_t head_floats(const struct pw_model *m)
{
    return (size_t)m->cfg.context * m->cfg.head_width;
}

static bool heads_alloc(struct parts *x, const struct pw_model *m)
{
    size_t heads = (size_t)m->cfg.layers * m->cfg.heads;

    if (m->replaced == NULL)
        return true;
    for (size_t i = 0; i < heads; i++)
        x->n_tables += m->replaced[i].table != NULL;
    x->as = calloc(heads, sizeof *x->as);
    x->at = calloc(heads, sizeof *x->at);
    if (x->n_tables > 0)
        x->tables = malloc((size_t)x->n_tables * head_floats(m) * sizeof *x->tables);
    return x->as != NULL && x->at != NULL && (x->tables != NULL || x->n_tables == 0);
}

static bool has_steps(const struct pw_model *m)
{
    bool has = m->steps != 0 || m->schedule != 0;

    for (int i = 0; i < m->lay.n; i++)
        has = has || m->lay.params[i].t != 0;
    return has;
}

/* Returns true if the model is as before its first step: its moments and step counts are zeros. x has copies
 * of the moments that can differ from zero, if the model has any. */
static bool is_fresh(const struct parts *x, const struct pw_model *m)
{
    bool zero = !has_steps(m);

    for (int s = PW_SET_M; s < PW_SETS && zero && m->m != NULL; s++)
        for (size_t i = 0; i < x->floats && zero; i++)
            zero = memcmp(&x->values[s][i], &(float){0}, sizeof(float)) == 0;
    return zero;
}

/* Says what the file contains, as far as the model's moments do not decide it. */
static struct extent extent_of(const struct pw_model *m, enum what what)
{
    struct extent has = {.moments = what != WEIGHTS};

    if (what >= IMAGE)
        has.met = has.heads = true;
    if (what == IMAGE)
        has.met = m->met.steps > 0;
    return has;
}

static bool parts_alloc(struct parts *x, const struct pw_model *m, enum what what)
{
    enum { OTHERS = 8 + PW_PE_NUMBERS }; /* adam.t, met.*, heads.*, data_* */
    size_t n = (size_t)m->lay.n;
    bool without = what == WEIGHTS || (what == IMAGE && m->m == NULL && !has_steps(m));

    *x = (struct parts){.has = extent_of(m, what), .t = calloc(n, sizeof *x->t)};
    x->place = calloc(n, sizeof *x->place);
    x->list = calloc(PW_SETS * n + OTHERS, sizeof *x->list);
    x->names = calloc(PW_SETS * n, sizeof *x->names);
    if (x->t == NULL || x->place == NULL || x->list == NULL || x->names == NULL)
        return false;
    x->floats = pw_checkpoint_places(&m->lay, what == IMAGE ? m->source : NULL, x->place);
    for (int s = 0; s < (without ? 1 : PW_SETS); s++) {
        x->values[s] = malloc((x->floats + 1) * sizeof(float));
        if (x->values[s] == NULL)
            return false;
    }
    return !x->has.heads || heads_alloc(x, m);
}

/* Appends a tensor; dims ends with a 0. */
static void add_tensor(struct parts *x, const char *name, enum pw_st_type type, const int64_t *dims,
                       const void *data)
{
    struct pw_st_tensor *t = &x->list[x->n++];

    *t = (struct pw_st_tensor){.name = name, .type = type, .data = data};
    t->bytes = type == PW_ST_F32 ? sizeof(float) : sizeof(int64_t);
    for (; dims[t->n_dims] > 0; t->n_dims++) {
        t->dims[t->n_dims] = dims[t->n_dims];
        t->bytes *= (size_t)dims[t->n_dims];
    }
}

/* Tensors of eight-byte numbers come first, because they would be unaligned behind floats. */
static void add_counts(struct parts *x, const struct pw_model *m, const int *order)
{
    for (int i = 0; i < m->lay.n; i++)
        x->t[i] = m->lay.params[order[i]].t;
    add_tensor(x, "adam.t", PW_ST_I64, (int64_t[]){m->lay.n, 0}, x->t);
}

static void add_met(struct parts *x, const struct pw_model *m)
{
    int64_t dims[4];

    x->met[0] = m->met.steps;
    x->met[1] = m->met.sampled;
    add_tensor(x, "met.steps", PW_ST_I64, (int64_t[]){2, 0}, x->met);
    add_tensor(x, "met.seqs", PW_ST_I64, (int64_t[]){m->cfg.context + 1, 0}, m->met.seqs);
    if (m->met.ids != NULL)
        add_tensor(x, "met.ids", PW_ST_I64, (int64_t[]){2, m->cfg.context, 0}, m->met.ids);
    if (pw_seen_dims(m, dims) > 0)
        add_tensor(x, "met.grad", PW_ST_F64, dims, m->met.grad);
}

static void add_heads(struct parts *x, struct pw_model *m)
{
    int L = m->cfg.layers, H = m->cfg.heads, n = 0;

    if (x->as == NULL)
        return;
    for (int i = 0; i < L * H; i++) {
        x->as[i] = m->replaced[i].as;
        x->at[i] = m->replaced[i].table != NULL ? n : -1;
        if (m->replaced[i].table != NULL)
            m->ops->download(m->be, x->tables + (size_t)n++ * head_floats(m), m->replaced[i].table,
                             head_floats(m) * sizeof *x->tables);
    }
    m->ops->sync(m->be, NULL); /* the backend keeps the error for a later call */
    add_tensor(x, "heads.as", PW_ST_I64, (int64_t[]){L, H, 0}, x->as);
    add_tensor(x, "heads.at", PW_ST_I64, (int64_t[]){L, H, 0}, x->at);
}

static void add_values(struct parts *x, const struct pw_model *m, const int *order, int set)
{
    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[order[i]];
        if (x->place[order[i]] == PW_ABSENT)
            continue;
        struct pw_tensor_name *name = &x->names[set * m->lay.n + i];
        int64_t dims[4];
        *name = pw_tensor_name(set, p);
        pw_param_dims(p, dims);
        add_tensor(x, name->text, PW_ST_F32, dims, x->values[set] + x->place[order[i]]);
    }
}

/* Adds the arrays that the encoding's formula reads, so that the file can be opened where they were not read.
 */
static void add_numbers(struct parts *x, const struct pw_model *m)
{
    const struct pw_numbers *data[PW_PE_NUMBERS];
    int n = pw_pe_numbers(&m->pe, data);

    for (int i = 0; i < n; i++) {
        int64_t dims[PW_NUMBERS_DIMS + 1] = {0};
        for (int d = 0; d < data[i]->n_dims; d++)
            dims[d] = data[i]->dims[d];
        add_tensor(x, data[i]->name, PW_ST_F32, dims, data[i]->v);
    }
}

/* Copies the values of all tensors in the file from the model. */
static void get_values(struct parts *x, struct pw_model *m)
{
    const float *const from[PW_SETS] = {m->p, m->m, m->v};

    if (x->floats == m->lay.size) {
        pw_model_get(m, x->values[PW_SET_PARAMS], x->values[PW_SET_M], x->values[PW_SET_V]);
        return;
    }
    for (int s = 0; s < PW_SETS; s++)
        for (int i = 0; i < m->lay.n && x->values[s] != NULL; i++) {
            const struct pw_param *p = &m->lay.params[i];
            size_t bytes = pw_param_count(p) * sizeof(float);
            size_t at = s == PW_SET_PARAMS ? p->offset : p->place;
            if (x->place[i] != PW_ABSENT && at != PW_ABSENT)
                m->ops->download(m->be, x->values[s] + x->place[i], from[s] + at, bytes);
            else if (x->place[i] != PW_ABSENT) /* no step has changed it */
                memset(x->values[s] + x->place[i], 0, bytes);
        }
    m->ops->sync(m->be, NULL); /* the backend keeps the error for a later call */
}

static void fill(struct parts *x, struct pw_model *m, const int *order, enum what what)
{
    get_values(x, m);
    if (what == IMAGE)
        x->has.moments = !is_fresh(x, m);
    if (x->has.moments)
        add_counts(x, m, order);
    if (x->has.met)
        add_met(x, m);
    if (x->has.heads)
        add_heads(x, m);
    for (int s = 0; s < (x->has.moments ? PW_SETS : 1); s++)
        add_values(x, m, order, s);
    add_numbers(x, m);
    if (x->n_tables > 0)
        add_tensor(x, "heads.tables", PW_ST_F32,
                   (int64_t[]){x->n_tables, m->cfg.context, m->cfg.head_width, 0}, x->tables);
}

/* Writes the file `path`; with path NULL writes to memory, *bytes [*n]. */
static enum pw_code save(struct pw_model *m, const char *path, void **bytes, size_t *n,
                         const struct pw_checkpoint_info *info, enum what what, struct pw_err *err)
{
    int *order = pw_param_order(m->lay.params, m->lay.n);
    cJSON *meta = pw_metadata_make(info, m, what >= RESUMABLE, what < IMAGE);
    enum pw_code code;
    struct parts x;

    if (what == IMAGE && meta != NULL && !pw_metadata_add_image(meta, m->source)) {
        cJSON_Delete(meta);
        meta = NULL;
    }
    if (parts_alloc(&x, m, what) && meta != NULL) {
        fill(&x, m, order, what);
        code = m->ops->sync(m->be, err);
        if (code == PW_OK)
            code = path != NULL ? pw_st_write(path, x.list, x.n, meta, err)
                                : pw_st_image(bytes, n, x.list, x.n, meta, err);
    } else {
        code = pw_fail(err, PW_ENOMEM, "out of memory for a checkpoint");
    }
    parts_fini(&x);
    free(order);
    cJSON_Delete(meta);
    return code;
}

enum pw_code pw_checkpoint_save(struct pw_model *m, const char *path, const struct pw_checkpoint_info *info,
                                bool resumable, struct pw_err *err)
{
    return save(m, path, NULL, NULL, info, resumable ? RESUMABLE : WEIGHTS, err);
}

enum pw_code pw_checkpoint_image(struct pw_model *m, const struct pw_checkpoint_info *info, void **bytes,
                                 size_t *n, struct pw_err *err)
{
    *bytes = NULL;
    *n = 0;
    return save(m, NULL, bytes, n, info, IMAGE, err);
}

enum pw_code pw_checkpoint_whole_image(struct pw_model *m, const struct pw_checkpoint_info *info,
                                       void **bytes, size_t *n, struct pw_err *err)
{
    *bytes = NULL;
    *n = 0;
    return save(m, NULL, bytes, n, info, WHOLE_IMAGE, err);
}
