/* weights.c - opens the files of a model, lists their tensors by name, and reads rows. Rows are read in
 * blocks, because most are asked for one after the other. */
#include "foreign/weights.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/text.h"
#include "model/safetensors.h"

enum { MAX_INDEX = 32 << 20, BLOCK = 256 << 10 };

/* One open file. */
struct shard {
    char *name; /* in its folder; "": opened by its own path */
    char *path;
    int fd;     /* -1: not open */
    char *head; /* its beginning, up to the tensors; NULL: not read */
    size_t size;
    struct pw_st st; /* empty for GGUF */
};

/* The bytes of a file that were read last. */
struct block {
    char *bytes; /* [room] */
    size_t room, n;
    int shard;
    uint64_t at;
};

struct pw_weights {
    struct shard *shards; /* [n_shards] by name */
    int n_shards;
    struct pw_gguf gguf;
    bool is_gguf;
    struct pw_weights_tensor *tensors; /* [n] by name */
    int n;
    struct block block;
};

static int by_name(const void *a, const void *b)
{
    const struct pw_weights_tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Allocates n closed files. */
static void alloc_shards(struct pw_weights *w, int n)
{
    w->shards = pw_alloc((size_t)n, sizeof *w->shards);
    for (int i = 0; i < n; i++)
        w->shards[i].fd = -1;
}

static enum pw_code open_path(struct shard *s, const char *path, struct pw_err *err)
{
    s->path = pw_text_dup(path);
    return pw_file_open(&s->fd, path, &s->size, err);
}

/* Reads the header of a safetensors file; one that claims to be too long is not read. */
static enum pw_code read_st(struct shard *s, struct pw_err *err)
{
    uint64_t length = 0;
    size_t first = s->size < sizeof length ? s->size : sizeof length;
    enum pw_code code = pw_file_read_at(s->fd, s->path, &length, first, 0, err);
    if (code != PW_OK)
        return code;
    size_t n = sizeof length + (length <= PW_ST_LARGE_HEADER ? (size_t)length : 0);
    n = n < s->size ? n : s->size;
    s->head = pw_alloc(n + sizeof length, 1);
    code = pw_file_read_at(s->fd, s->path, s->head, n, 0, err);
    return code == PW_OK ? pw_st_open_large(&s->st, s->head, s->size, s->path, err) : code;
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

static struct pw_weights_tensor from_st(const struct pw_st_tensor *t, int shard)
{
    struct pw_weights_tensor out = {
        .name = t->name, .n_dims = t->n_dims, .shard = shard, .at = t->at, .bytes = t->bytes};
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
            w->tensors[w->n++] = from_st(&w->shards[i].st.tensors[k], i);
    return sort_list(w, path, err);
}

static enum pw_code open_shard(struct shard *s, const char *path, struct pw_err *err)
{
    enum pw_code code = open_path(s, path, err);
    return code == PW_OK ? read_st(s, err) : code;
}

static enum pw_code open_gguf(struct pw_weights *w, const char *path, struct pw_err *err)
{
    struct shard *s = &w->shards[0];
    enum pw_code code = pw_gguf_read(&w->gguf, &s->head, s->fd, s->size, path, err);
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
                                          .at = t->at,
                                          .bytes = t->bytes};
        memcpy(out->dims, t->dims, sizeof t->dims);
    }
    return sort_list(w, path, err);
}

/* Opens one file of either format. */
static enum pw_code open_file(struct pw_weights *w, const char *path, const char *name, struct pw_err *err)
{
    char magic[4];
    alloc_shards(w, 1);
    w->n_shards = 1;
    struct shard *s = &w->shards[0];
    s->name = pw_text_dup(name);
    enum pw_code code = open_path(s, path, err);
    if (code != PW_OK)
        return code;
    size_t n = s->size < sizeof magic ? s->size : sizeof magic;
    code = pw_file_read_at(s->fd, path, magic, n, 0, err);
    if (code == PW_OK && pw_gguf_is(magic, n))
        return open_gguf(w, path, err);
    if (code == PW_OK)
        code = read_st(s, err);
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
    alloc_shards(w, PW_WEIGHTS_SHARDS);
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
    struct pw_str place = {0};
    struct stat st;
    pw_file_place(path, &place);
    bool folder = stat(place.s, &st) == 0 && S_ISDIR(st.st_mode);
    enum pw_code code = folder ? open_folder(w, place.s, err) : open_file(w, place.s, "", err);
    pw_str_fini(&place);
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
        if (w->shards[i].fd >= 0)
            close(w->shards[i].fd);
        free(w->shards[i].head);
        free(w->shards[i].path);
        free(w->shards[i].name);
    }
    pw_gguf_close(&w->gguf);
    free(w->block.bytes);
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

/* Makes the block hold n bytes of a tensor from offset `at` of its file on, and as many behind it as fit. */
static enum pw_code read_block(struct pw_weights *w, const struct pw_weights_tensor *t, uint64_t at, size_t n,
                               struct pw_err *err)
{
    struct block *b = &w->block;
    const struct shard *s = &w->shards[t->shard];
    if (b->shard == t->shard && at >= b->at && at + n <= b->at + b->n)
        return PW_OK;
    if (b->room < n || b->bytes == NULL) {
        b->room = n > BLOCK ? n : BLOCK;
        free(b->bytes);
        b->bytes = malloc(b->room);
    }
    b->n = 0;
    if (b->bytes == NULL)
        return pw_fail(err, PW_ENOMEM, "%.200s: out of memory: %zu bytes needed", s->path, b->room);
    uint64_t left = t->at + t->bytes - at;
    size_t many = left < b->room ? (size_t)left : b->room;
    enum pw_code code = pw_file_read_at(s->fd, s->path, b->bytes, many, at, err);
    b->shard = t->shard;
    b->at = at;
    b->n = code == PW_OK ? many : 0;
    return code;
}

enum pw_code pw_weights_row(struct pw_weights *w, const struct pw_weights_tensor *t, int64_t row, float *out,
                            struct pw_err *err)
{
    const struct pw_number *number = &pw_numbers[t->type];
    int64_t columns = t->n_dims > 0 ? t->dims[t->n_dims - 1] : 1;
    size_t bytes = (size_t)(columns / number->values) * (size_t)number->bytes;
    uint64_t at = t->at + (uint64_t)row * bytes;
    enum pw_code code = read_block(w, t, at, bytes, err);
    if (code == PW_OK)
        pw_number_read(t->type, w->block.bytes + (at - w->block.at), columns, out);
    return code;
}

size_t pw_weights_bytes(const struct pw_weights *w)
{
    size_t bytes = 0;
    for (int i = 0; i < w->n_shards; i++)
        bytes += w->shards[i].size;
    return bytes;
}

enum pw_code pw_weights_sha(const struct pw_weights *w, char digits[65], struct pw_source_file *files, int *n,
                            struct pw_err *err)
{
    struct pw_sha256 all;
    uint8_t sha[32];
    enum pw_code code = PW_OK;
    pw_progress_begin("reading the model's files", pw_weights_bytes(w));
    pw_sha256_begin(&all);
    for (int i = 0; i < w->n_shards && code == PW_OK; i++) {
        code = pw_file_sha(w->shards[i].fd, w->shards[i].path, w->shards[i].size, sha, err);
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
