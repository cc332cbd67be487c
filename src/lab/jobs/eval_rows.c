/* eval_rows.c - the rows of an evaluation: which lengths of which tasks it covers. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lab/jobs/evals.h"

static float chance_of(const struct pw_task_use *use, int length)
{
    return use->task->chance != NULL ? (float)use->task->chance(&use->o, length) : 0.0f;
}

/* Add the row of a task and length, with its pairs. */
static enum pw_code add_row(const struct pw_lab *lab, struct pw_eval_plan *p, int t, int length,
                            struct pw_err *err)
{
    const struct pw_task_use *use = &lab->tasks.use[t];
    struct pw_pair at[PW_MAX_PAIRS];
    int n = pw_task_pairs_at(use, length, at);
    struct pw_eval_row *rows = realloc(p->rows, (size_t)(p->n_rows + 1) * sizeof *rows);
    p->rows = rows != NULL ? rows : p->rows;
    struct pw_eval_pair *pairs = realloc(p->pairs, (size_t)(p->n_pairs + n + 1) * sizeof *pairs);
    p->pairs = pairs != NULL ? pairs : p->pairs;
    bool runs = pw_taskset_runs(&lab->tasks); /* no outcomes */
    int words = runs ? 0 : (pw_task_samples_at(use, length, p->samples) + 63) / 64;
    uint64_t *outcomes = realloc(p->outcomes, (size_t)(p->n_words + words + 1) * sizeof *outcomes);
    p->outcomes = outcomes != NULL ? outcomes : p->outcomes;
    if (rows == NULL || pairs == NULL || outcomes == NULL)
        return pw_fail(err, PW_ENOMEM, "eval: out of memory");
    memset(outcomes + p->n_words, 0, (size_t)words * sizeof *outcomes);
    rows[p->n_rows++] = (struct pw_eval_row){.task = t,
                                             .length = length,
                                             .seen = pw_task_seen(use, length),
                                             .first_pair = p->n_pairs,
                                             .n_pairs = n,
                                             .chance = chance_of(use, length),
                                             .first_word = p->n_words};
    p->n_words += words;
    for (int i = 0; i < n; i++)
        pairs[p->n_pairs++] = (struct pw_eval_pair){.a = at[i].a, .b = at[i].b};
    return PW_OK;
}

enum pw_code pw_eval_plan_rows(struct pw_lab *lab, struct pw_eval_plan *p, struct pw_range lengths,
                               struct pw_err *err)
{
    int context = INT_MAX;
    for (int i = 0; i < PW_MAX_PLACES && pw_taskset_runs(&lab->tasks); i++)
        if (lab->replicas[i].model != NULL && !lab->replicas[i].cfg.causal)
            return pw_fail(
                err, PW_EUSER,
                "eval: arm %d has causal=off and sees the tokens of the text that it is to predict; "
                "use 'model causal=on'",
                lab->replicas[i].id);
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (lab->replicas[i].model != NULL && lab->replicas[i].cfg.context < context)
            context = lab->replicas[i].cfg.context;
    for (int t = 0; t < lab->tasks.n; t++) {
        const struct pw_task_use *use = &lab->tasks.use[t];
        struct pw_range r = lengths, limits = use->task->length_limits;
        bool asked = lengths.hi > 0;
        if (!asked)
            r = (struct pw_range){pw_task_train(use).lo, pw_task_test(use).hi};
        if (asked && (r.lo < limits.lo || r.hi > limits.hi))
            return pw_fail(err, PW_EUSER, "eval: lengths=%d..%d: %s has lengths %d..%d", r.lo, r.hi,
                           use->task->name, limits.lo, limits.hi);
        while (r.hi >= r.lo && !pw_task_has(use, r.hi))
            r.hi--;
        if (r.hi < r.lo)
            continue;
        int rows = pw_lab_rows_at(lab, t, r.hi);
        if (rows > context)
            return pw_fail(
                err, PW_EUSER,
                "eval: length %d of %s needs %d positions, the model has %d: use 'model context=%d'", r.hi,
                use->task->name, rows, context, rows);
        for (int length = r.lo; length <= r.hi; length++) {
            if (!asked && length > pw_task_train(use).hi && length < pw_task_test(use).lo)
                continue;
            if (!pw_task_looks_at(use, asked ? r : (struct pw_range){r.lo, pw_task_train(use).hi}, length) &&
                length != r.hi)
                continue;
            enum pw_code code = add_row(lab, p, t, length, err);
            if (code != PW_OK)
                return code;
        }
    }
    if (p->n_rows == 0)
        return pw_fail(err, PW_EUSER, "eval: lengths=%d..%d: there are no samples of these lengths",
                       lengths.lo, lengths.hi);
    if (pw_taskset_runs(&lab->tasks))
        pw_losses_begin(&p->losses, p->rows, p->n_rows, p->samples, pw_task_train(&lab->tasks.use[0]).hi);
    return PW_OK;
}
