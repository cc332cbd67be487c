/* run.c - computes all cells of a study on this machine, in child processes. */
#include "study/run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

#define TRIES 3 /* of a cell that is killed from outside, for example for its memory */

/* A child. */
struct job {
    pid_t pid; /* 0: free */
    int cell;
};

struct running {
    const char *folder;
    const struct pw_study_run *how;
    const struct pw_study *s;
    struct pw_results results;
    struct job jobs[PW_STUDY_JOBS];
    int n_jobs, threads, busy, failed;
    int *wanted;
    int *tries; /* [cells]: often it was interrupted; TRIES: given up */
    int lock;
};

static void choose_jobs(struct running *x)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cores = cores < 1 ? 1 : cores;
    x->n_jobs = x->how->jobs > 0 ? x->how->jobs : (int)cores;
    x->n_jobs = x->n_jobs > PW_STUDY_JOBS ? PW_STUDY_JOBS : x->n_jobs;
    x->threads = x->how->threads > 0 ? x->how->threads : (int)(cores / x->n_jobs > 0 ? cores / x->n_jobs : 1);
}

/* The child of a job. Its own child, pewter, lowers its priority itself (base/pool.h). */
_Noreturn static void compute(struct running *x, int cell, const sigset_t *mask, pid_t parent)
{
    struct pw_err err;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, mask, NULL);
    close(x->lock); /* it must not outlive the parent */
    if (getppid() != parent)
        _exit(PW_CELL_INTERRUPTED);
    _exit((int)pw_study_cell_run(x->folder, x->s, &x->results.cells[cell], x->threads, "cpu", &err));
}

static void start(struct running *x, int cell, const sigset_t *mask)
{
    struct job *job = x->jobs;
    while (job->pid != 0)
        job++;
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        compute(x, cell, mask, parent);
    if (pid < 0)
        return; /* it is wanted again at the next turn */
    *job = (struct job){.pid = pid, .cell = cell};
    x->busy++;
}

static bool runs(const struct running *x, int cell)
{
    for (int i = 0; i < x->n_jobs; i++)
        if (x->jobs[i].pid != 0 && x->jobs[i].cell == cell)
            return true;
    return false;
}

static void print_end(struct running *x, int cell, enum pw_study_cell_end end)
{
    const struct pw_study_cell *c = &x->results.cells[cell];
    const struct pw_result *r = &x->results.results[cell];
    if (x->how->out == NULL)
        return;
    fprintf(x->how->out, "%d of %d  %s  %s  seed %d  ", x->results.there, x->results.n, x->s->arms[c->arm],
            x->s->tasks.items[c->task], x->s->first + c->seed);
    if (end == PW_CELL_DONE && x->results.state[cell] == PW_CELL_THERE)
        fprintf(x->how->out,
                pw_result_is_loss(r) ? "loss in range %.3f, beyond %.3f, %.1f s\n"
                                     : "in range %.3f, beyond %.3f, %.1f s\n",
                fabs(pw_result_mean(r, true)), fabs(pw_result_mean(r, false)), r->seconds);
    else
        fprintf(x->how->out, "%s\n",
                end == PW_CELL_ELSEWHERE     ? "runs in another process"
                : end == PW_CELL_INTERRUPTED ? "interrupted"
                                             : "failed; its message is in cells");
    fflush(x->how->out);
}

/* Takes the ends of children. */
static void reap(struct running *x)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (int i = 0; i < x->n_jobs; i++) {
            struct job *job = &x->jobs[i];
            if (job->pid != pid)
                continue;
            enum pw_study_cell_end end = WIFEXITED(status) && WEXITSTATUS(status) <= PW_CELL_FAILED
                                             ? (enum pw_study_cell_end)WEXITSTATUS(status)
                                             : PW_CELL_INTERRUPTED;
            if (end == PW_CELL_WAS_DONE)
                end = PW_CELL_DONE;
            job->pid = 0;
            x->busy--;
            pw_results_read(&x->results, x->folder);
            if (end == PW_CELL_DONE && x->results.state[job->cell] != PW_CELL_THERE)
                end = PW_CELL_FAILED; /* the disk lost it */
            x->tries[job->cell] += end == PW_CELL_DONE ? 0 : end == PW_CELL_INTERRUPTED ? 1 : TRIES;
            x->failed +=
                end == PW_CELL_FAILED || (end == PW_CELL_INTERRUPTED && x->tries[job->cell] == TRIES);
            print_end(x, job->cell, end);
        }
}

/* Starts wanted cells on free jobs. */
static void begin_cells(struct running *x, const sigset_t *mask)
{
    int n = pw_results_wanted(&x->results, true, x->wanted);
    for (int i = 0; i < n && x->busy < x->n_jobs; i++)
        if (!runs(x, x->wanted[i]) && x->tries[x->wanted[i]] < TRIES)
            start(x, x->wanted[i], mask);
}

/* Ends the children, which keep what they have. */
static void end_children(struct running *x)
{
    for (int i = 0; i < x->n_jobs; i++)
        if (x->jobs[i].pid != 0)
            kill(x->jobs[i].pid, SIGTERM);
    for (int i = 0; i < x->n_jobs; i++)
        if (x->jobs[i].pid != 0)
            waitpid(x->jobs[i].pid, NULL, 0);
}

/* Removes the files of cells that ended just before their process was killed. */
static void tidy(const struct running *x)
{
    for (int i = 0; i < x->results.n; i++)
        if (x->results.state[i] == PW_CELL_THERE)
            pw_study_cell_tidy(x->folder, x->results.cells[i].id);
}

static enum pw_code loop(struct running *x, struct pw_err *err)
{
    sigset_t set, mask;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, &mask);
    enum pw_code code = PW_OK;
    pw_results_read(&x->results, x->folder);
    tidy(x);
    for (;;) {
        begin_cells(x, &mask);
        if (x->busy == 0)
            break;
        siginfo_t info;
        if (sigwaitinfo(&set, &info) >= 0 && info.si_signo != SIGCHLD) {
            end_children(x);
            code = pw_fail(err, PW_ECANCEL, "stopped; 'study run' continues");
            break;
        }
        reap(x);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return code;
}

enum pw_code pw_study_run(const char *folder, const struct pw_study_run *run, int *failed, struct pw_err *err)
{
    struct pw_study s;
    struct running x = {.folder = folder, .how = run, .s = &s};
    char path[PW_STUDY_PATH + 16];
    enum pw_code code = pw_study_open(&s, folder, NULL, err);
    if (code != PW_OK)
        return code;
    snprintf(path, sizeof path, "%s/run.lock", folder);
    x.lock = pw_study_lock(path, err);
    if (x.lock == -1)
        code = pw_fail(err, PW_EUSER, "process %ld runs this study", pw_study_locked(path));
    else if (x.lock < 0)
        code = PW_EIO;
    if (code == PW_OK) {
        choose_jobs(&x);
        pw_results_init(&x.results, &s);
        x.wanted = pw_alloc((size_t)x.results.n, sizeof *x.wanted);
        x.tries = pw_alloc((size_t)x.results.n, sizeof *x.tries);
        code = loop(&x, err);
        *failed = x.failed;
        free(x.wanted);
        free(x.tries);
        pw_results_fini(&x.results);
        close(x.lock);
    }
    pw_study_fini(&s);
    return code;
}

enum pw_code pw_study_stop(const char *folder, long *pid, struct pw_err *err)
{
    char path[PW_STUDY_PATH + 16];
    snprintf(path, sizeof path, "%s/run.lock", folder);
    *pid = pw_study_locked(path);
    if (*pid > 0 && kill((pid_t)*pid, SIGTERM) != 0)
        return pw_fail(err, PW_EUSER, "process %ld can't be ended: %s", *pid, strerror(errno));
    return PW_OK;
}
