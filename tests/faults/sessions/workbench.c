/* workbench.c - the workbench under kill -9 while lines that are made by chance are typed: whatever ran then,
 * the session goes on to the recorded bits, and all of it can be done again.
 *
 * A case is a few lives of one session. Each types some lines and keys at random moments and is killed, also
 * while it recomputes what the life before had recorded. All of a case but the scheduling of processes
 * follows from its seed. A case that fails is kept (PEWTER_KEEP=FOLDER): its plan, the session, and the
 * session as it was before the last life, from which the failure can be repeated. */
#include <dirent.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "life.h"
#include "lines.h"

#define MOST_LIVES 5
#define LIMIT_S    300 /* for a verification, which does again all that the lives did */

struct plan {
    int n;
    struct life life[MOST_LIVES];
};

struct figures { /* shared by the processes that run cases */
    int sessions, kills, failed;
};

/* ---- a plan */

static int below(struct harness *h, int n)
{
    return (int)harness_random(h, (uint64_t)n);
}

/* Many short waits, some long ones. */
static int some_us(struct harness *h)
{
    static const int most[] = {1000, 10000, 40000, 40000, 150000};
    return below(h, most[below(h, 5)]);
}

static void plan_act(struct harness *h, struct act *a, bool first)
{
    static const char *const keys[] = {"\003", " ", "]", "[", ">", "<", "\003"};
    struct pw_str line = {0};
    a->wait_us = first ? 0 : some_us(h);
    if (first)
        lines_first(&line, &h->rng);
    else if (below(h, 6) > 0)
        lines_random(&line, &h->rng);
    if (line.len > 0)
        snprintf(a->keys, sizeof a->keys, ":%.250s\r", line.s);
    else
        snprintf(a->keys, sizeof a->keys, "%s", keys[below(h, sizeof keys / sizeof *keys)]);
    pw_str_fini(&line);
}

static void plan_life(struct harness *h, struct life *l, bool first)
{
    static const int others[] = {SIGTERM, SIGHUP};
    *l = (struct life){.threads = 1 + below(h, 2), .signal = SIGKILL};
    l->begin_us = first ? 100000 : some_us(h);
    l->n = first ? 2 + below(h, LIFE_ACTS - 2) : below(h, LIFE_ACTS);
    for (int i = 0; i < l->n; i++)
        plan_act(h, &l->act[i], first && i == 0);
    l->end_us = some_us(h);
    if (below(h, 12) == 0)
        l->signal = others[below(h, 2)];
}

static void plan_case(struct harness *h, struct plan *p, uint64_t seed)
{
    h->rng = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    p->n = 2 + below(h, MOST_LIVES - 1);
    for (int i = 0; i < p->n; i++)
        plan_life(h, &p->life[i], i == 0);
}

/* As text that a reader can follow, and that the shell's printf could type. */
static void print_plan(FILE *f, const struct plan *p)
{
    for (int i = 0; i < p->n; i++) {
        const struct life *l = &p->life[i];
        fprintf(f, "life %d: threads %d, after %.1f ms\n", i + 1, l->threads, l->begin_us * 1e-3);
        for (int k = 0; k < l->n; k++) {
            fprintf(f, "  %7.1f ms  ", l->act[k].wait_us * 1e-3);
            for (const char *c = l->act[k].keys; *c != '\0'; c++)
                if (*c == '\r')
                    fputs(" Enter", f);
                else if (*c < ' ')
                    fprintf(f, "Ctrl-%c", *c + '@');
                else
                    fputc(*c, f);
            fputc('\n', f);
        }
        fprintf(f, "  %7.1f ms  signal %d\n", l->end_us * 1e-3, l->signal);
    }
}

/* ---- folders */

static bool is_session(const struct dirent *e)
{
    const char *end = strrchr(e->d_name, '.');
    return end != NULL && strcmp(end, ".pewter") == 0;
}

/* ---- what a life has left */

struct log {
    bool restored; /* the session goes on: its first line is on record */
    bool differs;
    char why[600]; /* the re-run's difference */
};

static bool read_note(void *arg, struct pw_event *e)
{
    struct log *log = arg;
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
    pw_record_events(r, 1, info.last, read_note, &log, &err);
    pw_record_close(r);
    return log;
}

/* A session has something to go on from with its first checkpoint, and nothing runs before that. */
static bool is_begun(const char *session)
{
    struct pw_record *r;
    struct pw_err err;
    if (pw_record_open(&r, session, &err) != PW_OK)
        return false;
    struct pw_event *e = pw_record_last(r, PW_EV_CHECKPOINT, -1, -1, UINT64_MAX);
    pw_event_free(e);
    pw_record_close(r);
    return e != NULL;
}

/* The session to go on with after a life, in `session` ("": there is none); the one before it in `old`.
 * Ctrl-C during a re-run goes on in a new one, and the old one is put away. A session that had not begun when
 * the life ended is put away, too. False: a re-run differed. */
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
        } else if (is_begun(name) && (old[0] == '\0' || log.restored)) {
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

/* Keeps what a failure can be repeated from. */
static void keep(struct harness *h, const struct plan *p, const char *home, const char *why)
{
    const char *where = getenv("PEWTER_KEEP");
    char to[400], name[500];
    if (where == NULL)
        return;
    snprintf(to, sizeof to, "%s/%s", where, strrchr(home, '/') + 1);
    copy(home, to);
    snprintf(name, sizeof name, "%s/plan", to);
    FILE *f = fopen(name, "w");
    if (f == NULL)
        return;
    fprintf(f, "%s\n%s\n", h->now, why);
    print_plan(f, p);
    fclose(f);
}

/* ---- a case */

/* All the lives; false: something went wrong, which is in why. session: that of the case, "": none has begun.
 */
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

/* All that the lives did can be done again. */
static bool check(struct harness *h, const char *home, const char *session, char *why, size_t room)
{
    char text[1000];
    const char *verify[] = {"pewter", "replay", session, "--verify", NULL};
    int status = life_batch(h->program, verify, home, LIMIT_S, text, sizeof text);
    snprintf(why, room, "replay --verify, status %d: %.900s", status, text);
    return status == 0;
}

static void one_case(struct harness *h, uint64_t seed, struct figures *f)
{
    struct plan p;
    char home[200], session[500], why[1200] = "";
    snprintf(h->now, sizeof h->now, "workbench, seed %llu", (unsigned long long)seed);
    snprintf(home, sizeof home, "%s/case-%llu", h->dir, (unsigned long long)seed);
    mkdir(home, 0700);
    plan_case(h, &p, seed);
    bool well = live(h, &p, home, session, sizeof session, f, why, sizeof why);
    if (well && session[0] != '\0')
        well = check(h, home, session, why, sizeof why);
    if (!well) {
        harness_violation(h, "%s", why);
        keep(h, &p, home, why);
        __atomic_fetch_add(&f->failed, 1, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&f->sessions, 1, __ATOMIC_RELAXED);
    harness_remove(home);
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
