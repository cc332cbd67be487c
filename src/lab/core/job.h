/* job.h - jobs: work that runs in slices between typed lines and can be cancelled. Lab thread.
 *
 * A running job is one struct in its place of lab->jobs. The loop runs the slices, and whoever cancels jobs
 * says what changes, not which job: a job is cancelled by a change of what it reads. The order of the places
 * is the order of precedence, and of the events if several jobs are cancelled; recorded sessions have it. */
#ifndef PW_JOB_H
#define PW_JOB_H
#include "base/err.h"
#include "sessions/event.h"
#include <stdbool.h>
#include <stdint.h>

struct pw_lab;

enum pw_job_place {
    PW_JOB_ABLATE,
    PW_JOB_EVAL,
    PW_JOB_PATCH,
    PW_JOB_PROBE,
    PW_JOB_ACTIVATIONS,
    PW_JOB_DATA,
    PW_JOBS
};

/* What changes, and what a job reads, as bits. */
enum pw_change {
    PW_CHANGE_ARMS = 1 << 0,   /* which arms there are */
    PW_CHANGE_MODELS = 1 << 1, /* models are replaced or freed */
    PW_CHANGE_SHAPE = 1 << 2,  /* an arm's models have another shape */
    PW_CHANGE_HEADS = 1 << 3,  /* heads are ablated or restored */
    PW_CHANGE_TUNED = 1 << 4,  /* other options or parameters of the encoding, in the same models */
    PW_CHANGE_WEIGHTS = PW_CHANGE_HEADS | PW_CHANGE_TUNED, /* the models stay, and compute something else */
    PW_CHANGE_TASK = 1 << 5,
    PW_CHANGE_SEED = 1 << 6,    /* of the samples */
    PW_CHANGE_BACKEND = 1 << 7, /* all models move to another backend, with their bits */
    PW_CHANGE_CURRENT = 1 << 8, /* another arm is the current one */
    PW_CHANGE_ANY = (1 << 9) - 1
};

struct pw_job {
    const char *name;   /* as `cancel` has it; NULL: no job is in this place */
    char title[64];     /* in its events; "": name */
    char cancelled[64]; /* what a note says was cancelled */
    unsigned reads;     /* enum pw_change */
    bool live;          /* started for a viewer, not by a command: no events, and `cancel` does not see it */
    void *state;        /* of the job; the table frees it with free_state */
    void (*free_state)(void *state);
    int64_t (*progress)(const void *state, int64_t *total);
    void (*slice)(struct pw_lab *lab); /* takes at most 50 ms */
};

/* Start a job, in place of a running one of the same kind. Takes ownership of job->state. */
void pw_job_begin(struct pw_lab *lab, enum pw_job_place place, const struct pw_job *job);
void *pw_job_state(const struct pw_lab *lab, enum pw_job_place place); /* NULL: it is not running */
/* For the job's slice: emit the progress; or end the job after its last event, or by a failure. */
void pw_job_tell(struct pw_lab *lab, enum pw_job_place place, enum pw_job_state state);
void pw_job_end(struct pw_lab *lab, enum pw_job_place place);
void pw_job_fail(struct pw_lab *lab, enum pw_job_place place, const struct pw_err *err);

void pw_job_cancel(struct pw_lab *lab, enum pw_job_place place); /* a no-op if it is not running */
/* Cancel every job that reads one of these. Returns whether a live one was among them. */
bool pw_jobs_cancel(struct pw_lab *lab, unsigned changes);

/* The job whose slice is next; NULL: none. */
const struct pw_job *pw_job_next(const struct pw_lab *lab);
const char *pw_lab_job(const struct pw_lab *lab); /* name of the job that a command started; NULL: none */

#endif
