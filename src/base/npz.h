/* npz.h - write numpy's .npz format: a ZIP archive of .npy files, uncompressed, little-endian, in C order.
 *
 * The same arrays give the same bytes. An archive of 4 GiB or more is refused. One archive belongs to one
 * thread at a time. */
#ifndef PW_NPZ_H
#define PW_NPZ_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

struct pw_npz;

/* Start an archive. The file appears at `path` only when pw_npz_close succeeds (base/file.h). *z belongs to
 * the caller until close or abandon. Fails with PW_EUSER, PW_EIO or PW_ENOMEM. */
enum pw_code pw_npz_open(struct pw_npz **z, const char *path, struct pw_err *err);
/* Add an array `name` (at most 127 bytes) of shape dims[0..n_dims-1], with n_dims in 0..8; n_dims = 0 is one
 * element. data is written at once and not kept. A failure is remembered and reported by pw_npz_close. */
void pw_npz_f32(struct pw_npz *z, const char *name, const float *data, int n_dims, const int64_t *dims);
void pw_npz_i32(struct pw_npz *z, const char *name, const int32_t *data, int n_dims, const int64_t *dims);
/* Add an array of n strings. String i is NUL-terminated UTF-8 at data + i * apart. */
void pw_npz_texts(struct pw_npz *z, const char *name, const char *data, size_t apart, int64_t n);
void pw_npz_abandon(struct pw_npz *z); /* frees z; no file appears; NULL is a no-op */
/* Write the archive's directory, sync, and put the file at its path. Frees z in every case. Reports the first
 * failure since pw_npz_open: PW_EUSER (too large), PW_EIO or PW_ENOMEM. */
enum pw_code pw_npz_close(struct pw_npz *z, struct pw_err *err);

#endif
