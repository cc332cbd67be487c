/* test_block.c - threads, warps and blocks do what CUDA says, in every order. */
#include "tests/emulator/ref_device.h"
#include "tests/emulator/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void check_sum(void)
{
    enum { N = 1000, BLOCKS = 3 };
    float in[N], got[BLOCKS], want = 0.0f;
    for (int i = 0; i < N; i++)
        want += in[i] = (float)(i * 37 % 101);
    float *x = ref_device(in, sizeof in), *out = ref_device(NULL, sizeof got);
    assert_int_equal(sample_sum(ref_stream, out, x, N, BLOCKS), cudaSuccess);
    ref_fetch(got, out, sizeof got);
    for (int b = 0; b < BLOCKS; b++)
        assert_true(got[b] == want);
}

static void sums(void **state)
{
    (void)state;
    ref_each_order(check_sum);
}

static void check_flip(void)
{
    enum { N = 150 };
    float in[N], got[N];
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    float *x = ref_device(in, sizeof in), *y = ref_device(NULL, sizeof got);
    assert_int_equal(sample_flip(ref_stream, y, x, N), cudaSuccess);
    assert_int_equal(sample_axpy(ref_stream, y, x, 2.0f, N), cudaSuccess);
    ref_fetch(got, y, sizeof got);
    for (int i = 0; i < N; i++) {
        int first = i / 64 * 64, rows = N - first < 64 ? N - first : 64;
        assert_true(got[i] == (float)(first + rows - 1 - (i - first)) + 2.0f * (float)i);
    }
}

static void tiles(void **state)
{
    (void)state;
    ref_each_order(check_flip);
}

static void check_warp(void)
{
    int got[32][8];
    int *out = ref_device(NULL, sizeof got);
    assert_int_equal(sample_warp(ref_stream, out), cudaSuccess);
    ref_fetch(got, out, sizeof got);
    for (int lane = 0; lane < 32; lane++) {
        const int want[8] = {
            5, lane ^ 3, lane + 4 < 32 ? lane + 4 : lane, lane % 16 >= 4 ? lane - 4 : lane, 0x49249249, 1,
            0, 10};
        assert_memory_equal(got[lane], want, sizeof want);
    }
}

static void intrinsics(void **state)
{
    (void)state;
    ref_each_order(check_warp);
}

static void check_places(void)
{
    const struct dim3 grid = {3, 2, 2}, block = {5, 3, 4};
    enum { N = 3 * 2 * 2 * 5 * 3 * 4 };
    int got[N];
    int *out = ref_device(NULL, sizeof got);
    assert_int_equal(sample_places(ref_stream, out, grid, block), cudaSuccess);
    ref_fetch(got, out, sizeof got);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], i);
}

static void dimensions(void **state)
{
    (void)state;
    ref_each_order(check_places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(tiles, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(intrinsics, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(dimensions, ref_setup, ref_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
