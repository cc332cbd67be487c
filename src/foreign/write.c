/* write.c - writes a model as a folder that transformers loads: config.json, model.safetensors with the
 * family's names, and the files of the tokenizer. The inverse of foreign.c, by the same rows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "foreign/foreign_int.h"
#include "foreign/literals.h"
#include "model/safetensors.h"

enum { MAX_COPY = 256 << 20 }; /* bytes of a tokenizer's file */

/* Where a parameter goes. */
struct target {
    const struct pw_map_row *row;
    int tensor; /* index; -1: it is not written */
};

struct writing {
    struct pw_model *m;
    struct pw_foreign to;
    const struct pw_param *params; /* [n] */
    int n;
    struct target *targets;       /* [n] */
    struct pw_st_tensor *tensors; /* [n_tensors] */
    int n_tensors;
    float *values, *out; /* of the largest parameter, and of the largest tensor */
};

/* ---- biases that transformers has only if the config says so */

static bool is_zero(struct writing *w, const struct pw_param *p)
{
    size_t n = pw_param_count(p);
    pw_model_read(w->m, w->values, p->offset, n);
    for (size_t i = 0; i < n; i++)
        if (w->values[i] != 0)
            return false;
    return true;
}

/* The key for a bias of attention or of the MLP; NULL: it always exists. */
static const char *key_of(const struct writing *w, const struct pw_param *p)
{
    if (!w->to.map.zero_biases || !pw_text_ends(p->name, ".bias"))
        return NULL;
    return strstr(p->name, ".mlp.") != NULL ? "mlp_bias" : "attention_bias";
}

/* Sets the keys of biases that are not zero. */
static enum pw_code settle_biases(struct writing *w, struct pw_err *err)
{
    cJSON *o = w->to.config;
    for (int i = 0; i < w->n; i++) {
        const char *key = key_of(w, &w->params[i]);
        if (key == NULL || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, key)) ||
            is_zero(w, &w->params[i]))
            continue;
        if (strcmp(key, "mlp_bias") == 0 && !w->to.family->mlp_bias)
            return pw_fail(err, PW_EUSER, "%s has no biases of the MLP, and %s is not zero",
                           w->to.info.family, w->params[i].name);
        cJSON_DeleteItemFromObjectCaseSensitive(o, key);
        cJSON_AddTrueToObject(o, key);
    }
    return PW_OK;
}

/* ---- tensors */

static int find_tensor(struct writing *w, const char *name)
{
    for (int i = w->n_tensors - 1; i >= 0; i--)
        if (strcmp(w->tensors[i].name, name) == 0)
            return i;
    w->tensors[w->n_tensors].name = pw_text_dup(name);
    return w->n_tensors++;
}

/* Finds the tensor of each parameter. q, k and v can share one. */
static enum pw_code list_tensors(struct writing *w, struct pw_err *err)
{
    char name[PW_MAP_NAME];
    size_t most = 0;
    for (int i = 0; i < w->n; i++) {
        const struct pw_param *p = &w->params[i];
        const char *key = key_of(w, p);
        w->targets[i].tensor = -1;
        if (p->adapter) /* it is written with its matrix */
            continue;
        if (key != NULL && !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(w->to.config, key)))
            continue;
        const struct pw_map_row *row = pw_map_row_of(&w->to.map, p, w->to.info.cfg.post_norm, name);
        if (row == NULL)
            return pw_fail(err, PW_EUSER, "%s has no tensor for %s", w->to.info.family, p->name);
        w->targets[i] = (struct target){row, find_tensor(w, name)};
        struct pw_st_tensor *t = &w->tensors[w->targets[i].tensor];
        t->type = PW_ST_F32;
        t->n_dims = pw_map_shape(p, row, t->dims);
        t->bytes = sizeof(float);
        for (int d = 0; d < t->n_dims; d++)
            t->bytes *= (size_t)t->dims[d];
        most = t->bytes > most ? t->bytes : most;
    }
    w->out = malloc(most + 1);
    return w->out != NULL ? PW_OK : pw_fail(err, PW_ENOMEM, "out of memory for %zu MiB", most >> 20);
}

/* Makes the values of tensor i. Rows that no parameter has are zero: OPT's two for padding. */
static const void *fill_tensor(void *arg, int i)
{
    struct writing *w = arg;
    memset(w->out, 0, w->tensors[i].bytes);
    for (int k = 0; k < w->n; k++) {
        if (w->targets[k].tensor != i)
            continue;
        pw_model_read_acting(w->m, w->values, w->params[k].offset, pw_param_count(&w->params[k]));
        pw_map_put(&w->to.map, &w->params[k], &w->to.info.cfg, w->targets[k].row, w->values, w->out);
    }
    return w->out;
}

/* ---- files */

static enum pw_code write_bytes(const char *path, const char *bytes, size_t n, struct pw_err *err)
{
    struct pw_file *file;
    enum pw_code code = pw_file_create(&file, path, err);
    if (code != PW_OK)
        return code;
    fwrite(bytes, 1, n, pw_file_stream(file));
    return pw_file_commit(file, err);
}

static enum pw_code write_config(struct writing *w, const char *folder, struct pw_err *err)
{
    /* keys whose numbers transformers checks to be no whole ones */
    static const char *const keys[] = {"rope_theta",
                                       "rotary_emb_base",
                                       "rms_norm_eps",
                                       "layer_norm_eps",
                                       "layer_norm_epsilon",
                                       "attn_logit_softcapping",
                                       "final_logit_softcapping",
                                       "partial_rotary_factor",
                                       "rotary_pct",
                                       "factor",
                                       "attention_factor",
                                       "beta_fast",
                                       "beta_slow",
                                       "low_freq_factor",
                                       "high_freq_factor",
                                       NULL};
    struct pw_str path = {0}, all = {0};
    pw_literals_print(w->to.config, keys);
    char *text = cJSON_Print(w->to.config);
    pw_str_add(&path, "%s/config.json", folder);
    pw_str_add(&all, "%s\n", text != NULL ? text : "{}");
    enum pw_code code = write_bytes(path.s, all.s, all.len, err);
    cJSON_free(text);
    pw_str_fini(&all);
    pw_str_fini(&path);
    return code;
}

static enum pw_code write_tensors(struct writing *w, const char *folder, struct pw_err *err)
{
    struct pw_str path = {0};
    cJSON *meta = cJSON_CreateObject();
    cJSON_AddStringToObject(meta, "format", "pt"); /* transformers asks for it */
    pw_str_add(&path, "%s/model.safetensors", folder);
    enum pw_code code = pw_st_write_from(path.s, w->tensors, w->n_tensors, meta, fill_tensor, w, err);
    cJSON_Delete(meta);
    pw_str_fini(&path);
    return code;
}

/* Copies the files beside the weights at `from` that a tokenizer or `generate` reads. */
static enum pw_code copy_others(const char *from, const char *folder, struct pw_err *err)
{
    static const char *const names[] = {"tokenizer.json",
                                        "tokenizer_config.json",
                                        "special_tokens_map.json",
                                        "added_tokens.json",
                                        "vocab.json",
                                        "merges.txt",
                                        "tokenizer.model",
                                        "chat_template.jinja",
                                        "generation_config.json"};
    struct pw_str source = {0}, path = {0};
    enum pw_code code = PW_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && code == PW_OK; i++) {
        char *bytes;
        size_t n, size;
        struct pw_err absent;
        pw_str_clear(&source);
        pw_str_clear(&path);
        pw_foreign_beside(from, names[i], &source);
        pw_str_add(&path, "%s/%s", folder, names[i]);
        if (pw_file_read_head(source.s, MAX_COPY, &bytes, &n, &size, &absent) != PW_OK)
            continue;
        code = n == size ? write_bytes(path.s, bytes, n, err)
                         : pw_fail(err, PW_EUSER, "%.240s: has more than %d MiB, the limit for a copy",
                                   source.s, MAX_COPY >> 20);
        free(bytes);
    }
    pw_str_fini(&source);
    pw_str_fini(&path);
    return code;
}

/* Creates the folder. Fails if it is that of the source, `from`: the files that are read must stay. */
static enum pw_code make_folder(const char *from, const char *folder, struct pw_err *err)
{
    struct stat a, b;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return pw_fail(err, PW_EIO, "%.240s: cannot create this folder: %s", folder, strerror(errno));
    if (stat(folder, &a) != 0 || !S_ISDIR(a.st_mode))
        return pw_fail(err, PW_EUSER, "%.240s: is not a folder", folder);
    if (pw_file_stat(from, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return pw_fail(err, PW_EUSER, "%.240s: the model was read from this folder; write it to another one",
                       folder);
    return PW_OK;
}

static enum pw_code write_all(struct writing *w, const struct pw_foreign *source, const char *folder,
                              struct pw_err *err)
{
    struct pw_str from = {0};
    size_t most = 0;
    for (int i = 0; i < w->n; i++)
        most = pw_param_count(&w->params[i]) > most ? pw_param_count(&w->params[i]) : most;
    w->values = malloc((most + 1) * sizeof *w->values);
    if (w->values == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for %zu MiB", most * sizeof *w->values >> 20);
    pw_foreign_beside(source->path, ".", &from);
    enum pw_code code = settle_biases(w, err);
    if (code == PW_OK)
        code = list_tensors(w, err);
    if (code == PW_OK)
        code = make_folder(from.s, folder, err);
    if (code == PW_OK)
        code = write_tensors(w, folder, err);
    if (code == PW_OK)
        code = write_config(w, folder, err);
    if (code == PW_OK && !source->gguf)
        code = copy_others(source->path, folder, err);
    pw_str_fini(&from);
    return code;
}

enum pw_code pw_foreign_write(const struct pw_foreign *source, struct pw_model *m, const char *folder,
                              struct pw_err *err)
{
    struct writing w = {.m = m};
    const struct pw_config *cfg = pw_model_config(m);
    enum pw_code code = pw_foreign_make_config(&w.to, source, cfg, pw_model_pe(m), err);
    w.params = pw_model_params(m, &w.n);
    w.targets = pw_alloc((size_t)w.n, sizeof *w.targets);
    w.tensors = pw_alloc((size_t)w.n, sizeof *w.tensors);
    if (code == PW_OK)
        code = write_all(&w, source, folder, err);
    for (int i = 0; i < w.n_tensors; i++)
        free((char *)w.tensors[i].name);
    free(w.tensors);
    free(w.targets);
    free(w.values);
    free(w.out);
    cJSON_Delete(w.to.config);
    return code;
}
