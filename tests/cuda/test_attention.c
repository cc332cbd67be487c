/* test_attention.c - tests attention in mode fast against the reference in double precision, within a
 * tolerance. Covers ragged sequences with tails, odd head widths, any ids, mask, bias, rotation, relative
 * keys and dropout. The bits must not depend on the order of threads. Fused rotation must have the bits of a
 * separate pass. */
#include "tests/cuda/ref_attend.h"
#include "tests/emulator/emulator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SEEDS = 16 };
#define TOLERANCE      1e-5
#define BF16_TOLERANCE 1.5e-2 /* inputs are exact, probabilities and dS are rounded to 8 bits */

/* Device memory shared by both passes. */
struct room {
    float *save, *partial, *dots;
};

static struct room allocate(const struct attend_side *d)
{
    return (struct room){
        device_floats(NULL, (size_t)(d->seqs.rows * d->a.heads), 0),
        device_floats(NULL, pw_cuda_attention_partial(&d->a, &d->seqs), 0),
        device_floats(NULL, pw_cuda_attention_dots(&d->a, &d->seqs), 0),
    };
}

/* later: the gradient of the bias is computed last, where that is supported. */
static void enqueue(cudaStream_t s, struct attend *k, const struct room *room, bool later, bool bf16)
{
    struct attend_side *d = &k->device;
    float *d_bias = d->a.bias != NULL ? d->d_bias : NULL, *d_keys = d->a.keys != NULL ? d->d_keys : NULL;
    later = later && pw_cuda_attention_may_wait(&d->a, &d->seqs);
    DEVICE(pw_cuda_attention_fwd_fast(s, d->z, NULL, room->save, d->qkv, &d->a, d->pos, &d->seqs, room->dots,
                                      bf16));
    DEVICE(pw_cuda_attention_bwd_fast(s, d->dqkv, NULL, d_bias, d_keys, d->dz, d->z, d->qkv, room->save,
                                      &d->a, d->pos, &d->seqs, room->partial, later, bf16));
    if (!later)
        return;
    DEVICE(pw_cuda_attention_bias_begin(s, &d->a, d->pos, &d->seqs, room->partial));
    DEVICE(pw_cuda_attention_bias(s, d_bias, &d->a, d->pos, &d->seqs, room->partial));
}

/* Runs forward and backward on the device. */
static void launch(struct attend *k, bool bf16)
{
    struct room room = allocate(&k->device);
    enqueue(NULL, k, &room, k->device.a.causal, bf16);
}

/* A rotated value isn't exact in bf16: test_turned covers that precision. */
static void compare(struct attend_shape *shape, uint64_t seed)
{
    struct attend k;
    shape->pairs = shape->bf16 ? 0 : shape->pairs;
    shape->gain = shape->gain && !shape->bf16;
    attend_init(&k, shape, seed);
    struct attend_side *h = &k.host;
    float *d_bias = shape->bias ? h->d_bias : NULL, *d_keys = shape->reach > 0 ? h->d_keys : NULL;
    float *save = malloc(ref_double.attn_save_floats(&h->a, h->start, h->seqs.n) * sizeof *save);
    assert_non_null(save);
    ref_double.attention_fwd(NULL, h->z, save, NULL, h->qkv, &h->a, h->pos, &h->seqs);
    ref_double.attention_bwd(NULL, h->dqkv, d_bias, d_keys, NULL, h->dz, h->z, h->qkv, save, &h->a, h->pos,
                             &h->seqs);
    launch(&k, shape->bf16);
    double tolerance = shape->bf16 ? BF16_TOLERANCE : TOLERANCE;
    device_expect_near("z", seed, h->z, k.device.z, tolerance);
    device_expect_near("dqkv", seed, h->dqkv, k.device.dqkv, tolerance);
    device_expect_near("d_bias", seed, h->d_bias, k.device.d_bias, tolerance);
    device_expect_near("d_keys", seed, h->d_keys, k.device.d_keys, tolerance);
    free(save);
    attend_fini(&k);
}

static void test_values(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct attend_shape shape = attend_draw(seed);
        compare(&shape, seed);
        shape.bf16 = true;
        compare(&shape, seed);
    }
}

/* One position and one head of width 1; also shapes with most tiles and all of a block's shared memory. */
static void test_extremes(void **state)
{
    const struct attend_shape shapes[] = {
        {.heads = 1, .width = 1, .lengths = {1}, .causal = true, .bias = true, .reach = 1},
        {.heads = 2, .width = 64, .lengths = {65, 64, 1}, .causal = true, .bias = true, .rate = 0.1f},
        {.heads = 1,
         .width = 128,
         .lengths = {70, 3},
         .bias = true,
         .ids = ATTEND_GAPS,
         .rate = 0.5f,
         .reach = 9},
        {.heads = 1, .width = 8, .lengths = {150}, .causal = true, .reach = 16},
        {.heads = 2,
         .width = 64,
         .lengths = {65, 64, 1},
         .causal = true,
         .bias = true,
         .rate = 0.1f,
         .pairs = 32,
         .half = true},
        {.heads = 1,
         .width = 128,
         .lengths = {70, 3},
         .ids = ATTEND_GAPS,
         .rate = 0.5f,
         .pairs = 30,
         .gain = true},
        {.heads = 3, .width = 17, .lengths = {9, 33}, .causal = true, .bias = true, .gain = true},
        {.heads = 1,
         .width = 16,
         .lengths = {20, 33, 5, 9},
         .causal = true,
         .bias = true,
         .slack = 2500,
         .reach = 3}, /* two maps at a time */
        {.heads = 1,
         .width = 16,
         .lengths = {20, 33, 5, 9},
         .causal = true,
         .bias = true,
         .dense = true,
         .slack = 2500},
        {.heads = 2, .width = 1, .lengths = {1, 3}, .bias = true, .dense = true, .ids = ATTEND_ANY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct attend_shape shape = shapes[i];
        compare(&shape, 100 + i);
        shape.bf16 = true;
        compare(&shape, 100 + i);
    }
}

/* Rotation fused into attention gives the bits of a separate pass. So does the fused inverse rotation of the
 * gradients, and the copies of these gradients. */
static void test_turned(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct attend_shape shape = attend_draw(seed + 300);
        struct attend k;
        bool bf16 = seed % 2;
        shape.width += shape.width == 1;
        shape.reach = 0;
        shape.pairs = shape.pairs > 0 ? shape.pairs : shape.width / 2;
        shape.half = seed / 2 % 2;
        shape.gain = seed % 3 == 0;
        attend_init(&k, &shape, seed);
        struct attend_side *d = &k.device;
        struct room room = allocate(d);
        int H = shape.heads, D = shape.width, R = d->seqs.rows;
        float *z = malloc(k.n_z * sizeof *z), *dqkv = malloc(k.n_qkv * sizeof *dqkv);
        float *copies[2], *copy = malloc((k.n_qkv + 1) / 2 * sizeof *copy), *want = malloc(k.n_qkv * 2 + 4);
        assert_true(z && dqkv && copy && want);
        for (int i = 0; i < 2; i++)
            copies[i] = device_floats(NULL, (k.n_qkv + 1) / 2, 0);
        for (int apart = 0; apart < 2; apart++) {
            if (apart) {
                DEVICE(pw_cuda_rotate(NULL, d->qkv, d->qkv, &d->turn, d->pos, false, H, D, R));
                d->a.turn = NULL;
            }
            DEVICE(pw_cuda_attention_fwd_fast(NULL, d->z, NULL, room.save, d->qkv, &d->a, d->pos, &d->seqs,
                                              NULL, bf16));
            DEVICE(pw_cuda_attention_bwd_fast(NULL, d->dqkv, bf16 && !apart ? (uint16_t *)copies[0] : NULL,
                                              d->a.bias != NULL ? d->d_bias : NULL, NULL, d->dz, d->z, d->qkv,
                                              room.save, &d->a, d->pos, &d->seqs, room.partial, false, bf16));
            if (!apart) {
                device_read(z, d->z);
                device_read(dqkv, d->dqkv);
            }
        }
        DEVICE(pw_cuda_rotate(NULL, d->dqkv, d->dqkv, &d->turn, d->pos, true, H, D, R));
        device_expect_bits("z", seed, z, d->z);
        device_expect_bits("dqkv", seed, dqkv, d->dqkv);
        if (bf16) {
            DEVICE(pw_cuda_to_bf16(NULL, (uint16_t *)copies[1], d->dqkv, k.n_qkv));
            device_read(copy, copies[0]);
            device_read(want, copies[1]);
            assert_memory_equal(copy, want, k.n_qkv * sizeof(uint16_t));
        }
        free(z);
        free(dqkv);
        free(copy);
        free(want);
        attend_fini(&k);
    }
}

/* Concatenates all outputs of launch. */
static float *results(const struct attend *k, size_t *n)
{
    const struct attend_side *d = &k->device;
    *n = k->n_z + k->n_qkv + k->n_bias + k->n_keys;
    float *out = malloc(*n * sizeof *out);
    assert_non_null(out);
    device_read(out, d->z);
    device_read(out + k->n_z, d->dqkv);
    device_read(out + k->n_z + k->n_qkv, d->d_bias);
    device_read(out + k->n_z + k->n_qkv + k->n_bias, d->d_keys);
    return out;
}

static void test_order_of_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct attend_shape shape = attend_draw(seed + 200);
        float *first = NULL;
        for (int order = PW_EMU_FORWARD; order <= PW_EMU_SHUFFLE; order++) {
            struct attend k;
            size_t n;
            attend_init(&k, &shape, seed);
            pw_emu_set_order((enum pw_emu_order)order, seed);
            launch(&k, seed % 2);
            float *got = results(&k, &n);
            if (first == NULL)
                first = got;
            assert_memory_equal(got, first, n * sizeof *got);
            if (got != first)
                free(got);
            attend_fini(&k);
        }
        free(first);
    }
    pw_emu_set_order(PW_EMU_FORWARD, 0);
}

/* Both passes captured in a graph equal the eager ones. */
static void test_captured(void **state)
{
    const struct attend_shape shape = {.heads = 2,
                                       .width = 24,
                                       .lengths = {33, 17},
                                       .causal = true,
                                       .bias = true,
                                       .ids = ATTEND_GAPS,
                                       .rate = 0.1f,
                                       .reach = 5};
    float *first = NULL;
    (void)state;
    for (int captured = 0; captured < 2; captured++) {
        struct attend k;
        size_t n;
        attend_init(&k, &shape, 9);
        struct room room = allocate(&k.device);
        if (captured) {
            cudaStream_t s;
            cudaGraph_t graph;
            cudaGraphExec_t exec;
            DEVICE(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
            DEVICE(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
            enqueue(s, &k, &room, true, false);
            DEVICE(cudaStreamEndCapture(s, &graph));
            DEVICE(cudaGraphInstantiate(&exec, graph, 0));
            DEVICE(cudaGraphLaunch(exec, s));
            DEVICE(cudaStreamSynchronize(s));
            DEVICE(cudaGraphExecDestroy(exec));
            DEVICE(cudaGraphDestroy(graph));
            DEVICE(cudaStreamDestroy(s));
        } else {
            enqueue(NULL, &k, &room, false, false);
        }
        float *got = results(&k, &n);
        if (captured)
            assert_memory_equal(got, first, n * sizeof *got);
        free(first);
        first = got;
        attend_fini(&k);
    }
    free(first);
}

/* A bias may hide keys: rows in which all keys so far are hidden must not become NaN. */
static void test_hidden_by_the_bias(void **state)
{
    const struct attend_shape shape = {
        .heads = 1, .width = 16, .lengths = {50}, .causal = true, .bias = true};
    struct attend k;
    (void)state;
    attend_init(&k, &shape, 5);
    struct attend_side *h = &k.host;
    for (int distance = 4; distance < ATTEND_TABLE; distance++)
        h->bias[ATTEND_TABLE - 1 + distance] = -INFINITY;
    k.device.a.bias = device_floats(h->bias, k.n_bias, 0);
    float *save = malloc(ref_double.attn_save_floats(&h->a, h->start, 1) * sizeof *save);
    assert_non_null(save);
    ref_double.attention_fwd(NULL, h->z, save, NULL, h->qkv, &h->a, h->pos, &h->seqs);
    ref_double.attention_bwd(NULL, h->dqkv, h->d_bias, NULL, NULL, h->dz, h->z, h->qkv, save, &h->a, h->pos,
                             &h->seqs);
    launch(&k, false);
    device_expect_near("z", 5, h->z, k.device.z, TOLERANCE);
    device_expect_near("dqkv", 5, h->dqkv, k.device.dqkv, TOLERANCE);
    free(save);
    attend_fini(&k);
}

static void test_nothing(void **state)
{
    const struct pw_attn a = {.heads = 2, .head_width = 8, .scale = 1.0f};
    const struct pw_seqs none = {0};
    (void)state;
    for (int bf16 = 0; bf16 < 2; bf16++) {
        DEVICE(pw_cuda_attention_fwd_fast(NULL, NULL, NULL, NULL, NULL, &a, NULL, &none, NULL, bf16));
        DEVICE(pw_cuda_attention_bwd_fast(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &a, NULL,
                                          &none, NULL, false, bf16));
    }
    assert_int_equal(pw_cuda_attention_partial(&a, &none), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),           cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_order_of_threads), cmocka_unit_test(test_hidden_by_the_bias),
        cmocka_unit_test(test_nothing),          cmocka_unit_test(test_captured),
        cmocka_unit_test(test_turned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
