/* test_table_learned.c - tests the learned parameters of a formula, and of planes, in the table: each has the
 * model's values and gradients, by name, layer and head. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/actions.h"
#include "ref_lab.h"

#define TASK  "sort lengths=2..5 test=6..8"
#define MODEL "model tiny context=32 layers=2 width=16 heads=2; optim batch=8; "

/* The values of a tensor that begins with this name, [n]. */
static void read_tensor(struct bench *b, const char *name, int n, float *out)
{
    struct pw_model *m = pw_lab_arm(b->lab, 1)->model;
    int n_params;
    const struct pw_param *p = pw_model_params(m, &n_params);
    for (int i = 0; i < n_params; i++)
        if (p[i].pe && strcmp(p[i].name, name) == 0) {
            pw_model_read(m, out, p[i].offset, (size_t)n);
            return;
        }
    fail_msg("no tensor %s", name);
}

static const struct pw_table_param *param_called(const struct pw_ev_table *t, const char *name)
{
    for (int i = 0; i < t->n_params; i++)
        if (strcmp(t->params[i].name, name) == 0)
            return &t->params[i];
    fail_msg("no parameter %s", name);
    return NULL;
}

static void values_are_the_models(void **state)
{
    struct bench b;
    float a[4], T[16], c[1];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b,
               "task " TASK "; " MODEL
               "pe expr 'a = learn(1) per head, layer; T = learn(normal(0.1), 8) per head; k = learn(0.5); "
               "bias = T[d] - a * k * d'; train 30; table");
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    assert_int_equal(t->n_params, 3);
    assert_int_equal(t->n_learned, 4 + 2 + 1);
    assert_int_equal(t->n_entries, 16);
    assert_int_equal(t->param_steps, 3);
    assert_int_equal(t->params_left, 0);
    const struct pw_table_param *pa = param_called(t, "a"), *pT = param_called(t, "T"),
                                *pc = param_called(t, "k");
    assert_true(pa->layers == 2 && pa->heads == 2 && pa->size == 1 && pa->entry < 0);
    assert_true(pT->layers == 1 && pT->heads == 2 && pT->size == 8 && pT->entry == 0);
    assert_true(pc->layers == 1 && pc->heads == 1 && pc->size == 1);
    read_tensor(&b, "pe.T", 16, T);
    read_tensor(&b, "pe.k", 1, c);
    read_tensor(&b, "pe.a", 4, a);
    assert_memory_equal(t->learned + pa->part, a, sizeof a);
    assert_memory_equal(t->entries, T, sizeof T);
    assert_true(t->learned[pc->part] == c[0] && c[0] != 0.5f);
    for (int h = 0; h < 2; h++) {
        double squares = 0, grads = 0;
        for (int i = 0; i < 8; i++) {
            squares += (double)T[8 * h + i] * (double)T[8 * h + i] / 8;
            grads += (double)t->entry_grads[8 * h + i] / 8;
        }
        assert_true(fabs(sqrt(squares) - (double)t->learned[pT->part + h]) < 1e-6);
        assert_true(fabs(grads - (double)t->learned_grads[pT->part + h]) < 1e-8);
    }
    for (int i = 0; i < t->n_learned; i++)
        assert_true(t->learned_grads[i] > 0);
    bench_close(&b);
}

/* The parameters of a score are those of the model, with gradients, too. */
static void scores_are_listed(void **state)
{
    struct bench b;
    float grow[4];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL "pe expr 'grow = learn(0) per head, layer; cap = 2 * exp(grow); "
                   "score = cap * tanh(s / cap)'; train 10; "
                   "table");
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    assert_int_equal(t->n_params, 1);
    const struct pw_table_param *p = param_called(t, "grow");
    assert_true(p->layers == 2 && p->heads == 2 && p->size == 1);
    read_tensor(&b, "pe.grow", 4, grow);
    assert_memory_equal(t->learned + p->part, grow, sizeof grow);
    for (int i = 0; i < 4; i++)
        assert_true(grow[i] != 0 && t->learned_grads[i] > 0);
    bench_close(&b);
}

/* Planes have a factor of each frequency, and two vectors each. */
static void planes_are_listed(void **state)
{
    struct bench b;
    float factor[12], a[96];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL "pe grape_turn planes=3; train 10; table");
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    assert_int_equal(t->n_params, 3);
    const struct pw_table_param *pf = param_called(t, "log_factor"), *pa = param_called(t, "a"),
                                *pb = param_called(t, "b");
    assert_true(pf->layers == 2 && pf->heads == 2 && pf->size == 3 && pf->along == PW_ALONG_PAIRS);
    assert_true(pa->size == 24 && pb->size == 24 && pb->layers == 2 && pb->heads == 2);
    read_tensor(&b, "pe.log_factor", 12, factor);
    read_tensor(&b, "pe.a", 96, a);
    assert_memory_equal(t->entries + pf->entry, factor, sizeof factor);
    assert_memory_equal(t->entries + pa->entry, a, sizeof a);
    assert_true(factor[11] != 0 && t->learned_grads[pf->part] > 0);
    bench_close(&b);
}

/* A formula without parameters has no such members, and neither has a built-in encoding that learns. */
static void others_have_none(void **state)
{
    static const char *const pes[] = {"t5", "fire", "alibi", "expr 'bias = -d'"};
    struct bench b;
    char line[64];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL);
    for (size_t i = 0; i < sizeof pes / sizeof *pes; i++) {
        snprintf(line, sizeof line, "pe %s; train 1; table", pes[i]);
        bench_must(&b, line);
        const struct pw_ev_table *t = pw_table_of(b.s, 1);
        assert_int_equal(t->n_params + t->n_learned + t->n_entries, 0);
        assert_null(t->learned);
        assert_int_equal(b.s->arms[0].course.n, 0);
    }
    bench_close(&b);
}

/* 8 x 64 parts are the most, and 8192 entries: what is larger has no values in the event. */
static void what_is_large_is_left_out(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL
                   "pe expr 'T = learn(0.1, 4096) per head, layer; a = learn(1) per head; U = learn(0.2, 4); "
                   "bias = T[d] + U[d] - a * d'; table");
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    assert_int_equal(t->n_params, 3);
    assert_int_equal(param_called(t, "T")->entry, -1);
    assert_int_equal(param_called(t, "U")->entry, 0);
    assert_int_equal(t->n_entries, 4);
    assert_true(fabs((double)t->learned[0] - 0.1) < 1e-6);
    assert_null(t->learned_grads); /* no step yet */
    bench_close(&b);
}

static void its_course_is_kept(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL "pe expr 'a = learn(1) per head; bias = -a * d'; table; "
                   "train 10; table; train 10; table");
    const struct pw_course *c = &b.s->arms[0].course;
    assert_int_equal(c->n, 3);
    assert_int_equal(c->values, 2);
    assert_true(c->point[0].v[0] == 1 && c->point[0].step == 0 && c->point[2].step == 20);
    assert_true(c->point[1].v[0] != 1 && c->point[2].v[1] == pw_table_of(b.s, 1)->learned[1]);
    bench_must(&b, "pe alibi");
    assert_int_equal(b.s->arms[0].course.n, 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_models),     cmocka_unit_test(scores_are_listed),
        cmocka_unit_test(planes_are_listed),         cmocka_unit_test(others_have_none),
        cmocka_unit_test(what_is_large_is_left_out), cmocka_unit_test(its_course_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
