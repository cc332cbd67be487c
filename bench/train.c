/* train.c - pewter's side of the benchmarks: times training steps one by one.
 *
 * usage: bench_train key=value...   keys: those of option_table below, and every option of a model's
 *                                   configuration; preset=NAME, if any, must come first
 *
 * It is a child process of bench.py and gpu.py, which alternate it with PyTorch. The protocol is line by
 * line: one JSON line when ready, then one JSON line in reply to each line of standard input:
 *   run SECONDS       {"ms": [of every step], "loss": of the last}
 *   profile SECONDS   the same with "ops", the cost of each operation (profile.h), on a model of its own
 *   decode SECONDS    {"ms": [of a token]}, and
 *   inspect SECONDS   {"ms": [of a pass]}: infer.h, on one sequence
 *   swap SECONDS      {"ms": [from a swap of the encoding to the end of the next step]}
 *   steps N           {"ms": [of every step], "loss": of the last, "digest": of the parameters}
 *   batches 0         {"batches": [[rows and scored rows of every sequence] of every batch]}
 * Without a task every sequence has `positions` random tokens and every position is scored.
 *
 * On a device several steps are in flight. The time of a step is then the interval between the end of the
 * previous step and its own. The first step has its full time. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/opt.h"
#include "bench/batch.h"
#include "bench/infer.h"
#include "bench/profile.h"
#include "model/model.h"

struct options {
    int positions, batch, vocab, threads, precision, batches, flights;
    char pe[600], other[80], preset[16], backend[16], mode[16], task[160];
};

static const char *const precisions[] = {"fp32", "tf32", "bf16", NULL};

#define AT(member)   offsetof(struct options, member)
#define SIZE(member) sizeof((struct options *)0)->member

static const struct pw_opt option_table[] = {
    {"positions", PW_OPT_INT, AT(positions), "64", 2, 4096, NULL, 0, "of each sequence"},
    {"batch", PW_OPT_INT, AT(batch), "64", 1, 4096, NULL, 0, "sequences of a step"},
    {"batches", PW_OPT_INT, AT(batches), "1", 1, 4096, NULL, 0, "that take turns"},
    {"vocab", PW_OPT_INT, AT(vocab), "128", 2, 1 << 20, NULL, 0, "tokens"},
    {"threads", PW_OPT_INT, AT(threads), "1", 1, 256, NULL, 0, "workers of the cpu"},
    {"backend", PW_OPT_TEXT, AT(backend), "cpu", 0, 0, NULL, SIZE(backend), "cpu, cuda, cuda:N"},
    {"mode", PW_OPT_TEXT, AT(mode), "", 0, 0, NULL, SIZE(mode), "of cuda: fast, ref"},
    {"precision", PW_OPT_CHOICE, AT(precision), "fp32", 0, 0, precisions, 0,
     "of the linear layers' products"},
    {"flights", PW_OPT_INT, AT(flights), "0", 0, 64, NULL, 0, "steps in flight; 0: as many as are allowed"},
    {"pe", PW_OPT_TEXT, AT(pe), "none", 0, 0, NULL, SIZE(pe), "positional encoding"},
    {"other", PW_OPT_TEXT, AT(other), "alibi", 0, 0, NULL, SIZE(other), "that it is swapped with"},
    {"preset", PW_OPT_TEXT, AT(preset), "", 0, 0, NULL, SIZE(preset), "of the model and its optimiser"},
    {"task", PW_OPT_TEXT, AT(task), "", 0, 0, NULL, SIZE(task), "as after the command `task`"},
    {0},
};

static struct pw_err err;

static void check(enum pw_code code)
{
    if (code != PW_OK) {
        fprintf(stderr, "bench_train: %s\n", err.msg);
        exit(1);
    }
}

/* State that all verbs share. */
struct bench {
    struct options o;
    struct pw_config cfg;
    struct pw_optim optim;
    struct pw_pe_use_opts pe, other;
    struct bench_batches batches;
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
    struct pw_model *model, *profiled;
    int next;     /* index of the next batch */
    int flights;  /* maximum number of steps in flight */
    bool swapped; /* the model has the other encoding */
};

static void start(struct bench *b, struct pw_model *m)
{
    check(pw_model_start(m, &b->optim, &b->batches.samples[b->next].b, NULL, &err));
    b->next = (b->next + 1) % b->batches.n;
}

/* Trains for `duration` seconds, at least `least` and at most `most` steps. Prints the times of all steps. */
static void run(struct bench *b, struct pw_model *m, double duration, int least, int most)
{
    double last = pw_now(), end = last + duration;
    struct pw_step_result result = {0};
    int started = 0, done = 0;

    printf("{\"ms\": [");
    do {
        for (bool room = true; room && started < most && pw_model_flying(m) < b->flights; started++) {
            start(b, m);
            room = started + 1 < least || pw_now() < end;
        }
        check(pw_model_finish(m, &result, &err));
        double now = pw_now();
        printf("%s%.4f", done++ > 0 ? ", " : "", 1e3 * (now - last));
        last = now;
        if (started >= least && now >= end)
            most = started;
    } while (done < most);
    printf("], \"loss\": %.6f", result.loss);
}

/* Like run, for the measurements of infer.h, on the first sequence. */
static void measure_inference(struct bench *b,
                              enum pw_code (*measure)(struct pw_model *, const int *, int, double *,
                                                      struct pw_err *),
                              double duration)
{
    const struct pw_batch *batch = &b->batches.samples[0].b;
    double end = pw_now() + duration, ms;
    const char *comma = "";

    printf("{\"ms\": [");
    do {
        check(measure(b->model, batch->tokens, batch->start[1], &ms, &err));
        printf("%s%.5f", comma, ms);
        comma = ", ";
    } while (pw_now() < end);
    printf("]");
}

/* Swaps to the other encoding and back, like the lab: it builds the new model next to the old one and
 * destroys the old one afterwards. */
static void swap(struct bench *b, double duration)
{
    struct pw_model *next;
    double end = pw_now() + duration, begin;
    struct pw_step_result result;
    const char *comma = "";

    printf("{\"ms\": [");
    do {
        begin = pw_now();
        b->swapped = !b->swapped;
        check(pw_model_swap(&next, b->model, b->swapped ? &b->other : &b->pe, 1, false, &err));
        pw_model_destroy(b->model);
        b->model = next;
        start(b, b->model);
        check(pw_model_finish(b->model, &result, &err));
        printf("%s%.4f", comma, 1e3 * (pw_now() - begin));
        comma = ", ";
    } while (b->swapped || pw_now() < end);
    printf("]");
}

static void print_batches(const struct bench *b)
{
    printf("{\"batches\": [");
    for (int i = 0; i < b->batches.n; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        bench_batch_print(stdout, &b->batches.samples[i]);
    }
    printf("]");
}

/* Prints the algorithms that computed the products. */
static void print_plans(const struct bench *b)
{
    char line[256];
    int n = 0;

    printf("{\"plans\": [");
    while (pw_model_choice(b->model, n, line, sizeof line))
        printf("%s\"%s\"", n++ > 0 ? ", " : "", line);
    printf("]");
}

/* Creates a model and trains it on every batch. Buffers that grow on first use have then grown, and caches
 * are warm. A device has captured its graphs, which it does when a shape repeats. */
static struct pw_model *create(struct bench *b, const struct pw_backend_ops *ops)
{
    struct pw_step_result result;
    struct pw_model *m;

    check(pw_model_create(&m, ops, b->be, &b->cfg, &b->pe, 1, &err));
    b->next = 0;
    for (int i = 0; i < 2 * b->batches.n + 1; i++) {
        start(b, m);
        check(pw_model_finish(m, &result, &err));
    }
    b->flights = pw_model_may_fly(m);
    if (b->o.flights > 0 && b->o.flights < b->flights)
        b->flights = b->o.flights;
    return m;
}

/* Warm-up for steps in groups (src/model/flight.c). Not for `steps`, which counts every step. */
static void group(struct bench *b, struct pw_model *m)
{
    struct pw_step_result result;

    for (int i = 0; b->flights > 1 && i < 2 * (b->batches.n + b->flights); i++) {
        if (pw_model_flying(m) == b->flights)
            check(pw_model_finish(m, &result, &err));
        start(b, m);
    }
    while (pw_model_flying(m) > 0)
        check(pw_model_finish(m, &result, &err));
}

static void parse(struct bench *b, int argc, char **argv)
{
    struct options *o = &b->o;

    pw_opt_defaults(option_table, o);
    pw_opt_defaults(pw_config_opts, &b->cfg);
    pw_opt_defaults(pw_optim_opts, &b->optim);
    b->optim.lr = 1e-3f;
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL) {
            fprintf(stderr, "usage: bench_train key=value...\n");
            exit(2);
        }
        *value++ = '\0';
        bool own = pw_opt_find(option_table, argv[i]) != NULL;
        check(own ? pw_opt_set(option_table, o, "bench_train", argv[i], value, &err)
                  : pw_opt_set(pw_config_opts, &b->cfg, "bench_train", argv[i], value, &err));
        if (strcmp(argv[i], "preset") == 0) {
            check(pw_preset(value, &b->cfg, &b->optim, &err));
            o->batch = b->optim.batch;
        }
    }
    if (o->task[0] != '\0')
        check(bench_batches_of_task(&b->batches, o->task, o->batch, o->batches, &err));
    else
        bench_batches_random(&b->batches, o->positions, o->vocab, o->batch, o->batches);
    b->cfg.vocab = b->batches.vocab;
    if (o->preset[0] == '\0' || b->cfg.context < b->batches.longest)
        b->cfg.context = b->batches.longest;
    check(pw_config_check(&b->cfg, &err));
    check(pw_pe_parse(&b->pe, o->pe, &b->cfg, &err));
    check(pw_pe_parse(&b->other, o->other, &b->cfg, &err));
}

static void open_backend(struct bench *b)
{
    const char *mode = b->o.mode[0] != '\0' ? b->o.mode : NULL;
    int unit;

    b->ops = pw_backend_find(b->o.backend, mode, precisions[b->o.precision], &unit, &err);
    check(b->ops != NULL ? b->ops->open(&b->be, b->ops->host ? b->o.threads : unit, &err) : PW_EUSER);
}

/* Prints the configuration, and per step the operations (flops.c) and rows, as a mean over all batches. */
static void print_about(const struct bench *b)
{
    double flops = 0, rows = 0;

    for (int i = 0; i < b->batches.n; i++) {
        flops += (double)pw_model_flops(&b->cfg, b->pe.pe, &b->batches.samples[i].b) / b->batches.n;
        rows += (double)b->batches.samples[i].b.n_rows / b->batches.n;
    }
    printf("{\"device\": \"pewter " PEWTER_VERSION " on %s\", \"flops\": %.0f, \"rows\": %.1f, "
           "\"flights\": %d, \"vocab\": %d, \"parameters\": %zu}\n",
           b->ops->device(b->be), flops, rows, b->flights, b->cfg.vocab, pw_model_size(b->model));
    fflush(stdout);
}

static void obey(struct bench *b, const char *verb, double number)
{
    uint64_t digest[2];

    if (strcmp(verb, "run") == 0) {
        group(b, b->model);
        run(b, b->model, number, 1, INT32_MAX);
    } else if (strcmp(verb, "steps") == 0) {
        run(b, b->model, 0, (int)number, (int)number);
        pw_model_digest(b->model, digest);
        printf(", \"digest\": \"%016" PRIx64 "%016" PRIx64 "\"", digest[0], digest[1]);
    } else if (strcmp(verb, "profile") == 0 && b->ops->host) {
        const struct pw_backend_ops *timed = bench_profile(b->ops);
        if (b->profiled == NULL)
            b->profiled = create(b, timed);
        bench_profile_reset();
        run(b, b->profiled, number, 1, INT32_MAX);
        printf(", \"ops\": ");
        bench_profile_print(stdout);
    } else if (strcmp(verb, "decode") == 0) {
        measure_inference(b, bench_decode, number);
    } else if (strcmp(verb, "inspect") == 0) {
        measure_inference(b, bench_inspect, number);
    } else if (strcmp(verb, "swap") == 0) {
        swap(b, number);
    } else if (strcmp(verb, "batches") == 0) {
        print_batches(b);
    } else if (strcmp(verb, "plans") == 0) {
        print_plans(b);
    } else {
        fprintf(
            stderr,
            "bench_train: lines are `run|decode|inspect|swap SECONDS`, `steps N`, `batches 0`, `plans 0`, "
            "and on the cpu `profile SECONDS`\n");
        exit(2);
    }
    printf("}\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static struct bench b;
    char line[64], verb[16];
    double number;

    parse(&b, argc, argv);
    open_backend(&b);
    b.model = create(&b, b.ops);
    print_about(&b);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "%15s %lf", verb, &number) != 2)
            verb[0] = '\0';
        obey(&b, verb, number);
    }
    pw_model_destroy(b.profiled);
    pw_model_destroy(b.model);
    b.ops->close(b.be);
    bench_batches_fini(&b.batches);
    return 0;
}
