/* rotate.c - transform q and k by position: rotary position embedding (Su et al. 2021, Eq. 34), and the gain
 * of q.
 *
 * For interleaved pairs (a,b) the even and the odd lanes are duplicated. Then both outputs are one fmaf(a, C,
 * b*S), with C = cos sin cos sin .. and S = -sin cos -sin cos ... That equals the contract's fmaf(a, cos,
 * -(b*sin)), fmaf(a, sin, b*cos), because negation doesn't round. Several narrow heads are processed at once
 * if all of their entries are rotated, because the heads of a row share its angles. */
#include "kernels/cpu/attention.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/simd.h"

#include <assert.h>
#include <math.h>

static void turn_interleaved(float *y, const float *x, int heads, int D, int n, const float *C,
                             const float *S)
{
    for (int h = 0; h < heads; h++, x += D, y += D)
        for (int i = 0; i < n; i += 16) {
            v16 v = v_load_n(x + i, n - i);
            v16 bs = v_mul(v_dup_odd(v), v_load(S + i));
            v_store_n(y + i, n - i, v_fma(v_dup_even(v), v_load(C + i), bs));
        }
}

/* Heads of width 8 in halves, two at a time: the same with lanes duplicated in groups of four. */
static void turn_eights(float *y, const float *x, int n, const float *C, const float *S)
{
    for (int i = 0; i < n; i += 16) {
        v16 v = v_load_n(x + i, n - i);
        v_store_n(y + i, n - i, v_fma(v_dup_even4(v), v_load(C), v_mul(v_dup_odd4(v), v_load(S))));
    }
}

static void turn_halves(float *y, const float *x, int heads, int D, int n, const float *cosine,
                        const float *sine, float sign)
{
    for (int h = 0; h < heads; h++, x += D, y += D)
        for (int i = 0; i < n; i += 16) {
            v16 a = v_load_n(x + i, n - i), b = v_load_n(x + n + i, n - i);
            v16 co = v_load_n(cosine + i, n - i), si = v_load_n(sine + i, n - i);
            v_store_n(y + i, n - i, v_fma(a, co, v_mul(b, v_mul(v_set(-sign), si))));
            v_store_n(y + n + i, n - i, v_fma(a, v_mul(v_set(sign), si), v_mul(b, co)));
        }
}

/* Rotate the heads of one row of q or k, or of both, by row pos of the tables. C and S: room for the factors
 * of interleaved pairs. */
static void turn_heads(float *y, const float *x, const struct pw_turn *t, int pos, float sign, int heads,
                       int D, float *C, float *S)
{
    int pairs = t->pairs, width = D;
    const float *co = t->cosine + (size_t)pos * (size_t)pairs, *si = t->sine + (size_t)pos * (size_t)pairs;
    if (t->pairing == PW_PAIRING_HALF && D == 8 && pairs == 4) {
        for (int i = 0; i < 16; i++) {
            C[i] = i & 4 ? sign * si[i & 3] : co[i & 3];
            S[i] = i & 4 ? co[i & 3] : -sign * si[i & 3];
        }
        turn_eights(y, x, heads * D, C, S);
        return;
    }
    if (t->pairing == PW_PAIRING_HALF) {
        turn_halves(y, x, heads, D, pairs, co, si, sign);
        return;
    }
    if (2 * pairs == D && D < 16 && 16 % D == 0 && heads * D % 16 == 0) {
        heads = heads * D / 16;
        width = 16;
    }
    int n = width == D ? 2 * pairs : width; /* rotated entries of a head */
    for (int i = 0, p = 0; i < n; i += 2, p = p + 1 < pairs ? p + 1 : 0) {
        C[i] = co[p];
        C[i + 1] = sign * si[p];
        S[i] = -C[i + 1];
        S[i + 1] = co[p];
    }
    turn_interleaved(y, x, heads, width, n, C, S);
}

/* Rotate the heads of q and k of one row by its angles. */
static void turn_row(float *y, const float *x, const struct pw_turn *t, int pos, float sign, int H, int D,
                     float *C, float *S)
{
    if (t->keys_at == 0) {
        turn_heads(y, x, t, pos, sign, 2 * H, D, C, S);
        return;
    }
    turn_heads(y, x, t, pos, sign, H, D, C, S);
    turn_heads(y + H * D, x + H * D, t, pos + t->keys_at, sign, H, D, C, S);
}

static void multiply(float *y, int n, float by)
{
    for (int i = 0; i < n; i += 16)
        v_store_n(y + i, n - i, v_mul(v_load_n(y + i, n - i), v_set(by)));
}

/* Multiply the queries of one row by their gain. */
static void scale_queries(float *y, const struct pw_turn *t, int pos, int H, int D)
{
    if (t->gain_head == 0)
        multiply(y, H * D, t->gain[pos]);
    for (int h = 0; t->gain_head > 0 && h < H; h++)
        multiply(y + h * D, D, t->gain[(size_t)h * (size_t)t->gain_head + (size_t)pos]);
}

/* y [R,3HD] = x with q and k transformed, or with the transformation undone if `back`. y may be x, and must
 * be if `back`. If y is not x, its v is not written. */
static void turn(float *y, const float *x, const struct pw_turn *t, const int *pos, bool back, int H, int D,
                 int R, float *angles)
{
    size_t floats = pw_angles_floats(t), row = 3 * (size_t)(H * D);
    memset(angles, 0, floats * sizeof *angles);
    for (int r = 0; r < R; r++, x += row, y += row) {
        if (y != x && 2 * t->pairs < D)
            memcpy(y, x, 2 * (size_t)(H * D) * sizeof *y);
        if (back && t->gain != NULL)
            scale_queries(y, t, pos[r], H, D);
        if (t->pairs > 0)
            turn_row(y, x, t, pos[r], back ? -1.0f : 1.0f, H, D, angles, angles + floats / 2);
        if (!back && t->gain != NULL)
            scale_queries(y, t, pos[r], H, D);
    }
}

void PW_OP(rotate)(struct pw_ctx *c, float *qkv, const struct pw_turn *t, const int *pos, int H, int D, int R)
{
    turn(qkv, qkv, t, pos, false, H, D, R, pw_ctx_scratch(c, pw_angles_floats(t)));
}

const float *PW_OP(turned)(float *room, const float *rows, const struct pw_attn *a, const int *pos, int first,
                           int R)
{
    if (a->turn == NULL)
        return rows;
    assert(a->keys == NULL);
    float *to = room + pw_angles_floats(a->turn);
    turn(to, rows, a->turn, pos + first, false, a->heads, a->head_width, R, room);
    return to;
}

/* ---- gradients of learned tables */

/* One row of queries: dq and q [HD], q rotated. */
static void add_gains(float *d_gain, const float *dq, const float *q, const struct pw_turn *t, int pos, int H,
                      int D)
{
    for (int h = 0; h < H; h++, dq += D, q += D) {
        v16 sum = v_zero();
        for (int i = 0; i < D; i += 16)
            sum = v_fma(v_load_n(dq + i, D - i), v_load_n(q + i, D - i), sum);
        d_gain[(size_t)h * (size_t)t->gain_head + (size_t)pos] += v_tree(sum);
    }
}

/* Heads of one row of q or k, or of both: d is the gradient of the rotated x. */
static void add_angles(float *d_cosine, float *d_sine, const float *d, const float *x,
                       const struct pw_turn *t, int heads, int D)
{
    bool half = t->pairing == PW_PAIRING_HALF;
    int step = half ? 1 : 2, apart = half ? t->pairs : 1;
    for (int i = 0; i < t->pairs; i++) {
        float cosine = 0, sine = 0;
        for (int h = 0, at = i * step; h < heads; h++, at += D) {
            float a = x[at], b = x[at + apart], da = d[at], db = d[at + apart];
            cosine = fmaf(db, b, fmaf(da, a, cosine));
            sine = fmaf(-da, b, fmaf(db, a, sine));
        }
        d_cosine[i] += cosine;
        d_sine[i] += sine;
    }
}

void PW_OP(turn_bwd)(struct pw_ctx *c, float *dqkv, const struct pw_turn_grad *d, const float *qkv,
                     const struct pw_turn *t, const int *pos, int H, int D, int R)
{
    size_t floats = pw_angles_floats(t), row = 3 * (size_t)(H * D);
    float *angles = pw_ctx_scratch(c, floats + row), *turned = angles + floats;
    struct pw_turn rotation = *t;
    rotation.gain = NULL;
    for (int r = 0; r < R; r++, dqkv += row, qkv += row) {
        size_t at = (size_t)pos[r] * (size_t)t->pairs;
        if (d->gain != NULL) {
            turn(turned, qkv, &rotation, pos + r, false, H, D, 1, angles);
            add_gains(d->gain, dqkv, turned, t, pos[r], H, D);
        }
        if (t->gain != NULL)
            scale_queries(dqkv, t, pos[r], H, D);
        if (d->cosine != NULL)
            add_angles(d->cosine + at, d->sine + at, dqkv, qkv, t, t->keys_at > 0 ? H : 2 * H, D);
        at += (size_t)t->keys_at * (size_t)t->pairs;
        if (d->cosine != NULL && t->keys_at > 0)
            add_angles(d->cosine + at, d->sine + at, dqkv + H * D, qkv + H * D, t, H, D);
        turn(dqkv, dqkv, &rotation, pos + r, true, H, D, 1, angles);
    }
}

void PW_OP(turn_back)(float *rows, const struct pw_attn *a, const int *pos, int first, int R, float *room)
{
    if (a->turn != NULL && !a->turn->learned)
        turn(rows, rows, a->turn, pos + first, true, a->heads, a->head_width, R, room);
}
