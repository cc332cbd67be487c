/* test_kept.c - tests attention maps that are kept over training time, and the timeline's ticks. */
#include "unit.h"

#include "base/rng.h"
#include "sessions/player_int.h"

static struct pw_past_kept *past; /* the player's record of kept maps; NULL: none */

static void fold(struct pw_snapshot *s, struct pw_event *e)
{
    e->seq = s->seq + 1;
    pw_fold(s, e);
    if (past != NULL)
        pw_past_kept_after(past, s, e);
    pw_event_free(e);
}

static void arm(struct pw_snapshot *s, int id, bool restarted, int swaps)
{
    struct pw_event *e = pw_event_new(PW_EV_ARM);
    e->arm = id;
    e->u.arm = (struct pw_ev_arm){.id = id, .current = id == 1, .restarted = restarted, .swaps = swaps};
    snprintf(e->u.arm.pe, sizeof e->u.arm.pe, "t5 buckets=8");
    fold(s, e);
}

static void pin(struct pw_snapshot *s, int id)
{
    struct pw_event *e = pw_event_new(PW_EV_PROMPT);
    e->u.prompt = (struct pw_ev_prompt){.id = id, .n = 1, .n_prompt = 1};
    e->u.prompt.tokens = calloc(1, sizeof(int));
    e->u.prompt.labels = calloc(1, PW_LABEL);
    fold(s, e);
}

static int replica; /* replica of the emitted maps; 0: as in versions without replica= */

/* Emits a map of T tokens; every entry is its step. */
static void tell(struct pw_snapshot *s, int id, int prompt, int64_t step, int T)
{
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION);
    struct pw_ev_attention *a = &e->u.attention;
    e->arm = id;
    e->replica = replica;
    e->step = step;
    *a = (struct pw_ev_attention){.prompt = prompt, .T = T, .layers = 2, .heads = 4, .n_gold = 1};
    a->labels = calloc((size_t)T, sizeof *a->labels);
    a->gold = calloc(1, sizeof *a->gold);
    a->gold->query = (int)step;
    a->probs = malloc(8 * (size_t)T * T * sizeof *a->probs);
    for (int i = 0; i < 8 * T * T; i++)
        a->probs[i] = (uint16_t)step;
    a->score = calloc((size_t)T * T, sizeof *a->score);
    a->n_scores = 1;
    a->scores = calloc(8, sizeof *a->scores);
    a->scores[7] = (float)step;
    fold(s, e);
}

static struct pw_snapshot *two_arms(void)
{
    struct pw_snapshot *s = pw_snapshot_new();
    arm(s, 1, true, 0);
    arm(s, 2, true, 0);
    pin(s, 7);
    return s;
}

/* Maps of another replica have other heads: the kept maps of the previous one are dropped. */
static void test_one_replica(void **state)
{
    (void)state;
    struct pw_snapshot *s = two_arms();
    int64_t at = -1;
    tell(s, 1, 7, 10, 3);
    replica = 1; /* the same replica */
    tell(s, 1, 7, 20, 3);
    assert_int_equal(s->arms[0].kept.n, 2);
    replica = 2;
    tell(s, 2, 7, 20, 3);
    tell(s, 1, 7, 20, 3);
    assert_int_equal(s->attention_replica, 2);
    assert_int_equal(s->arms[0].kept.n, 1);
    assert_null(pw_kept_attention(s, 1, 19, &at));
    tell(s, 1, 7, 30, 3);
    assert_int_equal(s->arms[0].kept.n, 2);
    replica = 0;
    pw_snapshot_free(s);
}

static void test_nearest_before(void **state)
{
    (void)state;
    struct pw_snapshot *s = two_arms();
    int64_t at = -1;
    tell(s, 1, 7, 10, 3);
    tell(s, 1, 7, 20, 3);
    tell(s, 2, 7, 15, 3);
    tell(s, 1, 6, 30, 3); /* of another prompt */
    assert_null(pw_kept_attention(s, 1, 9, &at));
    const struct pw_ev_attention *a = pw_kept_attention(s, 1, 19, &at);
    assert_int_equal(at, 10);
    assert_int_equal(a->probs[71], 10);
    assert_int_equal(a->gold->query, 10);
    assert_null(a->score);
    assert_non_null(pw_kept_attention(s, 1, 1000, &at));
    assert_int_equal(at, 20);
    assert_non_null(pw_kept_attention(s, 2, 15, &at));
    assert_int_equal(at, 15);
    assert_null(pw_kept_attention(s, 3, 15, &at));
    assert_null(pw_kept_attention(s, 0, 15, &at));
    tell(s, 1, 7, 20, 4); /* the same step emitted again, then an earlier step */
    assert_int_equal(pw_kept_attention(s, 1, 20, &at)->T, 4);
    tell(s, 1, 7, 12, 3);
    assert_non_null(pw_kept_attention(s, 1, 20, &at));
    assert_int_equal(at, 12);
    pw_snapshot_free(s);
}

static void test_cleared(void **state)
{
    (void)state;
    struct pw_snapshot *s = two_arms();
    int64_t at;
    tell(s, 1, 7, 10, 3);
    tell(s, 2, 7, 10, 3);
    pin(s, 7); /* the same prompt, decoded again */
    arm(s, 1, true, 0);
    assert_null(pw_kept_attention(s, 1, 10, &at));
    assert_non_null(pw_kept_attention(s, 2, 10, &at));
    pin(s, 8);
    assert_null(pw_kept_attention(s, 2, 10, &at));
    pw_snapshot_free(s);
}

/* With many maps, the first and the last stay, and early steps are kept more densely than late ones. The
 * same events keep the same maps. */
static void test_thinned(void **state)
{
    (void)state;
    struct pw_snapshot *s = two_arms(), *t = two_arms();
    for (int step = 5; step <= 5000; step += 5) {
        tell(s, 1, 7, step, 3);
        tell(t, 1, 7, step, 3);
        const struct pw_kept *k = &s->arms[0].kept;
        assert_true(k->n <= 64);
        assert_int_equal(k->map[0].step, 5);
        assert_int_equal(k->map[k->n - 1].step, step);
    }
    const struct pw_kept *k = &s->arms[0].kept, *l = &t->arms[0].kept;
    assert_int_equal(k->n, 64);
    assert_int_equal(l->n, 64);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(k->map[i].step, l->map[i].step);
        assert_int_equal(k->map[i].a.probs[0], k->map[i].step);
        assert_true(i == 0 || k->map[i].step > k->map[i - 1].step);
    }
    assert_true(k->map[2].step <= 40);
    assert_true(k->map[32].step < 2500 && k->map[32].step > 500);
    pw_snapshot_free(s);
    pw_snapshot_free(t);
}

/* The maps that were kept at any moment can be listed later, with the scores of the heads. */
static void test_of_the_past(void **state)
{
    (void)state;
    enum { EVENTS = 600 };
    static struct pw_past_kept k[PW_MAX_ARMS];
    static int64_t steps[EVENTS][2][PW_MAX_KEPT];
    static int n[EVENTS][2];
    struct pw_snapshot *view = pw_snapshot_new(), *s;
    struct pw_rng r;
    int thinned = 0;
    pw_rng_init(&r, 1, PW_STREAM_TRAIN, 0);
    past = k;
    s = two_arms();
    uint64_t first = s->seq + 1;
    for (int i = 0; i < EVENTS; i++) {
        int id = 1 + (int)pw_rng_below(&r, 2), back = pw_rng_below(&r, 100) == 0;
        if (i == EVENTS / 2)
            arm(s, 2, true, 0);
        else
            tell(s, id, 7, back ? (int64_t)pw_rng_below(&r, 5000) : 10 * (i + 1), 2);
        for (int a = 0; a < 2; a++) {
            n[i][a] = s->arms[a].kept.n;
            for (int j = 0; j < n[i][a]; j++)
                steps[i][a][j] = s->arms[a].kept.map[j].step;
            thinned += n[i][a] == PW_MAX_KEPT;
        }
    }
    assert_true(thinned > 100);
    for (int times = 0; times < 200; times++) {
        int i = (int)pw_rng_below(&r, EVENTS);
        pw_past_kept_restore(k, view, first + (uint64_t)i);
        for (int a = 0; a < 2; a++) {
            const struct pw_kept *kept = &view->arms[a].kept;
            assert_int_equal(kept->n, n[i][a]);
            for (int j = 0; j < kept->n; j++) {
                assert_int_equal(kept->map[j].step, steps[i][a][j]);
                assert_true(kept->map[j].a.scores[7] == (float)steps[i][a][j]);
                assert_null(kept->map[j].a.probs);
            }
        }
        int64_t at;
        assert_null(pw_kept_attention(view, 1, INT64_MAX, &at));
    }
    past = NULL;
    pw_past_kept_fini(k);
    pw_snapshot_free(s);
    free(view);
}

/* Large maps: memory stays within its bound, and every arm keeps two. */
static void test_memory_is_bounded(void **state)
{
    (void)state;
    struct pw_snapshot *s = two_arms();
    int64_t at;
    for (int step = 1; step <= 60; step++) {
        tell(s, 1, 7, step, 300);
        if (step > 50)
            tell(s, 2, 7, step, 300);
        size_t bytes = s->arms[0].kept.bytes + s->arms[1].kept.bytes;
        assert_true(bytes <= (size_t)64 << 20);
        assert_int_equal(s->arms[0].kept.map[0].step, 1);
        assert_non_null(pw_kept_attention(s, 1, step, &at));
        assert_int_equal(at, step);
    }
    assert_true(s->arms[0].kept.n > 10 && s->arms[1].kept.n >= 2);
    tell(s, 1, 7, 61, 600); /* too large to be kept */
    assert_non_null(pw_kept_attention(s, 1, 61, &at));
    assert_int_equal(at, 60);
    pw_snapshot_free(s);
}

static void text_event(struct pw_snapshot *s, enum pw_event_kind kind, int id, int64_t step, const char *text)
{
    struct pw_event *e = pw_event_new(kind);
    e->arm = id;
    e->step = step;
    snprintf(e->u.text, sizeof e->u.text, "%s", text);
    fold(s, e);
}

static void evaluate(struct pw_snapshot *s, int id, int64_t step, bool live)
{
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    e->arm = id;
    e->step = step;
    e->u.eval.live = live;
    e->u.eval.n = 1;
    e->u.eval.rows = calloc(1, sizeof *e->u.eval.rows);
    *e->u.eval.rows = (struct pw_eval_row){.length = 3, .samples = 4, .exact = 3};
    fold(s, e);
}

static void test_ticks(void **state)
{
    (void)state;
    struct pw_snapshot *s = two_arms();
    s->lab.n_tasks = 1;
    s->lab.tasks[0].train_lo = 2;
    s->lab.tasks[0].train_hi = 8;
    evaluate(s, 1, 100, false);
    text_event(s, PW_EV_CHECKPOINT, 1, 110, "w.safetensors");
    text_event(s, PW_EV_MARK, 2, 120, "a head is born");
    arm(s, 1, false, 1);
    assert_int_equal(s->n_ticks, 4);
    assert_string_equal(s->ticks[0].text, "in range 75%");
    assert_int_equal(s->ticks[1].kind, PW_TICK_CHECKPOINT);
    assert_int_equal(s->ticks[1].step, 110);
    assert_int_equal(s->ticks[2].kind, PW_TICK_MARK);
    assert_string_equal(s->ticks[2].text, "a head is born");
    assert_string_equal(s->ticks[3].text, "t5 buckets=8");
    assert_string_equal(s->log[1].text, "mark: a head is born");
    for (int i = 1; i <= 3000; i++) /* live evaluations don't displace the user's ticks */
        evaluate(s, 1 + i % 2, 50 * i, true);
    assert_in_range(s->n_ticks, 4 + 32, 4 + 64);
    for (int i = 0; i < 4; i++)
        assert_false(s->ticks[i].live);
    for (int i = 0; i < 600; i++)
        text_event(s, PW_EV_MARK, 2, i, "many");
    assert_int_equal(s->n_ticks, PW_MAX_TICKS);
    assert_int_equal(s->ticks[PW_MAX_TICKS - 1].step, 599);
    arm(s, 2, true, 0);
    for (int i = 0; i < s->n_ticks; i++)
        assert_int_equal(s->ticks[i].arm, 1);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_before), cmocka_unit_test(test_one_replica),
        cmocka_unit_test(test_cleared),        cmocka_unit_test(test_thinned),
        cmocka_unit_test(test_of_the_past),    cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
