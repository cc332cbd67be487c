/* slurm_int.h - private to the files that submit cells to Slurm: one run of the verb. */
#ifndef PW_STUDY_SLURM_INT_H
#define PW_STUDY_SLURM_INT_H
#include "study/slurm.h"

/* A submission in progress. */
struct pw_submitting {
    const char *folder;
    char place[PW_STUDY_PATH];   /* the folder, absolute */
    char program[PW_STUDY_PATH]; /* pewter, absolute */
    const struct pw_slurm_options *o;
    struct pw_slurm q;
    struct pw_study s;
    struct pw_results r;
    int *wanted, n_wanted; /* indices of the cells to submit */
    struct pw_str jobs;    /* ":JOB:JOB": arrays in the queue, then those that were submitted */
    FILE *out;
};

/* Run a program of the scheduler, at most a minute. each(arg, line) gets its output. Fails with its last
 * message. */
enum pw_code pw_slurm_program(const char *const *words, void (*each)(void *arg, const char *line), void *arg,
                              struct pw_err *err);
/* slurm_tries.c: take cells out of the wanted ones that were submitted PW_SLURM_TRIES times without progress.
 * They count as failed. */
enum pw_code pw_slurm_give_up(struct pw_submitting *x, struct pw_err *err);
/* Submit the wanted cells, and the job that follows them. A part that was submitted before a failure stays
 * submitted, and is followed, too. */
enum pw_code pw_slurm_submit(struct pw_submitting *x, struct pw_err *err);

#endif
