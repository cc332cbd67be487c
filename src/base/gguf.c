/* gguf.c - reads GGUF headers without trust (ggml's docs/gguf.md): a cursor never moves beyond the file, and
 * counts are limited before anything is allocated for them. */
#include "base/gguf.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian, and so are we");

enum { MAX_VALUES = 65536, MAX_TENSORS = 65536, MAX_KEY = 1024, MAX_NAME = 256, MAX_ALIGN = 65536 };
enum { FIRST = 8 << 20, MAX_HEAD = 512 << 20 }; /* bytes of a header that are read */

static const int sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}; /* bytes by enum pw_gguf_type */

/* A place in the file; what: its name in messages. */
struct cursor {
    const char *at, *end, *what;
    struct pw_err *err;
    uint64_t size; /* of the file, which may go on behind end */
};

static enum pw_code fail_short(const struct cursor *c)
{
    return pw_fail(c->err, PW_EUSER, "%.240s: the file is truncated inside its header", c->what);
}

static enum pw_code take(struct cursor *c, void *to, size_t n)
{
    if ((size_t)(c->end - c->at) < n)
        return fail_short(c);
    memcpy(to, c->at, n);
    c->at += n;
    return PW_OK;
}

static enum pw_code skip(struct cursor *c, uint64_t n)
{
    if ((uint64_t)(c->end - c->at) < n)
        return fail_short(c);
    c->at += n;
    return PW_OK;
}

/* Copies a string of at most `most` bytes without NUL; the caller frees it. */
static enum pw_code take_name(struct cursor *c, char **out, uint64_t most)
{
    uint64_t n = 0;
    enum pw_code code = take(c, &n, sizeof n);
    if (code != PW_OK)
        return code;
    if (n < 1 || n > most)
        return pw_fail(c->err, PW_EUSER, "%.240s: a name has %llu bytes; allowed are 1..%llu", c->what,
                       (unsigned long long)n, (unsigned long long)most);
    if ((uint64_t)(c->end - c->at) < n)
        return fail_short(c);
    if (!pw_utf8_valid(c->at, n) || memchr(c->at, '\0', n) != NULL)
        return pw_fail(c->err, PW_EUSER, "%.240s: a name is not UTF-8", c->what);
    *out = strndup(c->at, n);
    c->at += n;
    return *out != NULL ? PW_OK : pw_fail(c->err, PW_ENOMEM, "out of memory");
}

/* Moves behind n items of a type. */
static enum pw_code skip_items(struct cursor *c, uint32_t type, uint64_t n)
{
    if (type != PW_GGUF_STRING) {
        if (n > (uint64_t)(c->end - c->at))
            return fail_short(c);
        return skip(c, n * (uint64_t)sizes[type]);
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bytes = 0;
        enum pw_code code = take(c, &bytes, sizeof bytes);
        if (code == PW_OK)
            code = skip(c, bytes);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

static enum pw_code take_value(struct cursor *c, struct pw_gguf_value *v)
{
    uint32_t type = 0;
    enum pw_code code = take_name(c, &v->key, MAX_KEY);
    if (code == PW_OK)
        code = take(c, &type, sizeof type);
    v->n = 1;
    if (code == PW_OK && type == PW_GGUF_ARRAY) {
        v->array = true;
        code = take(c, &type, sizeof type);
        if (code == PW_OK)
            code = take(c, &v->n, sizeof v->n);
    }
    if (code != PW_OK)
        return code;
    if (type > PW_GGUF_F64 || type == PW_GGUF_ARRAY)
        return pw_fail(c->err, PW_EUSER, "%.240s: the metadata '%.80s' has the unknown type %u", c->what,
                       v->key, type);
    v->type = (enum pw_gguf_type)type;
    v->at = c->at;
    return skip_items(c, type, v->n);
}

/* Reads a tensor's line; its place in the file stays an offset in *at. */
static enum pw_code take_tensor(struct cursor *c, struct pw_gguf_tensor *t, uint64_t *at)
{
    uint32_t n_dims = 0, type = 0;
    enum pw_code code = take_name(c, &t->name, MAX_NAME);
    if (code == PW_OK)
        code = take(c, &n_dims, sizeof n_dims);
    if (code == PW_OK && (n_dims < 1 || n_dims > PW_GGUF_DIMS))
        code = pw_fail(c->err, PW_EUSER, "%.240s: tensor '%.80s' has %u dimensions; allowed are 1..%d",
                       c->what, t->name, n_dims, PW_GGUF_DIMS);
    uint64_t values = 1;
    for (uint32_t d = 0; d < n_dims && code == PW_OK; d++) {
        uint64_t dim = 0;
        code = take(c, &dim, sizeof dim);
        if (code == PW_OK && (dim < 1 || dim > ((uint64_t)1 << 40) / values))
            code =
                pw_fail(c->err, PW_EUSER, "%.240s: tensor '%.80s' has an impossible shape", c->what, t->name);
        if (code == PW_OK) {
            t->dims[n_dims - 1 - d] = (int64_t)dim;
            values *= dim;
        }
    }
    t->n_dims = (int)n_dims;
    if (code == PW_OK)
        code = take(c, &type, sizeof type);
    if (code == PW_OK)
        code = take(c, at, sizeof *at);
    if (code != PW_OK)
        return code;
    int k = 0;
    while (k < PW_NUMBER_TYPES && pw_numbers[k].gguf != (int)type)
        k++;
    if (k == PW_NUMBER_TYPES)
        return pw_fail(c->err, PW_EUSER,
                       "%.240s: tensor '%.80s' has type %u; pewter reads F32, F16, BF16, Q8_0, Q4_0, Q4_1, "
                       "Q4_K, Q5_K and Q6_K",
                       c->what, t->name, type);
    if (t->dims[n_dims - 1] % pw_numbers[k].values != 0)
        return pw_fail(c->err, PW_EUSER,
                       "%.240s: tensor '%.80s' has rows of %lld numbers; %s needs a multiple of %d", c->what,
                       t->name, (long long)t->dims[n_dims - 1], pw_numbers[k].name, pw_numbers[k].values);
    t->type = (enum pw_number_type)k;
    t->bytes = (size_t)values / (size_t)pw_numbers[k].values * (size_t)pw_numbers[k].bytes;
    return PW_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Fails if two of n names are equal. names is sorted. */
static enum pw_code check_unique(const struct cursor *c, const char **names, int n)
{
    qsort(names, (size_t)n, sizeof *names, by_text);
    for (int i = 1; i < n; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return pw_fail(c->err, PW_EUSER, "%.240s: the header has '%.80s' twice", c->what, names[i]);
    return PW_OK;
}

/* Reads general.alignment, 32 without it. */
static enum pw_code alignment(const struct pw_gguf *g, const struct cursor *c, uint64_t *out)
{
    const struct pw_gguf_value *v = pw_gguf_find(g, "general.alignment");
    double x = 32;
    if (v != NULL && (!pw_gguf_number(v, 0, &x) || !(x >= 1 && x <= MAX_ALIGN)))
        return pw_fail(c->err, PW_EUSER, "%.240s: general.alignment must be a number in 1..%d", c->what,
                       MAX_ALIGN);
    *out = (uint64_t)x;
    return PW_OK;
}

/* Turns offsets into addresses; the data begins at the next aligned byte behind the header. */
static enum pw_code place(struct pw_gguf *g, const struct cursor *c, const char *file, const uint64_t *at)
{
    uint64_t align = 32, size = c->size, begin;
    enum pw_code code = alignment(g, c, &align);
    if (code != PW_OK)
        return code;
    begin = ((uint64_t)(c->at - file) + align - 1) / align * align;
    for (int i = 0; i < g->n_tensors; i++) {
        struct pw_gguf_tensor *t = &g->tensors[i];
        if (at[i] % align != 0)
            return pw_fail(c->err, PW_EUSER, "%.240s: tensor '%.80s' is not at a multiple of %llu bytes",
                           c->what, t->name, (unsigned long long)align);
        if (begin > size || at[i] > size - begin || t->bytes > size - begin - at[i])
            return pw_fail(c->err, PW_EUSER,
                           "%.240s: the file is truncated: it ends before tensor '%.80s' does", c->what,
                           t->name);
        t->at = begin + at[i];
        t->data = size == (uint64_t)(c->end - file) ? file + t->at : NULL;
    }
    return PW_OK;
}

static enum pw_code read_lists(struct pw_gguf *g, struct cursor *c, const char *file, uint64_t *at,
                               const char **names, int n_values, int n_tensors)
{
    enum pw_code code = PW_OK;
    while (g->n_values < n_values && code == PW_OK)
        code = take_value(c, &g->values[g->n_values++]);
    for (int i = 0; i < g->n_values && code == PW_OK; i++)
        names[i] = g->values[i].key;
    if (code == PW_OK)
        code = check_unique(c, names, g->n_values);
    while (g->n_tensors < n_tensors && code == PW_OK) {
        code = take_tensor(c, &g->tensors[g->n_tensors], &at[g->n_tensors]);
        g->n_tensors++;
    }
    for (int i = 0; i < g->n_tensors && code == PW_OK; i++)
        names[i] = g->tensors[i].name;
    if (code == PW_OK)
        code = check_unique(c, names, g->n_tensors);
    return code == PW_OK ? place(g, c, file, at) : code;
}

bool pw_gguf_is(const char *bytes, size_t n)
{
    return n >= 4 && memcmp(bytes, "GGUF", 4) == 0;
}

/* bytes [n]: the beginning of a file of `size` bytes. */
static enum pw_code open_part(struct pw_gguf *g, const char *bytes, size_t n, uint64_t size, const char *what,
                              struct pw_err *err)
{
    struct cursor c = {bytes, bytes + n, what, err, size};
    uint32_t version = 0;
    uint64_t count[2] = {0, 0}; /* of tensors, of values */
    *g = (struct pw_gguf){0};
    if (!pw_gguf_is(bytes, n))
        return pw_fail(err, PW_EUSER, "%.240s: not a GGUF file", what);
    c.at += 4;
    enum pw_code code = take(&c, &version, sizeof version);
    if (code == PW_OK && version != 2 && version != 3)
        code = pw_fail(err, PW_EUSER, "%.240s: GGUF version %u%s; pewter reads versions 2 and 3", what,
                       version, (version & 0xffff) == 0 ? " (or big-endian)" : "");
    if (code == PW_OK)
        code = take(&c, count, sizeof count);
    if (code == PW_OK && (count[0] > MAX_TENSORS || count[1] > MAX_VALUES))
        code = pw_fail(err, PW_EUSER, "%.240s: more than %d tensors or %d lines of metadata", what,
                       MAX_TENSORS, MAX_VALUES);
    if (code != PW_OK)
        return code;
    size_t most = (size_t)(count[0] > count[1] ? count[0] : count[1]) + 1;
    uint64_t *at = calloc(most, sizeof *at);
    const char **names = calloc(most, sizeof *names);
    g->values = calloc((size_t)count[1] + 1, sizeof *g->values);
    g->tensors = calloc((size_t)count[0] + 1, sizeof *g->tensors);
    if (at != NULL && names != NULL && g->values != NULL && g->tensors != NULL)
        code = read_lists(g, &c, bytes, at, names, (int)count[1], (int)count[0]);
    else
        code = pw_fail(err, PW_ENOMEM, "out of memory");
    free(at);
    free(names);
    if (code != PW_OK)
        pw_gguf_close(g);
    return code;
}

enum pw_code pw_gguf_open(struct pw_gguf *g, const char *bytes, size_t n, const char *what,
                          struct pw_err *err)
{
    return open_part(g, bytes, n, n, what, err);
}

/* The length of a header is known only at its end: most have less than FIRST bytes. */
enum pw_code pw_gguf_read(struct pw_gguf *g, char **head, int fd, size_t size, const char *path,
                          struct pw_err *err)
{
    enum pw_code code = PW_EUSER;
    *head = NULL;
    *g = (struct pw_gguf){0};
    for (size_t n = FIRST, got = 0; code != PW_OK && got < size && n <= MAX_HEAD; n *= 4) {
        got = n < size ? n : size;
        free(*head);
        *head = malloc(got);
        if (*head == NULL)
            return pw_fail(err, PW_ENOMEM, "%.240s: out of memory: %zu bytes needed", path, got);
        code = pw_file_read_at(fd, path, *head, got, 0, err);
        if (code != PW_OK)
            return code;
        code = open_part(g, *head, got, size, path, err);
    }
    return code;
}

void pw_gguf_close(struct pw_gguf *g)
{
    for (int i = 0; i < g->n_values; i++)
        free(g->values[i].key);
    for (int i = 0; i < g->n_tensors; i++)
        free(g->tensors[i].name);
    free(g->values);
    free(g->tensors);
    *g = (struct pw_gguf){0};
}

const struct pw_gguf_value *pw_gguf_find(const struct pw_gguf *g, const char *key)
{
    for (int i = 0; i < g->n_values; i++)
        if (strcmp(g->values[i].key, key) == 0)
            return &g->values[i];
    return NULL;
}

bool pw_gguf_number(const struct pw_gguf_value *v, uint64_t i, double *out)
{
    int64_t whole = 0;
    float single;
    if (v->type == PW_GGUF_STRING || i >= v->n)
        return false;
    size_t size = (size_t)sizes[v->type];
    const char *at = v->at + i * size;
    if (v->type == PW_GGUF_F64) {
        memcpy(out, at, sizeof *out);
    } else if (v->type == PW_GGUF_F32) {
        memcpy(&single, at, sizeof single);
        *out = (double)single;
    } else {
        memcpy(&whole, at, size);
        bool is_signed = v->type == PW_GGUF_I8 || v->type == PW_GGUF_I16 || v->type == PW_GGUF_I32;
        int shift = is_signed ? (int)(64 - 8 * size) : 0;
        whole = (int64_t)((uint64_t)whole << shift) >> shift;
        *out = v->type == PW_GGUF_U64 ? (double)(uint64_t)whole : (double)whole;
    }
    return true;
}

const char *pw_gguf_text(const struct pw_gguf_value *v, uint64_t *n)
{
    if (v == NULL || v->type != PW_GGUF_STRING || v->array)
        return NULL;
    memcpy(n, v->at, sizeof *n);
    return v->at + sizeof *n;
}

void pw_gguf_strings(const struct pw_gguf_value *v, void (*each)(void *arg, const char *text, size_t n),
                     void *arg)
{
    const char *at = v->at;
    for (uint64_t i = 0; i < v->n && v->type == PW_GGUF_STRING; i++) {
        uint64_t bytes;
        memcpy(&bytes, at, sizeof bytes);
        each(arg, at + sizeof bytes, (size_t)bytes);
        at += sizeof bytes + bytes;
    }
}
