/* test_walk.c - the gradients of a walk over so many heads of sequences that they take more than one launch
 * (kernels/cuda/walk.cu). cuda.ops has all other shapes. */
#include "kernels/cuda/launch.h"
#include "tests/cuda/ref_device.h"
#include "tests/ops/ref.h"
#include "tests/ops/ref_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

/* Heads of sequences of at most two rows. Scratch for 5447 of them is 2^26 floats. */
enum { SEQS = 3000, H = 2, D = 128, HD = H * D };

static float *zeros(size_t n)
{
    float *p = calloc(n, sizeof *p);
    assert_non_null(p);
    return p;
}

static void test_many_heads(void **state)
{
    static int start[SEQS + 1];
    uint64_t s = 9;
    (void)state;
    for (int i = 0; i < SEQS; i++)
        start[i + 1] = start[i] + 1 + (int)(ref_next(&s) % 2);
    size_t R = (size_t)start[SEQS], nz = R * HD;
    float *qkv = ref_random(&s, 3 * nz, 1.0f), *dz = ref_random(&s, nz, 1.0f);
    float *vectors = ref_random(&s, nz, 0.1f), *factors = ref_random(&s, R * H, 1.0f);
    float *z = zeros(nz), *dqkv = zeros(3 * nz), *d_vectors = zeros(nz), *d_factors = zeros(R * H);
    struct pw_walk walk = {PW_WALK_REFLECT, vectors, factors, d_vectors, d_factors}, there = walk;
    struct pw_attn a = {.heads = H, .head_width = D, .scale = 0.1f, .causal = true, .walk = &walk}, b = a;
    struct pw_seqs seqs = {SEQS, start, (int)R, 2}, on = seqs;
    float *saved = zeros(ref_plain.attn_save_floats(&a, start, SEQS));
    ref_plain.attention_fwd(NULL, z, saved, NULL, qkv, &a, NULL, &seqs);
    ref_plain.attention_bwd(NULL, dqkv, NULL, NULL, NULL, dz, z, qkv, saved, &a, NULL, &seqs);
    b.walk = &there;
    on.start = (const int *)device_floats((const float *)start, SEQS + 1, 0);
    there.vectors = device_floats(vectors, nz, 0);
    there.factors = device_floats(factors, R * H, 0);
    there.d_vectors = device_floats(NULL, nz, 0);
    there.d_factors = device_floats(NULL, R * H, 0);
    float *to = device_floats(NULL, nz, 0), *save = device_floats(NULL, 4 * SEQS * H, 0);
    float *grad = device_floats(NULL, 3 * nz, 0), *in = device_floats(qkv, 3 * nz, 0);
    float *dz_there = device_floats(dz, nz, 0);
    size_t *at = (size_t *)device_floats(NULL, pw_cuda_attention_at(&b, &on) / sizeof(float), 0);
    float *ds = device_floats(NULL, pw_cuda_attention_ds(&b, &on), 0);
    DEVICE(pw_cuda_attention_fwd_ref(NULL, to, save, NULL, in, &b, NULL, &on, at));
    DEVICE(
        pw_cuda_attention_bwd_ref(NULL, grad, NULL, NULL, NULL, dz_there, in, save, &b, NULL, &on, at, ds));
    device_expect_bits("z", 9, z, to);
    device_expect_bits("dqkv", 9, dqkv, grad);
    device_expect_bits("d_vectors", 9, d_vectors, there.d_vectors);
    device_expect_bits("d_factors", 9, d_factors, there.d_factors);
    float *all[] = {qkv, dz, vectors, factors, z, dqkv, d_vectors, d_factors, saved};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    device_free();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_heads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
