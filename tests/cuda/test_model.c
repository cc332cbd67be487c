/* test_model.c - a model on the emulated device: several of its steps under way, one of them not finite, and
 * what comes back to the host. Streams run as late as they may, so that what doesn't wait is found. */
#include "tests/emulator/emulator.h"
#include "tests/model/ref_toy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { VOCAB = 11, SHORT = 8, LONG = 14, SEQS = 3, WIDTH = 16 };

static const char options[] = "layers=2 width=16 heads=2 ffn=24 context=32 dropout=0.1";

static struct toy open_device(const char *mode)
{
    struct toy t;
    struct pw_err err;
    int unit;
    t.ops = pw_backend_find("cuda:0", mode, NULL, &unit, &err);
    if (t.ops == NULL || t.ops->open(&t.be, unit, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return t;
}

static int late(void **state)
{
    (void)state;
    pw_emu_set_deferred(true);
    return 0;
}

static int reset(void **state)
{
    (void)state;
    pw_emu_reset();
    return cudaDeviceReset() != cudaSuccess;
}

/* ---- steps under way */

struct run {
    struct pw_model *m;
    struct pw_optim o;
    struct pw_step_result told[16];
    int n;
};

static struct run begin(struct toy *t)
{
    return (struct run){.m = toy_model(t, options, "learned", VOCAB, 1), .o = toy_optim("warmup=0 lr=0.01")};
}

static void start(struct run *r, const struct pw_batch *b)
{
    struct pw_err err;
    if (pw_model_start(r->m, &r->o, b, NULL, &err) != PW_OK)
        fail_msg("%s", err.msg);
}

static void finish(struct run *r)
{
    struct pw_err err;
    if (pw_model_finish(r->m, &r->told[r->n++], &err) != PW_OK)
        fail_msg("%s", err.msg);
}

/* All of them under way at once. */
static void steps(struct run *r, struct pw_batch *const *b, int n)
{
    assert_true(n <= pw_model_may_fly(r->m));
    for (int i = 0; i < n; i++)
        start(r, b[i]);
    for (int i = 0; i < n; i++)
        finish(r);
}

/* Weights and moments; the caller frees. */
static float *holds(struct pw_model *m)
{
    size_t n = pw_model_size(m);
    float *all = malloc(3 * n * sizeof *all);
    assert_non_null(all);
    pw_model_get(m, all, all + n, all + 2 * n);
    return all;
}

static void same(struct pw_model *a, struct pw_model *b)
{
    float *x = holds(a), *y = holds(b);
    assert_memory_equal(x, y, 3 * pw_model_size(a) * sizeof *x);
    assert_int_equal(pw_model_step_count(a), pw_model_step_count(b));
    free(x);
    free(y);
}

/* A row of the table of positions that short sequences don't come to: with it no loss is finite. */
static void poison(struct pw_model *m)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);
    float *all = holds(m);
    while (n > 0 && !p->pe)
        p++, n--;
    assert_true(n > 0 && p->cols == WIDTH);
    for (int c = 0; c < WIDTH; c++)
        all[p->offset + SHORT * WIDTH + (size_t)c] = INFINITY;
    pw_model_put(m, all, NULL, NULL);
    free(all);
}

/* The step that isn't finite, and `behind` more that could be learned from. */
static void accident(struct run *r, const struct pw_batch *bad, struct pw_batch *const *good, int behind)
{
    struct pw_step_result none;
    struct pw_err err;
    char with[64];
    snprintf(with, sizeof with, "the loss is not finite at step %d;", (int)pw_model_step_count(r->m) + 1);
    start(r, bad);
    for (int i = 0; i < behind; i++)
        start(r, good[i]);
    assert_int_equal(pw_model_finish(r->m, &none, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, with));
    assert_int_equal(pw_model_flying(r->m), 0);
}

/* Nothing is learned from it nor from those behind it, of which some are graphs; and then all is as if it had
 * not been. */
static void not_finite(const char *mode)
{
    struct toy t = open_device(mode);
    struct run r = begin(&t), want = begin(&t);
    struct pw_batch *good[3], *bad = toy_batch(9, SEQS, LONG, LONG, VOCAB);
    for (int i = 0; i < 3; i++)
        good[i] = toy_batch((uint64_t)i + 1, SEQS, SHORT / 2, SHORT, VOCAB);
    poison(r.m);
    poison(want.m);
    steps(&r, good, 3);
    steps(&want, good, 3);
    for (int behind = 0; behind < PW_FLIGHTS; behind++) {
        accident(&r, bad, good, behind);
        same(r.m, want.m);
        steps(&r, good, 3);
        steps(&want, good, 3);
        same(r.m, want.m);
    }
    for (int i = 0; i < r.n; i++) {
        assert_true(isfinite(r.told[i].loss) && r.told[i].loss == want.told[i].loss);
        assert_true(r.told[i].grad_norm == want.told[i].grad_norm);
    }
    for (int i = 0; i < 3; i++)
        toy_batch_free(good[i]);
    toy_batch_free(bad);
    pw_model_destroy(r.m);
    pw_model_destroy(want.m);
    t.ops->close(t.be);
}

static void test_not_finite(void **state)
{
    (void)state;
    not_finite("ref");
    not_finite("fast");
}

/* ---- what comes back */

enum { T = 9, CELLS = 2 * 2 * T * T, STREAM = 3 * T * WIDTH };

struct seen {
    float loss[SEQS * LONG], score[CELLS], probs[CELLS], resid[STREAM], logits[T * VOCAB], updates[5];
    int best[SEQS * LONG];
    double mean;
    uint64_t digest[2];
};

/* Everything that a model can be asked for, twice, so that what is kept on the host holds something old. */
static void look(struct seen *s, const struct pw_batch *const *b)
{
    struct toy t = open_device("fast");
    struct run r = begin(&t);
    struct pw_err err;
    const struct pw_inspection want = {
        .score = s->score, .probs = s->probs, .resid = s->resid, .logits = s->logits};
    float *grad = malloc(pw_model_size(r.m) * sizeof *grad);
    assert_non_null(grad);
    for (int i = 0; i < 2; i++) {
        start(&r, b[i]);
        finish(&r);
        assert_int_equal(pw_model_eval(r.m, b[i], s->best, s->loss, &err), PW_OK);
        assert_int_equal(pw_model_inspect(r.m, b[i]->tokens, T, &want, &err), PW_OK);
        assert_int_equal(pw_model_gradient(r.m, b[i], grad, &s->mean, &err), PW_OK);
        pw_model_updates(r.m, s->updates);
        pw_model_digest(r.m, s->digest);
    }
    free(grad);
    pw_model_destroy(r.m);
    t.ops->close(t.be);
}

static void test_comes_back(void **state)
{
    static struct seen at_once, later;
    struct pw_batch *b[2] = {toy_batch(1, SEQS, LONG, LONG, VOCAB), toy_batch(2, SEQS, LONG, LONG, VOCAB)};
    (void)state;
    pw_emu_set_deferred(false);
    look(&at_once, (const struct pw_batch *const *)b);
    pw_emu_set_deferred(true);
    look(&later, (const struct pw_batch *const *)b);
    assert_memory_equal(&at_once, &later, sizeof later);
    assert_true(later.loss[0] > 0 && later.resid[STREAM - 1] != 0 && later.updates[0] > 0);
    for (int i = 0; i < 2; i++)
        toy_batch_free(b[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_not_finite, late, reset),
        cmocka_unit_test_setup_teardown(test_comes_back, late, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
