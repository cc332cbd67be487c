/* build.c - fresh models: do the settings fit the task and the memory, and building them. */
#include <string.h>

#include "foreign/foreign.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "model/theorem.h"

enum pw_code pw_lab_check_context(const struct pw_taskset *set, const struct pw_config *cfg, bool for_task,
                                  struct pw_err *err)
{
    int need = set->max_tokens - 1;

    if (need <= cfg->context)
        return PW_OK;
    return pw_fail(
        err, PW_EUSER,
        "the longest sample has %d positions, this model reads %d: use shorter lengths= or test=, or "
        "%s'model context=%d'",
        need, cfg->context, for_task ? "set the model before the task: " : "", need);
}

void pw_lab_fit_context(const struct pw_taskset *set, struct pw_config *cfg, int least)
{
    if (cfg->context == 0)
        cfg->context = set->max_tokens - 1 > least ? set->max_tokens - 1 : least;
}

enum pw_code pw_lab_check_bos(const struct pw_lab *lab, const struct pw_config *cfg, struct pw_err *err)
{
    for (int t = 0; pw_theorem_of(cfg) > 0 && t < lab->tasks.n; t++)
        if (!pw_lab_first_word_same(lab, t))
            return pw_fail(err, PW_EUSER,
                           "prompts of the task %s start with different words; the proof of theorem %d needs "
                           "the same first word in all of them as its <bos>",
                           lab->tasks.use[t].task->name, pw_theorem_of(cfg));
    return PW_OK;
}

void pw_lab_fit_words(const struct pw_lab *lab, struct pw_config *cfg)
{
    cfg->vocab = lab->tasks.vocab.n;
    cfg->classes = pw_lab_classes(lab);
    _Static_assert(PW_MAX_BOS >= PW_MAX_TASKS, "every task has its <bos>");
    cfg->n_bos = lab->tasks.n;
    for (int t = 0; t < lab->tasks.n; t++)
        cfg->bos[t] = pw_lab_first_word(lab, t);
}

/* Settles and checks the settings of a fresh replica, without its model. */
static enum pw_code prepare(struct pw_lab *lab, struct pw_replica *fresh, const struct pw_replica *settings,
                            enum pw_altered altered, struct pw_err *err)
{
    *fresh = *settings;
    fresh->step = 0;
    fresh->flops = 0;
    fresh->flops_from = 0;
    fresh->swaps = 0;
    fresh->altered = altered;
    fresh->weight_bytes = altered == PW_ALTERED_FILE ? settings->weight_bytes : 0;
    fresh->parent = 0;
    fresh->training = fresh->due = fresh->checking = false;
    fresh->row_s = 0.0;
    fresh->model = NULL;
    pw_lab_fit_words(lab, &fresh->cfg);
    enum pw_code code = pw_config_check(&fresh->cfg, err);
    if (code == PW_OK)
        code = pw_lab_check_context(&lab->tasks, &fresh->cfg, false, err);
    if (code == PW_OK)
        code = pw_pe_check(&fresh->pe, &fresh->cfg, err);
    return code == PW_OK ? pw_lab_check_memory(lab, lab->ops, lab->be, fresh, 1, err) : code;
}

enum pw_code pw_lab_build_replica(struct pw_lab *lab, struct pw_replica *out,
                                  const struct pw_replica *settings, struct pw_err *err)
{
    struct pw_replica fresh;
    enum pw_code code = prepare(lab, &fresh, settings, PW_ALTERED_NOT, err);
    if (code == PW_OK)
        code = pw_model_create(&fresh.model, lab->ops, lab->be, &fresh.cfg, &fresh.pe, fresh.seed, err);
    if (code == PW_OK)
        *out = fresh;
    return code;
}

enum pw_code pw_lab_build_blank(struct pw_lab *lab, struct pw_replica *out, const struct pw_replica *settings,
                                struct pw_err *err)
{
    struct pw_replica fresh;
    enum pw_code code = prepare(lab, &fresh, settings, PW_ALTERED_NOT, err);
    if (code == PW_OK)
        code = pw_model_create_blank(&fresh.model, lab->ops, lab->be, &fresh.cfg, &fresh.pe, fresh.seed, err);
    if (code == PW_OK)
        *out = fresh;
    return code;
}

enum pw_code pw_lab_build_foreign(struct pw_lab *lab, struct pw_replica *out,
                                  const struct pw_replica *settings, struct pw_foreign *f, bool own_pe,
                                  struct pw_err *err)
{
    struct pw_replica fresh, of_file = *settings;
    of_file.weight_bytes = pw_foreign_info(f)->weight_bytes;
    enum pw_code code = prepare(lab, &fresh, &of_file, PW_ALTERED_FILE, err);
    if (code == PW_OK)
        code = pw_foreign_model(&fresh.model, f, lab->ops, lab->be, &fresh.cfg, &fresh.pe, own_pe, fresh.seed,
                                err);
    if (code == PW_OK)
        *out = fresh;
    return code;
}

enum pw_code pw_lab_build_all(struct pw_lab *lab, struct pw_replica *fresh, const struct pw_replica *settings,
                              int n, struct pw_err *err)
{
    enum pw_code code = n > 1 ? pw_lab_check_memory(lab, lab->ops, lab->be, settings, n, err) : PW_OK;
    if (code != PW_OK)
        return code;
    for (int i = 0; i < n; i++) {
        code = pw_lab_build_replica(lab, &fresh[i], &settings[i], err);
        if (code != PW_OK) {
            for (int k = 0; k < i; k++)
                pw_model_destroy(fresh[k].model);
            return code;
        }
    }
    return PW_OK;
}

bool pw_lab_same_words(const struct pw_vocab *v, const struct pw_checkpoint_info *info)
{
    bool same = v->n == info->n_vocab;
    for (int i = 0; same && i < v->n; i++)
        same = strcmp(v->words[i], info->vocab[i]) == 0;
    return same;
}
