/* weights.h - the tensors of a model that another program wrote: one safetensors file, shards listed in
 * model.safetensors.index.json, or one GGUF file. A tensor costs memory only while it is read. Files are
 * read, not mapped: if another program shortens one meanwhile, that is an error. Any thread, but one thread
 * at a time for a set. */
#ifndef PW_WEIGHTS_H
#define PW_WEIGHTS_H
#include "base/err.h"
#include "base/gguf.h"
#include "base/quant.h"
#include "model/source.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PW_WEIGHTS_DIMS = 8, PW_WEIGHTS_SHARDS = 1024 };

/* One tensor, row-major; the last dimension counts the columns of a row. A vector is one row. */
struct pw_weights_tensor {
    const char *name;
    enum pw_number_type type;
    bool readable; /* false: a type without a meaning here, such as I64; only its name and shape count */
    int n_dims;
    int64_t dims[PW_WEIGHTS_DIMS];
    int shard;   /* index of its file */
    uint64_t at; /* of its data, in that file */
    size_t bytes;
    bool used; /* for the caller: this tensor went into a model */
};

struct pw_weights;

/* Opens PATH: a folder with model.safetensors or model.safetensors.index.json, a .safetensors file, or a
 * .gguf file. Fails with PW_EUSER or PW_EIO and one line that names the file and the fault: a missing shard,
 * a tensor in two shards, damage. *out is NULL then. */
enum pw_code pw_weights_open(struct pw_weights **out, const char *path, struct pw_err *err);
void pw_weights_close(struct pw_weights *w); /* NULL is a no-op */

/* The tensors, sorted by name. The set owns them. */
struct pw_weights_tensor *pw_weights_list(struct pw_weights *w, int *n);
struct pw_weights_tensor *pw_weights_find(struct pw_weights *w, const char *name); /* NULL: absent */
/* The header of a GGUF file; NULL: it is safetensors. */
const struct pw_gguf *pw_weights_gguf(const struct pw_weights *w);
/* Writes row `row` to out [columns]. The tensor must be readable. Fails with PW_EIO if the file has become
 * shorter. */
enum pw_code pw_weights_row(struct pw_weights *w, const struct pw_weights_tensor *t, int64_t row, float *out,
                            struct pw_err *err);
/* Returns the number of bytes in all files. */
size_t pw_weights_bytes(const struct pw_weights *w);
/* Computes a digest of all files: SHA-256 of the file, or of the digests of shards by name. It reads all of
 * them, and reports its progress (base/progress.h). It writes each file to files [PW_WEIGHTS_SHARDS], and
 * sets *n to their number; a single file that was opened by its own path has the name "". Another thread may
 * use the set meanwhile. */
enum pw_code pw_weights_sha(const struct pw_weights *w, char digits[65], struct pw_source_file *files, int *n,
                            struct pw_err *err);

#endif
