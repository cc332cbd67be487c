/* step.c - what is done with a batch: one optimiser step, its gradient, evaluation.
 *
 * Training. The batch's sequences go to S gradient slots by number alone, S = min(B, 8), or min(B, 2) above
 * 16 M parameters, where eight gradients would cost more memory than they win. A slot's chunks run in order,
 * forward and backward, on whichever workers; the slots are added 0 to S-1. Neither the number of workers nor
 * the size of a chunk can change a bit (DESIGN section 5). The parameters change in the optimiser's phase
 * only, so a step that is abandoned before it, or whose loss is not finite, has changed nothing.
 *
 * A step yields when it is asked to, between two blocks of a chunk: every slot remembers how far it has come,
 * its sums lie in the slot, and the activations of the chunk that it is in stay in the worker's memory. What
 * is computed meanwhile has a plan and memory of its own, so going on gives the bits of a step that nobody
 * interrupted. When nobody asks, this costs one load a block. */
#include <assert.h>
#include <math.h>

#include "base/maths.h"
#include "base/rng.h"
#include "model/model_int.h"

struct job {
    struct pw_model *m;
    const atomic_bool *yield;
    struct pw_turns turns;
    int begun[PW_MAX_SLOTS]; /* slots in the middle of a chunk */
};

int pw_model_slots(const struct pw_model *m, int n_seqs)
{
    int slots = m->lay.size <= (size_t)16 << 20 ? PW_MAX_SLOTS : 2;

    return n_seqs < slots ? n_seqs : slots;
}

static bool asked(const atomic_bool *yield)
{
    return yield && atomic_load_explicit(yield, memory_order_relaxed);
}

/* A chunk in 2L + 1 parts: its blocks forward, the head with the loss there and back, its blocks backward. */
static void train_part(struct job *job, struct pw_ctx *c, struct pw_work *w, const struct pw_chunk *k,
                       const struct pw_slot *slot, int part)
{
    struct pw_model *m = job->m;
    struct pw_plan *plan = &m->step_plan;
    int L = m->cfg.layers;

    if (part < L) {
        pw_forward_block(m, c, w, plan, k, part);
    } else if (part == L) {
        pw_forward_head(m, c, w, plan, k);
        m->ops->cross_entropy(c, plan->loss + k->scored, plan->best + k->scored, w->d_logits, w->logits,
                              plan->dev + plan->targets + k->scored, (const float *)(plan->dev + plan->scale),
                              k->n_scored, m->cfg.vocab);
        pw_backward_head(m, c, w, k, slot);
    } else {
        pw_backward_block(m, c, w, k, slot, 2 * L - part);
    }
}

/* The chunk that slot s has come to, from where it stopped, in worker memory number `memory`; false: it stops
 * again. */
static bool train_chunk(struct job *job, struct pw_ctx *c, int s, int memory)
{
    struct pw_model *m = job->m;
    struct pw_plan *plan = &m->step_plan;
    struct pw_slot slot = pw_slot_at(m, s);
    const struct pw_chunk *k = &plan->chunks[plan->next[s]];
    int parts = k->n_scored > 0 ? 2 * m->cfg.layers + 1 : 0; /* no loss, no gradient */

    if (plan->next[s] == plan->first[s] && plan->part[s] == 0)
        pw_slot_begin(m, c, &slot);
    for (; plan->part[s] < parts; plan->part[s]++) {
        if (asked(job->yield)) {
            plan->held[s] = memory;
            return false;
        }
        train_part(job, c, &m->train[memory], k, &slot, plan->part[s]);
    }
    plan->part[s] = 0;
    slot.summed = plan->summed[s] |= parts > 0;
    if (plan->next[s] + 1 == plan->first[s + 1])
        pw_slot_end(m, c, &slot);
    return true;
}

static void train_chunks(struct pw_ctx *c, int i, int worker, void *arg)
{
    struct job *job = arg;
    int s = pw_turns_next(&job->turns, -1);

    (void)i;
    while (s >= 0 && train_chunk(job, c, s, worker))
        s = pw_turns_next(&job->turns, s);
}

/* The rest of a chunk that was begun before the step yielded. */
static void end_chunk(struct pw_ctx *c, int i, int worker, void *arg)
{
    struct job *job = arg;
    struct pw_plan *plan = &job->m->step_plan;
    int s = job->begun[i];

    (void)worker;
    if (train_chunk(job, c, s, plan->held[s]))
        plan->next[s]++;
}

/* All that is left to do, as far as nobody asks. Chunks that were begun come first: then the workers' memory
 * is free again. */
static void train_slots(struct job *job)
{
    struct pw_model *m = job->m;
    struct pw_plan *plan = &m->step_plan;
    int n = 0;

    for (int s = 0; s < plan->n_slots; s++)
        if (plan->part[s] > 0)
            job->begun[n++] = s;
    m->ops->for_chunks(m->be, n, end_chunk, job);
    if (asked(job->yield))
        return;
    pw_turns_init(&job->turns, plan, m->workers);
    m->ops->for_chunks(m->be, m->workers, train_chunks, job);
    pw_turns_fini(&job->turns);
}

static void eval_chunk(struct pw_ctx *c, int i, int worker, void *arg)
{
    struct job *job = arg;
    struct pw_model *m = job->m;
    struct pw_plan *plan = &m->eval_plan;
    const struct pw_chunk *k = &plan->chunks[i];
    struct pw_work *w = &m->eval[worker];

    if (k->n_scored == 0)
        return;
    pw_forward(m, c, w, plan, k, NULL);
    m->ops->cross_entropy(c, plan->loss + k->scored, plan->best + k->scored, NULL, w->logits,
                          plan->dev + plan->targets + k->scored, NULL, k->n_scored, m->cfg.vocab);
}

static enum pw_code fit_slots(struct pw_model *m, int n, struct pw_err *err)
{
    size_t need;

    m->stride = pw_slot_floats(m);
    need = (size_t)n * m->stride;
    if (need <= m->slots_cap)
        return PW_OK;
    m->ops->free(m->be, m->slots);
    m->slots = m->ops->alloc(m->be, need * sizeof(float));
    m->slots_cap = m->slots ? need : 0;
    if (!m->slots)
        return pw_fail(err, PW_ENOMEM, "out of memory: the gradients need %zu MiB",
                       need * sizeof(float) >> 20);
    return PW_OK;
}

/* Everything that can fail for want of memory, before anything is computed. slots: 0 for evaluation. */
static enum pw_code begin(struct pw_model *m, const struct pw_batch *b, int slots, const uint32_t *key,
                          struct pw_err *err)
{
    struct pw_plan *plan = slots > 0 ? &m->step_plan : &m->eval_plan;
    enum pw_code code = pw_plan_make(m, plan, b, slots, key, err);

    if (code == PW_OK)
        code = pw_tables_fit(m, plan->max_pos + 1, err);
    if (code == PW_OK)
        code = pw_work_fit(m, slots > 0, err);
    if (code == PW_OK && slots > 0)
        code = fit_slots(m, slots, err);
    if (code == PW_OK)
        pw_model_refresh(m);
    return code;
}

/* Losses and choices of the scored rows to the host. */
static enum pw_code fetch(struct pw_model *m, const struct pw_plan *plan, int n, struct pw_err *err)
{
    enum pw_code code = m->ops->sync(m->be, err);

    if (code || n == 0)
        return code;
    m->ops->download(m->be, plan->host_loss, plan->loss, (size_t)n * sizeof *plan->loss);
    m->ops->download(m->be, plan->host_best, plan->best, (size_t)n * sizeof *plan->best);
    return m->ops->sync(m->be, err);
}

/* The mean, by one ascending sum in double precision; and the part of the choices that is right. */
static double mean_loss(const struct pw_plan *plan, const struct pw_batch *b, double *accuracy)
{
    double sum = 0;
    int right = 0;

    for (int i = 0; i < b->n_scored; i++) {
        sum += plan->host_loss[i];
        right += plan->host_best[i] == b->targets[i];
    }
    *accuracy = (double)right / b->n_scored;
    return sum / b->n_scored;
}

static enum pw_code begin_step(struct pw_model *m, const struct pw_batch *b, int slots, struct pw_err *err)
{
    struct pw_rng rng;
    uint32_t key[2];

    pw_rng_init(&rng, m->seed, PW_STREAM_DROPOUT, (uint64_t)m->steps + 1);
    key[0] = pw_rng_u32(&rng);
    key[1] = pw_rng_u32(&rng);
    enum pw_code code = begin(m, b, slots, key, err);
    m->under_way = code == PW_OK;
    return code;
}

static bool all_finished(const struct pw_plan *plan)
{
    bool all = true;

    for (int s = 0; s < plan->n_slots; s++)
        all = all && plan->next[s] == plan->first[s + 1];
    return all;
}

/* Leaves the batch's gradient in m->g. */
static enum pw_code gradient(struct pw_model *m, const struct pw_batch *b, const atomic_bool *yield,
                             struct pw_step_result *out, struct pw_err *err)
{
    int slots = pw_model_slots(m, b->n_seqs);
    struct job job = {.m = m, .yield = yield};
    const struct pw_plan *plan = &m->step_plan;
    double sumsq = 0;
    enum pw_code code = PW_OK;

    assert(b->n_scored >= 1);
    if (!m->under_way)
        code = begin_step(m, b, slots, err);
    if (code)
        return code;
    train_slots(&job);
    if (!all_finished(plan) || asked(yield)) {
        code = m->ops->sync(m->be, err);
        return code ? code : pw_fail(err, PW_EYIELD, "the step is not finished");
    }
    m->under_way = false;
    m->ops->reduce(m->be, m->g, m->sumsq, m->slots, slots, m->stride, m->lay.size);
    code = fetch(m, plan, b->n_scored, err);
    if (code)
        return code;
    m->ops->download(m->be, &sumsq, m->sumsq, sizeof sumsq);
    code = m->ops->sync(m->be, err);
    if (code)
        return code;
    out->loss = mean_loss(plan, b, &out->accuracy);
    out->grad_norm = sqrt(sumsq);
    if (!isfinite(out->loss) || !isfinite(out->grad_norm))
        return pw_fail(err, PW_EUSER,
                       "the %s is not finite at step %lld; the weights are as they were before it",
                       isfinite(out->loss) ? "gradient" : "loss", (long long)m->steps + 1);
    return PW_OK;
}

/* 1 / (1 - beta^t): Adam's correction for moments that started at zero. */
static float correction(float beta, int64_t t)
{
    return beta > 0 ? (float)(1 / (1 - pw_pow(beta, (double)t))) : 1;
}

enum pw_code pw_model_step(struct pw_model *m, const struct pw_optim *o, const struct pw_batch *b,
                           const atomic_bool *yield, struct pw_step_result *out, struct pw_err *err)
{
    struct pw_adamw h = {.beta1 = o->beta1, .beta2 = o->beta2, .eps = o->eps, .clip = o->clip};
    float lr = pw_optim_lr(o, (long)m->schedule + 1);
    enum pw_code code = gradient(m, b, yield, out, err);

    if (code == PW_OK)
        code = pw_met_step(m, b, err);
    if (code)
        return code;
    out->lr = lr;
    size_t tiles = 0;
    for (int i = 0; i < m->lay.n; i++) {
        struct pw_param *p = &m->lay.params[i];
        p->t++;
        m->segs[i] = (struct pw_adamw_seg){
            .offset = p->offset,
            .n = pw_param_count(p),
            .tile = tiles,
            .lr = lr,
            .decay = p->decay || (o->decay_gains && p->init_value == 1) ? o->decay : 0,
            .c1 = correction(o->beta1, p->t),
            .c2 = correction(o->beta2, p->t),
        };
        tiles += (m->segs[i].n + PW_TILE - 1) / PW_TILE;
    }
    m->ops->upload(m->be, m->dev_segs, m->segs, (size_t)m->lay.n * sizeof *m->segs);
    m->ops->adamw(m->be, m->p, m->m, m->v, m->g, m->sumsq, m->dev_segs, m->lay.n, tiles, &h, m->moved);
    m->stale = true;
    pw_model_changed(m);
    m->steps++;
    m->schedule++;
    return m->ops->sync(m->be, err);
}

void pw_model_abandon(struct pw_model *m)
{
    m->under_way = false;
}

enum pw_code pw_model_gradient(struct pw_model *m, const struct pw_batch *b, float *grad, double *loss,
                               struct pw_err *err)
{
    struct pw_step_result result;
    enum pw_code code;

    pw_model_abandon(m);
    code = gradient(m, b, NULL, &result, err);
    if (code)
        return code;
    m->ops->download(m->be, grad, m->g, m->lay.size * sizeof *grad);
    *loss = result.loss;
    return m->ops->sync(m->be, err);
}

enum pw_code pw_model_eval(struct pw_model *m, const struct pw_batch *b, int *best, float *loss,
                           struct pw_err *err)
{
    struct job job = {.m = m};
    enum pw_code code = begin(m, b, 0, NULL, err);

    if (code)
        return code;
    m->ops->for_chunks(m->be, m->eval_plan.n_chunks, eval_chunk, &job);
    code = fetch(m, &m->eval_plan, b->n_scored, err);
    for (int i = 0; i < b->n_scored && code == PW_OK; i++) {
        best[i] = m->eval_plan.host_best[i];
        if (loss)
            loss[i] = m->eval_plan.host_loss[i];
    }
    return code;
}
