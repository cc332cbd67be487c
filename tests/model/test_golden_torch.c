/* test_golden_torch.c - compares logits, losses, gradient norms and the parameters after three AdamW steps
 * with PyTorch, for every encoding, for the options of every family of published models, and for low-rank
 * adapters with frozen weights. make_torch.py wrote the references tests/golden/torch.safetensors,
 * torch_options.safetensors and torch_adapter.safetensors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/expr/library.h"
#include "model/model.h"
#include "model/safetensors.h"
#include "ref_toy.h"

enum { STEPS = 3, MAX_ROWS = 64 };

static struct pw_st golden;

static const float *floats(const char *name, const char *more, size_t n)
{
    char full[128];
    const struct pw_st_tensor *t;

    snprintf(full, sizeof full, "%s%s", name, more);
    t = pw_st_find(&golden, full);
    if (t == NULL || t->type != PW_ST_F32 || t->bytes != n * sizeof(float))
        fail_msg("no golden tensor %s of %zu floats", full, n);
    return t->data; /* aligned: the writer pads the header to eight bytes, and malloc aligns the file */
}

static const char *text(const char *name, const char *more)
{
    char full[128];
    const char *s;

    snprintf(full, sizeof full, "%s%s", name, more);
    s = pw_st_meta(&golden, full);
    if (s == NULL)
        fail_msg("no golden text %s", full);
    return s;
}

/* The batch of all cases. */
struct data {
    struct pw_batch b;
    int start[9], tokens[MAX_ROWS], pos[MAX_ROWS], rows[MAX_ROWS], targets[MAX_ROWS];
};

static void read_batch(struct data *d)
{
    const struct pw_st_tensor *lengths = pw_st_find(&golden, "lengths"),
                              *tokens = pw_st_find(&golden, "tokens");
    const struct pw_st_tensor *targets = pw_st_find(&golden, "targets");
    int row = 0;

    assert_true(lengths != NULL && tokens != NULL && targets != NULL && lengths->dims[0] <= 8 &&
                tokens->dims[0] <= MAX_ROWS);
    *d = (struct data){.b = {.n_seqs = (int)lengths->dims[0]}};
    for (int s = 0; s < d->b.n_seqs; s++) {
        int64_t n = ((const int64_t *)lengths->data)[s];
        for (int t = 0; t < n; t++, row++) {
            int target = (int)((const int64_t *)targets->data)[row];
            d->tokens[row] = (int)((const int64_t *)tokens->data)[row];
            d->pos[row] = t;
            if (target >= 0) {
                d->rows[d->b.n_scored] = row;
                d->targets[d->b.n_scored++] = target;
            }
        }
        d->start[s + 1] = row;
    }
    d->b = (struct pw_batch){.n_seqs = d->b.n_seqs,
                             .n_rows = row,
                             .n_scored = d->b.n_scored,
                             .start = d->start,
                             .tokens = d->tokens,
                             .pos = d->pos,
                             .rows = d->rows,
                             .targets = d->targets};
}

static void put_before(struct pw_model *m, const char *name)
{
    float *values = malloc(pw_model_size(m) * sizeof *values);
    int n;
    const struct pw_param *p = pw_model_params(m, &n);

    assert_non_null(values);
    for (int i = 0; i < n; i++) {
        char more[80];
        snprintf(more, sizeof more, ".before.%s", p[i].name);
        memcpy(values + p[i].offset, floats(name, more, pw_param_count(&p[i])),
               pw_param_count(&p[i]) * sizeof *values);
    }
    pw_model_put(m, values, NULL, NULL);
    free(values);
}

static void check_after(struct pw_model *m, const char *name)
{
    float *values = malloc(pw_model_size(m) * sizeof *values);
    int n;
    const struct pw_param *p = pw_model_params(m, &n);

    assert_non_null(values);
    pw_model_get(m, values, NULL, NULL);
    for (int i = 0; i < n; i++) {
        char more[80];
        const float *expected;
        snprintf(more, sizeof more, ".after.%s", p[i].name);
        expected = floats(name, more, pw_param_count(&p[i]));
        for (size_t k = 0; k < pw_param_count(&p[i]); k++)
            if (fabs(values[p[i].offset + k] - expected[k]) > 1e-5)
                fail_msg("%s%s[%zu] is %.9g, not %.9g", name, more, k, values[p[i].offset + k], expected[k]);
    }
    free(values);
}

static void check_logits(struct pw_model *m, const char *name, const struct pw_batch *b)
{
    int V = pw_model_config(m)->vocab;
    const float *expected = floats(name, ".logits", (size_t)b->n_rows * V);
    float found[MAX_ROWS * 8];
    struct pw_err err = {0};

    assert_true(V <= 8);
    for (int s = 0; s < b->n_seqs; s++) {
        int first = b->start[s], T = b->start[s + 1] - first;
        assert_int_equal(
            pw_model_inspect(m, b->tokens + first, T, &(struct pw_inspection){.logits = found}, &err), PW_OK);
        for (int i = 0; i < T * V; i++)
            if (fabs(found[i] - expected[first * V + i]) > 1e-5 * (1 + fabs(expected[first * V + i])))
                fail_msg("%s: logit %d of sequence %d is %.9g, not %.9g", name, i, s, found[i],
                         expected[first * V + i]);
    }
}

static void check_case(struct toy *toy, const char *name)
{
    struct pw_model *m = toy_model(toy, text(name, ".model"), text(name, ".pe"), atoi(text("vocab", "")), 1);
    struct pw_optim o = toy_optim(text("optim", ""));
    const float *loss = floats(name, ".loss", STEPS), *norm = floats(name, ".norm", STEPS);
    struct pw_step_result result;
    struct pw_err err = {0};
    struct data d;

    read_batch(&d);
    put_before(m, name);
    check_logits(m, name, &d.b);
    for (int i = 0; i < STEPS; i++) {
        if (pw_model_step(m, &o, &d.b, NULL, &result, &err))
            fail_msg("%s", err.msg);
        if (fabs(result.loss - loss[i]) > 1e-5 || fabs(result.grad_norm - norm[i]) > 1e-4 * norm[i])
            fail_msg("%s, step %d: loss %.9g, gradient norm %.9g, not %.9g and %.9g", name, i + 1,
                     result.loss, result.grad_norm, loss[i], norm[i]);
    }
    check_after(m, name);
    pw_model_destroy(m);
}

static void open_golden(const char *name)
{
    char path[1024];
    struct pw_err err = {0};

    snprintf(path, sizeof path, PEWTER_SOURCE_DIR "/tests/golden/%s.safetensors", name);
    if (pw_st_open(&golden, path, &err))
        fail_msg("%s", err.msg);
}

/* Checks all cases of a file. */
static void check_file(const char *name_of_file)
{
    struct toy toy = toy_open(2);
    char *cases, *rest = NULL;

    open_golden(name_of_file);
    cases = strdup(text("cases", ""));
    assert_non_null(cases);
    for (char *name = strtok_r(cases, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest))
        check_case(&toy, name);
    free(cases);
    pw_st_close(&golden);
    toy_close(&toy);
}

static void test_families(void **state)
{
    (void)state;
    check_file("torch_options");
}

static void test_adapters(void **state)
{
    (void)state;
    check_file("torch_adapter");
}

static void test_cases(void **state)
{
    struct toy toy = toy_open(2);
    char *cases, *rest = NULL;
    struct pw_config cfg = toy_config("", 1);
    bool seen[32] = {false};
    struct pw_pe_use_opts use;
    struct pw_err err;

    (void)state;
    open_golden("torch");
    cases = strdup(text("cases", ""));
    assert_non_null(cases);
    for (char *name = strtok_r(cases, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
        check_case(&toy, name);
        assert_int_equal(pw_pe_parse(&use, text(name, ".pe"), &cfg, &err), PW_OK);
        for (int e = 0; pw_pes[e] != NULL; e++)
            seen[e] |= use.pe == pw_pes[e];
    }
    for (int e = 0; pw_pes[e] != NULL; e++)
        if (!seen[e])
            fail_msg("no golden case for %s", pw_pes[e]->name);
    free(cases);
    pw_st_close(&golden);
    toy_close(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_families),
                                       cmocka_unit_test(test_adapters)};

    pw_library_folders("/nonexistent", PEWTER_SOURCE_DIR "/encodings");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
