/* flight.c - optimiser steps in flight: submitted to the backend and not yet reported.
 *
 * On the host a step is complete when pw_model_start returns. A device must never wait for the next step, so
 * several steps are in flight, each with a place on the host for its results. pw_model_finish waits for the
 * oldest. All inputs of a step are on the backend (batch, dropout's key, AdamW's rates), so steps of equal
 * shapes replay the same operations.
 *
 * Between two steps a device copies in both directions, and each copy passes from one of its engines to
 * another; that takes as long as a layer of a small model. So steps are staged on the host, and GROUP equal
 * steps are submitted together: one copy in, one graph, one copy out. Staged steps are submitted one by one
 * in three cases: a batch of other sizes follows, a step's gradient is sampled, or the caller needs the
 * oldest result. The same operations run in the same order in any case.
 *
 * A step with a loss or gradient that is not finite must change nothing, and the host learns of it when later
 * steps are in flight. So the backend refuses to learn from this step and from all that follow (backend.h,
 * reduce). Here they are dropped: weights, counts and schedule are as before the step. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "model/model_int.h"

enum {
    GROUP = 4,               /* equal steps that are submitted together */
    AT_A_TIME = 4,           /* most steps in flight without groups; with groups it is PW_FLIGHTS */
    MOST_WEIGHTS = 16 << 20, /* largest model whose steps are short enough to gain from groups */
};

static struct pw_flight *flight(struct pw_model *m, int i)
{
    return &m->flights[(m->first_flight + i) % pw_model_may_fly(m)];
}

int pw_model_flying(const struct pw_model *m)
{
    return m->n_flights;
}

int pw_model_may_fly(const struct pw_model *m)
{
    return m->ops->host ? 1 : pw_model_group(m) > 1 ? PW_FLIGHTS : AT_A_TIME;
}

int pw_model_group(const struct pw_model *m)
{
    return m->ops->pads && m->lay.size <= MOST_WEIGHTS ? GROUP : 1;
}

/* Makes room for the host data of a step on this batch. */
static enum pw_code fit(struct pw_model *m, struct pw_flight *f, const struct pw_batch *b, struct pw_err *err)
{
    size_t ids = m->pe.pe->ids != NULL ? (size_t)b->n_rows : 0;
    size_t ints = (size_t)b->n_scored + b->n_seqs + ids, learned = m->lay.size - m->lay.core;

    f->looked = pw_seen_samples_gradient(m, m->n_flights);
    if (f->looked && f->grad == NULL)
        f->grad = m->ops->host_alloc(m->be, learned * sizeof *f->grad);
    if (ints > f->batch_cap) {
        free(f->batch);
        f->batch_cap = ints + ints / 4;
        f->batch = malloc(f->batch_cap * sizeof *f->batch);
    }
    if (f->batch != NULL && (f->grad != NULL || !f->looked))
        return PW_OK;
    f->batch_cap = f->batch != NULL ? f->batch_cap : 0;
    return pw_fail(err, PW_ENOMEM, "out of memory for the results of a step");
}

static void note_batch(const struct pw_model *m, struct pw_flight *f, const struct pw_batch *b)
{
    f->n_scored = b->n_scored;
    f->n_seqs = b->n_seqs;
    f->trains = m->trains;
    memcpy(f->batch, b->targets, (size_t)b->n_scored * sizeof *f->batch);
    for (int s = 0; s < b->n_seqs; s++)
        f->batch[b->n_scored + s] = b->start[s + 1] - b->start[s];
    if (m->pe.pe->ids != NULL)
        memcpy(f->batch + b->n_scored + b->n_seqs, b->pos, (size_t)b->n_rows * sizeof *f->batch);
}

/* 1 / (1 - beta^t): the bias correction of Adam (Kingma and Ba 2015). */
static float correction(float beta, int64_t t)
{
    return beta > 0 ? (float)(1 / (1 - pw_pow(beta, (double)t))) : 1;
}

/* Returns the part of a packed matrix that belongs to a tensor, if AdamW writes packs; otherwise NULL. Packs
 * of matrices with adapters are not rounded parameters, so with adapters all are made by prepare. */
static uint16_t *pack_of(const struct pw_model *m, const struct pw_param *p)
{
    bool packs = m->ops->packs && m->cfg.adapter == 0;

    for (int i = 0; packs && i <= m->cfg.layers * PW_MATS; i++) {
        const struct pw_mat *mat = &m->mats[i];
        size_t from = (size_t)(mat->w - m->p), n = (size_t)mat->out * mat->in;
        if (p->offset >= from && p->offset < from + n)
            return (uint16_t *)mat->pack + (p->offset - from);
    }
    return NULL;
}

/* Writes the AdamW settings of the tensors that train into the step being staged. The others are left out:
 * they and their moments keep every bit, also a weight of -0, to which AdamW would add +0. */
static void set_rates(struct pw_model *m, const struct pw_optim *o, float lr)
{
    struct pw_adamw_seg *segs = pw_stage_rates(m->step_plan.now);

    m->segs = 0;
    m->tiles = 0;
    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        if (!pw_param_trains(p, (enum pw_trains)m->trains))
            continue;
        struct pw_adamw_seg *seg = &segs[m->segs++];
        *seg = (struct pw_adamw_seg){
            .offset = p->offset,
            .n = pw_param_count(p),
            .place = p->place,
            .tile = m->tiles,
            .lr = lr,
            .decay = p->decay || (o->decay_gains && p->init_value == 1 && !p->pe) ? o->decay : 0,
            .c1 = correction(o->beta1, p->t + 1),
            .c2 = correction(o->beta2, p->t + 1),
            .pack = pack_of(m, p),
        };
        m->tiles += (seg->n + PW_TILE - 1) / PW_TILE;
    }
}

/* Moves the step counts by `by`: 1 for a step, -1 for a step that was dropped. */
static void count(struct pw_model *m, enum pw_trains trains, int by)
{
    for (int i = 0; i < m->lay.n; i++)
        if (pw_param_trains(&m->lay.params[i], trains))
            m->lay.params[i].t += by;
    m->steps += by;
    m->schedule += by;
    pw_source_step(m, trains);
    pw_model_changed(m);
}

/* Drops all steps in flight: none of them has changed, or will change, the parameters. */
static void take_back(struct pw_model *m)
{
    for (; m->n_flights > 0; m->n_flights--)
        count(m, (enum pw_trains)flight(m, m->n_flights - 1)->trains, -1);
    m->step_plan.staged = 0;
    m->stale = PW_STALE_ALL;
}

/* ---- submitting the staged steps */

struct learning {
    struct pw_model *m;
    const atomic_bool *yield;
    int n; /* steps */
    bool yielded;
};

/* The derived data that is stale after a step. AdamW can write packs, but not those of matrices with
 * adapters. */
static int stale_after(const struct pw_model *m)
{
    bool packs = m->ops->packs && m->cfg.adapter == 0;

    if (m->trains == PW_TRAINS_ADAPTER)
        return PW_STALE_MERGED | PW_STALE_TABLES;
    return m->trains == PW_TRAINS_ALL && !packs ? PW_STALE_ALL : PW_STALE_TABLES;
}

static void learn(void *arg)
{
    struct learning *k = arg;
    struct pw_model *m = k->m;
    struct pw_batch_plan *plan = &m->step_plan;

    for (int i = 0; i < k->n; i++) {
        pw_stage_turn_to(plan, i);
        k->yielded = !pw_step_gradient(m, k->yield);
        if (k->yielded)
            return;
        m->ops->adamw(m->be, m->p, m->m, m->v, m->g, pw_out_sumsq(plan->out), pw_stage_rates(plan->dev),
                      m->segs, m->tiles, &m->rule, pw_out_moved(plan->out));
        m->stale = stale_after(m);
    }
}

/* The key of a replay: everything that determines the operations of these steps, except data on the backend.
 * It has no padding bytes. */
struct shape {
    struct pw_sizes sizes;
    struct pw_adamw rule;
    int32_t laid, stale, steps;
    uint64_t form;
};

static bool ask(struct pw_model *m, const atomic_bool *yield, int n)
{
    const struct pw_batch_plan *plan = &m->step_plan;
    /* A device gets whole steps, at once and possibly as one graph. */
    struct learning k = {.m = m, .yield = m->ops->host ? yield : NULL, .n = n};

    pw_tables_lay(m, plan->sizes.positions); /* before stale is read for the key */
    struct shape shape = {plan->sizes, m->rule, m->tables.laid, m->stale, n, m->form};
    _Static_assert(sizeof shape == sizeof(struct pw_sizes) + sizeof(struct pw_adamw) + 20,
                   "every byte of a key is set");
    if (!m->ops->pads) { /* without padding the chunks depend on more than these sizes */
        learn(&k);
        return !k.yielded;
    }
    m->ops->replay(m->be, &shape, sizeof shape, learn, &k);
    m->stale = stale_after(m);
    return true;
}

/* Copies the results of flight i and the n-1 after it to the host. */
static void bring(struct pw_model *m, int i, int n)
{
    struct pw_batch_plan *plan = &m->step_plan;
    int most = pw_model_may_fly(m), at = (m->first_flight + i) % most, end = at + n < most ? at + n : most;
    char *to = plan->host_out, *from = plan->outs;

    m->ops->download(m->be, to + (size_t)at * plan->out_bytes, from, (size_t)(end - at) * plan->out_bytes);
    if (at + n > most) /* the ring buffer wraps around */
        m->ops->download(m->be, to, from + (size_t)(most - at) * plan->out_bytes,
                         (size_t)(at + n - most) * plan->out_bytes);
}

/* Submits all staged steps, which are the last flights. A full group is one submission; fewer steps are
 * submitted one by one, since each number of steps would need a graph of its own. Returns false if the only
 * step yielded. */
static bool launch(struct pw_model *m, const atomic_bool *yield)
{
    struct pw_batch_plan *plan = &m->step_plan;
    int staged = plan->staged, n = staged == pw_model_group(m) ? staged : 1, first = m->n_flights - staged;
    const struct pw_flight *last = flight(m, m->n_flights - 1);

    for (int i = 0; i < staged; i += n) {
        pw_stage_upload(m, plan, i, n);
        if (!ask(m, yield, n))
            return false;
        bring(m, first + i, n);
    }
    if (last->looked)
        m->ops->download(m->be, last->grad, m->g + pw_pe_place(m),
                         (m->lay.size - m->lay.core) * sizeof *last->grad);
    plan->staged = 0;
    for (uint64_t mark = m->ops->mark(m->be); first < m->n_flights; first++)
        flight(m, first)->mark = mark;
    return true;
}

void pw_model_trains(struct pw_model *m, enum pw_trains trains)
{
    if ((int)trains == m->trains)
        return;
    pw_model_abandon(m); /* gradients of a step that has yielded are those of another kind */
    if (m->step_plan.staged > 0)
        launch(m, NULL);
    m->trains = trains;
    pw_model_formed(m);
}

/* Fails if steps change no tensor. */
static enum pw_code check_trains(const struct pw_model *m, struct pw_err *err)
{
    static const char *const what[][2] = {
        [PW_TRAINS_ALL] = {"all", ""},
        [PW_TRAINS_NORMS] = {"norms", ", and the model has no norms"},
        [PW_TRAINS_ENCODING] = {"encoding", ""},
        [PW_TRAINS_ADAPTER] = {"adapter", ", and the model has no adapter"}};

    for (int i = 0; i < m->lay.n; i++)
        if (pw_param_trains(&m->lay.params[i], (enum pw_trains)m->trains))
            return PW_OK;
    return pw_fail(err, PW_EUSER, "steps with trains=%s change nothing: the encoding %s has no parameters%s",
                   what[m->trains][0], m->pe.pe->name, what[m->trains][1]);
}

enum pw_code pw_model_start(struct pw_model *m, const struct pw_optim *o, const struct pw_batch *given,
                            const atomic_bool *yield, struct pw_err *err)
{
    const struct pw_adamw rule = {.beta1 = o->beta1, .beta2 = o->beta2, .eps = o->eps, .clip = o->clip};
    struct pw_batch_plan *plan = &m->step_plan;
    struct pw_flight *f = flight(m, m->n_flights);
    struct pw_batch own;
    const struct pw_batch *b = &own;
    enum pw_code code = pw_ids_batch(m, &own, given, true, err);

    assert(m->n_flights < pw_model_may_fly(m));
    if (code != PW_OK)
        return code;
    pw_model_trains(m, (enum pw_trains)o->trains);
    code = check_trains(m, err);
    if (code != PW_OK)
        return code;
    if (!m->under_way && plan->staged > 0 &&
        (!pw_plan_alike(m, plan, b) || memcmp(&rule, &m->rule, sizeof rule) != 0))
        launch(m, NULL);
    code = pw_model_reason(m, fit(m, f, b, err), err);
    if (code == PW_OK && !m->under_way)
        code = pw_step_begin(m, b, err);
    if (code)
        return code;
    m->rule = rule;
    f->lr = pw_optim_lr(o, (long)m->schedule + 1);
    set_rates(m, o, f->lr);
    note_batch(m, f, b);
    m->n_flights++;
    if ((plan->staged == pw_model_group(m) || f->looked) && !launch(m, yield)) {
        m->n_flights--;
        code = m->ops->sync(m->be, err);
        return code ? code : pw_fail(err, PW_EYIELD, "the step is not finished");
    }
    m->under_way = false;
    count(m, (enum pw_trains)m->trains, 1);
    return PW_OK;
}

/* The oldest step was not finite: this step and all later ones have changed nothing. */
static enum pw_code forget(struct pw_model *m, bool loss, struct pw_err *err)
{
    static const int none = 0;
    enum pw_code code;

    take_back(m);
    m->ops->upload(m->be, m->spoilt, &none, sizeof none);
    code = m->ops->sync(m->be, err);
    return code ? code
                : pw_fail(err, PW_EUSER,
                          "the %s is not finite at step %lld; the weights are those before that step",
                          loss ? "gradient" : "loss", (long long)m->steps + 1);
}

/* Keeps how far a step moved each tensor; moved has those that it trained. */
static void keep_moved(struct pw_model *m, const struct pw_flight *f, const double *moved)
{
    for (int i = 0; i < m->lay.n; i++) {
        bool trained = pw_param_trains(&m->lay.params[i], (enum pw_trains)f->trains);
        m->moved[2 * i] = trained ? moved[0] : 0;
        m->moved[2 * i + 1] = trained ? moved[1] : 0;
        moved += trained ? 2 : 0;
    }
}

enum pw_code pw_model_finish(struct pw_model *m, struct pw_step_result *out, struct pw_err *err)
{
    struct pw_flight *f = flight(m, 0);
    struct pw_batch_plan *plan = &m->step_plan;
    void *came;
    enum pw_code code;

    assert(m->n_flights > 0);
    if (plan->staged == m->n_flights)
        launch(m, NULL);
    code = m->ops->wait(m->be, f->mark, err);
    if (code) { /* this step and all later ones changed nothing, or the device is lost */
        take_back(m);
        return code;
    }
    came = (char *)plan->host_out + (size_t)m->first_flight * plan->out_bytes;
    out->loss = pw_mean_loss(pw_out_loss(came, plan->loss), pw_out_best(came, plan->best), f->batch,
                             f->n_scored, &out->accuracy);
    out->grad_norm = sqrt(*pw_out_sumsq(came));
    out->lr = f->lr;
    if (!isfinite(out->loss) || !isfinite(out->grad_norm))
        return forget(m, isfinite(out->loss), err);
    pw_seen_step(m, f->batch + f->n_scored, f->n_seqs, f->looked ? f->grad : NULL);
    keep_moved(m, f, pw_out_moved(came));
    m->first_flight = (m->first_flight + 1) % pw_model_may_fly(m);
    m->n_flights--;
    return PW_OK;
}

enum pw_code pw_model_step(struct pw_model *m, const struct pw_optim *o, const struct pw_batch *b,
                           const atomic_bool *yield, struct pw_step_result *out, struct pw_err *err)
{
    enum pw_code code = pw_model_start(m, o, b, yield, err);

    assert(code || m->n_flights == 1);
    return code ? code : pw_model_finish(m, out, err);
}

void pw_flights_fini(struct pw_model *m)
{
    for (int i = 0; i < PW_FLIGHTS; i++) {
        m->ops->host_free(m->be, m->flights[i].grad);
        free(m->flights[i].batch);
    }
    memset(m->flights, 0, sizeof m->flights);
}
