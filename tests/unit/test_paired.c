/* test_paired.c - arms compared on the same samples: counts, several seeds, and when one is called best. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/stats.h"
#include "sessions/paired.h"

static void fold_and_free(struct pw_snapshot *s, struct pw_event *e)
{
    pw_fold(s, e);
    pw_event_free(e);
}

static struct pw_snapshot *lab_of(int arms, int replicates)
{
    struct pw_snapshot *s = pw_snapshot_new();
    for (int id = 1; id <= arms; id++) {
        struct pw_event *e = pw_event_new(PW_EV_ARM);
        e->arm = id;
        e->u.arm = (struct pw_ev_arm){.id = id, .replicates = replicates, .name = "t5"};
        fold_and_free(s, e);
    }
    return s;
}

/* 100 samples at lengths 3 and 4; of each the arm has `right` of them right, from sample `from` on. */
static void put_eval(struct pw_snapshot *s, int arm, int replicate, uint64_t draw, int from, int right)
{
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    struct pw_ev_eval *v = &e->u.eval;
    e->arm = arm, e->replicate = replicate;
    v->draw = draw, v->n = 2, v->n_words = 4;
    v->rows = calloc(2, sizeof *v->rows);
    v->outcomes = calloc(4, sizeof *v->outcomes);
    for (int r = 0; r < 2; r++) {
        v->rows[r] =
            (struct pw_eval_row){.length = 3 + r, .samples = 100, .exact = right, .first_word = 2 * r};
        for (int i = from; i < from + right; i++)
            v->outcomes[2 * r + i / 64] |= UINT64_C(1) << i % 64;
    }
    fold_and_free(s, e);
}

static void test_outcomes(void **state)
{
    (void)state;
    struct pw_snapshot *s = lab_of(1, 1);
    put_eval(s, 1, 1, 7, 10, 80);
    const struct pw_ev_eval *e = &s->arms[0].rep[0].eval;
    struct pw_eval_row row = e->rows[1];
    for (int i = 0; i < 100; i++)
        assert_int_equal(pw_eval_right(e, &row, i), i >= 10 && i < 90);
    assert_false(pw_eval_right(e, &row, 100));
    assert_false(pw_eval_right(e, &row, -1));
    assert_int_equal(pw_eval_failing(e, &row, 0), 0);
    assert_int_equal(pw_eval_failing(e, &row, 10), 90);
    assert_int_equal(pw_eval_failing(e, &row, 99), 99);
    assert_int_equal(pw_eval_failing(e, &row, 100), -1);
    row.first_word = 9; /* a file could say so */
    assert_int_equal(pw_eval_failing(e, &row, 0), -1);
    row.errors[PW_ERROR_LATE] = 5, row.errors[PW_ERROR_EARLY] = 9;
    assert_true(pw_eval_forced(&row) == 0.85f);
    row.samples = 0;
    assert_true(isnan(pw_eval_forced(&row)));
    pw_snapshot_free(s);
}

static void test_counts(void **state)
{
    (void)state;
    struct pw_snapshot *s = lab_of(3, 1);
    struct pw_paired x;
    put_eval(s, 1, 1, 7, 0, 60);  /* 0..59 */
    put_eval(s, 2, 1, 7, 50, 50); /* 50..99: 50 only the first, 40 only the second */
    put_eval(s, 3, 1, 8, 0, 100); /* on other samples */
    pw_paired_find(&x, s, ~0u, 0, 4, 4);
    assert_int_equal(x.n_arms, 2);
    assert_int_equal(x.n, 1);
    assert_int_equal(x.left_out, 1);
    assert_int_equal(x.tests[0].samples, 100);
    assert_int_equal(x.tests[0].only_a, 50);
    assert_int_equal(x.tests[0].only_b, 40);
    assert_true(x.tests[0].p == pw_mcnemar(50, 40) && x.tests[0].corrected == x.tests[0].p);
    pw_paired_find(&x, s, ~0u, 0, 0, 99); /* both lengths */
    assert_int_equal(x.tests[0].samples, 200);
    assert_true(x.tests[0].p == pw_mcnemar(100, 80));
    pw_paired_find(&x, s, ~0u, 1, 0, 99); /* of no such task */
    assert_int_equal(x.n_arms, 0);
    assert_int_equal(x.left_out, 3);
    pw_paired_find(&x, s, 1, 0, 0, 99);
    assert_int_equal(x.n_arms, 1);
    assert_int_equal(x.n, 0);
    assert_int_equal(x.best, 0);
    pw_snapshot_free(s);
}

static void verdict_is(const struct pw_paired *x, const struct pw_snapshot *s, const char *part)
{
    struct pw_str text = {0};
    pw_paired_verdict(x, s, &text);
    if (strstr(text.s, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", text.s, part);
    pw_str_fini(&text);
}

static void test_best(void **state)
{
    (void)state;
    struct pw_snapshot *s = lab_of(3, 3);
    struct pw_paired x;
    for (int r = 1; r <= 2; r++) {
        put_eval(s, 1, r, 7, 0, 40);
        put_eval(s, 2, r, 7, 0, 80);
        put_eval(s, 3, r, 7, 0, 40);
    }
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.tests[0].seeds, 2);
    assert_int_equal(x.best, 0); /* however clear: two seeds are too few */
    verdict_is(&x, s, "needs 3 seeds");
    put_eval(s, 1, 3, 7, 0, 40);
    put_eval(s, 2, 3, 7, 0, 80);
    put_eval(s, 3, 3, 7, 0, 40);
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.n, 3);
    assert_int_equal(x.tests[0].ahead_b, 3);
    assert_int_equal(x.tests[0].only_b, 3 * 80);
    assert_true(x.tests[0].p == pw_mcnemar(0, 80)); /* the largest of three equal ones */
    assert_true(x.tests[1].p == 1);                 /* the first and the last don't differ at all */
    assert_int_equal(x.best, 2);
    verdict_is(&x, s, "best: 2 t5, ahead of every other arm in each of 3 seeds");

    put_eval(s, 2, 3, 7, 0, 39); /* behind in one seed */
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.best, 0);
    assert_true(x.tests[0].p == 1);
    verdict_is(&x, s, "change places between seeds");
    put_eval(s, 2, 3, 7, 0, 41); /* ahead in all, in one by 2 of 200 samples: 2 / 2^2 */
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.best, 0);
    assert_true(fabs(x.tests[0].p - 0.5) < 1e-12);
    verdict_is(&x, s, "no more than chance (p=1.000)"); /* 0.5 for each of two pairs */
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
