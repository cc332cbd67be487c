/* Recording: what is put is on disk when it says so, in order, whatever happens then. */
#include "ref_session.h"

static void records_in_order(void **state)
{
    char path[4096];
    uint64_t rng = 3, sum;
    int n;
    struct pw_store *s = session_open(session_path(state, path), true);
    assert_int_equal(pw_store_last(s), 0);
    sum = session_put(s, 1, 2000, &rng);
    session_wait(s, 2000);
    pw_store_close(s, "quit");

    struct pw_record *r = session_read(path);
    struct pw_record_info info;
    struct pw_err err;
    uint64_t intact;
    assert_true(session_sum(r, 1, UINT64_MAX, &n) == sum);
    assert_int_equal(n, 2000);
    pw_record_info(r, &info);
    assert_int_equal(info.first, 1);
    assert_int_equal(info.last, 2000);
    assert_int_equal(info.segments, 1);
    assert_true(info.ended);
    assert_int_equal(info.damaged, 0);
    assert_int_equal(info.unknown, 0);
    if (pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(intact, 2000);
    pw_record_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_in_order, session_setup, session_teardown),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
