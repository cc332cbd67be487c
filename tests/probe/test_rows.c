/* test_rows.c - tests the probe rows: golden values of DPE, and the entries that two lengths share. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_dpe(void **state)
{
    static const double first[] = {
        0, 1, 0, 1, .4121184852417566, -.9111302618846768, .08987854919801105, .9959527330119942};
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "rows", "pes=dpe,rspe length=10 other=20 width=8", NULL, NULL, 0);
    const struct pw_block *map = ref_block(&f, "dpe, length 10: position"),
                          *shared = ref_block(&f, "dpe, length 10: +1");
    for (int c = 0; c < 8; c++)
        assert_true(fabs(pw_finding_cell(&f, map, 0, c) - first[c]) < 1e-6);
    for (int pos = 0; pos < 10; pos++)
        for (int c = 0; c < 8; c++)
            assert_true(pw_finding_cell(&f, shared, pos, c) == (c < 4 ? 1 : -1));
    shared = ref_block(&f, "rspe, length 10: +1");
    for (int pos = 0; pos < 10; pos++)
        assert_true(pw_finding_cell(&f, shared, pos, 0) == -1);
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
}

static void refuse(const char *opts, const char *why)
{
    struct pw_finding f;
    struct pw_err err;
    assert_int_equal(ref_probe_run(&f, "rows", opts, NULL, NULL, 0, &err), PW_EUSER);
    if (strstr(err.msg, why) == NULL)
        fail_msg("%s: %s", opts, err.msg);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("pes=t5", "pes=t5: this encoding adds no rows");
    refuse("pes=dpee", "did you mean 'dpe'?");
    refuse("pes=,", "name one to 4 encodings");
    refuse("pes=dpe,rspe,aspe,2dspe,ldpe", "at most 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dpe), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
