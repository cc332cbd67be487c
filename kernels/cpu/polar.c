/* polar.c - wide q and k (kernels/backend.h): every entry is the length of a vector in a plane of its own,
 * whose angle is that of the row's position.
 *
 * The cosine of an angle with a phase comes from those of both (addition theorem), so a row needs no
 * elementary function of an angle. The phases are few: one for each entry of a head. */
#include "base/maths.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/softplus.h"

#define LEAST -6.28318531f /* -2 pi */

static bool is_limited(float phase)
{
    return phase < LEAST || phase > 0.0f;
}

/* Cosines and sines of the phases [HD], one after the other. */
static void turn_phases(float *cosine, float *sine, const struct pw_polar *p)
{
    for (int i = 0; i < p->heads * p->head_width; i++) {
        float phase = p->phase[i] < LEAST ? LEAST : p->phase[i] > 0.0f ? 0.0f : p->phase[i];
        cosine[i] = (float)pw_cos((double)phase);
        sine[i] = (float)pw_sin((double)phase);
    }
}

/* Sixteen cosines and sines of one row of a head: those of its position, and of the phase unless cp is NULL.
 */
struct angle {
    v16 co, si;
};
V_INLINE struct angle angle_of(const float *co, const float *si, const float *cp, const float *sp, int left)
{
    struct angle a = {v_load_n(co, left), v_load_n(si, left)};
    if (cp == NULL)
        return a;
    v16 c = v_load_n(cp, left), s = v_load_n(sp, left);
    v16 minus = v_sub(v_zero(), v_mul(a.si, s));
    return (struct angle){v_fma(a.co, c, minus), v_fma(a.si, c, v_mul(a.co, s))};
}

static void lengths(float *y, const float *qkv, int HD, int R)
{
    for (int r = 0; r < R; r++, qkv += 3 * HD, y += 2 * HD)
        for (int i = 0; i < 2 * HD; i += 16)
            v_store_n(y + i, 2 * HD - i, v_softplus(v_load_n(qkv + i, 2 * HD - i)));
}

void PW_OP(polar_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_polar *p, const int *pos,
                      int R)
{
    int H = p->heads, D = p->head_width, HD = H * D;
    if (p->cosine == NULL) {
        lengths(y, qkv, HD, R);
        return;
    }
    float *cp = pw_ctx_scratch(c, 2 * (size_t)HD), *sp = cp + HD;
    turn_phases(cp, sp, p);
    for (int r = 0; r < R; r++, qkv += HD) {
        const float *co = p->cosine + (size_t)pos[r] * (size_t)D, *si = p->sine + (size_t)pos[r] * (size_t)D;
        for (int k = 0; k < 2 * H; k++, qkv += D, y += 2 * D)
            for (int i = 0; i < D; i += 16) {
                int left = D - i, at = (k - H) * D + i;
                struct angle a =
                    angle_of(co + i, si + i, k < H ? NULL : cp + at, k < H ? NULL : sp + at, left);
                v16 m = v_softplus(v_load_n(qkv + i, left));
                v_store_n(y + i, left, v_mul(m, a.co));
                v_store_n(y + D + i, left, v_mul(m, a.si));
            }
    }
}

void PW_OP(polar_bwd)(struct pw_ctx *c, float *dqkv, float *d_phase, const float *dy, const float *qkv,
                      const struct pw_polar *p, const int *pos, int R)
{
    int H = p->heads, D = p->head_width, HD = H * D;
    float *cp = pw_ctx_scratch(c, 3 * (size_t)HD), *sp = cp + HD, *open = sp + HD;
    turn_phases(cp, sp, p);
    for (int i = 0; i < HD; i++)
        open[i] = is_limited(p->phase[i]) ? 0.0f : 1.0f;
    for (int r = 0; r < R; r++, qkv += HD, dqkv += HD) {
        const float *co = p->cosine + (size_t)pos[r] * (size_t)D, *si = p->sine + (size_t)pos[r] * (size_t)D;
        for (int k = 0; k < 2 * H; k++, qkv += D, dqkv += D, dy += 2 * D)
            for (int i = 0; i < D; i += 16) {
                int left = D - i, at = (k - H) * D + i;
                struct angle t =
                    angle_of(co + i, si + i, k < H ? NULL : cp + at, k < H ? NULL : sp + at, left);
                v16 x = v_load_n(qkv + i, left), a = v_load_n(dy + i, left), b = v_load_n(dy + D + i, left);
                v16 rise, minus;
                v_sigmoid(x, &rise, &minus);
                v_store_n(dqkv + i, left, v_mul(v_fma(a, t.co, v_mul(b, t.si)), rise));
                if (k < H)
                    continue;
                v16 turn = v_fma(b, t.co, v_sub(v_zero(), v_mul(a, t.si))),
                    old = v_load_n(d_phase + at, left);
                v16 sum = v_fma(v_softplus(x), turn, old);
                m16 learns = v_less(v_zero(), v_load_n(open + at, left));
                v_store_n(d_phase + at, left, v_select(learns, sum, old));
            }
    }
}
