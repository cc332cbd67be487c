/* errors.c - makes calls that change files fail: one call, once or with all of its kind for a while.
 *
 * Call number n of a kind fails in a writer, for n from 0 up to some hundred. So a fault hits the opening,
 * the closing, and every place of a commit and of a stored file. The writer must report in one line that it
 * can't record, and leave no files behind. Otherwise all its events must be on disk in the end. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

#define EVENTS   "300"
#define AT_ONCE  16
#define PATIENCE 600.0 /* seconds */
#define A_WHILE  0.4   /* longer than the store's retry interval */
#define N_FAULTS (int)(sizeof faults / sizeof faults[0])

static const struct {
    const char *name, *call;
    int number;
    double seconds;
    const char *how;
    int calls; /* upper bound of n: about the number of such calls */
} faults[] = {{"no space, once", "write", ENOSPC, 0.0, "", 400},
              {"no space, for a while", "write", ENOSPC, A_WHILE, "", 400},
              {"a short write", "write", EIO, 0.0, "short", 400},
              {"a sync, once", "sync", EIO, 0.0, "", 200},
              {"syncs, for a while", "sync", EIO, A_WHILE, "", 200},
              {"a rename", "rename", ENOSPC, 0.0, "", 8},
              {"an open", "open", EMFILE, 0.0, "", 60},
              {"a truncation", "truncate", EIO, 0.0, "", 8}};

struct victim {
    pid_t pid; /* 0: none */
    int out, fault, n;
    char dir[90], session[100], mark[100];
    struct said said;
    struct timespec since;
};

struct figures {
    int runs, hit, refused, paused;
};

static double age(const struct victim *v)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)(t.tv_sec - v->since.tv_sec) + 1e-9 * (double)(t.tv_nsec - v->since.tv_nsec);
}

static void start(struct harness *h, struct victim *v, int slot, int fault, int n)
{
    char files[128], mark[128], broken[128];
    const char *const env[] = {files, mark, broken, NULL};
    *v = (struct victim){.fault = fault, .n = n};
    snprintf(v->dir, sizeof v->dir, "%s/%d", h->dir, slot);
    snprintf(v->session, sizeof v->session, "%s.pewter", v->dir);
    snprintf(v->mark, sizeof v->mark, "%s.hit", v->dir);
    harness_remove(v->session);
    unlink(v->mark);
    snprintf(files, sizeof files, "PEWTER_FILES=%s", v->session);
    snprintf(mark, sizeof mark, "PEWTER_BROKEN=%s", v->mark);
    snprintf(broken, sizeof broken, "PEWTER_BREAK=%s %d %d %g %s", faults[fault].call, n,
             faults[fault].number, faults[fault].seconds, faults[fault].how);
    clock_gettime(CLOCK_MONOTONIC, &v->since);
    v->pid = writer_start(h, &v->out, v->session, EVENTS, env);
}

/* Checks what a writer that has ended left behind. */
static void look(struct harness *h, struct victim *v, struct figures *sum)
{
    const struct said *said = &v->said;
    int status;
    close(v->out);
    waitpid(v->pid, &status, 0);
    v->pid = 0;
    bool hit = access(v->mark, F_OK) == 0, refused = WIFEXITED(status) && WEXITSTATUS(status) == 9;
    sum->runs++;
    sum->hit += hit;
    sum->refused += refused;
    sum->paused += said->pauses > 0;
    snprintf(h->now, sizeof h->now, "%s, call %d", faults[v->fault].name, v->n);
    if (WIFSIGNALED(status))
        harness_violation(h, "the writer ended by signal %d", WTERMSIG(status));
    else if (refused && (said->error[0] == '\0' || !hit))
        harness_violation(h, "it wasn't opened: '%s'", said->error);
    else if (refused && access(v->session, F_OK) == 0)
        harness_violation(h, "a session was not made (%s), and something of it is there", said->error);
    else if (!refused && !said->done)
        harness_violation(h, "%llu are on disk when the fault is long over; %s",
                          (unsigned long long)said->saved, said->paused);
    uint64_t last = said->opened ? harness_check(h, v->session, said->saved, 0) : 0;
    if (last > 0 || refused)
        harness_goes_on(h, v->session, last);
}

/* The number of the i-th of n calls to fail. The first calls are sampled more densely. */
static int call_of(int i, int n, int calls)
{
    double x = (double)i / n;
    return n >= calls ? i % calls : (int)(i * (1.0 - x) + calls * x * x);
}

void errors_run(struct harness *h)
{
    static struct victim victims[AT_ONCE];
    struct figures sum = {0};
    int per = (h->count + N_FAULTS - 1) / N_FAULTS, next = 0, running = 0;
    while (next < per * N_FAULTS || running > 0) {
        running = 0;
        for (int i = 0; i < AT_ONCE; i++) {
            struct victim *v = &victims[i];
            if (v->pid == 0 && next < per * N_FAULTS && h->violations < 20) {
                start(h, v, i, next % N_FAULTS, call_of(next / N_FAULTS, per, faults[next % N_FAULTS].calls));
                next++;
            }
            if (v->pid != 0 && age(v) > PATIENCE)
                kill(v->pid, SIGKILL);
            if (v->pid != 0 && !writer_listen(v->out, &v->said, 2))
                look(h, v, &sum);
            running += v->pid != 0;
        }
        if (h->violations >= 20)
            next = per * N_FAULTS;
    }
    printf("calls that fail: %d of %d writers met theirs; %d were refused a session, %d paused and went on: "
           "%d violations\n",
           sum.hit, sum.runs, sum.refused, sum.paused, h->violations);
}
