/* test_model.c - tests a model on the emulated device: steps in flight, alone and in groups, a step that
 * isn't finite, and results on the host. Streams run as late as possible, so that a missing wait is
 * detected. */
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

static const char options[] = "layers=2 width=16 heads=2 ffn=24 context=96 dropout=0.1";

static struct toy open_as(const char *mode, const char *precision)
{
    struct toy t;
    struct pw_err err;
    int unit;
    t.ops = pw_backend_find("cuda:0", mode, precision, &unit, &err);
    if (t.ops == NULL || t.ops->open(&t.be, unit, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return t;
}

static struct toy open_device(const char *mode)
{
    return open_as(mode, NULL);
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

/* ---- steps in flight */

struct run {
    struct pw_model *m;
    struct pw_optim o;
    struct pw_step_result told[96];
    int n;
};

static struct run begin_with(struct toy *t, const char *model, const char *pe)
{
    return (struct run){.m = toy_model(t, model, pe, VOCAB, 1), .o = toy_optim("warmup=0 lr=0.01")};
}

static struct run begin(struct toy *t, const char *pe)
{
    return begin_with(t, options, pe);
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

/* Submits all steps before the first result. */
static void steps(struct run *r, struct pw_batch *const *b, int n)
{
    assert_true(n <= pw_model_may_fly(r->m));
    for (int i = 0; i < n; i++)
        start(r, b[i]);
    for (int i = 0; i < n; i++)
        finish(r);
}

/* Weights and moments; the caller frees them. */
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

/* Sets a row of the position table that short sequences don't use to infinity. A longer sequence has no
 * finite loss. */
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

/* Submits the step that isn't finite, and `behind` more that are trainable. */
static void accident(struct run *r, const struct pw_batch *bad, struct pw_batch *const *good, int behind)
{
    struct pw_step_result none;
    struct pw_err err;
    char with[64];
    snprintf(with, sizeof with, "the loss is not finite at step %d;", (int)pw_model_step_count(r->m) + 1);
    start(r, bad);
    for (int i = 0; i < behind; i++)
        start(r, good[i % 3]);
    assert_int_equal(pw_model_finish(r->m, &none, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, with));
    assert_int_equal(pw_model_flying(r->m), 0);
}

/* Neither it nor the later steps in flight, some of them graphs, change the weights. Afterwards training
 * continues as if it had not occurred. */
static void not_finite(const char *mode)
{
    struct toy t = open_device(mode);
    struct run r = begin(&t, "learned"), want = begin(&t, "learned");
    struct pw_batch *good[3], *bad = toy_batch(9, SEQS, LONG, LONG, VOCAB);
    for (int i = 0; i < 3; i++)
        good[i] = toy_batch((uint64_t)i + 1, SEQS, SHORT / 2, SHORT, VOCAB);
    poison(r.m);
    poison(want.m);
    steps(&r, good, 3);
    steps(&want, good, 3);
    for (int behind = 0; behind < pw_model_may_fly(r.m); behind++) {
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

/* ---- steps in groups */

/* Two runs: steps submitted at once, and one by one. */
struct pair {
    struct toy t;
    struct run at_once, by_itself;
};

static struct pair open_pair(const char *pe)
{
    struct pair p = {.t = open_device("fast")};
    p.at_once = begin(&p.t, pe);
    p.by_itself = begin(&p.t, pe);
    return p;
}

static void close_pair(struct pair *p)
{
    pw_model_destroy(p->at_once.m);
    pw_model_destroy(p->by_itself.m);
    p->t.ops->close(p->t.be);
}

/* The results of an evaluation, and the accumulated gradients of the encoding; the caller frees them. */
static float *seen_of(struct pw_model *m, const struct pw_batch *b, size_t *bytes)
{
    struct pw_err err;
    size_t learned = pw_model_size(m), scored = (size_t)b->n_scored;
    float *loss = calloc(scored + learned, sizeof *loss);
    int *best = malloc(scored * sizeof *best);
    assert_true(loss && best);
    assert_int_equal(pw_model_eval(m, b, best, loss, &err), PW_OK);
    pw_model_pe_gradient(m, loss + scored);
    free(best);
    *bytes = (scored + learned) * sizeof *loss;
    return loss;
}

static void both(struct pair *p, struct pw_batch *const *b, int n)
{
    size_t bytes;
    steps(&p->at_once, b, n);
    for (int i = 0; i < n; i++) {
        start(&p->by_itself, b[i]);
        finish(&p->by_itself);
    }
    same(p->at_once.m, p->by_itself.m);
    float *x = seen_of(p->at_once.m, b[0], &bytes), *y = seen_of(p->by_itself.m, b[0], &bytes);
    assert_memory_equal(x, y, bytes);
    free(x);
    free(y);
    for (int i = p->at_once.n - n; i < p->at_once.n; i++) {
        assert_true(p->at_once.told[i].loss == p->by_itself.told[i].loss);
        assert_true(p->at_once.told[i].accuracy == p->by_itself.told[i].accuracy);
        assert_true(p->at_once.told[i].grad_norm == p->by_itself.told[i].grad_norm);
        assert_true(p->at_once.told[i].lr == p->by_itself.told[i].lr);
    }
}

/* Batches of several sizes: groups are full, or cut short by another size, or by the end. */
static void test_groups(void **state)
{
    const char *const encodings[] = {
        "none",
        "t5",
        "fire", /* the gradients of all but the first are compared */
        "expr 'a = learn(1) per pair; t = learn(1) per head; angle = a * i / (p + 1); scale = t'",
        "expr 'a = learn(3) per head; t = learn(1) per layer; score = t * a * tanh(s / a)'",
        "expr 'position = sample(i, 20, 96); angle = position(i)'",
        "expr 'angle = i * (p + 1) / n'",
        "path rank=3",
        "selective"};
    static const uint64_t chance[SEQS] = {7, 8, 9};
    const char *const turns[] = {"aaaaaaaa", "abcabcab", "aaLbbbba", "aab"};
    struct pw_batch *kinds[128] = {0}, *b[PW_FLIGHTS];
    (void)state;
    kinds['a'] = toy_batch(1, SEQS, SHORT, SHORT, VOCAB);
    kinds['b'] = toy_batch(2, SEQS, SHORT, SHORT, VOCAB);
    kinds['c'] = toy_batch(3, SEQS, SHORT - 2, SHORT, VOCAB);
    kinds['L'] = toy_batch(4, SEQS, LONG, LONG, VOCAB);
    kinds['b']->chance = chance; /* other positions than those of 'a' */
    for (size_t e = 0; e < sizeof encodings / sizeof *encodings; e++) {
        struct pair p = open_pair(encodings[e]);
        for (int i = 0; i < 2 * (int)(sizeof turns / sizeof *turns); i++) {
            const char *turn = turns[i / 2];
            int n = (int)strlen(turn);
            for (int k = 0; k < n; k++)
                b[k] = kinds[(unsigned char)turn[k]];
            both(&p, b, n);
        }
        close_pair(&p);
    }
    for (int i = 0; i < 128; i++)
        if (kinds[i] != NULL)
            toy_batch_free(kinds[i]);
}

/* The packed weights are those of the parameters: a copy, which makes its own, has the same losses. */
static void check_packs(struct toy *t, struct pw_model *m, const struct pw_batch *b)
{
    struct pw_model *copy;
    struct pw_err err;
    size_t bytes;
    assert_int_equal(pw_model_clone(&copy, m, t->ops, t->be, &err), PW_OK);
    float *x = seen_of(m, b, &bytes), *y = seen_of(copy, b, &bytes);
    assert_memory_equal(x, y, (size_t)b->n_scored * sizeof *x);
    free(x);
    free(y);
    pw_model_destroy(copy);
}

/* Starts all steps, each of another kind, then finishes them; and one by one. Both must have the same bits.
 */
static void kinds_in_flight(struct run *at_once, struct run *by_itself, const int *kinds,
                            const struct pw_batch *b)
{
    int flights = pw_model_may_fly(at_once->m);
    for (int i = 0; i < flights; i++) {
        at_once->o.trains = by_itself->o.trains = kinds[i];
        start(at_once, b);
        start(by_itself, b);
        finish(by_itself);
    }
    for (int i = 0; i < flights; i++)
        finish(at_once);
    same(at_once->m, by_itself->m);
}

/* Steps in flight that train different parameters, of a model with adapters. If the first is not finite, all
 * counts are those before. */
static void test_kinds_in_flight(void **state)
{
    static const int kinds[PW_FLIGHTS] = {PW_TRAINS_ALL,     PW_TRAINS_ALL,     PW_TRAINS_ADAPTER,
                                          PW_TRAINS_ADAPTER, PW_TRAINS_ADAPTER, PW_TRAINS_ADAPTER,
                                          PW_TRAINS_NORMS,   PW_TRAINS_ADAPTER};
    static const char adapted[] = "layers=2 width=16 heads=2 ffn=24 context=96 adapter=4";
    static const char *const modes[][2] = {{"ref", NULL}, {"fast", "tf32"}, {"fast", "bf16"}};
    struct pw_batch *b = toy_batch(1, SEQS, SHORT, SHORT, VOCAB),
                    *bad = toy_batch(9, SEQS, LONG, LONG, VOCAB);
    (void)state;
    for (int k = 0; k < 3; k++) {
        struct toy t = open_as(modes[k][0], modes[k][1]);
        struct run at_once = begin_with(&t, adapted, "learned"),
                   by_itself = begin_with(&t, adapted, "learned");
        int n, flights = pw_model_may_fly(at_once.m);
        const struct pw_param *p = pw_model_params(at_once.m, &n), *q = pw_model_params(by_itself.m, &n);
        poison(at_once.m);
        poison(by_itself.m);
        for (int round = 0; round < 3; round++) {
            struct pw_step_result none;
            struct pw_err err;
            kinds_in_flight(&at_once, &by_itself, kinds, b);
            check_packs(&t, at_once.m, b);
            for (int i = 0; i < flights; i++) {
                at_once.o.trains = kinds[flights - 1 - i];
                start(&at_once, i == 0 ? bad : b);
            }
            assert_int_equal(pw_model_finish(at_once.m, &none, &err), PW_EUSER);
            same(at_once.m, by_itself.m);
            for (int i = 0; i < n; i++)
                assert_int_equal(p[i].t, q[i].t);
        }
        pw_model_destroy(at_once.m);
        pw_model_destroy(by_itself.m);
        t.ops->close(t.be);
    }
    toy_batch_free(b);
    toy_batch_free(bad);
}

/* At most two groups are in flight, and a group becomes a graph on its second occurrence. */
static void test_one_graph(void **state)
{
    struct toy t = open_device("fast");
    struct run r = begin(&t, "none");
    struct pw_batch *one = toy_batch(1, SEQS, SHORT, SHORT, VOCAB), *b[PW_FLIGHTS];
    struct pw_emu_counts before, after;
    (void)state;
    for (int i = 0; i < PW_FLIGHTS; i++)
        b[i] = one;
    for (int i = 0; i < 3; i++) {
        before = pw_emu_counts();
        steps(&r, b, PW_FLIGHTS);
        after = pw_emu_counts();
    }
    assert_int_equal(after.graph_launches - before.graph_launches, 2);
    assert_int_equal(after.captures, before.captures);
    pw_model_destroy(r.m);
    t.ops->close(t.be);
    toy_batch_free(one);
}

/* A step that isn't finite in the middle of a group changes no weights, nor do the steps after it. */
static void test_bad_in_group(void **state)
{
    struct pair p = open_pair("learned");
    struct pw_batch *good[3], *bad = toy_batch(9, SEQS, SHORT + 1, SHORT + 1, VOCAB); /* of the same size */
    (void)state;
    for (int i = 0; i < 3; i++)
        good[i] = toy_batch((uint64_t)i + 1, SEQS, SHORT, SHORT, VOCAB);
    poison(p.at_once.m);
    poison(p.by_itself.m);
    both(&p, good, 3);
    for (int before = 0; before < PW_FLIGHTS; before += before == 2 ? 1 : 2) { /* 0 2 3 5 7 */
        struct pw_step_result none;
        struct pw_err err;
        int first = p.at_once.n;
        for (int i = 0; i < PW_FLIGHTS; i++)
            start(&p.at_once, i == before ? bad : good[i % 3]);
        for (int i = 0; i < before; i++) {
            finish(&p.at_once);
            start(&p.by_itself, good[i % 3]);
            finish(&p.by_itself);
        }
        assert_int_equal(pw_model_finish(p.at_once.m, &none, &err), PW_EUSER);
        assert_int_equal(pw_model_flying(p.at_once.m), 0);
        same(p.at_once.m, p.by_itself.m);
        for (int i = first; i < p.at_once.n; i++)
            assert_true(p.at_once.told[i].loss == p.by_itself.told[i].loss);
        both(&p, good, 3);
    }
    for (int i = 0; i < 3; i++)
        toy_batch_free(good[i]);
    toy_batch_free(bad);
    close_pair(&p);
}

/* ---- results on the host */

enum { T = 9, CELLS = 2 * 2 * T * T, STREAM = 3 * T * WIDTH };

struct seen {
    float loss[SEQS * LONG], score[CELLS], probs[CELLS], resid[STREAM], logits[T * VOCAB], updates[5];
    int best[SEQS * LONG];
    double mean;
    uint64_t digest[2];
};

/* Requests every result of a model twice, so that host buffers hold old values. */
static void look(struct seen *s, const struct pw_batch *const *b)
{
    struct toy t = open_device("fast");
    struct run r = begin(&t, "learned");
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
        cmocka_unit_test_setup_teardown(test_groups, late, reset),
        cmocka_unit_test_setup_teardown(test_kinds_in_flight, late, reset),
        cmocka_unit_test_setup_teardown(test_one_graph, late, reset),
        cmocka_unit_test_setup_teardown(test_bad_in_group, late, reset),
        cmocka_unit_test_setup_teardown(test_comes_back, late, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
