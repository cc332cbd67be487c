/* formula_text.c - the formula of an arm's encoding as Python, LaTeX, plain text with a head, or a line
 * to edit. */
#include <string.h>

#include "model/expr/expr_int.h"
#include "model/expr/formula.h"
#include "model/expr/formula_text.h"
#include "model/expr/print.h"

/* A formula file (library.h), so that it can be used as one. */
static void put_plain(const struct pw_formula_use *f, struct pw_str *out)
{
    const struct pw_formula *formula = pw_formula_of(f->use->o.bytes);
    const struct pw_config *c = f->cfg;
    struct pw_str setting = {0};
    pw_opt_print(pw_pe_tune_opts, &f->use->tune, true, &setting);
    pw_str_add(out, "# title: %s\n# look: From a model of %d layers, %d heads of width %d and context %d.",
               strcmp(formula->pe.name, "expr") == 0 && f->title != NULL ? f->title : formula->pe.name,
               c->layers, c->heads, c->head_width, c->context);
    pw_str_add(out, setting.len > 0 ? " Tuned:%s.\n\n" : "%s\n\n", pw_str_text(&setting));
    pw_expr_print_lines(formula->x, out);
    pw_str_fini(&setting);
}

void pw_formula_current(const char *pe, struct pw_str *out)
{
    struct pw_pe_use_opts use;
    if (pw_pe_read(&use, pe, NULL) == PW_OK && use.pe->print != NULL)
        pw_expr_print_values(pw_formula_of(use.o.bytes)->x, out);
}

enum pw_code pw_formula_write(const struct pw_formula_use *f, enum pw_formula_language language,
                              const char *who, struct pw_str *out, struct pw_err *err)
{
    const float *param[PW_EXPR_PARAMS], *at = f->values;
    if (f->use->pe->print == NULL)
        return pw_fail(err, PW_EUSER,
                       "%s: %s is a built-in encoding, not a formula; 'help pe' shows 'pe expr'", who,
                       f->use->pe->name);
    if (f->layer >= f->cfg->layers)
        return pw_fail(err, PW_EUSER, "%s: layer=%d: the model has layers 0..%d", who, f->layer,
                       f->cfg->layers - 1);
    const struct pw_expr *x = pw_formula_of(f->use->o.bytes)->x;
    if (language == PW_FORMULA_PLAIN && x->n_numbers > 0)
        return pw_fail(err, PW_EUSER,
                       "%s: its numbers are of a file: allowed are .py and .tex; 'export table "
                       "F.npz' writes the numbers",
                       who);
    for (int k = 0; k < x->n_params; k++) {
        const struct pw_expr_param *q = &x->param[k];
        size_t part = (size_t)q->size * pw_axis_size(x, q->axis, f->cfg);
        param[k] = q->per_layer ? at + part * (size_t)f->layer : at;
        at += q->per_layer ? part * (size_t)f->cfg->layers : part;
    }
    struct pw_expr_source src = {.x = x,
                                 .cfg = f->cfg,
                                 .tune = f->use->tune,
                                 .layer = f->layer,
                                 .trained = f->trained,
                                 .param = param};
    enum pw_code code = PW_OK;
    if (language == PW_FORMULA_TORCH)
        code = pw_expr_print_torch(&src, out, err);
    else if (language == PW_FORMULA_LATEX)
        pw_expr_print_latex(&src, out);
    else
        put_plain(f, out);
    return code;
}
