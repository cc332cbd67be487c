/* test_transplant.c - tests the probe transplant. A head's own pattern must change nothing, another head's
 * must, and a wrong head name must be refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_own(void **state)
{
    struct pw_model *m = ref_probe_model("layers=2", "rotary", 1), *both[] = {m, m};
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "transplant", "samples=4 head=1.2", both, NULL, 2);
    const struct pw_block *plot = ref_block(&f, "exact match by length");
    assert_int_equal(plot->rows, 11);
    for (int i = 0; i < plot->rows; i++)
        assert_true(pw_finding_y_at(&f, plot, i, 1, 0) == pw_finding_y_at(&f, plot, i, 2, 0));
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

static void refuse(struct pw_model **models, int n, const char *opts, const char *why)
{
    struct pw_finding f;
    struct pw_err err;
    assert_int_equal(ref_probe_run(&f, "transplant", opts, models, NULL, n, &err), PW_EUSER);
    if (strstr(err.msg, why) == NULL)
        fail_msg("%s: %s", opts, err.msg);
}

static void test_refused(void **state)
{
    struct pw_model *m = ref_probe_model("layers=2", "none", 1), *three[] = {m, m, m};
    (void)state;
    refuse(three, 1, "", "1 model: name two arms");
    refuse(three, 3, "", "3 models: name two arms");
    refuse(three, 2, "head=2.0", "0.0 to 1.3");
    refuse(three, 2, "head=0", "0.0 to 1.3");
    refuse(three, 2, "from=0.4", "from=0.4");
    refuse(three, 2, "from=0.1x", "from=0.1x");
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
