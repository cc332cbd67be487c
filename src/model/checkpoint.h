/* checkpoint.h - safetensors: tensors by the names of params.c, and where they come from as metadata
 * (metadata.h). */
#ifndef PW_CHECKPOINT_H
#define PW_CHECKPOINT_H
#include "model/model.h"
#include <stdbool.h>

#define PW_MOST_STEPS 1000000000000 /* that a file may speak of: then times any batch they are a number */

/* What a checkpoint says about its origin, beside the tensors. Text is the caller's on save, ours on load. */
struct pw_checkpoint_info {
    char **vocab; /* [n_vocab] */
    int n_vocab;
    char *task; /* the canonical task command */
    struct pw_optim optim;
    uint64_t seed;   /* of its first values and of dropout's masks */
    int64_t step;    /* 0..PW_MOST_STEPS */
    bool has_config; /* the file had pewter.config */
    struct pw_config config;
    struct pw_pe_use_opts pe;
};

/* Writes parameters, and with resumable adam.m.*, adam.v.* and adam.t. The file appears whole or not at all.
 */
enum pw_code pw_checkpoint_save(struct pw_model *m, const char *path, const struct pw_checkpoint_info *info,
                                bool resumable, struct pw_err *err);

/* A complete resumable file in memory, with everything that m does and shows from here on: what training has
 * met (pw_model_met) and heads that are replaced, too. *bytes [*n] is the caller's (free), NULL on failure.
 */
enum pw_code pw_checkpoint_image(struct pw_model *m, const struct pw_checkpoint_info *info, void **bytes,
                                 size_t *n, struct pw_err *err);

struct pw_checkpoint; /* an opened file, every number in it checked: header at most 1 MiB, 4096 tensors, 8
                         dimensions, offsets contiguous to the end of the file, sizes that match */

enum pw_code pw_checkpoint_open(struct pw_checkpoint **c, const char *path, struct pw_err *err);
/* A file in memory, checked likewise: bytes [n] stay the caller's until it is closed. what: its name in
 * messages.
 */
enum pw_code pw_checkpoint_open_bytes(struct pw_checkpoint **c, const void *bytes, size_t n, const char *what,
                                      struct pw_err *err);
/* Only what the file says about itself, checked likewise: for pw_checkpoint_info, not to be loaded. */
enum pw_code pw_checkpoint_open_header(struct pw_checkpoint **c, const char *path, struct pw_err *err);
const struct pw_checkpoint_info *pw_checkpoint_info(const struct pw_checkpoint *c);
void pw_checkpoint_close(struct pw_checkpoint *c); /* NULL is a no-op */
/* Copies the tensors into m (and the moments and step counts, what training has met and what replaces heads,
 * where the file has them; else they begin anew, and every head works). A missing tensor or another shape is
 * an error that names it, and m is as before. */
enum pw_code pw_checkpoint_load(const struct pw_checkpoint *c, struct pw_model *m, struct pw_err *err);

#endif
