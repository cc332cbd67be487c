/* test_histogram.c - tests the probe histogram: it must count a file's prompts, and claim nothing, because
 * the paper's figure counts other files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_counts(void **state)
{
    struct pw_finding f;
    FILE *file = fopen("histogram-test.txt", "w");
    (void)state;
    assert_non_null(file);
    fputs("a\tx\nb c\ty\nd e f\tz\ng  h i j k l m n o p q\tw\n",
          file); /* 1, 2, 3 and 11 words: a long tail */
    fclose(file);
    ref_probe(&f, "histogram", "path=histogram-test.txt", NULL, NULL, 0);
    remove("histogram-test.txt");
    const struct pw_block *b = ref_block(&f, "words");
    assert_true(pw_finding_cell(&f, b, 0, 0) == 1 && pw_finding_cell(&f, b, 0, 4) == 11);
    assert_int_equal(f.n_claims, 0);
    assert_non_null(strstr(f.remarks[0].text, "reproduces no claim"));
    pw_finding_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
