/* safetensors.h - reads and writes the safetensors format: eight bytes of header length, a JSON header,
 * the tensors' bytes. It covers only the needs of a checkpoint and of src/foreign: tensors of types without
 * a name below are checked but not interpreted. Any thread; functions that return enum pw_code can fail
 * without memory or with the file. */
#ifndef PW_SAFETENSORS_H
#define PW_SAFETENSORS_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

enum { PW_ST_DIMS = 8 };
enum pw_st_type { PW_ST_F32, PW_ST_F64, PW_ST_I64, PW_ST_F16, PW_ST_BF16, PW_ST_OTHER };
extern const char *const pw_st_type_names[]; /* "F32", "F64", "I64", "F16", "BF16" */

/* One tensor of a file. */
struct pw_st_tensor {
    const char *name;
    enum pw_st_type type;
    int n_dims;
    int64_t dims[PW_ST_DIMS];
    const void *data; /* little-endian, row-major, can be unaligned; NULL: only the header was read */
    uint64_t at;      /* of the data, in the file */
    size_t bytes;
};

struct cJSON;

/* An open file. Names and data point into it. */
struct pw_st {
    char *file; /* its bytes; NULL: the caller owns them */
    struct cJSON *header;
    struct pw_st_tensor *tensors; /* by place in the file */
    int n;
};

/* Reads a file and checks it against the format and against stricter limits: header at most 1 MiB, 4096
 * tensors, 8 dimensions, names up to 256 bytes of UTF-8. Messages name the file and the fault. */
enum pw_code pw_st_open(struct pw_st *st, const char *path, struct pw_err *err);
/* Reads the header only, with the same checks against the file's size. */
enum pw_code pw_st_open_header(struct pw_st *st, const char *path, struct pw_err *err);
/* Opens a file in memory, with the same checks. bytes [n] belong to the caller and must stay until
 * pw_st_close. what: the name in messages. */
enum pw_code pw_st_open_bytes(struct pw_st *st, const void *bytes, size_t n, const char *what,
                              struct pw_err *err);
/* The same with only the header of a file of another program, which can be larger: header at most 32 MiB,
 * 65,536 tensors. head: the file's first 8 bytes, and the header if it is not longer. size: of the file.
 * Tensors have no data. */
enum { PW_ST_LARGE_HEADER = 32 << 20 };
enum pw_code pw_st_open_large(struct pw_st *st, const void *head, size_t size, const char *what,
                              struct pw_err *err);
void pw_st_close(struct pw_st *st); /* {0} is a no-op */
const struct pw_st_tensor *pw_st_find(const struct pw_st *st, const char *name);
const struct cJSON *pw_st_metadata(const struct pw_st *st);      /* an object of strings; NULL: none */
const char *pw_st_meta(const struct pw_st *st, const char *key); /* NULL: the key is absent */

/* Writes n tensors of known types in this order, with the strings of meta (an object, borrowed). The file
 * appears complete or not at all. */
enum pw_code pw_st_write(const char *path, const struct pw_st_tensor *tensors, int n,
                         const struct cJSON *meta, struct pw_err *err);
/* The same with the data of tensor i from data(arg, i), which is valid until the next call. Their members
 * data are not read. */
enum pw_code pw_st_write_from(const char *path, const struct pw_st_tensor *tensors, int n,
                              const struct cJSON *meta, const void *(*data)(void *arg, int i), void *arg,
                              struct pw_err *err);
/* Builds the same file in memory. The caller frees *bytes [*size]; NULL on failure. */
enum pw_code pw_st_image(void **bytes, size_t *size, const struct pw_st_tensor *tensors, int n,
                         const struct cJSON *meta, struct pw_err *err);

#endif
