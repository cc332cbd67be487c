/* test_stored.c - tests packs that are the only copy of a matrix. Every instruction set reads its values back
 * bit for bit, and packs of 16 bits give the bits of packs in float, forward and backward. */
#include "tests/ops/ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"

static const char *const isas[] = {"scalar", "avx2", "avx512"};
static const struct pw_backend_ops *ops;
static struct pw_backend *be;

/* One layer, with the pack of each form. */
struct layer {
    int out, in, R;
    float *w, *x, *bias, *residual, *y[2], *dx[2];
    struct pw_mat mat;
    enum pw_act act;
};

static float *room(size_t n)
{
    float *p = ops->alloc(be, (n + 1) * sizeof *p);
    assert_non_null(p);
    return p;
}

/* A value that has this form exactly: any bits that are finite, thus also subnormal numbers and both zeros.
 */
static float value_of(uint64_t *s, enum pw_stored stored)
{
    uint32_t bits = (uint32_t)ref_next(s);
    float x;
    if (stored == PW_STORED_F16)
        return pw_from_half((uint16_t)((bits & 0x7c00) == 0x7c00 ? bits & 0xbfff : bits));
    bits = stored == PW_STORED_BF16 ? bits & 0xffff0000 : bits;
    bits = (bits & 0x80ffffff) | 0x3c000000 | (bits & 0x03000000);
    if ((bits & 0x000f0000) == 0)
        bits &= 0x807f0000; /* subnormal, or zero */
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void run_fwd(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct layer *l = arg;
    (void)chunk;
    (void)worker;
    ops->linear_fwd(c, l->y[0], NULL, l->x, &l->mat, l->bias, l->residual, l->act, l->R);
}

/* The gradient of x from y, which is any number here. */
static void run_back(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct layer *l = arg;
    (void)chunk;
    (void)worker;
    ops->linear_dx(c, l->dx[0], l->y[1], &l->mat, l->act, l->x, l->bias == NULL ? 1 : 0.5f, l->R);
}

/* Both ways to fill `back` give the same bits, and the gradient has those of the first one. */
static void check_back(struct layer *l, bool first)
{
    size_t bytes = ops->mat_pack_floats(l->out, l->in, true) * sizeof(float),
           nx = (size_t)l->R * (size_t)l->in;
    float *prepared = room(bytes / sizeof(float));
    bytes = l->mat.stored == PW_STORED_F32 ? bytes : bytes / 2;
    memcpy(prepared, l->mat.back, bytes);
    memset(l->mat.back, 0, bytes);
    ops->pack_back(be, &l->mat, 1);
    assert_memory_equal(l->mat.back, prepared, bytes);
    ops->for_chunks(be, 1, run_back, l);
    if (first)
        memcpy(l->dx[1], l->dx[0], nx * sizeof *l->dx[0]);
    assert_memory_equal(l->dx[0], l->dx[1], nx * sizeof *l->dx[0]);
    ops->free(be, prepared);
}

static void run_rows(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct layer *l = arg;
    int ids[3] = {l->out - 1, 0, l->out / 2};
    float *rows = room(3 * (size_t)l->in);
    (void)chunk;
    (void)worker;
    ops->unpack_rows(c, rows, &l->mat, ids, 3);
    for (size_t r = 0; r < 3; r++)
        assert_memory_equal(rows + r * (size_t)l->in, l->w + (size_t)ids[r] * (size_t)l->in,
                            (size_t)l->in * sizeof *rows);
    ops->free(be, rows);
}

/* Every part of the matrix comes back. */
static void check_unpack(const struct layer *l)
{
    size_t n = (size_t)l->out * (size_t)l->in, from = n / 3, to = n - n / 7;
    float *got = room(n);
    assert_null(l->mat.w);
    ops->unpack(got, &l->mat, 0, n);
    assert_memory_equal(got, l->w, n * sizeof *got);
    memset(got, 0, n * sizeof *got);
    ops->unpack(got, &l->mat, from, to - from);
    assert_memory_equal(got, l->w + from, (to - from) * sizeof *got);
    ops->free(be, got);
}

/* Fills pack in this form, and forgets the values. */
static void prepare(struct layer *l, enum pw_stored stored)
{
    l->mat.w = l->w;
    l->mat.stored = stored;
    ops->prepare(be, &l->mat, 1);
    l->mat.w = NULL;
}

static void check_layer(enum pw_stored stored, int out, int in, int R, enum pw_act act, bool bare)
{
    uint64_t s = (uint64_t)out * 7919 + (uint64_t)in * 31 + (uint64_t)R;
    struct layer l = {.out = out, .in = in, .R = R, .act = act};
    size_t n = (size_t)out * (size_t)in, ny = (size_t)R * (size_t)out, nx = (size_t)R * (size_t)in;
    l.w = room(n);
    l.x = room(nx);
    l.y[0] = room(ny);
    l.y[1] = room(ny);
    l.dx[0] = room(nx);
    l.dx[1] = room(nx);
    l.bias = bare ? NULL : room((size_t)out);
    l.residual = bare ? NULL : room(ny);
    l.mat = (struct pw_mat){.out = out,
                            .in = in,
                            .pack = room(ops->mat_pack_floats(out, in, false)),
                            .back = room(ops->mat_pack_floats(out, in, true))};
    for (size_t i = 0; i < n; i++)
        l.w[i] = value_of(&s, stored);
    for (size_t i = 0; i < nx; i++)
        l.x[i] = value_of(&s, PW_STORED_F32);
    for (size_t i = 0; i < ny && !bare; i++)
        l.residual[i] = value_of(&s, PW_STORED_F32);
    prepare(&l, PW_STORED_F32);
    ops->for_chunks(be, 1, run_fwd, &l);
    memcpy(l.y[1], l.y[0], ny * sizeof *l.y[0]);
    check_unpack(&l);
    check_back(&l, true);
    prepare(&l, stored);
    memset(l.y[0], 0, ny * sizeof *l.y[0]);
    ops->for_chunks(be, 1, run_fwd, &l);
    assert_memory_equal(l.y[0], l.y[1], ny * sizeof *l.y[0]);
    check_unpack(&l);
    check_back(&l, false);
    ops->for_chunks(be, 1, run_rows, &l);
    float *all[] = {l.w, l.x, l.y[0], l.y[1], l.dx[0], l.dx[1], l.bias, l.residual, l.mat.pack, l.mat.back};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ops->free(be, all[i]);
}

static void check_form(enum pw_stored stored)
{
    static const int shapes[][3] = {{1, 1, 1},      {5, 3, 2},     {31, 127, 1},   {32, 128, 1},
                                    {33, 129, 4},   {64, 512, 60}, {100, 300, 57}, {16, 260, 14},
                                    {576, 1536, 1}, {7, 1024, 113}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int *x = shapes[i];
        check_layer(stored, x[0], x[1], x[2], PW_ACT_NONE, true);
        check_layer(stored, x[0], x[1], x[2], PW_ACT_RELU, false);
    }
}

static void test_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        struct pw_err err;
        ops = pw_backend_cpu_isa(isas[i], &err);
        for (int threads = 1; threads <= 3 && ops != NULL; threads += 2) {
            if (ops->open(&be, threads, &err) != PW_OK)
                fail_msg("%s", err.msg);
            check_form(PW_STORED_F32);
            check_form(PW_STORED_BF16);
            check_form(PW_STORED_F16);
            ops->close(be);
        }
    }
}

/* The embedding is computed in place from rows that were read from a pack. */
static void embed(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    enum { V = 40, C = 20, R = 3 };
    static const int ids[R] = {39, 0, 17};
    struct pw_added a = {.scale = 1.5f};
    uint64_t s = 3;
    float x[R * C], want[R * C], *pack = arg, *table = ref_random(&s, V * C, 1.0f);
    struct pw_mat m = {.w = table, .out = V, .in = C, .pack = pack};
    (void)chunk;
    (void)worker;
    ops->prepare(be, &m, 1);
    ops->embed_fwd(c, want, table, ids, &a, R, C);
    ops->unpack_rows(c, x, &m, ids, R);
    ops->embed_fwd(c, x, x, NULL, &a, R, C);
    assert_memory_equal(x, want, sizeof want);
    free(table);
}

static void test_embedding(void **state)
{
    struct pw_err err;
    (void)state;
    ops = pw_backend_cpu();
    assert_int_equal(ops->open(&be, 1, &err), PW_OK);
    float *pack = room(ops->mat_pack_floats(40, 20, false));
    ops->for_chunks(be, 1, embed, pack);
    ops->free(be, pack);
    ops->close(be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits), cmocka_unit_test(test_embedding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
