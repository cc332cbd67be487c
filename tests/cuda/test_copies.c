/* test_copies.c - tests the bf16 copies of activations. Every operation either leaves a copy of its output,
 * or invalidates the old one. So a product never uses outdated values. A writer must also wait for readers on
 * the second branch. */
#include "kernels/cuda/members.h"
#include "kernels/cuda/table.h"
#include "tests/emulator/emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { H = 2, D = 4, C = H * D, SEQS = 2, T = 3, R = SEQS * T, PASS = 1024 };

/* Tensors of a pass, each [R,3C] or less; other operands are outside the pass. */
struct fixture {
    struct pw_backend *be;
    struct pw_ctx *c;
    float *x, *y, *wide, *d_wide, *out;
    float *stat, *save, *param, *grad;
    int *ids;
    struct pw_mat square, tall;
    struct pw_turn turn;
    struct pw_attn attn, relative, turned;
    struct pw_seqs seqs;
    struct pw_dropout drop;
};

static const struct pw_backend_ops *const ops = &pw_cuda_table_bf16;

static float *elsewhere(struct fixture *f, size_t n)
{
    float numbers[PASS], *p = ops->alloc(f->be, n * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        numbers[i] = 0.3f + (float)(i % 17) / 19.0f;
    ops->upload(f->be, p, numbers, n * sizeof *p);
    return p;
}

static struct pw_mat matrix(struct fixture *f, int out, int in)
{
    size_t n = (size_t)out * (size_t)in;
    struct pw_mat m = {.w = elsewhere(f, n), .out = out, .in = in, .pack = ops->alloc(f->be, 4 * n)};
    ops->prepare(f->be, &m, 1);
    return m;
}

static void open_fixture(struct fixture *f)
{
    static const int ids[R] = {0, 1, 2, 0, 1, 2}, start[SEQS + 1] = {0, T, R};
    static const uint32_t key[2] = {3, 4};
    struct pw_err err;
    assert_int_equal(ops->open(&f->be, 0, &err), PW_OK);
    f->c = &f->be->ctx;
    float *pass = ops->alloc_acts(f->be, PASS),
          **const parts[] = {&f->x, &f->y, &f->out, &f->wide, &f->d_wide};
    assert_non_null(pass);
    for (int i = 0; i < 5; i++)
        *parts[i] = pass + (size_t)i * (3 * R * C + 16);
    f->stat = elsewhere(f, PASS / 2);
    f->save = elsewhere(f, PASS / 2);
    f->param = elsewhere(f, PASS / 2);
    f->grad = elsewhere(f, PASS / 2);
    f->ids = ops->alloc(f->be, sizeof ids);
    ops->upload(f->be, f->ids, ids, sizeof ids);
    f->square = matrix(f, C, C);
    f->tall = matrix(f, 3 * C, C);
    uint32_t *device_key = ops->alloc(f->be, sizeof key);
    int *device_start = ops->alloc(f->be, sizeof start);
    ops->upload(f->be, device_key, key, sizeof key);
    ops->upload(f->be, device_start, start, sizeof start);
    f->drop = (struct pw_dropout){device_key, 1, 0, 0.5f};
    f->attn = (struct pw_attn){.heads = H, .head_width = D, .scale = 0.5f, .causal = true};
    f->relative = f->attn;
    f->relative.keys = f->param;
    f->relative.reach = 1;
    f->turned = f->attn;
    f->turn = (struct pw_turn){f->param, f->param + 1, 0, 2, PW_PAIRING_HALF, f->param, 0, false};
    f->turned.turn = &f->turn;
    f->seqs = (struct pw_seqs){SEQS, device_start, R, T};
}

/* Fills every tensor of the pass with other numbers, and gives it a valid copy. */
static void fill(struct fixture *f, float by)
{
    float *const tensors[] = {f->x, f->y, f->out, f->wide, f->d_wide}, numbers[3 * R * C];
    for (int t = 0; t < 5; t++) {
        size_t n = t < 3 ? R * C : 3 * R * C;
        for (size_t i = 0; i < n; i++)
            numbers[i] = by + (float)((i * 7 + (size_t)t) % 23) / 31.0f;
        ops->upload(f->be, tensors[t], numbers, n * sizeof *numbers);
        assert_false(pw_cuda_holds(f->c, tensors[t], n));
        assert_int_equal(pw_cuda_to_bf16(f->c->stream, pw_cuda_copy_of(f->c, tensors[t]), tensors[t], n), 0);
        pw_cuda_hold(f->c, tensors[t], n);
    }
}

/* Checks all copies that are marked as valid. */
static void expect_copies(struct fixture *f, const char *after)
{
    struct pw_err err;
    uint16_t *fresh = ops->alloc(f->be, PASS * sizeof *fresh), want[PASS], got[PASS];
    for (int i = 0; i < f->be->copies.n_held; i++) {
        const struct pw_cuda_held *h = &f->be->copies.held[i];
        assert_int_equal(pw_cuda_to_bf16(f->c->stream, fresh, h->x, h->n), 0);
        ops->download(f->be, want, fresh, h->n * sizeof *fresh);
        ops->download(f->be, got, pw_cuda_copy_of(f->c, h->x), h->n * sizeof *fresh);
        assert_int_equal(ops->sync(f->be, &err), PW_OK);
        if (memcmp(want, got, h->n * sizeof *fresh) != 0)
            fail_msg("%s: the copy of the tensor at %td is an old one", after, h->x - f->x);
    }
    ops->free(f->be, fresh);
}

#define OPERATION(name, call)                                                                                \
    static void name(struct fixture *f, float *y)                                                            \
    {                                                                                                        \
        (void)y;                                                                                             \
        ops->call;                                                                                           \
    }
static const struct pw_added nothing = {.scale = 1.0f};
OPERATION(embed, embed_fwd(f->c, y, f->param, f->ids, &nothing, R, C))
OPERATION(norm, norm_fwd(f->c, y, f->stat, f->x, f->param, NULL, PW_NORM_RMS, 1e-6f, 1, R, C))
OPERATION(norm_back, norm_bwd(f->c, y, f->grad, NULL, f->x, f->out, f->stat, f->param, PW_NORM_RMS, 1, R, C))
OPERATION(linear, linear_fwd(f->c, y, NULL, f->x, &f->square, NULL, NULL, PW_ACT_RELU, R))
OPERATION(linear_act, linear_fwd(f->c, y, f->out, f->x, &f->square, f->param, NULL, PW_ACT_GELU, R))
OPERATION(linear_onto, linear_fwd(f->c, y, NULL, f->x, &f->square, NULL, y, PW_ACT_RELU, R))
OPERATION(linear_back, linear_dx(f->c, y, f->x, &f->square, PW_ACT_NONE, NULL, 1, R))
OPERATION(act_back, linear_dx(f->c, y, f->x, &f->square, PW_ACT_RELU, f->out, 2, R))
OPERATION(dropped, dropout(f->c, y, f->x, &f->drop, NULL, R, C))
OPERATION(dropped_onto, dropout(f->c, y, f->x, &f->drop, f->out, R, C))
OPERATION(rotated, rotate(f->c, f->wide, &f->turn, f->ids, H, D, R))
OPERATION(attended, attention_fwd(f->c, y, f->save, NULL, f->wide, &f->attn, f->ids, &f->seqs))
OPERATION(cached, attention_cached(f->c, y, f->param, f->wide, &f->attn, f->ids, 8, 0, R))
OPERATION(scored, scores(f->c, f->d_wide, f->wide, &f->attn, f->ids, &f->seqs))
OPERATION(attended_back, attention_bwd(f->c, f->d_wide, NULL, NULL, NULL, f->x, f->out, f->wide, f->save,
                                       &f->attn, f->ids, &f->seqs))
static void relative_keys(struct fixture *f, float *d_keys)
{
    ops->attention_bwd(f->c, f->d_wide, NULL, d_keys, NULL, f->x, f->out, f->wide, f->save, &f->relative,
                       f->ids, &f->seqs);
}
static void relative_back(struct fixture *f, float *y)
{
    (void)y;
    relative_keys(f, f->grad);
}
OPERATION(turned_back, attention_bwd(f->c, f->d_wide, NULL, NULL, NULL, f->x, f->out, f->wide, f->save,
                                     &f->turned, f->ids, &f->seqs))
OPERATION(put, put_head(f->c, y, NULL, f->ids, 1, H, D, R))
OPERATION(put_from, put_head(f->c, y + C, f->param, f->ids, 0, H, D, R - 1))
OPERATION(gathered, gather_rows(f->c, y, f->x, f->ids, R, C))
OPERATION(scattered, scatter_rows(f->c, y, f->x, f->ids, T, R, C))
OPERATION(differed, cross_entropy(f->c, f->stat, f->ids, y, f->x, f->ids, f->param, R, C))
OPERATION(softened, softmax(f->c, y, f->x, 1, R, C))
OPERATION(gated, gate_fwd(f->c, y, f->wide, PW_ACT_SILU, C, R))
OPERATION(gated_back, gate_bwd(f->c, f->d_wide, f->x, f->wide, PW_ACT_SILU, C, R))
OPERATION(arranged,
          heads_fwd(f->c, f->d_wide, NULL, f->wide, &(const struct pw_heads){H, H, D, NULL, NULL, 0.0f}, R))
OPERATION(arranged_back, heads_bwd(f->c, f->d_wide, NULL, NULL, f->wide, f->wide, NULL,
                                   &(const struct pw_heads){H, H, D, NULL, NULL, 0.0f}, R))
OPERATION(capped, cap_fwd(f->c, y, 5.0f, R *C))
OPERATION(capped_back, cap_bwd(f->c, y, f->x, 5.0f, R *C))
OPERATION(clipped, clip_fwd(f->c, y, 5.0f, R *C))
OPERATION(clipped_back, clip_bwd(f->c, y, f->x, 5.0f, R *C))
OPERATION(added, add(f->c, y, f->x, R *C))
OPERATION(zeroed, zero(f->c, y, R *C))
OPERATION(fetched, upload(f->be, y, (const float[C]){9}, C * sizeof(float)))
OPERATION(copied, copy(f->be, y, f->x, C * sizeof(float)))

static const struct {
    const char *name;
    void (*run)(struct fixture *f, float *y);
    bool leaves; /* it leaves a copy of y, or of the wide tensor */
} cases[] = {
    {"embed", embed, false},
    {"norm", norm, true},
    {"norm_bwd", norm_back, true},
    {"linear", linear, false},
    {"gelu", linear_act, false},
    {"onto", linear_onto, false},
    {"dx", linear_back, false},
    {"act'", act_back, true},
    {"dropout", dropped, true},
    {"dropout onto", dropped_onto, false},
    {"rotate", rotated, false},
    {"attention", attended, true},
    {"turned", turned_back, true},
    {"cached", cached, false},
    {"scores", scored, false},
    {"back", attended_back, true},
    {"relative keys", relative_back, true},
    {"put_head", put, false},
    {"patch", put_from, false},
    {"gather", gathered, false},
    {"scatter", scattered, true},
    {"softmax", softened, false},
    {"cross_entropy", differed, true},
    {"gate", gated, false},
    {"gate_bwd", gated_back, false},
    {"heads", arranged, false},
    {"heads_bwd", arranged_back, false},
    {"cap", capped, false},
    {"cap_bwd", capped_back, false},
    {"clip", clipped, false},
    {"clip_bwd", clipped_back, false},
    {"add", added, false},
    {"zero", zeroed, false},
    {"upload", fetched, false},
    {"copy", copied, false},
};

/* The tensor [n] of the pass that case i writes when it runs on y. */
static float *written(const struct fixture *f, size_t i, size_t *n)
{
    bool wide = cases[i].run == attended_back || cases[i].run == relative_back || cases[i].run == scored ||
                cases[i].run == turned_back || cases[i].run == rotated || cases[i].run == gated_back ||
                cases[i].run == arranged || cases[i].run == arranged_back;
    *n = wide ? 3 * R * C : R * C;
    return !wide ? f->y : cases[i].run == rotated ? f->wide : f->d_wide;
}

static void test_writers(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n;
        float *y = written(&f, i, &n);
        fill(&f, 0.1f + (float)i / 7.0f);
        cases[i].run(&f, f.y);
        expect_copies(&f, cases[i].name);
        bool held = pw_cuda_holds(f.c, y, n);
        if (held != cases[i].leaves)
            fail_msg("%s: %s", cases[i].name, held ? "its copy still holds" : "it leaves no copy");
    }
    ops->close(f.be);
}

/* A writer waits for readers of its tensor on the second branch of a graph, and not for readers of other
 * tensors. */
static void test_readers(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_err err;
    open_fixture(&f);
    const struct pw_cuda_side *s = &f.be->side;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n;
        float *y = written(&f, i, &n);
        fill(&f, 1);
        pw_cuda_side_begin(f.be);
        uint64_t before = s->asked;
        struct pw_ctx *at = pw_cuda_aside(f.c);
        pw_cuda_went(at, f.x, R * C, y - C, 3 * R * C); /* this reader is in flight */
        at = pw_cuda_aside(f.c);
        pw_cuda_went(at, f.x, R * C, f.stat, R);
        cases[i].run(&f, f.y);
        if (s->awaited < before + 1)
            fail_msg("%s: it doesn't wait for what reads", cases[i].name);
        if (s->awaited > before + 1 && cases[i].run != added)
            fail_msg("%s: it waits for what reads other tensors", cases[i].name);
        pw_cuda_side_end(f.be);
        assert_int_equal(s->awaited, s->asked);
    }
    assert_int_equal(ops->sync(f.be, &err), PW_OK);
    ops->close(f.be);
}

/* ---- operands that exist only as a copy: the copy equals the rounded output */

static void expect_rounded(struct fixture *f, const float *operand, const float *floats, const char *after)
{
    struct pw_err err;
    uint16_t want[R * C], got[R * C], *fresh = (uint16_t *)f->save;
    assert_int_equal(pw_cuda_to_bf16(f->c->stream, fresh, floats, R * C), 0);
    ops->download(f->be, want, fresh, sizeof want);
    ops->download(f->be, got, pw_cuda_copy_of(f->c, operand), sizeof got);
    assert_int_equal(ops->sync(f->be, &err), PW_OK);
    if (memcmp(want, got, sizeof got) != 0)
        fail_msg("%s: the operand is not what comes of it, rounded", after);
}

static void test_operands(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    float *operands = ops->alloc_operands(f.be, 2 * sizeof(uint16_t) * R * C), *o = operands + R * C / 2;
    assert_non_null(operands);
    fill(&f, 1);
    assert_true(pw_cuda_holds(f.c, o, R * C));
    pw_emu_set_order(PW_EMU_REVERSE, 0); /* the kernels' float outputs are written last */
    ops->norm_fwd(f.c, f.y, f.stat, f.x, f.param, NULL, PW_NORM_LAYER, 1e-6f, 1, R, C);
    ops->norm_fwd(f.c, o, f.stat, f.x, f.param, NULL, PW_NORM_LAYER, 1e-6f, 1, R, C);
    expect_rounded(&f, o, f.y, "norm");
    assert_int_equal(pw_cuda_of_bf16(f.c->stream, f.x, pw_cuda_copy_of(f.c, o), R * C), 0);
    ops->dropout(f.c, f.y, f.x, &f.drop, NULL, R, C);
    ops->dropout(f.c, o, o, &f.drop, NULL, R, C);
    expect_rounded(&f, o, f.y, "dropout");
    ops->linear_fwd(f.c, f.y, NULL, f.out, &f.square, NULL, NULL, PW_ACT_RELU, R);
    ops->linear_fwd(f.c, o, NULL, f.out, &f.square, NULL, NULL, PW_ACT_RELU, R);
    expect_rounded(&f, o, f.y, "linear");
    pw_emu_set_order(PW_EMU_FORWARD, 0);

    pw_cuda_side_begin(f.be); /* readers of operands, each of its own half of the floats' distance */
    const struct pw_cuda_side *s = &f.be->side;
    pw_cuda_went(pw_cuda_aside(f.c), operands, R * C, NULL, 0);
    uint64_t before = s->awaited;
    ops->dropout(f.c, o, o, &f.drop, NULL, R, C);
    assert_int_equal(s->awaited, before);
    ops->dropout(f.c, operands, operands, &f.drop, NULL, R, C);
    assert_int_equal(s->awaited, s->asked);
    pw_cuda_side_end(f.be);
    ops->free(f.be, operands);
    assert_false(pw_cuda_alone(f.c, o));
    ops->close(f.be);
}

/* An operation that adds to gradients waits until they are zeroed. */
static void test_zeroed(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    const struct pw_cuda_side *s = &f.be->side;
    float *added = elsewhere(&f, R * C), *keys = elsewhere(&f, R * C);
    struct pw_added tables = {.n = 1, .table = {f.param}, .row = {f.ids}, .scale = 1.0f};
    fill(&f, 1);
    for (int i = 0; i < 3; i++) {
        float *const zeros[] = {f.grad, added, keys};
        pw_cuda_side_begin(f.be);
        ops->zero(f.c, zeros[i], C);
        assert_int_equal(s->awaited, s->asked - 1);
        if (i < 2)
            ops->embed_bwd(f.c, f.grad, &added, f.x, f.ids, &tables, R, C);
        else
            relative_keys(&f, keys);
        assert_int_equal(s->awaited, s->asked);
        pw_cuda_side_end(f.be);
    }
    ops->close(f.be);
}

/* With any number of operations in flight. */
static void test_many_aside(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_err err;
    open_fixture(&f);
    const struct pw_cuda_side *s = &f.be->side;
    assert_ptr_equal(pw_cuda_aside(f.c), f.c); /* not in a capture */
    pw_cuda_side_begin(f.be);
    for (int i = 0; i < 3 * PW_CUDA_BESIDE; i++) {
        struct pw_ctx *at = pw_cuda_aside(f.c);
        assert_ptr_not_equal(at, f.c);
        pw_cuda_went(at, f.x + i, 1, f.y, 1);
        assert_true(s->asked - s->awaited <= PW_CUDA_BESIDE);
    }
    pw_cuda_writes(f.c, f.x); /* long ago */
    assert_int_equal(s->asked - s->awaited, PW_CUDA_BESIDE);
    pw_cuda_writes(f.c, f.x + 3 * PW_CUDA_BESIDE - 3);
    assert_int_equal(s->asked - s->awaited, 2);
    pw_cuda_side_end(f.be);
    assert_int_equal(ops->sync(f.be, &err), PW_OK);
    ops->close(f.be);
}

/* A valid copy is not rounded again. Missing copies are made by one launch, and stay valid. */
static void test_products(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fill(&f, 1);
    uint64_t launches = pw_emu_counts().launches;
    ops->linear_fwd(f.c, f.wide, NULL, f.x, &f.tall, NULL, NULL, PW_ACT_NONE, R);
    ops->linear_dw(f.c, f.grad, NULL, f.y, f.x, false, C, C, R);
    ops->linear_dx(f.c, f.out, f.y, &f.square, PW_ACT_NONE, NULL, 1, R);
    assert_int_equal(pw_emu_counts().launches, launches);
    pw_cuda_forget_copies(f.be);
    ops->linear_dw(f.c, f.grad, NULL, f.y, f.x, false, C, C, R);
    assert_int_equal(pw_emu_counts().launches, launches + 1);
    ops->linear_dx(f.c, f.out, f.y, &f.square, PW_ACT_NONE, NULL, 1, R);
    ops->linear_fwd(f.c, f.wide, NULL, f.x, &f.tall, NULL, NULL, PW_ACT_NONE, R);
    assert_int_equal(pw_emu_counts().launches, launches + 1);
    expect_copies(&f, "products");
    ops->free(f.be, f.x); /* the whole pass */
    assert_int_equal(f.be->copies.n_held, 0);
    assert_null(pw_cuda_copy_of(f.c, f.x));
    ops->close(f.be);
}

static void nothing_done(void *arg)
{
    (void)arg;
}

/* A graph may write any tensor, so no copy stays valid. */
static void test_replay(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    for (int i = 0; i < 3; i++) {
        fill(&f, 1);
        ops->replay(f.be, "key", 3, nothing_done, NULL);
        assert_int_equal(f.be->copies.n_held, 0);
    }
    ops->close(f.be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writers),  cmocka_unit_test(test_readers), cmocka_unit_test(test_many_aside),
        cmocka_unit_test(test_products), cmocka_unit_test(test_replay),  cmocka_unit_test(test_operands),
        cmocka_unit_test(test_zeroed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
