/* weights.c - opens and maps the files of a model, and lists their tensors by name. */
#include "foreign/weights.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/pages.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/text.h"
#include "model/safetensors.h"

enum { MAX_INDEX = 32 << 20, AT_ONCE = 4 << 20 };

/* One mapped file. */
struct shard {
    char *name; /* in its folder; "": opened by its own path */
    const char *bytes;
    size_t size;
    struct pw_st st; /* empty for GGUF */
};

struct pw_weights {
    struct shard *shards; /* [n_shards] by name */
    int n_shards;
    struct pw_gguf gguf;
    bool is_gguf;
    struct pw_weights_tensor *tensors; /* [n] by name */
    int n;
};

static int by_name(const void *a, const void *b)
{
    const struct pw_weights_tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static enum pw_code map(struct shard *s, const char *path, struct pw_err *err)
{
    return pw_file_map(path, &s->bytes, &s->size, err);
}

/* Sorts the list; fails if two shards have the same tensor. */
static enum pw_code sort_list(struct pw_weights *w, const char *path, struct pw_err *err)
{
    qsort(w->tensors, (size_t)w->n, sizeof *w->tensors, by_name);
    for (int i = 1; i < w->n; i++)
        if (strcmp(w->tensors[i - 1].name, w->tensors[i].name) == 0)
            return pw_fail(err, PW_EUSER, "%.240s: two files have the tensor '%.80s'", path,
                           w->tensors[i].name);
    return PW_OK;
}

static struct pw_weights_tensor from_st(const struct pw_st_tensor *t)
{
    struct pw_weights_tensor out = {.name = t->name, .n_dims = t->n_dims, .data = t->data, .bytes = t->bytes};
    memcpy(out.dims, t->dims, sizeof out.dims);
    out.readable = t->type == PW_ST_F32 || t->type == PW_ST_F16 || t->type == PW_ST_BF16;
    out.type = t->type == PW_ST_F16 ? PW_NUMBER_F16 : t->type == PW_ST_BF16 ? PW_NUMBER_BF16 : PW_NUMBER_F32;
    return out;
}

/* Lists the tensors of all safetensors shards. */
static enum pw_code list_shards(struct pw_weights *w, const char *path, struct pw_err *err)
{
    int n = 0;
    for (int i = 0; i < w->n_shards; i++)
        n += w->shards[i].st.n;
    w->tensors = pw_alloc((size_t)n, sizeof *w->tensors);
    for (int i = 0; i < w->n_shards; i++)
        for (int k = 0; k < w->shards[i].st.n; k++)
            w->tensors[w->n++] = from_st(&w->shards[i].st.tensors[k]);
    return sort_list(w, path, err);
}

static enum pw_code open_shard(struct shard *s, const char *path, struct pw_err *err)
{
    enum pw_code code = map(s, path, err);
    return code == PW_OK ? pw_st_open_large(&s->st, s->bytes, s->size, path, err) : code;
}

static enum pw_code open_gguf(struct pw_weights *w, const char *path, struct pw_err *err)
{
    enum pw_code code = pw_gguf_open(&w->gguf, w->shards[0].bytes, w->shards[0].size, path, err);
    if (code != PW_OK)
        return code;
    w->is_gguf = true;
    w->tensors = pw_alloc((size_t)w->gguf.n_tensors, sizeof *w->tensors);
    for (int i = 0; i < w->gguf.n_tensors; i++) {
        const struct pw_gguf_tensor *t = &w->gguf.tensors[i];
        struct pw_weights_tensor *out = &w->tensors[w->n++];
        *out = (struct pw_weights_tensor){.name = t->name,
                                          .type = t->type,
                                          .readable = true,
                                          .n_dims = t->n_dims,
                                          .data = t->data,
                                          .bytes = t->bytes};
        memcpy(out->dims, t->dims, sizeof t->dims);
    }
    return sort_list(w, path, err);
}

/* Opens one file of either format. */
static enum pw_code open_file(struct pw_weights *w, const char *path, const char *name, struct pw_err *err)
{
    w->shards = pw_alloc(1, sizeof *w->shards);
    w->n_shards = 1;
    w->shards[0].name = pw_text_dup(name);
    enum pw_code code = map(&w->shards[0], path, err);
    if (code != PW_OK)
        return code;
    if (pw_gguf_is(w->shards[0].bytes, w->shards[0].size))
        return open_gguf(w, path, err);
    code = pw_st_open_large(&w->shards[0].st, w->shards[0].bytes, w->shards[0].size, path, err);
    return code == PW_OK ? list_shards(w, path, err) : code;
}

static int by_shard(const void *a, const void *b)
{
    return strcmp(((const struct shard *)a)->name, ((const struct shard *)b)->name);
}

/* Adds the name of a shard once. A name with a slash could lead out of the folder. */
static enum pw_code add_shard(struct pw_weights *w, const char *name, const char *index, struct pw_err *err)
{
    for (int i = w->n_shards - 1; i >= 0; i--)
        if (strcmp(w->shards[i].name, name) == 0)
            return PW_OK;
    if (w->n_shards == PW_WEIGHTS_SHARDS)
        return pw_fail(err, PW_EUSER, "%.240s: more than %d files", index, PW_WEIGHTS_SHARDS);
    if (name[0] == '\0' || name[0] == '.' || strlen(name) >= PW_SOURCE_NAME || strchr(name, '/') != NULL)
        return pw_fail(err, PW_EUSER, "%.240s: '%.80s' is not the name of a file beside it", index, name);
    w->shards[w->n_shards++].name = pw_text_dup(name);
    return PW_OK;
}

/* Reads the names of shards from the index's weight_map. */
static enum pw_code read_index(struct pw_weights *w, const char *index, struct pw_err *err)
{
    char *text;
    size_t size;
    enum pw_code code = pw_file_read_as(index, index, MAX_INDEX, &text, &size, err);
    if (code != PW_OK)
        return code;
    cJSON *root = cJSON_ParseWithLength(text, size), *item;
    free(text);
    const cJSON *map_of = cJSON_GetObjectItemCaseSensitive(root, "weight_map");
    w->shards = pw_alloc(PW_WEIGHTS_SHARDS, sizeof *w->shards);
    if (!cJSON_IsObject(map_of) || map_of->child == NULL)
        code = pw_fail(err, PW_EUSER, "%.240s: no JSON object with a weight_map of names", index);
    cJSON_ArrayForEach(item, map_of)
    {
        if (code == PW_OK && !cJSON_IsString(item))
            code = pw_fail(err, PW_EUSER, "%.240s: the weight_map must map names to files", index);
        if (code == PW_OK)
            code = add_shard(w, item->valuestring, index, err);
    }
    cJSON_Delete(root);
    return code;
}

static enum pw_code open_index(struct pw_weights *w, const char *folder, const char *index,
                               struct pw_err *err)
{
    enum pw_code code = read_index(w, index, err);
    if (code != PW_OK)
        return code;
    qsort(w->shards, (size_t)w->n_shards, sizeof *w->shards, by_shard);
    for (int i = 0; i < w->n_shards && code == PW_OK; i++) {
        struct pw_str path = {0};
        pw_str_add(&path, "%s/%s", folder, w->shards[i].name);
        if (access(path.s, F_OK) != 0)
            code = pw_fail(err, PW_EUSER, "%.240s: the file %d of %d of this model is missing", path.s, i + 1,
                           w->n_shards);
        else
            code = open_shard(&w->shards[i], path.s, err);
        pw_str_fini(&path);
    }
    return code == PW_OK ? list_shards(w, folder, err) : code;
}

static enum pw_code open_folder(struct pw_weights *w, const char *folder, struct pw_err *err)
{
    struct pw_str one = {0}, index = {0};
    enum pw_code code;
    pw_str_add(&one, "%s/model.safetensors", folder);
    pw_str_add(&index, "%s/model.safetensors.index.json", folder);
    if (access(one.s, F_OK) == 0)
        code = open_file(w, one.s, "model.safetensors", err);
    else if (access(index.s, F_OK) == 0)
        code = open_index(w, folder, index.s, err);
    else
        code = pw_fail(err, PW_EUSER,
                       "%.240s: no model.safetensors and no model.safetensors.index.json in this folder",
                       folder);
    pw_str_fini(&one);
    pw_str_fini(&index);
    return code;
}

enum pw_code pw_weights_open(struct pw_weights **out, const char *path, struct pw_err *err)
{
    struct pw_weights *w = pw_alloc(1, sizeof *w);
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    enum pw_code code = folder ? open_folder(w, path, err) : open_file(w, path, "", err);
    *out = code == PW_OK ? w : NULL;
    if (code != PW_OK)
        pw_weights_close(w);
    return code;
}

void pw_weights_close(struct pw_weights *w)
{
    if (w == NULL)
        return;
    for (int i = 0; i < w->n_shards; i++) {
        pw_st_close(&w->shards[i].st);
        pw_file_unmap(w->shards[i].bytes, w->shards[i].size);
        free(w->shards[i].name);
    }
    pw_gguf_close(&w->gguf);
    free(w->shards);
    free(w->tensors);
    free(w);
}

struct pw_weights_tensor *pw_weights_list(struct pw_weights *w, int *n)
{
    *n = w->n;
    return w->tensors;
}

struct pw_weights_tensor *pw_weights_find(struct pw_weights *w, const char *name)
{
    struct pw_weights_tensor key = {.name = name};
    return bsearch(&key, w->tensors, (size_t)w->n, sizeof key, by_name);
}

const struct pw_gguf *pw_weights_gguf(const struct pw_weights *w)
{
    return w->is_gguf ? &w->gguf : NULL;
}

void pw_weights_row(const struct pw_weights_tensor *t, int64_t row, float *out)
{
    const struct pw_number *number = &pw_numbers[t->type];
    int64_t columns = t->n_dims > 0 ? t->dims[t->n_dims - 1] : 1;
    size_t bytes = (size_t)(columns / number->values) * (size_t)number->bytes;
    pw_number_read(t->type, (const char *)t->data + (size_t)row * bytes, columns, out);
}

void pw_weights_done(const struct pw_weights_tensor *t)
{
    pw_pages_forget(t->data, t->bytes);
}

/* Hashes a shard in parts, of which only one is in this process's memory, so that the work can be cancelled.
 */
static enum pw_code hash_shard(uint8_t sha[32], const struct shard *s, struct pw_err *err)
{
    struct pw_sha256 h;
    enum pw_code code = PW_OK;
    pw_sha256_begin(&h);
    for (size_t at = 0; at < s->size && code == PW_OK;) {
        size_t part = s->size - at < AT_ONCE ? s->size - at : AT_ONCE;
        pw_sha256_add(&h, s->bytes + at, part);
        pw_pages_forget(s->bytes + at, part);
        at += part;
        code = pw_progress_add(part, err);
    }
    pw_sha256_end(&h, sha);
    return code;
}

enum pw_code pw_weights_sha(const struct pw_weights *w, char digits[65], size_t *bytes,
                            struct pw_source_file *files, int *n, struct pw_err *err)
{
    struct pw_sha256 all;
    uint8_t sha[32];
    enum pw_code code = PW_OK;
    *bytes = 0;
    for (int i = 0; i < w->n_shards; i++)
        *bytes += w->shards[i].size;
    pw_progress_begin("reading the model's files", *bytes);
    pw_sha256_begin(&all);
    for (int i = 0; i < w->n_shards && code == PW_OK; i++) {
        code = hash_shard(sha, &w->shards[i], err);
        pw_sha256_add(&all, sha, sizeof sha);
        files[i].bytes = w->shards[i].size;
        pw_text_copy(files[i].name, sizeof files[i].name, w->shards[i].name);
        pw_sha256_text(files[i].sha, sha);
    }
    pw_progress_end();
    *n = w->n_shards;
    if (w->n_shards > 1)
        pw_sha256_end(&all, sha);
    pw_sha256_text(digits, sha);
    return code;
}
