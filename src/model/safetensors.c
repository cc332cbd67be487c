/* safetensors.c - reads files without trust, writes them complete or not at all.
 *
 * A checkpoint can come from any source, so every number in the header is checked before use. The offsets
 * must tile the file exactly: overlapping tensors and hidden bytes have been used for attacks (Trail of Bits'
 * audit of the format, 2023). The limits are far below the format's own, which admit headers that take
 * minutes to parse. JSON keys are compared exactly. A repeated key is an error, because readers differ in the
 * value they take. */
#include "model/safetensors.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian, and so are we");

#define METADATA "__metadata__" /* the header's entry that is no tensor */

enum { MAX_HEADER = 1 << 20, MAX_TENSORS = 4096, MAX_META = 4096, MAX_NAME = 256 };

/* Limits on a header: of a checkpoint, and of a file of another program. */
struct limits {
    uint64_t header;
    int tensors;
};
static const struct limits own = {MAX_HEADER, MAX_TENSORS}, large = {PW_ST_LARGE_HEADER, 65536};

static const size_t max_file = (size_t)1 << 36;

static const struct {
    const char *name;
    enum pw_st_type type;
    int bytes;
} types[] = {
    {"F32", PW_ST_F32, 4},    {"I64", PW_ST_I64, 8},   {"F64", PW_ST_F64, 8},   {"F16", PW_ST_F16, 2},
    {"BF16", PW_ST_BF16, 2},  {"I32", PW_ST_OTHER, 4}, {"I16", PW_ST_OTHER, 2}, {"I8", PW_ST_OTHER, 1},
    {"U64", PW_ST_OTHER, 8},  {"U32", PW_ST_OTHER, 4}, {"U16", PW_ST_OTHER, 2}, {"U8", PW_ST_OTHER, 1},
    {"BOOL", PW_ST_OTHER, 1},
};

const char *const pw_st_type_names[] = {"F32", "F64", "I64", "F16", "BF16"};

/* Reads an integer in 0..2^53, the largest range that a JSON number represents exactly. */
static bool whole_number(const cJSON *item, int64_t *out)
{
    double x = cJSON_IsNumber(item) ? item->valuedouble : -1;

    if (!(x >= 0 && x <= 0x1p53) || x != (double)(int64_t)x)
        return false;
    *out = (int64_t)x;
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns a key that the object has twice, or NULL. */
static const char *twice(const cJSON *object, const char **names)
{
    const cJSON *item;
    int n = 0;

    cJSON_ArrayForEach(item, object) names[n++] = item->string;
    qsort(names, (size_t)n, sizeof *names, by_text);
    for (int i = 1; i < n; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return names[i];
    return NULL;
}

static bool all_strings(const cJSON *object)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, object)
    {
        if (!cJSON_IsString(item))
            return false;
    }
    return cJSON_IsObject(object);
}

/* Sets *t; span gets begin and end of the tensor's bytes. */
static enum pw_code read_tensor(struct pw_st_tensor *t, int64_t span[2], const cJSON *item, const char *path,
                                struct pw_err *err)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(item, "dtype"), *dim;
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(item, "shape");
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(item, "data_offsets");
    int64_t bytes = 0;

    if (strlen(item->string) > MAX_NAME || !pw_utf8_valid(item->string, strlen(item->string)))
        return pw_fail(err, PW_EUSER, "%s: a tensor's name is longer than %d bytes or not UTF-8", path,
                       MAX_NAME);
    *t = (struct pw_st_tensor){.name = item->string};
    if (!cJSON_IsObject(item) || cJSON_GetArraySize(item) != 3 || !cJSON_IsString(type) ||
        !cJSON_IsArray(shape) || !cJSON_IsArray(offsets) || cJSON_GetArraySize(offsets) != 2)
        return pw_fail(err, PW_EUSER, "%s: tensor '%.80s' must have exactly dtype, shape and data_offsets",
                       path, t->name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, type->valuestring) == 0) {
            t->type = types[i].type;
            bytes = types[i].bytes;
        }
    }
    if (bytes == 0)
        return pw_fail(err, PW_EUSER, "%s: tensor '%.80s' has the unknown dtype '%s'", path, t->name,
                       type->valuestring);
    cJSON_ArrayForEach(dim, shape)
    {
        int64_t *d = &t->dims[t->n_dims];
        if (t->n_dims == PW_ST_DIMS)
            return pw_fail(err, PW_EUSER, "%s: tensor '%.80s' has more than %d dimensions", path, t->name,
                           PW_ST_DIMS);
        if (!whole_number(dim, d) || (*d > 0 && bytes > ((int64_t)1 << 53) / *d))
            return pw_fail(err, PW_EUSER, "%s: tensor '%.80s' has an impossible shape", path, t->name);
        bytes *= *d;
        t->n_dims++;
    }
    if (!whole_number(cJSON_GetArrayItem(offsets, 0), &span[0]) ||
        !whole_number(cJSON_GetArrayItem(offsets, 1), &span[1]) || span[1] < span[0] ||
        span[1] - span[0] != bytes)
        return pw_fail(err, PW_EUSER,
                       "%s: tensor '%.80s' needs %lld bytes, which contradicts its data_offsets", path,
                       t->name, (long long)bytes);
    t->bytes = (size_t)bytes;
    return PW_OK;
}

/* A tensor with its place in the file, for sorting. */
struct placed {
    struct pw_st_tensor t;
    int64_t span[2];
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->span[0] != y->span[0])
        return x->span[0] < y->span[0] ? -1 : 1;
    return (x->span[1] > y->span[1]) - (x->span[1] < y->span[1]);
}

/* The bytes behind the header: n bytes, at an offset of the file. at NULL: they were not read. */
struct body {
    const char *at;
    size_t n;
    uint64_t offset;
};

/* Sorts the tensors and checks that they tile the body. */
static enum pw_code place(struct pw_st *st, struct placed *list, const struct body *body, const char *path,
                          struct pw_err *err)
{
    int64_t end = 0;

    qsort(list, (size_t)st->n, sizeof *list, by_place);
    for (int i = 0; i < st->n; i++) {
        if (list[i].span[0] != end)
            return pw_fail(err, PW_EUSER,
                           "%s: tensor '%.80s' starts at byte %lld, the previous one ends at %lld", path,
                           list[i].t.name, (long long)list[i].span[0], (long long)end);
        end = list[i].span[1];
        if ((uint64_t)end > body->n)
            return pw_fail(err, PW_EUSER,
                           "%s: the file is truncated: tensor '%.80s' ends at byte %lld of %zu", path,
                           list[i].t.name, (long long)end, body->n);
        st->tensors[i] = list[i].t;
        st->tensors[i].data = body->at != NULL ? body->at + list[i].span[0] : NULL;
        st->tensors[i].at = body->offset + (uint64_t)list[i].span[0];
    }
    if ((uint64_t)end != body->n)
        return pw_fail(err, PW_EUSER, "%s: %zu bytes follow the last tensor", path, body->n - (size_t)end);
    return PW_OK;
}

static enum pw_code read_header(struct pw_st *st, const struct body *body, struct placed *list,
                                const char **names, const char *path, struct pw_err *err)
{
    const cJSON *item;
    const char *same = twice(st->header, names);

    if (same != NULL)
        return pw_fail(err, PW_EUSER, "%s: the header has '%s' twice", path, same);
    cJSON_ArrayForEach(item, st->header)
    {
        enum pw_code code;
        if (strcmp(item->string, METADATA) == 0) {
            if (!all_strings(item))
                return pw_fail(err, PW_EUSER, "%s: the metadata must map strings to strings", path);
            continue;
        }
        code = read_tensor(&list[st->n].t, list[st->n].span, item, path, err);
        if (code)
            return code;
        st->n++;
    }
    item = pw_st_metadata(st);
    if (item != NULL && cJSON_GetArraySize(item) > MAX_META)
        return pw_fail(err, PW_EUSER, "%s: more than %d lines of metadata", path, MAX_META);
    same = item != NULL ? twice(item, names) : NULL;
    if (same != NULL)
        return pw_fail(err, PW_EUSER, "%s: the metadata has '%s' twice", path, same);
    return place(st, list, body, path, err);
}

/* size: of the whole file. file: its bytes, at least the header. whole: all bytes are present. */
static enum pw_code parse_into(struct pw_st *st, const char *file, size_t size, bool whole,
                               const struct limits *most, const char *path, struct pw_err *err)
{
    const char *end = NULL, *text, **names;
    struct placed *list;
    uint64_t header = 0;
    enum pw_code code;
    int n;

    if (size < 8)
        return pw_fail(err, PW_EUSER, "%s: not a safetensors file: it has %zu bytes", path, size);
    memcpy(&header, file, 8);
    text = file + 8;
    if (header > most->header)
        return pw_fail(err, PW_EUSER, "%s: not a safetensors file, or its header is over %d MiB", path,
                       (int)(most->header >> 20));
    if (header > size - 8)
        return pw_fail(err, PW_EUSER, "%s: the file is truncated inside its header", path);
    if (header < 2 || text[0] != '{' || memchr(text, '\0', header) != NULL)
        return pw_fail(err, PW_EUSER, "%s: not a safetensors file: its header is not a JSON object", path);
    st->header = cJSON_ParseWithLengthOpts(text, header, &end, false);
    while (st->header != NULL && end < text + header && *end == ' ')
        end++;
    if (st->header == NULL || end != text + header)
        return pw_fail(err, PW_EUSER, "%s: not a safetensors file: its header is not a JSON object", path);
    n = cJSON_GetArraySize(st->header);
    if (n > most->tensors)
        return pw_fail(err, PW_EUSER, "%s: more than %d tensors", path, most->tensors);

    list = calloc((size_t)n + 1, sizeof *list);
    names = calloc((size_t)(n > MAX_META ? n : MAX_META) + 1, sizeof *names);
    st->tensors = calloc((size_t)n + 1, sizeof *st->tensors);
    if (list != NULL && names != NULL && st->tensors != NULL)
        code = read_header(st, &(struct body){whole ? text + header : NULL, size - 8 - header, 8 + header},
                           list, names, path, err);
    else
        code = pw_fail(err, PW_ENOMEM, "out of memory");
    free(list);
    free(names);
    return code;
}

static enum pw_code parse(struct pw_st *st, const char *file, size_t size, bool whole,
                          const struct limits *most, const char *path, struct pw_err *err)
{
    enum pw_code code = parse_into(st, file, size, whole, most, path, err);

    if (code)
        pw_st_close(st);
    return code;
}

enum pw_code pw_st_open(struct pw_st *st, const char *path, struct pw_err *err)
{
    size_t size;
    enum pw_code code;

    *st = (struct pw_st){0};
    code = pw_file_read(path, max_file, &st->file, &size, err);
    return code ? code : parse(st, st->file, size, true, &own, path, err);
}

enum pw_code pw_st_open_bytes(struct pw_st *st, const void *bytes, size_t n, const char *what,
                              struct pw_err *err)
{
    *st = (struct pw_st){0};
    return parse(st, bytes, n, true, &own, what, err);
}

enum pw_code pw_st_open_large(struct pw_st *st, const void *head, size_t size, const char *what,
                              struct pw_err *err)
{
    *st = (struct pw_st){0};
    return parse(st, head, size, false, &large, what, err);
}

enum pw_code pw_st_open_header(struct pw_st *st, const char *path, struct pw_err *err)
{
    size_t size, got;
    uint64_t header = 0;
    enum pw_code code;

    *st = (struct pw_st){0};
    code = pw_file_read_head(path, sizeof header, &st->file, &got, &size, err);
    if (code)
        return code;
    memcpy(&header, st->file, got);
    if (got == sizeof header && header <= MAX_HEADER) { /* otherwise parse reports the fault */
        free(st->file);
        code = pw_file_read_head(path, sizeof header + header, &st->file, &got, &size, err);
        if (code)
            return code;
        size = got < sizeof header + header ? got : size; /* the file has become shorter since */
    }
    return parse(st, st->file, size, false, &own, path, err);
}

void pw_st_close(struct pw_st *st)
{
    cJSON_Delete(st->header);
    free(st->tensors);
    free(st->file);
    *st = (struct pw_st){0};
}

const struct pw_st_tensor *pw_st_find(const struct pw_st *st, const char *name)
{
    for (int i = 0; i < st->n; i++)
        if (strcmp(st->tensors[i].name, name) == 0)
            return &st->tensors[i];
    return NULL;
}

const cJSON *pw_st_metadata(const struct pw_st *st)
{
    return cJSON_GetObjectItemCaseSensitive(st->header, METADATA);
}

const char *pw_st_meta(const struct pw_st *st, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(pw_st_metadata(st), key));
}

/* Returns the header's text (cJSON_free), or NULL without memory. */
static char *make_header(const struct pw_st_tensor *tensors, int n, const cJSON *meta)
{
    cJSON *root = cJSON_CreateObject(), *copy = cJSON_Duplicate(meta, true);
    double at = 0;
    bool ok = cJSON_AddItemToObject(root, METADATA, copy);
    char *text;

    for (int i = 0; i < n && ok; i++) {
        const struct pw_st_tensor *t = &tensors[i];
        cJSON *item = cJSON_AddObjectToObject(root, t->name), *shape, *offsets;
        assert(t->type != PW_ST_OTHER);
        ok = cJSON_AddStringToObject(item, "dtype", pw_st_type_names[t->type]) != NULL;
        shape = cJSON_AddArrayToObject(item, "shape");
        for (int d = 0; d < t->n_dims; d++)
            ok = cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)t->dims[d])) && ok;
        offsets = cJSON_AddArrayToObject(item, "data_offsets");
        ok = cJSON_AddItemToArray(offsets, cJSON_CreateNumber(at)) && ok;
        at += (double)t->bytes;
        ok = cJSON_AddItemToArray(offsets, cJSON_CreateNumber(at)) && ok;
    }
    text = ok ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    return text;
}

/* The bytes to write, for a file or for memory. */
struct layout {
    char *header; /* cJSON_free */
    uint64_t length, padded;
    size_t bytes; /* in all */
};

static enum pw_code lay_out(struct layout *lay, const struct pw_st_tensor *tensors, int n, const cJSON *meta,
                            const char *path, struct pw_err *err)
{
    *lay = (struct layout){.header = make_header(tensors, n, meta)};
    if (lay->header == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    lay->length = strlen(lay->header);
    lay->padded = (lay->length + 7) / 8 * 8; /* aligns the data */
    lay->bytes = sizeof lay->padded + lay->padded;
    for (int i = 0; i < n; i++)
        lay->bytes += tensors[i].bytes;
    if (lay->padded <= MAX_HEADER && n <= MAX_TENSORS)
        return PW_OK;
    cJSON_free(lay->header);
    return pw_fail(err, PW_EUSER, "%s: %d tensors need a header over 1 MiB", path, n);
}

/* Writes the header and frees it. The owner of the stream checks for write errors. */
static void put_header(FILE *out, struct layout *lay)
{
    static const char spaces[8] = "        ";

    fwrite(&lay->padded, 1, sizeof lay->padded, out);
    fwrite(lay->header, 1, lay->length, out);
    fwrite(spaces, 1, lay->padded - lay->length, out);
    cJSON_free(lay->header);
}

enum pw_code pw_st_write_from(const char *path, const struct pw_st_tensor *tensors, int n, const cJSON *meta,
                              const void *(*data)(void *arg, int i), void *arg, struct pw_err *err)
{
    struct layout lay;
    struct pw_file *f;
    enum pw_code code = lay_out(&lay, tensors, n, meta, path, err);

    if (code)
        return code;
    code = pw_file_create(&f, path, err);
    if (code) {
        cJSON_free(lay.header);
        return code;
    }
    put_header(pw_file_stream(f), &lay);
    for (int i = 0; i < n; i++)
        fwrite(data(arg, i), 1, tensors[i].bytes, pw_file_stream(f));
    return pw_file_commit(f, err); /* reports any write error */
}

static const void *own_data(void *arg, int i)
{
    const struct pw_st_tensor *tensors = arg;
    return tensors[i].data;
}

enum pw_code pw_st_write(const char *path, const struct pw_st_tensor *tensors, int n, const cJSON *meta,
                         struct pw_err *err)
{
    return pw_st_write_from(path, tensors, n, meta, own_data, (void *)(uintptr_t)tensors, err);
}

enum pw_code pw_st_image(void **bytes, size_t *size, const struct pw_st_tensor *tensors, int n,
                         const cJSON *meta, struct pw_err *err)
{
    struct layout lay;
    enum pw_code code = lay_out(&lay, tensors, n, meta, "a model in memory", err);
    FILE *out;

    *bytes = NULL;
    if (code)
        return code;
    *size = lay.bytes;
    *bytes = malloc(lay.bytes + 1); /* fmemopen appends a NUL, which must not overwrite the last byte */
    out = *bytes != NULL ? fmemopen(*bytes, lay.bytes + 1, "wb") : NULL;
    if (out == NULL) {
        cJSON_free(lay.header);
        free(*bytes);
        *bytes = NULL;
        return pw_fail(err, PW_ENOMEM, "out of memory for a checkpoint of %zu MiB", lay.bytes >> 20);
    }
    put_header(out, &lay);
    for (int i = 0; i < n; i++)
        fwrite(tensors[i].data, 1, tensors[i].bytes, out);
    if (fclose(out) == 0)
        return PW_OK;
    free(*bytes);
    *bytes = NULL;
    return pw_fail(err, PW_ENOMEM, "out of memory for a checkpoint of %zu MiB", lay.bytes >> 20);
}
