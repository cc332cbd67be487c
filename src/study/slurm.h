/* slurm.h - cells on a cluster: arrays of jobs by Slurm, which distributes, limits and restarts them.
 *
 * No process of pewter waits for the cluster. `study run NAME on=slurm` submits the cells that are wanted and
 * not in the queue, and a small job that depends on them and runs the same command again. A cell that a node
 * lost, a cell beyond its time limit and a further seed are all of them cells that are wanted the next time.
 *
 * The folder of the study gets
 *
 *   slurm/jobs        the submissions: written as a whole, by the process that holds slurm/lock
 *   slurm/N.cells     submission N: a line for each task of the array, with the names of its cells; "ID@300"
 *                     stands at step 300, from a submission before
 *   slurm/N.sh        its script, which calls `pewter study cell`
 *   slurm/N.next.sh   the script of the job that follows it
 *   slurm/N.log       the output of both
 *
 * Whether a task waits or runs is never recorded: squeue reports it, by the name of the job, which has the
 * study's token and N. So a submission whose answer was lost is found again, and one that the scheduler lost
 * is recognised by its absence.
 *
 * Functions fail with PW_EUSER or PW_EIO. Any thread; a struct belongs to one thread at a time. */
#ifndef PW_STUDY_SLURM_H
#define PW_STUDY_SLURM_H
#include <stdio.h>

#include "study/place.h"
#include "study/results.h"

#define PW_SLURM_TRIES 10 /* submissions of a cell without progress after which it is given up */
#define PW_SLURM_TOKEN 40

/* The options of `study run NAME on=slurm`. */
struct pw_slurm_options {
    const char *partition, *account, *time; /* NULL: the cluster's defaults */
    int gpus, threads, cells;               /* of a task; 0: no device, one thread, one cell */
    bool follows;                           /* the job that follows an array calls */
};

/* A task of an array. */
enum pw_slurm_state {
    PW_SLURM_GONE, /* not in the queue: it ended, or was never there */
    PW_SLURM_WAITS,
    PW_SLURM_RUNS
};

/* A submission: one array of jobs. */
struct pw_slurm_array {
    int number;                  /* N of its files */
    long job;                    /* its number at the scheduler; 0: not recorded */
    bool ended;                  /* it has left the queue */
    int n;                       /* tasks */
    char **cells;                /* [n] names of cells as in N.cells, separated by blanks */
    enum pw_slurm_state *states; /* [n] by squeue */
    char reason[64];             /* why tasks wait */
};

struct pw_slurm {
    char token[PW_SLURM_TOKEN];    /* part of the jobs' names; "": nothing was submitted yet */
    int since;                     /* the first submission since a user ran the study */
    bool stopped;                  /* by `study stop`: following jobs submit nothing */
    int n;                         /* submissions */
    struct pw_slurm_array *arrays; /* [n], ascending numbers */
    int n_next;                    /* following jobs in the queue */
    long *next;                    /* [n_next] */
    bool next_waits;               /* one of them has not begun */
    bool asked;                    /* squeue has answered */
    char silent[256];              /* why it did not */
};

/* ---- slurm_record.c: the files */

/* Read slurm/jobs, and the cells of submissions that are open or count for PW_SLURM_TRIES. A study without
 * submissions gives an empty *q. On failure *q is empty. pw_slurm_fini frees the members. */
enum pw_code pw_slurm_read(struct pw_slurm *q, const char *folder, struct pw_err *err);
enum pw_code pw_slurm_write(const struct pw_slurm *q, const char *folder, struct pw_err *err);
void pw_slurm_fini(struct pw_slurm *q);
/* Add a submission of n tasks, and write its N.cells. cells [n] are copied. */
enum pw_code pw_slurm_add(struct pw_slurm *q, const char *folder, int n, char **cells, struct pw_err *err);
/* Take the first cell of a line of N.cells. Returns the rest of the line; NULL: there is no cell. */
const char *pw_slurm_next_cell(const char *line, char id[PW_STUDY_ID], int64_t *step);
/* Append the path of a file, such as "jobs" or "3.cells". */
void pw_slurm_path(struct pw_str *out, const char *folder, const char *file);
/* Wait for slurm/lock, at most two minutes. Returns a descriptor that the caller closes; -1: failed. */
int pw_slurm_lock(const char *folder, struct pw_err *err);

/* ---- slurm_queue.c: the queue */

/* Take a line of squeue, "JOB|NAME|STATE|REASON". Jobs of other names are ignored, unknown states wait. */
void pw_slurm_line(struct pw_slurm *q, const char *line);
/* Fill the states by squeue. If it fails, tasks of open submissions wait, as recorded, and q->silent has the
 * reason. A study without open submissions needs no squeue, unless `always`. */
void pw_slurm_ask(struct pw_slurm *q, bool always);
/* Change the state of missing cells that are in the queue to PW_CELL_QUEUED or PW_CELL_RUNS, and the counts
 * of r. Ask before reading the results: a cell that ends in between is then there, not missing. */
void pw_slurm_mark(const struct pw_slurm *q, struct pw_results *r);
/* Print a line for each job in the queue. Returns whether there is one. */
bool pw_slurm_print(FILE *out, const struct pw_slurm *q);

/* ---- slurm_ended.c: print how tasks ended that have no result, by sacct; nothing where it has no database.
 */
void pw_slurm_print_ended(FILE *out, const struct pw_slurm *q);

/* ---- slurm_script.c: the scripts. program: absolute path of pewter. */
void pw_slurm_cells_script(struct pw_str *out, const char *program, const char *folder, int number,
                           const struct pw_slurm_options *o);
void pw_slurm_next_script(struct pw_str *out, const char *program, const char *folder,
                          const struct pw_slurm_options *o);

/* ---- slurm.c, slurm_submit.c: the verbs */

/* Submit the cells that are wanted and neither run nor wait. Prints lines to out. If the scheduler refuses a
 * part, the rest stays submitted. */
enum pw_code pw_slurm_run(const char *folder, const struct pw_slurm_options *o, FILE *out,
                          struct pw_err *err);
/* Cancel all jobs of the study. Cells keep their checkpoints. Submissions are forgotten only if scancel
 * succeeded. Does nothing for a study without submissions. */
enum pw_code pw_slurm_stop(const char *folder, FILE *out, struct pw_err *err);

#endif
