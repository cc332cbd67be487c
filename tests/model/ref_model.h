/* ref_model.h - the forward pass once more, in double precision, written from the formulas and sharing no
 * code with src/model or kernels/: what the model's losses and, through differences, its gradients are held
 * against. */
#ifndef PW_REF_MODEL_H
#define PW_REF_MODEL_H
#include "model/model.h"

struct ref_model {
    const struct pw_config *cfg;
    const char *pe; /* canonical text: "rotary base=10000 dims=4 pairing=half" */
    const struct pw_param *params;
    int n_params;
    double *values;  /* order of params */
    uint32_t key[2]; /* of dropout's masks, which cfg->dropout asks for */
    bool training;   /* whether there is dropout */
};

/* Mean cross entropy of the scored rows; each [n_scored] that of each row, or NULL. */
double ref_loss(const struct ref_model *r, const struct pw_batch *b, double *each);

#endif
