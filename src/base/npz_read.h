/* npz_read.h - read numpy's .npz, as somebody else has written it: savez and savez_compressed.
 *
 * Nothing in the file is believed: it is read whole up to a limit, every offset, size and checksum is checked
 * against it, what is deflated may not grow beyond the same limit, and an array's header must be the
 * dictionary that numpy writes (NEP 1), of a plain type: no objects, no records, no Fortran order. */
#ifndef PW_NPZ_READ_H
#define PW_NPZ_READ_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_NPZ_DIMS 8

struct pw_npz_array {
    char name[128]; /* without ".npy" */
    char type;      /* 'f', 'i', 'u' and 'b' numbers, 'U' and 'S' strings */
    int size;       /* bytes of an element */
    int n_dims;
    int64_t dims[PW_NPZ_DIMS];
    int64_t n; /* their product */
    const unsigned char *data;
};

struct pw_npz_file;

/* PW_EUSER: no .npz, or one of what is said above; the message names the file and the array. */
enum pw_code pw_npz_read(struct pw_npz_file **z, const char *path, size_t limit, struct pw_err *err);
void pw_npz_free(struct pw_npz_file *z); /* NULL is a no-op */
/* NULL: there is none of this name. */
const struct pw_npz_array *pw_npz_find(const struct pw_npz_file *z, const char *name);

/* Element i of numbers, as it is rounded to single precision; of whole numbers exactly (others are 0); of
 * strings as UTF-8, cut to size. */
float pw_npz_float(const struct pw_npz_array *a, int64_t i);
int64_t pw_npz_int(const struct pw_npz_array *a, int64_t i);
void pw_npz_text(char *dst, size_t size, const struct pw_npz_array *a, int64_t i);

#endif
