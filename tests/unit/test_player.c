/* test_player.c - tests that any moment of a recorded session equals the fold of all earlier events. */
#include "unit.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "ref_history.h"
#include "ref_snapshot.h"
#include "sessions/player.h"

enum { EVENTS = 1500, HISTORIES = 12 };

/* ---- replaces sessions/record.c through the linker, to compare a player with the fold without a disk */

enum pw_code __wrap_pw_record_open(struct pw_record **r, const char *path, struct pw_err *err);
void __wrap_pw_record_close(struct pw_record *r);
void __wrap_pw_record_info(struct pw_record *r, struct pw_record_info *out);
bool __wrap_pw_record_poll(struct pw_record *r);
void __wrap_pw_record_writer(const struct pw_record *r, char *dst, size_t size);
enum pw_code __wrap_pw_record_events(struct pw_record *r, uint64_t from, uint64_t to,
                                     bool (*each)(void *arg, struct pw_event *e), void *arg,
                                     struct pw_err *err);

static int committed;  /* number of events that a reader may see */
static bool forbidden; /* reading is a mistake */

struct pw_record {
    int seen; /* number of events at the last poll */
};

enum pw_code __wrap_pw_record_open(struct pw_record **r, const char *path, struct pw_err *err)
{
    if (*path == '\0')
        return pw_fail(err, PW_EUSER, "no recording");
    *r = pw_alloc(1, sizeof **r);
    (*r)->seen = committed;
    return PW_OK;
}

void __wrap_pw_record_close(struct pw_record *r)
{
    free(r);
}

void __wrap_pw_record_info(struct pw_record *r, struct pw_record_info *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "made");
    out->last = r->seen > 0 ? history_seq(r->seen - 1) : 0;
}

void __wrap_pw_record_writer(const struct pw_record *r, char *dst, size_t size)
{
    (void)r;
    snprintf(dst, size, "%s", committed < history_length() ? "pid 1" : "");
}

bool __wrap_pw_record_poll(struct pw_record *r)
{
    bool news = r->seen < committed;
    r->seen = committed;
    return news;
}

static int first_from(uint64_t from)
{
    int i = 0;
    while (i < history_length() && history_seq(i) < from)
        i++;
    return i;
}

enum pw_code __wrap_pw_record_events(struct pw_record *r, uint64_t from, uint64_t to,
                                     bool (*each)(void *arg, struct pw_event *e), void *arg,
                                     struct pw_err *err)
{
    (void)r, (void)err;
    bool more = true;
    assert_false(forbidden);
    for (int i = first_from(from); more && i < committed && history_seq(i) <= to; i++) {
        struct pw_event *e = history_event(i);
        more = each(arg, e);
        pw_event_free(e);
    }
    return PW_OK;
}

/* ---- the tests */

static void make(uint64_t seed, int n)
{
    history_make(seed, n);
    committed = n;
}

static struct pw_player *opened(void)
{
    struct pw_player *p;
    struct pw_err err = {0};
    if (pw_player_open(&p, "made.pewter", &err) != PW_OK)
        fail_msg("%s", err.msg);
    return p;
}

static void fold_event(struct pw_snapshot *s, int i)
{
    struct pw_event *e = history_event(i);
    pw_fold(s, e);
    pw_event_free(e);
}

static void expect_same(const struct pw_snapshot *folded, const struct pw_snapshot *played, uint64_t seed,
                        int i)
{
    const char *what = same_snapshot(folded, played);
    if (what != NULL)
        fail_msg("history %llu, after event %llu: %s", (unsigned long long)seed,
                 (unsigned long long)history_seq(i), what);
}

/* One moment in three, and before each another random one. */
static void every_moment_is_the_fold(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        struct pw_rng r;
        make(seed, EVENTS);
        pw_rng_init(&r, seed, PW_STREAM_TRAIN, 0);
        struct pw_player *p = opened();
        struct pw_snapshot *s = pw_snapshot_new();
        assert_int_equal(pw_player_last(p), history_seq(EVENTS - 1));
        for (int i = 0; i < EVENTS; i++) {
            fold_event(s, i);
            if (pw_rng_below(&r, 3) > 0)
                continue;
            pw_player_at(p, history_seq((int)pw_rng_below(&r, EVENTS)));
            expect_same(s, pw_player_at(p, history_seq(i)), seed, i);
        }
        expect_same(s, pw_player_at(p, UINT64_MAX), seed, EVENTS - 1);
        pw_snapshot_free(s);
        pw_player_close(p);
    }
}

/* Reads new events with the player, or beside it. */
static bool read_on(struct pw_player *p, struct pw_ahead *beside)
{
    if (beside == NULL)
        return pw_player_poll(p);
    pw_ahead_read(beside, pw_player_last(p));
    return pw_player_take(p, beside);
}

/* While the session is being recorded: moments don't change, and the end moves. */
static void check_reading_on(bool beside)
{
    make(77, EVENTS);
    committed = 10;
    struct pw_player *p = opened();
    struct pw_ahead *a = beside ? pw_ahead_create(p, "x") : NULL;
    struct pw_snapshot *s = pw_snapshot_new();
    assert_false(read_on(p, a));
    for (int i = 0, end = 10; i < EVENTS; i++) {
        fold_event(s, i);
        if (i + 1 == end) {
            expect_same(s, pw_player_at(p, history_seq(i)), 77, i);
            end = end + 37 < EVENTS ? end + 37 : EVENTS;
            committed = end;
            assert_true(i + 1 == EVENTS || read_on(p, a));
            assert_int_equal(pw_player_last(p), history_seq(end - 1));
            expect_same(s, pw_player_at(p, history_seq(i)), 77, i);
        }
    }
    pw_snapshot_free(s);
    pw_ahead_destroy(a);
    pw_player_close(p);
}

static void a_player_reads_on(void **state)
{
    (void)state;
    check_reading_on(false);
    check_reading_on(true);
}

/* Reads what the snapshot lacks. moves: meanwhile another moment is shown. */
static void complete(struct pw_player *p, struct pw_ahead *a, uint64_t moves)
{
    pw_player_ask(p, a);
    if (moves > 0)
        pw_player_at(p, moves);
    forbidden = false;
    pw_ahead_read(a, pw_player_last(p));
    forbidden = true;
    pw_player_take(p, a);
}

/* A player that defers reads nothing itself. Its first snapshot of a moment can be read in full. The snapshot
 * is the fold once the missing events were read, also if an answer belongs to another moment. */
static void a_player_defers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        struct pw_rng r;
        int lacked = 0;
        make(seed, EVENTS);
        pw_rng_init(&r, seed, PW_STREAM_TRAIN, 1);
        struct pw_player *p = opened();
        struct pw_ahead *a = pw_ahead_create(p, "x");
        struct pw_snapshot *s = pw_snapshot_new();
        pw_player_defer(p);
        forbidden = true;
        for (int i = 0; i < EVENTS - 1; i++) {
            fold_event(s, i);
            if (pw_rng_below(&r, 5) > 0)
                continue;
            pw_player_at(p, history_seq((int)pw_rng_below(&r, EVENTS - 1)));
            complete(p, a, pw_rng_below(&r, 2) > 0 ? history_seq(i) : 0);
            const struct pw_snapshot *now = pw_player_at(p, history_seq(i));
            assert_null(same_snapshot(now, now)); /* no array is freed or too short */
            lacked += pw_player_lacks(p);
            complete(p, a, 0);
            expect_same(s, pw_player_at(p, history_seq(i)), seed, i);
            assert_false(pw_player_lacks(p));
        }
        assert_true(lacked > 10);
        forbidden = false;
        pw_snapshot_free(s);
        pw_ahead_destroy(a);
        pw_player_close(p);
    }
}

/* An event that can't be read leaves its slot empty, and is asked for once. */
static void a_lost_event_is_asked_for_once(void **state)
{
    (void)state;
    int i = EVENTS / 2;
    make(1, EVENTS);
    struct pw_player *p = opened();
    struct pw_ahead *a = pw_ahead_create(p, "x");
    pw_player_defer(p);
    pw_player_at(p, history_seq(i));
    assert_true(pw_player_lacks(p));
    pw_player_ask(p, a);
    committed = 0;
    pw_ahead_read(a, pw_player_last(p));
    committed = EVENTS;
    pw_player_take(p, a);
    const struct pw_snapshot *s = pw_player_at(p, history_seq(i));
    assert_false(pw_player_lacks(p));
    assert_false(s->has_prompt || s->has_attention || s->has_look || s->has_patch);
    pw_ahead_destroy(a);
    pw_player_close(p);
}

/* Events are found in both directions. A step's moment is the last one before the next step. */
static void moments_are_found(void **state)
{
    (void)state;
    make(6, EVENTS);
    struct pw_player *p = opened();
    int marks = 0, back = 0, with_text = 0;
    for (uint64_t at = 0; (at = pw_player_seek(p, at, 1, PW_EV_MARK, "")) != 0; marks++)
        with_text += pw_player_seek(p, at - 1, 1, PW_EV_MARK, "TEXT 7") == at;
    for (uint64_t at = UINT64_MAX; (at = pw_player_seek(p, at, -1, PW_EV_MARK, "")) != 0;)
        back++;
    int told = 0, told_with = 0;
    for (int i = 0; i < EVENTS; i++) {
        struct pw_event *e = history_event(i);
        told += e->kind == PW_EV_MARK;
        told_with += e->kind == PW_EV_MARK && strstr(e->u.text, "text 7") != NULL;
        pw_event_free(e);
    }
    assert_true(told > 5);
    assert_int_equal(marks, told);
    assert_int_equal(back, told);
    assert_int_equal(with_text, told_with);
    assert_int_equal(pw_player_seek(p, 0, 1, PW_EV_COMMAND, "no such text"), 0);

    const struct pw_snapshot *end = pw_player_at(p, UINT64_MAX);
    int arms = 0;
    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        if (!end->arms[id - 1].used)
            continue;
        arms++;
        int64_t last = end->arms[id - 1].info.step;
        for (int64_t step = 0; step <= last; step++) {
            uint64_t seq = pw_player_step(p, id, step);
            if (seq == 0)
                continue; /* before the arm began */
            const struct pw_snapshot *s = pw_player_at(p, seq);
            assert_true(s->arms[id - 1].info.step <= step);
            const struct pw_series *then = &s->arms[id - 1].rep[0].series,
                                   *all = &end->arms[id - 1].rep[0].series;
            for (int i = 0; i < all->n; i++) /* the series reaches this step */
                if (all->step[i] == step)
                    assert_true(then->n > 0 && then->step[then->n - 1] == step);
        }
        assert_int_equal(pw_player_step(p, id, INT64_MAX), pw_player_last(p));
        assert_int_equal(pw_player_step(p, id, -1), 0);
    }
    assert_true(arms > 0);
    assert_int_equal(pw_player_step(p, 9, 1), 0);
    for (int i = 0; i < EVENTS; i++) { /* also in earlier lives: the way back to the current step exists */
        const struct pw_snapshot *s = pw_player_at(p, history_seq(i));
        for (int id = 1; id <= 3; id++) {
            int64_t step = s->arms[id - 1].info.step;
            bool used = s->arms[id - 1].used && s->arms[id - 1].rep[0].series.n > 0;
            uint64_t there = used ? pw_player_step_near(p, history_seq(i), id, step) : 0;
            if (there > 0)
                assert_int_equal(pw_player_at(p, there)->arms[id - 1].info.step, step);
            s = pw_player_at(p, history_seq(i));
        }
    }
    pw_player_close(p);
}

static void moments_have_a_time(void **state)
{
    (void)state;
    make(6, EVENTS);
    struct pw_player *p = opened();
    int64_t before = 0;
    for (int i = 0; i < EVENTS; i++) {
        struct pw_event *e = history_event(i);
        int64_t t = pw_player_time(p, e->seq), off = t - e->t_ns;
        assert_true(t >= before);
        assert_true(off > -10000000 && off < 60000000); /* the clock of this history sometimes goes back */
        assert_true(pw_player_by_time(p, t) >= e->seq);
        before = t;
        pw_event_free(e);
    }
    assert_int_equal(pw_player_by_time(p, 0), 0);
    assert_int_equal(pw_player_by_time(p, INT64_MAX), pw_player_last(p));
    pw_player_close(p);
}

static void nothing_is_refused_and_empty_is_empty(void **state)
{
    (void)state;
    struct pw_player *p = NULL;
    struct pw_err err = {0};
    assert_int_equal(pw_player_open(&p, "", &err), PW_EUSER);
    assert_string_equal(err.msg, "no recording");
    make(1, 4);
    committed = 0;
    p = opened();
    assert_int_equal(pw_player_last(p), 0);
    assert_int_equal(pw_player_at(p, 7)->seq, 0);
    assert_int_equal(pw_player_step(p, 0, 3), 0);
    pw_player_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_moment_is_the_fold),
        cmocka_unit_test(a_player_reads_on),
        cmocka_unit_test(a_player_defers),
        cmocka_unit_test(a_lost_event_is_asked_for_once),
        cmocka_unit_test(moments_are_found),
        cmocka_unit_test(moments_have_a_time),
        cmocka_unit_test(nothing_is_refused_and_empty_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
