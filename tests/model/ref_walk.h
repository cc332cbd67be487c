/* ref_walk.h - the product of q and k by a walk (pe path, pe wall) in double precision, from the formulas:
 * part of ref_model.h. */
#ifndef PW_REF_WALK_H
#define PW_REF_WALK_H
#include "ref_model.h"

/* The rows of one layer, over which a query walks back. */
struct ref_walk {
    int H, D;
    double *vectors, *factors; /* [T,H,D] [T,H]; factors are NULL if entries are scaled; both NULL: no walk */
};

/* Makes the rows of layer l from its normed input n [T,C]. ref_walk_fini frees them. */
struct ref_walk ref_walk_make(const struct ref_model *r, int l, const double *n, int T);
void ref_walk_fini(struct ref_walk *w);
/* Returns the product of the query q [D] of row i and the key k [D] of row j in head h. */
double ref_walk_product(const struct ref_walk *w, const double *q, const double *k, int h, int i, int j);

#endif
