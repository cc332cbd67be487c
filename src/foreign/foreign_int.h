/* foreign_int.h - private to src/foreign: an open model, for reading (foreign.c) and writing (write.c). */
#ifndef PW_FOREIGN_INT_H
#define PW_FOREIGN_INT_H
#include "foreign/foreign.h"
#include "foreign/hashing.h"
#include "foreign/map.h"

struct pw_foreign {
    struct pw_foreign_info info;
    const struct pw_family *family;
    struct pw_placing map;
    struct pw_positions at;
    char *path;
    bool gguf;
    cJSON *config;                     /* its config.json, or what a GGUF file says in that form */
    cJSON *origin;                     /* pw_origin_begin */
    struct pw_hashing *hashing;        /* the digest that is being computed; NULL: none */
    struct pw_source_files source;     /* files: without a digest none */
    struct pw_source_file config_file; /* config.json; bytes 0: there is none */
};

/* Lets the family read its config into f: the shape, checked, the positions, and how values are stored. what:
 * the file, for messages. asked: an object that receives the keys that the family looks up; NULL: not wanted.
 */
enum pw_code pw_foreign_read_config(struct pw_foreign *f, const cJSON *root, const char *what,
                                    const struct pw_family *family, cJSON *asked, struct pw_err *err);

/* ---- to_config.c */
/* Makes the config.json that a model with this configuration and encoding has in the family of f: that of f
 * with the changes that are needed. The caller deletes *out and frees to->config; *to describes how reading
 * it would place tensors. Fails with one line if the family has no config for this model. */
enum pw_code pw_foreign_make_config(struct pw_foreign *to, const struct pw_foreign *f,
                                    const struct pw_config *cfg, const struct pw_pe_use_opts *pe,
                                    struct pw_err *err);

#endif
