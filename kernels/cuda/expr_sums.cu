/* expr_sums.cu - adds the adjoints of a formula's places, in the order of kernels/backend.h.
 *
 * Half a warp, whose threads are the contract's lanes, sums one row of places for one sum by lanes. Then one
 * thread adds the rows, the queries of an export, or the places of a table's entry. */
#include "kernels/cuda/expr_program.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"
#include "kernels/expr_maths.h"

/* ---- sums by lanes */

/* The parameter of a network that has this sum, or -1. */
__device__ int network_param(const struct pw_expr_code *code, int lane)
{
    const struct pw_expr_place *place = pw_expr_params(code);
    for (int k = 0; k < code->n_params; k++)
        if (place[k].lane >= 0 && lane >= place[k].lane && lane < place[k].lane + place[k].floats)
            return k;
    return -1;
}

__device__ __forceinline__ double finite_input(double in)
{
    return in - in == 0 ? in : 0;
}

/* Adds what one place gives to float e of a network's parameter `param`, in one slot. */
__device__ double add_network(const struct pw_program &p, const struct pw_expr_slot *slots,
                              const struct pw_expr_slot &s, const struct pw_spot &x, int param, int e,
                              double sum)
{
    int part = param - s.param;
    if (s.op == PW_X_HIDDEN) {
        double a = pw_dev_unit_adjoint(p, s, x, e);
        return part == 1 ? sum + a : fma(a, finite_input(*pw_dev_cell(p, p.value, slots[s.arg[0]], x)), sum);
    }
    double g = *pw_dev_cell(p, p.adjoint, s, x);
    if (part == 3)
        return sum + g;
    return fma(g, g == 0 ? 0 : *pw_dev_unit_cell(p, p.hidden, slots[s.arg[0]], x, e % s.size), sum);
}

__device__ double add_networks(const struct pw_program &p, struct pw_spot x, int param, int e, double sum)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    const struct pw_expr_span &span = p.code->pass[p.pass];
    const struct pw_expr_place &place = pw_expr_params(p.code)[param];
    for (int h = 0; h <= p.H; h++) {
        bool shared = h == p.H;
        x.h = shared ? 0 : h;
        if (!shared && place.head > 0 && e / place.head != h)
            continue;
        for (int k = shared ? span.shared - 1 : span.n - 1; k >= (shared ? 0 : span.shared); k--) {
            const struct pw_expr_slot &s = slots[k];
            bool hidden = s.op == PW_X_HIDDEN && (param == s.param || param == s.param + 1);
            bool out = s.op == PW_X_OUT && (param == s.param + 2 || param == s.param + 3);
            if (hidden || out)
                sum = add_network(p, slots, s, x, param, e, sum);
        }
    }
    return sum;
}

/* The import that has this sum. */
__device__ int import_slot(const struct pw_program &p, int lane)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    for (int k = 0; k < p.code->pass[p.pass].n; k++) {
        const struct pw_expr_slot &s = slots[k];
        bool summed = s.op == PW_X_IMPORT && s.learns && (s.from == PW_PASS_ONCE || s.from == PW_PASS_QUERY);
        if (summed && lane >= s.lane && lane < s.lane + (s.head ? p.H : 1))
            return k;
    }
    return -1;
}

static __global__ void sum_lanes(struct pw_program p, int first, int n)
{
    size_t half = pw_dev_half();
    int row = (int)(half / (size_t)n), lane = first + (int)(half % (size_t)n);
    bool there = row < p.rows;
    int param = there && lane < p.code->nets ? network_param(p.code, lane) : -1;
    int import = there && lane >= p.code->nets ? import_slot(p, lane) : -1;
    double sum = 0;
    for (int at = (int)(threadIdx.x % 16); there && at < pw_dev_row_length(p, row); at += 16) {
        struct pw_spot x = pw_dev_spot(p, row, at, 0);
        if (param >= 0)
            sum = add_networks(p, x, param, lane - pw_expr_params(p.code)[param].lane, sum);
        if (import >= 0) {
            const struct pw_expr_slot &s = pw_expr_slots(p.code, p.pass)[import];
            x.h = lane - s.lane;
            sum += *pw_dev_cell(p, p.adjoint, s, x);
        }
    }
    for (int by = 8; by > 0; by /= 2)
        sum += __shfl_xor_sync(PW_ALL_LANES, sum, by);
    if (there && threadIdx.x % 16 == 0)
        p.totals[(size_t)row * (size_t)n + (size_t)(lane - first)] = sum;
}

static __global__ void add_totals(struct pw_program p, int first, int n)
{
    size_t thread = pw_dev_thread();
    if (thread >= (size_t)n)
        return;
    int lane = first + (int)thread, param = lane < p.code->nets ? network_param(p.code, lane) : -1;
    int import = lane >= p.code->nets ? import_slot(p, lane) : -1;
    for (int row = 0; row < p.rows; row++) {
        double total = p.totals[(size_t)row * (size_t)n + thread];
        if (param >= 0)
            p.sums[pw_dev_float(p, param, 0) + (size_t)(lane - pw_expr_params(p.code)[param].lane)] += total;
        if (import >= 0) {
            const struct pw_expr_slot &s = pw_expr_slots(p.code, p.pass)[import];
            struct pw_spot x = pw_dev_spot(p, row, 0, lane - s.lane);
            p.d_units[s.from][pw_dev_import(p, s, x)] += total;
        }
    }
}

/* ---- chains */

/* Exports of DISTANCE and KEY: a thread has one place of one head of the import k. */
static __global__ void add_columns(struct pw_program p, int k)
{
    const struct pw_expr_slot &s = pw_expr_slots(p.code, p.pass)[k];
    size_t thread = pw_dev_thread(), stride = p.stride[s.from];
    int h = (int)(thread / stride), at = (int)(thread % stride);
    if (h >= (s.head ? p.H : 1))
        return;
    double *sum = p.d_units[s.from] + (size_t)(s.unit + h) * stride + (size_t)at;
    for (int row = 0; row < p.rows; row++) {
        int j = s.from == PW_PASS_KEY ? at : at - (p.P - 1) + p.query + row;
        if (j >= 0 && j < pw_dev_row_length(p, row))
            *sum += *pw_dev_cell(p, p.adjoint, s, pw_dev_spot(p, row, j, h));
    }
}

__device__ double add_entry(const struct pw_program &p, const struct pw_expr_slot *slots,
                            const struct pw_expr_slot &s, const struct pw_spot &x, int e, double sum)
{
    double g = *pw_dev_cell(p, p.adjoint, s, x), share = 0;
    int low = 0;
    if (g == 0)
        return sum;
    if (s.op != PW_X_PARAM)
        low = pw_f_entry(*pw_dev_cell(p, p.value, slots[s.arg[0]], x), s.size, s.op == PW_X_BETWEEN, &share);
    if (low == e)
        sum += g * (1 - share);
    if (share > 0 && low + 1 == e)
        sum += g * share;
    return sum;
}

/* Adds a block of sixteen places to entry e of a parameter. head: the one that has it; -1: all. */
__device__ double add_block(const struct pw_program &p, int row, int from, int param, int head, int e,
                            double sum)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    const struct pw_expr_span &span = p.code->pass[p.pass];
    int left = pw_dev_row_length(p, row) - from, end = from + (left < 16 ? left : 16);
    for (int h = 0; h <= p.H; h++) {
        bool shared = h == p.H;
        if (!shared && head >= 0 && head != h)
            continue;
        for (int k = shared ? span.shared - 1 : span.n - 1; k >= (shared ? 0 : span.shared); k--) {
            const struct pw_expr_slot &s = slots[k];
            bool reads = s.op == PW_X_PARAM || s.op == PW_X_ENTRY || s.op == PW_X_BETWEEN;
            for (int at = from; reads && s.param == param && at < end; at++)
                sum = add_entry(p, slots, s, pw_dev_spot(p, row, at, shared ? 0 : h), e, sum);
        }
    }
    return sum;
}

/* A thread has one float of the parameter. */
static __global__ void add_entries(struct pw_program p, int param)
{
    const struct pw_expr_place &place = pw_expr_params(p.code)[param];
    size_t thread = pw_dev_thread();
    if (thread >= (size_t)place.floats)
        return;
    int head = place.head > 0 ? (int)thread / place.head : -1, e = (int)thread % place.size;
    double *to = p.sums + place.offset + p.layer * place.layer + (int)thread, sum = *to;
    for (int row = 0; row < p.rows; row++)
        for (int from = 0; from < pw_dev_row_length(p, row); from += 16)
            sum = add_block(p, row, from, param, head, e, sum);
    *to = sum;
}

static __global__ void add_sums(float *d_param, const double *sums, int n)
{
    size_t i = pw_dev_thread();
    if (i < (size_t)n)
        d_param[i] = (float)((double)d_param[i] + sums[i]);
}

/* ---- launchers */

cudaError_t pw_cuda_expr_sums(cudaStream_t s, const struct pw_program &p, const struct pw_expr_code *code)
{
    const struct pw_expr_span *span = &code->pass[p.pass];
    const struct pw_expr_slot *slots = pw_expr_slots(code, p.pass);
    int first = span->lane, n = span->lanes - first;
    cudaError_t e = cudaSuccess;
    if (n > 0)
        e = PW_LAUNCH(sum_lanes, dim3(pw_blocks((size_t)p.rows * (size_t)n, PW_HALVES)), dim3(PW_THREADS), 0,
                      s, p, first, n);
    if (n > 0 && e == cudaSuccess)
        e = PW_LAUNCH(add_totals, dim3(pw_blocks((size_t)n, PW_THREADS)), dim3(PW_THREADS), 0, s, p, first,
                      n);
    for (int k = 0; k < span->n && e == cudaSuccess; k++)
        if (slots[k].op == PW_X_IMPORT && slots[k].learns &&
            (slots[k].from == PW_PASS_DISTANCE || slots[k].from == PW_PASS_KEY))
            e = PW_LAUNCH(
                add_columns,
                dim3(pw_blocks((size_t)(slots[k].head ? p.H : 1) * p.stride[slots[k].from], PW_THREADS)),
                dim3(PW_THREADS), 0, s, p, k);
    for (int q = 0; q < code->n_params && e == cudaSuccess; q++) {
        bool read = false;
        for (int k = 0; k < span->n; k++)
            read = read || (slots[k].param == q && (slots[k].op == PW_X_PARAM || slots[k].op == PW_X_ENTRY ||
                                                    slots[k].op == PW_X_BETWEEN));
        if (read)
            e = PW_LAUNCH(add_entries, dim3(pw_blocks((size_t)pw_expr_params(code)[q].floats, PW_THREADS)),
                          dim3(PW_THREADS), 0, s, p, q);
    }
    return e;
}

cudaError_t pw_cuda_expr_add_sums(cudaStream_t s, float *d_param, const struct pw_program &p,
                                  const struct pw_expr_code *code)
{
    return PW_LAUNCH(add_sums, dim3(pw_blocks((size_t)code->params, PW_THREADS)), dim3(PW_THREADS), 0, s,
                     d_param, p.sums, code->params);
}
