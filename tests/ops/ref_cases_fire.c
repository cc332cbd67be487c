/* ref_cases_fire.c - cases of FIRE: forward and backward, with thresholds below, among and above the
 * positions. */
#include "tests/ops/ref_cases.h"

void ref_case_fire(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8), P = PICK(&r->s, 1, 2, 15, 16, 17, 33, 40), L = PICK(&r->s, 1, 2, 3);
    struct pw_fire f = {.hidden = PICK(&r->s, 1, 5, 16, 32, 33),
                        .threshold = (float)PICK(&r->s, 0, 3, 11, 60),
                        .from = (float)PICK(&r->s, 0, 0, 7),
                        .step = PICK(&r->s, 0, 1) ? 1.0f : 0.3f,
                        .causal = ref_next(&r->s) % 4 != 0};
    size_t n = pw_fire_floats(f.hidden, H), all = (size_t)H * (size_t)(P * P);
    float *param = ref_input(r, n, 0.7f), *d_bias = ref_input(r, (size_t)L * all, 0.1f);
    float *bias = ref_output(r, all), *d_param = ref_output(r, n);
    r->ops->fire_fwd(r->c, bias, param, &f, H, P);
    r->ops->fire_bwd(r->c, d_param, d_bias, param, &f, L, H, P);
}
