/* work.c - the lab's work when no line waits: the next part of an answer, a job's slice, a training step. */
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "lab/loop/loop.h"
#include "lab/train/train.h"

bool pw_lab_quits(struct pw_lab *lab)
{
    pthread_mutex_lock(&lab->lock);
    bool quit = lab->quit;
    pthread_mutex_unlock(&lab->lock);
    return quit;
}

static bool may_train(const struct pw_lab *lab)
{
    return pw_lab_training(lab) && (!lab->paused || lab->allowed > 0);
}

bool pw_lab_busy(const struct pw_lab *lab)
{
    return pw_lab_answering(lab) || pw_job_next(lab) != NULL;
}

bool pw_lab_slice(struct pw_lab *lab)
{
    if (!pw_lab_busy(lab))
        return false;
    pw_lab_drain(lab);
    if (pw_lab_answering(lab))
        pw_lab_answer_slice(lab);
    else
        pw_job_next(lab)->slice(lab);
    return true;
}

static bool train(struct pw_lab *lab)
{
    if (!may_train(lab))
        return false;
    pw_lab_train_step(lab);
    return true;
}

bool pw_lab_work(struct pw_lab *lab)
{
    return pw_lab_slice(lab) || train(lab);
}

bool pw_lab_work_beside(struct pw_lab *lab)
{
    const struct pw_job *job = pw_job_next(lab);
    if (job == NULL)
        return train(lab);
    pw_lab_drain(lab);
    job->slice(lab);
    return true;
}
