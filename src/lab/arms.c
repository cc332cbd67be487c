/* arms.c - the resident models: made, remade, swapped, dropped.
 *
 * Every change builds what is new first and lets go of the old only when that has worked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_int.h"

struct pw_arm *pw_lab_arm(struct pw_lab *lab, int id)
{
    return id >= 1 && id <= PW_MAX_ARMS && lab->arms[id - 1].model != NULL ? &lab->arms[id - 1] : NULL;
}

struct pw_arm *pw_lab_current(struct pw_lab *lab)
{
    return &lab->arms[lab->current - 1];
}

int pw_lab_n_arms(const struct pw_lab *lab)
{
    int n = 0;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        n += lab->arms[i].model != NULL;
    return n;
}

enum pw_code pw_lab_need_arm(struct pw_lab *lab, int id, struct pw_arm **arm, struct pw_err *err)
{
    *arm = pw_lab_arm(lab, id);
    if (*arm != NULL)
        return PW_OK;
    struct pw_str there = {0};
    for (int i = 1; i <= PW_MAX_ARMS; i++)
        if (pw_lab_arm(lab, i) != NULL)
            pw_str_add(&there, "%s%d", there.len > 0 ? ", " : "", i);
    pw_fail(err, PW_EUSER, "there is no arm %d; there %s %s", id, pw_lab_n_arms(lab) == 1 ? "is" : "are",
            pw_str_text(&there));
    pw_str_fini(&there);
    return PW_EUSER;
}

/* Does the longest sample that this lab trains on or tests fit into the model? Prompts and evaluation check
 * their own lengths; training data must fit before anything is built. */
static enum pw_code check_context(const struct pw_taskset *set, const struct pw_config *cfg,
                                  struct pw_err *err)
{
    if (set->max_tokens - 1 <= cfg->context)
        return PW_OK;
    return pw_fail(
        err, PW_EUSER,
        "the longest sample has %d positions, this model takes %d: shorter lengths= or test=, or model "
        "context=%d",
        set->max_tokens - 1, cfg->context, set->max_tokens - 1);
}

enum pw_code pw_lab_build_arm(struct pw_lab *lab, struct pw_arm *arm, const struct pw_arm *settings,
                              struct pw_err *err)
{
    struct pw_arm fresh = *settings;
    fresh.id = arm->id;
    fresh.step = 0;
    fresh.swaps = 0;
    fresh.parent = 0;
    fresh.training = false;
    fresh.cfg.vocab = lab->tasks.vocab.n;
    fresh.model = NULL;
    enum pw_code code = pw_config_check(&fresh.cfg, err);
    if (code == PW_OK)
        code = check_context(&lab->tasks, &fresh.cfg, err);
    if (code == PW_OK && fresh.pe.pe->check != NULL)
        code = fresh.pe.pe->check(fresh.pe.o.bytes, &fresh.cfg, err);
    if (code == PW_OK)
        code = pw_model_create(&fresh.model, lab->ops, lab->be, &fresh.cfg, &fresh.pe, fresh.seed, err);
    if (code != PW_OK)
        return code;
    pw_model_destroy(arm->model);
    *arm = fresh;
    return PW_OK;
}

static void drop(struct pw_lab *lab, struct pw_arm *arm)
{
    struct pw_event *e = pw_lab_event(lab, PW_EV_DROP, arm);
    pw_model_destroy(arm->model);
    *arm = (struct pw_arm){.id = arm->id};
    pw_lab_emit(lab, e);
}

/* Builds fresh models from settings for n arms at once (1..n, those beyond are dropped): all or none. */
static enum pw_code rebuild(struct pw_lab *lab, const struct pw_arm *settings, int n, struct pw_err *err)
{
    struct pw_arm fresh[PW_MAX_ARMS] = {{0}};
    for (int i = 0; i < n; i++) {
        fresh[i].id = settings[i].id;
        enum pw_code code = pw_lab_build_arm(lab, &fresh[i], &settings[i], err);
        if (code != PW_OK) {
            for (int k = 0; k < i; k++)
                pw_model_destroy(fresh[k].model);
            return code;
        }
    }
    pw_lab_stop(lab, "");
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        struct pw_arm *arm = &lab->arms[i];
        bool kept = false;
        for (int k = 0; k < n; k++)
            kept = kept || fresh[k].id == arm->id;
        if (arm->model != NULL && !kept)
            drop(lab, arm);
    }
    for (int i = 0; i < n; i++) {
        struct pw_arm *arm = &lab->arms[fresh[i].id - 1];
        pw_model_destroy(arm->model);
        *arm = fresh[i];
    }
    if (pw_lab_arm(lab, lab->current) == NULL)
        lab->current = fresh[0].id;
    return PW_OK;
}

static int collect(const struct pw_lab *lab, struct pw_arm *out)
{
    int n = 0;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (lab->arms[i].model != NULL)
            out[n++] = lab->arms[i];
    return n;
}

static void tell_all(struct pw_lab *lab, bool restarted)
{
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (lab->arms[i].model != NULL)
            pw_lab_tell_arm(lab, &lab->arms[i], restarted);
    pw_lab_tell_state(lab);
}

enum pw_code pw_lab_set_task(struct pw_lab *lab, const char *text, struct pw_err *err)
{
    struct pw_taskset set;
    enum pw_code code = pw_taskset_init(&set, text, err);
    if (code != PW_OK)
        return code;
    bool same = pw_vocab_same(&set.vocab, &lab->tasks.vocab);
    struct pw_arm settings[PW_MAX_ARMS];
    int n = collect(lab, settings);
    for (int i = 0; i < n && code == PW_OK; i++)
        code = check_context(&set, &settings[i].cfg, err);
    if (code != PW_OK) {
        pw_taskset_fini(&set);
        return code;
    }
    struct pw_taskset old = lab->tasks;
    lab->tasks = set;
    if (!same) {
        code = rebuild(lab, settings, n, err);
        if (code != PW_OK) {
            lab->tasks = old;
            pw_taskset_fini(&set);
            return code;
        }
    }
    pw_taskset_fini(&old);
    pw_lab_eval_cancel(lab);
    lab->batch_index = -1;
    pw_lab_unpin(lab);
    pw_lab_tell_lab(lab);
    tell_all(lab, !same);
    pw_lab_note(lab,
                same ? "the tokens are the same: weights are kept" : "other tokens: all arms begin anew");
    pw_lab_refresh(lab, true);
    return PW_OK;
}

enum pw_code pw_lab_set_model(struct pw_lab *lab, struct pw_arm *arm, const char *preset,
                              const struct pw_config *cfg, const struct pw_optim *optim, struct pw_err *err)
{
    struct pw_arm settings = *arm;
    snprintf(settings.preset, sizeof settings.preset, "%s", preset);
    settings.cfg = *cfg;
    settings.optim = *optim;
    enum pw_code code = pw_lab_build_arm(lab, arm, &settings, err);
    if (code != PW_OK)
        return code;
    if (lab->pin.arm == arm->id)
        pw_lab_unpin(lab);
    pw_lab_tell_arm(lab, arm, true);
    pw_lab_tell_state(lab);
    pw_lab_refresh(lab, true);
    return PW_OK;
}

enum pw_code pw_lab_set_seed(struct pw_lab *lab, uint64_t seed, int id, struct pw_err *err)
{
    struct pw_arm settings[PW_MAX_ARMS], *arm = NULL;
    if (id != 0) {
        enum pw_code code = pw_lab_need_arm(lab, id, &arm, err);
        if (code != PW_OK)
            return code;
        settings[0] = *arm;
        settings[0].seed = seed;
        code = pw_lab_build_arm(lab, arm, &settings[0], err);
        if (code != PW_OK)
            return code;
        pw_lab_tell_arm(lab, arm, true);
    } else {
        int n = collect(lab, settings);
        for (int i = 0; i < n; i++)
            settings[i].seed = seed;
        enum pw_code code = rebuild(lab, settings, n, err);
        if (code != PW_OK)
            return code;
        lab->seed = seed;
        lab->batch_index = -1;
        pw_lab_tell_lab(lab);
        tell_all(lab, true);
    }
    pw_lab_refresh(lab, true);
    return PW_OK;
}

enum pw_code pw_lab_set_pe(struct pw_lab *lab, struct pw_arm *arm, const char *text, bool restart,
                           struct pw_err *err)
{
    struct pw_pe_use_opts use;
    enum pw_code code = pw_pe_parse(&use, text, &arm->cfg, err);
    if (code == PW_OK)
        code = pw_model_set_pe(arm->model, &use, arm->seed, restart, err);
    if (code != PW_OK)
        return code;
    arm->pe = use;
    arm->swaps += arm->step > 0; /* before the first step it is simply the arm's encoding */
    pw_lab_tell_arm(lab, arm, false);
    pw_lab_refresh(lab, true);
    return PW_OK;
}

enum pw_code pw_lab_race(struct pw_lab *lab, char *const *pes, int n, struct pw_err *err)
{
    struct pw_arm settings[PW_MAX_ARMS];
    if (n > PW_MAX_ARMS)
        return pw_fail(err, PW_EUSER, "%d encodings; at most %d race at once", n, PW_MAX_ARMS);
    for (int i = 0; i < n; i++) {
        settings[i] = *pw_lab_current(lab);
        settings[i].id = i + 1;
        settings[i].seed = lab->seed;
        enum pw_code code = pw_pe_parse(&settings[i].pe, pes[i], &settings[i].cfg, err);
        if (code != PW_OK)
            return code;
    }
    enum pw_code code = rebuild(lab, settings, n, err);
    if (code != PW_OK)
        return code;
    lab->current = 1;
    tell_all(lab, true);
    pw_lab_refresh(lab, true);
    return PW_OK;
}

static enum pw_code find_place(struct pw_lab *lab, struct pw_arm **arm, struct pw_err *err)
{
    *arm = NULL;
    for (int i = PW_MAX_ARMS - 1; i >= 0; i--)
        if (lab->arms[i].model == NULL)
            *arm = &lab->arms[i];
    if (*arm == NULL)
        return pw_fail(err, PW_EUSER, "there are %d arms already, the most; 'arm drop N' makes room",
                       PW_MAX_ARMS);
    return PW_OK;
}

enum pw_code pw_lab_add_arm(struct pw_lab *lab, const char *pe, int *id, struct pw_err *err)
{
    struct pw_arm *arm, settings = *pw_lab_current(lab);
    enum pw_code code = find_place(lab, &arm, err);
    if (code != PW_OK)
        return code;
    settings.id = arm->id;
    settings.seed = lab->seed;
    code = pw_pe_parse(&settings.pe, pe, &settings.cfg, err);
    if (code == PW_OK)
        code = pw_lab_build_arm(lab, arm, &settings, err);
    if (code != PW_OK)
        return code;
    *id = arm->id;
    pw_lab_tell_arm(lab, arm, true);
    pw_lab_tell_state(lab);
    return PW_OK;
}

enum pw_code pw_lab_fork(struct pw_lab *lab, const char *pe, bool restart, int *id, struct pw_err *err)
{
    const struct pw_arm *from = pw_lab_current(lab);
    struct pw_arm *arm, fresh = *from;
    struct pw_pe_use_opts use;
    enum pw_code code = find_place(lab, &arm, err);
    if (code == PW_OK && pe != NULL)
        code = pw_pe_parse(&use, pe, &fresh.cfg, err);
    if (code != PW_OK)
        return code;
    fresh.model = NULL;
    code = pw_model_clone(&fresh.model, from->model, lab->ops, lab->be, err);
    if (code == PW_OK && pe != NULL)
        code = pw_model_set_pe(fresh.model, &use, fresh.seed, restart, err);
    if (code != PW_OK) {
        pw_model_destroy(fresh.model);
        return code;
    }
    fresh.id = arm->id;
    fresh.parent = from->id;
    fresh.parent_step = from->step;
    *arm = fresh;
    pw_lab_tell_arm(lab, arm, true);
    if (pe != NULL) { /* told apart, so that the swap is one in the arm's history */
        arm->pe = use;
        arm->swaps += arm->step > 0;
        pw_lab_tell_arm(lab, arm, false);
    }
    pw_lab_tell_state(lab);
    *id = arm->id;
    return PW_OK;
}

enum pw_code pw_lab_drop_arm(struct pw_lab *lab, int id, struct pw_err *err)
{
    struct pw_arm *arm;
    enum pw_code code = pw_lab_need_arm(lab, id, &arm, err);
    if (code != PW_OK)
        return code;
    if (pw_lab_n_arms(lab) == 1)
        return pw_fail(err, PW_EUSER, "arm %d is the only one; a laboratory has at least one", id);
    pw_lab_eval_cancel(lab);
    if (lab->pin.arm == id)
        pw_lab_unpin(lab);
    drop(lab, arm);
    if (lab->current == id) /* the next one down, or else the first */
        for (lab->current = id - 1; pw_lab_arm(lab, lab->current) == NULL;)
            lab->current = lab->current > 1 ? lab->current - 1 : PW_MAX_ARMS;
    return pw_lab_choose_arm(lab, lab->current, err);
}

enum pw_code pw_lab_choose_arm(struct pw_lab *lab, int id, struct pw_err *err)
{
    struct pw_arm *arm;
    enum pw_code code = pw_lab_need_arm(lab, id, &arm, err);
    if (code != PW_OK)
        return code;
    lab->current = id;
    pw_lab_tell_arm(lab, arm, false);
    pw_lab_tell_state(lab);
    pw_lab_refresh(lab, true);
    return PW_OK;
}

enum pw_code pw_lab_reset(struct pw_lab *lab, struct pw_err *err)
{
    struct pw_arm settings[PW_MAX_ARMS];
    int n = collect(lab, settings);
    enum pw_code code = rebuild(lab, settings, n, err);
    if (code != PW_OK)
        return code;
    tell_all(lab, true);
    pw_lab_refresh(lab, true);
    return PW_OK;
}

/* Every model moves to a new backend, and only when all have moved does the old one go. */
enum pw_code pw_lab_set_threads(struct pw_lab *lab, int threads, struct pw_err *err)
{
    struct pw_backend *be = NULL;
    struct pw_model *moved[PW_MAX_ARMS] = {0};
    enum pw_code code = lab->ops->open(&be, threads, err);
    for (int i = 0; i < PW_MAX_ARMS && code == PW_OK; i++)
        if (lab->arms[i].model != NULL)
            code = pw_model_clone(&moved[i], lab->arms[i].model, lab->ops, be, err);
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        struct pw_model **old = code == PW_OK ? &lab->arms[i].model : &moved[i];
        pw_model_destroy(*old);
        *old = code == PW_OK ? moved[i] : NULL;
    }
    lab->ops->close(code == PW_OK ? lab->be : be);
    if (code != PW_OK)
        return code;
    lab->be = be;
    pw_lab_tell_lab(lab);
    pw_lab_note(lab, "%s: %s", lab->ops->name, lab->ops->device(be));
    return PW_OK;
}
