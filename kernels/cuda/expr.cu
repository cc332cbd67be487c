/* expr.cu - a bias that a formula with learned parameters defines, and the gradients of its parameters, in
 * the order of kernels/backend.h. Both modes use these kernels.
 *
 * A thread computes all slots at one place of a pass (expr_values.cu), or their adjoints (expr_adjoints.cu),
 * and leaves them in scratch memory. Then expr_sums.cu adds the adjoints. Pairs are computed for some queries
 * at a time, so that scratch stays small. */
#include "kernels/cuda/expr_program.h"
#include "kernels/cuda/launch.h"

enum { PW_EXPR_ROOM = 32 << 20 }; /* bytes for the values of pairs, unless one query needs more */

static double *take(double *room, size_t *used, size_t n)
{
    double *p = room != NULL ? room + *used : NULL;
    *used += n;
    return p;
}

/* Queries of PAIR that are computed together. */
static int rows_at_a_time(const struct pw_expr_code *code, int P)
{
    const struct pw_expr_span *span = &code->pass[PW_PASS_PAIR];
    size_t row = (size_t)P * 2 * (size_t)(span->rows + span->wide) + (size_t)span->lanes;
    size_t rows = row > 0 ? PW_EXPR_ROOM / sizeof(double) / row : (size_t)P;
    return rows < 1 ? 1 : rows > (size_t)P ? P : (int)rows;
}

static struct pw_program lay_program(const struct pw_expr_use *x, const float *param, int H, int P,
                                     double *room, size_t *doubles)
{
    struct pw_program p = {};
    size_t rows = 0, wide = 0, lanes = 0, used = 0;
    p.code = x->there, p.param = param, p.from = x->from, p.step = x->step, p.layer = x->layer;
    p.causal = x->causal, p.H = H, p.P = P, p.head = x->head, p.place = x->place;
    for (int k = 0; k < PW_PASSES; k++) {
        const struct pw_expr_span *span = &x->code->pass[k];
        p.length[k] = k == PW_PASS_ONCE ? 1 : k == PW_PASS_DISTANCE ? pw_expr_distances(x->causal, P) : P;
        p.stride[k] = (size_t)p.length[k];
        size_t at_once = k == PW_PASS_PAIR ? (size_t)rows_at_a_time(x->code, P) : 1;
        size_t places = at_once * (size_t)p.length[k];
        rows = places * (size_t)span->rows > rows ? places * (size_t)span->rows : rows;
        wide = places * (size_t)span->wide > wide ? places * (size_t)span->wide : wide;
        lanes = at_once * (size_t)span->lanes > lanes ? at_once * (size_t)span->lanes : lanes;
        p.units[k] = take(room, &used, (size_t)span->units * p.stride[k]);
        p.d_units[k] = take(room, &used, (size_t)span->units * p.stride[k]);
    }
    p.sums = take(room, &used, (size_t)x->code->params);
    p.value = take(room, &used, rows);
    p.adjoint = take(room, &used, rows);
    p.hidden = take(room, &used, wide);
    p.d_hidden = take(room, &used, wide);
    p.totals = take(room, &used, lanes);
    *doubles = used;
    return p;
}

size_t pw_cuda_expr_bytes(const struct pw_expr_use *x, int H, int P)
{
    size_t doubles;
    lay_program(x, NULL, H, P, NULL, &doubles);
    return doubles * sizeof(double);
}

/* Calls fn for the rows of a pass, as many at a time as there is room for. */
template <typename Fn>
static cudaError_t each_rows(struct pw_program *p, const struct pw_expr_code *code, enum pw_expr_pass pass,
                             Fn fn)
{
    int all = pass == PW_PASS_PAIR ? p->P : 1, most = pass == PW_PASS_PAIR ? rows_at_a_time(code, p->P) : 1;
    cudaError_t e = cudaSuccess;
    p->pass = pass;
    for (p->query = 0; p->query < all && e == cudaSuccess; p->query += most) {
        p->rows = all - p->query < most ? all - p->query : most;
        p->places = (size_t)p->rows * (size_t)p->length[pass];
        e = fn();
    }
    return e;
}

static cudaError_t compute_exports(cudaStream_t s, struct pw_program *p, const struct pw_expr_code *code)
{
    cudaError_t e = cudaSuccess;
    for (int k = 0; k < PW_PASSES && e == cudaSuccess; k++)
        if (k != pw_expr_last(code) && code->pass[k].n > 0)
            e = each_rows(p, code, (enum pw_expr_pass)k, [&] { return pw_cuda_expr_values(s, *p, NULL); });
    return e;
}

cudaError_t pw_cuda_expr_fwd(cudaStream_t s, float *bias, const float *param, const struct pw_expr_use *x,
                             int H, int P, double *room)
{
    size_t doubles;
    struct pw_program p = lay_program(x, param, H, P, room, &doubles);
    cudaError_t e = cudaMemsetAsync(bias, 0, pw_expr_entries(x, H, P) * sizeof *bias, s);
    if (e == cudaSuccess)
        e = compute_exports(s, &p, x->code);
    if (e == cudaSuccess)
        e = each_rows(&p, x->code, pw_expr_last(x->code), [&] { return pw_cuda_expr_values(s, p, bias); });
    return e;
}

static cudaError_t differentiate(cudaStream_t s, struct pw_program *p, const struct pw_expr_code *code,
                                 enum pw_expr_pass pass, const float *d_bias)
{
    return each_rows(p, code, pass, [&] {
        cudaError_t e = pw_cuda_expr_values(s, *p, NULL);
        if (e == cudaSuccess)
            e = pw_cuda_expr_adjoints(s, *p, d_bias);
        return e == cudaSuccess ? pw_cuda_expr_sums(s, *p, code) : e;
    });
}

cudaError_t pw_cuda_expr_bwd(cudaStream_t s, float *d_param, float *d_bias, const float *param,
                             const struct pw_expr_use *x, int L, int H, int P, double *room)
{
    static const enum pw_expr_pass back[] = {PW_PASS_KEY, PW_PASS_QUERY, PW_PASS_DISTANCE, PW_PASS_ONCE};
    size_t doubles, all = pw_expr_entries(x, H, P);
    struct pw_program p = lay_program(x, param, H, P, room, &doubles);
    cudaError_t e = cudaMemsetAsync(room, 0, doubles * sizeof *room, s);
    for (int l = 1; l < L && e == cudaSuccess; l++)
        e = pw_cuda_add(s, d_bias, d_bias + (size_t)l * all, all);
    if (e == cudaSuccess)
        e = compute_exports(s, &p, x->code);
    if (e == cudaSuccess)
        e = differentiate(s, &p, x->code, pw_expr_last(x->code), d_bias);
    for (int k = 0; k < 4 && e == cudaSuccess; k++)
        if (back[k] != pw_expr_last(x->code) && x->code->pass[back[k]].learns)
            e = differentiate(s, &p, x->code, back[k], NULL);
    if (e == cudaSuccess)
        e = pw_cuda_expr_add_sums(s, d_param, p, x->code);
    return e;
}
