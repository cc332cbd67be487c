/* train.c - pewter's side of the benchmark: training steps on random tokens, timed one by one.
 *
 * usage: bench_train key=value...   positions, batch, vocab, threads, pe, and every option of a model's
 * configuration
 *
 * A child of bench.py, which lets it and PyTorch take turns. The protocol is lines: one JSON line when ready;
 * then, until the end of standard input, one for each of
 *   run SECONDS       {"ms": [of every step], "loss": of the last}
 *   profile SECONDS   the same with "ops", what each operation cost (profile.h), on a model of its own
 *   decode SECONDS    {"ms": [of a token]} and
 *   inspect SECONDS   {"ms": [of a pass]}: infer.h, of one sequence
 * Every sequence has `positions` tokens and every position is scored. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "base/rng.h"
#include "bench/infer.h"
#include "bench/profile.h"
#include "kernels/backend.h"
#include "model/model.h"

struct options {
    int positions, batch, vocab, threads;
    char pe[80];
};

static const struct pw_opt option_table[] = {
    {"positions", PW_OPT_INT, offsetof(struct options, positions), "64", 2, 4096, NULL, 0,
     "of each sequence"},
    {"batch", PW_OPT_INT, offsetof(struct options, batch), "64", 1, 4096, NULL, 0, "sequences of a step"},
    {"vocab", PW_OPT_INT, offsetof(struct options, vocab), "128", 2, 1 << 20, NULL, 0, "tokens"},
    {"threads", PW_OPT_INT, offsetof(struct options, threads), "1", 1, 256, NULL, 0, "workers"},
    {"pe", PW_OPT_TEXT, offsetof(struct options, pe), "none", 0, 0, NULL, sizeof((struct options *)0)->pe,
     "positional encoding"},
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

static int *ints(int n)
{
    int *p = malloc((size_t)n * sizeof *p);
    if (p == NULL) {
        fprintf(stderr, "bench_train: out of memory\n");
        exit(1);
    }
    return p;
}

/* Uniform tokens; each row must predict the next token of an unseen longer sequence. */
static struct pw_batch random_batch(const struct options *o)
{
    int n = o->batch * o->positions;
    int *start = ints(o->batch + 1), *tokens = ints(n), *pos = ints(n), *rows = ints(n), *targets = ints(n);
    struct pw_rng rng;

    pw_rng_init(&rng, 1, PW_STREAM_TRAIN, 0);
    for (int s = 0; s <= o->batch; s++)
        start[s] = s * o->positions;
    for (int r = 0; r < n; r++) {
        pos[r] = r % o->positions;
        rows[r] = r;
        tokens[r] = pos[r] == 0 ? (int)pw_rng_below(&rng, (uint32_t)o->vocab) : targets[r - 1];
        targets[r] = (int)pw_rng_below(&rng, (uint32_t)o->vocab);
    }
    return (struct pw_batch){o->batch, n, n, start, tokens, pos, rows, targets};
}

/* Steps for so many seconds, at least one; prints the times of all. */
static void run(struct pw_model *m, const struct pw_optim *optim, const struct pw_batch *batch,
                double duration)
{
    double end = bench_seconds() + duration, begin;
    struct pw_step_result result;
    const char *comma = "";

    printf("{\"ms\": [");
    do {
        begin = bench_seconds();
        check(pw_model_step(m, optim, batch, NULL, &result, &err));
        printf("%s%.4f", comma, 1e3 * (bench_seconds() - begin));
        comma = ", ";
    } while (bench_seconds() < end);
    printf("], \"loss\": %.6f", result.loss);
}

/* The same for what infer.h measures. */
static void look(enum pw_code (*measure)(struct pw_model *, const int *, int, double *, struct pw_err *),
                 struct pw_model *m, const int *tokens, int T, double duration)
{
    double end = bench_seconds() + duration, ms;
    const char *comma = "";

    printf("{\"ms\": [");
    do {
        check(measure(m, tokens, T, &ms, &err));
        printf("%s%.5f", comma, ms);
        comma = ", ";
    } while (bench_seconds() < end);
    printf("]");
}

static struct pw_model *create(const struct pw_backend_ops *ops, struct pw_backend *be,
                               const struct pw_config *cfg, const struct pw_pe_use_opts *pe,
                               const struct pw_optim *optim, const struct pw_batch *batch)
{
    struct pw_step_result result;
    struct pw_model *m;

    check(pw_model_create(&m, ops, be, cfg, pe, 1, &err));
    for (int i = 0; i < 3; i++) /* what grows on first use has grown, caches are warm */
        check(pw_model_step(m, optim, batch, NULL, &result, &err));
    return m;
}

int main(int argc, char **argv)
{
    struct options o;
    struct pw_config cfg;
    struct pw_optim optim;
    struct pw_pe_use_opts pe;
    struct pw_backend *be;
    const struct pw_backend_ops *ops = pw_backend_cpu();
    struct pw_model *model, *profiled = NULL;
    char line[64];

    pw_opt_defaults(option_table, &o);
    pw_opt_defaults(pw_config_opts, &cfg);
    pw_opt_defaults(pw_optim_opts, &optim);
    optim.lr = 1e-3f;
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL) {
            fprintf(stderr, "usage: bench_train key=value...\n");
            return 2;
        }
        *value++ = '\0';
        bool own = pw_opt_find(option_table, argv[i]) != NULL;
        check(own ? pw_opt_set(option_table, &o, "bench_train", argv[i], value, &err)
                  : pw_opt_set(pw_config_opts, &cfg, "bench_train", argv[i], value, &err));
    }
    cfg.vocab = o.vocab;
    cfg.context = o.positions;
    check(pw_config_check(&cfg, &err));
    check(pw_pe_parse(&pe, o.pe, &cfg, &err));

    struct pw_batch batch = random_batch(&o);
    check(ops->open(&be, o.threads, &err));
    model = create(ops, be, &cfg, &pe, &optim, &batch);
    printf("{\"device\": \"pewter " PEWTER_VERSION " on %s\", \"parameters\": %zu}\n", ops->device(be),
           pw_model_size(model));
    fflush(stdout);

    while (fgets(line, sizeof line, stdin) != NULL) {
        char verb[16];
        double duration;
        if (sscanf(line, "%15s %lf", verb, &duration) != 2) {
            fprintf(stderr, "bench_train: lines are `run|profile|decode|inspect SECONDS`\n");
            return 2;
        }
        if (strcmp(verb, "profile") == 0) {
            const struct pw_backend_ops *timed = bench_profile(ops);
            if (profiled == NULL)
                profiled = create(timed, be, &cfg, &pe, &optim, &batch);
            bench_profile_reset();
            run(profiled, &optim, &batch, duration);
            printf(", \"ops\": ");
            bench_profile_print(stdout);
        } else if (strcmp(verb, "decode") == 0) {
            look(bench_decode, model, batch.tokens, o.positions, duration);
        } else if (strcmp(verb, "inspect") == 0) {
            look(bench_inspect, model, batch.tokens, o.positions, duration);
        } else {
            run(model, &optim, &batch, duration);
        }
        printf("}\n");
        fflush(stdout);
    }

    pw_model_destroy(profiled);
    pw_model_destroy(model);
    ops->close(be);
    const int *arrays[] = {batch.start, batch.tokens, batch.pos, batch.rows, batch.targets};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free((void *)arrays[i]);
    return 0;
}
