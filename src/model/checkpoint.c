/* checkpoint.c - a model to and from safetensors. A resumable file holds all that the next step depends on
 * beside the data: parameters, both moments, each tensor's step count, the place in the schedule. */
#include "model/checkpoint.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/metadata.h"
#include "model/model_int.h"
#include "model/safetensors.h"

struct pw_checkpoint {
    struct pw_st st;
    struct pw_checkpoint_info info;
    int64_t schedule;
    char path[256];
};

/* The three sets of a resumable file. */
static const char *const prefixes[] = {"", "adam.m.", "adam.v."};

struct name {
    char text[64];
};

static struct name tensor_name(int set, const struct pw_param *p)
{
    struct name n;

    snprintf(n.text, sizeof n.text, "%s%s", prefixes[set], p->name);
    return n;
}

/* ---- saving */

/* Host copies of the sets, and the list of tensors that points into them and into names. */
struct image {
    float *values[3]; /* [size] */
    int64_t *t;       /* [n] in name order */
    struct pw_st_tensor *list;
    struct name *names;
    int n;
};

static void image_fini(struct image *im)
{
    for (int s = 0; s < 3; s++)
        free(im->values[s]);
    free(im->t);
    free(im->list);
    free(im->names);
}

static bool image_alloc(struct image *im, const struct pw_model *m, int sets)
{
    size_t n = (size_t)m->lay.n;

    *im = (struct image){.t = calloc(n, sizeof *im->t)};
    im->list = calloc(3 * n + 1, sizeof *im->list);
    im->names = calloc(3 * n, sizeof *im->names);
    for (int s = 0; s < sets; s++) {
        im->values[s] = malloc(m->lay.size * sizeof(float));
        if (!im->values[s])
            return false;
    }
    return im->t && im->list && im->names;
}

/* adam.t comes first: eight-byte integers behind floats would lie unaligned. */
static void image_fill(struct image *im, struct pw_model *m, const int *order, int sets)
{
    if (sets > 1) {
        for (int i = 0; i < m->lay.n; i++)
            im->t[i] = m->lay.params[order[i]].t;
        im->list[im->n++] = (struct pw_st_tensor){.name = "adam.t",
                                                  .type = PW_ST_I64,
                                                  .n_dims = 1,
                                                  .dims = {m->lay.n},
                                                  .data = im->t,
                                                  .bytes = (size_t)m->lay.n * sizeof *im->t};
    }
    pw_model_get(m, im->values[0], im->values[1], im->values[2]);
    for (int s = 0; s < sets; s++) {
        for (int i = 0; i < m->lay.n; i++) {
            const struct pw_param *p = &m->lay.params[order[i]];
            struct name *name = &im->names[s * m->lay.n + i];
            bool vector = p->rows == 0;
            *name = tensor_name(s, p);
            im->list[im->n++] =
                (struct pw_st_tensor){.name = name->text,
                                      .type = PW_ST_F32,
                                      .n_dims = vector ? 1 : 2,
                                      .dims = {vector ? p->cols : p->rows, vector ? 0 : p->cols},
                                      .data = im->values[s] + p->offset,
                                      .bytes = pw_param_count(p) * sizeof(float)};
        }
    }
}

enum pw_code pw_checkpoint_save(struct pw_model *m, const char *path, const struct pw_checkpoint_info *info,
                                bool resumable, struct pw_err *err)
{
    int sets = resumable ? 3 : 1, *order = pw_param_order(m->lay.params, m->lay.n);
    cJSON *meta = pw_metadata_make(info, &m->cfg, &m->pe, resumable ? m->schedule : -1);
    enum pw_code code;
    struct image im;

    if (image_alloc(&im, m, sets) && order && meta) {
        image_fill(&im, m, order, sets);
        code = pw_st_write(path, im.list, im.n, meta, err);
    } else {
        code = pw_fail(err, PW_ENOMEM, "out of memory for a checkpoint");
    }
    image_fini(&im);
    free(order);
    cJSON_Delete(meta);
    return code;
}

/* ---- loading */

static enum pw_code open_by(enum pw_code (*open)(struct pw_st *, const char *, struct pw_err *),
                            struct pw_checkpoint **out, const char *path, struct pw_err *err)
{
    struct pw_checkpoint *c = calloc(1, sizeof *c);
    enum pw_code code;

    *out = NULL;
    if (!c)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    pw_text_copy(c->path, sizeof c->path, path);
    code = open(&c->st, path, err);
    if (code == PW_OK)
        code = pw_metadata_read(&c->st, &c->info, &c->schedule, c->path, err);
    if (code)
        pw_checkpoint_close(c);
    else
        *out = c;
    return code;
}

enum pw_code pw_checkpoint_open(struct pw_checkpoint **c, const char *path, struct pw_err *err)
{
    return open_by(pw_st_open, c, path, err);
}

enum pw_code pw_checkpoint_open_header(struct pw_checkpoint **c, const char *path, struct pw_err *err)
{
    return open_by(pw_st_open_header, c, path, err);
}

const struct pw_checkpoint_info *pw_checkpoint_info(const struct pw_checkpoint *c)
{
    return &c->info;
}

void pw_checkpoint_close(struct pw_checkpoint *c)
{
    if (!c)
        return;
    pw_metadata_fini(&c->info);
    pw_st_close(&c->st);
    free(c);
}

/* "[64,16]" */
static struct name shape_text(int n_dims, const int64_t *dims)
{
    struct pw_str s = {0};
    struct name n;

    for (int d = 0; d < n_dims; d++)
        pw_str_add(&s, "%s%lld", d > 0 ? "," : "", (long long)dims[d]);
    snprintf(n.text, sizeof n.text, "[%s]", pw_str_text(&s));
    pw_str_fini(&s);
    return n;
}

/* The tensor `name` of the wanted type and shape, or an error that says what is wrong with it. */
static enum pw_code find(const struct pw_st_tensor **out, const struct pw_checkpoint *c, const char *name,
                         enum pw_st_type type, int n_dims, const int64_t *dims, struct pw_err *err)
{
    const struct pw_st_tensor *t = pw_st_find(&c->st, name);

    if (!t)
        return pw_fail(err, PW_EUSER, "%s: tensor '%s' is missing", c->path, name);
    if (t->type != type)
        return pw_fail(err, PW_EUSER, "%s: tensor '%s' must be %s", c->path, name,
                       type == PW_ST_F32 ? "F32" : "I64");
    if (t->n_dims != n_dims || memcmp(t->dims, dims, (size_t)n_dims * sizeof *dims) != 0)
        return pw_fail(err, PW_EUSER, "%s: tensor '%s' has the shape %s; this model needs %s", c->path, name,
                       shape_text(t->n_dims, t->dims).text, shape_text(n_dims, dims).text);
    *out = t;
    return PW_OK;
}

static enum pw_code load_set(const struct pw_checkpoint *c, const struct pw_model *m, int set, float *out,
                             struct pw_err *err)
{
    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        int64_t dims[2] = {p->rows > 0 ? p->rows : p->cols, p->cols};
        const struct pw_st_tensor *t;
        enum pw_code code = find(&t, c, tensor_name(set, p).text, PW_ST_F32, p->rows > 0 ? 2 : 1, dims, err);
        if (code)
            return code;
        memcpy(out + p->offset, t->data, t->bytes);
    }
    return PW_OK;
}

static enum pw_code load_counts(const struct pw_checkpoint *c, const struct pw_model *m, int64_t *counts,
                                struct pw_err *err)
{
    const struct pw_st_tensor *t;
    enum pw_code code = find(&t, c, "adam.t", PW_ST_I64, 1, (const int64_t[]){m->lay.n}, err);

    if (code)
        return code;
    memcpy(counts, t->data, t->bytes);
    for (int i = 0; i < m->lay.n; i++)
        if (counts[i] < 0)
            return pw_fail(err, PW_EUSER, "%s: adam.t has a negative step count", c->path);
    return PW_OK;
}

/* A tensor that nobody asked for is a sign that the file is of another model; dropping it would hide that. */
static enum pw_code check_surplus(const struct pw_checkpoint *c, const struct pw_model *m, bool resumable,
                                  struct pw_err *err)
{
    for (int i = 0; i < c->st.n; i++) {
        const char *name = c->st.tensors[i].name;
        bool known = resumable && strcmp(name, "adam.t") == 0;
        for (int k = 0; k < m->lay.n && !known; k++)
            for (int s = 0; s < (resumable ? 3 : 1) && !known; s++)
                known = strcmp(tensor_name(s, &m->lay.params[k]).text, name) == 0;
        if (!known)
            return pw_fail(err, PW_EUSER, "%s: has a tensor '%.80s', this model has not", c->path, name);
    }
    return PW_OK;
}

static enum pw_code load(const struct pw_checkpoint *c, struct pw_model *m, float *const values[3],
                         int64_t *counts, const int *order, struct pw_err *err)
{
    bool resumable = pw_st_find(&c->st, "adam.t") != NULL;
    enum pw_code code = PW_OK;

    for (int s = 0; s < (resumable ? 3 : 1) && code == PW_OK; s++)
        code = load_set(c, m, s, values[s], err);
    if (code == PW_OK)
        code = check_surplus(c, m, resumable, err);
    if (code == PW_OK && resumable)
        code = load_counts(c, m, counts, err);
    if (code)
        return code;
    pw_model_put(m, values[0], values[1], values[2]);
    for (int i = 0; i < m->lay.n; i++)
        m->lay.params[order[i]].t = counts[i];
    m->steps = resumable ? c->info.step : 0;
    pw_met_clear(m);
    m->schedule = resumable ? c->schedule : 0;
    return PW_OK;
}

enum pw_code pw_checkpoint_load(const struct pw_checkpoint *c, struct pw_model *m, struct pw_err *err)
{
    /* Zero is what a file without moments means: the optimiser begins anew. */
    float *values[3] = {calloc(m->lay.size, sizeof(float)), calloc(m->lay.size, sizeof(float)),
                        calloc(m->lay.size, sizeof(float))};
    int64_t *counts = calloc((size_t)m->lay.n, sizeof *counts);
    int *order = pw_param_order(m->lay.params, m->lay.n);
    enum pw_code code;

    if (values[0] && values[1] && values[2] && counts && order)
        code = load(c, m, values, counts, order, err);
    else
        code = pw_fail(err, PW_ENOMEM, "out of memory for a checkpoint");
    for (int s = 0; s < 3; s++)
        free(values[s]);
    free(counts);
    free(order);
    return code;
}
