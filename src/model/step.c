/* step.c - computations on a batch: the gradient of a step, evaluation.
 *
 * Training. The sequences of a batch go to S gradient slots by their index alone. S = min(B, 8); above 16 M
 * parameters S = min(B, 2), because eight gradients would cost more memory than they save time. The chunks of
 * a slot run in order, forward and backward, on any workers; the slots are added from 0 to S-1. Neither the
 * number of workers nor the chunk size can change a bit (docs/bits.md). Only the optimiser's
 * phase changes parameters, so a step abandoned before it, or a step with a loss that is not finite, changes
 * nothing.
 *
 * A step yields on request between two blocks of a chunk. Every slot records its progress, its sums stay in
 * the slot, and the activations of its current chunk stay in the worker's memory. Other computations use
 * another plan and other memory, so the continued step has the bits of an uninterrupted one. Without a
 * request this costs one atomic load per block. */
#include <assert.h>
#include <string.h>

#include "base/rng.h"
#include "model/model_int.h"
#include "model/turns.h"

struct job {
    struct pw_model *m;
    const atomic_bool *yield;
    struct pw_turns turns;
    int begun[PW_MAX_SLOTS]; /* slots in the middle of a chunk */
};

int pw_model_slots(const struct pw_model *m, int n_seqs)
{
    int slots = m->lay.size <= (size_t)16 << 20 ? PW_MAX_SLOTS : 2;

    if (m->ops->slots > 0 && slots > m->ops->slots)
        slots = m->ops->slots;
    return n_seqs < slots ? n_seqs : slots;
}

bool pw_model_one_slot(const struct pw_model *m)
{
    return m->ops->slots == 1;
}

static bool asked(const atomic_bool *yield)
{
    return yield != NULL && atomic_load_explicit(yield, memory_order_relaxed);
}

/* A chunk has 2L + 1 parts: its blocks forward, the head with loss and gradient, its blocks backward. */
static void train_part(struct job *job, struct pw_ctx *c, struct pw_work *w, const struct pw_chunk *k,
                       const struct pw_slot *slot, int part)
{
    struct pw_model *m = job->m;
    struct pw_batch_plan *plan = &m->step_plan;
    int L = m->cfg.layers;

    if (part < L) {
        pw_forward_block(m, c, w, plan, k, NULL, part);
    } else if (part == L) {
        pw_forward_head(m, c, w, plan, k, NULL);
        m->ops->cross_entropy(c, pw_out_loss(plan->out, plan->loss) + k->scored,
                              pw_out_best(plan->out, plan->best) + k->scored, w->d_logits, w->logits,
                              plan->dev + plan->targets + k->scored, (const float *)(plan->dev + plan->scale),
                              k->n_scored, m->cfg.vocab);
        pw_backward_head(m, c, w, k, slot);
    } else {
        pw_backward_block(m, c, w, k, slot, 2 * L - part);
    }
}

/* Continues the current chunk of slot s in worker memory number `memory`. Returns false
 * if the step yields again. */
static bool train_chunk(struct job *job, struct pw_ctx *c, int s, int memory)
{
    struct pw_model *m = job->m;
    struct pw_batch_plan *plan = &m->step_plan;
    struct pw_slot slot = pw_slot_at(m, s);
    const struct pw_chunk *k = &plan->chunks[plan->next[s]];
    int parts = k->n_scored > 0 ? 2 * m->cfg.layers + 1 : 0; /* without loss there is no gradient */

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

/* Completes a chunk that was begun before the step yielded. */
static void end_chunk(struct pw_ctx *c, int i, int worker, void *arg)
{
    struct job *job = arg;
    struct pw_batch_plan *plan = &job->m->step_plan;
    int s = job->begun[i];

    (void)worker;
    if (train_chunk(job, c, s, plan->held[s]))
        plan->next[s]++;
}

/* Runs the rest of the step until it is complete or yields. Chunks in progress come first, because they
 * occupy the workers' memory. */
static void train_slots(struct job *job)
{
    struct pw_model *m = job->m;
    struct pw_batch_plan *plan = &m->step_plan;
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

/* Logits that a worker of an evaluation holds at a time, in whole rows: 16 MB. Fewer rows would read the
 * head's weights more often than the products take. A device has all, so that its graphs have few nodes. */
enum { LOGITS_AT_ONCE = 1 << 22, FEWEST_ROWS = 16, MOST_ROWS = 512 };

static int rows_at_once(const struct pw_config *cfg)
{
    int rows = LOGITS_AT_ONCE / cfg->vocab;
    return rows < FEWEST_ROWS ? FEWEST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}

static void eval_chunk(struct pw_ctx *c, int i, int worker, void *arg)
{
    struct job *job = arg;
    struct pw_model *m = job->m;
    struct pw_batch_plan *plan = &m->eval_plan;
    const struct pw_chunk *k = &plan->chunks[i];
    struct pw_work *w = &m->eval[worker];

    for (int l = 0; k->n_scored > 0 && l < m->cfg.layers; l++)
        pw_forward_block(m, c, w, plan, k, NULL, l);
    for (int from = 0, n; from < k->n_scored; from += n) {
        int at = k->scored + from;
        n = k->n_scored - from < plan->max_scored ? k->n_scored - from : plan->max_scored;
        pw_forward_score(m, c, w, plan, k, from, n);
        m->ops->cross_entropy(c, pw_out_loss(plan->out, plan->loss) + at,
                              pw_out_best(plan->out, plan->best) + at, NULL, w->logits,
                              plan->dev + plan->targets + at, NULL, n, m->cfg.vocab);
    }
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
    m->slots_cap = m->slots != NULL ? need : 0;
    if (pw_model_one_slot(m))
        m->g = m->slots;
    if (m->slots == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: the gradients need %zu MiB",
                       need * sizeof(float) >> 20);
    return PW_OK;
}

/* Does every allocation of a pass before any computation. slots: 0 for evaluation. */
static enum pw_code begin_pass(struct pw_model *m, const struct pw_batch *b, int slots, const uint32_t *key,
                               struct pw_err *err)
{
    struct pw_batch_plan *plan = slots > 0 ? &m->step_plan : &m->eval_plan;
    enum pw_code code;

    plan->pads = m->ops->pads;
    code = pw_plan_make(m, plan, b, slots, key, err);
    int most = slots == 0 && m->ops->host ? rows_at_once(&m->cfg) : plan->max_scored;
    if (plan->max_scored > most)
        plan->max_scored = most;
    if (code == PW_OK) /* a learned table can lack rows for the padding */
        code =
            pw_tables_fit(m, m->pe.pe->uses & PW_PE_DENSE ? plan->sizes.positions : plan->max_pos + 1, err);
    if (code == PW_OK)
        code = pw_work_fit(m, slots > 0, err);
    if (code == PW_OK && slots > 0)
        code = fit_slots(m, slots, err);
    return pw_model_reason(m, code, err);
}

enum pw_code pw_step_begin(struct pw_model *m, const struct pw_batch *b, struct pw_err *err)
{
    struct pw_rng rng;
    uint32_t key[2];

    assert(b->n_scored >= 1);
    pw_rng_init(&rng, m->seed, PW_STREAM_DROPOUT, (uint64_t)m->steps + 1);
    key[0] = pw_rng_u32(&rng);
    key[1] = pw_rng_u32(&rng);
    enum pw_code code = pw_model_reason(m, pw_model_reserve_step(m, err), err);
    if (code == PW_OK)
        code = begin_pass(m, b, pw_model_slots(m, b->n_seqs), key, err);
    m->under_way = code == PW_OK;
    m->step_plan.staged += code == PW_OK;
    if (code == PW_OK && b->n_seqs > m->largest)
        m->largest = b->n_seqs;
    return code;
}

static bool all_finished(const struct pw_batch_plan *plan)
{
    bool all = true;

    for (int s = 0; s < plan->n_slots; s++)
        all = all && plan->next[s] == plan->first[s + 1];
    return all;
}

bool pw_step_gradient(struct pw_model *m, const atomic_bool *yield)
{
    struct pw_batch_plan *plan = &m->step_plan;
    struct job job = {.m = m, .yield = yield};

    pw_model_refresh(m, plan->sizes.positions);
    train_slots(&job);
    if (!all_finished(plan) || asked(yield))
        return false;
    pw_plan_rewind(plan); /* the next staged step has the same chunks */
    m->ops->reduce(m->be, m->g, pw_out_sumsq(plan->out), m->spoilt, m->slots, plan->n_slots, m->stride,
                   m->lay.trained, pw_out_loss(plan->out, plan->loss), plan->sizes.scored);
    return true;
}

double pw_mean_loss(const float *loss, const int *best, const int *targets, int n, double *accuracy)
{
    double sum = 0; /* summed in ascending order */
    int right = 0;

    for (int i = 0; i < n; i++) {
        sum += loss[i];
        right += best[i] == targets[i];
    }
    *accuracy = (double)right / n;
    return sum / n;
}

void pw_model_abandon(struct pw_model *m)
{
    if (m->under_way) /* otherwise the staged steps are in flight */
        m->step_plan.staged = 0;
    m->under_way = false;
}

enum pw_code pw_model_gradient(struct pw_model *m, const struct pw_batch *b, float *grad, double *loss,
                               struct pw_err *err)
{
    struct pw_batch_plan *plan = &m->step_plan;
    void *out;
    double accuracy;
    enum pw_code code;

    assert(m->n_flights == 0); /* so the first place for results on the host is free */
    pw_model_abandon(m);
    pw_model_trains(m, PW_TRAINS_ALL);
    code = pw_step_begin(m, b, err);
    if (code)
        return code;
    pw_stage_upload(m, plan, 0, 1);
    pw_step_gradient(m, NULL);
    pw_model_abandon(m);
    out = plan->host_out;
    m->ops->download(m->be, out, plan->out, plan->out_bytes);
    pw_moments_get(m, grad, m->g);
    code = m->ops->sync(m->be, err);
    if (code == PW_OK)
        *loss = pw_mean_loss(pw_out_loss(out, plan->loss), pw_out_best(out, plan->best), b->targets,
                             b->n_scored, &accuracy);
    return code;
}

enum pw_code pw_model_eval(struct pw_model *m, const struct pw_batch *b, int *best, float *loss,
                           struct pw_err *err)
{
    struct pw_batch_plan *plan = &m->eval_plan;
    struct job job = {.m = m};
    enum pw_code code;

    assert(m->n_flights == 0);
    code = begin_pass(m, b, 0, NULL, err);
    if (code)
        return code;
    pw_stage_upload(m, plan, 0, 1);
    pw_model_refresh(m, m->tables.P);
    m->ops->for_chunks(m->be, plan->n_chunks, eval_chunk, &job);
    m->ops->download(m->be, plan->host_out, plan->out, plan->out_bytes);
    code = m->ops->sync(m->be, err);
    if (code == PW_OK && b->n_scored > 0) {
        memcpy(best, pw_out_best(plan->host_out, plan->best), (size_t)b->n_scored * sizeof *best);
        if (loss != NULL)
            memcpy(loss, pw_out_loss(plan->host_out, plan->loss), (size_t)b->n_scored * sizeof *loss);
    }
    return code;
}
