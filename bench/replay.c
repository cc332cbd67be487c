/* replay.c - measures how long it takes to open a session, and to draw a moment of it. Prints rows of a
 * Markdown table. usage: bench_replay [key=value...]
 *
 * The session is synthetic, but the store writes it like any other. It is a race of arms with an evaluation
 * every 250 steps and attention of a pinned prompt every 500. Digests and updates come at the intervals of
 * training. Random moments are sought by the player alone, and then drawn by the whole workbench. The curves
 * are also drawn alone, over the whole session. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/rng.h"
#include "sessions/player.h"
#include "sessions/store.h"
#include "ui/ui.h"

struct options {
    int steps, arms, seeks, rounds, rows, cols;
};

static const struct pw_opt option_table[] = {
    {"steps", PW_OPT_INT, offsetof(struct options, steps), "1000000", 1000, 10000000, NULL, 0,
     "of all arms together"},
    {"arms", PW_OPT_INT, offsetof(struct options, arms), "1", 1, PW_MAX_ARMS, NULL, 0, "that race"},
    {"seeks", PW_OPT_INT, offsetof(struct options, seeks), "500", 1, 100000, NULL, 0, "moments a round"},
    {"rounds", PW_OPT_INT, offsetof(struct options, rounds), "5", 1, 1000, NULL, 0,
     "rounds; the fastest is reported"},
    {"rows", PW_OPT_INT, offsetof(struct options, rows), "60", 10, 500, NULL, 0, "of the screen"},
    {"cols", PW_OPT_INT, offsetof(struct options, cols), "200", 20, 1000, NULL, 0, "of the screen"},
    {0},
};

enum { T = 20, LAYERS = 2, HEADS = 8, LENGTHS = 15, EVAL = 250, ATTENTION = 500 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *why)
{
    fprintf(stderr, "bench_replay: %s\n", why);
    exit(1);
}

/* ---- a synthetic session */

struct maker {
    struct pw_store *store;
    struct pw_rng rng;
    uint64_t seq;
};

static void put(struct maker *m, struct pw_event *e, int arm, int64_t step)
{
    e->seq = ++m->seq;
    e->t_ns = INT64_C(1790000000000000000) + (int64_t)m->seq * 1000000;
    e->arm = arm;
    e->replica = arm > 0;
    e->step = step;
    pw_store_put(m->store, e);
    pw_event_free(e);
    if (m->seq % 20000 == 0) /* wait for the store: a lab emits more slowly than this loop */
        while (!pw_store_has(m->store, m->seq - 10000))
            usleep(1000);
}

static void put_arm(struct maker *m, int arm)
{
    struct pw_event *e = pw_event_new(PW_EV_ARM);
    e->u.arm = (struct pw_ev_arm){.id = arm, .current = arm == 1, .replicas = 1, .restarted = true};
    e->u.arm.layers = LAYERS, e->u.arm.heads = HEADS, e->u.arm.width = 64, e->u.arm.context = 128;
    snprintf(e->u.arm.name, sizeof e->u.arm.name, "t5");
    snprintf(e->u.arm.pe, sizeof e->u.arm.pe, "t5 buckets=%d distance=16", 8 + arm);
    put(m, e, arm, 0);
}

static void put_lab(struct maker *m)
{
    struct pw_event *e = pw_event_new(PW_EV_LAB);
    struct pw_ev_lab *l = &e->u.lab;
    snprintf(l->task, sizeof l->task, "sort");
    l->n_tasks = 1;
    snprintf(l->tasks[0].name, sizeof l->tasks[0].name, "sort");
    l->tasks[0].train_lo = l->tasks[0].test_lo = 2, l->tasks[0].train_hi = 8, l->tasks[0].test_hi = 16;
    put(m, e, 0, 0);
}

static void put_prompt(struct maker *m)
{
    struct pw_event *e = pw_event_new(PW_EV_PROMPT);
    e->u.prompt = (struct pw_ev_prompt){.id = 1, .n_prompt = T, .n = T, .length = -1};
    snprintf(e->u.prompt.text, sizeof e->u.prompt.text, "sort");
    e->u.prompt.tokens = calloc(T, sizeof *e->u.prompt.tokens);
    e->u.prompt.labels = calloc(T, sizeof *e->u.prompt.labels);
    put(m, e, 1, 0);
}

static void put_step(struct maker *m, int arm, int64_t step)
{
    struct pw_event *e = pw_event_new(PW_EV_STEP);
    e->u.step.loss = (float)((1 + 0.3 * pw_rng_unit(&m->rng)) / sqrt(1 + 0.01 * (double)step) + 0.01 * arm);
    e->u.step.accuracy = (float)pw_rng_unit(&m->rng);
    e->u.step.lr = 1e-3f;
    e->u.step.grad_norm = (float)pw_rng_unit(&m->rng);
    e->u.step.flops = 1e8 * (double)step;
    put(m, e, arm, step);
}

static void put_eval(struct maker *m, int arm, int64_t step)
{
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    struct pw_ev_eval *v = &e->u.eval;
    v->live = true;
    v->n = v->n_words = LENGTHS;
    v->rows = calloc(LENGTHS, sizeof *v->rows);
    v->outcomes = calloc(LENGTHS, sizeof *v->outcomes);
    for (int i = 0; i < LENGTHS; i++) {
        v->rows[i].length = 2 + i;
        v->rows[i].samples = 64;
        v->rows[i].exact = (int)pw_rng_below(&m->rng, 65);
        v->rows[i].first_word = i;
        v->outcomes[i] = pw_rng_u32(&m->rng);
    }
    put(m, e, arm, step);
}

static void put_attention(struct maker *m, int arm, int64_t step)
{
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION);
    struct pw_ev_attention *a = &e->u.attention;
    *a = (struct pw_ev_attention){.prompt = 1, .T = T, .layers = LAYERS, .heads = HEADS, .n_prompt = T};
    size_t map = T * T;
    a->labels = calloc(T, sizeof *a->labels);
    a->probs = calloc(LAYERS * HEADS * map, sizeof *a->probs);
    a->score = calloc(map, sizeof *a->score);
    a->content = calloc(map, sizeof *a->content);
    a->bias = calloc(map, sizeof *a->bias);
    for (size_t i = 0; i < LAYERS * HEADS * map; i++)
        a->probs[i] = pw_half((float)pw_rng_unit(&m->rng));
    put(m, e, arm, step);
}

static void make(const char *folder, const struct options *o)
{
    struct pw_err err;
    struct maker m = {0};
    struct pw_store_config cfg = {
        .folder = folder,
        .create = true,
        .budget = INT64_C(8) << 30,
        .env = {.pewter = "bench", .bits = "portable", .device = "none", .isa = "none"}};
    if (pw_store_open(&m.store, &cfg, &err) != PW_OK)
        die(err.msg);
    pw_rng_init(&m.rng, 1, PW_STREAM_TRAIN, 0);
    put_lab(&m);
    for (int arm = 1; arm <= o->arms; arm++)
        put_arm(&m, arm);
    put_prompt(&m);
    for (int64_t step = 1; step <= o->steps / o->arms; step++)
        for (int arm = 1; arm <= o->arms; arm++) {
            put_step(&m, arm, step);
            if (step % 10 == 0) {
                struct pw_event *e = pw_event_new(PW_EV_UPDATES);
                e->u.updates.n = LAYERS + 3;
                put(&m, e, arm, step);
            }
            if (step % 100 == 0)
                put(&m, pw_event_new(PW_EV_DIGEST), arm, step);
            if (step % EVAL == 0)
                put_eval(&m, arm, step);
            if (step % ATTENTION == 0)
                put_attention(&m, arm, step);
        }
    pw_store_close(m.store, "quit");
}

/* ---- timings */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Timings of an action that runs n times per round. Each round has its median, 95th percentile and maximum.
 * least: the minimum of each over all rounds, because other processes use the machine, too. */
struct row {
    const char *what;
    int n;
    double least[3];
};

static void note(struct row *row, double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    const double now[3] = {x[n / 2], x[(int)ceil(0.95 * n) - 1], x[n - 1]};
    for (int i = 0; i < 3; i++)
        if (row->n == 0 || now[i] < row->least[i])
            row->least[i] = now[i];
    row->n += n;
}

static void print_row(const struct row *row)
{
    printf("| %s | %d | %.2f | %.2f | %.2f |\n", row->what, row->n, 1e3 * row->least[0], 1e3 * row->least[1],
           1e3 * row->least[2]);
}

static uint64_t any_moment(const struct pw_player *p, struct pw_rng *rng)
{
    return 1 + (uint64_t)(pw_rng_unit(rng) * (double)pw_player_last(p));
}

static void measure(const char *folder, const struct options *o)
{
    struct row opening = {.what = "opening"}, moment = {.what = "a moment"},
               frame = {.what = "a moment and its frame"}, curves = {.what = "all of the curves"};
    int frames = o->seeks < 100 ? o->seeks : 100;
    struct pw_player *p;
    struct pw_err err;
    struct pw_ui ui;
    struct pw_canvas c;
    struct pw_rng rng;
    double begin = seconds(), *x = calloc((size_t)o->seeks, sizeof *x);
    if (pw_player_open(&p, folder, &err) != PW_OK)
        die(err.msg);
    double opened = seconds() - begin;
    note(&opening, &opened, 1);
    pw_rng_init(&rng, 2, PW_STREAM_TRAIN, 0);
    pw_ui_init(&ui);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, o->rows, o->cols);
    for (int round = 0; round < o->rounds; round++) {
        for (int i = 0; i < o->seeks; i++) {
            uint64_t seq = any_moment(p, &rng);
            begin = seconds();
            pw_player_at(p, seq);
            x[i] = seconds() - begin;
        }
        note(&moment, x, o->seeks);
        ui.focus = PW_PANE_ATTENTION;
        ui.zoom = false;
        for (int i = 0; i < o->seeks; i++) {
            uint64_t seq = any_moment(p, &rng);
            begin = seconds();
            ui.snap = pw_player_at(p, seq);
            pw_ui_frame(&ui, &c);
            x[i] = seconds() - begin;
        }
        note(&frame, x, o->seeks);
        ui.snap = pw_player_at(p, UINT64_MAX);
        ui.focus = PW_PANE_CURVES;
        ui.zoom = true;
        for (int i = 0; i < frames; i++) {
            begin = seconds();
            pw_ui_frame(&ui, &c);
            x[i] = seconds() - begin;
        }
        note(&curves, x, frames);
    }
    print_row(&opening);
    print_row(&moment);
    print_row(&frame);
    print_row(&curves);
    pw_canvas_fini(&c);
    pw_ui_fini(&ui);
    pw_player_close(p);
    free(x);
}

int main(int argc, char **argv)
{
    struct options o;
    struct pw_err err;
    const char *base = getenv("TMPDIR");
    char dir[512], folder[600], command[700];
    pw_opt_defaults(option_table, &o);
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value != NULL)
            *value++ = '\0';
        if (value == NULL || pw_opt_set(option_table, &o, "bench_replay", argv[i], value, &err) != PW_OK)
            die(value == NULL ? "options are key=value" : err.msg);
    }
    snprintf(dir, sizeof dir, "%s/pewter-replay-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(dir) == NULL)
        die("no folder to record in");
    snprintf(folder, sizeof folder, "%s/made.pewter", dir);
    double begin = seconds();
    make(folder, &o);
    fprintf(stderr, "recorded in %.1f s\n", seconds() - begin);
    printf("| %d steps, %d arms, %dx%d: ms | times | median | p95 | worst |\n|---|--:|--:|--:|--:|\n",
           o.steps, o.arms, o.cols, o.rows);
    measure(folder, &o);
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command) == 0 ? 0 : 1;
}
