/* gguf.h - reads the header of a GGUF file (versions 2 and 3): metadata by key, and where tensors are.
 *
 * The file is in memory or mapped, and is not trusted: every count, length and offset is checked against the
 * file's size before use. Any thread; failures are PW_EUSER with one line that names the file, or PW_ENOMEM.
 */
#ifndef PW_GGUF_H
#define PW_GGUF_H
#include "base/err.h"
#include "base/quant.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PW_GGUF_DIMS = 4 };

/* Types of metadata, as the file numbers them. */
enum pw_gguf_type {
    PW_GGUF_U8,
    PW_GGUF_I8,
    PW_GGUF_U16,
    PW_GGUF_I16,
    PW_GGUF_U32,
    PW_GGUF_I32,
    PW_GGUF_F32,
    PW_GGUF_BOOL,
    PW_GGUF_STRING,
    PW_GGUF_ARRAY,
    PW_GGUF_U64,
    PW_GGUF_I64,
    PW_GGUF_F64
};

/* A value of the metadata. Of an array, type is that of its items. */
struct pw_gguf_value {
    char *key;
    enum pw_gguf_type type;
    bool array;
    uint64_t n;     /* items: 1 unless it is an array */
    const char *at; /* the first item, in the file */
};

/* A tensor. dims are in row-major order, the file's order reversed: the last one counts the columns. */
struct pw_gguf_tensor {
    char *name;
    enum pw_number_type type;
    int n_dims;
    int64_t dims[PW_GGUF_DIMS];
    const void *data; /* NULL: only the header was read */
    uint64_t at;      /* of the data, in the file */
    size_t bytes;
};

/* A header. It owns keys and names; values and data point into the file. */
struct pw_gguf {
    struct pw_gguf_value *values;
    struct pw_gguf_tensor *tensors;
    int n_values, n_tensors;
};

/* Does a file begin like GGUF? */
bool pw_gguf_is(const char *bytes, size_t n);
/* Reads the header of bytes [n], which the caller owns and keeps until pw_gguf_close. what: the file's name
 * in messages. On failure *g is empty. */
enum pw_code pw_gguf_open(struct pw_gguf *g, const char *bytes, size_t n, const char *what,
                          struct pw_err *err);
/* The same with the beginning of an open file of `size` bytes (pw_file_open), as long as its header needs.
 * Tensors have no data. The caller keeps *head until pw_gguf_close, and frees it, also after a failure. */
enum pw_code pw_gguf_read(struct pw_gguf *g, char **head, int fd, size_t size, const char *path,
                          struct pw_err *err);
void pw_gguf_close(struct pw_gguf *g); /* {0} is a no-op */

const struct pw_gguf_value *pw_gguf_find(const struct pw_gguf *g, const char *key); /* NULL: absent */
/* Reads item i of a value as a number; false if it is none. */
bool pw_gguf_number(const struct pw_gguf_value *v, uint64_t i, double *out);
/* Returns the text of a value that is one string, [n] bytes in the file; NULL: it is none, or absent. */
const char *pw_gguf_text(const struct pw_gguf_value *v, uint64_t *n);
/* Calls each with the strings of a value; not at all if it has no strings. text is not NUL-terminated. */
void pw_gguf_strings(const struct pw_gguf_value *v, void (*each)(void *arg, const char *text, size_t n),
                     void *arg);

#endif
