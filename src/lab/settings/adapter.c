/* adapter.c - give the models of an arm a low-rank adapter (model/adapter.c) while they train. */
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/settings/settings.h"
#include "lab/train/train.h"

void pw_lab_fit_optim(const struct pw_config *cfg, struct pw_optim *optim)
{
    if (optim->rank != cfg->adapter)
        optim->rank = 0;
    if (optim->trains == PW_TRAINS_ADAPTER && cfg->adapter == 0)
        optim->trains = PW_TRAINS_ALL;
}

/* An adapter keeps its rank. */
static enum pw_code fail_rank(const struct pw_replica *arm, int rank, struct pw_err *err)
{
    if (arm->source[0] != '\0')
        return pw_fail(err, PW_EUSER,
                       "optim: rank=%d: arm %d has an adapter of rank %d, which keeps its rank; 'model "
                       "from=%.200s' starts again without an adapter",
                       rank, arm->id, arm->cfg.adapter, arm->source);
    return pw_fail(
        err, PW_EUSER,
        "optim: rank=%d: arm %d has an adapter of rank %d, which keeps its rank; 'model adapter=%d' "
        "starts again with new weights",
        rank, arm->id, arm->cfg.adapter, rank);
}

/* Builds the models with an adapter beside the old ones: all or none. */
static enum pw_code build(struct pw_lab *lab, struct pw_replica *fresh, int n, int rank, struct pw_err *err)
{
    for (int i = 0; i < n; i++)
        fresh[i].cfg.adapter = rank;
    enum pw_code code = pw_lab_check_memory(lab, lab->ops, lab->be, fresh, n, err);
    if (code != PW_OK)
        pw_err_at(err, "optim: an adapter");
    for (int i = 0; i < n && code == PW_OK; i++) {
        code = pw_model_adapt(&fresh[i].model, fresh[i].model, rank, err);
        for (int k = 0; code != PW_OK && k < i; k++)
            pw_model_destroy(fresh[k].model);
    }
    return code;
}

enum pw_code pw_lab_adapt(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_optim *optim,
                          struct pw_err *err)
{
    struct pw_replica fresh[PW_MAX_PLACES];
    int has = arm->cfg.adapter, rank = optim->rank > 0 ? optim->rank : PW_ADAPTER_RANK;
    if (has > 0 && optim->rank > 0 && optim->rank != has)
        return fail_rank(arm, optim->rank, err);
    if (has > 0 || optim->trains != PW_TRAINS_ADAPTER)
        return PW_OK;
    pw_lab_end_checks(lab);
    int n = pw_lab_collect(lab, arm->id, fresh);
    enum pw_code code = build(lab, fresh, n, rank, err);
    if (code != PW_OK)
        return code;
    pw_lab_put(lab, fresh, n);
    pw_lab_emit_arm(lab, arm, false);
    pw_lab_note(lab, "arm %d: an adapter of rank %d; it changes nothing until it is trained", arm->id, rank);
    pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_MODELS, .arm = arm->id});
    return PW_OK;
}
