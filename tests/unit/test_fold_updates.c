/* test_fold_updates.c - tests the series of update-to-weight ratios and the slot of digests in the
 * snapshot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sessions/fold.h"

static void put_arm(struct pw_snapshot *s)
{
    struct pw_event *e = pw_event_new(PW_EV_ARM);
    e->arm = 1;
    e->u.arm = (struct pw_ev_arm){.id = 1, .restarted = true};
    pw_fold(s, e);
    pw_event_free(e);
}

static void put_updates(struct pw_snapshot *s, int64_t step, int n, float ratio)
{
    struct pw_event *e = pw_event_new(PW_EV_UPDATES);
    e->arm = 1;
    e->step = step;
    e->u.updates.n = n;
    for (int i = 0; i < n && i < PW_MAX_BLOCKS; i++)
        e->u.updates.ratio[i] = ratio + (float)i;
    pw_fold(s, e);
    pw_event_free(e);
}

static void test_updates_and_digest(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_event *e = pw_event_new(PW_EV_DIGEST);
    (void)state;
    put_updates(s, 10, 4, 1); /* the arm doesn't exist yet */
    put_arm(s);
    const struct pw_replica_view *rep = s->arms[0].rep;
    for (int i = 1; i <= 100; i++)
        put_updates(s, 10 * i, 5, (float)i);
    assert_int_equal(rep->updates.n, 100);
    assert_int_equal(rep->updates.blocks, 5);
    for (int i = 0; i < 500; i++)
        assert_true(rep->updates.ratio[i] == (float)(i / 5 + 1 + i % 5));
    put_updates(s, 500, 5, 7); /* training went back */
    assert_int_equal(rep->updates.n, 50);
    assert_true(rep->updates.ratio[5 * 49 + 1] == 8);
    put_updates(s, 510, PW_MAX_BLOCKS + 1, 7); /* an invalid number of blocks */
    put_updates(s, 510, 0, 7);
    assert_int_equal(rep->updates.n, 50);
    put_updates(s, 510, 6, 7); /* of a model with another number of blocks */
    assert_int_equal(rep->updates.n, 1);
    assert_int_equal(rep->updates.blocks, 6);

    assert_false(rep->has_digest);
    e->arm = 1;
    e->step = 600;
    e->u.digest[1] = 9;
    pw_fold(s, e);
    pw_event_free(e);
    assert_true(rep->has_digest && rep->digest[0] == 0 && rep->digest[1] == 9 && rep->digest_step == 600);
    put_arm(s); /* the arm was restarted */
    assert_false(rep->has_digest);
    assert_int_equal(rep->updates.n, 0);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_updates_and_digest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
