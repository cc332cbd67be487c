/* npz_read.h - read an .npz file from numpy's savez or savez_compressed.
 *
 * The file is not trusted. It is read as a whole up to a limit, and every offset, size and checksum is
 * checked. The sum of unpacked entries has the same limit. The header of an array must be the dictionary that
 * numpy writes (NEP 1), with a plain type: no objects, no records, no Fortran order. A file that was read is
 * constant, so any thread may use its arrays. */
#ifndef PW_NPZ_READ_H
#define PW_NPZ_READ_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_NPZ_DIMS 8

/* One array of the file: its type and shape, and its data as stored (little-endian, maybe unaligned). */
struct pw_npz_array {
    char name[128]; /* without ".npy" */
    char type;      /* 'f', 'i', 'u', 'b': numbers; 'U', 'S': strings */
    int size;       /* bytes per element */
    int n_dims;
    int64_t dims[PW_NPZ_DIMS];
    int64_t n; /* number of elements, the product of dims */
    const unsigned char *data;
};

struct pw_npz_file;

/* Read the file at `path`, of at most `limit` bytes. *z belongs to the caller. Fails with PW_EUSER (not such
 * an .npz), PW_EIO or PW_ENOMEM; the message names the file and the array. */
enum pw_code pw_npz_read(struct pw_npz_file **z, const char *path, size_t limit, struct pw_err *err);
void pw_npz_free(struct pw_npz_file *z); /* NULL is a no-op */
/* Find an array by name; NULL if there is none. The array belongs to z. */
const struct pw_npz_array *pw_npz_find(const struct pw_npz_file *z, const char *name);

/* Read element i. pw_npz_float rounds a number to single precision. pw_npz_int is exact for integers and
 * returns 0 for other types. pw_npz_text writes a string as UTF-8, cut to `size` bytes with the NUL. */
float pw_npz_float(const struct pw_npz_array *a, int64_t i);
int64_t pw_npz_int(const struct pw_npz_array *a, int64_t i);
void pw_npz_text(char *dst, size_t size, const struct pw_npz_array *a, int64_t i);

#endif
