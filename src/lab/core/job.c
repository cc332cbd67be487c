/* job.c - the table of running jobs. */
#include "lab/core/job.h"

#include <string.h>

#include "lab/core/lab_int.h"

void pw_job_tell(struct pw_lab *lab, enum pw_job_place place, enum pw_job_state state)
{
    const struct pw_job *job = &lab->jobs[place];
    int64_t total, done;
    if (job->live)
        return;
    done = job->progress(job->state, &total);
    pw_lab_emit_job(lab, job->title[0] != '\0' ? job->title : job->name, state, done, total);
}

static void free_job(struct pw_job *job)
{
    struct pw_job ended = *job;
    *job = (struct pw_job){.name = NULL};
    ended.free_state(ended.state);
}

static void cancel(struct pw_lab *lab, enum pw_job_place place)
{
    struct pw_job *job = &lab->jobs[place];
    if (job->name == NULL)
        return;
    pw_job_tell(lab, place, PW_JOB_CANCELLED);
    if (!job->live)
        pw_lab_note(lab, "cancelled: %s", job->cancelled);
    free_job(job);
}

static void tell_ended(struct pw_lab *lab, enum pw_job_place place, bool cancelled)
{
    for (const struct pw_listener *const *l = lab->listeners; *l != NULL; l++)
        if ((*l)->job_ended != NULL)
            (*l)->job_ended(lab, place, cancelled);
}

void pw_job_begin(struct pw_lab *lab, enum pw_job_place place, const struct pw_job *job)
{
    cancel(lab, place);
    lab->jobs[place] = *job;
    pw_job_tell(lab, place, PW_JOB_RUNNING);
}

void *pw_job_state(const struct pw_lab *lab, enum pw_job_place place)
{
    return lab->jobs[place].state;
}

void pw_job_end(struct pw_lab *lab, enum pw_job_place place)
{
    free_job(&lab->jobs[place]);
    tell_ended(lab, place, false);
}

void pw_job_fail(struct pw_lab *lab, enum pw_job_place place, const struct pw_err *err)
{
    pw_job_tell(lab, place, PW_JOB_CANCELLED);
    pw_lab_trouble(lab, err);
    pw_job_end(lab, place);
}

void pw_job_cancel(struct pw_lab *lab, enum pw_job_place place)
{
    if (lab->jobs[place].name == NULL)
        return;
    cancel(lab, place);
    tell_ended(lab, place, true);
}

bool pw_jobs_cancel(struct pw_lab *lab, unsigned changes)
{
    bool live = false;
    for (int i = 0; i < PW_JOBS; i++)
        if ((lab->jobs[i].reads & changes) != 0) {
            live = live || lab->jobs[i].live;
            pw_job_cancel(lab, i);
        }
    return live;
}

const struct pw_job *pw_job_next(const struct pw_lab *lab)
{
    for (int i = 0; i < PW_JOBS; i++)
        if (lab->jobs[i].name != NULL)
            return &lab->jobs[i];
    return NULL;
}

/* The job of this name, or with NULL the first one, that a command started; PW_JOBS: none. */
static enum pw_job_place find(const struct pw_lab *lab, const char *name)
{
    enum pw_job_place i = 0;
    while (i < PW_JOBS && (lab->jobs[i].name == NULL || lab->jobs[i].live ||
                           (name != NULL && strcmp(lab->jobs[i].name, name) != 0)))
        i++;
    return i;
}

const char *pw_lab_job(const struct pw_lab *lab)
{
    enum pw_job_place place = find(lab, NULL);
    return place < PW_JOBS ? lab->jobs[place].name : NULL;
}

bool pw_lab_cancel(struct pw_lab *lab, const char *name)
{
    enum pw_job_place place = find(lab, name);
    if (place < PW_JOBS)
        pw_job_cancel(lab, place);
    return place < PW_JOBS;
}
