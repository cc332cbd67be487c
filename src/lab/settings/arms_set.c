/* arms_set.c - settings of arms: task, shape, seed, encoding, optimiser. The replicas of an arm change
 * together, all or none. */
#include <stdio.h>
#include <string.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "lab/settings/settings.h"
#include "lab/train/train.h"
#include "model/expr/describe.h"

/* Rebuild every arm with these settings. */
static enum pw_code rebuild(struct pw_lab *lab, const struct pw_replica *settings, int n, struct pw_err *err)
{
    struct pw_replica fresh[PW_MAX_PLACES];
    enum pw_code code = pw_lab_build_all(lab, fresh, settings, n, err);
    if (code == PW_OK)
        pw_lab_put_only(lab, fresh, n);
    return code;
}

/* Rebuild one arm with n replicas; the others are unaffected. */
static enum pw_code rebuild_one(struct pw_lab *lab, const struct pw_replica *settings, int n,
                                struct pw_err *err)
{
    struct pw_replica fresh[PW_MAX_PLACES];
    enum pw_code code = pw_lab_build_all(lab, fresh, settings, n, err);
    if (code != PW_OK)
        return code;
    pw_lab_put(lab, fresh, n);
    pw_lab_emit_arm(lab, pw_lab_arm(lab, fresh[0].id), true);
    pw_lab_emit_state(lab);
    return PW_OK;
}

void pw_lab_put_task(struct pw_lab *lab, struct pw_taskset *old, const struct pw_replica *fresh, int n)
{
    if (n > 0)
        pw_lab_put_only(lab, fresh, n);
    pw_taskset_fini(old);
    pw_lab_changes(lab, &(struct pw_notice){.what = PW_CHANGE_TASK});
    pw_lab_emit_lab(lab);
    pw_lab_emit_all(lab, n > 0);
}

/* Emit notes about loaded data: how many lines of a file are held out. */
static void tell_loaded(struct pw_lab *lab)
{
    struct pw_str text = {0};
    for (int i = 0; i < lab->tasks.n; i++)
        if (lab->tasks.use[i].task->tell != NULL)
            lab->tasks.use[i].task->tell(&lab->tasks.use[i].o, &text);
    if (text.len > 0)
        pw_lab_note_lines(lab, text.s);
    pw_str_fini(&text);
}

static bool same_tasks(const struct pw_taskset *a, const struct pw_taskset *b)
{
    struct pw_str x = {0}, y = {0};
    pw_taskset_print(a, &x);
    pw_taskset_print(b, &y);
    bool same = strcmp(pw_str_text(&x), pw_str_text(&y)) == 0;
    pw_str_fini(&x);
    pw_str_fini(&y);
    return same;
}

enum pw_code pw_lab_set_task(struct pw_lab *lab, const char *text, struct pw_err *err)
{
    struct pw_taskset set, old = lab->tasks;
    enum pw_code code = pw_taskset_init(&set, text, err);
    if (code != PW_OK)
        return code;
    const unsigned char *classes = pw_lab_classes(lab); /* equal ones are one copy */
    struct pw_replica fresh[PW_MAX_PLACES], settings[PW_MAX_PLACES];
    int n = pw_lab_collect(lab, 0, settings);
    for (int i = 0; i < n && code == PW_OK; i++)
        code = pw_lab_check_context(&set, &settings[i].cfg, true, err);
    if (code == PW_OK)
        pw_lab_end_checks(lab);
    lab->tasks = set;
    bool same = pw_vocab_same(&set.vocab, &old.vocab) && pw_lab_classes(lab) == classes;
    for (int i = 0; i < n && code == PW_OK && !same; i++)
        code = pw_lab_check_bos(lab, &settings[i].cfg, err);
    if (code == PW_OK && !same)
        code = pw_lab_build_all(lab, fresh, settings, n, err);
    if (code == PW_OK && same && set.max_tokens > old.max_tokens)
        code = pw_lab_check_steps(lab, settings, n, 0, old.max_tokens, err);
    if (code != PW_OK) {
        lab->tasks = old;
        pw_taskset_fini(&set);
        return code;
    }
    for (int i = 0; i < PW_MAX_PLACES && same; i++)
        if (lab->replicas[i].model != NULL)
            pw_lab_fit_words(lab, &lab->replicas[i].cfg);
    if (same && !same_tasks(&old, &set))
        for (int id = 1; id <= PW_MAX_ARMS; id++)
            pw_lab_alter(lab, id, PW_ALTERED_TASK);
    pw_lab_put_task(lab, &old, fresh, same ? 0 : n);
    pw_lab_note(lab, same ? "the tokens are the same: weights are kept"
                          : "other tokens: all arms get new weights");
    tell_loaded(lab);
    pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_TASK});
    return PW_OK;
}

enum pw_code pw_lab_reshape(struct pw_lab *lab, struct pw_replica *settings, int n, struct pw_err *err)
{
    for (int i = 0; i < n; i++)
        pw_lab_fit_optim(&settings[i].cfg, &settings[i].optim);
    enum pw_code code = rebuild_one(lab, settings, n, err);
    if (code != PW_OK)
        return code;
    struct pw_notice notice = {.what = PW_CHANGE_SHAPE, .arm = settings[0].id};
    pw_lab_changes(lab, &notice);
    pw_lab_changed(lab, &notice);
    return PW_OK;
}

enum pw_code pw_lab_set_model(struct pw_lab *lab, struct pw_replica *arm, const char *preset,
                              const struct pw_config *cfg, const struct pw_optim *optim, struct pw_err *err)
{
    struct pw_replica settings[PW_MAX_PLACES];
    int n = pw_lab_collect(lab, arm->id, settings);
    for (int i = 0; i < n; i++) {
        snprintf(settings[i].preset, sizeof settings[i].preset, "%s", preset);
        settings[i].source[0] = '\0';
        settings[i].cfg = *cfg;
        settings[i].optim = *optim;
    }
    return pw_lab_reshape(lab, settings, n, err);
}

enum pw_code pw_lab_set_seed(struct pw_lab *lab, uint64_t seed, int id, struct pw_err *err)
{
    struct pw_replica settings[PW_MAX_PLACES], *arm;
    enum pw_code code = id != 0 ? pw_lab_need_arm(lab, id, &arm, err) : PW_OK;
    if (code != PW_OK)
        return code;
    int n = pw_lab_collect(lab, id, settings);
    for (int i = 0; i < n; i++)
        settings[i].seed = seed + (uint64_t)settings[i].replica - 1;
    if (id != 0) {
        code = rebuild_one(lab, settings, n, err);
        if (code != PW_OK)
            return code;
    } else {
        code = rebuild(lab, settings, n, err);
        if (code != PW_OK)
            return code;
        lab->seed = seed;
        pw_lab_changes(lab, &(struct pw_notice){.what = PW_CHANGE_SEED});
        pw_lab_emit_lab(lab);
        pw_lab_emit_all(lab, true);
    }
    pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_MODELS | PW_CHANGE_SEED, .arm = id});
    return PW_OK;
}

enum pw_code pw_lab_set_pe(struct pw_lab *lab, struct pw_replica *arm, const char *text, bool restart,
                           struct pw_err *err)
{
    struct pw_replica fresh[PW_MAX_PLACES];
    int n;
    enum pw_code code = pw_lab_copy_all(lab, fresh, &n, arm, text, restart, err);
    if (code != PW_OK)
        return code;
    pw_lab_put(lab, fresh, n);
    pw_lab_emit_arm(lab, arm, false);
    pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_MODELS, .arm = arm->id});
    return PW_OK;
}

enum pw_code pw_lab_name_pe(struct pw_lab *lab, struct pw_replica *arm, const char *name, struct pw_err *err)
{
    struct pw_pe_use_opts named = arm->pe;
    struct pw_replica *a;
    if (named.pe->print == NULL)
        return pw_fail(err, PW_EUSER, "pe name: %s is a built-in encoding; only a formula can have a name",
                       named.pe->name);
    enum pw_code code = pw_pe_formula_name(&named, name, err);
    if (code != PW_OK) {
        pw_err_at(err, "pe name");
        return code;
    }
    if (memcmp(&named, &arm->pe, sizeof named) == 0)
        return PW_OK;
    for (int r = 1; (a = pw_lab_replica(lab, arm->id, r)) != NULL; r++) {
        pw_model_name(a->model, &named);
        a->pe = named;
    }
    pw_lab_emit_arm(lab, arm, false);
    lab->table_generation[arm->id] = 0; /* the reader has dropped a table of the former text */
    if (lab->cfg.live)
        pw_lab_refresh_tables(lab, true, 0);
    return PW_OK;
}

/* Emit a note if the encoding has the values that its bare name means in this model. */
static void note_choice(struct pw_lab *lab, const struct pw_replica *arm)
{
    const struct pw_pe *pe = arm->pe.pe;
    struct pw_pe_use_opts bare;
    struct pw_str text = {0}, name = {0};
    struct pw_err err;
    enum pw_code code = pe->choice != NULL ? pw_pe_parse(&bare, pe->name, &arm->cfg, &err) : PW_EUSER;
    if (code == PW_ENOMEM)
        pw_lab_emit_error(lab, err.msg);
    if (code != PW_OK || memcmp(&bare, &arm->pe, sizeof bare) != 0)
        return;
    pw_pe_print(&arm->pe, &text);
    pw_encoding_name(&name, text.s);
    pw_lab_note(lab, "arm %d: %s (context %d); default %s: %s", arm->id, name.s, arm->cfg.context, pe->name,
                pe->choice);
    pw_str_fini(&name);
    pw_str_fini(&text);
}

/* Describes the formula. After a swap in one line, which is the answer that the screen shows; whole: also its
 * form in FlexAttention. */
static void note_formula(struct pw_lab *lab, const struct pw_replica *arm, bool whole)
{
    struct pw_str text = {0}, all = {0};
    pw_formula_describe(&arm->pe, &arm->cfg, pw_lab_trained_distance(lab), &text);
    if (text.len > 0)
        pw_str_add(&all, "arm %d: formula: %.*s", arm->id, (int)(whole ? text.len : strcspn(text.s, "\n")),
                   text.s);
    if (arm->pe.pe->ids != NULL)
        pw_str_add(&all, whole ? "\n" : "; ");
    pw_lab_show_positions(lab, &arm->pe, &arm->cfg, &all);
    pw_lab_note_lines(lab, pw_str_text(&all));
    pw_str_fini(&all);
    pw_str_fini(&text);
}

void pw_lab_note_encoding(struct pw_lab *lab, const struct pw_replica *arm)
{
    note_formula(lab, arm, false);
    note_choice(lab, arm);
    pw_lab_warn_of_length(lab, arm);
}

enum pw_code pw_lab_check_pe(struct pw_lab *lab, const struct pw_replica *arm, const char *text,
                             struct pw_err *err)
{
    struct pw_replica other = *arm;
    enum pw_code code = pw_pe_parse(&other.pe, text, &arm->cfg, err);
    if (code == PW_OK && other.pe.pe->print == NULL)
        code = pw_fail(err, PW_EUSER,
                       "pe check: %s is a built-in encoding; check a formula: pe check expr \"bias = -d\"",
                       other.pe.pe->name);
    if (code == PW_OK)
        note_formula(lab, &other, true);
    return code;
}

void pw_lab_warn_of_length(struct pw_lab *lab, const struct pw_replica *arm)
{
    if (arm->cfg.causal && pw_pe_uses_length(arm->pe.pe))
        pw_lab_note(lab,
                    "arm %d: %s depends on the final length: causal training leaks it, and in decoding "
                    "(length: the tokens so far) every new token %s all earlier keys",
                    arm->id, arm->pe.pe->name, pw_pe_adds_by_length(arm->pe.pe) ? "changes" : "can change");
}

static bool same_optim(const struct pw_optim *a, const struct pw_optim *b)
{
    struct pw_str x = {0}, y = {0};
    pw_opt_print(pw_optim_opts, a, true, &x);
    pw_opt_print(pw_optim_opts, b, true, &y);
    bool same = strcmp(pw_str_text(&x), pw_str_text(&y)) == 0;
    pw_str_fini(&x);
    pw_str_fini(&y);
    return same;
}

enum pw_code pw_lab_set_optim(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_optim *optim,
                              struct pw_err *err)
{
    struct pw_replica settings[PW_MAX_PLACES], *a;
    int n = pw_lab_collect(lab, 0, settings);
    enum pw_code code = PW_OK;
    for (int i = 0; i < n; i++)
        settings[i].optim = settings[i].id == arm->id ? *optim : settings[i].optim;
    if (optim->batch > arm->optim.batch || optim->trains != arm->optim.trains)
        code = pw_lab_check_steps(lab, settings, n, arm->id, lab->tasks.max_tokens, err);
    if (code == PW_OK)
        code = pw_lab_adapt(lab, arm, optim, err);
    if (code != PW_OK)
        return code;
    if (!same_optim(&arm->optim, optim))
        pw_lab_alter(lab, arm->id, PW_ALTERED_OPTIM);
    for (int r = 1; (a = pw_lab_replica(lab, arm->id, r)) != NULL; r++)
        a->optim = *optim;
    return PW_OK;
}

enum pw_code pw_lab_reset(struct pw_lab *lab, int id, struct pw_err *err)
{
    struct pw_replica settings[PW_MAX_PLACES];
    int n = pw_lab_collect(lab, id, settings);
    enum pw_code code = id != 0 ? rebuild_one(lab, settings, n, err) : rebuild(lab, settings, n, err);
    if (code != PW_OK)
        return code;
    if (id == 0)
        pw_lab_emit_all(lab, true);
    pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_MODELS, .arm = id});
    return PW_OK;
}
