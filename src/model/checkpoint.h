/* checkpoint.h - saves and loads models as safetensors files. Tensors have the names of params.c; the origin
 * of the model is stored as metadata (metadata.h). The arrays that a formula reads (expr/numbers.h) are
 * tensors with their own names; opening a file keeps them, so that its encoding can be read.
 *
 * Thread: the thread that owns the model. Every function can fail without memory; messages name the file. */
#ifndef PW_CHECKPOINT_H
#define PW_CHECKPOINT_H
#include "model/model.h"
#include "model/source.h"
#include <stdbool.h>

#define PW_MOST_STEPS 1000000000000 /* largest step count in a file; times any batch size it fits 64 bits */

/* The origin of a checkpoint, beside its tensors. On save the caller owns the text; on
 * load the checkpoint does. */
struct pw_checkpoint_info {
    char **vocab; /* [n_vocab] */
    int n_vocab;
    char *task; /* the canonical task command */
    struct pw_optim optim;
    uint64_t seed;   /* of the initial values and of dropout's masks */
    int64_t step;    /* 0..PW_MOST_STEPS */
    bool has_config; /* the file had pewter.config */
    struct pw_config config;
    struct pw_pe_use_opts pe;
    /* Load: the files that have the weights in place of this file; NULL: this file has them. A save takes it
     * from the model. */
    struct pw_source_files *source;
};

/* Writes the parameters, and with resumable the optimiser's state: adam.m.*, adam.v.* and adam.t. The file
 * appears complete or not at all. */
enum pw_code pw_checkpoint_save(struct pw_model *m, const char *path, const struct pw_checkpoint_info *info,
                                bool resumable, struct pw_err *err);

/* Builds a complete resumable file in memory. It also holds the rest of m's behaviour and display: what was
 * seen in training (pw_model_seen) and replaced heads. Moments and counts that are all zero are left out. In
 * place of tensors that no step may have changed since a file of another program gave them (pw_model_source),
 * it refers to the file. The caller frees *bytes [*n]; NULL on failure. */
enum pw_code pw_checkpoint_image(struct pw_model *m, const struct pw_checkpoint_info *info, void **bytes,
                                 size_t *n, struct pw_err *err);
/* The same with nothing left out, as version 0.1 wrote it: for comparison with its files. */
enum pw_code pw_checkpoint_whole_image(struct pw_model *m, const struct pw_checkpoint_info *info,
                                       void **bytes, size_t *n, struct pw_err *err);

/* An opened file. Every number in it has been checked: header at most 1 MiB, 4096 tensors, 8 dimensions,
 * sizes that match, offsets contiguous to the end of the file. */
struct pw_checkpoint;

/* Opens and checks a file; pw_checkpoint_close frees *c, which is NULL on failure. */
enum pw_code pw_checkpoint_open(struct pw_checkpoint **c, const char *path, struct pw_err *err);
/* Opens a file in memory with the same checks. bytes [n] belong to the caller and must outlive *c. what: the
 * name in messages. */
enum pw_code pw_checkpoint_open_bytes(struct pw_checkpoint **c, const void *bytes, size_t n, const char *what,
                                      struct pw_err *err);
/* Opens a file with the same checks but reads its header only. Use it with
 * pw_checkpoint_info; it cannot be loaded. */
enum pw_code pw_checkpoint_open_header(struct pw_checkpoint **c, const char *path, struct pw_err *err);
/* Returns the file's origin, which c owns. */
const struct pw_checkpoint_info *pw_checkpoint_info(const struct pw_checkpoint *c);
void pw_checkpoint_close(struct pw_checkpoint *c); /* NULL is a no-op */
/* Copies the tensors into m. If the file has them, it also loads the moments and step counts, the counts of
 * what was seen in training, the replaced heads, and the model's origin; otherwise these are reset. A missing
 * tensor, an unknown tensor or another shape is PW_EUSER with the tensor's name; m is then unchanged.
 *
 * If the file refers to other files (its info's source), m must have been made of them: pw_model_source has
 * the same files, and no step has changed m. Then m keeps the tensors that the source owns not (source.h),
 * and their moments become 0. */
enum pw_code pw_checkpoint_load(const struct pw_checkpoint *c, struct pw_model *m, struct pw_err *err);

#endif
