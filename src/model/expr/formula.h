/* formula.h - inside of src/model/expr: the encoding that a formula defines, in three files. encoding.c has
 * the descriptors, formula_tables.c the fixed tables, formula_check.c what a model refuses. */
#ifndef PW_FORMULA_H
#define PW_FORMULA_H
#include "model/expr/expr.h"
#include "model/pe.h"

/* A formula and its descriptor. Constant; lives until the process ends. */
struct pw_formula {
    struct pw_pe pe;
    struct pw_expr *x;
    struct pw_str text;
    struct pw_formula *next;
};

/* Returns the formula of an encoding's options. */
const struct pw_formula *pw_formula_of(const void *opts);

/* The variables of an evaluation, and its scratch. fini frees the scratch. */
struct pw_formula_inputs {
    double vars[PW_VARS], *regs;
};
struct pw_formula_inputs pw_formula_inputs_of(const struct pw_config *cfg, const struct pw_expr *x);
void pw_formula_inputs_fini(struct pw_formula_inputs *in);
/* Returns the value of a stage without learned parameters. */
double pw_formula_value(const struct pw_expr *x, enum pw_stage stage, struct pw_formula_inputs *in);

/* Members of struct pw_pe (model/pe.h). */
void pw_formula_build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t);
enum pw_code pw_formula_check(const void *opts, const struct pw_config *cfg, struct pw_err *err);

#endif
