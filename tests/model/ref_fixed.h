/* ref_fixed.h - formulas without learned parameters but the projection of a gate or a mix, each with the same
 * functions written in C. Tests compare models with these formulas with ref_model.c, which calls the
 * functions. */
#ifndef PW_REF_FIXED_H
#define PW_REF_FIXED_H
#include <stdbool.h>

/* The effect of an encoding in layer l, as functions of positions. A NULL function has no effect. */
struct ref_fixed {
    double (*angle)(int l, int pos, int pair, int width); /* of the pair (pair, pair + width / 2) of a head */
    double (*scale)(int l, int h, int query);             /* factor on q.k */
    double (*bias)(int l, int h, int query, int key);     /* -inf: the query does not see the key */
    double (*gate)(int l, int h, double g);               /* of a token's projection; NULL: ln sigmoid */
    double (*mix)(int l, int m, int distance);            /* function m of a mix, at distances from 0 on */
    int mixes;
};

struct ref_fixed_case {
    const char *pe;
    bool both; /* also without the causal mask */
    struct ref_fixed fixed;
};
extern const struct ref_fixed_case ref_fixed_cases[]; /* ends with pe NULL */

#endif
