#include "ref_probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

static struct pw_backend *the_backend(void)
{
    static struct pw_backend *be;
    struct pw_err err;
    if (be == NULL && pw_backend_cpu()->open(&be, 1, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return be;
}

/* Sets options "key=value key=value" in target. */
static enum pw_code set_all(const struct pw_opt *table, void *target, const char *text, struct pw_err *err)
{
    char *copy = strdup(text), *state = NULL;
    enum pw_code code = PW_OK;
    for (char *w = strtok_r(copy, " ", &state); w != NULL && code == PW_OK; w = strtok_r(NULL, " ", &state)) {
        char *equals = strchr(w, '=');
        assert_non_null(equals);
        *equals = '\0';
        code = pw_opt_set(table, target, "test", w, equals + 1, err);
    }
    free(copy);
    return code;
}

struct pw_model *ref_probe_model(const char *config, const char *pe, uint64_t seed)
{
    struct pw_config cfg;
    struct pw_pe_use_opts use;
    struct pw_model *m = NULL;
    struct pw_err err = {0};
    pw_opt_defaults(pw_config_opts, &cfg);
    enum pw_code code = set_all(pw_config_opts, &cfg, "width=32 heads=4 context=64", &err);
    if (code == PW_OK)
        code = set_all(pw_config_opts, &cfg, config, &err);
    cfg.vocab = REF_VOCAB;
    cfg.n_bos = 1;
    cfg.bos[0] = REF_FIRST;
    if (code == PW_OK)
        code = pw_config_check(&cfg, &err);
    if (code == PW_OK)
        code = pw_pe_parse(&use, pe, &cfg, &err);
    if (code == PW_OK)
        code = pw_model_create(&m, pw_backend_cpu(), the_backend(), &cfg, &use, seed, &err);
    if (code != PW_OK)
        fail_msg("%s", err.msg);
    return m;
}

static int sequence(void *arg, int length, int64_t index, int *tokens, int cap, int *n_prompt)
{
    struct pw_rng rng;
    (void)arg;
    if (2 * length + 2 > cap)
        return 0;
    pw_rng_init(&rng, 7, PW_STREAM_TEST, (uint64_t)index | (uint64_t)length << 32);
    tokens[0] = REF_FIRST;
    tokens[length + 1] = REF_FIRST + 1;
    for (int i = 1; i <= length; i++)
        tokens[i] = tokens[length + 1 + i] =
            REF_FIRST + 2 + (int)pw_rng_below(&rng, REF_VOCAB - REF_FIRST - 2);
    *n_prompt = length + 2;
    return 2 * length + 2;
}

static bool has(void *arg, int length)
{
    (void)arg;
    return length >= 1 && length <= 12;
}

enum { BATCH = 64, MOST_ROWS = BATCH * 26 };

/* The same sequences as a batch, each followed by the end mark. */
static const struct pw_batch *samples(void *arg, int length, int64_t first, int n, const int **scored)
{
    static int start[BATCH + 1], at[BATCH + 1], tokens[MOST_ROWS], pos[MOST_ROWS], rows[MOST_ROWS];
    static int targets[MOST_ROWS];
    static struct pw_batch b;
    b = (struct pw_batch){
        .start = start, .tokens = tokens, .pos = pos, .rows = rows, .targets = targets, .n_seqs = n};
    assert_true(n <= BATCH);
    for (int i = 0; i < n; i++) {
        int n_prompt, T = sequence(arg, length, first + i, tokens + b.n_rows, 26, &n_prompt);
        start[i] = b.n_rows;
        at[i] = b.n_scored;
        for (int t = 0; t < T; t++) {
            pos[b.n_rows + t] = t;
            if (t + 1 < n_prompt)
                continue;
            rows[b.n_scored] = b.n_rows + t;
            targets[b.n_scored++] = t + 1 < T ? tokens[b.n_rows + t + 1] : 1;
        }
        b.n_rows += T;
    }
    start[n] = b.n_rows;
    at[n] = b.n_scored;
    *scored = at;
    return &b;
}

static int n_samples(void *arg, int length, int most)
{
    (void)arg;
    (void)length;
    return most;
}

static void word(void *arg, int token, char out[PW_FINDING_LABEL])
{
    (void)arg;
    snprintf(out, PW_FINDING_LABEL, "w%d", token);
}

enum pw_code ref_probe_run(struct pw_finding *f, const char *name, const char *opts, struct pw_model **models,
                           struct pw_model **controls, int n, struct pw_err *err)
{
    const struct pw_probe *probe = pw_probe_find(name);
    struct pw_probe_subject subjects[8] = {0};
    union {
        char bytes[PW_PROBE_OPTS_MAX];
        double align;
    } o;
    int prompt[64];
    assert_non_null(probe);
    assert_true(n <= 8);
    for (int i = 0; i < n; i++) {
        subjects[i] = (struct pw_probe_subject){
            .arm = i + 1, .replica = 1, .model = models[i], .control = controls != NULL ? controls[i] : NULL};
        snprintf(subjects[i].name, sizeof subjects[i].name, "%d %.40s", i + 1,
                 pw_model_pe(models[i])->pe->name);
    }
    struct pw_probe_in in = {.n = n,
                             .subject = subjects,
                             .topic = "test",
                             .who = "the test",
                             .seed = 3,
                             .vocab = REF_VOCAB,
                             .first_word = REF_FIRST,
                             .lengths = {2, 6},
                             .test = {7, 12},
                             .sequence = sequence,
                             .has = has,
                             .samples = samples,
                             .n_samples = n_samples,
                             .word = word,
                             .tokens = prompt,
                             .ops = pw_backend_cpu(),
                             .be = the_backend()};
    in.T = sequence(NULL, 6, 0, prompt, 64, &in.n_prompt);
    struct pw_probing_at at = {.probe = probe, .in = &in, .opts = o.bytes};
    if (probe->opts != NULL)
        pw_opt_defaults(probe->opts, o.bytes);
    enum pw_code code = set_all(probe->opts, o.bytes, opts, err);
    if (code == PW_OK && probe->begin != NULL)
        code = probe->begin(&at, err);
    for (int i = 0; code == PW_OK && i < at.units; i++)
        code = probe->unit(&at, i, err);
    memset(f, 0, sizeof *f);
    if (code == PW_OK)
        code = probe->end(&at, f, err);
    pw_probe_fini(&at);
    if (code == PW_OK && pw_finding_check(f) != NULL)
        fail_msg("%s: %s", name, pw_finding_check(f));
    return code;
}

void ref_probe(struct pw_finding *f, const char *name, const char *opts, struct pw_model **models,
               struct pw_model **controls, int n)
{
    struct pw_err err = {0};
    if (ref_probe_run(f, name, opts, models, controls, n, &err) != PW_OK)
        fail_msg("%s: %s", name, err.msg);
}

const struct pw_block *ref_block(const struct pw_finding *f, const char *title)
{
    for (int i = 0; i < f->n_blocks; i++)
        if (strncmp(f->blocks[i].title, title, strlen(title)) == 0)
            return &f->blocks[i];
    fail_msg("%s: no block '%s'", f->name, title);
    return NULL;
}

const struct pw_claim *ref_claim(const struct pw_finding *f, const char *claim)
{
    for (int i = 0; i < f->n_claims; i++)
        if (strncmp(f->claims[i].claim, claim, strlen(claim)) == 0)
            return &f->claims[i];
    fail_msg("%s: no claim '%s'", f->name, claim);
    return NULL;
}
