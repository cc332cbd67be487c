/* workbench.c - sends kill -9 to the workbench while random lines are typed. The session must continue to the
 * recorded bits, whatever ran at the kill, and all of it must re-run.
 *
 * A case is a few lives of one session. Each life types some lines and keys at random moments and is killed.
 * The kill may also come while it recomputes what the life before recorded. A case follows from its seed,
 * apart from the scheduling of processes.
 *
 * A failing case is kept (PEWTER_KEEP=FOLDER): its plan, the session, and the session before the last life,
 * from which the failure can be repeated. `shrink RUNS SEED` searches for a smaller case that fails in one of
 * RUNS runs. PEWTER_JOBS=N runs N cases at once. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "lines_models.h"
#include "plan.h"

#define LIMIT_S 300 /* limit of a verification, which re-runs all lives */

struct figures { /* in memory shared by the processes that run cases */
    int sessions, kills, failed;
};

/* ---- the sessions that a life leaves */

static bool is_session(const struct dirent *e)
{
    const char *end = strrchr(e->d_name, '.');
    return end != NULL && strcmp(end, ".pewter") == 0;
}

struct log {
    bool begun;    /* it has a checkpoint; no command runs before the first one */
    bool restored; /* the session was resumed: its first line is recorded */
    bool differs;
    char why[600]; /* the re-run's difference */
};

static bool read_event(void *arg, struct pw_event *e)
{
    struct log *log = arg;
    log->begun = log->begun || e->kind == PW_EV_CHECKPOINT;
    if (e->kind != PW_EV_NOTE)
        return true;
    log->restored = log->restored || strncmp(e->u.text, "goes on", 7) == 0;
    if (strncmp(e->u.text, "the re-run differs", 18) == 0) {
        log->differs = true;
        snprintf(log->why, sizeof log->why, "%.590s", e->u.text);
    }
    return true;
}

static struct log read_log(const char *session)
{
    struct log log = {0};
    struct pw_record *r;
    struct pw_err err;
    struct pw_record_info info;
    if (pw_record_open(&r, session, &err) != PW_OK)
        return log;
    pw_record_info(r, &info);
    pw_record_events(r, 1, info.last, read_event, &log, &err);
    pw_record_close(r);
    return log;
}

/* Finds the session to continue after a life: `session`, or "" if there is none. `old` is the one before it.
 * Ctrl-C during a re-run starts a new session, and the old one is moved away. A session that had not begun
 * when the life ended is moved away, too. Returns false if a re-run differed. */
static bool next_session(const char *home, char *session, size_t size, char *why, size_t room)
{
    char folder[400], old[500], name[500];
    bool well = true;
    snprintf(old, sizeof old, "%s", session);
    snprintf(folder, sizeof folder, "%s/state/pewter/sessions", home);
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        snprintf(name, sizeof name, "%.300s/%.100s", folder, e->d_name);
        if (!is_session(e) || strcmp(name, old) == 0)
            continue;
        struct log log = read_log(name);
        if (log.differs) {
            snprintf(why, room, "%s", log.why);
            well = false;
        } else if (log.begun && (old[0] == '\0' || log.restored)) {
            if (old[0] != '\0')
                harness_remove(old);
            snprintf(session, size, "%s", name);
        } else {
            harness_remove(name);
        }
    }
    if (d != NULL)
        closedir(d);
    return well;
}

static void copy(const char *from, const char *to)
{
    const char *args[] = {"cp", "-r", "--", from, to, NULL};
    char text[200];
    harness_remove(to);
    if (life_batch("/bin/cp", args, "/", 60, text, sizeof text) != 0)
        fprintf(stderr, "cp: %s\n", text);
}

/* Keeps the files from which a failure can be repeated. */
static void keep(struct harness *h, const struct plan *p, const char *home, const char *why)
{
    const char *where = getenv("PEWTER_KEEP");
    char to[400], name[500];
    if (where == NULL)
        return;
    mkdir(where, 0777); /* it may exist */
    snprintf(to, sizeof to, "%s/%s", where, strrchr(home, '/') + 1);
    copy(home, to);
    snprintf(name, sizeof name, "%s/plan", to);
    FILE *f = fopen(name, "w");
    if (f == NULL)
        return;
    fprintf(f, "%s\n%s\n", h->now, why);
    plan_print(f, p);
    fclose(f);
}

/* ---- a case */

/* Runs all lives. Returns false on a failure, which `why` explains. session: that of the case; "": none has
 * begun. */
static bool live(struct harness *h, const struct plan *p, const char *home, char *session, size_t size,
                 struct figures *f, char *why, size_t room)
{
    char before[300];
    bool well = true;
    snprintf(before, sizeof before, "%s/before", home);
    session[0] = '\0';
    for (int i = 0; well && i < p->n; i++) {
        if (session[0] != '\0')
            copy(session, before);
        well = life_run(&p->life[i], h->program, home, session[0] != '\0' ? session : NULL, why, room) &&
               next_session(home, session, size, why, room);
        __atomic_fetch_add(&f->kills, p->life[i].signal == SIGKILL, __ATOMIC_RELAXED);
    }
    return well;
}

/* Whether a re-run of all lives verifies. */
static bool check(struct harness *h, const char *home, const char *session, char *why, size_t room)
{
    char text[1000];
    const char *verify[] = {"pewter", "replay", session, "--verify", NULL};
    int status = life_batch(h->program, verify, home, LIMIT_S, text, sizeof text);
    snprintf(why, room, "replay --verify, status %d: %.900s", status, text);
    return status == 0;
}

/* Runs a plan. Returns false if it failed; the case is then kept. */
static bool run_plan(struct harness *h, const struct plan *p, const char *name, struct figures *f, char *why,
                     size_t room)
{
    char home[200], session[500];
    snprintf(home, sizeof home, "%s/%s", h->dir, name);
    mkdir(home, 0700);
    if (!lines_files(home))
        perror(home);
    why[0] = '\0';
    bool well = live(h, p, home, session, sizeof session, f, why, room);
    if (well && session[0] != '\0')
        well = check(h, home, session, why, room);
    if (!well)
        keep(h, p, home, why);
    harness_remove(home);
    return well;
}

static void one_case(struct harness *h, uint64_t seed, struct figures *f)
{
    struct plan p;
    char name[40], why[1200];
    snprintf(h->now, sizeof h->now, "workbench, seed %llu", (unsigned long long)seed);
    snprintf(name, sizeof name, "case-%llu", (unsigned long long)seed);
    plan_case(&p, seed);
    if (!run_plan(h, &p, name, f, why, sizeof why)) {
        harness_violation(h, "%s", why);
        __atomic_fetch_add(&f->failed, 1, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&f->sessions, 1, __ATOMIC_RELAXED);
}

void workbench_run(struct harness *h)
{
    const char *text = getenv("PEWTER_JOBS");
    int jobs = text != NULL ? atoi(text) : (int)sysconf(_SC_NPROCESSORS_ONLN) * 2;
    uint64_t first = h->rng;
    struct figures *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    fflush(stdout);
    for (int k = 0; k < jobs; k++)
        if (fork() == 0) {
            for (int i = k; i < h->count; i += jobs)
                one_case(h, first + (uint64_t)i, f);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    h->violations += f->failed;
    printf("kill -9 of the workbench under random commands: %d kills in %d sessions, each gone on with and "
           "verified: %d violations\n",
           f->kills, f->sessions, f->failed);
}

/* ---- smaller failing cases */

/* Whether the plan fails in one of h->count runs. Failures depend on scheduling. */
static bool fails(struct harness *h, const struct plan *p, struct figures *f)
{
    char why[1200];
    for (int i = 0; i < h->count; i++)
        if (!run_plan(h, p, "shrunk", f, why, sizeof why)) {
            fprintf(stderr, "%d lives: %s\n", p->n, why);
            return true;
        }
    return false;
}

/* Removes as many of a life's keys as possible: in halves, quarters, ..., and one by one. */
static void shrink_life(struct harness *h, struct plan *p, int life, struct figures *f)
{
    struct plan smaller;
    for (int n = LIFE_ACTS / 2; n > 0; n /= 2)
        for (int from = life == 0; from + n <= p->life[life].n;)
            if (plan_without_acts(&smaller, p, life, from, n) && fails(h, &smaller, f))
                *p = smaller;
            else
                from += n;
}

void shrink_run(struct harness *h)
{
    struct figures f = {0};
    struct plan p, smaller;
    plan_case(&p, h->rng);
    snprintf(h->now, sizeof h->now, "workbench, seed %llu, shrunk", (unsigned long long)h->rng);
    if (!fails(h, &p, &f)) {
        printf("it does not fail in %d runs\n", h->count);
        return;
    }
    for (int life = p.n - 1; life > 0; life--)
        if (plan_without_life(&smaller, &p, life) && fails(h, &smaller, &f))
            p = smaller;
    for (int life = p.n - 1; life >= 0; life--)
        shrink_life(h, &p, life, &f);
    h->violations = 1;
    plan_print(stdout, &p);
}
