/* npz_read.c - read an .npz by its central directory. Only the directory has the size of an entry whose
 * writer did not know it in advance (PKWARE's APPNOTE, 4.3.12 and 4.3.16). */
#include "base/npz_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/half.h"
#include "base/text.h"

enum {
    LOCAL_SIZE = 30,
    CENTRAL_SIZE = 46,
    END_SIZE = 22,
    MOST_ARRAYS = 64,
    MOST_HEADER = 1 << 16, /* bytes of an array's header */
    MOST_STRING = 1 << 10, /* bytes of a string element */
};

struct pw_npz_file {
    const char *path; /* set while the file is read */
    char *bytes;
    size_t size, limit, unpacked; /* bytes unpacked so far */
    int n;
    struct pw_npz_array arrays[MOST_ARRAYS];
    void *owned[MOST_ARRAYS]; /* memory of unpacked arrays; NULL: the array is in bytes */
};

static enum pw_code broken(const struct pw_npz_file *z, const char *name, const char *what,
                           struct pw_err *err)
{
    return pw_fail(err, PW_EUSER, "%.200s%s%s: %s", z->path, name[0] != '\0' ? ": " : "", name, what);
}

/* ---- ZIP */

static uint32_t get16(const char *p)
{
    return (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8;
}

static uint32_t get32(const char *p)
{
    return get16(p) | get16(p + 2) << 16;
}

/* One entry of the central directory. */
struct entry {
    uint32_t method, crc, packed, size, local;
    const char *name;
    size_t n_name;
};

static enum pw_code unpack(struct pw_npz_file *z, const struct entry *e, const char *packed, const char *name,
                           struct pw_err *err)
{
    size_t n = e->size > 0 ? e->size : 1;
    if (z->unpacked + n > z->limit)
        return broken(z, name, "is larger than the limit when unpacked", err);
    unsigned char *out = malloc(n);
    if (out == NULL)
        return broken(z, name, "out of memory to unpack it", err);
    z->owned[z->n] = out;
    z->unpacked += n;
    z_stream s = {
        .next_in = (unsigned char *)packed, .avail_in = e->packed, .next_out = out, .avail_out = e->size};
    bool well = inflateInit2(&s, -MAX_WBITS) == Z_OK;
    well = well && inflate(&s, Z_FINISH) == Z_STREAM_END && s.total_out == e->size;
    inflateEnd(&s);
    return well ? PW_OK : broken(z, name, "cannot be unpacked", err);
}

/* ---- .npy: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } */

static const char *skip(const char *s, const char *what)
{
    size_t n = strlen(what);
    while (s != NULL && *s == ' ')
        s++;
    return s != NULL && strncmp(s, what, n) == 0 ? s + n : NULL;
}

static const char *read_descr(const char *s, struct pw_npz_array *a)
{
    static const char *const sizes[][2] = {{"f", "248"}, {"i", "1248"}, {"u", "1248"}, {"b", "1"}};
    char *end;
    s = skip(s, "'");
    if (s == NULL || (*s != '<' && *s != '|' && *s != '='))
        return NULL;
    a->type = s[1];
    long size = s[1] != '\0' && s[2] >= '0' && s[2] <= '9' ? strtol(s + 2, &end, 10) : 0;
    if (size < 1 || size > MOST_STRING)
        return NULL;
    a->size = (int)size;
    if (a->type == 'U') {
        a->size = (int)size * 4;
        return skip(end, "'");
    }
    bool known = a->type == 'S';
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        known = known ||
                (a->type == sizes[i][0][0] && size < 10 && strchr(sizes[i][1], (char)('0' + size)) != NULL);
    return known ? skip(end, "'") : NULL;
}

static const char *read_shape(const char *s, struct pw_npz_array *a)
{
    s = skip(s, "(");
    a->n = 1;
    for (a->n_dims = 0; s != NULL && skip(s, ")") == NULL; a->n_dims++) {
        char *end;
        while (*s == ' ')
            s++;
        if (a->n_dims == PW_NPZ_DIMS || *s < '0' || *s > '9')
            return NULL;
        long long d = strtoll(s, &end, 10);
        if (d > INT32_MAX || __builtin_mul_overflow(a->n, (int64_t)d, &a->n) || a->n > INT32_MAX)
            return NULL;
        a->dims[a->n_dims] = d;
        s = skip(end, ",") != NULL ? skip(end, ",") : end;
    }
    return skip(s, ")");
}

/* The dictionary's keys may come in any order. */
static bool read_dictionary(const char *s, struct pw_npz_array *a)
{
    bool descr = false, order = false, shape = false;
    for (s = skip(s, "{"); s != NULL && skip(s, "}") == NULL;) {
        const char *at;
        if ((at = skip(s, "'descr':")) != NULL && !descr) {
            s = read_descr(at, a);
            descr = true;
        } else if ((at = skip(s, "'fortran_order':")) != NULL && !order) {
            s = skip(at, "False");
            order = true;
        } else if ((at = skip(s, "'shape':")) != NULL && !shape) {
            s = read_shape(at, a);
            shape = true;
        } else {
            return false;
        }
        s = s != NULL && skip(s, ",") != NULL ? skip(s, ",") : s;
    }
    return s != NULL && descr && order && shape;
}

static enum pw_code read_npy(struct pw_npz_file *z, struct pw_npz_array *a, const char *data, size_t n,
                             struct pw_err *err)
{
    static const char wrong[] = "not an array of numbers or strings in C order, as numpy.save writes it";
    if (n < 12 || memcmp(data, "\x93NUMPY", 6) != 0 || data[6] < 1 || data[6] > 3)
        return broken(z, a->name, wrong, err);
    size_t at = data[6] == 1 ? 10 : 12, head = data[6] == 1 ? get16(data + 8) : get32(data + 8);
    if (head > MOST_HEADER || head > n - at)
        return broken(z, a->name, wrong, err);
    char *text = memcpy(pw_alloc(head + 1, 1), data + at, head);
    bool well = read_dictionary(text, a);
    free(text);
    if (!well)
        return broken(z, a->name, wrong, err);
    a->data = (const unsigned char *)data + at + head;
    if ((uint64_t)a->n * (uint64_t)a->size != n - at - head)
        return broken(z, a->name, "its size does not match its shape", err);
    return PW_OK;
}

/* ---- entries */

static enum pw_code read_entry(struct pw_npz_file *z, const struct entry *e, struct pw_err *err)
{
    struct pw_npz_array *a = &z->arrays[z->n];
    if (e->n_name < 5 || e->n_name - 4 >= sizeof a->name || memcmp(e->name + e->n_name - 4, ".npy", 4) != 0)
        return PW_OK; /* the archive may contain other files */
    if (z->n == MOST_ARRAYS)
        return broken(z, "", "more than 64 arrays", err);
    char name[sizeof a->name];
    snprintf(name, sizeof name, "%.*s", (int)e->n_name - 4, e->name);
    pw_text_copy(a->name, sizeof a->name, name);
    if (e->local > z->size || z->size - e->local < LOCAL_SIZE ||
        memcmp(z->bytes + e->local, "PK\x03\x04", 4) != 0)
        return broken(z, a->name, "it is not at the place that the directory names", err);
    const char *local = z->bytes + e->local;
    size_t at = e->local + LOCAL_SIZE + get16(local + 26) + get16(local + 28);
    if (at > z->size || e->packed > z->size - at)
        return broken(z, a->name, "the file ends inside it", err);
    const char *data = z->bytes + at;
    if (e->method == 8) {
        enum pw_code code = unpack(z, e, data, a->name, err);
        if (code != PW_OK)
            return code;
        data = z->owned[z->n];
    } else if (e->method != 0 || e->packed != e->size) {
        return broken(z, a->name, "its compression is neither 'stored' nor 'deflate'", err);
    }
    if (crc32(0, (const unsigned char *)data, e->size) != e->crc)
        return broken(z, a->name, "its checksum is wrong", err);
    enum pw_code code = read_npy(z, a, data, e->size, err);
    z->n += code == PW_OK;
    return code;
}

static enum pw_code read_directory(struct pw_npz_file *z, struct pw_err *err)
{
    static const char none[] = "not an .npz: it has no ZIP directory";
    const char *end = NULL;
    for (size_t back = END_SIZE; end == NULL && back <= z->size && back <= END_SIZE + 0xffff; back++)
        if (memcmp(z->bytes + z->size - back, "PK\x05\x06", 4) == 0)
            end = z->bytes + z->size - back;
    if (end == NULL)
        return broken(z, "", none, err);
    size_t at = get32(end + 16), n = get16(end + 10), stop = (size_t)(end - z->bytes);
    for (size_t i = 0; i < n; i++) {
        if (at > stop || stop - at < CENTRAL_SIZE || memcmp(z->bytes + at, "PK\x01\x02", 4) != 0)
            return broken(z, "", none, err);
        const char *p = z->bytes + at;
        struct entry e = {.method = get16(p + 10),
                          .crc = get32(p + 16),
                          .packed = get32(p + 20),
                          .size = get32(p + 24),
                          .local = get32(p + 42),
                          .name = p + CENTRAL_SIZE,
                          .n_name = get16(p + 28)};
        size_t whole = CENTRAL_SIZE + e.n_name + get16(p + 30) + get16(p + 32);
        if (whole > stop - at)
            return broken(z, "", none, err);
        enum pw_code code = read_entry(z, &e, err);
        if (code != PW_OK) {
            free(z->owned[z->n]); /* unpacked, but its array was rejected */
            z->owned[z->n] = NULL;
            return code;
        }
        at += whole;
    }
    return PW_OK;
}

enum pw_code pw_npz_read(struct pw_npz_file **out, const char *path, size_t limit, struct pw_err *err)
{
    struct pw_npz_file *z = pw_alloc(1, sizeof *z);
    z->path = path;
    z->limit = limit;
    enum pw_code code = pw_file_read(path, limit, &z->bytes, &z->size, err);
    if (code == PW_OK)
        code = read_directory(z, err);
    if (code != PW_OK) {
        pw_npz_free(z);
        return code;
    }
    z->path = NULL;
    *out = z;
    return PW_OK;
}

void pw_npz_free(struct pw_npz_file *z)
{
    if (z == NULL)
        return;
    for (int i = 0; i < z->n; i++)
        free(z->owned[i]);
    free(z->bytes);
    free(z);
}

const struct pw_npz_array *pw_npz_find(const struct pw_npz_file *z, const char *name)
{
    for (int i = 0; i < z->n; i++)
        if (strcmp(z->arrays[i].name, name) == 0)
            return &z->arrays[i];
    return NULL;
}

/* ---- elements */

static uint64_t bits_of(const struct pw_npz_array *a, int64_t i)
{
    uint64_t bits = 0;
    /* the machine is little-endian, as npz.c checks */
    memcpy(&bits, a->data + (size_t)i * (size_t)a->size, (size_t)a->size);
    return bits;
}

float pw_npz_float(const struct pw_npz_array *a, int64_t i)
{
    if (a->type != 'f')
        return (float)pw_npz_int(a, i);
    uint64_t bits = bits_of(a, i);
    float x;
    double d;
    if (a->size == 2)
        return pw_from_half((uint16_t)bits);
    memcpy(&x, &bits, sizeof x);
    memcpy(&d, &bits, sizeof d);
    return a->size == 4 ? x : (float)d;
}

int64_t pw_npz_int(const struct pw_npz_array *a, int64_t i)
{
    if (a->type != 'i' && a->type != 'u' && a->type != 'b')
        return 0;
    uint64_t bits = bits_of(a, i);
    int unused = 64 - 8 * a->size;
    return a->type == 'i'     ? (int64_t)(bits << unused) >> unused
           : bits > INT64_MAX ? INT64_MAX
                              : (int64_t)bits;
}

void pw_npz_text(char *dst, size_t size, const struct pw_npz_array *a, int64_t i)
{
    const unsigned char *p = a->data + (size_t)i * (size_t)a->size;
    struct pw_str s = {0};
    if (a->type == 'S') {
        pw_str_put(&s, (const char *)p, strnlen((const char *)p, (size_t)a->size));
    } else if (a->type == 'U') {
        for (int k = 0; k < a->size / 4 && get32((const char *)p + 4 * k) != 0; k++) {
            char utf8[4];
            uint32_t cp = get32((const char *)p + 4 * k);
            bool valid = cp < 0xd800 || (cp > 0xdfff && cp <= 0x10ffff);
            pw_str_put(&s, utf8, pw_utf8_put(utf8, valid ? cp : 0xfffd));
        }
    } else if (a->type == 'f') {
        pw_str_add(&s, "%g", (double)pw_npz_float(a, i));
    } else {
        pw_str_add(&s, "%lld", (long long)pw_npz_int(a, i));
    }
    pw_text_copy(dst, size, pw_str_text(&s));
    pw_str_fini(&s);
}
