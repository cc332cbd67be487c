/* import.c - load weights from a safetensors file into the current arm. A file with pewter.config brings its
 * model and encoding. If it was trained on another vocabulary it also brings its task, provided that there is
 * only this arm. A file without pewter.config must match the arm's shapes. */
#include <stdio.h>
#include <string.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/settings/settings.h"

/* Find the file's task if the lab's task has another vocabulary; else *other stays empty. */
static enum pw_code find_task(const struct pw_lab *lab, const struct pw_checkpoint_info *info,
                              struct pw_taskset *other, struct pw_err *err)
{
    if (info->n_vocab == 0 || pw_lab_same_words(&lab->tasks.vocab, info))
        return PW_OK;
    if (info->task == NULL)
        return pw_fail(err, PW_EUSER,
                       "the weights were trained on another vocabulary, and the file does not name the task");
    enum pw_code code = pw_taskset_init(other, info->task, err);
    if (code != PW_OK)
        return code;
    if (!pw_lab_same_words(&other->vocab, info))
        code = pw_fail(err, PW_EUSER, "the file's vocabulary does not match its task '%s'", info->task);
    else if (pw_lab_n_arms(lab) > 1)
        code = pw_fail(err, PW_EUSER,
                       "the weights were trained on the vocabulary of 'task %s'; run that first (it applies "
                       "to all arms)",
                       info->task);
    return code; /* the caller frees *other */
}

/* Load the file's model next to the arm's, so that a failure changes nothing. */
static enum pw_code load(struct pw_lab *lab, const struct pw_checkpoint *c, const char *path,
                         struct pw_replica *fresh, const struct pw_replica *settings, struct pw_err *err)
{
    const struct pw_checkpoint_info *info = pw_checkpoint_info(c);
    if (info->has_config && info->config.vocab != lab->tasks.vocab.n)
        return pw_fail(err, PW_EUSER, "%s: a model of %d tokens; the task has %d", path, info->config.vocab,
                       lab->tasks.vocab.n);
    enum pw_code code = pw_lab_build_blank(lab, fresh, settings, err);
    if (code != PW_OK)
        return code;
    fresh->step = fresh->flops_from = info->step;
    fresh->altered = PW_ALTERED_FILE;
    code = pw_checkpoint_load(c, fresh->model, err);
    if (code == PW_OK)
        code = pw_lab_check_heads(fresh, path, err);
    if (code != PW_OK)
        pw_model_destroy(fresh->model);
    return code;
}

/* Put the model in its place. old: the task that the file's task replaced, or NULL. */
static void put(struct pw_lab *lab, struct pw_taskset *old, const struct pw_replica *fresh, const char *path)
{
    bool others = pw_lab_n_replicas(lab, fresh->id) > 1;
    if (old != NULL) {
        pw_lab_put_task(lab, old, fresh, 1);
    } else {
        pw_lab_put(lab, fresh, 1);
        pw_lab_emit_arm(lab, pw_lab_arm(lab, fresh->id), true);
        pw_lab_emit_state(lab);
    }
    pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_MODELS, .arm = fresh->id});
    pw_lab_note(lab, "arm %d has the weights of %s (step %lld)%s", fresh->id, path, (long long)fresh->step,
                others ? "; the file holds one model, so the other replicas were dropped" : "");
}

enum pw_code pw_lab_import_weights(struct pw_lab *lab, const char *path, struct pw_err *err)
{
    struct pw_checkpoint *c;
    enum pw_code code = pw_checkpoint_open(&c, path, err);
    if (code != PW_OK)
        return code;
    const struct pw_checkpoint_info *info = pw_checkpoint_info(c);
    struct pw_replica settings = *pw_lab_current(lab), fresh;
    struct pw_taskset old = lab->tasks, other = {0};
    if (info->has_config) {
        code = find_task(lab, info, &other, err);
        settings.cfg = info->config;
        settings.pe = info->pe;
        settings.optim = info->optim;
        settings.seed = info->seed;
        snprintf(settings.preset, sizeof settings.preset, "imported");
        settings.source[0] = '\0';
    }
    if (other.n > 0)
        lab->tasks = other; /* the model is built for its vocabulary */
    if (code == PW_OK)
        code = load(lab, c, path, &fresh, &settings, err);
    if (code == PW_OK) {
        put(lab, other.n > 0 ? &old : NULL, &fresh, path);
    } else if (other.n > 0) {
        lab->tasks = old;
        pw_taskset_fini(&other);
    }
    pw_checkpoint_close(c);
    return code;
}
