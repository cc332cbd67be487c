/* ref_toy.c - see ref_toy.h. */
#include "ref_toy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"

struct toy toy_open(int threads)
{
    struct toy t = {.ops = pw_backend_cpu()};
    struct pw_err err = {0};

    if (t.ops->open(&t.be, threads, &err))
        fail_msg("%s", err.msg);
    return t;
}

void toy_close(struct toy *t)
{
    t->ops->close(t->be);
}

int toy_setup(void **state)
{
    static struct toy toy;

    toy = toy_open(2);
    *state = &toy;
    return 0;
}

int toy_teardown(void **state)
{
    toy_close(*state);
    return 0;
}

static void set_all(const struct pw_opt *table, void *target, const char *options)
{
    char *copy = strdup(options), *state = NULL;
    struct pw_err err = {0};

    assert_non_null(copy);
    pw_opt_defaults(table, target);
    for (char *word = strtok_r(copy, " ", &state); word != NULL; word = strtok_r(NULL, " ", &state)) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = '\0';
        if (pw_opt_set(table, target, "toy", word, equals + 1, &err))
            fail_msg("%s", err.msg);
    }
    free(copy);
}

void toy_set(struct pw_config *cfg, const char *options)
{
    *cfg = (struct pw_config){.vocab = 3};
    set_all(pw_config_opts, cfg, options);
}

struct pw_config toy_config(const char *options, int vocab)
{
    struct pw_config cfg = {.vocab = vocab};
    struct pw_err err = {0};

    set_all(pw_config_opts, &cfg, options);
    if (pw_config_check(&cfg, &err))
        fail_msg("%s", err.msg);
    return cfg;
}

struct pw_pe_use_opts toy_pe(const char *pe, const struct pw_config *cfg)
{
    struct pw_pe_use_opts use;
    struct pw_err err = {0};

    if (pw_pe_parse(&use, pe, cfg, &err))
        fail_msg("%s", err.msg);
    return use;
}

struct pw_model *toy_model(struct toy *t, const char *options, const char *pe, int vocab, uint64_t seed)
{
    struct pw_config cfg = toy_config(options, vocab);
    struct pw_pe_use_opts use = toy_pe(pe, &cfg);
    struct pw_model *m;
    struct pw_err err = {0};

    if (pw_model_create(&m, t->ops, t->be, &cfg, &use, seed, &err))
        fail_msg("%s", err.msg);
    return m;
}

void toy_swap(struct pw_model **m, const struct pw_pe_use_opts *pe, uint64_t seed, bool restart)
{
    struct pw_model *next;
    struct pw_err err;

    if (pw_model_swap(&next, *m, pe, seed, restart, &err))
        fail_msg("%s", err.msg);
    pw_model_destroy(*m);
    *m = next;
}

void toy_shake(struct pw_model *m, uint64_t seed)
{
    size_t n = pw_model_size(m);
    float *p = malloc(n * sizeof *p);
    struct pw_rng rng;

    assert_non_null(p);
    pw_rng_init(&rng, seed, PW_STREAM_TEST, 1);
    pw_model_get(m, p, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        p[i] += (float)(0.2 * pw_rng_normal(&rng));
    pw_model_put(m, p, NULL, NULL);
    free(p);
}

struct pw_optim toy_optim(const char *options)
{
    struct pw_optim o = {0};

    set_all(pw_optim_opts, &o, options);
    return o;
}

double toy_gradient_off(const struct pw_model *m, const float *got, const float *want, const char **name)
{
    double worst = 0, whole = 0;
    int n;
    const struct pw_param *p = pw_model_params(m, &n);

    *name = "none";
    for (size_t j = 0; j < pw_model_size(m); j++)
        whole += pow(want[j], 2);
    for (int i = 0; i < n; i++) {
        double off = 0, all = 0, part;
        for (size_t j = p[i].offset; j < p[i].offset + pw_param_count(&p[i]); j++) {
            off += pow((double)got[j] - want[j], 2);
            all += pow(want[j], 2);
        }
        part = sqrt(off / fmax(all, 1e-4 * whole));
        if (!(part <= worst)) {
            worst = part;
            *name = p[i].name;
        }
    }
    return worst;
}

struct pw_batch *toy_batch(uint64_t seed, int n_seqs, int shortest, int longest, int vocab)
{
    size_t most = (size_t)n_seqs * longest;
    struct pw_batch *b = calloc(1, sizeof *b);
    int *start = calloc((size_t)n_seqs + 1, sizeof *start), *tokens = calloc(most, sizeof *tokens);
    int *pos = calloc(most, sizeof *pos), *rows = calloc(most, sizeof *rows),
        *targets = calloc(most, sizeof *targets);
    struct pw_rng rng;
    int row = 0, scored = 0;

    assert_true(b != NULL && start != NULL && tokens != NULL && pos != NULL && rows != NULL &&
                targets != NULL);
    pw_rng_init(&rng, seed, PW_STREAM_TEST, 0);
    for (int s = 0; s < n_seqs; s++) {
        int T = shortest + (int)pw_rng_below(&rng, (uint32_t)(longest - shortest + 1));
        for (int t = 0; t < T; t++, row++) {
            tokens[row] = (int)pw_rng_below(&rng, (uint32_t)vocab);
            pos[row] = t;
            if (t == T - 1 || pw_rng_below(&rng, 3) > 0) {
                rows[scored] = row;
                targets[scored++] = (int)pw_rng_below(&rng, (uint32_t)vocab);
            }
        }
        start[s + 1] = row;
    }
    *b = (struct pw_batch){.n_seqs = n_seqs,
                           .n_rows = row,
                           .n_scored = scored,
                           .start = start,
                           .tokens = tokens,
                           .pos = pos,
                           .rows = rows,
                           .targets = targets};
    return b;
}

void toy_batch_free(struct pw_batch *b)
{
    free((void *)(uintptr_t)b->start);
    free((void *)(uintptr_t)b->tokens);
    free((void *)(uintptr_t)b->pos);
    free((void *)(uintptr_t)b->rows);
    free((void *)(uintptr_t)b->targets);
    free(b);
}

struct pw_step_result toy_step(struct pw_model *m, const struct pw_optim *o, uint64_t seed, int n_seqs,
                               int shortest, int longest, int vocab)
{
    struct pw_batch *b = toy_batch(seed, n_seqs, shortest, longest, vocab);
    struct pw_step_result result;
    struct pw_err err = {0};

    if (pw_model_step(m, o, b, NULL, &result, &err) != PW_OK)
        fail_msg("%s", err.msg);
    toy_batch_free(b);
    return result;
}

void toy_near(double found, double expected, double tolerance, const char *what, int i)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s[%d] is %.12g, not %.12g", what, i, found, expected);
}
