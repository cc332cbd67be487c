/* disk.c - two lists under one lock: jobs to do, and jobs that are done with their results. */
#include "ui/disk.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"

struct job {
    struct pw_disk_job j;
    enum pw_code code;
    struct pw_err err;
    struct job *next;
};

struct pw_disk {
    pthread_t thread;
    bool runs, ends;
    pthread_mutex_t lock;
    pthread_cond_t more, idle;
    struct job *todo; /* the first one is being done */
    struct job *done;
    int fd;
};

static void append(struct job **list, struct job *job)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = job;
}

void pw_disk_job_fini(struct pw_disk_job *j)
{
    for (int i = 0; i < PW_DISK_FILES; i++) {
        free(j->file[i].path);
        pw_str_fini(&j->file[i].text);
    }
    pw_str_fini(&j->said);
    if (j->free != NULL)
        j->free(j->arg);
    memset(j, 0, sizeof *j);
}

enum pw_code pw_disk_do(struct pw_disk_job *j, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    if (j->work != NULL)
        return j->work(j->arg, &j->said, err);
    for (int i = 0; i < j->n && code == PW_OK; i++) {
        if (j->folders)
            code = pw_folder_make_above(j->file[i].path, err);
        if (code == PW_OK)
            code = pw_file_replace(j->file[i].path, pw_str_text(&j->file[i].text), j->file[i].text.len, err);
    }
    const struct pw_str *line = &j->file[0].text;
    if (j->n == 0 && write(j->append_to, line->s, line->len) != (ssize_t)line->len)
        code = pw_fail(err, PW_EIO, "history: a line was not written");
    return code;
}

static void notify(const struct pw_disk *d)
{
    const uint64_t one = 1;
    ssize_t n = write(d->fd, &one, sizeof one);
    (void)n; /* fails only if the reader is notified already */
}

static void *run(void *arg)
{
    struct pw_disk *d = arg;
    pthread_mutex_lock(&d->lock);
    while (d->todo != NULL || !d->ends) {
        struct job *job = d->todo;
        if (job == NULL) {
            pthread_cond_wait(&d->more, &d->lock);
            continue;
        }
        pthread_mutex_unlock(&d->lock);
        job->code = pw_disk_do(&job->j, &job->err);
        pthread_mutex_lock(&d->lock);
        d->todo = job->next;
        job->next = NULL;
        append(&d->done, job);
        if (d->todo == NULL)
            pthread_cond_broadcast(&d->idle);
        notify(d);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

struct pw_disk *pw_disk_open(void)
{
    struct pw_disk *d = pw_alloc(1, sizeof *d);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->more, NULL);
    pthread_cond_init(&d->idle, NULL);
    d->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return d;
}

void pw_disk_close(struct pw_disk *d)
{
    if (d == NULL)
        return;
    pthread_mutex_lock(&d->lock);
    d->ends = true;
    pthread_cond_signal(&d->more);
    pthread_mutex_unlock(&d->lock);
    if (d->runs)
        pthread_join(d->thread, NULL);
    for (struct job *job; (job = d->done) != NULL;) {
        d->done = job->next;
        pw_disk_job_fini(&job->j);
        free(job);
    }
    if (d->fd >= 0)
        close(d->fd);
    pthread_cond_destroy(&d->idle);
    pthread_cond_destroy(&d->more);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

int pw_disk_fd(const struct pw_disk *d)
{
    return d->fd;
}

void pw_disk_add(struct pw_disk_job *job, const char *path, struct pw_str *text)
{
    job->file[job->n].path = pw_text_dup(path);
    job->file[job->n++].text = *text;
    *text = (struct pw_str){0};
}

void pw_disk_hand(struct pw_disk *d, struct pw_disk_job *j)
{
    struct job *job = pw_alloc(1, sizeof *job);
    job->j = *j;
    memset(j, 0, sizeof *j);
    if (!d->runs) {
        sigset_t all, old;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &old);
        d->runs = pthread_create(&d->thread, NULL, run, d) == 0;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    if (!d->runs) /* no thread is left: do it here */
        job->code = pw_disk_do(&job->j, &job->err);
    pthread_mutex_lock(&d->lock);
    append(d->runs ? &d->todo : &d->done, job);
    if (!d->runs)
        notify(d);
    pthread_cond_signal(&d->more);
    pthread_mutex_unlock(&d->lock);
}

bool pw_disk_busy(struct pw_disk *d)
{
    if (d == NULL)
        return false;
    pthread_mutex_lock(&d->lock);
    bool busy = d->todo != NULL || d->done != NULL;
    pthread_mutex_unlock(&d->lock);
    return busy;
}

bool pw_disk_result(struct pw_disk *d, struct pw_disk_job *out, enum pw_code *code, struct pw_err *err)
{
    uint64_t n;
    ssize_t got = read(d->fd, &n, sizeof n);
    (void)got; /* nothing to read: the list decides */
    pthread_mutex_lock(&d->lock);
    struct job *job = d->done;
    if (job != NULL)
        d->done = job->next;
    pthread_mutex_unlock(&d->lock);
    if (job == NULL)
        return false;
    *out = job->j;
    *code = job->code;
    *err = job->err;
    free(job);
    return true;
}

void pw_disk_wait(struct pw_disk *d)
{
    pthread_mutex_lock(&d->lock);
    while (d->todo != NULL)
        pthread_cond_wait(&d->idle, &d->lock);
    pthread_mutex_unlock(&d->lock);
}
