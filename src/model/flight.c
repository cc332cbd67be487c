/* flight.c - optimiser steps that have been asked for and not yet told of.
 *
 * On the host a step is computed when pw_model_start returns. A device is only told what to do, and is never
 * to wait for the next one: several steps are under way, each with a place on the host for what comes out of
 * it, and pw_model_finish waits for the oldest. What a step needs lies in the backend's memory (the batch,
 * dropout's key, AdamW's rates), so that of equal shapes the same operations can be replayed.
 *
 * Between two steps a device copies, in and out, and each copy is handed from one of its engines to another:
 * a small model's layer takes no longer. So steps are staged on the host, and where GROUP of them follow each
 * other that are alike they are asked for at once: one copy in, one graph, one copy out. What is staged waits
 * for no more than its group: a batch of other sizes, a step whose gradient is looked at, or somebody who
 * wants to know of the oldest one, and it is asked for step by step. The same operations run in the same
 * order either way.
 *
 * A step whose loss or gradient is not finite must change nothing, and by the time the host learns of it
 * others are under way. So it's the backend that refuses to learn from it and from all that follow
 * (backend.h, reduce), and they are forgotten here: weights, counts and schedule are what they were before
 * it.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "model/model_int.h"

enum {
    GROUP = 4,               /* steps that are asked for at once */
    AT_A_TIME = 4,           /* that are under way where they don't come in groups; else PW_FLIGHTS */
    MOST_WEIGHTS = 16 << 20, /* of a model whose steps are so short that it is worth it */
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

/* Room for what is kept of a step on this batch. */
static enum pw_code fit(struct pw_model *m, struct pw_flight *f, const struct pw_batch *b, struct pw_err *err)
{
    size_t ints = (size_t)b->n_scored + b->n_seqs, learned = m->lay.size - m->lay.core;

    f->looked = pw_met_looks(m, m->n_flights);
    if (f->looked && !f->grad)
        f->grad = m->ops->host_alloc(m->be, learned * sizeof *f->grad);
    if (ints > f->batch_cap) {
        free(f->batch);
        f->batch_cap = ints + ints / 4;
        f->batch = malloc(f->batch_cap * sizeof *f->batch);
    }
    if (f->batch && (f->grad || !f->looked))
        return PW_OK;
    f->batch_cap = f->batch ? f->batch_cap : 0;
    return pw_fail(err, PW_ENOMEM, "out of memory for what comes out of a step");
}

static void note_batch(struct pw_flight *f, const struct pw_batch *b)
{
    f->n_scored = b->n_scored;
    f->n_seqs = b->n_seqs;
    memcpy(f->batch, b->targets, (size_t)b->n_scored * sizeof *f->batch);
    for (int s = 0; s < b->n_seqs; s++)
        f->batch[b->n_scored + s] = b->start[s + 1] - b->start[s];
}

/* 1 / (1 - beta^t): Adam's correction for moments that started at zero. */
static float correction(float beta, int64_t t)
{
    return beta > 0 ? (float)(1 / (1 - pw_pow(beta, (double)t))) : 1;
}

/* The part of a pack that belongs to a tensor of a product, where AdamW leaves it. */
static uint16_t *pack_of(const struct pw_model *m, const struct pw_param *p)
{
    for (int i = 0; m->ops->packs && i <= m->cfg.layers * PW_MATS; i++) {
        const struct pw_mat *mat = &m->mats[i];
        size_t from = (size_t)(mat->w - m->p), n = (size_t)mat->out * mat->in;
        if (p->offset >= from && p->offset < from + n)
            return (uint16_t *)mat->pack + (p->offset - from);
    }
    return NULL;
}

/* The tensors as AdamW sees them in the step that is being staged. */
static void set_rates(struct pw_model *m, const struct pw_optim *o, float lr)
{
    struct pw_adamw_seg *segs = pw_stage_rates(m->step_plan.now);

    m->tiles = 0;
    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        segs[i] = (struct pw_adamw_seg){
            .offset = p->offset,
            .n = pw_param_count(p),
            .tile = m->tiles,
            .lr = lr,
            .decay = p->decay || (o->decay_gains && p->init_value == 1 && !p->pe) ? o->decay : 0,
            .c1 = correction(o->beta1, p->t + 1),
            .c2 = correction(o->beta2, p->t + 1),
            .pack = pack_of(m, p),
        };
        m->tiles += (segs[i].n + PW_TILE - 1) / PW_TILE;
    }
}

/* Steps forwards or, after an error or with nothing learned, back in all that counts them. */
static void count(struct pw_model *m, int by)
{
    for (int i = 0; i < m->lay.n; i++)
        m->lay.params[i].t += by;
    m->steps += by;
    m->schedule += by;
    pw_model_changed(m);
}

/* Of those under way nothing will be learned, or has been. */
static void take_back(struct pw_model *m)
{
    count(m, -m->n_flights);
    m->n_flights = m->step_plan.staged = 0;
    m->stale = PW_STALE_ALL;
}

/* ---- asking for what is staged */

struct learning {
    struct pw_model *m;
    const atomic_bool *yield;
    int n; /* steps */
    bool yielded;
};

/* What is made of the parameters after a step. */
static int stale_after(const struct pw_model *m)
{
    return m->ops->packs ? PW_STALE_TABLES : PW_STALE_ALL;
}

static void learn(void *arg)
{
    struct learning *k = arg;
    struct pw_model *m = k->m;
    struct pw_plan *plan = &m->step_plan;

    for (int i = 0; i < k->n; i++) {
        pw_stage_turn_to(plan, i);
        k->yielded = !pw_step_gradient(m, k->yield);
        if (k->yielded)
            return;
        m->ops->adamw(m->be, m->p, m->m, m->v, m->g, pw_out_sumsq(plan->out), pw_stage_rates(plan->dev),
                      m->lay.n, m->tiles, &m->rule, pw_out_moved(plan->out));
        m->stale = stale_after(m);
    }
}

/* What the operations of steps follow from, beside what lies in the backend's memory; without padding in it.
 */
struct shape {
    struct pw_sizes sizes;
    struct pw_adamw rule;
    int32_t laid, stale, steps;
    uint64_t form;
};

static bool ask(struct pw_model *m, const atomic_bool *yield, int n)
{
    const struct pw_plan *plan = &m->step_plan;
    /* A device is told of whole steps, in no time and perhaps as one graph. */
    struct learning k = {.m = m, .yield = m->ops->host ? yield : NULL, .n = n};

    pw_tables_lay(m, plan->sizes.positions); /* before what is stale is told */
    struct shape shape = {plan->sizes, m->rule, m->tables.laid, m->stale, n, m->form};
    _Static_assert(sizeof shape == sizeof(struct pw_sizes) + sizeof(struct pw_adamw) + 20,
                   "a key has no bytes that nobody sets");
    if (!m->ops->pads) { /* chunks are more than these sizes tell */
        learn(&k);
        return !k.yielded;
    }
    m->ops->replay(m->be, &shape, sizeof shape, learn, &k);
    m->stale = stale_after(m);
    return true;
}

/* Flight i and the n-1 behind it come to the host. */
static void bring(struct pw_model *m, int i, int n)
{
    struct pw_plan *plan = &m->step_plan;
    int most = pw_model_may_fly(m), at = (m->first_flight + i) % most, end = at + n < most ? at + n : most;
    char *to = plan->host_out, *from = plan->outs;

    m->ops->download(m->be, to + (size_t)at * plan->out_bytes, from, (size_t)(end - at) * plan->out_bytes);
    if (at + n > most) /* round and round */
        m->ops->download(m->be, to, from + (size_t)(most - at) * plan->out_bytes,
                         (size_t)(at + n - most) * plan->out_bytes);
}

/* Asks for all that is staged, which are the last flights: as many as make a group at once, fewer one by one,
 * since each number of steps would be a graph of its own. false: the only one yielded. */
static bool launch(struct pw_model *m, const atomic_bool *yield)
{
    struct pw_plan *plan = &m->step_plan;
    int staged = plan->staged, n = staged == pw_model_group(m) ? staged : 1, first = m->n_flights - staged;
    const struct pw_flight *last = flight(m, m->n_flights - 1);

    for (int i = 0; i < staged; i += n) {
        pw_stage_upload(m, plan, i, n);
        if (!ask(m, yield, n))
            return false;
        bring(m, first + i, n);
    }
    if (last->looked)
        m->ops->download(m->be, last->grad, m->g + m->lay.pe,
                         (m->lay.size - m->lay.core) * sizeof *last->grad);
    plan->staged = 0;
    for (uint64_t mark = m->ops->mark(m->be); first < m->n_flights; first++)
        flight(m, first)->mark = mark;
    return true;
}

enum pw_code pw_model_start(struct pw_model *m, const struct pw_optim *o, const struct pw_batch *b,
                            const atomic_bool *yield, struct pw_err *err)
{
    const struct pw_adamw rule = {.beta1 = o->beta1, .beta2 = o->beta2, .eps = o->eps, .clip = o->clip};
    struct pw_plan *plan = &m->step_plan;
    struct pw_flight *f = flight(m, m->n_flights);
    enum pw_code code;

    assert(m->n_flights < pw_model_may_fly(m));
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
    note_batch(f, b);
    m->n_flights++;
    if ((plan->staged == pw_model_group(m) || f->looked) && !launch(m, yield)) {
        m->n_flights--;
        code = m->ops->sync(m->be, err);
        return code ? code : pw_fail(err, PW_EYIELD, "the step is not finished");
    }
    m->under_way = false;
    count(m, 1);
    return PW_OK;
}

/* The oldest step was not finite: it and those after it have changed nothing. */
static enum pw_code forget(struct pw_model *m, bool loss, struct pw_err *err)
{
    static const int none = 0;
    enum pw_code code;

    take_back(m);
    m->ops->upload(m->be, m->spoilt, &none, sizeof none);
    code = m->ops->sync(m->be, err);
    return code ? code
                : pw_fail(err, PW_EUSER,
                          "the %s is not finite at step %lld; the weights are as they were before it",
                          loss ? "gradient" : "loss", (long long)m->steps + 1);
}

enum pw_code pw_model_finish(struct pw_model *m, struct pw_step_result *out, struct pw_err *err)
{
    struct pw_flight *f = flight(m, 0);
    struct pw_plan *plan = &m->step_plan;
    void *came;
    enum pw_code code;

    assert(m->n_flights > 0);
    if (plan->staged == m->n_flights)
        launch(m, NULL);
    code = m->ops->wait(m->be, f->mark, err);
    if (code) { /* nothing was learned from it nor from what came after; or the device is lost */
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
    pw_met_step(m, f->batch + f->n_scored, f->n_seqs, f->looked ? f->grad : NULL);
    memcpy(m->moved, pw_out_moved(came), 2 * (size_t)m->lay.n * sizeof *m->moved);
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
