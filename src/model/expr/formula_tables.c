/* formula_tables.c - the fixed parts of a formula, computed on the host in double precision: `bias` by
 * distance, `embed`, and `angle` with `gain` fill the same tables as those of built-in encodings. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "model/expr/formula.h"

struct pw_formula_inputs pw_formula_inputs_of(const struct pw_config *cfg, const struct pw_expr *x)
{
    struct pw_formula_inputs in = {.vars = {[PW_VAR_CONTEXT] = cfg->context,
                                            [PW_VAR_HEADS] = cfg->heads,
                                            [PW_VAR_LAYERS] = cfg->layers,
                                            [PW_VAR_PAIRS] = cfg->head_width / 2,
                                            [PW_VAR_CHANNELS] = cfg->width,
                                            [PW_VAR_WIDTH] = cfg->head_width}};
    in.regs = pw_alloc((size_t)pw_expr_n_nodes(x), sizeof *in.regs);
    return in;
}

void pw_formula_inputs_fini(struct pw_formula_inputs *in)
{
    free(in->regs);
    in->regs = NULL;
}

double pw_formula_value(const struct pw_expr *x, enum pw_stage stage, struct pw_formula_inputs *in)
{
    return pw_expr_eval(x, stage, in->vars, NULL, in->regs);
}

static void fill_bias(const struct pw_expr *x, const struct pw_config *cfg, struct pw_pe_tables *t,
                      struct pw_formula_inputs *in)
{
    for (int h = 0; h < cfg->heads; h++) {
        float *origin = t->bias + (size_t)h * (2 * t->P - 1) + t->P - 1;
        in->vars[PW_VAR_HEAD] = h;
        for (int r = cfg->causal ? 0 : -(t->P - 1); r < t->P; r++) {
            in->vars[PW_VAR_DISTANCE] = r * t->step;
            origin[r] = (float)pw_formula_value(x, PW_STAGE_BIAS, in);
        }
    }
}

static void fill_rows(const struct pw_expr *x, const struct pw_config *cfg, struct pw_pe_tables *t,
                      struct pw_formula_inputs *in)
{
    int pairs = cfg->head_width / 2, C = cfg->width;
    for (int pos = 0; pos < t->P; pos++) {
        in->vars[PW_VAR_I] = t->from + pos * t->step;
        for (int c = 0; t->add[0] != NULL && c < C; c++) {
            in->vars[PW_VAR_CHANNEL] = c;
            t->add[0][(size_t)pos * C + c] = (float)pw_formula_value(x, PW_STAGE_EMBED, in);
        }
        for (int p = 0; t->cosine != NULL && p < pairs; p++) {
            in->vars[PW_VAR_PAIR] = p;
            double gain = pw_expr_has(x, PW_STAGE_GAIN) ? pw_formula_value(x, PW_STAGE_GAIN, in) : 1;
            double angle = pw_expr_has(x, PW_STAGE_ANGLE) ? pw_formula_value(x, PW_STAGE_ANGLE, in) : 0;
            t->cosine[(size_t)pos * pairs + p] = (float)(gain * pw_cos(angle));
            t->sine[(size_t)pos * pairs + p] = (float)(gain * pw_sin(angle));
        }
    }
}

void pw_formula_build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    const struct pw_expr *x = pw_formula_of(opts)->x;
    struct pw_formula_inputs in = pw_formula_inputs_of(cfg, x);
    if (t->bias != NULL)
        fill_bias(x, cfg, t, &in);
    fill_rows(x, cfg, t, &in);
    pw_formula_inputs_fini(&in);
}
