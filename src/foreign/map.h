/* map.h - private to src/foreign: from a tensor of pewter's model to the tensor of the file, and its values,
 * in both directions. */
#ifndef PW_MAP_H
#define PW_MAP_H
#include "foreign/reader.h"
#include "foreign/weights.h"
#include "model/model.h"

enum { PW_MAP_NAME = 320 };

/* The tensors of an open model, and how to find them. */
struct pw_placing {
    struct pw_weights *weights; /* NULL: of a model that is to be written */
    const struct pw_map_row *rows;
    const char *prefix;
    const char *path; /* for messages */
    const char *const *ignored;
    int vocab;
    bool plus_one, zero_biases, inverse_layers;
    bool permuted; /* rotated tensors have the two rows of a pair side by side: GGUF's llama */
};

/* Finds the prefix of the names. Fails if no name of the embedding is there. */
enum pw_code pw_map_prefix(struct pw_placing *m, const char *const *prefixes, struct pw_err *err);
/* Finds the tensor for a parameter, and checks its shape. *t is NULL if the values are zeros (a bias), or the
 * parameter is none of the file's (of an encoding). Marks *t as used. */
enum pw_code pw_map_find(const struct pw_placing *m, const struct pw_param *p, struct pw_weights_tensor **t,
                         const struct pw_map_row **row, struct pw_err *err);
/* Fails if the file has a tensor that no parameter used and that is not known to be without effect. */
enum pw_code pw_map_surplus(const struct pw_placing *m, struct pw_err *err);
/* Writes the values of a parameter to out. */
enum pw_code pw_map_values(const struct pw_placing *m, const struct pw_param *p, const struct pw_config *cfg,
                           const struct pw_weights_tensor *t, const struct pw_map_row *row, float *out,
                           struct pw_err *err);
/* Returns the row in the file for row r of a head of width D, in rotated tensors. */
int pw_map_row_in_head(const struct pw_placing *m, int r, int D);

/* ---- the other direction */
/* Returns the row of a parameter, and writes the name of its tensor; NULL: the family has none. */
const struct pw_map_row *pw_map_row_of(const struct pw_placing *m, const struct pw_param *p, bool post_norm,
                                       char name[PW_MAP_NAME]);
/* Writes the shape of the parameter's tensor. Returns its number of dimensions. */
int pw_map_shape(const struct pw_param *p, const struct pw_map_row *row, int64_t dims[2]);
/* The inverse of pw_map_values: writes the values of a parameter to their places in a tensor of the file. */
void pw_map_put(const struct pw_placing *m, const struct pw_param *p, const struct pw_config *cfg,
                const struct pw_map_row *row, const float *values, float *out);

#endif
