/* test_linear.c - tests linear layers on the device: ref has the bits of the plain reference, with any shape,
 * alignment and order of threads. So have the epilogues of a product. */
#include "kernels/cuda/launch.h"
#include "tests/cuda/ref_device.h"
#include "tests/cuda/ref_layer.h"
#include "tests/emulator/emulator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SEEDS = 60 };

static void test_ref_bits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct layer k = layer_draw(seed), d = layer_copy(&k);
        pw_emu_set_order((enum pw_emu_order)(seed % 3), seed);
        layer_reference(&ref_plain, &k);
        DEVICE(pw_cuda_linear_fwd_ref(NULL, d.y, d.pre, d.x, d.w, d.bias, layer_added(&d), d.act, d.R, d.in,
                                      d.out));
        DEVICE(pw_cuda_linear_dx_ref(NULL, d.dx, d.dy, d.w, d.act, d.saved, d.scale, d.R, d.in, d.out));
        DEVICE(pw_cuda_linear_dw_ref(NULL, d.dw, d.d_bias, d.dy, d.x, d.add, d.out, d.in, d.R));
        device_expect_bits("y", seed, k.y, d.y);
        if (k.pre != NULL)
            device_expect_bits("pre", seed, k.pre, d.pre);
        device_expect_bits("dx", seed, k.dx, d.dx);
        device_expect_bits("dw", seed, k.dw, d.dw);
        if (k.d_bias != NULL)
            device_expect_bits("d_bias", seed, k.d_bias, d.d_bias);
        layer_free(&k);
    }
    pw_emu_set_order(PW_EMU_FORWARD, 0);
}

/* A chain whose value is -0 keeps its sign: no product is added beyond the last k. */
static void test_ref_keeps_minus_zero(void **state)
{
    const float tiny[] = {-0x1p-100f}, small[] = {0x1p-100f};
    float got;
    (void)state;
    float *y = device_floats(NULL, 1, 0), *x = device_floats(tiny, 1, 0), *w = device_floats(small, 1, 0);
    DEVICE(pw_cuda_linear_fwd_ref(NULL, y, NULL, x, w, NULL, NULL, PW_ACT_NONE, 1, 1, 1));
    device_read(&got, y);
    assert_true(got == 0.0f && signbit(got));
    device_free();
}

/* No rows: outputs that are set become zero, outputs that are added to stay. */
static void test_no_rows(void **state)
{
    const float old[] = {1.0f, -2.0f, 3.0f}, zero[] = {0.0f, 0.0f, 0.0f};
    const struct pw_cuda_numbers none = {NULL, NULL};
    (void)state;
    for (int add = 0; add < 2; add++) {
        float *dw = device_floats(old, 3, 0), *d_bias = device_floats(old, 3, 0);
        float *sums = device_floats(old, 3, 0);
        DEVICE(pw_cuda_linear_fwd_ref(NULL, NULL, NULL, NULL, NULL, NULL, NULL, PW_ACT_NONE, 0, 1, 3));
        DEVICE(pw_cuda_linear_dx_ref(NULL, NULL, NULL, NULL, PW_ACT_NONE, NULL, 1, 0, 1, 3));
        DEVICE(pw_cuda_linear_dw_ref(NULL, dw, d_bias, NULL, NULL, add, 3, 1, 0));
        DEVICE(pw_cuda_linear_end(NULL, NULL, NULL, NULL, NULL, NULL, NULL, PW_ACT_NONE, 0, 3));
        DEVICE(pw_cuda_linear_dx_end(NULL, NULL, NULL, none, PW_ACT_NONE, none, 1, 0, 3));
        DEVICE(pw_cuda_column_sums(NULL, sums, none, add, 0, 3, NULL));
        DEVICE(pw_cuda_to_bf16(NULL, NULL, NULL, 0));
        DEVICE(pw_cuda_of_bf16(NULL, NULL, NULL, 0));
        DEVICE(pw_cuda_to_bf16_all(NULL, NULL, 0));
        device_expect_bits("dw", 0, add ? old : zero, dw);
        device_expect_bits("d_bias", 0, add ? old : zero, d_bias);
        device_expect_bits("column sums", 0, add ? old : zero, sums);
        device_free();
    }
}

/* The epilogues equal those of ref. With weights 1 [1,1] the product is x. act and act' have the bits of the
 * cpu for every upper half of a float, with some lower halves. */
static void test_ends_on_all_exponents(void **state)
{
    static const uint32_t low[] = {0, 1, 0x8000, 0xffff, 0x5a5a};
    enum { N = 1 << 16 };
    float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), *dx = malloc(N * sizeof *dx), one = 1.0f;
    struct pw_mat m = {.w = &one, .out = 1, .in = 1};
    (void)state;
    assert_true(x && y && dx);
    for (size_t l = 0; l < sizeof low / sizeof *low; l++)
        for (int act = PW_ACT_RELU; act <= PW_ACT_SILU; act++) {
            for (uint32_t i = 0; i < N; i++) {
                uint32_t bits = i << 16 | low[l];
                memcpy(&x[i], &bits, sizeof bits);
            }
            float *d_x = device_floats(x, N, 0), *d_y = device_floats(NULL, N, 0);
            DEVICE(pw_cuda_linear_end(NULL, d_y, NULL, NULL, d_x, NULL, NULL, (enum pw_act)act, N / 64, 64));
            for (int i = 0; i < N; i++)
                y[i] = one;
            float *d_one = device_floats(y, N, 0), *d_dx = device_floats(NULL, N, 0);
            struct pw_cuda_numbers ones = {d_one, NULL}, saved = {d_x, NULL};
            DEVICE(pw_cuda_linear_dx_end(NULL, d_dx, NULL, ones, (enum pw_act)act, saved, 1, N / 32, 32));
            ref_plain.linear_dx(NULL, dx, y, &m, (enum pw_act)act, x, 1, N);
            for (int i = 0; i < N; i++) /* the chain of one product begins at +0: for x = -0 it gives +0 */
                y[i] = x[i] == 0.0f ? 0.0f : x[i];
            ref_plain.linear_fwd(NULL, y, NULL, y, &m, NULL, NULL, (enum pw_act)act, N);
            for (int i = 0; i < N; i++)
                if (x[i] == 0.0f && signbit(x[i]))
                    y[i] = x[i];
            device_expect_bits("act", (unsigned long)act, y, d_y);
            device_expect_bits("act'", (unsigned long)act, dx, d_dx);
            device_free();
        }
    free(x);
    free(y);
    free(dx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ref_bits),
        cmocka_unit_test(test_ref_keeps_minus_zero),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_ends_on_all_exponents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
