/* probe.c - the job that runs a probe: it collects the probe's input and gives it time.
 *
 * The subjects are the present models. If one of them is trained in the meantime (by a typed `step`), the
 * probe ends without a result, because the rest of the measurement would belong to another model. A control
 * model is built when the probe starts and freed when it ends. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "lab/scope.h"
#include "probe/probe.h"

#define SLICE_S 0.04

struct pw_probing {
    struct pw_probing_at at;
    struct pw_probe_in in;
    struct pw_probe_subject subjects[PW_MAX_PLACES], others[PW_MAX_ARMS];
    int place[PW_MAX_PLACES]; /* of each subject, and the generation of its model at the start */
    uint64_t weights[PW_MAX_PLACES];
    char topic[PW_FINDING_TOPIC];
    char who[64]; /* the command, for messages */
    union {
        char bytes[PW_PROBE_OPTS_MAX];
        double align;
    } opts;
    int *tokens; /* of the pinned prompt */
    int done;
};

/* ---- data that a probe requests */

/* A test sample of the first task; the caller frees its tokens. */
static struct pw_sample test_sample(struct pw_lab *lab, int length, int64_t index)
{
    int most = pw_taskset_tokens_at(&lab->tasks, 0, length);
    struct pw_sample x = {.tokens = pw_alloc((size_t)most, sizeof(int)), .cap = most};
    pw_taskset_sample(&lab->tasks, lab->seed, PW_SPLIT_TEST, (uint64_t)index, 0, length, &x);
    return x;
}

static int sequence(void *arg, int length, int64_t index, int *tokens, int cap, int *n_prompt)
{
    struct pw_sample x = test_sample(arg, length, index);
    int T = x.n - 1 <= cap ? x.n - 1 : 0;
    memcpy(tokens, x.tokens, (size_t)T * sizeof *tokens);
    *n_prompt = x.n_prompt;
    free(x.tokens);
    return T;
}

static int pointers(void *arg, int length, int64_t index, int (*gold)[2], int cap)
{
    struct pw_lab *lab = arg;
    struct pw_sample x = test_sample(lab, length, index);
    int n = 0;
    int *at = pw_alloc((size_t)x.n_prompt, sizeof *at);
    for (int k = 0; x.n_prompt + k < x.n; k++)
        for (int i = 0, keys = pw_taskset_pointers(&lab->tasks, &x, k, at); i < keys && n < cap; i++, n++) {
            gold[n][0] = x.n_prompt - 1 + k;
            gold[n][1] = at[i];
        }
    free(at);
    free(x.tokens);
    return n;
}

static bool has_length(void *arg, int length)
{
    struct pw_lab *lab = arg;
    return pw_task_has(&lab->tasks.use[0], length);
}

static const struct pw_batch *samples(void *arg, int length, int64_t first, int n, const int **scored)
{
    struct pw_lab *lab = arg;
    pw_samples_fill(&lab->scratch, &lab->tasks, lab->seed, PW_SPLIT_TEST, (uint64_t)first, n, 0, length);
    *scored = lab->scratch.seq_scored;
    return &lab->scratch.b;
}

static int n_samples(void *arg, int length, int most)
{
    struct pw_lab *lab = arg;
    return pw_task_samples_at(&lab->tasks.use[0], length, most);
}

static void word(void *arg, int token, char out[PW_FINDING_LABEL])
{
    _Static_assert(PW_FINDING_LABEL == PW_LABEL, "a label is a label");
    pw_lab_label(arg, token, out);
}

/* ---- the job */

static int64_t progress(const void *state, int64_t *total)
{
    const struct pw_probing *p = state;
    *total = p->at.units;
    return p->done;
}

static void free_probing(void *state)
{
    struct pw_probing *p = state;
    pw_probe_fini(&p->at);
    for (int i = 0; i < p->in.n; i++)
        pw_model_destroy(p->subjects[i].control);
    free(p->tokens);
    free(p);
}

void pw_lab_emit_finding(struct pw_lab *lab, const struct pw_replica *arm, struct pw_finding *f)
{
    struct pw_event *e = pw_lab_event(PW_EV_FINDING, arm);
    e->u.finding = *f;
    memset(f, 0, sizeof *f);
    pw_lab_emit(lab, e);
}

static bool changed(const struct pw_lab *lab, const struct pw_probing *p)
{
    for (int i = 0; i < p->in.n; i++)
        if (lab->replicas[p->place[i]].model != p->subjects[i].model ||
            pw_model_generation(p->subjects[i].model) != p->weights[i])
            return true;
    return false;
}

static void run_slice(struct pw_lab *lab)
{
    struct pw_probing *p = pw_job_state(lab, PW_JOB_PROBE);
    struct pw_finding f = {0};
    struct pw_err err;
    enum pw_code code = PW_OK;
    if (changed(lab, p)) {
        pw_job_cancel(lab, PW_JOB_PROBE);
        return;
    }
    for (double end = pw_now() + SLICE_S; code == PW_OK && p->done < p->at.units && pw_now() < end;)
        code = p->at.probe->unit(&p->at, p->done++, &err);
    if (code == PW_OK && p->done < p->at.units) {
        pw_job_tell(lab, PW_JOB_PROBE, PW_JOB_RUNNING);
        return;
    }
    if (code == PW_OK)
        code = p->at.probe->end(&p->at, &f, &err);
    if (code == PW_OK) {
        pw_job_tell(lab, PW_JOB_PROBE, PW_JOB_DONE);
        pw_lab_emit_finding(lab, p->in.n == 1 ? &lab->replicas[p->place[0]] : NULL, &f);
        pw_job_end(lab, PW_JOB_PROBE);
    } else {
        pw_job_fail(lab, PW_JOB_PROBE, &err);
    }
    pw_finding_fini(&f);
}

/* ---- start */

static enum pw_code add_subject(struct pw_lab *lab, struct pw_probing *p, struct pw_replica *arm,
                                struct pw_err *err)
{
    struct pw_probe_subject *s = &p->subjects[p->in.n];
    struct pw_str pe = {0};
    p->place[p->in.n] = (int)(arm - lab->replicas);
    p->weights[p->in.n++] = pw_model_generation(arm->model);
    pw_pe_print(&arm->pe, &pe);
    *s = (struct pw_probe_subject){.arm = arm->id,
                                   .replica = arm->replica,
                                   .seed = arm->seed,
                                   .step = arm->step,
                                   .parent = arm->parent,
                                   .swaps = arm->swaps,
                                   .model = arm->model};
    snprintf(s->name, sizeof s->name, arm->replica > 1 ? "%d %.40s, %d" : "%d %.40s", arm->id,
             pw_str_text(&pe), arm->replica);
    pw_str_fini(&pe);
    if ((p->at.probe->takes & PW_PROBE_CONTROL) == 0)
        return PW_OK;
    struct pw_replica twin = *arm;
    struct pw_err why;
    twin.optim.batch = 1; /* it is never trained */
    enum pw_code code = pw_lab_check_memory(lab, lab->ops, lab->be, &twin, 1, &why);
    if (code != PW_OK)
        return pw_fail(err, code, "%s: cannot build the untrained twin of arm %d: %.300s", p->who, arm->id,
                       why.msg);
    return pw_model_create(&s->control, lab->ops, lab->be, &arm->cfg, &arm->pe, arm->seed, err);
}

/* Add all replicas of an arm. */
static enum pw_code add_arm(struct pw_lab *lab, struct pw_probing *p, int id, struct pw_err *err)
{
    size_t n = strlen(p->topic);
    enum pw_code code = PW_OK;
    snprintf(p->topic + n, sizeof p->topic - n, "%s%d", n > 0 ? " " : "", id);
    for (int r = 1; code == PW_OK && r <= pw_lab_n_replicas(lab, id); r++)
        code = add_subject(lab, p, pw_lab_replica(lab, id, r), err);
    return code;
}

/* Choose the arms named after the probe's name, or all. */
static enum pw_code choose_arms(struct pw_lab *lab, struct pw_probing *p, const struct pw_args *args,
                                struct pw_err *err)
{
    bool chosen[PW_MAX_ARMS + 1] = {false};
    enum pw_code code = PW_OK;
    for (int i = 1; code == PW_OK && i < pw_args_words(args); i++) {
        struct pw_replica *arm;
        long id;
        if (!pw_text_int(pw_args_word(args, i), 1, INT_MAX, &id))
            return pw_fail(err, PW_EUSER, "%s: '%s' is not the number of an arm", p->who,
                           pw_args_word(args, i));
        code = pw_lab_need_arm(lab, (int)id, &arm, err);
        if (code == PW_OK && chosen[id])
            code = pw_fail(err, PW_EUSER, "%s: arm %ld is named twice", p->who, id);
        if (code != PW_OK)
            return code;
        chosen[id] = true;
        code = add_arm(lab, p, (int)id, err);
    }
    for (int id = 1; code == PW_OK && pw_args_words(args) == 1 && id <= PW_MAX_ARMS; id++)
        if (pw_lab_arm(lab, id) != NULL)
            code = add_arm(lab, p, id, err);
    return code;
}

/* Choose one replica: the inspected one, or the one that a watch began with. */
static enum pw_code choose_arm(struct pw_lab *lab, struct pw_probing *p, const struct pw_args *args, int id,
                               const struct pw_watch *watch, struct pw_err *err)
{
    struct pw_replica *arm = pw_lab_inspected_of(lab, id > 0 ? id : lab->current);
    if (pw_args_words(args) > 1)
        return pw_fail(err, PW_EUSER, "%s: '%s': unexpected; it measures one arm, the current one or arm=K",
                       p->who, pw_args_word(args, 1));
    snprintf(p->topic, sizeof p->topic, "%d", arm->id);
    if (watch != NULL) {
        enum pw_code code = pw_lab_need_replica(lab, arm, p->who, watch->replica, err);
        if (code != PW_OK)
            return code;
        arm = pw_lab_replica(lab, arm->id, watch->replica);
    }
    return add_subject(lab, p, arm, err);
}

/* Choose the subjects. */
static enum pw_code choose(struct pw_lab *lab, struct pw_probing *p, const struct pw_args *args, int id,
                           const struct pw_watch *watch, struct pw_err *err)
{
    const struct pw_probe *probe = p->at.probe;
    if (id > 0 && (probe->takes & PW_PROBE_ARM) == 0)
        return pw_fail(err, PW_EUSER, "%s: no option 'arm'%s", p->who,
                       (probe->takes & PW_PROBE_ARMS) != 0 ? "; write the arms' numbers after the name" : "");
    if ((probe->takes & PW_PROBE_ARMS) != 0)
        return choose_arms(lab, p, args, err);
    if ((probe->takes & PW_PROBE_ARM) != 0)
        return choose_arm(lab, p, args, id, watch, err);
    if (pw_args_words(args) > 1)
        return pw_fail(err, PW_EUSER, "%s: '%s': unexpected; it measures no arm", p->who,
                       pw_args_word(args, 1));
    return PW_OK;
}

/* Lists the first replicas of the arms that are not subjects. */
static void give_others(struct pw_lab *lab, struct pw_probing *p)
{
    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        const struct pw_replica *arm = pw_lab_arm(lab, id);
        bool measured = false;
        for (int i = 0; i < p->in.n; i++)
            measured = measured || p->subjects[i].arm == id;
        if (arm != NULL && !measured)
            p->others[p->in.n_others++] = (struct pw_probe_subject){.arm = id,
                                                                    .replica = 1,
                                                                    .seed = arm->seed,
                                                                    .step = arm->step,
                                                                    .parent = arm->parent,
                                                                    .model = arm->model};
    }
}

static void give_prompt(const struct pw_lab *lab, struct pw_probing *p)
{
    const struct pw_sample *x = &lab->pin.sample;
    p->in.T = x->n > x->n_prompt ? x->n - 1 : x->n; /* without the end mark */
    p->in.n_prompt = x->n_prompt;
    p->tokens = pw_alloc((size_t)p->in.T, sizeof *p->tokens);
    memcpy(p->tokens, x->tokens, (size_t)p->in.T * sizeof *p->tokens);
    p->in.tokens = p->tokens;
}

static enum pw_code begin_probe(struct pw_lab *lab, struct pw_probing *p, const struct pw_args *args,
                                const struct pw_watch *watch, struct pw_err *err)
{
    const struct pw_probe *probe = p->at.probe;
    struct pw_args rest;
    int id;
    if ((probe->takes & PW_PROBE_ANSWERS) != 0 && pw_taskset_runs(&lab->tasks))
        return pw_fail(err, PW_EUSER, "%s: it counts right answers, and %s has none; 'eval' gives its loss",
                       p->who, lab->tasks.use[0].task->name);
    enum pw_code code = pw_scope_take(lab, args, &rest, &id, err);
    if (probe->opts != NULL)
        pw_opt_defaults(probe->opts, p->opts.bytes);
    if (code == PW_OK)
        code = pw_args_opts(&rest, probe->opts, p->opts.bytes, err);
    if (code == PW_OK)
        code = choose(lab, p, &rest, id > 0 || watch == NULL ? id : watch->arm, watch, err);
    if (code == PW_OK && (probe->takes & PW_PROBE_PROMPT) != 0)
        code = pw_lab_need_pin(lab, "probe", err);
    if (code == PW_OK && (probe->takes & (PW_PROBE_PROMPT | PW_PROBE_ANY_PROMPT)) != 0 && lab->pin.id != 0)
        give_prompt(lab, p);
    if (code == PW_OK && (probe->takes & PW_PROBE_OTHERS) != 0)
        give_others(lab, p);
    return code == PW_OK && probe->begin != NULL ? probe->begin(&p->at, err) : code;
}

enum pw_code pw_lab_probe(struct pw_lab *lab, const struct pw_probe *probe, const char *who,
                          const struct pw_args *args, const struct pw_watch *watch, struct pw_err *err)
{
    struct pw_probing *p = pw_alloc(1, sizeof *p);
    snprintf(p->who, sizeof p->who, who == NULL ? "probe %s" : "%s", who == NULL ? probe->name : who);
    p->at = (struct pw_probing_at){.probe = probe, .in = &p->in, .opts = p->opts.bytes};
    p->in = (struct pw_probe_in){.subject = p->subjects,
                                 .other = p->others,
                                 .topic = p->topic,
                                 .who = p->who,
                                 .seed = lab->seed,
                                 .own_batches = lab->own_batches,
                                 .vocab = lab->tasks.vocab.n,
                                 .first_word = pw_lab_first_word(lab, 0),
                                 .lengths = pw_task_train(&lab->tasks.use[0]),
                                 .test = pw_task_test(&lab->tasks.use[0]),
                                 .sequence = sequence,
                                 .pointers = pointers,
                                 .has = has_length,
                                 .samples = samples,
                                 .n_samples = n_samples,
                                 .word = word,
                                 .arg = lab,
                                 .ops = lab->ops,
                                 .be = lab->be};
    enum pw_code code = begin_probe(lab, p, args, watch, err);
    if (code != PW_OK) {
        free_probing(p);
        return code;
    }
    /* It does not read the weights: run_slice compares them with those of the start. */
    struct pw_job job = {.name = "probe",
                         .reads = PW_CHANGE_MODELS | PW_CHANGE_TASK | PW_CHANGE_BACKEND,
                         .state = p,
                         .free_state = free_probing,
                         .progress = progress,
                         .slice = run_slice};
    snprintf(job.title, sizeof job.title, watch != NULL ? "probe %.20s, every %d" : "probe %.20s",
             probe->name, watch != NULL ? watch->every : 0);
    snprintf(job.cancelled, sizeof job.cancelled, "probe %s", probe->name);
    pw_job_begin(lab, PW_JOB_PROBE, &job);
    return PW_OK;
}
