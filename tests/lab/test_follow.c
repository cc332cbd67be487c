/* test_follow.c - what was recorded is done again and has the same bits; what hasn't is found. */
#include <string.h>

#include "ref_record.h"

static void test_training(void **state)
{
    struct bench b;
    struct record r;
    (void)state;
    record_open(&b, &r, 2, false);
    bench_run(&b, "train 120; eval lengths=2..4; digest");
    bench_close(&b);
    record_must(&r, 1, "");
    assert_int_equal(r.v.steps, 120);
    assert_int_equal(r.v.evals, 1);
    assert_int_equal(r.v.digests, 2);

    struct pw_event *e = record_find(&r, PW_EV_STEP, 78);
    uint32_t bits;
    memcpy(&bits, &e->u.step.loss, sizeof bits);
    bits ^= 1;
    memcpy(&e->u.step.loss, &bits, sizeof bits);
    record_follow(&r, 2, "");
    assert_int_equal(r.v.end, PW_FOLLOW_DIFFERENT);
    assert_int_equal(r.v.step, 78);
    assert_string_equal(r.v.what, "loss");
    assert_int_equal(r.v.steps, 77);
    record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
