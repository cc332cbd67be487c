/* slurm_ended.c - why tasks left the queue without a result, from the accounting of the scheduler where there
 * is one. Many clusters have none, so every failure here is silent. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/child.h"
#include "study/slurm.h"

#define SECONDS 30 /* for sacct */
#define STATES  8  /* that are counted for a submission */
#define JOBS    20 /* the newest submissions that are looked up */

/* Tasks of a submission by the state in which they ended. */
struct pw_slurm_ended {
    long job;
    int n;
    char names[STATES][24];
    int counts[STATES];
};

struct lookup {
    int n;
    struct pw_slurm_ended jobs[JOBS];
};

static void count_state(struct pw_slurm_ended *e, const char *name)
{
    int k = 0;
    while (k < e->n && strcmp(e->names[k], name) != 0)
        k++;
    if (k == STATES)
        return;
    if (k == e->n)
        pw_text_copy(e->names[e->n++], sizeof e->names[0], name);
    e->counts[k]++;
}

/* A line of sacct, "123_4|TIMEOUT" or "123_5|CANCELLED by 0". */
static void take_line(void *arg, const char *line)
{
    static const char *const usual[] = {"COMPLETED", "PENDING", "RUNNING", "COMPLETING", NULL};
    struct lookup *x = arg;
    char name[24];
    long job;
    if (sscanf(line, "%ld_%*[0-9]|%23[A-Z_]", &job, name) != 2)
        return;
    for (int i = 0; usual[i] != NULL; i++)
        if (strcmp(usual[i], name) == 0)
            return;
    for (int i = 0; i < x->n; i++)
        if (x->jobs[i].job == job)
            count_state(&x->jobs[i], name);
}

void pw_slurm_print_ended(FILE *out, const struct pw_slurm *q)
{
    struct lookup x = {0};
    struct pw_str list = {0};
    char why[PW_CHILD_WHY];
    struct pw_err err;
    int status;
    for (int i = q->n - 1; i >= 0 && x.n < JOBS && q->arrays[i].number >= q->since; i--)
        if (q->arrays[i].job > 0) {
            pw_str_add(&list, "%s%ld", x.n > 0 ? "," : "--jobs=", q->arrays[i].job);
            x.jobs[x.n++].job = q->arrays[i].job;
        }
    const char *const words[] = {"sacct", "--noheader",           "--parsable2", "--allocations",
                                 list.s,  "--format=JobID,State", NULL};
    if (x.n > 0 && pw_child_program(words, SECONDS, take_line, &x, &status, why, &err) == PW_OK)
        for (int i = x.n - 1; i >= 0; i--)
            for (int k = 0; k < x.jobs[i].n; k++)
                fprintf(out, "job %ld: %d tasks ended with %s\n", x.jobs[i].job, x.jobs[i].counts[k],
                        x.jobs[i].names[k]);
    pw_str_fini(&list);
}
