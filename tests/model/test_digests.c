/* test_digests.c - tests that every encoding trains to the committed digests, on every instruction set of
 * this machine and with any number of threads. bench/bits.sh does the same for compilers and another
 * processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/pe.h"
#include "tests/model/ref_digests.h"

static void test_digests(void **state)
{
    (void)state;
    assert_int_equal(ref_digests_compare(stdout, 1), 0);
}

/* A new encoding must have lines in the table. */
static void test_no_encoding_is_left_out(void **state)
{
    (void)state;
    for (const struct pw_pe *const *pe = pw_pes; *pe != NULL; pe++) {
        size_t n = strlen((*pe)->name);
        int found = 0;
        for (int k = 0; ref_digests[k].pe != NULL; k++)
            found +=
                strncmp(ref_digests[k].pe, (*pe)->name, n) == 0 && strchr(" (", ref_digests[k].pe[n]) != NULL;
        if (found == 0)
            fail_msg("no golden digest for %s: add {\"%s\", PLAIN, {0, 0}}, to tests/model/ref_digests.c; "
                     "the failing test then prints the digest",
                     (*pe)->name, (*pe)->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_digests),
                                       cmocka_unit_test(test_no_encoding_is_left_out)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
