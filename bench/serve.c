/* serve.c - measures the latency of commands while the lab trains on all processors. It also measures the
 * delay of a thread that draws 60 frames per second. Prints rows of a Markdown table.
 *
 * usage: bench_serve [key=value...] [SHAPE...]
 *
 * The latency of a command is the time from pw_lab_send to the event that answers it, on the reader's thread.
 * This is the user's waiting time without the drawing. The kinds of commands alternate, each after a random
 * pause, so that they arrive at any point of a step. */
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/opt.h"
#include "base/rng.h"
#include "base/slice.h"
#include "base/text.h"
#include "command/commands/commands.h"
#include "lab/lab.h"

struct options {
    int threads, sends, wait;
};

static const struct pw_opt option_table[] = {
    {"threads", PW_OPT_INT, offsetof(struct options, threads), "0", 0, 64, NULL, 0, "0: all processors"},
    {"sends", PW_OPT_INT, offsetof(struct options, sends), "100", 1, 100000, NULL, 0,
     "commands of each kind"},
    {"wait", PW_OPT_INT, offsetof(struct options, wait), "500", 0, 60000, NULL, 0, "ms between two at most"},
    {0},
};

/* The demo's race; the smallest preset with longer samples; and medium with about 100 positions, where a step
 * takes about a second on two processors. idle: no training. */
static const struct shape {
    const char *name, *script;
} shapes[] = {
    {"idle", "task sort"},
    {"demo", "task sort; race none,t5,alibi,rotary,sinusoidal; train 1000000000"},
    {"tiny", "task copy lengths=2..30; model tiny; optim batch=64; train 1000000000"},
    {"medium", "model medium; task copy lengths=30..50; pe t5; optim batch=32; train 1000000000"},
    {NULL, NULL},
};

/* A line to send, and the kind of event that answers it. `resume` only reverts pause. */
static const struct kind {
    const char *name, *line;
    enum pw_event_kind answer;
} kinds[] = {
    {"say", "say here", PW_EV_NOTE},
    {"prompt", "prompt %s 3 1 2", PW_EV_TOKEN},
    {"inspect", "inspect layer=1 head=1", PW_EV_ATTENTION},
    {"pause", "pause", PW_EV_STATE},
    {"resume", "resume", PW_EV_STEP},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* ---- the lab, and the command in progress */

struct waiter {
    const struct kind *kind; /* NULL: no command is waiting */
    double sent, latency;    /* seconds; latency < 0: no answer yet */
    int64_t steps;
};

static void on_event(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    struct waiter *w = arg;
    (void)s;
    w->steps += e->kind == PW_EV_STEP;
    if (e->kind == PW_EV_ERROR) {
        fprintf(stderr, "bench_serve: %s\n", e->u.text);
        exit(1);
    }
    if (w->kind == NULL || w->latency >= 0 || e->kind != w->kind->answer)
        return;
    if (e->kind == PW_EV_STATE && e->u.state.run == PW_RUN_TRAINING)
        return; /* emitted periodically, so not an answer */
    w->latency = pw_now() - w->sent;
}

/* Reads events until `end`, or until the command in progress is answered. */
static void read_until(struct pw_lab *lab, struct waiter *w, double end)
{
    while (w->kind != NULL ? w->latency < 0 : pw_now() < end) {
        struct pollfd p = {.fd = pw_lab_fd(lab), .events = POLLIN};
        poll(&p, 1, w->kind != NULL ? 1000 : (int)ceil(1e3 * fmax(0, end - pw_now())));
        pw_lab_snapshot(lab);
    }
}

/* ---- the 60 Hz thread */

struct frames {
    pthread_t thread;
    atomic_bool stop;
    double *late; /* seconds */
    int n, cap;
};

static void *draw_frames(void *arg)
{
    struct frames *f = arg;
    struct timespec t;
    pw_slice_short(); /* like the thread of the workbench */
    clock_gettime(CLOCK_MONOTONIC, &t);
    while (!atomic_load(&f->stop) && f->n < f->cap) {
        t.tv_nsec += 1000000000 / 60;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        f->late[f->n++] = pw_now() - ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
    }
    return NULL;
}

/* ---- results */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *shape, const char *what, double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    printf("| %s | %s | %d | %.2f | %.2f | %.2f |\n", shape, what, n, 1e3 * x[n / 2],
           1e3 * x[(int)ceil(0.99 * n) - 1], 1e3 * x[n - 1]);
}

static void measure(const struct shape *shape, const struct options *o)
{
    static const struct pw_commands commands = {pw_lab_commands};
    bool trains = strcmp(shape->name, "idle") != 0;
    double *x[N_KINDS], begin, took;
    struct frames frames = {.cap = 1 << 20};
    struct waiter w = {.latency = -1};
    struct pw_lab_config cfg = {.commands = &commands,
                                .help = &commands,
                                .threads = o->threads,
                                .live = true,
                                .on_event = on_event,
                                .on_event_arg = &w};
    struct pw_err err;
    struct pw_lab *lab;
    struct pw_rng rng;
    char line[80];
    int n[N_KINDS] = {0};
    if (pw_lab_create(&lab, &cfg, &err) != PW_OK) {
        fprintf(stderr, "bench_serve: %s\n", err.msg);
        exit(1);
    }
    frames.late = calloc((size_t)frames.cap, sizeof *frames.late);
    for (int k = 0; k < N_KINDS; k++)
        x[k] = calloc((size_t)o->sends, sizeof *x[k]);
    pw_rng_init(&rng, 1, PW_STREAM_PROMPT, 0);
    snprintf(line, sizeof line, kinds[1].line, strstr(shape->script, "copy") != NULL ? "copy" : "sort");
    pw_lab_send(lab, shape->script, PW_SEND_SCRIPT);
    read_until(lab, &w, pw_now() + 2);
    pthread_create(&frames.thread, NULL, draw_frames, &frames);
    begin = pw_now();
    w.steps = 0;
    for (int i = 0; i < o->sends * N_KINDS; i++) {
        int k = i % N_KINDS;
        if (!trains && k >= 3)
            continue;
        w.kind = NULL;
        read_until(lab, &w, pw_now() + 1e-3 * o->wait * pw_rng_unit(&rng));
        w = (struct waiter){.kind = &kinds[k], .sent = pw_now(), .latency = -1, .steps = w.steps};
        pw_lab_send(lab, k == 1 ? line : kinds[k].line, PW_SEND_NOW);
        read_until(lab, &w, 0);
        x[k][n[k]++] = w.latency;
    }
    took = pw_now() - begin;
    atomic_store(&frames.stop, true);
    pthread_join(frames.thread, NULL);
    for (int k = 0; k + 1 < N_KINDS; k++)
        if (n[k] > 0)
            print_row(shape->name, kinds[k].name, x[k], n[k]);
    print_row(shape->name, "a frame's wake-up", frames.late, frames.n);
    fprintf(stderr, "%s: %.2f steps a second\n", shape->name, (double)w.steps / took);
    begin = pw_now();
    pw_lab_destroy(lab, NULL);
    fprintf(stderr, "%s: gone after %.1f ms\n", shape->name, 1e3 * (pw_now() - begin));
    for (int k = 0; k < N_KINDS; k++)
        free(x[k]);
    free(frames.late);
}

int main(int argc, char **argv)
{
    struct options o;
    struct pw_err err;
    bool chosen = false;
    pw_opt_defaults(option_table, &o);
    printf("| training | waits for | n | median ms | p99 ms | max ms |\n|---|---|--:|--:|--:|--:|\n");
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        const struct shape *s = shapes;
        if (value != NULL) {
            *value++ = '\0';
            if (pw_opt_set(option_table, &o, "bench_serve", argv[i], value, &err) != PW_OK) {
                fprintf(stderr, "%s\n", err.msg);
                return 2;
            }
            continue;
        }
        while (s->name != NULL && strcmp(s->name, argv[i]) != 0)
            s++;
        if (s->name == NULL) {
            fprintf(stderr, "bench_serve: no shape '%s'; there are idle, demo, tiny, medium\n", argv[i]);
            return 2;
        }
        measure(s, &o);
        chosen = true;
    }
    for (const struct shape *s = shapes; s->name != NULL && !chosen; s++)
        measure(s, &o);
    return 0;
}
