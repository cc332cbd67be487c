/* ref_attend.c - calls of attention on host and device: shapes, inputs, and comparison of outputs. */
#include "tests/cuda/ref_attend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { P = ATTEND_TABLE };

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
    k.ids = (enum attend_ids)(ref_next(&s) % 3);
    k.rate = ref_next(&s) % 3 == 0 ? 0.2f : 0.0f;
    k.skew = ref_next(&s) % 4 == 0;
    k.slack = PICK(&s, 0, 0, 5, 64);
    k.reach = PICK(&s, 0, 0, 0, 1, 6, 17, 100);
    bool turns = k.reach == 0 && k.width > 1 && ref_next(&s) % 3 > 0, whole = ref_next(&s) % 2;
    if (turns)
        k.pairs = whole ? k.width / 2 : 1 + (int)(ref_next(&s) % (uint64_t)(k.width / 2));
    k.half = ref_next(&s) % 2;
    k.gain = k.reach == 0 && ref_next(&s) % 3 == 0;
    k.dense = ref_next(&s) % 2;
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

/* Copies n values of four bytes to the device. */
static void *words(const void *from, size_t n)
{
    return device_floats(from, n, 0);
}

static void to_device(struct attend *k, size_t skew)
{
    struct attend_side *d = &k->device, *h = &k->host;
    *d = *h;
    d->qkv = device_floats(h->qkv, k->n_qkv, skew);
    d->dz = device_floats(h->dz, k->n_z, skew);
    d->z = device_floats(h->z, k->n_z, skew);
    d->probs = device_floats(h->probs, k->n_maps, skew);
    d->scores = device_floats(h->scores, k->n_maps, skew);
    d->dqkv = device_floats(h->dqkv, k->n_qkv, skew);
    d->bias = device_floats(h->bias, k->n_bias, skew);
    d->d_bias = device_floats(h->d_bias, k->n_bias, skew);
    d->keys = device_floats(h->keys, k->n_keys, skew);
    d->d_keys = device_floats(h->d_keys, k->n_keys, skew);
    d->cosine = device_floats(h->cosine, k->n_angles, skew);
    d->sine = device_floats(h->sine, k->n_angles, skew);
    d->turn.cosine = d->cosine;
    d->turn.sine = d->sine;
    d->gain = device_floats(h->gain, (size_t)h->a.heads * P, skew);
    d->turn.gain = h->turn.gain != NULL ? d->gain : NULL;
    d->a.turn = h->a.turn != NULL ? &d->turn : NULL;
    d->pos = h->pos != NULL ? words(h->pos, (size_t)h->seqs.rows) : NULL;
    d->start = words(h->start, (size_t)h->seqs.n + 1);
    d->key = words(h->key, 2);
    d->a.bias = h->a.bias != NULL ? d->bias : NULL;
    d->a.keys = h->a.keys != NULL ? d->keys : NULL;
    d->seqs.start = d->start;
    d->drop.key = d->key;
    d->a.drop = h->a.drop != NULL ? &d->drop : NULL;
}

static float *draw_input(uint64_t *s, size_t n, bool bf16)
{
    float *p = ref_random(s, n, 1.0f);
    for (size_t i = 0; bf16 && i < n; i++) {
        uint32_t bits;
        memcpy(&bits, p + i, sizeof bits);
        bits &= 0xffff0000u;
        memcpy(p + i, &bits, sizeof bits);
    }
    return p;
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
    h->seqs = (struct pw_seqs){n, h->start, h->start[n], longest + shape->slack};
    k->n_z = (size_t)h->seqs.rows * (size_t)H * (size_t)D;
    k->n_qkv = 3 * k->n_z;
    k->n_bias = (size_t)H * pw_bias_entries(shape->dense, P);
    int *pos = draw_ids(&s, shape, h->start, n);
    if (shape->bias || shape->reach > 0 || shape->pairs > 0 || shape->gain)
        h->pos = pos;
    else
        free(pos);
    h->qkv = draw_input(&s, k->n_qkv, shape->bf16);
    h->dz = draw_input(&s, k->n_z, shape->bf16);
    h->z = ref_random(&s, k->n_z, 1.0f);
    h->probs = ref_random(&s, k->n_maps, 1.0f);
    h->scores = ref_random(&s, k->n_maps, 1.0f);
    h->dqkv = ref_random(&s, k->n_qkv, 1.0f);
    h->bias = ref_random(&s, k->n_bias, 1.0f);
    h->d_bias = ref_random(&s, k->n_bias, 1.0f);
    h->key[0] = (uint32_t)ref_next(&s);
    h->key[1] = (uint32_t)ref_next(&s);
    h->drop = (struct pw_dropout){h->key, 17, 1000, shape->rate};
    h->a = (struct pw_attn){.heads = H,
                            .head_width = D,
                            .scale = 1.0f / sqrtf((float)D),
                            .causal = shape->causal,
                            .table = P,
                            .dense = shape->dense};
    h->a.bias = shape->bias ? h->bias : NULL;
    h->a.drop = shape->rate > 0 ? &h->drop : NULL;
    h->a.reach = shape->reach;
    k->n_keys = (size_t)(pw_key_rows(&h->a) * D);
    h->keys = draw_input(&s, k->n_keys, shape->bf16);
    h->d_keys = ref_random(&s, k->n_keys, 1.0f);
    h->a.keys = shape->reach > 0 ? h->keys : NULL;
    k->n_angles = P * (size_t)shape->pairs;
    h->cosine = ref_random(&s, k->n_angles, 1.0f);
    h->sine = ref_random(&s, k->n_angles, 1.0f);
    for (size_t i = 0; i < k->n_angles; i++) {
        float angle = 3.0f * h->cosine[i];
        h->cosine[i] = cosf(angle);
        h->sine[i] = sinf(angle);
    }
    h->gain = ref_random(&s, (size_t)shape->heads * P, 2.0f);
    h->turn = (struct pw_turn){h->cosine,
                               h->sine,
                               0,
                               shape->pairs,
                               shape->half ? PW_PAIRING_HALF : PW_PAIRING_INTERLEAVED,
                               shape->gain ? h->gain : NULL,
                               shape->heads % 2 == 1 ? (int)P : 0,
                               false};
    h->a.turn = shape->pairs > 0 || shape->gain ? &h->turn : NULL;
    to_device(k, shape->skew);
}

void attend_fini(struct attend *k)
{
    struct attend_side *h = &k->host;
    void *all[] = {h->start, h->key,  h->pos,    h->qkv,  h->dz,     h->z,      h->probs, h->scores,
                   h->dqkv,  h->bias, h->d_bias, h->keys, h->d_keys, h->cosine, h->sine,  h->gain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    device_free();
}
