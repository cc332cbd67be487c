/* t5_table.c - reads T5's table of relative biases. Raffel et al. 2020 share one table among all layers, and
 * transformers stores it in the first; umT5 (Chung et al. 2023) has a table for each layer. GGUF has the same
 * tables under names of its own. It has no largest distance: llama.cpp takes T5's.
 *
 * A session keeps the table as a text of JSON in place of the model's files, which have gigabytes. A re-run
 * reads this text. Its numbers have 17 digits, so they come back with the same bits. */
#include <cjson/cJSON.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "foreign/foreign.h"
#include "foreign/reader.h"
#include "foreign/weights.h"

enum { MAX_CONFIG = 4 << 20, MAX_TEXT = 4 << 20 };
enum { MAX_BUCKETS = 128, MAX_HEADS = 1024, MAX_DISTANCE = 65536, T5_BUCKETS = 32, T5_DISTANCE = 128 };

/* Names of a table, with the layer between both parts: of transformers, and of GGUF. */
static const struct {
    const char *encoder, *decoder, *ending;
} forms[] = {
    {"encoder.block.", "decoder.block.", ".layer.0.SelfAttention.relative_attention_bias.weight"},
    {"enc.blk.", "dec.blk.", ".attn_rel_b.weight"},
};

static const char *name_stack(bool encoder)
{
    return encoder ? "encoder" : "decoder";
}

/* Returns the layer of a tensor's name, which may have a prefix: "decoder.block.0.layer.0.SelfAttention.
 * ..."; -1: it is no table of this stack. */
static int layer_of(const char *name, bool encoder, bool gguf)
{
    const char *begin = encoder ? forms[gguf].encoder : forms[gguf].decoder, *at = strstr(name, begin);
    char *end;
    if (at == NULL || (at > name && at[-1] != '.'))
        return -1;
    at += strlen(begin);
    long layer = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
    return layer >= 0 && layer < INT_MAX && strcmp(end, forms[gguf].ending) == 0 ? (int)layer : -1;
}

/* The tables of a stack: their number, the highest layer, and the one that was asked for. */
struct tables {
    int n, last;
    const struct pw_weights_tensor *wanted;
};

static struct tables list_tables(struct pw_weights *w, bool encoder, int layer)
{
    struct tables found = {.last = -1};
    bool gguf = pw_weights_gguf(w) != NULL;
    int n;
    const struct pw_weights_tensor *list = pw_weights_list(w, &n);
    for (int i = 0; i < n; i++) {
        int at = layer_of(list[i].name, encoder, gguf);
        if (at < 0)
            continue;
        found.n++;
        found.last = at > found.last ? at : found.last;
        if (at == layer || layer < 0)
            found.wanted = &list[i];
    }
    return found;
}

static enum pw_code find_table(struct pw_weights *w, const char *path, bool encoder, int layer,
                               const struct pw_weights_tensor **t, struct pw_err *err)
{
    struct tables found = list_tables(w, encoder, layer), other = list_tables(w, !encoder, -1);
    bool gguf = pw_weights_gguf(w) != NULL;
    *t = found.wanted;
    if (found.n == 0 && other.n > 0)
        return pw_fail(err, PW_EUSER, "%.200s: the %s has no table of biases, the %s has: stack=%s", path,
                       name_stack(encoder), name_stack(!encoder), name_stack(!encoder));
    if (found.n == 0)
        return pw_fail(err, PW_EUSER, "%.200s: no tensor is named '%s0%s'; it must be a T5, mT5 or umT5",
                       path, encoder ? forms[gguf].encoder : forms[gguf].decoder, forms[gguf].ending);
    if (layer < 0 && found.n > 1)
        return pw_fail(err, PW_EUSER,
                       "%.200s: %d layers of the %s have a table of their own; choose one: layer=0..%d", path,
                       found.n, name_stack(encoder), found.last);
    if (*t == NULL)
        return pw_fail(err, PW_EUSER, "%.200s: layer %d of the %s has no table of biases; allowed: 0..%d",
                       path, layer, name_stack(encoder), found.last);
    return PW_OK;
}

/* Parses config.json in the folder, or beside the file. *out is NULL if there is none. The callbacks of
 * pw_file_read don't apply, because the session keeps the table. */
static enum pw_code read_config(const char *path, cJSON **out, struct pw_str *name, struct pw_err *err)
{
    char *text;
    size_t got, size;
    struct stat st;
    *out = NULL;
    pw_foreign_beside(path, "config.json", name);
    if (!pw_file_stat(name->s, &st))
        return PW_OK;
    enum pw_code code = pw_file_read_head(name->s, MAX_CONFIG, &text, &got, &size, err);
    if (code != PW_OK)
        return code;
    *out = got == size ? cJSON_ParseWithLength(text, got) : NULL;
    free(text);
    return cJSON_IsObject(*out) ? PW_OK : pw_fail(err, PW_EUSER, "%.240s: not a JSON object", name->s);
}

/* Compares the number of buckets in GGUF's metadata with the table's rows. */
static enum pw_code check_gguf(struct pw_t5_table *t, const struct pw_gguf *g, const char *path,
                               struct pw_err *err)
{
    char key[96];
    uint64_t n;
    double buckets = t->buckets;
    const char *arch = pw_gguf_text(pw_gguf_find(g, "general.architecture"), &n);
    snprintf(key, sizeof key, "%.*s.attention.relative_buckets_count", (int)(arch != NULL && n < 32 ? n : 0),
             arch != NULL ? arch : "");
    const struct pw_gguf_value *v = pw_gguf_find(g, key);
    t->distance = T5_DISTANCE;
    if (v != NULL && (!pw_gguf_number(v, 0, &buckets) || buckets != t->buckets))
        return pw_fail(err, PW_EUSER, "%.200s: %s=%g, but the table has %d rows", path, key, buckets,
                       t->buckets);
    return PW_OK;
}

/* Reads the settings of buckets, which the table's rows must agree with. */
static enum pw_code read_settings(struct pw_t5_table *t, const char *path, struct pw_err *err)
{
    cJSON *root;
    struct pw_str name = {0};
    t->distance = T5_DISTANCE;
    enum pw_code code = read_config(path, &root, &name, err);
    if (code == PW_OK && root != NULL) {
        struct pw_reader r = {.o = root, .what = name.s, .err = err};
        int buckets = pw_read_int(&r, "relative_attention_num_buckets", T5_BUCKETS);
        t->distance = pw_read_int(&r, "relative_attention_max_distance", T5_DISTANCE);
        pw_read_need(&r, t->distance >= 2 && t->distance <= MAX_DISTANCE, "relative_attention_max_distance",
                     "must be in 2..65536");
        code = r.code;
        if (code == PW_OK && buckets != t->buckets)
            code =
                pw_fail(err, PW_EUSER, "%.200s: relative_attention_num_buckets=%d, but the table has %d rows",
                        name.s, buckets, t->buckets);
    }
    cJSON_Delete(root);
    pw_str_fini(&name);
    return code;
}

/* Checks the shape, and copies the values. */
static enum pw_code take_values(struct pw_t5_table *t, struct pw_weights *w,
                                const struct pw_weights_tensor *from, const char *path, struct pw_err *err)
{
    if (!from->readable || from->n_dims != 2 || from->dims[0] < 2 || from->dims[0] > MAX_BUCKETS ||
        from->dims[1] < 1 || from->dims[1] > MAX_HEADS)
        return pw_fail(
            err, PW_EUSER,
            "%.200s: '%.100s' must have floating-point numbers [buckets,heads], with 2..%d buckets "
            "and 1..%d heads",
            path, from->name, MAX_BUCKETS, MAX_HEADS);
    t->buckets = (int)from->dims[0], t->heads = (int)from->dims[1];
    size_t n = (size_t)t->buckets * (size_t)t->heads;
    t->values = pw_alloc(n, sizeof *t->values);
    for (int b = 0; b < t->buckets; b++) {
        enum pw_code code = pw_weights_row(w, from, b, t->values + (size_t)b * (size_t)t->heads, err);
        if (code != PW_OK)
            return code;
    }
    for (size_t i = 0; i < n; i++)
        if (!isfinite(t->values[i]))
            return pw_fail(err, PW_EUSER, "%.200s: bucket %d of head %d is %g; allowed are finite numbers",
                           path, (int)(i / (size_t)t->heads), (int)(i % (size_t)t->heads),
                           (double)t->values[i]);
    return PW_OK;
}

static enum pw_code read_files(struct pw_t5_table *t, const char *name, int layer, struct pw_err *err)
{
    struct pw_str path = {0};
    struct pw_weights *w = NULL;
    const struct pw_weights_tensor *from = NULL;
    enum pw_code code = pw_foreign_find(name, &path, err);
    if (code == PW_OK)
        code = pw_weights_open(&w, path.s, err);
    if (code == PW_OK)
        code = find_table(w, path.s, t->encoder, layer, &from, err);
    if (code == PW_OK)
        code = take_values(t, w, from, path.s, err);
    if (code == PW_OK) {
        const struct pw_gguf *g = pw_weights_gguf(w);
        t->layer = layer_of(from->name, t->encoder, g != NULL);
        code = g != NULL ? check_gguf(t, g, path.s, err) : read_settings(t, path.s, err);
    }
    pw_weights_close(w);
    pw_str_fini(&path);
    return code;
}

/* ---- the copy of a session */

/* Notes the table under the name, as the text that read_copy reads. */
static void note_copy(const struct pw_t5_table *t, const char *name)
{
    cJSON *o = cJSON_CreateObject();
    int n = t->buckets * t->heads;
    cJSON_AddStringToObject(o, "table", "t5");
    cJSON_AddStringToObject(o, "stack", name_stack(t->encoder));
    cJSON_AddNumberToObject(o, "layer", t->layer);
    cJSON_AddNumberToObject(o, "buckets", t->buckets);
    cJSON_AddNumberToObject(o, "heads", t->heads);
    cJSON_AddNumberToObject(o, "distance", t->distance);
    cJSON *values = cJSON_AddArrayToObject(o, "values");
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(values, cJSON_CreateNumber((double)t->values[i]));
    char *text = cJSON_PrintUnformatted(o);
    pw_file_note(name, text, strlen(text));
    cJSON_free(text);
    cJSON_Delete(o);
}

/* Reads a whole number of the copy; 0: it is absent or too large. */
static int read_count(const cJSON *o, const char *key, int most)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    double x = cJSON_IsNumber(item) ? item->valuedouble : 0;
    return x >= 0 && x <= most && x == floor(x) ? (int)x : 0;
}

/* Fills t from the copy. Returns false if it is none. */
static bool fill_from(struct pw_t5_table *t, const cJSON *o)
{
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(o, "values"), *item;
    const char *stack = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "stack"));
    int i = 0;
    t->buckets = read_count(o, "buckets", MAX_BUCKETS);
    t->heads = read_count(o, "heads", MAX_HEADS);
    t->distance = read_count(o, "distance", MAX_DISTANCE);
    t->layer = read_count(o, "layer", PW_MAX_LAYERS);
    if (t->buckets < 2 || t->heads < 1 || t->distance < 2 || stack == NULL ||
        strcmp(stack, name_stack(t->encoder)) != 0 || cJSON_GetArraySize(values) != t->buckets * t->heads)
        return false;
    t->values = pw_alloc((size_t)t->buckets * (size_t)t->heads, sizeof *t->values);
    cJSON_ArrayForEach(item, values)
    {
        float x = cJSON_IsNumber(item) ? (float)item->valuedouble : NAN;
        t->values[i++] = x;
        if (!isfinite(x))
            return false;
    }
    return true;
}

static enum pw_code read_copy(struct pw_t5_table *t, const char *name, struct pw_err *err)
{
    char *text;
    size_t size;
    enum pw_code code = pw_file_read_as(name, name, MAX_TEXT, &text, &size, err);
    if (code != PW_OK)
        return code;
    cJSON *o = cJSON_ParseWithLength(text, size);
    if (!fill_from(t, o))
        code = pw_fail(err, PW_EUSER, "%.240s: the session's copy is no table of a T5 %s", name,
                       name_stack(t->encoder));
    cJSON_Delete(o);
    free(text);
    return code;
}

enum pw_code pw_t5_table_read(struct pw_t5_table *out, const char *name, bool encoder, int layer,
                              struct pw_err *err)
{
    *out = (struct pw_t5_table){.encoder = encoder};
    enum pw_code code = pw_file_copies() ? read_copy(out, name, err) : read_files(out, name, layer, err);
    if (code != PW_OK)
        pw_t5_table_fini(out);
    else if (!pw_file_copies())
        note_copy(out, name);
    return code;
}

void pw_t5_table_fini(struct pw_t5_table *t)
{
    free(t->values);
    *t = (struct pw_t5_table){0};
}
