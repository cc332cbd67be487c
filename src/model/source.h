/* source.h - the files whose values a model has unchanged: files of another program. A checkpoint image of
 * such a model refers to them in place of its tensors, as the JSON text pewter.source:
 *
 *   {"path": "m/smol", "pe": true, "own": ["norm.weight"],
 *    "files": [{"name": "model.safetensors", "sha256": "b179...", "bytes": 9}]}
 *
 * path is as the user typed it. A file is in the folder `path`; the name "" stands for `path` itself. Three
 * groups of tensors are those of the model, not of the files, and the image has their values and moments:
 * those that `own` names, the encoding's unless pe, and those of adapters. The moments of all others are
 * zero. Without names there is no `own`, as in images of steps before it existed.
 *
 * Any thread; a source belongs to one thread at a time. */
#ifndef PW_SOURCE_H
#define PW_SOURCE_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

enum { PW_SOURCE_FILES = 1026, PW_SOURCE_NAME = 256, PW_SOURCE_PATH = 4096, PW_SOURCE_OWN = 4096 };

struct pw_source_file {
    char name[PW_SOURCE_NAME];
    char sha[65]; /* SHA-256 in hexadecimal digits */
    uint64_t bytes;
};

struct pw_source_files {
    char *path;
    struct pw_source_file *files; /* [n], in the order of reading */
    int n;
    bool pe; /* the encoding's parameters are those of the files, too */
    /* [n_own] names of other tensors that are not, because a step may have changed them; NULL: none */
    char **own;
    int n_own;
};

/* Copies a source; NULL stays NULL. pw_source_free frees it. */
struct pw_source_files *pw_source_copy(const struct pw_source_files *s);
void pw_source_free(struct pw_source_files *s); /* NULL is a no-op */

/* Have they the same files, by name, size and SHA-256? */
bool pw_source_same(const struct pw_source_files *a, const struct pw_source_files *b);

/* ---- checkpoint_source.c */
/* Returns the JSON object, which the caller frees (cJSON_Delete); NULL without memory. */
struct cJSON *pw_source_json(const struct pw_source_files *s);
/* Reads the object of an untrusted file, which messages call `what`. *out is NULL on failure: PW_EUSER. */
enum pw_code pw_source_read(struct pw_source_files **out, const struct cJSON *json, const char *what,
                            struct pw_err *err);

/* ---- source.c */
struct pw_model;
struct pw_param;
/* Returns true if tensor p is not one of the files. */
bool pw_source_owns(const struct pw_source_files *s, const struct pw_param *p);
/* Returns the files of the parameters, which the model owns; NULL: it has none, or all parameters may have
 * changed. Parameters of another encoding count as changes of the encoding's parameters alone, and steps as
 * changes of the tensors that they train (struct pw_optim, trains). */
const struct pw_source_files *pw_model_source(const struct pw_model *m);
/* Sets a copy of s; NULL: none. The caller has made sure that the parameters are those of the files. */
void pw_model_set_source(struct pw_model *m, const struct pw_source_files *s);

#endif
