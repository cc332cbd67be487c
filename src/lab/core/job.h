/* job.h - jobs: work that the lab does in slices between typed lines, and that can be cancelled. Lab thread.
 *
 * lab->jobs has one place for each kind of job, so at most one job of a kind is running. The loop runs the
 * slices. Code that changes the lab does not know the jobs: it announces the change (pw_lab_changes in
 * notice.h), which cancels every job that reads the changed state. The order of the places is the order in
 * which jobs get slices, and the order of their events if one change cancels several. Recorded sessions
 * depend on that order. */
#ifndef PW_JOB_H
#define PW_JOB_H
#include "base/err.h"
#include "sessions/event.h"
#include <stdbool.h>
#include <stdint.h>

struct pw_lab;

/* The kinds of jobs, in order of precedence. */
enum pw_job_place {
    PW_JOB_ABLATE,
    PW_JOB_EVAL,
    PW_JOB_PATCH,
    PW_JOB_PROBE,
    PW_JOB_ACTIVATIONS,
    PW_JOB_DATA,
    PW_JOBS
};

/* Parts of the lab's state, as bits: those that a change affects, and those that a job reads. */
enum pw_change {
    PW_CHANGE_ARMS = 1 << 0,   /* which arms there are */
    PW_CHANGE_MODELS = 1 << 1, /* models are replaced or freed */
    PW_CHANGE_SHAPE = 1 << 2,  /* an arm's models have another shape */
    PW_CHANGE_HEADS = 1 << 3,  /* heads are ablated or restored */
    PW_CHANGE_TUNED = 1 << 4,  /* the encoding has other options or parameters, in the same models */
    PW_CHANGE_BITS = 1 << 9,   /* the models compute in another arithmetic: pw_lab_arithmetic */
    /* the models stay, but their results change */
    PW_CHANGE_RESULTS = PW_CHANGE_HEADS | PW_CHANGE_TUNED | PW_CHANGE_BITS,
    PW_CHANGE_TASK = 1 << 5,
    PW_CHANGE_SEED = 1 << 6,    /* seed of the samples */
    PW_CHANGE_BACKEND = 1 << 7, /* all models move to another backend, with their bits */
    PW_CHANGE_CURRENT = 1 << 8, /* another arm is the current one */
    PW_CHANGE_ANY = (1 << 10) - 1
};

/* A job. The kind fills it and passes it to pw_job_begin. */
struct pw_job {
    const char *name;   /* name for the command `cancel`; NULL: no job is in this place */
    char title[64];     /* in its events; "": name */
    char cancelled[64]; /* text of the note "cancelled: ..." */
    unsigned reads;     /* bits of enum pw_change */
    bool live;          /* started for a viewer, not by a command: no events, and `cancel` does not see it */
    void *state;        /* the kind's own state, owned by the job table, which frees it with free_state */
    void (*free_state)(void *state);
    /* Returns the units done, and sets *total. */
    int64_t (*progress)(const void *state, int64_t *total);
    void (*slice)(struct pw_lab *lab); /* runs one slice, of at most 50 ms */
};

/* Start a job; cancels a running one of the same kind. Takes ownership of job->state. Emits the first
 * progress. */
void pw_job_begin(struct pw_lab *lab, enum pw_job_place place, const struct pw_job *job);
/* Return the state of the running job; NULL: it is not running. */
void *pw_job_state(const struct pw_lab *lab, enum pw_job_place place);
/* For a job's own slice. pw_job_tell emits its progress, pw_job_end ends it after its last event, and
 * pw_job_fail ends it with an error event. Listeners are informed of an end. */
void pw_job_tell(struct pw_lab *lab, enum pw_job_place place, enum pw_job_state state);
void pw_job_end(struct pw_lab *lab, enum pw_job_place place);
void pw_job_fail(struct pw_lab *lab, enum pw_job_place place, const struct pw_err *err);

void pw_job_cancel(struct pw_lab *lab, enum pw_job_place place); /* a no-op if it is not running */
/* Cancel every job that reads part of this state (bits of enum pw_change). Returns true if one of them was
 * live. */
bool pw_jobs_cancel(struct pw_lab *lab, unsigned changes);

/* Return the job whose slice is next, the first in order of places; NULL: no job is running. */
const struct pw_job *pw_job_next(const struct pw_lab *lab);
/* Return the name of the first job that a command started; NULL: none. */
const char *pw_lab_job(const struct pw_lab *lab);

#endif
