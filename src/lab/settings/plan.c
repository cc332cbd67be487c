/* plan.c - compare the plan of a study (base/plan.h) with the lab: can the plan run, and does the lab's state
 * match it? */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/encodings.h"
#include "lab/settings/settings.h"

/* ---- the plan's texts converted to settings */

/* Set the options of text, "key=value key=value". Fails on a word without '='. */
static enum pw_code read_options(const struct pw_opt *table, void *target, const char *what, const char *text,
                                 struct pw_err *err)
{
    char copy[256], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", text);
    while ((word = strtok_r(rest, " ", &rest)) != NULL) {
        char *value = strchr(word, '=');
        if (value == NULL)
            return pw_fail(err, PW_EUSER, "%s: '%s' is not key=value", what, word);
        *value++ = '\0';
        enum pw_code code = pw_opt_set(table, target, what, word, value, err);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

enum pw_code pw_lab_plan_model(const struct pw_plan *plan, const struct pw_taskset *set, char preset[16],
                               struct pw_config *cfg, struct pw_optim *optim, struct pw_err *err)
{
    size_t n = strcspn(plan->model, " ");
    snprintf(preset, 16, "%.*s", (int)(n < 15 ? n : 15), plan->model);
    enum pw_code code = pw_preset(preset, cfg, optim, err);
    int least = cfg->context;
    if (strstr(plan->model, " heads=") != NULL)
        cfg->head_width = 0;
    if (strstr(plan->model, " width=") != NULL)
        pw_config_unset_width(cfg);
    if (code == PW_OK)
        code = read_options(pw_config_opts, cfg, "model", plan->model + n, err);
    if (code != PW_OK)
        return code;
    pw_lab_fit_context(set, cfg, least);
    code = pw_config_check(cfg, err);
    return code == PW_OK ? read_options(pw_optim_opts, optim, "optim", plan->optim, err) : code;
}

/* ---- can the plan run? */

static enum pw_code check_race(const struct pw_plan *plan, const struct pw_config *cfg, struct pw_err *err)
{
    char list[sizeof plan->race], *pes[PW_MOST_ENCODINGS];
    snprintf(list, sizeof list, "%s", plan->race);
    int n = pw_cut_encodings(list, pes);
    if (n > PW_MAX_ARMS)
        return pw_fail(err, PW_EUSER, "%d encodings; at most %d arms are allowed", n, PW_MAX_ARMS);
    if (plan->seeds > PW_MAX_REPLICAS)
        return pw_fail(err, PW_EUSER, "seeds=%d: at most %d", plan->seeds, PW_MAX_REPLICAS);
    enum pw_code code = PW_OK;
    for (int i = 0; i < n && code == PW_OK; i++) {
        struct pw_pe_use_opts use;
        code = pw_pe_parse(&use, pes[i], cfg, err);
    }
    return code;
}

enum pw_code pw_lab_plan_fits(const struct pw_plan *plan, struct pw_err *err)
{
    struct pw_taskset set;
    struct pw_config cfg;
    struct pw_optim optim;
    char preset[16];
    enum pw_code code = pw_taskset_init(&set, plan->task, err);
    if (code != PW_OK)
        return code;
    code = pw_lab_plan_model(plan, &set, preset, &cfg, &optim, err);
    if (code == PW_OK)
        code = pw_lab_check_context(&set, &cfg, false, err);
    if (code == PW_OK)
        code = check_race(plan, &cfg, err);
    pw_taskset_fini(&set);
    return code;
}

/* ---- does the lab's state match the plan? */

/* Fails with "the lab has SUBJECT HERE, the study asks for WANTED" if the two texts differ. */
static enum pw_code same_text(const char *subject, const char *here, const char *wanted, struct pw_err *err)
{
    return strcmp(here, wanted) == 0
               ? PW_OK
               : pw_fail(err, PW_EUSER, "the lab has %s '%s', the study needs '%s'", subject,
                         here[0] == ' ' ? here + 1 : here, wanted[0] == ' ' ? wanted + 1 : wanted);
}

static enum pw_code same_number(const char *subject, long long here, long long wanted, struct pw_err *err)
{
    return here == wanted
               ? PW_OK
               : pw_fail(err, PW_EUSER, "the lab has %s %lld, the study needs %lld", subject, here, wanted);
}

static enum pw_code same_task(const struct pw_lab *lab, const struct pw_taskset *set, struct pw_err *err)
{
    struct pw_str here = {0}, wanted = {0};
    pw_taskset_print(&lab->tasks, &here);
    pw_taskset_print(set, &wanted);
    enum pw_code code = same_text("task", pw_str_text(&here), pw_str_text(&wanted), err);
    pw_str_fini(&here);
    pw_str_fini(&wanted);
    return code;
}

/* Compare two option structs in the members that `print` shows. */
static enum pw_code same_options(const struct pw_opt *table, const char *subject, const void *here,
                                 const void *wanted, struct pw_err *err)
{
    for (const struct pw_opt *o = table; o->name != NULL; o++) {
        struct pw_str a = {0}, b = {0};
        char what[64];
        pw_opt_value(o, here, &a);
        pw_opt_value(o, wanted, &b);
        snprintf(what, sizeof what, "%s %s", subject, o->name);
        enum pw_code code = same_text(what, pw_str_text(&a), pw_str_text(&b), err);
        pw_str_fini(&a);
        pw_str_fini(&b);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

static enum pw_code same_encoding(const struct pw_replica *a, const char *wanted, struct pw_err *err)
{
    struct pw_pe_use_opts use;
    struct pw_str here = {0}, asked = {0};
    enum pw_code code = pw_pe_parse(&use, wanted, &a->cfg, err);
    if (code != PW_OK)
        return code;
    pw_pe_print(&a->pe, &here);
    pw_pe_print(&use, &asked);
    code = same_text("encoding", pw_str_text(&here), pw_str_text(&asked), err);
    pw_str_fini(&here);
    pw_str_fini(&asked);
    return code;
}

/* Check the evaluation after the last step and those at the plan's points. */
static enum pw_code same_eval(const struct pw_lab *lab, const struct pw_plan *plan,
                              const struct pw_replica *a, struct pw_err *err)
{
    const struct pw_replica_view *rep = &lab->record->arms[a->id - 1].rep[a->replica - 1];
    const struct pw_task_use *use = &lab->tasks.use[0];
    int hi = pw_task_test(use).hi, n = 0;
    int64_t samples = 0;
    if (rep->eval.n == 0 || rep->eval.live || rep->eval_step != a->step)
        return pw_fail(err, PW_EUSER, "no evaluation after step %lld", (long long)a->step);
    if (rep->eval_off || pw_heads_off(rep))
        return pw_fail(err, PW_EUSER, "heads were off when it was evaluated");
    for (int length = pw_task_train(use).lo; length <= hi; length++) {
        bool asked = length <= pw_task_train(use).hi || length >= pw_task_test(use).lo;
        const struct pw_eval_row *row = pw_eval_find(&rep->eval, 0, length);
        if (!asked || !pw_task_has(use, length))
            continue;
        if (row == NULL)
            return pw_fail(err, PW_EUSER, "length %d was not evaluated", length);
        int wanted = pw_task_samples_at(use, length, plan->samples);
        enum pw_code code = same_number("samples of a length", row->samples, wanted, err);
        if (code != PW_OK)
            return code;
        samples += wanted;
        n++;
    }
    if (rep->eval.n != n)
        return pw_fail(err, PW_EUSER, "%d lengths were evaluated, the study needs %d of them", rep->eval.n,
                       n);
    for (int k = 1, at = 0; k < plan->points; k++) {
        int64_t step = a->step * k / plan->points;
        while (at < rep->track.n && rep->track.step[at] < step)
            at++;
        if (at == rep->track.n || rep->track.step[at] != step)
            return pw_fail(err, PW_EUSER, "no evaluation after step %lld, one of %d checkpoints",
                           (long long)step, plan->points);
        if (rep->track.samples[at] != samples)
            return pw_fail(err, PW_EUSER, "%lld samples were evaluated after step %lld, the study needs %lld",
                           (long long)rep->track.samples[at], (long long)step, (long long)samples);
    }
    return PW_OK;
}

/* Was it one unchanged run from the first step on, with its present settings? */
static enum pw_code same_throughout(const struct pw_replica *a, struct pw_err *err)
{
    static const char *const how[] = {[PW_ALTERED_TASK] = "its task was changed during training",
                                      [PW_ALTERED_OPTIM] = "optim was changed during training",
                                      [PW_ALTERED_HEADS] = "heads were off during training",
                                      [PW_ALTERED_TUNED] = "its encoding was tuned during training",
                                      [PW_ALTERED_TRANSPLANT] =
                                          "the learned values of its encoding were replaced",
                                      [PW_ALTERED_FILE] = "its weights come from a file",
                                      [PW_ALTERED_TABLE] = "its table of biases comes from a file"};
    const char *what = a->swaps > 0 ? "its encoding was swapped" : how[a->altered];
    return what == NULL ? PW_OK : pw_fail(err, PW_EUSER, "%s; the study needs one run from step 0", what);
}

/* Compare a replica's initial settings and its number of steps. */
static enum pw_code same_training(const struct pw_replica *a, const struct pw_replica *wanted, uint64_t seed,
                                  struct pw_err *err)
{
    enum pw_code code = same_text("model", a->preset, wanted->preset, err);
    if (code == PW_OK)
        code = same_options(pw_config_opts, "model", &a->cfg, &wanted->cfg, err);
    if (code == PW_OK)
        code = same_options(pw_optim_opts, "optim", &a->optim, &wanted->optim, err);
    if (code == PW_OK)
        code = same_number("a seed", (long long)a->seed, (long long)seed + a->replica - 1, err);
    if (code == PW_OK)
        code = same_throughout(a, err);
    return code == PW_OK ? same_number("step", (long long)a->step, wanted->optim.steps, err) : code;
}

/* Check the replicas of encoding `at` of the plan, counted from 0. */
static enum pw_code same_replica(const struct pw_lab *lab, const struct pw_plan *plan,
                                 const struct pw_replica *a, const struct pw_replica *wanted, const char *pe,
                                 int at, struct pw_err *err)
{
    enum pw_code code = same_encoding(a, pe, err);
    if (code == PW_OK && !plan->loaded)
        code = same_training(a, wanted, plan->seed + (at + 1 == plan->other), err);
    return code == PW_OK && plan->samples > 0 ? same_eval(lab, plan, a, err) : code;
}

static enum pw_code same_arms(struct pw_lab *lab, const struct pw_plan *plan, const struct pw_replica *wanted,
                              struct pw_err *err)
{
    char list[sizeof plan->race], *pes[PW_MOST_ENCODINGS];
    snprintf(list, sizeof list, "%s", plan->race);
    int n = pw_cut_encodings(list, pes), at = 0;
    enum pw_code code = same_number("encodings", pw_lab_n_arms(lab), n, err);
    for (int id = 1; id <= PW_MAX_ARMS && code == PW_OK; id++) {
        const struct pw_replica *a;
        char place[32];
        if (pw_lab_arm(lab, id) == NULL)
            continue;
        snprintf(place, sizeof place, "arm %d", id);
        code = same_number("seeds", pw_lab_n_replicas(lab, id), plan->seeds, err);
        for (int r = 1; code == PW_OK && (a = pw_lab_replica(lab, id, r)) != NULL; r++)
            code = same_replica(lab, plan, a, wanted, pes[at], at, err);
        if (code != PW_OK)
            pw_err_at(err, place);
        at++;
    }
    return code;
}

enum pw_code pw_lab_plan_held(struct pw_lab *lab, const struct pw_plan *plan, struct pw_err *err)
{
    struct pw_taskset set;
    struct pw_replica wanted = {0};
    enum pw_code code = pw_taskset_init(&set, plan->task, err);
    if (code != PW_OK)
        return code;
    code = same_task(lab, &set, err);
    if (code == PW_OK && lab->own_batches && !plan->loaded && plan->seeds > 1)
        code = pw_fail(err, PW_EUSER,
                       "the lab has batches=own (race ... batches=own), the study needs batches that all "
                       "replicas share");
    if (code == PW_OK)
        code = same_number("seed", (long long)lab->seed, (long long)plan->seed, err);
    if (code == PW_OK)
        code = pw_lab_plan_model(plan, &set, wanted.preset, &wanted.cfg, &wanted.optim, err);
    if (code == PW_OK)
        code = same_arms(lab, plan, &wanted, err);
    pw_taskset_fini(&set);
    return code;
}
