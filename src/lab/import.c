/* import.c - weights from a safetensors file into the current arm.
 *
 * A file that carries pewter.config brings its model, encoding and, if it was trained on other tokens, its
 * task (as long as there is only this arm); one without fits an arm of the same shapes or is refused. */
#include <stdio.h>
#include <string.h>

#include "lab/lab_int.h"

bool pw_lab_same_words(const struct pw_vocab *v, const struct pw_checkpoint_info *info)
{
    bool same = v->n == info->n_vocab;
    for (int i = 0; same && i < v->n; i++)
        same = strcmp(v->words[i], info->vocab[i]) == 0;
    return same;
}

/* Takes the file's task where the lab's speaks other tokens. */
static enum pw_code match_task(struct pw_lab *lab, const struct pw_checkpoint_info *info, struct pw_err *err)
{
    if (info->n_vocab == 0 || pw_lab_same_words(&lab->tasks.vocab, info))
        return PW_OK;
    if (info->task == NULL)
        return pw_fail(err, PW_EUSER,
                       "the weights were trained on other tokens, and the file doesn't say which task");
    struct pw_taskset set;
    enum pw_code code = pw_taskset_init(&set, info->task, err);
    if (code != PW_OK)
        return code;
    bool same = pw_lab_same_words(&set.vocab, info);
    pw_taskset_fini(&set);
    if (!same)
        return pw_fail(err, PW_EUSER, "the file's tokens are not those of its task '%s'", info->task);
    if (pw_lab_n_arms(lab) > 1)
        return pw_fail(err, PW_EUSER,
                       "the weights speak the tokens of 'task %s'; run that first, it concerns all arms",
                       info->task);
    return pw_lab_set_task(lab, info->task, err);
}

enum pw_code pw_lab_import_weights(struct pw_lab *lab, const char *path, struct pw_err *err)
{
    struct pw_checkpoint *c;
    enum pw_code code = pw_checkpoint_open(&c, path, err);
    if (code != PW_OK)
        return code;
    const struct pw_checkpoint_info *info = pw_checkpoint_info(c);
    struct pw_arm *arm = pw_lab_current(lab), fresh = {0};
    struct pw_arm settings = *arm;
    if (info->has_config) {
        code = match_task(lab, info, err);
        arm = pw_lab_current(lab);
        settings = *arm;
        settings.cfg = info->config;
        settings.pe = info->pe;
        settings.optim = info->optim;
        settings.seed = info->seed;
        snprintf(settings.preset, sizeof settings.preset, "imported");
    }
    if (code == PW_OK && info->has_config && info->config.vocab != lab->tasks.vocab.n)
        code = pw_fail(err, PW_EUSER, "%s: a model of %d tokens; the task has %d", path, info->config.vocab,
                       lab->tasks.vocab.n);
    if (code == PW_OK) /* into a model beside the arm's, so that a failure changes nothing */
        code = pw_lab_build_arm(lab, &fresh, &settings, err);
    if (code == PW_OK)
        code = pw_checkpoint_load(c, fresh.model, err);
    if (code == PW_OK)
        code = pw_lab_check_heads(&fresh, path, err);
    if (code == PW_OK) {
        fresh.step = fresh.flops_from = info->step;
        pw_lab_put(lab, &fresh, 1);
        pw_lab_tell_arm(lab, arm, true);
        pw_lab_tell_state(lab);
        pw_lab_refresh(lab, true);
        pw_lab_note(lab, "arm %d has the weights of %s (step %lld)", arm->id, path, (long long)arm->step);
    } else
        pw_model_destroy(fresh.model);
    pw_checkpoint_close(c);
    return code;
}
