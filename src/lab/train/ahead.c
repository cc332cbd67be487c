/* ahead.c - steps in flight: optimiser steps that start before earlier ones have been reported.
 *
 * A device computes without interruption if its next work is always queued. So while the lab waits for a step
 * of a model, reports it and makes the next batch, further steps are in flight. On the host one step is in
 * flight (src/model/flight.c), and all of this amounts to pw_model_step.
 *
 * Steps in flight can't be undone, and a model must not be observed in the middle of them. Two rules ensure
 * that they are never observed. First, no step is started beyond a step that may be observed by a check of
 * `until`, a live evaluation, a digest, a watch or the goal. Second, any other reader (a typed line, an
 * inspection triggered by the clock, a checkpoint) drains first. Rounds then continue in their order, and a
 * due arm without a step in flight takes one, until no step is in flight. So events occur in their usual
 * order, and the reader finds the arms at the step that was reported last. In a re-run the places
 * of commands are known in advance, and no step starts early. */
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/watch.h"
#include "lab/train/train.h"

static struct pw_samples *samples_at(struct pw_lab *lab, const struct pw_replica *a, int64_t step, int *slot)
{
    *slot = (int)(step % pw_model_may_fly(a->model));
    return &lab->batches[*slot];
}

uint64_t pw_lab_batch_seed(const struct pw_lab *lab, int replica)
{
    return lab->seed + (lab->own_batches ? (uint64_t)replica - 1 : 0);
}

/* A model copies the batch of a step when the step starts. So a slot is free for the batch of another
 * replica. */
const struct pw_batch *pw_lab_batch(struct pw_lab *lab, const struct pw_replica *a, int64_t step)
{
    int slot;
    struct pw_samples *s = samples_at(lab, a, step, &slot);
    int64_t first = step * a->optim.batch;
    uint64_t seed = pw_lab_batch_seed(lab, a->replica);
    if (lab->batch_first[slot] != first || lab->batch_seed[slot] != seed || s->b.n_seqs != a->optim.batch) {
        for (int i = 0; i < PW_MAX_PLACES; i++)
            if (lab->replicas[i].model != NULL)
                /* its step was computed from the batches that are dropped */
                pw_model_abandon(lab->replicas[i].model);
        pw_samples_fill(s, &lab->tasks, seed, PW_SPLIT_TRAIN, (uint64_t)first, a->optim.batch, 0, 0);
        lab->batch_first[slot] = first;
        lab->batch_seed[slot] = seed;
    }
    return &s->b;
}

void pw_lab_forget_batches(struct pw_lab *lab)
{
    for (int i = 0; i < PW_FLIGHTS; i++)
        lab->batch_first[i] = -1;
}

static void hear_change(struct pw_lab *lab, const struct pw_notice *n)
{
    if ((n->what & (PW_CHANGE_TASK | PW_CHANGE_SEED)) != 0)
        pw_lab_forget_batches(lab);
}

const struct pw_listener pw_batches_listener = {.changes = hear_change};

void pw_lab_free_batches(struct pw_lab *lab)
{
    for (int i = 0; i < PW_FLIGHTS; i++)
        pw_samples_fini(&lab->batches[i]);
}

/* Heads form early, and the clock would see only every hundredth step then. So steps 1, 2, 3, 4, 6, 8, 12,
 * 16,
 * ... are always inspected. */
bool pw_lab_always_observed(int64_t step)
{
    while (step > 3 && step % 2 == 0)
        step /= 2;
    return step >= 1 && step <= 3;
}

/* Can this step be observed? Digests occur at multiples of PW_CHECK_EVERY. */
static bool is_seen(const struct pw_lab *lab, const struct pw_replica *a, int64_t step)
{
    return step >= a->goal || pw_watch_sees(lab, a, step) || step % PW_CHECK_EVERY == 0 ||
           pw_lab_always_observed(step);
}

/* Can the next step start, in addition to those in flight? */
static bool may_begin(const struct pw_lab *lab, const struct pw_replica *a)
{
    int n = pw_model_flying(a->model);
    if (n == 0)
        return true;
    return n < pw_model_may_fly(a->model) && !lab->landing && lab->follow == NULL && lab->allowed == 0 &&
           lab->share == PW_SHARE_STEPS && a->until == PW_UNTIL_STEP && !is_seen(lab, a, a->step + n);
}

enum pw_code pw_lab_step_ahead(struct pw_lab *lab, struct pw_replica *a, struct pw_step_result *r,
                               struct pw_err *err)
{
    while (may_begin(lab, a)) {
        int64_t step = a->step + pw_model_flying(a->model);
        const struct pw_batch *b = pw_lab_batch(lab, a, step);
        enum pw_code code = pw_model_start(a->model, &a->optim, b, &lab->yield, err);
        if (code != PW_OK && pw_model_flying(a->model) == 0)
            return code;
        if (code != PW_OK)
            break; /* if it fails again, it is reported in its turn */
        a->ahead_flops[step % PW_FLIGHTS] = pw_model_flops(&a->cfg, a->pe.pe, b);
    }
    enum pw_code code = pw_model_finish(a->model, r, err);
    if (code != PW_OK)
        return code;
    a->flops += a->ahead_flops[a->step % PW_FLIGHTS];
    a->step++;
    if (a->altered == PW_ALTERED_NOT && pw_lab_heads_off(a))
        a->altered = PW_ALTERED_HEADS;
    return PW_OK;
}

struct pw_replica *pw_lab_flying(struct pw_lab *lab)
{
    for (int i = 0; i < PW_MAX_PLACES; i++)
        if (lab->replicas[i].model != NULL && pw_model_flying(lab->replicas[i].model) > 0)
            return &lab->replicas[i];
    return NULL;
}
