/* ref_attend.c - calls of attention on both sides: shapes, inputs, and what is compared. */
#include "tests/cuda/ref_attend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { GUARD = 64, MOST = 64, P = ATTEND_TABLE };
#define GUARD_BYTE 0x5a

static void *arrays[MOST]; /* of the device */
static int n_arrays;

void *attend_device(const void *from, size_t bytes)
{
    char guard[GUARD];
    char *p = NULL;
    assert_true(n_arrays < MOST);
    ATTEND(cudaMalloc((void **)&p, bytes + GUARD));
    arrays[n_arrays++] = p;
    memset(guard, GUARD_BYTE, GUARD);
    if (from != NULL && bytes > 0)
        ATTEND(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
    ATTEND(cudaMemcpy(p + bytes, guard, GUARD, cudaMemcpyHostToDevice));
    return p;
}

void attend_download(void *to, const void *device, size_t bytes)
{
    char guard[GUARD];
    if (bytes > 0)
        ATTEND(cudaMemcpy(to, device, bytes, cudaMemcpyDeviceToHost));
    ATTEND(cudaMemcpy(guard, (const char *)device + bytes, GUARD, cudaMemcpyDeviceToHost));
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != GUARD_BYTE)
            fail_msg("byte %d behind an output of %zu was written", i, bytes);
}

static int pick(uint64_t *s, const int *list, size_t n)
{
    return list[ref_next(s) % n];
}
#define PICK(s, ...) pick(s, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

struct attend_shape attend_draw(uint64_t seed)
{
    uint64_t s = seed * 0x9E3779B97F4A7C15ULL + 1;
    struct attend_shape k = {.heads = PICK(&s, 1, 2, 3), .width = PICK(&s, 1, 5, 16, 24, 33, 64, 80, 128)};
    for (int i = 0; i < 3; i++)
        k.lengths[i] = PICK(&s, 1, 2, 7, 16, 17, 31, 33, 48, 65, 70);
    k.causal = ref_next(&s) % 3 != 0;
    k.bias = ref_next(&s) % 2;
    k.ids = ref_next(&s) % 3;
    k.rate = ref_next(&s) % 3 == 0 ? 0.2f : 0.0f;
    return k;
}

static int *draw_ids(uint64_t *s, const struct attend_shape *shape, const int *start, int n)
{
    int *pos = malloc(((size_t)start[n] + 1) * sizeof *pos);
    assert_non_null(pos);
    for (int i = 0; i < n; i++) {
        int T = start[i + 1] - start[i];
        bool room = P > T + 8; /* for gaps */
        for (int r = 0; r < T; r++) {
            int *p = pos + start[i] + r, before = r > 0 ? p[-1] : i;
            bool gap = room && shape->ids == ATTEND_GAPS && before + 2 + T - r < P && ref_next(s) % 4 == 0;
            *p = shape->ids == ATTEND_ANY ? (int)(ref_next(s) % P) : before + (r > 0) + gap;
        }
    }
    return pos;
}

static void to_device(struct attend *k)
{
    struct attend_side *d = &k->device, *h = &k->host;
    *d = *h;
    d->qkv = attend_device(h->qkv, k->n_qkv * sizeof(float));
    d->dz = attend_device(h->dz, k->n_z * sizeof(float));
    d->z = attend_device(h->z, k->n_z * sizeof(float));
    d->probs = attend_device(h->probs, k->n_maps * sizeof(float));
    d->scores = attend_device(h->scores, k->n_maps * sizeof(float));
    d->dqkv = attend_device(h->dqkv, k->n_qkv * sizeof(float));
    d->d_bias = attend_device(h->d_bias, k->n_bias * sizeof(float));
    d->pos = attend_device(h->pos, (size_t)h->seqs.rows * sizeof(int));
    d->start = attend_device(h->start, (size_t)(h->seqs.n + 1) * sizeof(int));
    d->key = attend_device(h->key, 2 * sizeof(uint32_t));
    d->bias = attend_device(h->bias, k->n_bias * sizeof(float));
    d->a.bias = h->a.bias != NULL ? d->bias : NULL;
    d->seqs.start = d->start;
    d->drop.key = d->key;
    d->a.drop = h->a.drop != NULL ? &d->drop : NULL;
}

void attend_init(struct attend *k, const struct attend_shape *shape, uint64_t seed)
{
    uint64_t s = seed * 0xD1B54A32D192ED03ULL + 1;
    struct attend_side *h = &k->host;
    int H = shape->heads, D = shape->width, n = 0, longest = 0;
    *k = (struct attend){0};
    h->start = calloc(5, sizeof *h->start);
    h->key = calloc(2, sizeof *h->key);
    assert_true(h->start != NULL && h->key != NULL);
    for (; n < 4 && shape->lengths[n] > 0; n++) {
        int T = shape->lengths[n];
        h->start[n + 1] = h->start[n] + T;
        k->n_maps += (size_t)H * (size_t)T * (size_t)T;
        longest = T > longest ? T : longest;
    }
    h->seqs = (struct pw_seqs){n, h->start, h->start[n], longest};
    k->n_z = (size_t)h->seqs.rows * (size_t)H * (size_t)D;
    k->n_qkv = 3 * k->n_z;
    k->n_bias = (size_t)H * (2 * P - 1);
    h->pos = draw_ids(&s, shape, h->start, n);
    h->qkv = ref_random(&s, k->n_qkv, 1.0f);
    h->dz = ref_random(&s, k->n_z, 1.0f);
    h->z = ref_random(&s, k->n_z, 1.0f);
    h->probs = ref_random(&s, k->n_maps, 1.0f);
    h->scores = ref_random(&s, k->n_maps, 1.0f);
    h->dqkv = ref_random(&s, k->n_qkv, 1.0f);
    h->bias = ref_random(&s, k->n_bias, 1.0f);
    h->d_bias = ref_random(&s, k->n_bias, 1.0f);
    h->key[0] = (uint32_t)ref_next(&s);
    h->key[1] = (uint32_t)ref_next(&s);
    h->drop = (struct pw_dropout){h->key, 17, 1000, shape->rate};
    h->a = (struct pw_attn){H,
                            D,
                            1.0f / sqrtf((float)D),
                            shape->causal,
                            shape->bias ? h->bias : NULL,
                            P,
                            shape->rate > 0 ? &h->drop : NULL};
    to_device(k);
}

void attend_fini(struct attend *k)
{
    struct attend_side *h = &k->host;
    void *all[] = {h->start, h->key,    h->pos,  h->qkv,  h->dz,    h->z,
                   h->probs, h->scores, h->dqkv, h->bias, h->d_bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    while (n_arrays > 0)
        ATTEND(cudaFree(arrays[--n_arrays]));
}

void attend_expect_bits(const char *what, uint64_t seed, const float *want, const float *device, size_t n)
{
    float *got = malloc((n + 1) * sizeof *got);
    assert_non_null(got);
    attend_download(got, device, n * sizeof *got);
    for (size_t i = 0; i < n; i++)
        if (memcmp(got + i, want + i, sizeof *got) != 0)
            fail_msg("%s, seed %d: output %zu of %zu is %a, should be %a", what, (int)seed, i, n,
                     (double)got[i], (double)want[i]);
    free(got);
}

void attend_expect_near(const char *what, uint64_t seed, const float *want, const float *device, size_t n,
                        double tolerance)
{
    float *got = malloc((n + 1) * sizeof *got);
    assert_non_null(got);
    attend_download(got, device, n * sizeof *got);
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance * (1 + fabs((double)want[i]))))
            fail_msg("%s, seed %d: output %zu of %zu is %.9g, should be %.9g", what, (int)seed, i, n,
                     (double)got[i], (double)want[i]);
    free(got);
}
