/* map.h - private to src/foreign: from a tensor of pewter's model to the tensor of the file, and its values.
 */
#ifndef PW_MAP_H
#define PW_MAP_H
#include "foreign/reader.h"
#include "foreign/weights.h"
#include "model/model.h"

/* The tensors of an open model, and how to find them. */
struct pw_placing {
    struct pw_weights *weights;
    const struct pw_map_row *rows;
    const char *prefix;
    const char *path; /* for messages */
    const char *const *ignored;
    int vocab;
    bool plus_one, zero_biases, inverse_layers, permuted;
};

/* Finds the prefix of the names. Fails if no name of the embedding is there. */
enum pw_code pw_map_prefix(struct pw_placing *m, const char *const *prefixes, struct pw_err *err);
/* Finds the tensor for a parameter, and checks its shape. *t is NULL if the values are zeros (a bias), or the
 * parameter is none of the file's (of an encoding). Marks *t as used. */
enum pw_code pw_map_find(const struct pw_placing *m, const struct pw_param *p, struct pw_weights_tensor **t,
                         const struct pw_map_row **row, struct pw_err *err);
/* Fails if the file has a tensor that no parameter used and that is not known to be without effect. */
enum pw_code pw_map_surplus(const struct pw_placing *m, struct pw_err *err);
/* Writes the values of a parameter to out. order [head_width]: the row of a head in the file for each row in
 * pewter, for rotated tensors; NULL: the same. */
enum pw_code pw_map_values(const struct pw_placing *m, const struct pw_param *p, const struct pw_config *cfg,
                           const struct pw_weights_tensor *t, const struct pw_map_row *row, const int *order,
                           float *out, struct pw_err *err);

#endif
