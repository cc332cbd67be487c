/* expr_values.cu - the values of a formula's slots. A thread computes all slots of one place, of all heads.
 */
#include "kernels/cuda/expr_program.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"
#include "kernels/expr_maths.h"

__device__ double position_of(const struct pw_program &p, const struct pw_spot &x)
{
    int first = p.pass == PW_PASS_DISTANCE && !p.causal ? x.at - (p.P - 1) : x.at;
    return (p.pass == PW_PASS_DISTANCE && p.head == 0 ? 0 : (double)p.from) + first * (double)p.step;
}

__device__ double network_value(const struct pw_program &p, const struct pw_expr_slot *slots,
                                const struct pw_expr_slot &s, const struct pw_spot &x)
{
    const float *w = p.param + pw_dev_float(p, s.param + 2, x.h);
    double sum = (double)p.param[pw_dev_float(p, s.param + 3, x.h)];
    for (int k = 0; k < s.size; k++)
        sum = fma((double)w[k], *pw_dev_unit_cell(p, p.hidden, slots[s.arg[0]], x, k), sum);
    return sum;
}

__device__ void hidden_values(const struct pw_program &p, const struct pw_expr_slot &s,
                              const struct pw_spot &x, double in)
{
    const float *w = p.param + pw_dev_float(p, s.param, x.h),
                *b = p.param + pw_dev_float(p, s.param + 1, x.h);
    for (int k = 0; k < s.size; k++) {
        double pre = fma((double)w[k], in, (double)b[k]);
        *pw_dev_unit_cell(p, p.hidden, s, x, k) = 0 > pre ? 0 : pre;
    }
}

__device__ double slot_value(const struct pw_program &p, const struct pw_expr_slot *slots,
                             const struct pw_expr_slot &s, const struct pw_spot &x)
{
    double a[3] = {0, 0, 0}, share;
    for (int k = 0; k < 3; k++)
        if (s.arg[k] >= 0 && s.op != PW_X_OUT)
            a[k] = *pw_dev_cell(p, p.value, slots[s.arg[k]], x);
    switch (s.op) {
    case PW_X_NUMBER: return s.value;
    case PW_X_HEAD: return x.h;
    case PW_X_LAYER: return p.layer;
    case PW_X_AT: return position_of(p, x);
    case PW_X_COUNT: return x.at + 1;
    case PW_X_IMPORT: return p.units[s.from][pw_dev_import(p, s, x)];
    case PW_X_PARAM: return (double)p.param[pw_dev_float(p, s.param, x.h)];
    case PW_X_ENTRY:
    case PW_X_BETWEEN: {
        const float *t = p.param + pw_dev_float(p, s.param, x.h);
        int low = pw_f_entry(a[0], s.size, s.op == PW_X_BETWEEN, &share);
        double below = (double)t[low];
        return share > 0 ? below + share * ((double)t[low + 1] - below) : below;
    }
    case PW_X_BUCKET: return s.from + pw_f_reached(pw_expr_data(p.code) + s.param, s.size, a[0]);
    case PW_X_SLOPE: return pw_expr_data(p.code)[s.param + pw_f_entry(a[0], s.size, false, &share)];
    case PW_X_SELECT: return a[0] != 0 ? a[1] : a[2];
    case PW_X_HIDDEN: hidden_values(p, s, x, a[0]); return 0;
    case PW_X_OUT: return network_value(p, slots, s, x);
    case PW_X_CALL: return pw_f_value((enum pw_expr_function)s.from, a[0], a[1], a[2]);
    }
    return 0;
}

__device__ void compute_slots(const struct pw_program &p, const struct pw_spot &x, int from, int to)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    for (int k = from; k < to; k++) {
        const struct pw_expr_slot &s = slots[k];
        double y = slot_value(p, slots, s, x);
        *pw_dev_cell(p, p.value, s, x) = y;
        if (s.unit >= 0 && s.op != PW_X_IMPORT)
            p.units[p.pass][pw_dev_export(p, s, x)] = y;
    }
}

static __global__ void compute_places(struct pw_program p, float *bias)
{
    struct pw_spot x;
    if (!pw_dev_spot_of(p, pw_dev_thread(), &x))
        return;
    const struct pw_expr_span &span = p.code->pass[p.pass];
    compute_slots(p, x, 0, span.shared);
    for (x.h = 0; x.h < p.H; x.h++) {
        compute_slots(p, x, span.shared, span.n);
        if (bias != NULL)
            bias[pw_dev_bias_at(p, x)] =
                (float)*pw_dev_cell(p, p.value, pw_expr_slots(p.code, p.pass)[p.code->root], x);
    }
}

cudaError_t pw_cuda_expr_values(cudaStream_t s, const struct pw_program &p, float *bias)
{
    return PW_LAUNCH(compute_places, dim3(pw_blocks(p.places, PW_THREADS)), dim3(PW_THREADS), 0, s, p, bias);
}
