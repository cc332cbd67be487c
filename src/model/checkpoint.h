/* checkpoint.h - safetensors with the names and the metadata of DESIGN section 4. */
#ifndef PW_CHECKPOINT_H
#define PW_CHECKPOINT_H
#include "model/model.h"
#include <stdbool.h>

/* What a checkpoint says about its origin, beside the tensors. Text is the caller's on save, ours on load. */
struct pw_checkpoint_info {
    char **vocab; /* [n_vocab] */
    int n_vocab;
    char *task; /* the canonical task command */
    struct pw_optim optim;
    uint64_t seed;
    int64_t step;
    bool has_config; /* the file had pewter.config */
    struct pw_config config;
    struct pw_pe_use_opts pe;
};

/* Writes parameters, and with resumable adam.m.*, adam.v.* and adam.t. The file appears whole or not at all.
 */
enum pw_code pw_checkpoint_save(struct pw_model *m, const char *path, const struct pw_checkpoint_info *info,
                                bool resumable, struct pw_err *err);

struct pw_checkpoint; /* an opened file, every number in it checked: header at most 1 MiB, 4096 tensors, 8
                         dimensions, offsets contiguous to the end of the file, sizes that match */

enum pw_code pw_checkpoint_open(struct pw_checkpoint **c, const char *path, struct pw_err *err);
/* Only what the file says about itself, checked likewise: for pw_checkpoint_info, not to be loaded. */
enum pw_code pw_checkpoint_open_header(struct pw_checkpoint **c, const char *path, struct pw_err *err);
const struct pw_checkpoint_info *pw_checkpoint_info(const struct pw_checkpoint *c);
void pw_checkpoint_close(struct pw_checkpoint *c); /* NULL is a no-op */
/* Copies the tensors into m (and the moments and step counts where the file has them). A missing tensor or
 * another shape is an error that names it, and m is as before. */
enum pw_code pw_checkpoint_load(const struct pw_checkpoint *c, struct pw_model *m, struct pw_err *err);

#endif
