/* expr_adjoints.cu - the adjoints of a formula's slots. A thread sweeps back over all slots of one place, of
 * all heads. */
#include "kernels/cuda/expr_program.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"
#include "kernels/expr_maths.h"

__device__ void seed_slots(const struct pw_program &p, const struct pw_spot &x, int from, int to)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    for (int k = from; k < to; k++) {
        const struct pw_expr_slot &s = slots[k];
        bool exported = s.unit >= 0 && s.op != PW_X_IMPORT;
        if (!s.learns)
            continue;
        *pw_dev_cell(p, p.adjoint, s, x) = exported ? p.d_units[p.pass][pw_dev_export(p, s, x)] : 0;
        for (int u = 0; s.op == PW_X_HIDDEN && u < s.size; u++)
            *pw_dev_unit_cell(p, p.d_hidden, s, x, u) = 0;
    }
}

__device__ void give_arguments(const struct pw_program &p, const struct pw_expr_slot *slots,
                               const struct pw_expr_slot &s, const struct pw_spot &x, double g)
{
    double a[3] = {0, 0, 0}, slope[3] = {0, 0, 0}, share;
    if (g == 0)
        return;
    for (int k = 0; k < 3; k++)
        if (s.arg[k] >= 0)
            a[k] = *pw_dev_cell(p, p.value, slots[s.arg[k]], x);
    if (s.op == PW_X_SELECT) {
        slope[a[0] != 0 ? 1 : 2] = 1;
    } else if (s.op == PW_X_BETWEEN) {
        const float *t = p.param + pw_dev_float(p, s.param, x.h);
        int low = pw_f_entry(a[0], s.size, true, &share);
        slope[0] = a[0] > 0 && low + 1 < s.size ? (double)t[low + 1] - (double)t[low] : 0;
    } else if (s.op == PW_X_CALL) {
        pw_f_slopes((enum pw_expr_function)s.from, a[0], a[1], a[2], *pw_dev_cell(p, p.value, s, x), slope);
    }
    for (int k = 0; k < 3; k++)
        if (s.arg[k] >= 0 && slots[s.arg[k]].learns)
            *pw_dev_cell(p, p.adjoint, slots[s.arg[k]], x) += pw_f_product(g, slope[k]);
}

__device__ void give_units(const struct pw_program &p, const struct pw_expr_slot *slots,
                           const struct pw_expr_slot &s, const struct pw_spot &x, double g)
{
    const float *w = p.param + pw_dev_float(p, s.param + 2, x.h);
    for (int k = 0; k < s.size; k++) {
        double *d = pw_dev_unit_cell(p, p.d_hidden, slots[s.arg[0]], x, k);
        *d = fma(g, (double)w[k], *d);
    }
}

__device__ void give_input(const struct pw_program &p, const struct pw_expr_slot *slots,
                           const struct pw_expr_slot &s, const struct pw_spot &x)
{
    const float *w = p.param + pw_dev_float(p, s.param, x.h);
    if (!slots[s.arg[0]].learns)
        return;
    double *d = pw_dev_cell(p, p.adjoint, slots[s.arg[0]], x), sum = *d;
    for (int k = 0; k < s.size; k++)
        sum = fma(pw_dev_unit_adjoint(p, s, x, k), (double)w[k], sum);
    *d = sum;
}

__device__ void sweep_slots(const struct pw_program &p, const struct pw_spot &x, int from, int to)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    for (int k = to - 1; k >= from; k--) {
        const struct pw_expr_slot &s = slots[k];
        if (!s.learns)
            continue;
        if (s.op == PW_X_OUT)
            give_units(p, slots, s, x, *pw_dev_cell(p, p.adjoint, s, x));
        else if (s.op == PW_X_HIDDEN)
            give_input(p, slots, s, x);
        else
            give_arguments(p, slots, s, x, *pw_dev_cell(p, p.adjoint, s, x));
    }
}

static __global__ void differentiate_places(struct pw_program p, const float *d_bias)
{
    struct pw_spot x;
    if (!pw_dev_spot_of(p, pw_dev_thread(), &x))
        return;
    const struct pw_expr_span &span = p.code->pass[p.pass];
    seed_slots(p, x, 0, span.shared);
    for (x.h = 0; x.h < p.H; x.h++) {
        seed_slots(p, x, span.shared, span.n);
        if (d_bias != NULL)
            *pw_dev_cell(p, p.adjoint, pw_expr_slots(p.code, p.pass)[p.code->root], x) +=
                (double)d_bias[pw_dev_bias_at(p, x)];
        sweep_slots(p, x, span.shared, span.n);
    }
    x.h = 0;
    sweep_slots(p, x, 0, span.shared);
}

cudaError_t pw_cuda_expr_adjoints(cudaStream_t s, const struct pw_program &p, const float *d_bias)
{
    return PW_LAUNCH(differentiate_places, dim3(pw_blocks(p.places, PW_THREADS)), dim3(PW_THREADS), 0, s, p,
                     d_bias);
}
