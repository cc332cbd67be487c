/* ref_rotate.c - reference for bits: the operations on q and k that depend on position. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ref_turn(float *qkv, const struct pw_turn *t, const int *pos, bool back, int H, int D, int R)
{
    bool half = t->pairing == PW_PAIRING_HALF;
    int da = half ? 1 : 2, db = half ? t->pairs : 1;
    for (int r = 0; r < R; r++, qkv += 3 * H * D) {
        for (int i = 0; i < H * D && back && t->gain != NULL; i++)
            qkv[i] *= t->gain[i / D * t->gain_head + pos[r]];
        for (int h = 0; h < 2 * H; h++) /* the heads of q, then those of k */
            for (int i = 0; i < t->pairs; i++) {
                size_t row = (size_t)(pos[r] + (h < H ? 0 : t->keys_at)),
                       e = row * (size_t)t->pairs + (size_t)i;
                float co = t->cosine[e], si = t->sine[e];
                float *a = qkv + h * D + i * da, *b = a + db, x = *a, y = *b;
                if (back)
                    si = -si;
                *a = fmaf(x, co, -(y * si));
                *b = fmaf(x, si, y * co);
            }
        for (int i = 0; i < H * D && !back && t->gain != NULL; i++)
            qkv[i] *= t->gain[i / D * t->gain_head + pos[r]];
    }
}

void PW_OP(rotate)(struct pw_ctx *c, float *qkv, const struct pw_turn *t, const int *pos, int H, int D, int R)
{
    (void)c;
    ref_turn(qkv, t, pos, false, H, D, R);
}

void PW_OP(turn_bwd)(struct pw_ctx *c, float *dqkv, const struct pw_turn_grad *d, const float *qkv,
                     const struct pw_turn *t, const int *pos, int H, int D, int R)
{
    bool half = t->pairing == PW_PAIRING_HALF;
    int to_a = half ? 1 : 2, to_b = half ? t->pairs : 1;
    struct pw_turn angles = *t;
    float *turned = malloc((3 * (size_t)(H * D) + 1) * sizeof *turned);
    (void)c;
    angles.gain = NULL;
    for (int r = 0; r < R; r++, dqkv += 3 * H * D, qkv += 3 * H * D) {
        memcpy(turned, qkv, 3 * (size_t)(H * D) * sizeof *turned);
        ref_turn(turned, &angles, pos + r, false, H, D, 1);
        for (int h = 0; h < H && d->gain != NULL; h++) {
            float lanes[16] = {0};
            for (int i = 0; i < D; i++)
                lanes[i % 16] = fmaf(dqkv[h * D + i], turned[h * D + i], lanes[i % 16]);
            d->gain[h * t->gain_head + pos[r]] += plain_tree(lanes);
        }
        for (int i = 0; i < H * D && t->gain != NULL; i++)
            dqkv[i] *= t->gain[i / D * t->gain_head + pos[r]];
        int parts = t->keys_at > 0 ? 2 : 1;
        for (int n = 0; n < parts * t->pairs && d->cosine != NULL; n++) {
            int i = n % t->pairs, part = n / t->pairs;
            float cosine = 0, sine = 0;
            for (int h = part * H; h < (parts == 1 ? 2 * H : (part + 1) * H); h++) {
                int a = h * D + i * to_a, b = a + to_b;
                cosine = fmaf(dqkv[a], qkv[a], cosine);
                cosine = fmaf(dqkv[b], qkv[b], cosine);
                sine = fmaf(dqkv[b], qkv[a], sine);
                sine = fmaf(-dqkv[a], qkv[b], sine);
            }
            d->cosine[(pos[r] + part * t->keys_at) * t->pairs + i] += cosine;
            d->sine[(pos[r] + part * t->keys_at) * t->pairs + i] += sine;
        }
        ref_turn(dqkv, &angles, pos + r, true, H, D, 1);
    }
    free(turned);
}

float *ref_turned(const float *qkv, const struct pw_attn *a, const int *pos, int R)
{
    size_t n = 3 * (size_t)R * (size_t)(a->heads * a->head_width);
    float *to = malloc((n + 1) * sizeof *to);
    memcpy(to, qkv, n * sizeof *to);
    if (a->turn != NULL)
        ref_turn(to, a->turn, pos, false, a->heads, a->head_width, R);
    return to;
}
