#include "study/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "study/place.h"

void pw_results_init(struct pw_results *r, const struct pw_study *s)
{
    *r = (struct pw_results){.s = s, .n = s->seeds_max * s->tasks.n * s->n_arms};
    r->cells = pw_alloc((size_t)r->n, sizeof *r->cells);
    r->state = pw_alloc((size_t)r->n, sizeof *r->state);
    r->results = pw_alloc((size_t)r->n, sizeof *r->results);
    for (int seed = 0; seed < s->seeds_max; seed++)
        for (int task = 0; task < s->tasks.n; task++)
            for (int arm = 0; arm < s->n_arms; arm++)
                r->cells[pw_results_at(r, arm, task, seed)] = pw_study_cell_of(s, arm, task, seed);
}

void pw_results_fini(struct pw_results *r)
{
    for (int i = 0; i < r->n; i++)
        pw_result_fini(&r->results[i]);
    free(r->cells);
    free(r->state);
    free(r->results);
    *r = (struct pw_results){0};
}

int pw_results_at(const struct pw_results *r, int arm, int task, int seed)
{
    return (seed * r->s->tasks.n + task) * r->s->n_arms + arm;
}

static bool is_file(const char *folder, const char *id, const char *ending)
{
    struct pw_str path = {0};
    struct stat st;
    pw_study_cell_path(&path, folder, id, ending);
    bool there = stat(path.s, &st) == 0;
    pw_str_fini(&path);
    return there;
}

static bool is_locked(const char *folder, const char *id)
{
    struct pw_str path = {0};
    pw_study_cell_path(&path, folder, id, ".lock");
    bool locked = pw_study_locked(path.s) != 0;
    pw_str_fini(&path);
    return locked;
}

static enum pw_study_cell_state state_of(struct pw_results *r, const char *folder, int i)
{
    const char *id = r->cells[i].id;
    struct pw_err err;
    if (is_file(folder, id, ".json"))
        return pw_result_read(&r->results[i], folder, id, &err) == PW_OK ? PW_CELL_THERE : PW_CELL_BROKEN;
    if (is_locked(folder, id))
        return PW_CELL_RUNS;
    return is_file(folder, id, ".txt") ? PW_CELL_BROKEN : PW_CELL_MISSING;
}

void pw_results_read(struct pw_results *r, const char *folder)
{
    r->there = r->broken = r->running = r->queued = 0;
    r->steps = 0;
    r->operations = r->seconds = 0.0;
    for (int i = 0; i < r->n; i++) {
        if (r->state[i] != PW_CELL_THERE)
            r->state[i] = state_of(r, folder, i);
        r->broken += r->state[i] == PW_CELL_BROKEN;
        r->running += r->state[i] == PW_CELL_RUNS;
        if (r->state[i] != PW_CELL_THERE)
            continue;
        r->there++;
        r->steps += r->results[i].steps;
        r->operations += r->results[i].operations;
        r->seconds += r->results[i].seconds;
    }
}

/* ---- comparisons */

static const struct pw_result *result_of(const struct pw_results *r, int arm, int task, int seed)
{
    int i = pw_results_at(r, arm, task, seed);
    return r->state[i] == PW_CELL_THERE ? &r->results[i] : NULL;
}

/* Has an arm learned the task in the mean of its seeds? Text has no such level. */
static bool learned(const struct pw_results *r, int arm, int task, int seeds)
{
    double sum = 0.0;
    int n = 0;
    for (int k = 0; k < seeds; k++) {
        const struct pw_result *x = result_of(r, arm, task, k);
        if (x == NULL)
            continue;
        if (pw_result_is_loss(x))
            return true;
        sum += pw_result_mean(x, true);
        n++;
    }
    return n == 0 || !(sum / n < PW_STUDY_LEARNED);
}

void pw_results_judge(const struct pw_results *r, int task, int seeds, struct pw_judgement *out)
{
    int n = r->s->n_ask;
    double *d = pw_alloc((size_t)seeds + 1, sizeof *d);
    struct pw_evidence *e = pw_alloc((size_t)n + 1, sizeof *e);
    struct pw_decision *decisions = pw_alloc((size_t)n + 1, sizeof *decisions);
    for (int i = 0; i < n; i++) {
        struct pw_judgement *j = &out[i];
        *j = (struct pw_judgement){.a = r->s->ask[i].a, .b = r->s->ask[i].b};
        for (int k = 0; k < seeds; k++) {
            const struct pw_result *a = result_of(r, j->a, task, k), *b = result_of(r, j->b, task, k);
            d[k] = a != NULL && b != NULL ? pw_result_mean(a, false) - pw_result_mean(b, false) : NAN;
        }
        e[i] = pw_evidence_of(d, seeds);
        j->n = e[i].n;
        j->difference = r->s->seeds_min < r->s->seeds_max ? pw_interval_after_looks(d, seeds, n)
                                                          : pw_mean_interval(d, seeds);
        j->effect = pw_effect_size(d, seeds);
    }
    pw_decide(decisions, e, n, r->s->level);
    for (int i = 0; i < n; i++) {
        struct pw_judgement *j = &out[i];
        j->decision = decisions[i];
        j->judged = j->n == 0                                                          ? PW_JUDGED_NO_DATA
                    : !learned(r, j->a, task, seeds) || !learned(r, j->b, task, seeds) ? PW_JUDGED_UNLEARNED
                    : j->decision.side > 0                                             ? PW_JUDGED_FIRST
                    : j->decision.side < 0                                             ? PW_JUDGED_SECOND
                                                                                       : PW_JUDGED_OPEN;
    }
    free(d);
    free(e);
    free(decisions);
}

/* ---- the rule to stop */

/* Is the seed complete: does every wanted cell have an end? needs [arms] says which cells are wanted. */
static bool complete(const struct pw_results *r, int task, int seed, const bool *needs)
{
    for (int arm = 0; arm < r->s->n_arms; arm++) {
        enum pw_study_cell_state state = r->state[pw_results_at(r, arm, task, seed)];
        if (needs[arm] && state != PW_CELL_THERE && state != PW_CELL_BROKEN)
            return false;
    }
    return true;
}

/* Do the results of the first seeds use up the budget? Those of all tasks count. */
static bool spent(const struct pw_results *r, int seeds)
{
    int64_t steps = 0;
    double operations = 0.0, seconds = 0.0;
    for (int i = 0; i < r->n; i++)
        if (r->state[i] == PW_CELL_THERE && r->cells[i].seed < seeds) {
            steps += r->results[i].steps;
            operations += r->results[i].operations;
            seconds += r->results[i].seconds;
        }
    return (r->s->budget_steps > 0 && steps >= r->s->budget_steps) ||
           (r->s->budget_operations > 0.0 && operations >= r->s->budget_operations) ||
           (r->s->budget_s > 0.0 && seconds >= r->s->budget_s);
}

/* Which arms does seed number `seed` of a task need? All of the first seeds, then those with an open
 * comparison. Returns whether there is one. */
static bool needed(const struct pw_results *r, int task, int seed, struct pw_judgement *judged, bool *needs)
{
    bool any = false;
    for (int arm = 0; arm < r->s->n_arms; arm++)
        needs[arm] = seed < r->s->seeds_min;
    if (seed < r->s->seeds_min)
        return true;
    if (spent(r, seed))
        return false;
    pw_results_judge(r, task, seed, judged);
    for (int i = 0; i < r->s->n_ask; i++)
        if (judged[i].decision.side == 0)
            any = needs[judged[i].a] = needs[judged[i].b] = true;
    return any;
}

/* Calls each for the seeds of a task that have begun, until one is incomplete. Returns their number. */
static int walk(const struct pw_results *r, int task,
                void (*each)(void *arg, int task, int seed, const bool *needs), void *arg)
{
    struct pw_judgement *judged = pw_alloc((size_t)r->s->n_ask + 1, sizeof *judged);
    bool needs[PW_STUDY_ARMS], whole = true;
    int seed = 0;
    for (; seed < r->s->seeds_max && (whole || seed < r->s->seeds_min); seed++) {
        if (!needed(r, task, seed, judged, needs))
            break;
        if (each != NULL)
            each(arg, task, seed, needs);
        whole = whole && complete(r, task, seed, needs);
    }
    free(judged);
    return seed;
}

int pw_results_seeds(const struct pw_results *r, int task)
{
    return walk(r, task, NULL, NULL);
}

struct wanting {
    const struct pw_results *r;
    bool again;
    int *wanted;
    int n;
};

static void want(void *arg, int task, int seed, const bool *needs)
{
    struct wanting *w = arg;
    for (int arm = 0; arm < w->r->s->n_arms; arm++) {
        int i = pw_results_at(w->r, arm, task, seed);
        enum pw_study_cell_state state = w->r->state[i];
        if (needs[arm] && (state == PW_CELL_MISSING || (w->again && state == PW_CELL_BROKEN)))
            w->wanted[w->n++] = i;
    }
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int pw_results_wanted(const struct pw_results *r, bool again, int *wanted)
{
    struct wanting w = {.r = r, .again = again, .wanted = wanted};
    for (int task = 0; task < r->s->tasks.n; task++)
        walk(r, task, want, &w);
    qsort(wanted, (size_t)w.n, sizeof *wanted, by_number); /* cells are numbered by seed first */
    return w.n;
}
