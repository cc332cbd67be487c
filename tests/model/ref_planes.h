/* ref_planes.h - planes in which q and k turn, in double precision: the matrix exponential of a head's
 * generator, by its series instead of Rodrigues' formula. Part of ref_model.c. */
#ifndef PW_REF_PLANES_H
#define PW_REF_PLANES_H
#include "ref_model.h"

struct ref_planes {
    double *turn; /* [H,2*ids-1,D,D]: of distances -(ids-1) .. ids-1; NULL: the encoding has no planes */
    int ids, D;
};
/* Makes the matrices of layer l for ids below `ids`, where a step from one id to the next counts as `step`
 * positions. ref_planes_fini frees them. */
struct ref_planes ref_planes_make(const struct ref_model *r, int l, int ids, double base, double step);
void ref_planes_fini(struct ref_planes *x);
/* The product of q and k [D] in head h at ids i and j. */
double ref_planes_product(const struct ref_planes *x, const double *q, const double *k, int h, int i, int j);

#endif
