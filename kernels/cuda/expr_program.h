/* expr_program.h - a formula's program on the device, its scratch memory, and where a slot's value, adjoint,
 * hidden units and exports are in it. The launchers below run one group of rows of one pass. */
#ifndef PW_CUDA_EXPR_PROGRAM_H
#define PW_CUDA_EXPR_PROGRAM_H
#include "kernels/cuda/device.h"
#include "kernels/expr_code.h"

/* A program and its scratch memory. */
struct pw_program {
    const struct pw_expr_code *code;
    const float *param;
    float from, step;
    int layer, H, P;
    bool causal;
    int head, place;                               /* head > 0: strides of a table by position */
    int length[PW_PASSES];                         /* places; of PAIR keys */
    size_t stride[PW_PASSES];                      /* doubles of a unit */
    double *units[PW_PASSES], *d_units[PW_PASSES]; /* distance t at length-1-t, as on the cpu */
    double *value, *adjoint;                       /* [row][places] */
    double *hidden, *d_hidden;                     /* [hidden unit][places] */
    double *totals;                                /* [row of places][sums by lanes] */
    double *sums;                                  /* [floats of the parameters] */
    enum pw_expr_pass pass;
    int query, rows; /* PAIR: the first query, and number of queries */
    size_t places;   /* of all rows */
};

/* One place: row `row`, place `at` of it, and its head. */
struct pw_spot {
    int row, at, h;
    size_t index;
};

__device__ __forceinline__ int pw_dev_row_length(const struct pw_program &p, int row)
{
    return p.pass == PW_PASS_PAIR && p.causal ? p.query + row + 1 : p.length[p.pass];
}

__device__ __forceinline__ struct pw_spot pw_dev_spot(const struct pw_program &p, int row, int at, int h)
{
    struct pw_spot x = {row, at, h, (size_t)row * (size_t)p.length[p.pass] + (size_t)at};
    return x;
}

/* Sets x to the place of thread number `thread`, of head 0; false: there is none. */
__device__ __forceinline__ bool pw_dev_spot_of(const struct pw_program &p, size_t thread, struct pw_spot *x)
{
    int row = (int)(thread / (size_t)p.length[p.pass]), at = (int)(thread % (size_t)p.length[p.pass]);
    *x = pw_dev_spot(p, row, at, 0);
    return row < p.rows && at < pw_dev_row_length(p, row);
}

__device__ __forceinline__ double *pw_dev_cell(const struct pw_program &p, double *of,
                                               const struct pw_expr_slot &s, const struct pw_spot &x)
{
    return of + (size_t)(s.row + (s.head ? x.h : 0)) * p.places + x.index;
}

__device__ __forceinline__ double *pw_dev_unit_cell(const struct pw_program &p, double *of,
                                                    const struct pw_expr_slot &hidden,
                                                    const struct pw_spot &x, int k)
{
    return of + (size_t)(hidden.wide + (hidden.head ? x.h * hidden.size : 0) + k) * p.places + x.index;
}

__device__ __forceinline__ size_t pw_dev_float(const struct pw_program &p, int param, int h)
{
    const struct pw_expr_place &at = pw_expr_params(p.code)[param];
    return (size_t)(at.offset + p.layer * at.layer + h * at.head);
}

/* Where an import reads its unit. */
__device__ __forceinline__ size_t pw_dev_import(const struct pw_program &p, const struct pw_expr_slot &s,
                                                const struct pw_spot &x)
{
    size_t at = (size_t)(s.unit + (s.head ? x.h : 0)) * p.stride[s.from];
    int query = p.query + x.row;
    return at + (size_t)(s.from == PW_PASS_DISTANCE ? p.P - 1 - query + x.at
                         : s.from == PW_PASS_KEY    ? x.at
                         : s.from == PW_PASS_QUERY  ? query
                                                    : 0);
}

__device__ __forceinline__ size_t pw_dev_export(const struct pw_program &p, const struct pw_expr_slot &s,
                                                const struct pw_spot &x)
{
    size_t at = (size_t)(s.unit + (s.head ? x.h : 0)) * p.stride[p.pass];
    return at + (size_t)(p.pass == PW_PASS_DISTANCE ? p.length[p.pass] - 1 - x.at : x.at);
}

__device__ __forceinline__ size_t pw_dev_bias_at(const struct pw_program &p, const struct pw_spot &x)
{
    size_t P = (size_t)p.P;
    if (p.head > 0)
        return (size_t)x.h * (size_t)p.head + (size_t)x.at * (size_t)p.place;
    if (p.pass == PW_PASS_PAIR)
        return ((size_t)x.h * P + (size_t)(p.query + x.row)) * P + (size_t)x.at;
    return (size_t)x.h * (2 * P - 1) + (size_t)(p.causal ? p.P - 1 : 0) + (size_t)x.at;
}

__device__ __forceinline__ double
pw_dev_unit_adjoint(const struct pw_program &p, const struct pw_expr_slot &s, const struct pw_spot &x, int k)
{
    return 0 < *pw_dev_unit_cell(p, p.hidden, s, x, k) ? *pw_dev_unit_cell(p, p.d_hidden, s, x, k) : 0;
}

/* expr_values.cu: computes the slots of all places, with their exports. bias: NULL, except in the last pass:
 * the bias of these rows, overwritten. */
cudaError_t pw_cuda_expr_values(cudaStream_t s, const struct pw_program &p, float *bias);
/* expr_adjoints.cu: computes the adjoints of all slots that learn, from their values and from the gradients
 * of the exports. d_bias: NULL, except in the last pass. */
cudaError_t pw_cuda_expr_adjoints(cudaStream_t s, const struct pw_program &p, const float *d_bias);
/* expr_sums.cu: adds these rows to the sums of parameters, and to the gradients of the exports that they
 * import. code: the program in host memory. */
cudaError_t pw_cuda_expr_sums(cudaStream_t s, const struct pw_program &p, const struct pw_expr_code *code);
/* expr_sums.cu: adds all sums of parameters to d_param. */
cudaError_t pw_cuda_expr_add_sums(cudaStream_t s, float *d_param, const struct pw_program &p,
                                  const struct pw_expr_code *code);

#endif
