/* test_fold.c - tests the effect of each kind of event on the snapshot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ref_fold.h"

/* ---- each kind */

static void test_log(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    put_text(s, PW_EV_COMMAND, "train 10");
    put_text(s, PW_EV_NOTE, "a note");
    put_text(s, PW_EV_ERROR, "no command 'x'");
    put_text(s, PW_EV_CHECKPOINT, "ckpt/1");
    struct pw_event *e = pw_event_new(PW_EV_GAP);
    e->seq = 5;
    e->u.gap = 12;
    fold_and_free(s, e);
    assert_int_equal(s->n_log, 5);
    assert_int_equal(s->seq, 5);
    assert_string_equal(s->log[0].text, "train 10");
    assert_int_equal(s->log[0].kind, PW_EV_COMMAND);
    assert_string_equal(s->log[2].text, "no command 'x'");
    assert_int_equal(s->log[3].kind, PW_EV_CHECKPOINT);
    assert_non_null(strstr(s->log[4].text, "12 steps"));
    assert_int_equal(s->dropped, 12);
    for (int i = 5; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof text, "line %d", i);
        put_text(s, PW_EV_NOTE, text);
    }
    assert_int_equal(s->n_log, 1000);
    assert_string_equal(s->log[999 % PW_LOG_LINES].text, "line 999");
    assert_string_equal(s->log[(1000 - PW_LOG_LINES) % PW_LOG_LINES].text, "line 744");
    pw_snapshot_free(s);
}

static void test_arms(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    assert_int_equal(s->current, 0);
    put_arm(s, 1, true, true, 0, 0);
    put_arm(s, 3, false, true, 0, 0);
    assert_int_equal(s->current, 1);
    put_arm(s, 3, true, false, 0, 0);
    assert_int_equal(s->current, 3);
    assert_false(s->arms[0].info.current);
    assert_true(s->arms[2].info.current);
    assert_false(s->arms[1].used);

    for (int i = 1; i <= 100; i++)
        put_step(s, 1, i, (float)i);
    put_arm(s, 1, false, false, 100, 1); /* an encoding swap */
    put_arm(s, 1, false, false, 100, 1); /* emitted again: no second mark */
    assert_int_equal(s->arms[0].n_marks, 1);
    assert_int_equal(s->arms[0].marks[0], 100);
    assert_int_equal(s->arms[0].rep[0].series.n, 100);
    for (int i = 2; i <= 40; i++)
        put_arm(s, 1, false, false, 100 + i, i);
    assert_int_equal(s->arms[0].n_marks, 32);
    assert_int_equal(s->arms[0].marks[31], 140);
    assert_int_equal(s->arms[0].marks[0], 109);

    put_lab(s);
    put_eval(s, 1, 100, 4);
    put_arm(s, 1, false, true, 0, 40);
    assert_int_equal(s->arms[0].rep[0].series.n, 0);
    assert_int_equal(s->arms[0].rep[0].track.n, 0);
    assert_int_equal(s->arms[0].rep[0].eval.n, 0);
    assert_int_equal(s->arms[0].n_marks, 0);
    put_step(s, 1, 1, 5);
    assert_int_equal(s->arms[0].rep[0].series.n, 1);
    assert_int_equal(s->arms[0].info.step, 1);

    struct pw_event *e = pw_event_new(PW_EV_DROP);
    e->arm = 3;
    fold_and_free(s, e);
    assert_false(s->arms[2].used);
    assert_int_equal(s->current, 0);
    put_step(s, 3, 1, 1); /* late events of an arm that was dropped */
    put_eval(s, 3, 1, 3);
    put_step(s, 99, 1, 1); /* an invalid arm */
    put_arm(s, 0, true, true, 0, 0);
    put_arm(s, PW_MAX_ARMS + 1, true, true, 0, 0);
    assert_int_equal(s->arms[2].rep[0].series.n, 0);
    assert_int_equal(s->current, 0);
    pw_snapshot_free(s);
}

static void test_series(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    put_arm(s, 1, true, true, 0, 0);
    for (int i = 1; i <= 1000; i++)
        put_step(s, 1, i, (float)i / 2);
    struct pw_series *r = &s->arms[0].rep[0].series;
    assert_int_equal(r->n, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(r->step[i], i + 1);
        assert_true(r->v[PW_M_LOSS][i] == (float)(i + 1) / 2);
        assert_true(r->v[PW_M_GRAD_NORM][i] == 2);
        assert_int_equal(r->flops[i], INT64_C(3000000000) * (i + 1));
    }
    put_step(s, 1, 501, 99); /* training went back */
    assert_int_equal(r->n, 501);
    assert_int_equal(r->step[499], 500);
    assert_true(r->v[PW_M_LOSS][500] == 99);
    put_step(s, 1, 1, 7);
    assert_int_equal(r->n, 1);
    pw_snapshot_free(s);
}

static void test_replicas(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_event *e = pw_event_new(PW_EV_ARM);
    e->u.arm = (struct pw_ev_arm){.id = 2, .restarted = true, .replicas = 3};
    fold_and_free(s, e);
    const struct pw_arm_view *a = &s->arms[1];
    for (int r = 0; r <= 4; r++) /* 0 is the first replica, 4 never existed */
        for (int i = 0; i < 3; i++) {
            e = pw_event_new(PW_EV_STEP);
            e->arm = 2;
            e->replica = r;
            e->step = 10 + i;
            e->u.step = (struct pw_ev_step){.loss = (float)(r * r + i), .lr = r == 2 ? NAN : (float)r};
            fold_and_free(s, e);
        }
    for (int r = 0; r < PW_MAX_REPLICAS; r++)
        assert_int_equal(a->rep[r].series.n, r < 3 ? 3 : 0);
    assert_true(a->rep[2].series.v[PW_M_LOSS][1] == 10);
    assert_int_equal(a->info.step, 12);
    struct pw_spread x = pw_spread_last(a, PW_M_LOSS);
    assert_int_equal(x.n, 3);
    assert_true(x.lo == 3 && x.median == 6 && x.hi == 11);
    x = pw_spread_last(a, PW_M_LR); /* one of them is NaN */
    assert_int_equal(x.n, 2);
    assert_true(x.lo == 1 && x.median == 2 && x.hi == 3);

    put_lab(s);
    for (int r = 1; r <= 2; r++) {
        e = pw_event_new(PW_EV_EVAL);
        e->arm = 2;
        e->replica = r;
        e->u.eval.n = 2;
        e->u.eval.rows = calloc(2, sizeof *e->u.eval.rows);
        e->u.eval.rows[0] = (struct pw_eval_row){.length = 3, .samples = 10, .exact = 4 * r};
        e->u.eval.rows[1] = (struct pw_eval_row){.length = 7, .samples = 10, .exact = r};
        fold_and_free(s, e);
    }
    x = pw_spread_at(a, 0, 3);
    assert_int_equal(x.n, 2);
    assert_true(x.lo == 0.4f && x.hi == 0.8f && fabsf(x.median - 0.6f) < 1e-6f);
    assert_int_equal(pw_spread_at(a, 0, 4).n, 0);
    assert_true(isnan(pw_spread_at(a, 0, 4).median));
    x = pw_spread_mean(&s->lab, a, true);
    assert_true(x.n == 2 && x.lo == 0.1f && x.hi == 0.2f);

    e = pw_event_new(PW_EV_ARM); /* a lab never emits this */
    e->u.arm = (struct pw_ev_arm){.id = 2, .restarted = true, .replicas = 99};
    fold_and_free(s, e);
    assert_int_equal(a->info.replicas, PW_MAX_REPLICAS);
    assert_int_equal(a->rep[2].series.n, 0);
    pw_snapshot_free(s);
}

static void test_spread(void **state)
{
    (void)state;
    float one[] = {NAN, 3, INFINITY}, five[] = {5, 1, 4, 2, 3}, even[] = {9, 1, 2, 4}, none[] = {NAN};
    struct pw_spread x = pw_spread_of(one, 3);
    assert_true(x.n == 1 && x.lo == 3 && x.median == 3 && x.hi == 3);
    x = pw_spread_of(five, 5);
    assert_true(x.n == 5 && x.lo == 1 && x.median == 3 && x.hi == 5);
    x = pw_spread_of(even, 4);
    assert_true(x.n == 4 && x.lo == 1 && x.median == 3 && x.hi == 9);
    x = pw_spread_of(none, 1);
    assert_true(x.n == 0 && isnan(x.median) && isnan(x.lo) && isnan(x.hi));
    assert_int_equal(pw_spread_of(none, 0).n, 0);
}

static void test_eval(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    put_lab(s);
    put_arm(s, 1, true, true, 0, 0);
    put_eval(s, 1, 50, 2);
    const struct pw_arm_view *arm = &s->arms[0];
    assert_int_equal(arm->rep[0].track.n, 1);
    assert_true(arm->rep[0].track.in_range[0] == 0.75f);
    assert_true(isnan(arm->rep[0].track.beyond[0]));
    put_eval(s, 1, 100, 4);
    assert_int_equal(arm->rep[0].eval.n, 4);
    assert_int_equal(arm->rep[0].eval_step, 100);
    const struct pw_eval_row *row = pw_eval_find(&arm->rep[0].eval, 0, 3);
    assert_true(row->seen && row->n_pairs == 2 && arm->rep[0].eval.n_pairs == 2);
    assert_int_equal(arm->rep[0].eval.pairs[row->first_pair].exact, 4); /* the latest evaluation */
    assert_int_equal(arm->rep[0].track.n, 2);
    assert_true(arm->rep[0].track.in_range[1] == 0.75f);
    assert_true(arm->rep[0].track.beyond[1] == 0);
    put_eval(s, 1, 100, 4); /* another evaluation of this step replaces the first */
    assert_int_equal(arm->rep[0].track.n, 2);
    assert_true(isnan(pw_eval_mean(&s->lab, &(struct pw_ev_eval){0}, -1, false)));
    pw_snapshot_free(s);
}

static void test_prompt(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    put_token(s, 0, 4, false); /* before any prompt */
    assert_int_equal(s->n_tokens, 0);
    put_prompt(s, 1, 4);
    for (int i = 0; i < 200; i++)
        put_token(s, 1, 4 + i, i == 199);
    put_token(s, 2, 4, false);
    assert_int_equal(s->n_tokens, 200);
    assert_true(s->decoded);
    assert_int_equal(s->tokens[199].token, 406);
    put_token(s, 1, 5, false); /* decoding went back to position 5 */
    assert_int_equal(s->n_tokens, 2);
    assert_false(s->decoded);
    put_prompt(s, 2, 6);
    assert_int_equal(s->n_tokens, 0);
    assert_int_equal(s->prompt.n, 6);
    assert_int_equal(s->prompt_arm, 1);
    assert_int_equal(s->prompt_step, 3);
    put_attention(s, 3);
    assert_true(s->has_prompt && s->has_attention);
    put_prompt(s, 0, 0); /* unpinned: the task has other tokens now */
    assert_false(s->has_prompt || s->has_attention);
    pw_snapshot_free(s);
}

/* A table is valid for its arm's encoding and weights. It is dropped when these change, or the arm is
 * dropped. */
static void test_tables(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_ev_arm arm = {.id = 2, .pe = "t5", .replicas = 1};
    assert_null(pw_table_of(s, 2));
    assert_null(pw_table_of(s, 0));
    assert_null(pw_table_of(s, PW_MAX_ARMS + 1));
    for (int change = 0; change < 4; change++) {
        struct pw_event *e = pw_event_new(change < 3 ? PW_EV_ARM : PW_EV_DROP);
        put_table(s, 4); /* the table of arm 2 */
        assert_int_equal(pw_table_of(s, 2)->length, 4);
        arm.restarted = change == 0;
        arm.swaps += change == 2;
        e->arm = 2;
        if (change < 3)
            e->u.arm = arm;
        fold_and_free(s, e);
        if (change == 1) /* the same state emitted again */
            assert_non_null(pw_table_of(s, 2));
        else
            assert_null(pw_table_of(s, 2));
    }
    pw_snapshot_free(s);
}

/* Buckets of distances 0, 1, 2-3, 4-7, 8 and more. Distances up to 5 were seen in training. */
static void test_bucket_met(void **state)
{
    (void)state;
    int bucket[] = {0, 1, 2, 2, 3, 3}, from[] = {0, 1, 2, 4, 8, INT_MAX};
    int64_t met[] = {60, 50, 40, 30, 20, 10};
    struct pw_ev_table t = {
        .length = 6, .n_buckets = 5, .bucket = bucket, .bucket_from = from, .met = met, .trained = 5};
    assert_int_equal(pw_bucket_seen(&t, 2), 70);
    assert_int_equal(pw_bucket_seen(&t, 3),
                     30); /* the rest of the bucket is beyond the table, and was not seen in training */
    assert_int_equal(pw_bucket_seen(&t, 4), 0);
    t.trained = 6;
    assert_int_equal(pw_bucket_seen(&t, 2), 70);
    assert_int_equal(pw_bucket_seen(&t, 3), -1); /* distance 6 was seen, and the table has no count of it */
    assert_int_equal(pw_bucket_seen(&t, 4), 0);
    met[0] = 0; /* imported weights, which saw distance 0 before pewter counted */
    assert_int_equal(pw_bucket_seen(&t, 0), -1);
    t.met = NULL;
    assert_int_equal(pw_bucket_seen(&t, 2), -1);
}

static void test_slots(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    assert_false(s->has_attention);
    put_attention(s, 3);
    put_attention(s, 5);
    assert_true(s->has_attention);
    assert_int_equal(s->attention.T, 5);
    assert_int_equal(s->attention.probs[49], 74);
    assert_int_equal(s->attention_arm, 1);
    put_table(s, 4);
    put_table(s, 16);
    assert_int_equal(pw_table_of(s, 2)->length, 16);
    assert_int_equal(pw_table_of(s, 2)->bucket[15], 0);
    assert_int_equal(s->arms[1].table_step, 9);
    struct pw_event *e = pw_event_new(PW_EV_JOB);
    e->u.job = (struct pw_ev_job){"eval", PW_JOB_RUNNING, 3, 9};
    fold_and_free(s, e);
    assert_string_equal(s->job.name, "eval");
    assert_int_equal(s->job.total, 9);
    e = pw_event_new(PW_EV_STATE);
    e->u.state = (struct pw_ev_state){PW_RUN_TRAINING, 400, 12.5, -1, 0, false};
    fold_and_free(s, e);
    assert_int_equal(s->state.until, 400);
    pw_snapshot_free(s);
    pw_snapshot_free(NULL);
}

/* A list replaces the one before, also if it is empty. */
static void test_failing(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    for (int n = 3; n >= 0; n -= 3) {
        struct pw_event *e = pw_event_new(PW_EV_FAILING);
        e->arm = 2, e->step = 70 + n;
        e->u.failing =
            (struct pw_ev_failing){.length = 9, .n = n, .list = calloc(4, sizeof(struct pw_failing))};
        e->u.failing.list[2].index = 11;
        fold_and_free(s, e);
        assert_int_equal(s->failing.n, n);
        assert_int_equal(s->failing_arm, 2);
        assert_int_equal(s->failing_step, 70 + n);
        assert_int_equal(s->failing.list[2].index, 11);
    }
    pw_snapshot_free(s);
}

static void put_finding(struct pw_snapshot *s, const char *name, int topic, double value)
{
    struct pw_event *e = pw_event_new(PW_EV_FINDING);
    char text[16];
    snprintf(text, sizeof text, "%d", topic);
    pw_finding_init(&e->u.finding, name, text, "%s of arm %d", name, topic);
    pw_finding_put(&e->u.finding, pw_finding_table(&e->u.finding, "", 1, 1), 0, 0, value);
    if (topic == 2)
        pw_finding_claim(&e->u.finding, PW_CLAIM_CONTRADICTED, "it grows", "%g", value);
    e->seq = s->seq + 1;
    e->arm = topic, e->step = 10 * topic;
    fold_and_free(s, e);
}

/* Findings are kept by name and topic; a later one replaces an earlier one. If all slots are used, the one
 * emitted longest ago is removed. */
static void test_findings(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    const struct pw_finding_view *list[PW_MAX_FINDINGS], *v;
    assert_int_equal(pw_findings(s, list), 0);
    assert_null(pw_finding_of(s, "decay", "1"));
    put_finding(s, "decay", 1, 1);
    put_finding(s, "decay", 2, 2);
    put_finding(s, "rank", 1, 3);
    put_finding(s, "decay", 1, 4);
    assert_int_equal(pw_findings(s, list), 3);
    assert_true(list[0]->f_seq == 4 && list[1]->f_seq == 3 && list[2]->f_seq == 2);
    assert_ptr_equal(list[0], v = pw_finding_of(s, "decay", "1"));
    assert_true(pw_finding_cell(&v->f, &v->f.blocks[0], 0, 0) == 4);
    assert_int_equal(v->arm, 1);
    assert_int_equal(v->step, 10);
    assert_null(pw_finding_of(s, "decay", ""));
    assert_int_equal(s->n_log, 4);
    assert_string_equal(s->log[1].text, "decay 2: decay of arm 2; contradicted");
    assert_string_equal(s->log[2].text, "rank 1: rank of arm 1");
    for (int i = 0; i < PW_MAX_FINDINGS - 2; i++) /* one more than there are slots */
        put_finding(s, "shift", i, i);
    assert_int_equal(pw_findings(s, list), PW_MAX_FINDINGS);
    assert_null(pw_finding_of(s, "decay", "2"));
    assert_non_null(pw_finding_of(s, "rank", "1"));
    char last[16];
    snprintf(last, sizeof last, "%d", PW_MAX_FINDINGS - 3);
    assert_string_equal(list[0]->f.topic, last);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log),      cmocka_unit_test(test_arms),    cmocka_unit_test(test_series),
        cmocka_unit_test(test_eval),     cmocka_unit_test(test_failing), cmocka_unit_test(test_prompt),
        cmocka_unit_test(test_slots),    cmocka_unit_test(test_tables),  cmocka_unit_test(test_bucket_met),
        cmocka_unit_test(test_replicas), cmocka_unit_test(test_spread),  cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
