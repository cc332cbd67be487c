/* test_fold_heads.c - tests heads that are off: in the fold and in text, the evaluations before the change,
 * and the map of a patch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sessions/fold.h"

static void fold_and_free(struct pw_snapshot *s, struct pw_event *e)
{
    pw_fold(s, e);
    pw_event_free(e);
}

static void put_arm(struct pw_snapshot *s, int id, bool restarted)
{
    struct pw_event *e = pw_event_new(PW_EV_ARM);
    e->u.arm = (struct pw_ev_arm){.id = id, .replicas = 2, .layers = 2, .heads = 3, .restarted = restarted};
    fold_and_free(s, e);
}

/* The modes of 2 layers of 3 heads, as digits; "" for none. */
static void put_heads_of(struct pw_snapshot *s, int arm, int replica, const char *modes)
{
    struct pw_event *e = pw_event_new(PW_EV_HEADS);
    e->arm = arm;
    e->replica = replica;
    e->u.heads = (struct pw_ev_heads){.layers = 2, .heads = 3};
    if (modes[0] != '\0') {
        e->u.heads.mode = calloc(6, 1);
        assert_non_null(e->u.heads.mode);
        for (int i = 0; i < 6; i++)
            e->u.heads.mode[i] = (uint8_t)(modes[i] - '0');
    }
    fold_and_free(s, e);
}

static void put_heads(struct pw_snapshot *s, int arm, const char *modes)
{
    put_heads_of(s, arm, 1, modes);
}

static struct pw_event *eval_of(int replica, int64_t step, int exact)
{
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    e->arm = 1;
    e->replica = replica;
    e->step = step;
    e->u.eval.n = 1;
    e->u.eval.rows = calloc(1, sizeof *e->u.eval.rows);
    assert_non_null(e->u.eval.rows);
    e->u.eval.rows[0] = (struct pw_eval_row){.length = 2, .samples = 10, .exact = exact};
    return e;
}

static void put_eval(struct pw_snapshot *s, int replica, int64_t step, int exact)
{
    fold_and_free(s, eval_of(replica, step, exact));
}

/* As put_eval, with the event's number. */
static void put_eval_at(struct pw_snapshot *s, int64_t step, int exact, uint64_t seq)
{
    struct pw_event *e = eval_of(1, step, exact);
    e->seq = seq;
    fold_and_free(s, e);
}

static void put_step(struct pw_snapshot *s, int64_t step, uint64_t seq)
{
    struct pw_event *e = pw_event_new(PW_EV_STEP);
    e->arm = 1, e->replica = 1, e->step = step, e->seq = seq;
    fold_and_free(s, e);
}

static void put_arm_with(struct pw_snapshot *s, const char *pe, int swaps, uint64_t seq)
{
    struct pw_event *e = pw_event_new(PW_EV_ARM);
    e->seq = seq;
    e->u.arm = (struct pw_ev_arm){
        .id = 1, .replicas = 2, .layers = 2, .heads = 3, .step = s->arms[0].info.step, .swaps = swaps};
    strcpy(e->u.arm.pe, pe);
    fold_and_free(s, e);
}

static void test_modes(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    (void)state;
    put_heads(s, 1, "100000"); /* the arm doesn't exist yet, and an arm 9 never will */
    put_heads(s, 9, "100000");
    put_arm(s, 1, true);
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], 0, 0), PW_ABLATE_NONE);
    put_heads(s, 1, "010203");
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], 0, 1), PW_ABLATE_ZERO);
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], 1, 0), PW_ABLATE_MEAN);
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], 1, 2), PW_ABLATE_RESAMPLE);
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], 1, 1), PW_ABLATE_NONE);
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], 1, 3), PW_ABLATE_NONE); /* out of range */
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], -1, 4), PW_ABLATE_NONE);
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], 2, 0), PW_ABLATE_NONE);
    put_arm(s, 1, false);
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], 0, 1), PW_ABLATE_ZERO);
    put_arm(s, 1, true); /* new weights */
    assert_int_equal(pw_head_mode(&s->arms[0].rep[0], 0, 1), PW_ABLATE_NONE);
    pw_snapshot_free(s);
}

/* The evaluation to compare with: the latest one with all heads on, however often the set of heads changes.
 * With all heads on again: the latest with some off. */
static void test_before(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    const struct pw_replica_view *rep = s->arms[0].rep;
    (void)state;
    put_arm(s, 1, true);
    put_heads(s, 1, "000001"); /* before any evaluation */
    put_eval(s, 1, 10, 1);
    put_heads(s, 1, "000011");
    put_eval(s, 1, 20, 2);
    assert_int_equal(rep[0].eval_before.n, 0); /* no evaluation had all heads on */
    put_heads(s, 1, "");
    assert_true(rep[0].heads_changed);
    put_eval(s, 1, 30, 3);
    assert_false(rep[0].heads_changed);
    assert_int_equal(rep[0].eval_before.rows[0].exact, 2);
    put_eval(s, 1, 40, 4);
    assert_int_equal(rep[0].eval_before.rows[0].exact, 2);
    put_heads(s, 1, "000010");
    put_eval(s, 1, 50, 5);
    assert_int_equal(rep[0].eval_before.rows[0].exact, 4);
    put_heads(s, 1, "000110");
    put_eval(s, 1, 60, 6);
    put_heads(s, 1, "000100");
    put_eval(s, 1, 70, 7);
    assert_int_equal(rep[0].eval_before.rows[0].exact, 4);
    assert_int_equal(rep[0].eval_before_step, 40);
    assert_int_equal(rep[0].eval.rows[0].exact, 7);
    put_heads(s, 1, "");
    put_heads(s, 1, "000100"); /* no evaluation in between */
    put_eval(s, 1, 80, 8);
    assert_int_equal(rep[0].eval_before.rows[0].exact, 4);
    assert_int_equal(rep[1].eval_before.n, 0);
    put_arm(s, 1, true);
    assert_int_equal(rep[0].eval_before.n, 0);
    pw_snapshot_free(s);
}

/* Two evaluations are comparable only if both have the arm's current weights and encoding. */
static void test_before_compares(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    const struct pw_arm_view *arm = &s->arms[0];
    const struct pw_replica_view *rep = arm->rep;
    (void)state;
    put_arm_with(s, "t5", 0, 1);
    put_step(s, 10, 2);
    put_eval_at(s, 10, 1, 3);
    put_heads(s, 1, "000001");
    put_eval_at(s, 10, 2, 4);
    assert_ptr_equal(pw_eval_before(arm, &rep[0]), &rep[0].eval_before);
    assert_null(pw_eval_before(arm, &rep[1]));
    put_arm_with(s, "t5", 0, 5); /* emitted again: the arm became current */
    assert_non_null(pw_eval_before(arm, &rep[0]));
    put_arm_with(s, "t5 buckets=8", 1, 6);
    assert_null(pw_eval_before(arm, &rep[0]));
    put_heads(s, 1, "");
    put_eval_at(s, 10, 3, 7); /* against one with another encoding */
    assert_null(pw_eval_before(arm, &rep[0]));
    put_heads(s, 1, "000001");
    put_eval_at(s, 10, 4, 8);
    assert_int_equal(pw_eval_before(arm, &rep[0])->rows[0].exact, 3);
    put_step(s, 11, 9);
    assert_null(pw_eval_before(arm, &rep[0]));
    put_eval_at(s, 11, 5, 10); /* the same heads are off, but the weights differ */
    assert_null(pw_eval_before(arm, &rep[0]));
    put_heads(s, 1, "");
    put_eval_at(s, 11, 6, 11);
    assert_int_equal(pw_eval_before(arm, &rep[0])->rows[0].exact, 5);
    pw_snapshot_free(s);
}

/* Each replica has its own heads off, and its own evaluation to compare with. */
static void test_replicas(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    const struct pw_arm_view *arm = &s->arms[0];
    char text[256];
    (void)state;
    put_arm(s, 1, true);
    put_eval(s, 1, 10, 1);
    put_eval(s, 2, 10, 2);
    assert_true(pw_arm_heads_alike(arm) && !pw_arm_heads_off(arm));
    put_heads_of(s, 1, 2, "000021");
    put_heads_of(s, 1, 3, "111111"); /* the arm has two replicas */
    put_eval(s, 1, 20, 3);
    put_eval(s, 2, 20, 4);
    assert_true(pw_heads_off(&arm->rep[1]) && !pw_heads_off(&arm->rep[0]) && pw_arm_heads_off(arm));
    assert_false(pw_arm_heads_alike(arm));
    assert_int_equal(pw_head_mode(&arm->rep[1], 1, 1), PW_ABLATE_MEAN);
    assert_int_equal(pw_head_mode(&arm->rep[0], 1, 1), PW_ABLATE_NONE);
    assert_int_equal(arm->rep[0].eval_before.n, 0);
    assert_int_equal(arm->rep[1].eval_before.rows[0].exact, 2);
    pw_arm_heads_text(text, sizeof text, arm);
    assert_string_equal(text, "L1H1 mean, L1H2 zero in replica 2");
    put_heads_of(s, 1, 1, "100000");
    pw_arm_heads_text(text, sizeof text, arm);
    assert_string_equal(text, "L0H0 zero in replica 1; L1H1 mean, L1H2 zero in replica 2");
    for (size_t size = 1; size < 60; size++) {
        pw_arm_heads_text(text, size, arm);
        assert_true(strlen(text) < size);
    }
    put_heads_of(s, 1, 2, "100000");
    pw_arm_heads_text(text, sizeof text, arm);
    assert_string_equal(text, "L0H0 zero");
    put_arm(s, 1, true);
    assert_false(pw_arm_heads_off(arm));
    pw_snapshot_free(s);
}

static void test_words(void **state)
{
    static uint8_t mode[6], many[64 * 128];
    struct pw_ev_heads e = {.layers = 2, .heads = 3};
    char text[256], exact[20];
    (void)state;
    pw_heads_text(text, sizeof text, &e);
    assert_string_equal(text, "");
    e.mode = mode;
    pw_heads_text(text, sizeof text, &e);
    assert_string_equal(text, "");
    mode[2] = PW_ABLATE_ZERO, mode[4] = PW_ABLATE_RESAMPLE, mode[5] = 99;
    pw_heads_text(text, sizeof text, &e);
    assert_string_equal(text, "L0H2 zero, L1H1 resample, L1H2 off");
    memset(many, PW_ABLATE_MEAN, sizeof many);
    e = (struct pw_ev_heads){.layers = 64, .heads = 128, .mode = many};
    for (size_t size = 40; size <= sizeof text; size++) {
        pw_heads_text(text, size, &e);
        assert_true(strlen(text) < size);
        assert_non_null(strstr(text, "8192 in all"));
    }
    pw_heads_text(exact, sizeof exact, &e);
    assert_string_equal(exact, "8192 in all");
}

static struct pw_event *patch(int rows, int cols, const char *text)
{
    struct pw_event *e = pw_event_new(PW_EV_PATCH);
    e->arm = 2;
    e->step = 7;
    e->u.patch = (struct pw_ev_patch){.kind = PW_PATCH_HEADS, .rows = rows, .cols = cols};
    e->u.patch.recovery = calloc((size_t)rows * cols, sizeof(float));
    strcpy(e->u.patch.text, text);
    return e;
}

/* A map is kept until the next one; a patch of a single value is only a line of the log. */
static void test_patch(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    (void)state;
    fold_and_free(s, patch(1, 1, "a number"));
    assert_false(s->has_patch);
    assert_string_equal(s->log[0].text, "a number");
    fold_and_free(s, patch(2, 3, "a map"));
    assert_true(s->has_patch && s->patch.rows == 2 && s->patch_arm == 2 && s->patch_step == 7);
    fold_and_free(s, patch(1, 1, "another number"));
    assert_int_equal(s->patch.cols, 3);
    fold_and_free(s, patch(4, 5, "another map"));
    assert_int_equal(s->patch.cols, 5);
    assert_int_equal(s->n_log, 4);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),           cmocka_unit_test(test_before),
        cmocka_unit_test(test_before_compares), cmocka_unit_test(test_replicas),
        cmocka_unit_test(test_words),           cmocka_unit_test(test_patch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
