/* ref_layer.h - random calls of the three operations of a linear layer, in the host's memory for the
 * references of tests/ops and in the device's for what is tested. */
#ifndef PW_REF_LAYER_H
#define PW_REF_LAYER_H
#include "tests/ops/ref.h"

/* Inputs, and outputs with old contents; bias, residual, pre and d_bias may be NULL. */
struct layer {
    int R, in, out;
    enum pw_act act;
    bool add, in_place; /* add: of dw; in_place: residual is y */
    float scale;        /* of dx */
    size_t skew;        /* of every array on the device, in floats */
    float *x, *w, *bias, *residual, *dy, *saved;
    float *y, *pre, *dx, *dw, *d_bias;
};
struct layer layer_draw(uint64_t seed);
struct layer layer_copy(const struct layer *k);  /* the same on the device */
const float *layer_added(const struct layer *k); /* what stands for residual in a call */
void layer_free(struct layer *k);                /* a host's, and all arrays on the device */

/* What a table of tests/ops makes of the outputs. */
void layer_reference(const struct pw_backend_ops *ops, struct layer *k);

#endif
