/* tune.c - surgery on a resident model: change its encoding's options, or replace its learned values by
 * another arm's, or untrained ones by trained ones. All other weights are kept. An option is checked on the
 * first replica's encoding, whose shape all share, so either all change or none. */
#include <stdio.h>
#include <stdlib.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/train/train.h"
#include "model/untrained.h"

static void emit_tuned_arm(struct pw_lab *lab, const struct pw_replica *arm)
{
    struct pw_notice notice = {.what = PW_CHANGE_TUNED, .arm = arm->id};
    pw_lab_changes(lab, &notice);
    pw_lab_emit_arm(lab, arm, false);
    pw_lab_changed(lab, &notice);
}

enum pw_code pw_lab_tune(struct pw_lab *lab, struct pw_replica *arm, const char *text, struct pw_err *err)
{
    struct pw_pe_use_opts turned = arm->pe;
    struct pw_replica *a;
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
    for (int r = 1; (a = pw_lab_replica(lab, arm->id, r)) != NULL; r++) {
        pw_model_tune(a->model, &turned);
        a->pe = turned;
    }
    pw_lab_alter(lab, arm->id, PW_ALTERED_TUNED);
    emit_tuned_arm(lab, arm);
    return PW_OK;
}

/* The encoding's own tensors of a model. */
struct own {
    const struct pw_param *p;
    int n;
};

static struct own own_of(const struct pw_model *m)
{
    struct own own;
    own.p = pw_model_pe_params(m, &own.n);
    return own;
}

static bool same_shapes(const struct own *a, const struct own *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same =
            a->p[i].rows == b->p[i].rows && a->p[i].cols == b->p[i].cols && a->p[i].layers == b->p[i].layers;
    return same;
}

/* "pe.bias [8,4]", "pe.* (6 tensors, 354 numbers)" */
static void name_own(char out[96], const struct own *own)
{
    size_t size = 0;
    for (int i = 0; i < own->n; i++)
        size += pw_param_count(&own->p[i]);
    if (own->n == 1)
        snprintf(out, 96, "%s [%d,%d]", own->p->name, own->p->rows, own->p->cols);
    else
        snprintf(out, 96, "pe.* (%d tensors, %zu numbers)", own->n, size);
}

enum pw_code pw_lab_transplant(struct pw_lab *lab, struct pw_replica *arm, int from, struct pw_err *err)
{
    struct pw_replica *donor, *a, *b;
    enum pw_code code = pw_lab_need_arm(lab, from, &donor, err);
    if (code != PW_OK)
        return code;
    struct own to = own_of(arm->model), what = own_of(donor->model);
    char name[96], other[96];
    if (donor->id == arm->id)
        return pw_fail(err, PW_EUSER,
                       "transplant: arm %d: source and target are the same arm; name another one", from);
    if (what.n == 0)
        return pw_fail(err, PW_EUSER, "transplant: %s of arm %d has no learned parameters",
                       donor->pe.pe->name, from);
    name_own(name, &what);
    if (to.n == 0)
        pw_text_copy(other, sizeof other, arm->pe.pe->name);
    else
        name_own(other, &to);
    if (!pw_pe_alike(arm->pe.pe, donor->pe.pe) || !same_shapes(&to, &what))
        return pw_fail(
            err, PW_EUSER,
            "transplant: arm %d has %s, arm %d has %s; both must have the same encoding, of the same shape",
            from, name, arm->id, other);
    pw_lab_end_checks(lab);
    for (int r = 1; code == PW_OK && (a = pw_lab_replica(lab, arm->id, r)) != NULL; r++) {
        b = pw_lab_replica(lab, from, r);
        code = pw_model_transplant(a->model, b != NULL ? b->model : donor->model, err);
    }
    if (code != PW_OK)
        return code;
    pw_lab_alter(lab, arm->id, PW_ALTERED_TRANSPLANT);
    pw_lab_note(lab, "arm %d: %s %s of arm %d now; all other weights stay", arm->id, name,
                what.n == 1 ? "is that" : "are those", from);
    emit_tuned_arm(lab, arm);
    return PW_OK;
}

enum pw_code pw_lab_fill_untrained(struct pw_lab *lab, struct pw_replica *arm, struct pw_err *err)
{
    struct own own = own_of(arm->model);
    struct pw_replica *a;
    char name[96];
    int n;
    enum pw_code code = PW_OK;
    float *values = pw_model_clamp_untrained(arm->model, &n);
    bool has_entries = values != NULL || n < 0;
    free(values);
    if (!has_entries)
        return pw_fail(err, PW_EUSER,
                       "transplant nearest: %s has no learned entries of positions or distances",
                       arm->pe.pe->name);
    if (n <= 0)
        return pw_fail(err, PW_EUSER,
                       n < 0 ? "transplant nearest: arm %d was not trained yet"
                             : "transplant nearest: all entries that arm %d can read were trained",
                       arm->id);
    pw_lab_end_checks(lab);
    for (int r = 1; code == PW_OK && (a = pw_lab_replica(lab, arm->id, r)) != NULL; r++) {
        int of_replica;
        values = pw_model_clamp_untrained(a->model, &of_replica);
        if (values != NULL)
            code = pw_model_put_encoding(a->model, values, err);
        free(values);
    }
    if (code != PW_OK)
        return code;
    name_own(name, &own);
    pw_lab_alter(lab, arm->id, PW_ALTERED_TRANSPLANT);
    pw_lab_note(
        lab,
        "arm %d: entries of %s that training never read: %d; each has the nearest trained one's values now",
        arm->id, name, n);
    emit_tuned_arm(lab, arm);
    return PW_OK;
}
