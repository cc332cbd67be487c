/* ref_layer.h - random calls of the three operations of a linear layer: in host memory for the references of
 * tests/ops, and in device memory for the tested code. */
#ifndef PW_REF_LAYER_H
#define PW_REF_LAYER_H
#include "tests/ops/ref.h"

/* Inputs, and outputs with old contents; bias, residual, pre and d_bias may be NULL. */
struct layer {
    int R, in, out;
    enum pw_act act;
    bool add, in_place; /* add: to dw; in_place: residual is y */
    float scale;        /* of dx */
    size_t skew;        /* offset of every device array, in floats */
    float *x, *w, *bias, *residual, *dy, *saved;
    float *y, *pre, *dx, *dw, *d_bias;
};
/* Draws a call in host memory. */
struct layer layer_draw(uint64_t seed);
struct layer layer_copy(const struct layer *k);  /* a copy of the call in device memory */
const float *layer_added(const struct layer *k); /* the residual operand of the call */
void layer_free(struct layer *k);                /* frees a host call, and all device arrays */

/* Computes the outputs with a table of tests/ops. */
void layer_reference(const struct pw_backend_ops *ops, struct layer *k);

#endif
