/* test_linear_parts.c - tests the steps after a product of cuBLASLt. Epilogues must have the bits of plain
 * loops, and bf16 those of the definition of rounding. Column sums must have the right value, and the same
 * bits in any order of threads. */
#include "kernels/cuda/launch.h"
#include "tests/cuda/ref_device.h"
#include "tests/emulator/emulator.h"
#include "tests/ops/ref.h"
#include "tests/ops/ref_math.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { SEEDS = 60 };

static const int rows[] = {1, 2, 3, 8, 17, 64, 65, 130}, widths[] = {1, 2, 3, 4, 12, 31, 64, 100, 260, 1028};

static void draw(uint64_t *s, int *R, int *C, size_t *skew)
{
    *R = rows[ref_next(s) % (sizeof rows / sizeof *rows)];
    *C = widths[ref_next(s) % (sizeof widths / sizeof *widths)];
    *skew = ref_next(s) % 2 ? 0 : ref_next(s) % 4;
}

static float act_grad(float x, enum pw_act act)
{
    switch (act) {
    case PW_ACT_RELU: return x > 0.0f ? 1.0f : 0.0f;
    case PW_ACT_GELU: return plain_gelu_grad(x);
    case PW_ACT_GELU_TANH: return plain_gelu_tanh_grad(x);
    case PW_ACT_SILU: return plain_silu_grad(x);
    case PW_ACT_NONE: break;
    }
    return 1.0f;
}

/* The nearest number of 8 bits, or a multiple of 2^-133 for subnormals; ties to even. One NaN for all. */
static uint16_t bf16(float x)
{
    int e;
    float m = frexpf(x, &e);
    if (isnan(x))
        return 0x7fff;
    e = e < -125 ? -125 : e;
    float nearest = isinf(x) || m == 0.0f ? x : ldexpf(rintf(ldexpf(x, 8 - e)), e - 8);
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    assert_int_equal(bits & 0xffff, 0);
    return (uint16_t)(bits >> 16);
}

static void expect_bf16(const float *x, const float *words, size_t n)
{
    uint16_t *got = malloc((n + 2) * sizeof *got);
    assert_non_null(got);
    device_read((float *)got, words);
    for (size_t i = 0; i < n; i++)
        if (got[i] != bf16(x[i]))
            fail_msg("%a becomes %04x, should be %04x", (double)x[i], got[i], bf16(x[i]));
    free(got);
}

/* x in one of two forms on the device; bf16 also rounds it on the host. */
static struct pw_cuda_numbers form_of(float *x, size_t n, size_t skew, bool narrow)
{
    float *floats = device_floats(x, n, skew);
    if (!narrow)
        return (struct pw_cuda_numbers){floats, NULL};
    uint16_t *words = (uint16_t *)device_floats(NULL, n / 2 + 1, skew);
    float *again = device_floats(NULL, n, 0);
    DEVICE(pw_cuda_to_bf16(NULL, words, floats, n));
    DEVICE(pw_cuda_of_bf16(NULL, again, words, n));
    device_read(x, again);
    return (struct pw_cuda_numbers){NULL, words};
}

/* The product is apart, in y, or in pre; the residual is apart or in y; the output is float, bf16 or both. */
static void test_end(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t s = seed * 0x9e3779b97f4a7c15u, with = ref_next(&s);
        int R, out;
        size_t skew;
        draw(&s, &R, &out, &skew);
        size_t n = (size_t)R * (size_t)out;
        enum pw_act act = (enum pw_act)(with % 5);
        enum { APART, IN_Y, IN_PRE } where = with >> 2 & 3;
        bool has_bias = with & 16, has_pre = with & 32 || where == IN_PRE, has_residual = with & 64;
        bool in_place = has_residual && with & 128 && where != IN_Y;
        bool rounded = with & 256, wide = !rounded || with & 512;
        float *product = ref_random(&s, n, 2.0f), *bias = ref_random(&s, (size_t)out, 1.0f);
        float *residual = ref_random(&s, n, 1.0f), *pre = ref_random(&s, n, 1.0f), *y = malloc(n * sizeof *y);
        assert_non_null(y);
        float *d_y = device_floats(where == IN_Y ? product : residual, n, skew);
        float *d_pre = device_floats(where == IN_PRE ? product : pre, n, skew);
        float *d_product = where == IN_Y ? d_y : where == IN_PRE ? d_pre : device_floats(product, n, skew);
        float *d_residual = in_place ? d_y : device_floats(residual, n, skew);
        float *d_bias = device_floats(bias, (size_t)out, skew);
        for (size_t i = 0; i < n; i++) {
            float v = has_bias ? product[i] + bias[i % (size_t)out] : product[i];
            pre[i] = has_pre ? v : pre[i];
            v = plain_act(v, (int)act);
            y[i] = has_residual ? v + residual[i] : v;
        }
        pw_emu_set_order((enum pw_emu_order)(seed % 3), seed);
        float *copy = rounded ? device_floats(NULL, n / 2 + 1, skew) : NULL;
        DEVICE(pw_cuda_linear_end(NULL, wide ? d_y : NULL, (uint16_t *)copy, has_pre ? d_pre : NULL,
                                  d_product, has_bias ? d_bias : NULL, has_residual ? d_residual : NULL, act,
                                  R, out));
        if (wide)
            device_expect_bits("y", seed, y, d_y);
        if (rounded)
            expect_bf16(y, copy, n);
        device_expect_bits("pre", seed, pre, d_pre);
        device_free();
        float *all[] = {product, bias, residual, pre, y};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            free(all[i]);
    }
    pw_emu_set_order(PW_EMU_FORWARD, 0);
}

static void test_dx_end(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t s = seed * 0x9e3779b97f4a7c15u, with = ref_next(&s);
        int R, in;
        size_t skew;
        draw(&s, &R, &in, &skew);
        size_t n = (size_t)R * (size_t)in;
        enum pw_act act = (enum pw_act)(with % 5);
        bool in_place = with & 8, narrow = with & 32, rounded = narrow || with & 16;
        float scale = with & 4 ? 1.0f : 1.0f / 0.9f;
        float *product = ref_random(&s, n, 2.0f), *saved = ref_random(&s, n, 2.0f),
              *dx = malloc(n * sizeof *dx);
        assert_non_null(dx);
        struct pw_cuda_numbers d_product = form_of(product, n, skew, narrow), none = {NULL, NULL};
        struct pw_cuda_numbers d_saved = act != PW_ACT_NONE ? form_of(saved, n, skew, with & 64) : none;
        float *d_dx = in_place && !narrow ? (float *)(uintptr_t)d_product.f32 : device_floats(NULL, n, skew);
        float *copy =
            in_place && narrow ? (float *)(uintptr_t)d_product.bf16 : device_floats(NULL, n / 2 + 1, skew);
        for (size_t i = 0; i < n; i++) {
            float v = product[i] * act_grad(saved[i], act);
            if (act == PW_ACT_RELU) /* no product: 0, not -0 */
                v = saved[i] > 0.0f ? product[i] : 0.0f;
            dx[i] = v * scale;
        }
        pw_emu_set_order((enum pw_emu_order)(seed % 3), seed);
        DEVICE(pw_cuda_linear_dx_end(NULL, narrow ? NULL : d_dx, rounded ? (uint16_t *)copy : NULL, d_product,
                                     act, d_saved, scale, R, in));
        if (!narrow)
            device_expect_bits("dx", seed, dx, d_dx);
        if (rounded)
            expect_bf16(dx, copy, n);
        device_free();
        free(product);
        free(saved);
        free(dx);
    }
    pw_emu_set_order(PW_EMU_FORWARD, 0);
}

static void test_column_sums(void **state)
{
    static const int many[] = {1, 7, 64, 65, 1000, 9000};
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        uint64_t s = seed;
        int R = many[ref_next(&s) % 6], out = (int)(1 + ref_next(&s) % 70);
        bool add = seed % 2;
        float *dy = ref_random(&s, (size_t)R * (size_t)out, 1.0f), *old = ref_random(&s, (size_t)out, 1.0f);
        float *want = malloc((size_t)out * sizeof *want), *first = malloc((size_t)out * sizeof *first);
        assert_true(want && first);
        struct pw_cuda_numbers d_dy = form_of(dy, (size_t)R * (size_t)out, seed % 3, seed % 5 == 0);
        for (int o = 0; o < out; o++) {
            double sum = add ? (double)old[o] : 0.0;
            for (int r = 0; r < R; r++)
                sum += (double)dy[(size_t)r * (size_t)out + (size_t)o];
            want[o] = (float)sum;
        }
        for (int order = PW_EMU_FORWARD; order <= PW_EMU_SHUFFLE; order++) {
            float *sums = device_floats(old, (size_t)out, 0);
            float *partial = device_floats(NULL, pw_cuda_column_partial(R, out), 0);
            pw_emu_set_order((enum pw_emu_order)order, seed);
            DEVICE(pw_cuda_column_sums(NULL, sums, d_dy, add, R, out, partial));
            device_expect_near("column sums", seed, want, sums, 1e-4);
            if (order == PW_EMU_FORWARD)
                device_read(first, sums);
            device_expect_bits("column sums in another order", seed, first, sums);
        }
        device_free();
        free(dy);
        free(old);
        free(want);
        free(first);
    }
    pw_emu_set_order(PW_EMU_FORWARD, 0);
}

/* Every exponent and sign with every upper part of the mantissa, at and near the ties. */
static void test_bf16(void **state)
{
    static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    enum { N = 1 << 16 };
    float *x = malloc(N * sizeof *x);
    (void)state;
    assert_non_null(x);
    for (size_t l = 0; l < sizeof low / sizeof *low; l++) {
        for (uint32_t i = 0; i < N; i++) {
            uint32_t bits = i << 16 | low[l];
            memcpy(&x[i], &bits, sizeof bits);
        }
        float *from = device_floats(x, N, 0), *to = device_floats(NULL, N / 2, 0);
        DEVICE(pw_cuda_to_bf16(NULL, (uint16_t *)to, from, N));
        expect_bf16(x, to, N);
        if (low[l] == 0) { /* exact values survive the round trip */
            DEVICE(pw_cuda_of_bf16(NULL, from, (const uint16_t *)to, N));
            device_expect_bits("widened", 0, x, from);
        }
        device_free();
    }
    free(x);
}

/* More copies than fit into one launch, of all sizes, aligned and not. */
static void test_bf16_of_many(void **state)
{
    enum { MANY = 100, LARGEST = 5000 };
    struct pw_cuda_copy copies[MANY];
    uint64_t s = 3;
    float *x = ref_random(&s, LARGEST, 1.0f), *from[2], *to;
    (void)state;
    from[0] = device_floats(x, LARGEST, 0);
    from[1] = device_floats(x, LARGEST, 1);
    to = device_floats(NULL, MANY * LARGEST / 2, 0);
    for (int i = 0; i < MANY; i++) {
        size_t n = i == 70 ? LARGEST : ref_next(&s) % 100;
        copies[i] = (struct pw_cuda_copy){(uint16_t *)to + (size_t)i * LARGEST, from[ref_next(&s) % 2], n};
    }
    DEVICE(cudaMemset(to, 0, MANY * LARGEST / 2 * sizeof *to));
    pw_emu_set_order(PW_EMU_SHUFFLE, 1);
    DEVICE(pw_cuda_to_bf16_all(NULL, copies, MANY));
    pw_emu_set_order(PW_EMU_FORWARD, 0);
    uint16_t *got = malloc(MANY * LARGEST * sizeof *got);
    assert_non_null(got);
    device_read((float *)got, to);
    for (int i = 0; i < MANY; i++)
        for (size_t k = 0; k < LARGEST; k++)
            assert_int_equal(got[(size_t)i * LARGEST + k], k < copies[i].n ? bf16(x[k]) : 0);
    free(got);
    free(x);
    device_free();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end),  cmocka_unit_test(test_dx_end),       cmocka_unit_test(test_column_sums),
        cmocka_unit_test(test_bf16), cmocka_unit_test(test_bf16_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
