/* flight.c - optimiser steps that have been asked for and not yet told of.
 *
 * On the host a step is computed when pw_model_start returns. A device is only told what to do, and is never
 * to wait for the next one: up to PW_FLIGHTS steps are under way, each with a place on the host for what
 * comes out of it, and pw_model_finish waits for the oldest. What a step needs lies in the backend's memory
 * (the batch, dropout's key, AdamW's rates), so that of equal shapes the same operations can be replayed.
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
    return m->ops->host ? 1 : PW_FLIGHTS;
}

static enum pw_code fit_host(struct pw_model *m, void *at, size_t *have, size_t bytes, struct pw_err *err)
{
    void **p = at;

    if (bytes <= *have)
        return PW_OK;
    m->ops->host_free(m->be, *p);
    *p = m->ops->host_alloc(m->be, bytes);
    *have = *p ? bytes : 0;
    return *p ? PW_OK : pw_fail(err, PW_ENOMEM, "out of memory for what comes out of a step");
}

/* Room for what is kept of a step on this batch. */
static enum pw_code fit(struct pw_model *m, struct pw_flight *f, const struct pw_batch *b, struct pw_err *err)
{
    size_t ints = (size_t)b->n_scored + b->n_seqs;
    enum pw_code code = fit_host(m, &f->out, &f->out_bytes, m->step_plan.out_bytes, err);

    f->looked = pw_met_looks(m, m->n_flights);
    if (code == PW_OK && f->looked)
        code = fit_host(m, &f->grad, &f->grad_bytes, (m->lay.size - m->lay.core) * sizeof *f->grad, err);
    if (code == PW_OK && ints > f->batch_cap) {
        free(f->batch);
        f->batch_cap = ints + ints / 4;
        f->batch = malloc(f->batch_cap * sizeof *f->batch);
        if (!f->batch) {
            f->batch_cap = 0;
            return pw_fail(err, PW_ENOMEM, "out of memory for what comes out of a step");
        }
    }
    return code;
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

/* The tensors as AdamW sees them in their next step; returns their tiles. */
static size_t set_rates(struct pw_model *m, const struct pw_optim *o, float lr)
{
    size_t tiles = 0;

    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        m->segs[i] = (struct pw_adamw_seg){
            .offset = p->offset,
            .n = pw_param_count(p),
            .tile = tiles,
            .lr = lr,
            .decay = p->decay || (o->decay_gains && p->init_value == 1) ? o->decay : 0,
            .c1 = correction(o->beta1, p->t + 1),
            .c2 = correction(o->beta2, p->t + 1),
            .pack = pack_of(m, p),
        };
        tiles += (m->segs[i].n + PW_TILE - 1) / PW_TILE;
    }
    m->ops->upload(m->be, m->dev_segs, m->segs, (size_t)m->lay.n * sizeof *m->segs);
    return tiles;
}

/* Steps forwards or, after an error or with nothing learned, back in all that counts them. */
static void count(struct pw_model *m, int by)
{
    for (int i = 0; i < m->lay.n; i++)
        m->lay.params[i].t += by;
    m->steps += by;
    m->schedule += by;
    m->stale = by > 0 && m->ops->packs ? PW_STALE_TABLES : PW_STALE_ALL;
    pw_model_changed(m);
}

struct learning {
    struct pw_model *m;
    const atomic_bool *yield;
    const struct pw_adamw *h;
    size_t tiles;
    bool yielded;
};

static void learn(void *arg)
{
    struct learning *k = arg;
    struct pw_model *m = k->m;
    void *out = m->step_plan.out;

    k->yielded = !pw_step_gradient(m, k->yield);
    if (!k->yielded)
        m->ops->adamw(m->be, m->p, m->m, m->v, m->g, pw_out_sumsq(out), m->dev_segs, m->lay.n, k->tiles, k->h,
                      pw_out_moved(out));
}

/* What the operations of a step follow from, beside what lies in the backend's memory; without padding in it.
 */
struct shape {
    struct pw_sizes sizes;
    struct pw_adamw h;
    int32_t positions, stale;
    uint64_t form;
};

enum pw_code pw_model_start(struct pw_model *m, const struct pw_optim *o, const struct pw_batch *b,
                            const atomic_bool *yield, struct pw_err *err)
{
    struct pw_adamw h = {.beta1 = o->beta1, .beta2 = o->beta2, .eps = o->eps, .clip = o->clip};
    struct pw_flight *f = flight(m, m->n_flights);
    /* A device is told of a whole step, in no time and perhaps as one graph. */
    struct learning k = {.m = m, .yield = m->ops->host ? yield : NULL, .h = &h};
    float lr = pw_optim_lr(o, (long)m->schedule + 1);
    enum pw_code code = PW_OK;

    _Static_assert(sizeof(struct shape) == sizeof(struct pw_sizes) + sizeof(struct pw_adamw) + 16,
                   "a key has no bytes that nobody sets");
    assert(m->n_flights < pw_model_may_fly(m));
    if (!m->under_way)
        code = pw_step_begin(m, b, err);
    if (code == PW_OK)
        code = pw_model_reason(m, fit(m, f, b, err), err);
    if (code)
        return code;
    k.tiles = set_rates(m, o, lr);
    struct shape shape = {m->step_plan.sizes, h, m->tables.P, m->stale, m->form};
    if (m->ops->pads) /* then one chunk has the whole batch, and these sizes are all that it follows from */
        m->ops->replay(m->be, &shape, sizeof shape, learn, &k);
    else
        learn(&k);
    if (k.yielded) {
        code = m->ops->sync(m->be, err);
        return code ? code : pw_fail(err, PW_EYIELD, "the step is not finished");
    }
    m->under_way = false;
    note_batch(f, b);
    f->lr = lr;
    f->loss = m->step_plan.loss;
    f->best = m->step_plan.best;
    m->ops->download(m->be, f->out, m->step_plan.out, f->best + (size_t)b->n_scored * sizeof(int));
    if (f->looked)
        m->ops->download(m->be, f->grad, m->g + m->lay.pe, (m->lay.size - m->lay.core) * sizeof *f->grad);
    f->mark = m->ops->mark(m->be);
    m->n_flights++;
    count(m, 1);
    return PW_OK;
}

/* The oldest step was not finite: it and those after it have changed nothing. */
static enum pw_code forget(struct pw_model *m, bool loss, struct pw_err *err)
{
    static const double none[2] = {0, 0};
    enum pw_code code;

    count(m, -m->n_flights);
    m->n_flights = 0;
    m->ops->upload(m->be, m->step_plan.out, none, sizeof none);
    code = m->ops->sync(m->be, err);
    return code ? code
                : pw_fail(err, PW_EUSER,
                          "the %s is not finite at step %lld; the weights are as they were before it",
                          loss ? "gradient" : "loss", (long long)m->steps + 1);
}

enum pw_code pw_model_finish(struct pw_model *m, struct pw_step_result *out, struct pw_err *err)
{
    struct pw_flight *f = flight(m, 0);
    enum pw_code code;

    assert(m->n_flights > 0);
    code = m->ops->wait(m->be, f->mark, err);
    if (code) { /* nothing was learned from it nor from what came after; or the device is lost */
        count(m, -m->n_flights);
        m->n_flights = 0;
        return code;
    }
    out->loss = pw_mean_loss(pw_out_loss(f->out, f->loss), pw_out_best(f->out, f->best), f->batch,
                             f->n_scored, &out->accuracy);
    out->grad_norm = sqrt(pw_out_sumsq(f->out)[0]);
    out->lr = f->lr;
    if (!isfinite(out->loss) || !isfinite(out->grad_norm))
        return forget(m, isfinite(out->loss), err);
    pw_met_step(m, f->batch + f->n_scored, f->n_seqs, f->looked ? f->grad : NULL);
    memcpy(m->moved, pw_out_moved(f->out), 2 * (size_t)m->lay.n * sizeof *m->moved);
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
        m->ops->host_free(m->be, m->flights[i].out);
        m->ops->host_free(m->be, m->flights[i].grad);
        free(m->flights[i].batch);
    }
    memset(m->flights, 0, sizeof m->flights);
}
