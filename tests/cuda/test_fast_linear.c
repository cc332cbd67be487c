/* test_fast_linear.c - tests linear layers of mode fast, with their host side, against double precision with
 * the same rounding of operands. Tests also that a failed product makes the backend's error sticky. */
#include "kernels/cuda/blas.h"
#include "kernels/cuda/members.h"
#include "kernels/cuda/table.h"
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

static struct pw_backend *open_fast(enum pw_products precision)
{
    static enum pw_code (*const opens[])(struct pw_backend **, int, struct pw_err *) = {
        pw_cuda_fast_open_fp32, pw_cuda_fast_open_tf32, pw_cuda_fast_open_bf16};
    struct pw_err err;
    struct pw_backend *be;
    if (opens[precision](&be, 0, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_non_null(strstr(pw_cuda_device(be), pw_products_name(precision)));
    assert_non_null(strstr(pw_cuda_device(be), ", cuBLASLt 13.0.0"));
    return be;
}

static void close_fast(struct pw_backend *be)
{
    struct pw_err err = {PW_OK, ""};
    if (pw_cuda_sync(be, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_cuda_fast_close(be);
}

/* The nearest bf16, ties to even. */
static float *rounded(const float *x, size_t n)
{
    float *copy = malloc((n + 1) * sizeof *copy);
    assert_non_null(copy);
    for (size_t i = 0; i < n; i++) {
        int e;
        float m = frexpf(x[i], &e);
        copy[i] = ldexpf(rintf(ldexpf(m, 8)), e - 8);
    }
    return copy;
}

/* As layer_reference in double, but the operands of products are rounded. */
static void reference(struct layer *k, bool bf16)
{
    if (!bf16) {
        layer_reference(&ref_double, k);
        return;
    }
    size_t nx = (size_t)k->R * (size_t)k->in, ny = (size_t)k->R * (size_t)k->out;
    size_t nw = (size_t)k->out * (size_t)k->in;
    float *x = rounded(k->x, nx), *dy = rounded(k->dy, ny), *w = rounded(k->w, nw);
    float *unused = calloc(nw, sizeof *unused);
    struct pw_mat m = {.w = w, .out = k->out, .in = k->in};
    assert_non_null(unused);
    ref_double.linear_fwd(NULL, k->y, k->pre, x, &m, k->bias, layer_added(k), k->act, k->R);
    ref_double.linear_dx(NULL, k->dx, dy, &m, k->act, k->saved, k->scale, k->R);
    ref_double.linear_dw(NULL, k->dw, NULL, dy, x, k->add, k->out, k->in, k->R);
    if (k->d_bias != NULL) /* the sum of the rows is no product */
        ref_double.linear_dw(NULL, unused, k->d_bias, k->dy, k->x, k->add, k->out, k->in, k->R);
    free(x);
    free(dy);
    free(w);
    free(unused);
}

/* swapped: dw before dx, as a model calls them. */
static void run(struct pw_backend *be, struct layer *d, bool bf16, bool swapped)
{
    struct pw_ctx *c = &be->ctx;
    struct pw_mat m = {.w = d->w, .out = d->out, .in = d->in};
    if (bf16) {
        m.pack = device_floats(NULL, pw_cuda_bf16_pack_floats(d->out, d->in, false), 0);
        pw_cuda_bf16_prepare(be, &m, 1);
    }
    pw_cuda_fast_linear_fwd(c, d->y, d->pre, d->x, &m, d->bias, layer_added(d), d->act, d->R);
    for (int i = 0; i < 2; i++)
        if (swapped == (i == 0))
            pw_cuda_fast_linear_dw(c, d->dw, d->d_bias, d->dy, d->x, d->add, d->out, d->in, d->R);
        else
            pw_cuda_fast_linear_dx(c, d->dx, d->dy, &m, d->act, d->saved, d->scale, d->R);
}

static void expect(const struct layer *k, const struct layer *d, uint64_t seed, double tolerance)
{
    device_expect_near("y", seed, k->y, d->y, tolerance);
    if (k->pre != NULL)
        device_expect_near("pre", seed, k->pre, d->pre, tolerance);
    device_expect_near("dx", seed, k->dx, d->dx, tolerance);
    device_expect_near("dw", seed, k->dw, d->dw, tolerance);
    if (k->d_bias != NULL)
        device_expect_near("d_bias", seed, k->d_bias, d->d_bias, tolerance);
}

static void test_values(void **state)
{
    static const double tolerance[] = {4e-5, 2e-2, 4e-5}; /* TF32 has 10 bits */
    (void)state;
    for (int precision = PW_PRODUCTS_FP32; precision <= PW_PRODUCTS_BF16; precision++) {
        struct pw_backend *be = open_fast((enum pw_products)precision);
        for (uint64_t seed = 1; seed <= 60; seed++) {
            bool bf16 = precision == PW_PRODUCTS_BF16;
            struct layer k = layer_draw(seed), d = layer_copy(&k);
            pw_emu_set_order((enum pw_emu_order)(seed % 3), seed);
            reference(&k, bf16);
            run(be, &d, bf16, seed % 2);
            expect(&k, &d, seed, tolerance[precision]);
            layer_free(&k);
        }
        pw_emu_set_order(PW_EMU_FORWARD, 0);
        close_fast(be);
    }
}

/* No rows: no product is computed, and gradients that are set become zero. */
static void test_no_rows(void **state)
{
    const float old[] = {1, 2, 3, 4, 5, 6}, zero[6] = {0};
    struct pw_backend *be = open_fast(PW_PRODUCTS_BF16);
    (void)state;
    for (int add = 0; add < 2; add++) {
        struct pw_mat m = {.out = 3, .in = 2};
        float *dw = device_floats(old, 6, 0), *d_bias = device_floats(old, 3, 0);
        pw_cuda_fast_linear_fwd(&be->ctx, NULL, NULL, NULL, &m, NULL, NULL, PW_ACT_RELU, 0);
        pw_cuda_fast_linear_dx(&be->ctx, NULL, NULL, &m, PW_ACT_RELU, NULL, 1, 0);
        pw_cuda_fast_linear_dw(&be->ctx, dw, d_bias, NULL, NULL, add, 3, 2, 0);
        device_expect_bits("dw", 0, add ? old : zero, dw);
        device_expect_bits("d_bias", 0, add ? old : zero, d_bias);
        device_free();
    }
    close_fast(be);
}

/* sync reports the first failure; later work is skipped. */
static void test_failures_stick(void **state)
{
    const float ones[] = {1, 1, 1, 1};
    struct pw_err err;
    struct pw_backend *be = open_fast(PW_PRODUCTS_BF16);
    float *x = device_floats(ones, 4, 0), *y = device_floats(ones, 4, 0), want[4];
    struct pw_mat m = {
        .w = x, .out = 2, .in = 2, .pack = device_floats(NULL, pw_cuda_bf16_pack_floats(2, 2, false), 0)};
    (void)state;
    pw_cuda_bf16_prepare(be, &m, 1);
    assert_int_equal(pw_cuda_sync(be, &err), PW_OK);
    pw_emu_fail_malloc(1); /* scratch for x in bf16 */
    pw_cuda_fast_linear_fwd(&be->ctx, y, NULL, x, &m, NULL, NULL, PW_ACT_NONE, 2);
    pw_cuda_fast_linear_fwd(&be->ctx, y, NULL, x, &m, NULL, NULL, PW_ACT_NONE, 2);
    assert_int_equal(pw_cuda_sync(be, &err), PW_ENOMEM);
    device_expect_bits("y", 0, ones, y);
    pw_cuda_fast_linear_fwd(&be->ctx, y, NULL, x, &m, NULL, NULL, PW_ACT_NONE, 2);
    assert_int_equal(pw_cuda_sync(be, &err), PW_OK);
    device_read(want, y);
    assert_true(want[0] == 2.0f && want[3] == 2.0f);
    device_free();
    close_fast(be);
}

/* A product that the library doesn't support is computed by pewter's own kernel, as in mode ref. That isn't
 * an error. */
static enum pw_code refuses; /* the library's error; PW_OK: none */
enum pw_code __real_pw_blas_product(struct pw_blas *b, cudaStream_t s, enum pw_product what, void *to,
                                    bool rounded, const void *left, const void *right, const float *onto,
                                    const float *bias, bool relu, int R, int in, int out, struct pw_err *err);
enum pw_code __wrap_pw_blas_product(struct pw_blas *b, cudaStream_t s, enum pw_product what, void *to,
                                    bool rounded, const void *left, const void *right, const float *onto,
                                    const float *bias, bool relu, int R, int in, int out, struct pw_err *err);
enum pw_code __wrap_pw_blas_product(struct pw_blas *b, cudaStream_t s, enum pw_product what, void *to,
                                    bool rounded, const void *left, const void *right, const float *onto,
                                    const float *bias, bool relu, int R, int in, int out, struct pw_err *err)
{
    if (refuses != PW_OK)
        return pw_fail(err, refuses, "refused");
    return __real_pw_blas_product(b, s, what, to, rounded, left, right, onto, bias, relu, R, in, out, err);
}

static void test_own_products(void **state)
{
    (void)state;
    refuses = PW_EUSER;
    for (int precision = PW_PRODUCTS_FP32; precision <= PW_PRODUCTS_BF16; precision++) {
        struct pw_backend *be = open_fast((enum pw_products)precision);
        for (uint64_t seed = 1; seed <= 30; seed++) {
            struct layer k = layer_draw(seed), d = layer_copy(&k);
            reference(&k, false);
            run(be, &d, precision == PW_PRODUCTS_BF16, seed % 2);
            expect(&k, &d, seed, 4e-5);
            layer_free(&k);
        }
        close_fast(be);
    }
    refuses = PW_OK;
}

/* Allocates n entries as operands on the device; NULL gives NULL. */
static float *as_operand(struct pw_backend *be, const float *x, size_t n)
{
    float *at = pw_cuda_alloc_operands(be, (n + 1) / 2 * sizeof *at);
    assert_non_null(at);
    assert_true(pw_cuda_alone(&be->ctx, at));
    DEVICE(pw_cuda_to_bf16(be->ctx.stream, pw_cuda_copy_of(&be->ctx, at), x, n));
    return at;
}

/* Restores the operand to the floats, and frees its memory. */
static void as_floats(struct pw_backend *be, float *x, float *at, size_t n)
{
    DEVICE(pw_cuda_of_bf16(be->ctx.stream, x, pw_cuda_copy_of(&be->ctx, at), n));
    pw_cuda_free(be, at);
}

/* Products with every combination of tensors as operands and as floats. */
static void check_operands(struct pw_backend *be, uint64_t seed)
{
    struct layer k = layer_draw(seed);
    size_t nx = (size_t)k.R * (size_t)k.in, ny = (size_t)k.R * (size_t)k.out;
    float *const tensors[] = {k.x, k.dy, k.saved, k.y, k.dx};
    size_t n[] = {nx, ny, nx, ny, nx};
    bool relu = k.act == PW_ACT_RELU || k.act == PW_ACT_NONE, added_to = k.residual != NULL && k.in_place;
    bool are[] = {seed & 1, seed & 2, seed & 4 && relu, seed & 8 && !added_to, seed & 16};
    for (int i = 0; i < 3; i++) /* the values that the operands hold */
        if (are[i]) {
            float *narrow = rounded(tensors[i], n[i]);
            memcpy(tensors[i], narrow, n[i] * sizeof *narrow);
            free(narrow);
        }
    struct layer d = layer_copy(&k), there = d;
    float **const at[] = {&there.x, &there.dy, &there.saved, &there.y, &there.dx};
    for (int i = 0; i < 5; i++)
        if (are[i])
            *at[i] = as_operand(be, *at[i], n[i]);
    reference(&k, refuses == PW_OK);
    run(be, &there, true, seed % 2);
    float *const was[] = {d.x, d.dy, d.saved, d.y, d.dx};
    for (int i = 0; i < 5; i++)
        if (are[i])
            as_floats(be, was[i], *at[i], n[i]);
    expect(&k, &d, seed, 8e-3);
    layer_free(&k);
}

static void test_operands(void **state)
{
    struct pw_backend *be = open_fast(PW_PRODUCTS_BF16);
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        refuses = seed % 4 == 0 ? PW_EUSER : PW_OK;
        check_operands(be, seed);
    }
    refuses = PW_OK;
    close_fast(be);
}

/* A failure doesn't affect earlier work, although the CUDA runtime doesn't report it. */
static void test_failed_after(void **state)
{
    struct pw_backend *be = open_fast(PW_PRODUCTS_FP32);
    struct layer d = layer_draw(1);
    struct pw_err err;
    (void)state;
    uint64_t before = pw_cuda_mark(be);
    refuses = PW_EDEVICE;
    run(be, &d, false, false);
    refuses = PW_OK;
    uint64_t after = pw_cuda_mark(be);
    assert_int_equal(pw_cuda_wait(be, before, &err), PW_OK);
    assert_int_equal(pw_cuda_wait(be, after, &err), PW_EDEVICE);
    assert_string_equal(err.msg, "refused");
    layer_free(&d);
    close_fast(be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),         cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_failures_stick), cmocka_unit_test(test_own_products),
        cmocka_unit_test(test_operands),       cmocka_unit_test(test_failed_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
