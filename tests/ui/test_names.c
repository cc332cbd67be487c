/* test_names.c - an arm's name has the sizes among its encoding's options, and what is tuned with its name.
 */
#include "plot/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "model/pe.h"

static void expect(const char *pe, int swaps, const char *want)
{
    struct pw_arm_view a = {.used = true, .info = {.id = 2, .swaps = swaps}};
    struct pw_str name = {0};
    pw_text_copy(a.info.pe, sizeof a.info.pe, pe);
    sscanf(pe, "%15s", a.info.name);
    pw_arm_name(&a, &name);
    assert_string_equal(pw_str_text(&name), want);
    pw_str_fini(&name);
}

static void test_sizes(void **state)
{
    (void)state;
    expect("none", 0, "2 none");
    expect("t5 buckets=8 distance=16", 0, "2 t5 8/16");
    expect("t5 buckets=8 distance=16", 1, "2 t5 8/16 " PW_SWAPPED);
    expect("rotary base=10000 dims=0 pairing=half", 0, "2 rotary 10000");
}

/* All that tune.c has. */
static void test_tuned(void **state)
{
    char pe[64], want[64];
    (void)state;
    expect("rotary base=10000 dims=0 pairing=half stretch=0.5 logn=9", 0,
           "2 rotary 10000 stretch=0.5 logn=9");
    for (const struct pw_opt *o = pw_pe_tune_opts; o->name != NULL; o++) {
        snprintf(pe, sizeof pe, "none %s=5", o->name);
        snprintf(want, sizeof want, "2 none %s=5", o->name);
        expect(pe, 0, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_tuned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
