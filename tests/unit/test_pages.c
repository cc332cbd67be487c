/* test_pages.c - tests memory in pages of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/pages.h"

enum { BYTES = 1 << 20 };

static void test_pages_are_zeros(void **state)
{
    unsigned char *p = pw_pages_reserve(BYTES);
    (void)state;
    assert_non_null(p);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < BYTES; i++)
            assert_int_equal(p[i], 0);
        p[0] = p[BYTES - 1] = 1;
        pw_pages_drop(p, BYTES); /* then they are zeros again */
    }
    pw_pages_free(p, BYTES);
    pw_pages_free(NULL, BYTES);
}

/* Small blocks are of the heap, which has used memory. */
static void test_blocks_are_zeros(void **state)
{
    static const size_t sizes[] = {1, 64, 65, 5000, BYTES - 1, BYTES, BYTES + 1, 5 * BYTES};
    (void)state;
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            unsigned char *p = pw_block_take(sizes[k]);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 64, 0);
            for (size_t i = 0; i < sizes[k]; i++)
                if (p[i] != 0)
                    fail_msg("byte %zu of %zu is %d", i, sizes[k], p[i]);
            memset(p, 1, sizes[k]);
            pw_block_free(p, sizes[k]);
        }
    pw_block_free(NULL, 1);
    pw_block_free(NULL, BYTES);
}

/* Keys and values of too long a context end in a message, not in the end of the process by the system. */
static void test_more_than_there_is(void **state)
{
    int always = 1;
    FILE *f = fopen("/proc/sys/vm/overcommit_memory", "r");
    (void)state;
    if (f == NULL || fscanf(f, "%d", &always) != 1)
        always = 1;
    if (f != NULL)
        fclose(f);
    if (always == 1) /* the system grants every size */
        skip();
    assert_null(pw_block_take((size_t)1 << 45));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_are_zeros),
        cmocka_unit_test(test_blocks_are_zeros),
        cmocka_unit_test(test_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
