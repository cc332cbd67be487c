/* slurm_tries.c - gives up cells that are submitted again and again and come no further.
 *
 * A cell that is longer than its limit of time needs many submissions, and each of them continues from the
 * last checkpoint. So a submission counts only if the cell then stood at the step at which it stands now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "study/run.h"
#include "study/slurm_int.h"

/* A wanted cell. */
struct tried {
    char id[PW_STUDY_ID];
    int cell;     /* index in the results */
    int n;        /* submissions since a user ran the study */
    int in_vain;  /* those at `step` */
    int64_t step; /* at which it stands; -1: not read, because n is small */
};

static int by_id(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;
    return strcmp(x->id, y->id);
}

/* Counts the submissions of cells whose step is not known, or those at the known step. */
static void count_submissions(struct tried *tried, int n, const struct pw_slurm *q)
{
    struct tried key;
    int64_t step;
    for (int i = 0; i < q->n; i++) {
        const struct pw_slurm_array *a = &q->arrays[i];
        for (int task = 0; a->number >= q->since && a->job > 0 && task < a->n; task++)
            for (const char *at = a->cells[task]; (at = pw_slurm_next_cell(at, key.id, &step)) != NULL;) {
                struct tried *x = bsearch(&key, tried, (size_t)n, sizeof *tried, by_id);
                if (x != NULL && x->step < 0)
                    x->n++;
                else if (x != NULL)
                    x->in_vain += x->step == step;
            }
    }
}

static enum pw_code give_up_cell(struct pw_submitting *x, const struct tried *t, struct pw_err *err)
{
    struct pw_str path = {0}, why = {0};
    pw_str_add(&why,
               "%d submissions ended without a result, and without a checkpoint after step %lld: a limit of "
               "time or memory is too low, or its node fails; 'study run' submits it again\n",
               t->in_vain, (long long)t->step);
    pw_study_cell_path(&path, x->folder, t->id, ".txt");
    enum pw_code code = pw_file_replace(path.s, why.s, why.len, err);
    x->r.state[t->cell] = PW_CELL_BROKEN;
    x->r.broken++;
    pw_str_fini(&path);
    pw_str_fini(&why);
    return code;
}

enum pw_code pw_slurm_give_up(struct pw_submitting *x, struct pw_err *err)
{
    struct tried *tried = pw_alloc((size_t)x->n_wanted + 1, sizeof *tried);
    enum pw_code code = PW_OK;
    int n = 0;
    for (int i = 0; i < x->n_wanted; i++) {
        tried[i] = (struct tried){.cell = x->wanted[i], .step = -1};
        pw_text_copy(tried[i].id, sizeof tried[i].id, x->r.cells[x->wanted[i]].id);
    }
    qsort(tried, (size_t)x->n_wanted, sizeof *tried, by_id);
    count_submissions(tried, x->n_wanted, &x->q);
    for (int i = 0; i < x->n_wanted; i++)
        if (tried[i].n >= PW_SLURM_TRIES)
            tried[i].step = pw_study_cell_step(x->folder, tried[i].id);
    count_submissions(tried, x->n_wanted, &x->q);
    for (int i = 0; i < x->n_wanted && code == PW_OK; i++)
        if (tried[i].in_vain >= PW_SLURM_TRIES)
            code = give_up_cell(x, &tried[i], err);
    for (int i = 0; i < x->n_wanted; i++) /* in their order */
        if (x->r.state[x->wanted[i]] != PW_CELL_BROKEN)
            x->wanted[n++] = x->wanted[i];
    x->n_wanted = n;
    free(tried);
    return code;
}
