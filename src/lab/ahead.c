/* ahead.c - steps that have begun before those before them are told of.
 *
 * A device goes on by itself, and waits for nobody if it has always been told what comes next; so while the
 * lab waits for a step of a model, tells of it and makes the next batch, others are under way. On the host
 * one is (src/model/flight.c), and all of this is pw_model_step.
 *
 * Steps under way can't be taken back, and nobody may see a model in the middle of them. Two things keep that
 * from showing. No step is begun beyond one at which somebody may want to look: a check of `until`, an
 * evaluation beside training, a digest, a probe that is repeated, a goal. And whoever else comes, a typed
 * line, a look by the clock, a checkpoint, lets them land: rounds go on in their order, an arm that is due
 * and has no step under way takes one, until none is under way; so events come as they would have come
 * anyway, and he finds the arms at the step that the last one said. What follows a recording, which knows
 * beforehand where commands will come, begins nothing early. */
#include "lab/jobs.h"
#include "lab/lab_int.h"

static struct pw_samples *samples_at(struct pw_lab *lab, const struct pw_arm *a, int64_t step, int *slot)
{
    *slot = (int)(step % pw_model_may_fly(a->model));
    return &lab->batches[*slot];
}

uint64_t pw_lab_batch_seed(const struct pw_lab *lab, int replicate)
{
    return lab->seed + (lab->own_batches ? (uint64_t)replicate - 1 : 0);
}

/* A model has copied the batch of a step that it has begun, so a slot is free for another replicate's. */
const struct pw_batch *pw_lab_batch(struct pw_lab *lab, const struct pw_arm *a, int64_t step)
{
    int slot;
    struct pw_samples *s = samples_at(lab, a, step, &slot);
    int64_t first = step * a->optim.batch;
    uint64_t seed = pw_lab_batch_seed(lab, a->replicate);
    if (lab->batch_first[slot] != first || lab->batch_seed[slot] != seed || s->b.n_seqs != a->optim.batch) {
        for (int i = 0; i < PW_MAX_PLACES; i++)
            if (lab->arms[i].model != NULL)
                pw_model_abandon(lab->arms[i].model); /* it was computed from those that go */
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

void pw_lab_free_batches(struct pw_lab *lab)
{
    for (int i = 0; i < PW_FLIGHTS; i++)
        pw_samples_fini(&lab->batches[i]);
}

/* Heads are born early, when the clock would see every hundredth step: 1, 2, 3, 4, 6, 8, 12, 16, ... are
 * looked at in any case. */
bool pw_lab_always_looked_at(int64_t step)
{
    while (step > 3 && step % 2 == 0)
        step /= 2;
    return step >= 1 && step <= 3;
}

/* May the model be at this step for somebody to see? Digests come at multiples of checks. */
static bool is_seen(const struct pw_lab *lab, const struct pw_arm *a, int64_t step)
{
    return step >= a->goal || pw_watch_sees(lab, a, step) || step % PW_CHECK_EVERY == 0 ||
           pw_lab_always_looked_at(step);
}

/* May its next step begin, after those under way? */
static bool may_begin(const struct pw_lab *lab, const struct pw_arm *a)
{
    int n = pw_model_flying(a->model);
    if (n == 0)
        return true;
    return n < pw_model_may_fly(a->model) && !lab->landing && lab->follow == NULL && lab->allowed == 0 &&
           lab->share == PW_SHARE_STEPS && a->until == PW_UNTIL_STEP && !is_seen(lab, a, a->step + n);
}

enum pw_code pw_lab_step_ahead(struct pw_lab *lab, struct pw_arm *a, struct pw_step_result *r,
                               struct pw_err *err)
{
    while (may_begin(lab, a)) {
        int64_t step = a->step + pw_model_flying(a->model);
        const struct pw_batch *b = pw_lab_batch(lab, a, step);
        enum pw_code code = pw_model_start(a->model, &a->optim, b, &lab->yield, err);
        if (code != PW_OK && pw_model_flying(a->model) == 0)
            return code;
        if (code != PW_OK)
            break; /* it is told when its turn comes, if it fails again */
        a->ahead_flops[step % PW_FLIGHTS] = pw_model_flops(&a->cfg, b);
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

struct pw_arm *pw_lab_flying(struct pw_lab *lab)
{
    for (int i = 0; i < PW_MAX_PLACES; i++)
        if (lab->arms[i].model != NULL && pw_model_flying(lab->arms[i].model) > 0)
            return &lab->arms[i];
    return NULL;
}

void pw_lab_land(struct pw_lab *lab)
{
    bool landing = lab->landing;
    lab->landing = true;
    while (pw_lab_flying(lab) != NULL)
        pw_lab_train_step(lab);
    lab->landing = landing;
}
