/* ref_cases_families.c - cases of the operations that only some model families have. */
#include "tests/ops/ref_cases.h"

void ref_case_gate(struct ref_call *r)
{
    int R = ref_pick_rows(&r->s), F = ref_pick_width(&r->s);
    size_t n = (size_t)R * (size_t)F;
    enum pw_act act = (enum pw_act)(ref_next(&r->s) % 5);
    float *pre = ref_input(r, 2 * n, 2.0f), *dy = ref_input(r, n, 1.0f);
    r->ops->gate_fwd(r->c, ref_output(r, n), pre, act, F, R);
    r->ops->gate_bwd(r->c, ref_output(r, 2 * n), dy, pre, act, F, R);
}

void ref_case_heads(struct ref_call *r)
{
    int R = ref_pick_rows(&r->s), K = PICK(&r->s, 1, 2, 3), H = K * PICK(&r->s, 1, 1, 2, 3, 4);
    int D = PICK(&r->s, 1, 2, 15, 16, 17, 34, 64);
    size_t nx = (size_t)(R * (H + 2 * K) * D), nq = (size_t)(R * 3 * H * D), ns = (size_t)(R * (H + K));
    bool normed = ref_next(&r->s) % 2;
    float *x = ref_input(r, nx, 1.5f), *dqkv = ref_input(r, nq, 1.0f);
    float *q_gain = ref_input(r, (size_t)D, 1.0f), *k_gain = ref_input(r, (size_t)D, 1.0f);
    struct pw_heads h = {H, K, D, normed ? q_gain : NULL, normed ? k_gain : NULL, 1e-6f};
    float *stat = normed ? ref_output(r, ns) : NULL;
    float *dq = normed ? ref_output(r, (size_t)D) : NULL, *dk = normed ? ref_output(r, (size_t)D) : NULL;
    r->ops->heads_fwd(r->c, ref_output(r, nq), stat, x, &h, R);
    bool learn = ref_next(&r->s) % 4 != 0;
    r->ops->heads_bwd(r->c, ref_output(r, nx), learn ? dq : NULL, learn ? dk : NULL, dqkv, x, stat, &h, R);
}

/* A limit of y in place, one of two, and its backward pass. */
static void limit(struct ref_call *r, float low, float high,
                  void (*fwd)(struct pw_ctx *c, float *y, float most, size_t n),
                  void (*bwd)(struct pw_ctx *c, float *d, const float *y, float most, size_t n))
{
    size_t n = ref_next(&r->s) % (ref_next(&r->s) % 4 == 0 ? 7000 : 70);
    float most = ref_next(&r->s) % 2 ? low : high;
    float *y = ref_output(r, n), *d = ref_output(r, n);
    fwd(r->c, y, most, n);
    bwd(r->c, d, y, most, n);
}

void ref_case_clip(struct ref_call *r)
{
    limit(r, 0.5f, 2.0f, r->ops->clip_fwd, r->ops->clip_bwd);
}

void ref_case_cap(struct ref_call *r)
{
    limit(r, 1.5f, 30.0f, r->ops->cap_fwd, r->ops->cap_bwd);
}
