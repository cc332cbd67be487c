/* ref_formula.h - random formulas for tests of parser, evaluation and gradients. */
#ifndef PW_REF_FORMULA_H
#define PW_REF_FORMULA_H
#include "base/rng.h"
#include "base/text.h"

struct ref_maker {
    struct pw_rng rng;
    struct pw_str out;
    const char *const *leaves; /* variables and numbers to choose from; ends with NULL */
};

unsigned ref_any(struct ref_maker *m, unsigned n); /* a random number below n */
/* Appends an expression: smooth functions on ranges where they are finite, so that differences approximate
 * the derivative, comparisons of d and h, and sums. */
void ref_add_expression(struct ref_maker *m, int depth);

#endif
