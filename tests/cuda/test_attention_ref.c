/* test_attention_ref.c - tests attention in mode ref: the bits of the plain reference, on ragged sequences
 * with tails. Covers any ids, mask, bias, relative keys and dropout, in any order of threads. Rotation is
 * tested separately here; cuda.ops tests both together. */
#include "tests/cuda/ref_attend.h"
#include "tests/emulator/emulator.h"
#include "tests/ops/ref_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { SEEDS = 24 };

/* The plain reference saves rows of T rounded up to 16. Returns them without the padding. */
static float *dense(const struct attend *k, const float *save)
{
    const struct pw_seqs *s = &k->host.seqs;
    float *out = malloc((k->n_maps + 1) * sizeof *out), *to = out;
    assert_non_null(out);
    for (int n = 0; n < s->n; n++) {
        int T = s->start[n + 1] - s->start[n];
        for (int row = 0; row < k->host.a.heads * T; row++, save += (T + 15) / 16 * 16)
            for (int j = 0; j < T; j++)
                *to++ = save[j];
    }
    return out;
}

static void compare(const struct attend_shape *shape, uint64_t seed)
{
    struct attend k;
    attend_init(&k, shape, seed);
    struct attend_side *h = &k.host, *d = &k.device;
    bool keyed = shape->reach > 0;
    float *padded = malloc(ref_plain.attn_save_floats(&h->a, h->start, h->seqs.n) * sizeof *padded);
    float *save = device_floats(NULL, k.n_maps, 0);
    size_t *at = (size_t *)device_floats(NULL, 2 * ((size_t)h->seqs.n + 1), 0);
    float *ds = device_floats(NULL, pw_cuda_attention_ds(&d->a, &d->seqs), 0);
    assert_non_null(padded);
    ref_plain.scores(NULL, h->scores, h->qkv, &h->a, h->pos, &h->seqs);
    ref_plain.attention_fwd(NULL, h->z, padded, &(struct pw_maps){.probs = h->probs}, h->qkv, &h->a, h->pos,
                            &h->seqs);
    ref_plain.attention_bwd(NULL, h->dqkv, shape->bias ? h->d_bias : NULL, keyed ? h->d_keys : NULL, NULL,
                            h->dz, h->z, h->qkv, padded, &h->a, h->pos, &h->seqs);
    DEVICE(pw_cuda_scores(NULL, d->scores, d->qkv, &d->a, d->pos, &d->seqs, at));
    DEVICE(pw_cuda_attention_fwd_ref(NULL, d->z, save, d->probs, d->qkv, &d->a, d->pos, &d->seqs, at));
    DEVICE(pw_cuda_attention_bwd_ref(NULL, d->dqkv, shape->bias ? d->d_bias : NULL, keyed ? d->d_keys : NULL,
                                     NULL, d->dz, d->qkv, save, &d->a, d->pos, &d->seqs, at, ds));
    device_expect_bits("scores", seed, h->scores, d->scores);
    device_expect_bits("z", seed, h->z, d->z);
    device_expect_bits("probs", seed, h->probs, d->probs);
    device_expect_bits("dqkv", seed, h->dqkv, d->dqkv);
    device_expect_bits("d_bias", seed, h->d_bias, d->d_bias);
    device_expect_bits("d_keys", seed, h->d_keys, d->d_keys);
    float *bare = dense(&k, padded); /* and without probs */
    DEVICE(pw_cuda_attention_fwd_ref(NULL, d->z, d->probs, NULL, d->qkv, &d->a, d->pos, &d->seqs, at));
    for (size_t i = 0; i < k.n_maps; i++)
        bare[i] = h->scores[i] < -1e30f ? 0.0f : bare[i];
    device_expect_bits("save", seed, bare, d->probs);
    free(bare);
    free(padded);
    attend_fini(&k);
}

static void test_bits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct attend_shape shape = attend_draw(seed);
        shape.pairs = 0;
        shape.gain = false;
        pw_emu_set_order((enum pw_emu_order)(seed % 3), seed);
        compare(&shape, seed);
    }
    pw_emu_set_order(PW_EMU_FORWARD, 0);
}

static void test_one_position(void **state)
{
    const struct attend_shape shape = {
        .heads = 1, .width = 1, .lengths = {1}, .causal = true, .bias = true, .reach = 2};
    (void)state;
    compare(&shape, 3);
}

/* Empty input launches no kernel, whatever the other arguments. */
static void test_nothing(void **state)
{
    const struct pw_attn a = {.heads = 2, .head_width = 8, .scale = 1.0f};
    const struct pw_seqs none = {0};
    (void)state;
    DEVICE(pw_cuda_scores(NULL, NULL, NULL, &a, NULL, &none, NULL));
    DEVICE(pw_cuda_attention_fwd_ref(NULL, NULL, NULL, NULL, NULL, &a, NULL, &none, NULL));
    DEVICE(pw_cuda_attention_bwd_ref(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &a, NULL, &none, NULL,
                                     NULL));
    DEVICE(pw_cuda_attention_cached(NULL, NULL, NULL, NULL, &a, NULL, 8, 0, 0, NULL));
    DEVICE(pw_cuda_rotate(NULL, NULL, NULL, &(struct pw_turn){.pairs = 4}, NULL, false, 2, 8, 0));
}

/* A sequence in pieces has the bits of the whole. */
static void test_cached(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct attend_shape shape = attend_draw(seed);
        struct attend k;
        uint64_t cuts = seed * 77 + 5;
        shape.lengths[1] = 0;
        shape.rate = 0.0f;
        shape.pairs = 0;
        shape.gain = false;
        attend_init(&k, &shape, seed);
        struct attend_side *h = &k.host, *d = &k.device;
        int n = h->seqs.rows, C = h->a.heads * h->a.head_width, cap = n + (int)(seed % 3);
        float *save = malloc(ref_plain.attn_save_floats(&h->a, h->start, 1) * sizeof *save);
        float *cache = device_floats(NULL, (size_t)(cap * 2 * C), 0);
        assert_non_null(save);
        ref_plain.attention_fwd(NULL, h->z, save, NULL, h->qkv, &h->a, h->pos, &h->seqs);
        pw_emu_set_order((enum pw_emu_order)(seed % 3), seed);
        for (int T = 0, R; T < n; T += R) {
            R = shape.causal && ref_next(&cuts) % 3 > 0 ? 1 + (int)(ref_next(&cuts) % 20) : n - T;
            R = R < n - T ? R : n - T;
            float *scratch = device_floats(NULL, pw_cuda_attention_cached_scratch(&d->a, T, R), 0);
            DEVICE(pw_cuda_attention_cached(NULL, d->z + T * C, cache, d->qkv + T * 3 * C, &d->a, d->pos, cap,
                                            T, R, scratch));
        }
        device_expect_bits("z", seed, h->z, d->z);
        free(save);
        attend_fini(&k);
    }
    pw_emu_set_order(PW_EMU_FORWARD, 0);
}

/* In place, and into a copy, which includes v; and the inverse. */
static void test_rotate(void **state)
{
    uint64_t s = 7;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct attend_shape shape = attend_draw(seed);
        struct attend k;
        int D = shape.width += shape.width % 2, H = shape.heads;
        shape.reach = 0;
        shape.pairs = seed % 2 ? D / 2 : 1 + (int)(ref_next(&s) % (uint64_t)(D / 2));
        attend_init(&k, &shape, seed);
        struct attend_side *h = &k.host, *d = &k.device;
        int R = h->seqs.rows;
        bool back = seed & 4;
        DEVICE(pw_cuda_rotate(NULL, d->dqkv, d->qkv, &d->turn, d->pos, back, H, D, R));
        DEVICE(pw_cuda_rotate(NULL, d->qkv, d->qkv, &d->turn, d->pos, back, H, D, R));
        ref_turn(h->qkv, &h->turn, h->pos, back, H, D, R);
        device_expect_bits("rotate", seed, h->qkv, d->qkv);
        device_expect_bits("a copy", seed, h->qkv, d->dqkv);
        attend_fini(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),   cmocka_unit_test(test_one_position), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_cached), cmocka_unit_test(test_rotate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
