/* construct.c - the command `construct`: an arm with the weights of a proof (model/theorem.h).
 *
 * It is an ordinary arm, and the proof is its choice of initial values. So `reset` and a task with other
 * tokens construct the same proof again, and `model` changes the arm's shape. */
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/settings/settings.h"
#include "model/theorem.h"

static enum pw_code configure(struct pw_lab *lab, struct pw_config *cfg, int theorem,
                              const struct pw_construction *of, struct pw_err *err)
{
    int longest = lab->tasks.max_tokens - 1, look = pw_theorem_positions(of->T);
    if (of->context > 0 && of->context < of->T)
        return pw_fail(err, PW_EUSER, "construct: context=%d: must be at least T=%d, the positions to count",
                       of->context, of->T);
    pw_opt_defaults(pw_config_opts, cfg);
    cfg->layers = of->layers > 0 ? of->layers : theorem;
    cfg->width = of->width;
    cfg->heads = of->heads;
    cfg->head_width = of->head_width;
    cfg->ffn = pw_theorem_ffn(of->T);
    cfg->norm = PW_NORM_NONE;
    cfg->scale = false;
    cfg->init = theorem == 1 ? PW_INIT_THEOREM1 : PW_INIT_THEOREM2;
    cfg->context = of->context > 0 ? of->context : look > longest ? look : longest;
    return pw_config_check(cfg, err);
}

enum pw_code pw_lab_construct(struct pw_lab *lab, struct pw_replica *arm, int theorem,
                              const struct pw_construction *of, struct pw_err *err)
{
    struct pw_replica settings[PW_MAX_PLACES];
    struct pw_config cfg;
    int n = pw_lab_collect(lab, arm->id, settings);
    enum pw_code code = configure(lab, &cfg, theorem, of, err);
    if (code == PW_OK)
        code = pw_lab_check_bos(lab, &cfg, err);
    for (int i = 0; i < n && code == PW_OK; i++) {
        settings[i].cfg = cfg;
        settings[i].seed = of->seed + (uint64_t)settings[i].replica - 1;
        code = pw_pe_parse(&settings[i].pe, "none", &cfg, err);
    }
    if (code == PW_OK)
        code = pw_lab_reshape(lab, settings, n, err);
    if (code == PW_OK)
        pw_lab_note(lab, "arm %d: theorem %d's weights, which count %d positions of %d; 'probe theorem%d'",
                    arm->id, theorem, of->T, cfg.context, theorem);
    return code;
}
