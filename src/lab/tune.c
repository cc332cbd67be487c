/* tune.c - surgery on a resident model: its encoding's options turned, or another arm's learned bias put in,
 * with every other weight as it is.
 *
 * An option is checked on the first replicate's encoding, whose shape all share, so that none changes where
 * one can't. */
#include "lab/lab_int.h"

/* What everybody sees anew. */
static void tell(struct pw_lab *lab, const struct pw_arm *arm)
{
    pw_lab_tell_arm(lab, arm, false);
    pw_lab_refresh(lab, true);
    pw_lab_eval_again(lab, arm);
}

enum pw_code pw_lab_tune(struct pw_lab *lab, struct pw_arm *arm, const char *text, struct pw_err *err)
{
    struct pw_pe_use_opts turned = arm->pe;
    struct pw_arm *a;
    enum pw_code code = PW_OK;
    if (text == NULL)
        pw_opt_defaults(pw_pe_tune_opts, &turned.tune);
    else
        code = pw_pe_turn(&turned, text, &arm->cfg, err);
    if (code == PW_OK)
        code = pw_model_may_tune(arm->model, &turned, err);
    if (code != PW_OK)
        return code;
    pw_lab_end_checks(lab);
    for (int r = 1; (a = pw_lab_replicate(lab, arm->id, r)) != NULL; r++) {
        pw_model_tune(a->model, &turned);
        a->pe = turned;
    }
    tell(lab, arm);
    return PW_OK;
}

/* The encoding's own parameter of a model; NULL: it has none. */
static const struct pw_param *own_of(const struct pw_model *m)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);
    return n > 0 && p[n - 1].pe ? &p[n - 1] : NULL; /* the last one: ARCHITECTURE */
}

enum pw_code pw_lab_transplant(struct pw_lab *lab, struct pw_arm *arm, int from, struct pw_err *err)
{
    struct pw_arm *donor, *a, *b;
    enum pw_code code = pw_lab_need_arm(lab, from, &donor, err);
    if (code != PW_OK)
        return code;
    const struct pw_param *to = own_of(arm->model), *what = own_of(donor->model);
    if (donor->id == arm->id)
        return pw_fail(err, PW_EUSER, "transplant: arm %d is its own donor; name another one", from);
    if (what == NULL)
        return pw_fail(err, PW_EUSER, "transplant: %s of arm %d has learned nothing of its own",
                       donor->pe.pe->name, from);
    if (to == NULL || arm->pe.pe != donor->pe.pe || to->rows != what->rows || to->cols != what->cols ||
        to->layers != what->layers)
        return pw_fail(
            err, PW_EUSER,
            "transplant: arm %d has %s [%d,%d] and arm %d %s: both must have the same encoding, of "
            "the same shape",
            from, what->name, what->rows, what->cols, arm->id, to != NULL ? to->name : arm->pe.pe->name);
    pw_lab_end_checks(lab);
    for (int r = 1; code == PW_OK && (a = pw_lab_replicate(lab, arm->id, r)) != NULL; r++) {
        b = pw_lab_replicate(lab, from, r);
        code = pw_model_transplant(a->model, b != NULL ? b->model : donor->model, err);
    }
    if (code != PW_OK)
        return code;
    pw_lab_note(lab, "arm %d: %s [%d,%d] is that of arm %d now; all other weights stay", arm->id, what->name,
                what->rows, what->cols, from);
    tell(lab, arm);
    return PW_OK;
}
