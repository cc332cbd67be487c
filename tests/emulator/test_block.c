/* test_block.c - threads, warps and blocks do what CUDA says, in every order. */
#include "tests/emulator/emulator.h"
#include "tests/emulator/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static cudaStream_t stream;

static int setup(void **state)
{
    (void)state;
    pw_emu_reset();
    return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess;
}

static int teardown(void **state)
{
    (void)state;
    return cudaStreamDestroy(stream) != cudaSuccess || cudaDeviceReset() != cudaSuccess;
}

static void *on_device(const void *host, size_t n)
{
    void *p;
    assert_int_equal(cudaMalloc(&p, n), cudaSuccess);
    if (host != NULL)
        assert_int_equal(cudaMemcpy(p, host, n, cudaMemcpyHostToDevice), cudaSuccess);
    return p;
}

static void fetch(void *host, const void *device, size_t n)
{
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost), cudaSuccess);
}

static void each_order(void (*check)(void))
{
    static const enum pw_emu_order orders[] = {PW_EMU_FORWARD, PW_EMU_REVERSE, PW_EMU_SHUFFLE,
                                               PW_EMU_SHUFFLE};
    for (int deferred = 0; deferred < 2; deferred++)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            pw_emu_set_order(orders[i], i);
            pw_emu_set_deferred(deferred);
            check();
        }
}

static void check_sum(void)
{
    enum { N = 1000, BLOCKS = 3 };
    float in[N], got[BLOCKS], want = 0.0f;
    for (int i = 0; i < N; i++)
        want += in[i] = (float)(i * 37 % 101);
    float *x = on_device(in, sizeof in), *out = on_device(NULL, sizeof got);
    assert_int_equal(sample_sum(stream, out, x, N, BLOCKS), cudaSuccess);
    fetch(got, out, sizeof got);
    for (int b = 0; b < BLOCKS; b++)
        assert_true(got[b] == want);
}

static void sums(void **state)
{
    (void)state;
    each_order(check_sum);
}

static void check_flip(void)
{
    enum { N = 150 };
    float in[N], got[N];
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    float *x = on_device(in, sizeof in), *y = on_device(NULL, sizeof got);
    assert_int_equal(sample_flip(stream, y, x, N), cudaSuccess);
    assert_int_equal(sample_axpy(stream, y, x, 2.0f, N), cudaSuccess);
    fetch(got, y, sizeof got);
    for (int i = 0; i < N; i++) {
        int first = i / 64 * 64, rows = N - first < 64 ? N - first : 64;
        assert_true(got[i] == (float)(first + rows - 1 - (i - first)) + 2.0f * (float)i);
    }
}

static void tiles(void **state)
{
    (void)state;
    each_order(check_flip);
}

static void check_warp(void)
{
    int got[32][8];
    int *out = on_device(NULL, sizeof got);
    assert_int_equal(sample_warp(stream, out), cudaSuccess);
    fetch(got, out, sizeof got);
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
    each_order(check_warp);
}

static void check_places(void)
{
    const struct dim3 grid = {3, 2, 2}, block = {5, 3, 4};
    enum { N = 3 * 2 * 2 * 5 * 3 * 4 };
    int got[N];
    int *out = on_device(NULL, sizeof got);
    assert_int_equal(sample_places(stream, out, grid, block), cudaSuccess);
    fetch(got, out, sizeof got);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], i);
}

static void dimensions(void **state)
{
    (void)state;
    each_order(check_places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums, setup, teardown),
        cmocka_unit_test_setup_teardown(tiles, setup, teardown),
        cmocka_unit_test_setup_teardown(intrinsics, setup, teardown),
        cmocka_unit_test_setup_teardown(dimensions, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
