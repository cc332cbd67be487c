/* test_bf16.c - tests precision=bf16. Every operation is compared with double precision, with operands
 * rounded like the matrix unit's. Numbers that bf16 represents exactly must give the bits of float32. Without
 * a matrix unit, bf16 must be refused.
 *
 * All tests but the refusals are skipped if the processor has no such unit. */
#include "tests/ops/ref.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static const struct pw_backend_ops *bf16_or_skip(void)
{
    struct pw_err err;
    const struct pw_backend_ops *ops = pw_backend_cpu_precision("auto", "bf16", &err);
    if (ops == NULL) {
        print_message("%s\n", err.msg);
        skip();
    }
    return ops;
}

/* Rounds to the nearest bf16, ties to even: 8 bits of mantissa, including the implied bit. */
static float rounded(float x)
{
    int e;
    float m = frexpf(x, &e);
    return ldexpf(rintf(ldexpf(m, 8)), e - 8);
}

/* Every case, with nearly the tolerance of the float32 tables: operands are bf16, sums are not. */
static void test_against_double(void **state)
{
    struct pw_err err;
    struct pw_backend *be;
    const struct pw_backend_ops *ops = bf16_or_skip(), *ref = ref_rounded(8);
    (void)state;
    assert_int_equal(ops->open(&be, 2, &err), PW_OK);
    for (const struct ref_case *rc = ref_cases; rc->name != NULL; rc++)
        for (uint64_t seed = 1; seed <= (rc->whole ? 120 : 4); seed++)
            ref_expect_values("bf16", rc, ops, be, ref, seed, 2.0);
    ops->close(be);
}

/* A linear layer on integers up to 8: products and sums below 2^24 are exact in any order. */
struct whole {
    const struct pw_backend_ops *ops;
    struct pw_mat m;
    float *y, *pre, *dx, *dw, *db;
    const float *x, *dy, *bias, *residual;
    enum pw_act act;
    bool add;
    int R;
};

static void layer(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct whole *k = arg;
    (void)chunk;
    (void)worker;
    k->ops->linear_fwd(c, k->y, k->pre, k->x, &k->m, k->bias, k->residual, k->act, k->R);
    k->ops->linear_dx(c, k->dx, k->dy, &k->m, k->act, k->x, k->add ? 0.5f : 1.0f, k->R);
    k->ops->linear_dw(c, k->dw, k->db, k->dy, k->x, k->add, k->m.out, k->m.in, k->R);
}

static float *numbers(uint64_t *s, size_t n)
{
    float *p = malloc((n > 0 ? n : 1) * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(ref_next(s) % 17) - 8.0f;
    return p;
}

static void test_whole_numbers_are_exact(void **state)
{
    static const int sizes[] = {1, 13, 16, 31, 32, 33, 64, 100, 288},
                     rows[] = {1, 2, 15, 16, 17, 32, 47, 129, 300};
    enum { N = sizeof sizes / sizeof *sizes, N_ROWS = sizeof rows / sizeof *rows };
    struct pw_err err;
    struct pw_backend *be[2];
    const struct pw_backend_ops *ops[2] = {bf16_or_skip(), pw_backend_cpu()};
    uint64_t s = 17;
    (void)state;
    for (int t = 0; t < 2; t++)
        assert_int_equal(ops[t]->open(&be[t], 1, &err), PW_OK);
    for (int k = 0; k < N * N * 2; k++) {
        int out = sizes[k % N], in = sizes[k / N % N], R = rows[ref_next(&s) % N_ROWS];
        size_t nx = (size_t)R * (size_t)in, ny = (size_t)R * (size_t)out, nw = (size_t)out * (size_t)in;
        uint64_t with = ref_next(&s);
        float *w = numbers(&s, nw), *x = numbers(&s, nx), *dy = numbers(&s, ny),
              *bias = numbers(&s, (size_t)out);
        float *residual = numbers(&s, ny), *old = numbers(&s, 2 * ny + nx + nw + (size_t)out), *got[2];
        for (int t = 0; t < 2; t++) {
            float *y = malloc((2 * ny + nx + nw + (size_t)out) * sizeof *y), *pack, *back;
            pack = malloc(ops[t]->mat_pack_floats(out, in, false) * sizeof *pack);
            back = malloc(ops[t]->mat_pack_floats(out, in, true) * sizeof *back);
            assert_true(y != NULL && pack != NULL && back != NULL);
            memcpy(y, old, (2 * ny + nx + nw + (size_t)out) * sizeof *y);
            struct whole one = {.ops = ops[t],
                                .m = {.w = w, .out = out, .in = in, .pack = pack, .back = back},
                                .y = y,
                                .pre = with & 1 ? y + ny : NULL,
                                .dx = y + 2 * ny,
                                .dw = y + 2 * ny + nx,
                                .db = with & 2 ? y + 2 * ny + nx + nw : NULL,
                                .x = x,
                                .dy = dy,
                                .bias = with & 4 ? bias : NULL,
                                .residual = with & 8 ? residual : NULL,
                                .act = with & 16 ? PW_ACT_RELU : PW_ACT_NONE,
                                .add = with & 32,
                                .R = R};
            ops[t]->prepare(be[t], &one.m, 1);
            ops[t]->for_chunks(be[t], 1, layer, &one);
            got[t] = y;
            free(pack);
            free(back);
        }
        for (size_t i = 0; i < 2 * ny + nx + nw + (size_t)out; i++)
            if (got[0][i] != got[1][i])
                fail_msg("out %d, in %d, %d rows: number %zu is %g, float32 has %g", out, in, R, i,
                         (double)got[0][i], (double)got[1][i]);
        float *all[] = {w, x, dy, bias, residual, old, got[0], got[1]};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            free(all[i]);
    }
    for (int t = 0; t < 2; t++)
        ops[t]->close(be[t]);
}

/* 1 + 2^-8 is halfway between two neighbours and rounds to the even one, 1; 1 + 3 * 2^-8 rounds to 1 +
 * 2^-6. */
static void test_rounds_to_nearest_even(void **state)
{
    static const struct {
        float from, to;
    } cases[] = {{1 + 0x1p-8f, 1},   {1 + 0x3p-8f, 1 + 0x1p-6f},     {1 + 0x1.01p-8f, 1 + 0x1p-7f},
                 {-1 - 0x1p-8f, -1}, {-1 - 0x1.8p-8f, -1 - 0x1p-7f}, {0x1.fffffep+10f, 0x1p+11f}};
    struct pw_err err;
    struct pw_backend *be;
    const struct pw_backend_ops *ops = bf16_or_skip();
    float one = 1.0f, *pack = malloc(ops->mat_pack_floats(1, 1, false) * sizeof *pack);
    float *back = malloc(ops->mat_pack_floats(1, 1, true) * sizeof *back);
    (void)state;
    assert_true(pack != NULL && back != NULL);
    assert_int_equal(ops->open(&be, 1, &err), PW_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float y, d = 0, g = 0, dy = 1;
        struct whole k = {.ops = ops,
                          .m = {.w = &one, .out = 1, .in = 1, .pack = pack, .back = back},
                          .y = &y,
                          .dx = &d,
                          .dw = &g,
                          .x = &cases[i].from,
                          .dy = &dy,
                          .R = 1};
        ops->prepare(be, &k.m, 1);
        ops->for_chunks(be, 1, layer, &k);
        assert_true(y == cases[i].to && g == cases[i].to && d == 1);
        assert_true(rounded(cases[i].from) == cases[i].to); /* the reference above rounds the same way */
    }
    free(back);
    free(pack);
    ops->close(be);
}

/* The result of a row must not depend on the other rows: decoding gives the bits of training. */
static void test_rows_stand_alone(void **state)
{
    enum { OUT = 45, IN = 70, ROWS = 90 };
    struct pw_err err;
    struct pw_backend *be;
    const struct pw_backend_ops *ops = bf16_or_skip();
    uint64_t s = 5;
    float y[ROWS * OUT], d[ROWS * IN], y1[ROWS * OUT], d1[ROWS * IN], g[OUT * IN] = {0};
    (void)state;
    float *w = ref_random(&s, OUT * IN, 1.0f), *x = ref_random(&s, ROWS * IN, 1.0f);
    float *dy = ref_random(&s, ROWS * OUT, 1.0f),
          *pack = ref_random(&s, ops->mat_pack_floats(OUT, IN, false), 0.0f),
          *back = ref_random(&s, ops->mat_pack_floats(OUT, IN, true), 0.0f);
    struct whole k = {.ops = ops,
                      .m = {.w = w, .out = OUT, .in = IN, .pack = pack, .back = back},
                      .y = y,
                      .dx = d,
                      .dw = g,
                      .x = x,
                      .dy = dy,
                      .R = ROWS};
    assert_int_equal(ops->open(&be, 1, &err), PW_OK);
    ops->prepare(be, &k.m, 1);
    ops->for_chunks(be, 1, layer, &k);
    for (int r = 0, rows; r < ROWS; r += rows) {
        rows = r == 40 ? 33 : 1;
        k.y = y1 + r * OUT;
        k.dx = d1 + r * IN;
        k.x = x + r * IN;
        k.dy = dy + r * OUT;
        k.R = rows;
        ops->for_chunks(be, 1, layer, &k);
    }
    assert_memory_equal(y, y1, sizeof y);
    assert_memory_equal(d, d1, sizeof d);
    free(w);
    free(x);
    free(dy);
    free(back);
    free(pack);
    ops->close(be);
}

static void test_names_and_class(void **state)
{
    struct pw_err err;
    struct pw_backend *be;
    const struct pw_backend_ops *ops = bf16_or_skip(), *fp32 = pw_backend_cpu();
    (void)state;
    assert_string_equal(ops->precision, "bf16");
    assert_string_equal(fp32->precision, "fp32");
    assert_false(ops->portable);
    assert_true(fp32->portable);
    assert_int_equal(ops->open(&be, 2, &err), PW_OK);
    assert_string_equal(ops->device(be), "2 threads, amx bf16, class machine");
    ops->close(be);
    assert_ptr_equal(pw_backend_cpu_precision("avx512", "bf16", &err), ops);
    assert_ptr_equal(pw_backend_cpu_precision("avx512", "fp32", &err), pw_backend_cpu_isa("avx512", &err));
    assert_null(pw_backend_cpu_precision("scalar", "bf16", &err));
    assert_string_equal(err.msg,
                        "precision=bf16 goes with isa=avx512, not with isa=scalar; fp32 goes with all");
}

static void test_unknown_isa_is_refused(void **state)
{
    struct pw_err err;
    (void)state;
    assert_null(pw_backend_cpu_precision("mmx", "bf16", &err));
    assert_non_null(strstr(err.msg, "isa=mmx"));
}

/* The kernel grants no tiles to a process with a signal stack too small to save them, nor on a processor
 * without AMX. The backend must then fail with one line and keep float32. The test runs in a child process,
 * before tiles have been granted. */
static void test_without_the_unit(void **state)
{
    pid_t child = fork();
    int status;
    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        static char small[2048];
        stack_t stack = {.ss_sp = small, .ss_size = sizeof small};
        struct pw_err err;
        bool refused =
            sigaltstack(&stack, NULL) == 0 && pw_backend_cpu_precision("auto", "bf16", &err) == NULL;
        bool said = refused && strncmp(err.msg, "precision=bf16: th", 18) == 0 &&
                    strstr(err.msg, "bf16 matrix units (AMX); fp32 is allowed") != NULL;
        _exit(said && pw_backend_cpu_precision("auto", "fp32", &err) == pw_backend_cpu() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_the_unit), /* must be first, before tiles are granted */
        cmocka_unit_test(test_unknown_isa_is_refused), cmocka_unit_test(test_names_and_class),
        cmocka_unit_test(test_against_double),         cmocka_unit_test(test_whole_numbers_are_exact),
        cmocka_unit_test(test_rounds_to_nearest_even), cmocka_unit_test(test_rows_stand_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
