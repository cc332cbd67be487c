/* test_memory.c - models that can't fit are refused in one line, at once, and leave everything as it was. */
#include <string.h>
#include <time.h>

#include "ref_lab.h"

static void test_refused(void **state)
{
    static const char *const absurd[] = {
        "model layers=64 width=8192",
        "model paper width=8192 ffn=65536 heads=64",
        "model width=8192 layers=40 heads=128 head_width=512 ffn=65536",
    };
    struct bench b;
    char before[sizeof b.digests];
    struct timespec t0, t1;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 2; digest");
    memcpy(before, b.digests, sizeof before);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        bench_run(&b, absurd[i]);
        assert_int_equal(b.errors, 1);
        assert_non_null(strstr(b.error, "this model needs "));
        assert_non_null(strstr(b.error, " GB are free; "));
        assert_null(strchr(b.error, '\n'));
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    assert_true(t1.tv_sec - t0.tv_sec < 3);
    bench_run(&b, "model layers=1000 width=65536");
    assert_string_equal(b.error, "model: layers=1000: allowed are 1..64");
    bench_must(&b, "digest");
    assert_string_equal(b.digests, before);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
