/* ref_foreign.h - cases of tests/golden/transformers.safetensors as folders that src/foreign can open. */
#ifndef PW_REF_FOREIGN_H
#define PW_REF_FOREIGN_H
#include "model/safetensors.h"
#include <cjson/cJSON.h>
#include <stdbool.h>

struct pw_model;
struct pw_backend;

/* Opens a folder or file, and makes its model on the cpu with one thread. *context: the wanted one, then that
 * of the file. The caller closes *be. */
struct pw_model *ref_foreign_load(const char *path, bool digest, int *context, struct pw_backend **be);

struct ref_family {
    struct pw_st st; /* the file */
    char folder[64]; /* a temporary folder; "": none */
};

/* Opens the file of all cases; and makes a temporary folder. */
void ref_families_open(struct ref_family *x);
void ref_families_close(struct ref_family *x);
/* Calls each with the name of every case. */
void ref_families_each(struct ref_family *x, void (*each)(struct ref_family *x, const char *name));
/* Returns the object {weights, config} of a case; the caller deletes it. */
cJSON *ref_family_case(const struct ref_family *x, const char *name);
/* Writes config.json and model.safetensors of a case to the folder. */
void ref_family_write(const struct ref_family *x, const cJSON *of);
/* Writes a text to a file of the folder. */
void ref_family_text(const struct ref_family *x, const char *file, const char *text);
/* Writes those tensors whose index modulo `parts` is `part`, under the name of file. */
void ref_family_part(const struct ref_family *x, const cJSON *of, const char *file, int part, int parts);
/* Returns the data of a tensor "CASE/WHAT" with n numbers. */
const void *ref_family_numbers(const struct ref_family *x, const char *name, const char *what, size_t n);
/* The path of a file in the folder; valid until the next call. */
const char *ref_family_path(const struct ref_family *x, const char *file);

#endif
