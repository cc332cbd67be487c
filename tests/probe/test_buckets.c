/* test_buckets.c - tests the probe buckets: its claims must hold, and a wrong option must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_claims(void **state)
{
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "buckets", "", NULL, NULL, 0);
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    const struct pw_block *b = ref_block(&f, "first distance");
    assert_int_equal(b->rows, 32);
    assert_true(pw_finding_cell(&f, b, 31, 0) == 113);
    pw_finding_fini(&f);
}

static void test_refused(void **state)
{
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "buckets", "buckets=32 distance=16", NULL, NULL, 0, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "distance=16"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
