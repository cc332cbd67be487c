/* limits.c - measures the limits of a backend through its own table of operations: products, memory and
 * launches, each alone. They bound the speed of a training step. (peak.c measures the CPU's arithmetic only.)
 *
 * usage: bench_limits [backend=NAME] [mode=M] [precision=P] [floats=N] [launches=N] [rounds=N]
 *                     [ROWSxINxOUT...]
 *
 * Prints one JSON object:
 *   products     linear layers on random numbers: [{"shape": [rows, in, out], "fwd": TFLOP/s, "dx", "dw"}]
 *   add_gbs      y += x: gigabytes read and written per second
 *   launch_us    one small operation among many
 *   replay_us    one operation among as many that are replayed as a CUDA graph
 *   round_us     one operation, submitted and waited for
 *
 * A bf16 product includes the rounding of its activations, as in training. Each figure is the best of all
 * rounds. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/opt.h"
#include "base/rng.h"
#include "kernels/backend.h"

enum { BLOCK = 1 << 20 }; /* random floats, repeated to fill larger arrays */

struct options {
    int precision, floats, launches, rounds;
    char backend[16], mode[16];
};

static const char *const precisions[] = {"fp32", "tf32", "bf16", NULL};

#define AT(member)   offsetof(struct options, member)
#define SIZE(member) sizeof((struct options *)0)->member

static const struct pw_opt option_table[] = {
    {"backend", PW_OPT_TEXT, AT(backend), "cuda", 0, 0, NULL, SIZE(backend), "cpu, cuda, cuda:N"},
    {"mode", PW_OPT_TEXT, AT(mode), "", 0, 0, NULL, SIZE(mode), "of cuda: fast, ref"},
    {"precision", PW_OPT_CHOICE, AT(precision), "fp32", 0, 0, precisions, 0, "of products"},
    {"floats", PW_OPT_INT, AT(floats), "500000000", 1, 2000000000, NULL, 0, "added to as many others"},
    {"launches", PW_OPT_INT, AT(launches), "1000", 1, 100000, NULL, 0, "of a small operation"},
    {"rounds", PW_OPT_INT, AT(rounds), "5", 1, 1000, NULL, 0, "of which the best counts"},
    {0},
};

static struct pw_err err;
static const struct pw_backend_ops *ops;
static struct pw_backend *be;

static void check(enum pw_code code)
{
    if (code != PW_OK) {
        fprintf(stderr, "bench_limits: %s\n", err.msg);
        exit(1);
    }
}

static float *room(size_t n)
{
    float *p = ops->alloc(be, n * sizeof *p);
    check(p != NULL ? PW_OK : pw_fail(&err, PW_ENOMEM, "no memory for %zu floats", n));
    return p;
}

/* Returns n floats between -1 and 1. */
static float *random_floats(size_t n)
{
    static float block[BLOCK];
    float *p = room(n);
    struct pw_rng rng;

    pw_rng_init(&rng, 1, PW_STREAM_TRAIN, 0);
    for (int i = 0; i < BLOCK && block[BLOCK - 1] == 0; i++)
        block[i] = (float)pw_rng_below(&rng, 1 << 24) * 0x1p-23f - 1;
    for (size_t i = 0; i < n; i += BLOCK)
        ops->upload(be, p + i, block, (n - i < BLOCK ? n - i : BLOCK) * sizeof *p);
    check(ops->sync(be, &err));
    return p;
}

/* An operation to time, and its arguments. */
struct work {
    void (*run)(struct pw_ctx *c, const struct work *w);
    struct pw_mat mat;
    float *x, *y;
    size_t n;  /* floats, or rows */
    int times; /* repetitions per timing */
};

static void call(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    const struct work *w = arg;
    (void)chunk, (void)worker;
    for (int i = 0; i < w->times; i++)
        w->run(c, w);
}

static void all(void *arg)
{
    ops->for_chunks(be, 1, call, arg);
}

/* Seconds of one repetition, the best of all rounds. The first two rounds are warm-up and don't count. */
static double seconds(struct work *w, bool replay, int rounds)
{
    double best = 1e30;

    for (int i = -2; i < rounds; i++) {
        double begin = pw_now();
        if (replay)
            ops->replay(be, w, sizeof *w, all, w);
        else
            all(w);
        check(ops->sync(be, &err));
        double took = (pw_now() - begin) / w->times;
        if (i >= 0 && took < best)
            best = took;
    }
    return best;
}

static void fwd(struct pw_ctx *c, const struct work *w)
{
    ops->linear_fwd(c, w->y, NULL, w->x, &w->mat, NULL, NULL, PW_ACT_NONE, (int)w->n);
}

static void dx(struct pw_ctx *c, const struct work *w)
{
    ops->linear_dx(c, w->x, w->y, &w->mat, PW_ACT_NONE, NULL, 1, (int)w->n);
}

static void dw(struct pw_ctx *c, const struct work *w)
{
    ops->linear_dw(c, (float *)w->mat.w, NULL, w->y, w->x, false, w->mat.out, w->mat.in, (int)w->n);
}

static void add_gradient(struct pw_ctx *c, const struct work *w)
{
    ops->add(c, w->y, w->x, w->n);
}

static void product(int rows, int in, int out, int rounds)
{
    static const struct {
        const char *name;
        void (*run)(struct pw_ctx *c, const struct work *w);
    } kinds[] = {{"fwd", fwd}, {"dx", dx}, {"dw", dw}};
    double flop = 2.0 * rows * in * out;
    struct work w = {.n = (size_t)rows};

    w.mat = (struct pw_mat){.w = random_floats((size_t)out * in),
                            .out = out,
                            .in = in,
                            .pack = room(ops->mat_pack_floats(out, in, false)),
                            .back = room(ops->mat_pack_floats(out, in, true))};
    w.x = random_floats((size_t)rows * in);
    w.y = random_floats((size_t)rows * out);
    w.times = flop < 1e11 ? 20 : 5;
    ops->prepare(be, &w.mat, 1);
    printf("{\"shape\": [%d, %d, %d]", rows, in, out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        w.run = kinds[i].run;
        printf(", \"%s\": %.4g", kinds[i].name, 1e-12 * flop / seconds(&w, false, rounds));
    }
    printf("}");
    float *all_of_them[] = {(float *)w.mat.w, w.mat.pack, w.mat.back, w.x, w.y};
    for (size_t i = 0; i < sizeof all_of_them / sizeof *all_of_them; i++)
        ops->free(be, all_of_them[i]);
}

static void memory_and_launches(const struct options *o)
{
    struct work w = {.run = add_gradient, .n = (size_t)o->floats, .times = 4};

    w.x = random_floats(w.n);
    w.y = random_floats(w.n);
    printf(", \"add_gbs\": %.4g", 12e-9 * (double)w.n / seconds(&w, false, o->rounds));
    w.n = 1;
    w.times = o->launches;
    printf(", \"launch_us\": %.4g", 1e6 * seconds(&w, false, o->rounds));
    printf(", \"replay_us\": %.4g", 1e6 * seconds(&w, true, o->rounds));
    w.times = 1;
    printf(", \"round_us\": %.4g", 1e6 * seconds(&w, false, 20 * o->rounds));
    ops->free(be, w.x);
    ops->free(be, w.y);
}

int main(int argc, char **argv)
{
    struct options o;
    int unit, rows, in, out, shapes = 1;
    char end;

    pw_opt_defaults(option_table, &o);
    for (; shapes < argc && strchr(argv[shapes], '=') != NULL; shapes++) {
        char *value = strchr(argv[shapes], '=');
        *value++ = '\0';
        check(pw_opt_set(option_table, &o, "bench_limits", argv[shapes], value, &err));
    }
    ops = pw_backend_find(o.backend, o.mode[0] != '\0' ? o.mode : NULL, precisions[o.precision], &unit, &err);
    check(ops != NULL ? ops->open(&be, ops->host ? 1 : unit, &err) : PW_EUSER);
    printf("{\"device\": \"%s\", \"precision\": \"%s\", \"products\": [", ops->device(be), ops->precision);
    for (int i = shapes; i < argc; i++) {
        bool read =
            sscanf(argv[i], "%dx%dx%d%c", &rows, &in, &out, &end) == 3 && rows > 0 && in > 0 && out > 0;
        check(read ? PW_OK : pw_fail(&err, PW_EUSER, "'%.40s' is no shape; one is ROWSxINxOUT", argv[i]));
        fputs(i > shapes ? ", " : "", stdout);
        product(rows, in, out, o.rounds);
    }
    printf("]");
    memory_and_launches(&o);
    printf("}\n");
    ops->close(be);
    return 0;
}
