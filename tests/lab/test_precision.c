/* test_precision.c - tests `set precision` through the lab's commands. */
#include <string.h>

#include "ref_lab.h"

/* bf16 is kept when the number of threads changes, and is reported. Its bits don't depend on threads either.
 * Incompatible settings are refused and change nothing. Without a bf16 unit bf16 is refused and nothing
 * changes. */
static void test_precision(void **state)
{
    struct bench b;
    char first[sizeof b.digests], fp32[sizeof b.digests];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "race t5,rotary; train 5; digest");
    memcpy(fp32, b.digests, sizeof fp32);
    assert_null(strstr(fp32, "class"));
    bench_run(&b, "set precision bf16");
    if (b.errors > 0) {
        assert_non_null(strstr(b.error, "precision=bf16: "));
        assert_non_null(strstr(b.error, "fp32 is allowed"));
        bench_must(&b, "digest");
        assert_string_equal(b.digests, fp32);
        bench_close(&b);
        skip();
    }
    assert_string_equal(b.s->lab.backend, "cpu: 1 thread, amx bf16, class machine");
    bench_must(&b, "set precision fp32; digest");
    assert_string_equal(b.digests, fp32);
    bench_must(&b, "set precision bf16; train 30; digest");
    memcpy(first, b.digests, sizeof first);
    assert_non_null(strstr(first, "  class machine"));
    bench_must(&b, "race t5,rotary; set precision fp32; train 5; set precision bf16; set threads 3");
    assert_string_equal(b.s->lab.backend, "cpu: 3 threads, amx bf16, class machine");
    bench_must(&b, "train 9; prompt sort 3 1 2; eval lengths=2..3 samples=9; train 21; digest");
    assert_string_equal(b.digests, first);
    bench_run(&b, "set isa scalar");
    assert_string_equal(b.error,
                        "precision=bf16 goes with isa=avx512, not with isa=scalar; fp32 goes with all");
    bench_must(&b, "set isa avx512; digest");
    assert_string_equal(b.digests, first);
    bench_must(&b, "set precision fp32; set isa scalar");
    bench_run(&b, "set precision bf16");
    assert_non_null(strstr(b.error, "not with isa=scalar"));
    assert_string_equal(b.s->lab.backend, "cpu: 3 threads, scalar");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_precision)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
