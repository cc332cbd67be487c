/* ref_model.h - a second forward pass in double precision, written from the formulas. It shares no code with
 * src/model or kernels/. Tests compare the model's losses with it, and the model's gradients with its finite
 * differences. */
#ifndef PW_REF_MODEL_H
#define PW_REF_MODEL_H
#include "model/model.h"
#include "ref_fixed.h"

struct ref_model {
    const struct pw_config *cfg;
    const char *pe; /* canonical text: "rotary base=10000 dims=4 pairing=half" */
    const struct pw_param *params;
    int n_params;
    double *values;                /* parameter values, in the order of params */
    uint32_t key[2];               /* key of the dropout masks, used if cfg->dropout > 0 */
    bool training;                 /* apply dropout */
    const struct ref_fixed *fixed; /* of a formula, or NULL */
};

/* Returns the mean cross entropy of the scored rows. each [n_scored], or NULL: the loss of each row. */
double ref_loss(const struct ref_model *r, const struct pw_batch *b, double *each);

/* ---- ref_adapter.c */
/* Returns the values of a tensor; NULL: there is none of this name. */
const double *ref_tensor(const struct ref_model *r, const char *name);
/* Returns W + B A for the matrix w [out,in] of layer l and its adapter, such as "attn.o"; the caller frees
 * it. */
double *ref_adapted(const struct ref_model *r, int l, const char *name, const double *w, int out, int in);

#endif
