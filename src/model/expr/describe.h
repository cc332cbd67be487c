/* describe.h - describes a formula before any training: its class, its parameters, the built-in encoding that
 * it equals, where it is finite, and its form in FlexAttention. */
#ifndef PW_EXPR_DESCRIBE_H
#define PW_EXPR_DESCRIBE_H
#include "model/pe.h"

/* Appends two lines without a final newline; nothing if the encoding is no formula. cfg must have passed the
 * encoding's check. trained: longest distance of the training data; 0: unknown. It evaluates samples only, so
 * its time does not grow with the context. Pure; any thread. */
void pw_formula_describe(const struct pw_pe_use_opts *use, const struct pw_config *cfg, int trained,
                         struct pw_str *out);

/* A built-in encoding that has the same tables, with its default options in this model. */
struct pw_formula_twin {
    const struct pw_pe *pe; /* NULL: none is within 1e-3 */
    double factor;          /* the formula is this times the encoding */
    double error;           /* largest difference, relative to the largest entry; 0: the same bits */
    bool learned;           /* both read learned entries, in the same places */
};
struct pw_formula_twin pw_formula_nearest(const struct pw_pe_use_opts *use, const struct pw_config *cfg);

#endif
