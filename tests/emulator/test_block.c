/* test_block.c - threads, warps and blocks do what CUDA says, in every order; bfloat16 rounds as it must. */
#include "tests/emulator/ref_device.h"
#include "tests/emulator/sample.h"

#include <math.h>
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

/* The nearest bf16, ties to even: 8 bits of mantissa, one of them implied; fewer below 2^-126. */
static float nearest(float x)
{
    int e;
    float m = frexpf(x, &e);
    int bits = e < -125 ? 8 - (-125 - e) : 8;
    return ldexpf(rintf(ldexpf(m, bits)), e - bits);
}

/* All 65,536, and what lies between each and the next. */
static void bfloat16(void **state)
{
    (void)state;
    static const uint32_t between[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    enum { KINDS = 6, N = KINDS << 16 };
    float *x = malloc(N * sizeof *x), *back = malloc(N * sizeof *back);
    uint16_t *half = malloc(N * sizeof *half);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t bits = i / KINDS << 16 | between[i % KINDS];
        memcpy(&x[i], &bits, 4);
    }
    float *from = ref_device(x, N * sizeof *x), *again = ref_device(NULL, N * sizeof *x);
    uint16_t *to = ref_device(NULL, N * sizeof *half);
    assert_int_equal(sample_bf16(ref_stream, to, again, from, N), cudaSuccess);
    ref_fetch(half, to, N * sizeof *half);
    ref_fetch(back, again, N * sizeof *back);
    for (uint32_t i = 0; i < N; i++) {
        float want = nearest(x[i]);
        uint32_t bits;
        memcpy(&bits, &back[i], 4);
        assert_int_equal(bits, (uint32_t)half[i] << 16);
        if (isnan(x[i]) ? half[i] != 0x7fff : memcmp(&back[i], &want, 4) != 0)
            fail_msg("%a becomes %a (%04x), and %a is due", (double)x[i], (double)back[i], half[i],
                     (double)want);
    }
    free(x), free(back), free(half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(tiles, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(intrinsics, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(dimensions, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(bfloat16, ref_setup, ref_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
