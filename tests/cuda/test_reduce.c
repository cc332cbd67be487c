/* test_reduce.c - tests sums over all parameters, with more tiles than a block adds at a time. ref has the
 * bits of plain loops. fast has the same bits in any order of threads, and the accuracy of doubles summed in
 * another order. */
#include "kernels/cuda/launch.h"
#include "tests/cuda/ref_device.h"
#include "tests/emulator/emulator.h"
#include "tests/ops/ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { TILES = 530, N = TILES * PW_TILE - 100, ORDERS = 3 };
#define NEAR 1e-13 /* for a sum of positive numbers: some hundred roundings of 1.1e-16 */

/* n doubles on the device. */
static double *device_doubles(size_t n)
{
    return (double *)device_floats(NULL, 2 * n, 0);
}

static void read_doubles(double *to, const double *array)
{
    device_read((float *)to, (const float *)array);
}

static void expect_near(const double *got, const double *want, int n)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= NEAR * want[i]))
            fail_msg("sum %d is %.17g, want %.17g", i, got[i], want[i]);
}

static void test_sumsq(void **state)
{
    uint64_t s = 1;
    float *slot = ref_random(&s, N, 1.0f), *g = malloc(N * sizeof *g);
    double want, got, first = 0;
    const float none = 0;
    int flag = 0;
    (void)state;
    assert_non_null(g);
    ref_plain.reduce(NULL, g, &want, &flag, slot, 1, 0, N, NULL, 0);
    float *d_slot = device_floats(slot, N, 0), *d_g = device_floats(NULL, N, 0);
    double *partial = device_doubles(TILES), *sumsq = device_doubles(1);
    int *spoilt = (int *)device_floats(&none, 1, 0);
    DEVICE(pw_cuda_reduce(NULL, d_g, sumsq, spoilt, partial, d_slot, 1, 0, N, NULL, 0, true));
    read_doubles(&got, sumsq);
    assert_memory_equal(&got, &want, sizeof got);
    for (int order = 0; order < ORDERS; order++) {
        pw_emu_set_order((enum pw_emu_order)order, 3);
        DEVICE(pw_cuda_reduce(NULL, d_g, sumsq, spoilt, partial, d_slot, 1, 0, N, NULL, 0, false));
        read_doubles(&got, sumsq);
        expect_near(&got, &want, 1);
        first = order == 0 ? got : first;
        assert_memory_equal(&got, &first, sizeof first);
    }
    device_expect_bits("g", 1, g, d_g);
    pw_emu_reset();
    device_free();
    free(slot);
    free(g);
}

/* Checks that adamw has written p [n], rounded, to the pack. */
static void expect_pack(const uint16_t *pack, const float *p, size_t n)
{
    uint16_t *want = (uint16_t *)device_floats(NULL, n / 2 + 1, 0);
    uint16_t *host = malloc(2 * n * sizeof *host);
    assert_non_null(host);
    DEVICE(pw_cuda_to_bf16(NULL, want, p, n));
    DEVICE(cudaMemcpy(host, want, n * sizeof *host, cudaMemcpyDeviceToHost));
    DEVICE(cudaMemcpy(host + n, pack, n * sizeof *host, cudaMemcpyDeviceToHost));
    assert_memory_equal(host, host + n, n * sizeof *host);
    free(host);
}

/* A large segment and a small one, whose pack is not aligned. */
static void test_moved(void **state)
{
    enum { LARGE = N - 64, SEGS = 2 };
    uint16_t *packs = (uint16_t *)device_floats(NULL, N / 2 + 1, 0);
    const struct pw_adamw_seg segs[SEGS] = {
        {.offset = 0,
         .n = LARGE,
         .tile = 0,
         .lr = 1e-3f,
         .decay = 0.1f,
         .c1 = 10.0f,
         .c2 = 20.0f,
         .pack = packs},
        {.offset = LARGE,
         .n = 64,
         .place = LARGE,
         .tile = TILES,
         .lr = 1e-3f,
         .c1 = 10.0f,
         .c2 = 20.0f,
         .pack = packs + LARGE + 1},
    };
    const struct pw_adamw h = {0.9f, 0.95f, 1e-8f, 1.0f};
    const double square = 9.0;
    uint64_t s = 2;
    float *p = ref_random(&s, N, 1.0f), *g = ref_random(&s, N, 1.0f);
    float *after = malloc(N * sizeof *after), *m = calloc(N, sizeof *m), *v = calloc(N, sizeof *v);
    double want[2 * SEGS], got[2 * SEGS], first[2 * SEGS] = {0};
    (void)state;
    assert_true(after != NULL && m != NULL && v != NULL);
    float *d_p = device_floats(p, N, 0), *d_g = device_floats(g, N, 0);
    float *d_m = device_floats(m, N, 0), *d_v = device_floats(v, N, 0);
    double *sumsq = device_doubles(1), *partial = device_doubles(2 * (TILES + 1)),
           *moved = device_doubles((size_t)2 * SEGS);
    struct pw_adamw_seg *d_segs = (void *)device_doubles((sizeof segs + 7) / 8);
    DEVICE(cudaMemcpy(sumsq, &square, sizeof square, cudaMemcpyHostToDevice));
    DEVICE(cudaMemcpy(d_segs, segs, sizeof segs, cudaMemcpyHostToDevice));
    for (int order = -1; order < ORDERS; order++) { /* -1: ref */
        DEVICE(cudaMemcpy(d_p, p, N * sizeof *p, cudaMemcpyHostToDevice));
        DEVICE(cudaMemset(d_m, 0, N * sizeof *m));
        DEVICE(cudaMemset(d_v, 0, N * sizeof *v));
        if (order < 0) {
            DEVICE(pw_cuda_adamw(NULL, d_p, d_m, d_v, d_g, sumsq, d_segs, SEGS, TILES + 1, &h, moved, partial,
                                 true));
            read_doubles(got, moved);
            memcpy(after, p, N * sizeof *p);
            ref_plain.adamw(NULL, after, m, v, g, &square, segs, SEGS, TILES + 1, &h, want);
            assert_memory_equal(got, want, sizeof got);
        } else {
            pw_emu_set_order((enum pw_emu_order)order, 4);
            DEVICE(pw_cuda_adamw(NULL, d_p, d_m, d_v, d_g, sumsq, d_segs, SEGS, TILES + 1, &h, moved, partial,
                                 false));
            read_doubles(got, moved);
            expect_near(got, want, 2 * SEGS);
            if (order == 0)
                memcpy(first, got, sizeof got);
            assert_memory_equal(got, first, sizeof got);
        }
        device_expect_bits("p", 2, after, d_p);
        expect_pack(packs, d_p, LARGE);
        expect_pack(packs + LARGE + 1, d_p + LARGE, 64);
        DEVICE(cudaMemset(packs, 0, N * sizeof *packs));
    }
    pw_emu_reset();
    device_free();
    float *all[] = {p, g, after, m, v};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sumsq),
        cmocka_unit_test(test_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
