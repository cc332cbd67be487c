/* safetensors.h - the file format: eight bytes of header length, a JSON header, the tensors' bytes. Only what
 * a checkpoint needs of it; tensors of other types than F32, F64 and I64 are read past, never interpreted. */
#ifndef PW_SAFETENSORS_H
#define PW_SAFETENSORS_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

enum { PW_ST_DIMS = 8 };
enum pw_st_type { PW_ST_F32, PW_ST_F64, PW_ST_I64, PW_ST_OTHER };
extern const char *const pw_st_type_names[]; /* "F32", "F64", "I64" */

struct pw_st_tensor {
    const char *name;
    enum pw_st_type type;
    int n_dims;
    int64_t dims[PW_ST_DIMS];
    const void *data; /* little-endian, row-major, not necessarily aligned; NULL: only the header was read */
    size_t bytes;
};

struct cJSON;

/* An open file. Names and data point into it. */
struct pw_st {
    char *file; /* its bytes; NULL: they are somebody else's */
    struct cJSON *header;
    struct pw_st_tensor *tensors; /* by place in the file */
    int n;
};

/* Reads and checks everything that the format promises, and stricter limits than its own: header at most 1
 * MiB, 4096 tensors, 8 dimensions, names up to 256 bytes of UTF-8. A message names the file and what is
 * wrong. */
enum pw_code pw_st_open(struct pw_st *st, const char *path, struct pw_err *err);
/* The same of the header alone: what it says is checked against the file's size, the tensors are not read. */
enum pw_code pw_st_open_header(struct pw_st *st, const char *path, struct pw_err *err);
/* The same of a file that is in memory: bytes [n] stay the caller's, for as long as it is open. what: its
 * name in messages. */
enum pw_code pw_st_open_bytes(struct pw_st *st, const void *bytes, size_t n, const char *what,
                              struct pw_err *err);
void pw_st_close(struct pw_st *st); /* {0} is a no-op */
const struct pw_st_tensor *pw_st_find(const struct pw_st *st, const char *name);
const char *pw_st_meta(const struct pw_st *st, const char *key); /* NULL: not there */

/* Writes n tensors of known types in the order given, with the strings of meta (an object; borrowed). */
enum pw_code pw_st_write(const char *path, const struct pw_st_tensor *tensors, int n,
                         const struct cJSON *meta, struct pw_err *err);
/* The same file in memory: *bytes [*size] is the caller's (free), NULL on failure. */
enum pw_code pw_st_image(void **bytes, size_t *size, const struct pw_st_tensor *tensors, int n,
                         const struct cJSON *meta, struct pw_err *err);

#endif
