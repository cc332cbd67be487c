/* npz.c - write a ZIP archive of .npy files, front to back.
 *
 * An array is in memory when it is added. So its size and CRC are known before its header is written, and
 * nothing is patched afterwards. The order is: local header, .npy header, data; at the end the central
 * directory and its end record (PKWARE's APPNOTE, 4.3.7, 4.3.12 and 4.3.16). Entries are stored, not
 * deflated: float attention matrices hardly shrink, and numpy can map stored entries.
 *
 * Sizes and offsets of plain ZIP have 32 bits. An archive of 4 GiB or more is refused; Zip64 would only serve
 * data that pewter never exports.
 *
 * The time stamp is fixed, so that the same arrays give the same bytes. */
#include "base/npz.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "arrays are written as they lie in memory and declared little-endian"
#endif

enum {
    LOCAL_SIZE = 30,
    CENTRAL_SIZE = 46,
    END_SIZE = 22,
    NAME_MAX_BYTES = 127,
    DIMS_MAX = 8,
    NPY_MAX = 384,       /* size of a header: 60 bytes and 21 per dimension, rounded up to 64 */
    ENTRIES_MAX = 65534, /* 65535 would announce Zip64 */
};

struct pw_npz {
    struct pw_file *file;
    struct pw_err failed; /* the first failure; after it nothing is written */
    uint64_t offset;      /* bytes written so far */
    int entries;
    struct pw_str directory; /* central directory so far */
};

/* ---- little-endian fields, appended at *p */

static void put16(unsigned char **p, uint32_t v)
{
    *(*p)++ = (unsigned char)v;
    *(*p)++ = (unsigned char)(v >> 8);
}

static void put32(unsigned char **p, uint32_t v)
{
    put16(p, v & 0xffff);
    put16(p, v >> 16);
}

/* Append the fields that local header and directory share, from "version needed" to "extra length". */
static void put_common(unsigned char **p, uint32_t crc, uint32_t size, size_t name_bytes)
{
    put16(p, 20);         /* version needed: 2.0 */
    put16(p, 0);          /* flags */
    put16(p, 0);          /* method: stored */
    put16(p, 0);          /* 0:00 */
    put16(p, 1 << 5 | 1); /* 1 January 1980, the earliest date of the format */
    put32(p, crc);
    put32(p, size); /* compressed size */
    put32(p, size);
    put16(p, (uint32_t)name_bytes);
    put16(p, 0); /* extra */
}

static void write_bytes(struct pw_npz *z, const void *data, size_t n)
{
    fwrite(data, 1, n, pw_file_stream(z->file)); /* the file remembers a failure until its commit */
    z->offset += n;
}

/* ---- .npy */

/* Write magic, version 1.0, length and the dictionary, padded with spaces so that the data start at a
 * multiple of 64 bytes of the .npy (NEP 1). Returns the size. */
static size_t npy_header(char out[NPY_MAX], const char *descr, int n_dims, const int64_t *dims)
{
    char dict[NPY_MAX];
    int n = snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);

    for (int i = 0; i < n_dims; i++) /* "(5,)" for one dimension, "(5, 6)" for two, "()" for none */
        n += snprintf(dict + n, sizeof dict - (size_t)n, i == 0 ? "%lld%s" : ", %lld%s", (long long)dims[i],
                      n_dims == 1 ? "," : "");
    n += snprintf(dict + n, sizeof dict - (size_t)n, "), }");
    size_t size = (10 + (size_t)n + 1 + 63) / 64 * 64;
    assert(size <= NPY_MAX);
    memset(out, ' ', size);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((size - 10) & 0xff);
    out[9] = (char)((size - 10) >> 8);
    memcpy(out + 10, dict, (size_t)n);
    out[size - 1] = '\n';
    return size;
}

/* ---- entries */

static void add_array(struct pw_npz *z, const char *name, const char *descr, size_t element, const void *data,
                      int n_dims, const int64_t *dims)
{
    char npy[NPY_MAX], full[NAME_MAX_BYTES + 5];
    unsigned char header[CENTRAL_SIZE], *p = header;
    uint64_t bytes = element;

    assert(n_dims >= 0 && n_dims <= DIMS_MAX && *name != '\0' && strlen(name) <= NAME_MAX_BYTES);
    if (z->failed.code != PW_OK)
        return;
    for (int i = 0; i < n_dims; i++) {
        assert(dims[i] >= 0);
        if (__builtin_mul_overflow(bytes, (uint64_t)dims[i], &bytes))
            bytes = UINT64_MAX; /* a later empty dimension makes it 0, which is right */
    }
    size_t head = npy_header(npy, descr, n_dims, dims);
    size_t name_bytes = (size_t)snprintf(full, sizeof full, "%s.npy", name);

    /* Directory and end record must also start below 4 GiB, so the limit applies to the archive's final
     * size. */
    uint64_t rest = LOCAL_SIZE + CENTRAL_SIZE + 2 * name_bytes + head + END_SIZE;
    if (bytes > UINT32_MAX || z->offset + z->directory.len + rest + bytes > UINT32_MAX) {
        pw_fail(&z->failed, PW_EUSER, "array '%s': the archive would exceed 4 GiB, the limit of an .npz",
                name);
        return;
    }
    if (z->entries == ENTRIES_MAX) {
        pw_fail(&z->failed, PW_EUSER, "array '%s': too many arrays: an .npz holds at most %d here", name,
                ENTRIES_MAX);
        return;
    }
    uint32_t at = (uint32_t)z->offset, size = (uint32_t)(head + bytes);
    uint32_t crc = (uint32_t)crc32_z(0, (const unsigned char *)npy, head);
    if (bytes > 0) /* for n = 0, where data may be NULL, zlib would restart the sum */
        crc = (uint32_t)crc32_z(crc, data, bytes);

    put32(&p, 0x04034b50);
    put_common(&p, crc, size, name_bytes);
    assert(p == header + LOCAL_SIZE);
    write_bytes(z, header, LOCAL_SIZE);
    write_bytes(z, full, name_bytes);
    write_bytes(z, npy, head);
    if (bytes > 0)
        write_bytes(z, data, bytes);

    p = header;
    put32(&p, 0x02014b50);
    put16(&p, 20); /* made by: 2.0, MS-DOS attributes */
    put_common(&p, crc, size, name_bytes);
    put16(&p, 0); /* comment */
    put16(&p, 0); /* disk */
    put16(&p, 0); /* internal attributes */
    put32(&p, 0); /* external attributes */
    put32(&p, at);
    assert(p == header + CENTRAL_SIZE);
    pw_str_put(&z->directory, (const char *)header, CENTRAL_SIZE);
    pw_str_put(&z->directory, full, name_bytes);
    z->entries++;
}

void pw_npz_f32(struct pw_npz *z, const char *name, const float *data, int n_dims, const int64_t *dims)
{
    add_array(z, name, "<f4", 4, data, n_dims, dims);
}

void pw_npz_i32(struct pw_npz *z, const char *name, const int32_t *data, int n_dims, const int64_t *dims)
{
    add_array(z, name, "<i4", 4, data, n_dims, dims);
}

/* numpy's strings are arrays of 32-bit code points, as long as the longest string, padded with zeros. */
void pw_npz_texts(struct pw_npz *z, const char *name, const char *data, size_t apart, int64_t n)
{
    size_t longest = 1;
    char descr[24];
    for (int64_t i = 0; i < n; i++) /* a code point has at least one byte */
        longest = strlen(data + (size_t)i * apart) > longest ? strlen(data + (size_t)i * apart) : longest;
    uint32_t *points = pw_alloc((size_t)n, longest * sizeof *points);
    for (int64_t i = 0; i < n; i++) {
        const char *s = data + (size_t)i * apart;
        uint32_t *to = points + (size_t)i * longest;
        for (size_t left = strlen(s), bytes; left > 0; s += bytes, left -= bytes)
            bytes = pw_utf8_next(s, left, to++);
    }
    snprintf(descr, sizeof descr, "<U%zu", longest);
    add_array(z, name, descr, longest * sizeof *points, points, 1, &n);
    free(points);
}

/* ---- the archive */

enum pw_code pw_npz_open(struct pw_npz **out, const char *path, struct pw_err *err)
{
    *out = NULL;
    struct pw_npz *z = calloc(1, sizeof *z);
    if (z == NULL)
        return pw_fail(err, PW_ENOMEM, "%.240s: out of memory", path);
    enum pw_code code = pw_file_create(&z->file, path, err);
    if (code != PW_OK) {
        free(z);
        return code;
    }
    *out = z;
    return PW_OK;
}

enum pw_code pw_npz_close(struct pw_npz *z, struct pw_err *err)
{
    enum pw_code code = z->failed.code;

    if (code == PW_OK) {
        unsigned char end[END_SIZE], *p = end;
        uint32_t at = (uint32_t)z->offset, n = (uint32_t)z->entries;
        put32(&p, 0x06054b50);
        put16(&p, 0); /* this disk */
        put16(&p, 0); /* the directory's disk */
        put16(&p, n);
        put16(&p, n);
        put32(&p, (uint32_t)z->directory.len);
        put32(&p, at);
        put16(&p, 0); /* comment */
        assert(p == end + END_SIZE);
        write_bytes(z, pw_str_text(&z->directory), z->directory.len);
        write_bytes(z, end, END_SIZE);
        code = pw_file_commit(z->file, err);
        pw_str_fini(&z->directory);
        free(z);
    } else {
        pw_fail(err, code, "%s", z->failed.msg);
        pw_npz_abandon(z);
    }
    return code;
}

void pw_npz_abandon(struct pw_npz *z)
{
    if (z == NULL)
        return;
    pw_file_abandon(z->file);
    pw_str_fini(&z->directory);
    free(z);
}
