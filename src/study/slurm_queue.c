/* slurm_queue.c - the queue of the scheduler, and the state of cells that follows from it. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "study/child.h"
#include "study/slurm.h"

#define SECONDS 30 /* for squeue */

/* ---- lines of squeue */

/* States of jobs that have ended: squeue lists them for a short time. */
static const char *const gone[] = {"BOOT_FAIL", "CANCELLED",     "COMPLETED",     "DEADLINE",
                                   "FAILED",    "NODE_FAIL",     "PREEMPTED",     "REVOKED",
                                   "TIMEOUT",   "LAUNCH_FAILED", "OUT_OF_MEMORY", NULL};
/* States of jobs that have processes, or may have. */
static const char *const runs[] = {"RUNNING", "COMPLETING", "RESIZING", "SIGNALING",
                                   "STOPPED", "STAGE_OUT",  NULL};

static bool is_one_of(const char *const *names, const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static enum pw_slurm_state state_of(const char *name)
{
    return is_one_of(gone, name) ? PW_SLURM_GONE : is_one_of(runs, name) ? PW_SLURM_RUNS : PW_SLURM_WAITS;
}

/* Sets the state of the tasks of a list: "7", or "[1,4-9:2%2]" with a step and a limit of running tasks. */
static void set_tasks(struct pw_slurm_array *a, const char *list, enum pw_slurm_state state)
{
    const char *at = list + (list[0] == '[');
    long first, last, step;
    for (int n; sscanf(at, "%ld%n", &first, &n) == 1; at++) {
        at += n;
        last = first;
        step = 1;
        if (sscanf(at, "-%ld%n", &last, &n) == 1)
            at += n;
        if (sscanf(at, ":%ld%n", &step, &n) == 1)
            at += n;
        for (long task = first; task >= 1 && task <= last && task <= a->n && step > 0; task += step)
            a->states[task - 1] = state;
        if (*at != ',')
            return;
    }
}

static struct pw_slurm_array *find_array(const struct pw_slurm *q, const char *number)
{
    long n;
    if (pw_text_int(number, 1, 1000000000, &n))
        for (int i = 0; i < q->n; i++)
            if (q->arrays[i].number == n)
                return &q->arrays[i];
    return NULL;
}

/* Cuts the text at its next '|'. Returns the part before it. */
static char *cut_field(char **text)
{
    char *field = *text, *end = strchr(field, '|');
    *text = end != NULL ? end + 1 : field + strlen(field);
    if (end != NULL)
        *end = '\0';
    return field;
}

void pw_slurm_line(struct pw_slurm *q, const char *line)
{
    char copy[4096], *rest = copy; /* a long list of tasks is cut by squeue itself */
    size_t token = strlen(q->token);
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    char *job = cut_field(&rest), *name = cut_field(&rest), *state = cut_field(&rest);
    enum pw_slurm_state is = state_of(state);
    char *tasks = strchr(job, '_');
    long number = strtol(job, NULL, 10);
    if (number <= 0 || token == 0 || strncmp(name, q->token, token) != 0 || name[token] != '-' ||
        is == PW_SLURM_GONE)
        return;
    if (strcmp(name + token + 1, "next") == 0) {
        q->next = pw_grow(q->next, (size_t)q->n_next + 1, sizeof *q->next);
        q->next[q->n_next++] = number;
        q->next_waits = q->next_waits || is == PW_SLURM_WAITS;
        return;
    }
    struct pw_slurm_array *a = find_array(q, name + token + 1);
    if (a == NULL || tasks == NULL)
        return;
    a->job = number;
    a->ended = false; /* also if the scheduler restored an older state */
    set_tasks(a, tasks + 1, is);
    if (is == PW_SLURM_WAITS && strcmp(rest, "None") != 0)
        pw_text_copy(a->reason, sizeof a->reason, rest);
}

/* ---- asking */

static void take_line(void *arg, const char *line)
{
    pw_slurm_line(arg, line);
}

void pw_slurm_ask(struct pw_slurm *q, bool always)
{
    struct pw_str names = {0};
    struct pw_err err;
    char why[PW_CHILD_WHY] = "";
    int status, open = 0;
    pw_str_add(&names, "--name=%s-next", q->token);
    for (int i = 0; i < q->n; i++)
        if (!q->arrays[i].ended) {
            pw_str_add(&names, ",%s-%d", q->token, q->arrays[i].number);
            open++;
        }
    /* all states: a variable SQUEUE_STATES of the user must hide none */
    const char *const words[] = {"squeue", "--noheader", "--array", "--states=all", "--format=%i|%j|%T|%r",
                                 names.s,  NULL};
    if (q->n == 0 || (open == 0 && !always))
        q->asked = true;
    else if (pw_child_program(words, SECONDS, take_line, q, &status, why, &err) != PW_OK)
        pw_text_copy(q->silent, sizeof q->silent, err.msg);
    else if (status != 0)
        snprintf(q->silent, sizeof q->silent, "squeue: %.240s", why[0] != '\0' ? why : "no answer in time");
    else
        q->asked = true;
    for (int i = 0; i < q->n && !q->asked; i++)
        for (int task = 0; q->arrays[i].job > 0 && !q->arrays[i].ended && task < q->arrays[i].n; task++)
            q->arrays[i].states[task] = PW_SLURM_WAITS;
    pw_str_fini(&names);
}

/* ---- cells */

static int by_name(const void *a, const void *b)
{
    const struct pw_study_cell *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Changes the state of the cells of a task. A task computes its cells one after the other, so the first that
 * has no end is the one that runs, also where the lock of another machine is not visible. */
static void mark_task(struct pw_results *r, const struct pw_study_cell **sorted, const char *names,
                      enum pw_slurm_state state)
{
    struct pw_study_cell key;
    const struct pw_study_cell *wanted = &key;
    int64_t step;
    while ((names = pw_slurm_next_cell(names, key.id, &step)) != NULL) {
        const struct pw_study_cell **found = bsearch(&wanted, sorted, (size_t)r->n, sizeof *sorted, by_name);
        enum pw_study_cell_state *cell = found != NULL ? &r->state[*found - r->cells] : NULL;
        if (cell == NULL || *cell == PW_CELL_THERE || *cell == PW_CELL_BROKEN)
            continue;
        if (*cell == PW_CELL_MISSING) {
            *cell = state == PW_SLURM_RUNS ? PW_CELL_RUNS : PW_CELL_QUEUED;
            r->running += *cell == PW_CELL_RUNS;
            r->queued += *cell == PW_CELL_QUEUED;
        }
        state = PW_SLURM_WAITS;
    }
}

void pw_slurm_mark(const struct pw_slurm *q, struct pw_results *r)
{
    const struct pw_study_cell **sorted = pw_alloc((size_t)r->n, sizeof *sorted);
    for (int i = 0; i < r->n; i++)
        sorted[i] = &r->cells[i];
    qsort(sorted, (size_t)r->n, sizeof *sorted, by_name);
    for (int i = 0; i < q->n; i++)
        for (int task = 0; task < q->arrays[i].n; task++)
            if (q->arrays[i].states[task] != PW_SLURM_GONE)
                mark_task(r, sorted, q->arrays[i].cells[task], q->arrays[i].states[task]);
    free(sorted);
}

/* ---- printing */

bool pw_slurm_print(FILE *out, const struct pw_slurm *q)
{
    bool any = q->n_next > 0;
    if (q->silent[0] != '\0')
        fprintf(out, "jobs as recorded: %s\n", q->silent);
    for (int i = 0; i < q->n; i++) {
        const struct pw_slurm_array *a = &q->arrays[i];
        int waits = 0, running = 0;
        for (int task = 0; task < a->n; task++) {
            waits += a->states[task] == PW_SLURM_WAITS;
            running += a->states[task] == PW_SLURM_RUNS;
        }
        if (waits + running == 0)
            continue;
        any = true;
        if (q->asked)
            fprintf(out, "job %ld: %d tasks run, %d wait", a->job, running, waits);
        else
            fprintf(out, "job %ld: %d tasks", a->job, a->n);
        fprintf(out, waits > 0 && a->reason[0] != '\0' ? " (%s)\n" : "\n", a->reason);
    }
    for (int i = 0; i < q->n_next; i++)
        fprintf(out, "job %ld: continues the study when its jobs have ended\n", q->next[i]);
    return any;
}
