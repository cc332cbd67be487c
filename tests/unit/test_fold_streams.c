/* test_fold_streams.c - tests that only the events determine the snapshot, by folding long random streams
 * twice. Tests also that time and work are monotonic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <cmocka.h>

#include "ref_fold.h"

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void random_event(struct pw_snapshot *s, uint32_t *seed)
{
    int arm = (int)(next(seed) % 10), step = (int)(next(seed) % 500);
    bool one = next(seed) % 2, rarely = next(seed) % 8 == 0;
    struct pw_event *e;
    switch (next(seed) % 12) {
    case 0: put_text(s, PW_EV_COMMAND, "pe t5"); break;
    case 1: put_text(s, one ? PW_EV_NOTE : PW_EV_ERROR, "text"); break;
    case 2: put_arm(s, arm, one, rarely, step, (int)(next(seed) % 5)); break;
    case 3: put_eval(s, arm, step, (int)(next(seed) % 5)); break;
    case 4: put_prompt(s, (int)(next(seed) % 3), 1 + (int)(next(seed) % 9)); break;
    case 5: put_token(s, (int)(next(seed) % 3), (int)(next(seed) % 200), one); break;
    case 6: put_attention(s, 1 + (int)(next(seed) % 12)); break;
    case 7: put_table(s, 1 + (int)(next(seed) % 40)); break;
    case 8: put_lab(s); break;
    case 9:
        e = pw_event_new(rarely ? PW_EV_DROP : PW_EV_GAP);
        e->arm = arm;
        fold_and_free(s, e);
        break;
    default: put_step(s, arm, step, (float)next(seed)); break;
    }
}

static void assert_same(const struct pw_snapshot *a, const struct pw_snapshot *b)
{
    assert_int_equal(a->current, b->current);
    assert_int_equal(a->n_log, b->n_log);
    assert_int_equal(a->n_tokens, b->n_tokens);
    assert_memory_equal(a->log, b->log, sizeof a->log);
    assert_int_equal(a->attention.T, b->attention.T);
    assert_int_equal(a->arms[1].table.length, b->arms[1].table.length);
    assert_int_equal(a->prompt.n, b->prompt.n);
    for (int i = 0; i < a->n_tokens; i++)
        assert_int_equal(a->tokens[i].pos, b->tokens[i].pos);
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const struct pw_arm_view *x = &a->arms[i], *y = &b->arms[i];
        assert_int_equal(x->used, y->used);
        assert_int_equal(x->n_marks, y->n_marks);
        assert_memory_equal(x->marks, y->marks, sizeof x->marks);
        assert_int_equal(x->rep[0].series.n, y->rep[0].series.n);
        assert_int_equal(x->rep[0].track.n, y->rep[0].track.n);
        assert_int_equal(x->rep[0].eval.n, y->rep[0].eval.n);
        if (x->rep[0].series.n > 0) {
            assert_memory_equal(x->rep[0].series.step, y->rep[0].series.step,
                                sizeof(int64_t) * (size_t)x->rep[0].series.n);
            assert_memory_equal(x->rep[0].series.v[0], y->rep[0].series.v[0],
                                sizeof(float) * (size_t)x->rep[0].series.n);
        }
        for (int k = 1; k < x->rep[0].series.n; k++) /* the guarantee of fold.h */
            assert_true(x->rep[0].series.step[k - 1] < x->rep[0].series.step[k]);
        for (int k = 1; k < x->rep[0].track.n; k++)
            assert_true(x->rep[0].track.step[k - 1] < x->rep[0].track.step[k]);
    }
}

static void test_streams(void **state)
{
    (void)state;
    for (uint32_t start = 0; start < 20; start++) {
        struct pw_snapshot *a = pw_snapshot_new(), *b = pw_snapshot_new();
        uint32_t seed_a = start, seed_b = start;
        for (int i = 0; i < 3000; i++) {
            random_event(a, &seed_a);
            random_event(b, &seed_b);
        }
        assert_same(a, b);
        pw_snapshot_free(a);
        pw_snapshot_free(b);
    }
}

/* Time counts from the first event and never decreases. Operation counts that are NaN are ignored. */
static void test_time_and_work(void **state)
{
    (void)state;
    static const int64_t ns[] = {7000000, 9000000, 8000000, 12000000}, ms[] = {0, 2, 2, 5};
    static const double flops[] = {5, NAN, 1e300, 9};
    static const int64_t counted[] = {5, 5, 5, 9};
    struct pw_snapshot *s = pw_snapshot_new();
    for (int i = 0; i < 4; i++) {
        struct pw_event *e = pw_event_new(i == 0 ? PW_EV_ARM : PW_EV_STEP);
        e->seq = (uint64_t)i + 1, e->t_ns = ns[i], e->arm = 1, e->step = i;
        if (i == 0)
            e->u.arm = (struct pw_ev_arm){.id = 1, .replicas = 1};
        fold_and_free(s, e);
    }
    const struct pw_series *r = &s->arms[0].rep[0].series;
    for (int i = 0; i < 3; i++)
        assert_int_equal(r->ms[i], ms[i + 1]);
    for (int i = 0; i < 4; i++) {
        struct pw_event *e = pw_event_new(PW_EV_STEP);
        e->seq = (uint64_t)i + 5, e->t_ns = ns[3], e->arm = 1, e->step = 10 + i;
        e->u.step.flops = flops[i];
        fold_and_free(s, e);
        assert_int_equal(r->flops[r->n - 1], counted[i]);
    }
    put_eval(s, 1, 99, 3);
    assert_int_equal(s->arms[0].rep[0].track.flops[0], 9);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_time_and_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
