/* npz.h - write numpy's .npz: a ZIP archive of .npy files, stored, little-endian, C order.
 *
 * The same arrays give the same bytes. Archives of 4 GiB and more are refused. */
#ifndef PW_NPZ_H
#define PW_NPZ_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

struct pw_npz;

/* The file appears under its name only when close succeeds: it is written beside it and renamed. */
enum pw_code pw_npz_open(struct pw_npz **z, const char *path, struct pw_err *err);
/* data has the product of dims[0..n_dims-1] elements (one if n_dims is 0, at most 8 dimensions) and is not
 * kept; name has at most 127 bytes. What fails here is reported by close. */
void pw_npz_f32(struct pw_npz *z, const char *name, const float *data, int n_dims, const int64_t *dims);
void pw_npz_i32(struct pw_npz *z, const char *name, const int32_t *data, int n_dims, const int64_t *dims);
/* The same of n texts in UTF-8, NUL-terminated and so many bytes apart. */
void pw_npz_texts(struct pw_npz *z, const char *name, const char *data, size_t apart, int64_t n);
void pw_npz_abandon(struct pw_npz *z); /* frees z, no file appears; NULL is a no-op */
/* Writes the directory, syncs and renames; frees z in every case and reports the first failure. */
enum pw_code pw_npz_close(struct pw_npz *z, struct pw_err *err);

#endif
