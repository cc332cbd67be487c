/* expr.cu - a bias that a formula with learned parameters defines, and the gradients of its parameters, in
 * the order of kernels/backend.h. Both modes use these kernels.
 *
 * A thread computes all slots at one place of a pass, or their adjoints, and leaves them in scratch memory.
 * Then half a warp, whose threads are the contract's lanes, sums one row of places for one sum by lanes, and
 * one thread adds the rows, the queries of an export, or the places of a table's entry. Pairs are computed
 * for some queries at a time, so that scratch stays small. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"
#include "kernels/expr_code.h"
#include "kernels/expr_maths.h"

enum { PW_EXPR_ROOM = 32 << 20 }; /* bytes for the values of pairs, unless one query needs more */

/* A program and its scratch memory. */
struct program {
    const struct pw_expr_code *code;
    const float *param;
    float from, step;
    int layer, H, P;
    bool causal;
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
struct place {
    int row, at, h;
    size_t index;
};

__device__ __forceinline__ int row_length(const struct program &p, int row)
{
    return p.pass == PW_PASS_PAIR && p.causal ? p.query + row + 1 : p.length[p.pass];
}

__device__ __forceinline__ struct place place_of(const struct program &p, int row, int at, int h)
{
    struct place x = {row, at, h, (size_t)row * (size_t)p.length[p.pass] + (size_t)at};
    return x;
}

__device__ __forceinline__ double *cell(const struct program &p, double *of, const struct pw_expr_slot &s,
                                        const struct place &x)
{
    return of + (size_t)(s.row + (s.head ? x.h : 0)) * p.places + x.index;
}

__device__ __forceinline__ double *unit_cell(const struct program &p, double *of,
                                             const struct pw_expr_slot &hidden, const struct place &x, int k)
{
    return of + (size_t)(hidden.wide + (hidden.head ? x.h * hidden.size : 0) + k) * p.places + x.index;
}

__device__ __forceinline__ size_t float_of(const struct program &p, int param, int h)
{
    const struct pw_expr_place &at = pw_expr_params(p.code)[param];
    return (size_t)(at.offset + p.layer * at.layer + h * at.head);
}

/* Where an import reads its unit. */
__device__ __forceinline__ size_t import_at(const struct program &p, const struct pw_expr_slot &s,
                                            const struct place &x)
{
    size_t at = (size_t)(s.unit + (s.head ? x.h : 0)) * p.stride[s.from];
    int query = p.query + x.row;
    return at + (size_t)(s.from == PW_PASS_DISTANCE ? p.P - 1 - query + x.at
                         : s.from == PW_PASS_KEY    ? x.at
                         : s.from == PW_PASS_QUERY  ? query
                                                    : 0);
}

__device__ __forceinline__ size_t export_at(const struct program &p, const struct pw_expr_slot &s,
                                            const struct place &x)
{
    size_t at = (size_t)(s.unit + (s.head ? x.h : 0)) * p.stride[p.pass];
    return at + (size_t)(p.pass == PW_PASS_DISTANCE ? p.length[p.pass] - 1 - x.at : x.at);
}

__device__ __forceinline__ size_t bias_at(const struct program &p, const struct place &x)
{
    size_t P = (size_t)p.P;
    if (p.pass == PW_PASS_PAIR)
        return ((size_t)x.h * P + (size_t)(p.query + x.row)) * P + (size_t)x.at;
    return (size_t)x.h * (2 * P - 1) + (size_t)(p.causal ? p.P - 1 : 0) + (size_t)x.at;
}

/* ---- values */

__device__ double position_of(const struct program &p, const struct place &x)
{
    int first = p.pass == PW_PASS_DISTANCE && !p.causal ? x.at - (p.P - 1) : x.at;
    return (p.pass == PW_PASS_DISTANCE ? 0 : (double)p.from) + first * (double)p.step;
}

__device__ double network_value(const struct program &p, const struct pw_expr_slot *slots,
                                const struct pw_expr_slot &s, const struct place &x)
{
    const float *w = p.param + float_of(p, s.param + 2, x.h);
    double sum = (double)p.param[float_of(p, s.param + 3, x.h)];
    for (int k = 0; k < s.size; k++)
        sum = fma((double)w[k], *unit_cell(p, p.hidden, slots[s.arg[0]], x, k), sum);
    return sum;
}

__device__ void hidden_values(const struct program &p, const struct pw_expr_slot &s, const struct place &x,
                              double in)
{
    const float *w = p.param + float_of(p, s.param, x.h), *b = p.param + float_of(p, s.param + 1, x.h);
    for (int k = 0; k < s.size; k++) {
        double pre = fma((double)w[k], in, (double)b[k]);
        *unit_cell(p, p.hidden, s, x, k) = 0 > pre ? 0 : pre;
    }
}

__device__ double slot_value(const struct program &p, const struct pw_expr_slot *slots,
                             const struct pw_expr_slot &s, const struct place &x)
{
    double a[3] = {0, 0, 0}, share;
    for (int k = 0; k < 3; k++)
        if (s.arg[k] >= 0 && s.op != PW_X_OUT)
            a[k] = *cell(p, p.value, slots[s.arg[k]], x);
    switch (s.op) {
    case PW_X_NUMBER: return s.value;
    case PW_X_HEAD: return x.h;
    case PW_X_LAYER: return p.layer;
    case PW_X_AT: return position_of(p, x);
    case PW_X_IMPORT: return p.units[s.from][import_at(p, s, x)];
    case PW_X_PARAM: return (double)p.param[float_of(p, s.param, x.h)];
    case PW_X_ENTRY:
    case PW_X_BETWEEN: {
        const float *t = p.param + float_of(p, s.param, x.h);
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

__device__ void compute_slots(const struct program &p, const struct place &x, int from, int to)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    for (int k = from; k < to; k++) {
        const struct pw_expr_slot &s = slots[k];
        double y = slot_value(p, slots, s, x);
        *cell(p, p.value, s, x) = y;
        if (s.unit >= 0 && s.op != PW_X_IMPORT)
            p.units[p.pass][export_at(p, s, x)] = y;
    }
}

/* bias: NULL, except in the last pass. */
static __global__ void compute_places(struct program p, float *bias)
{
    size_t thread = pw_dev_thread();
    int row = (int)(thread / (size_t)p.length[p.pass]), at = (int)(thread % (size_t)p.length[p.pass]);
    if (row >= p.rows || at >= row_length(p, row))
        return;
    const struct pw_expr_span &span = p.code->pass[p.pass];
    struct place x = place_of(p, row, at, 0);
    compute_slots(p, x, 0, span.shared);
    for (x.h = 0; x.h < p.H; x.h++) {
        compute_slots(p, x, span.shared, span.n);
        if (bias != NULL)
            bias[bias_at(p, x)] = (float)*cell(p, p.value, pw_expr_slots(p.code, p.pass)[p.code->root], x);
    }
}

/* ---- adjoints of places */

__device__ void seed_slots(const struct program &p, const struct place &x, int from, int to)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    for (int k = from; k < to; k++) {
        const struct pw_expr_slot &s = slots[k];
        bool exported = s.unit >= 0 && s.op != PW_X_IMPORT;
        if (!s.learns)
            continue;
        *cell(p, p.adjoint, s, x) = exported ? p.d_units[p.pass][export_at(p, s, x)] : 0;
        for (int u = 0; s.op == PW_X_HIDDEN && u < s.size; u++)
            *unit_cell(p, p.d_hidden, s, x, u) = 0;
    }
}

__device__ void give_arguments(const struct program &p, const struct pw_expr_slot *slots,
                               const struct pw_expr_slot &s, const struct place &x, double g)
{
    double a[3] = {0, 0, 0}, slope[3] = {0, 0, 0}, share;
    if (g == 0)
        return;
    for (int k = 0; k < 3; k++)
        if (s.arg[k] >= 0)
            a[k] = *cell(p, p.value, slots[s.arg[k]], x);
    if (s.op == PW_X_SELECT) {
        slope[a[0] != 0 ? 1 : 2] = 1;
    } else if (s.op == PW_X_BETWEEN) {
        const float *t = p.param + float_of(p, s.param, x.h);
        int low = pw_f_entry(a[0], s.size, true, &share);
        slope[0] = a[0] > 0 && low + 1 < s.size ? (double)t[low + 1] - (double)t[low] : 0;
    } else if (s.op == PW_X_CALL) {
        pw_f_slopes((enum pw_expr_function)s.from, a[0], a[1], a[2], *cell(p, p.value, s, x), slope);
    }
    for (int k = 0; k < 3; k++)
        if (s.arg[k] >= 0 && slots[s.arg[k]].learns)
            *cell(p, p.adjoint, slots[s.arg[k]], x) += pw_f_product(g, slope[k]);
}

__device__ void give_units(const struct program &p, const struct pw_expr_slot *slots,
                           const struct pw_expr_slot &s, const struct place &x, double g)
{
    const float *w = p.param + float_of(p, s.param + 2, x.h);
    for (int k = 0; k < s.size; k++) {
        double *d = unit_cell(p, p.d_hidden, slots[s.arg[0]], x, k);
        *d = fma(g, (double)w[k], *d);
    }
}

__device__ __forceinline__ double unit_adjoint(const struct program &p, const struct pw_expr_slot &s,
                                               const struct place &x, int k)
{
    return 0 < *unit_cell(p, p.hidden, s, x, k) ? *unit_cell(p, p.d_hidden, s, x, k) : 0;
}

__device__ void give_input(const struct program &p, const struct pw_expr_slot *slots,
                           const struct pw_expr_slot &s, const struct place &x)
{
    const float *w = p.param + float_of(p, s.param, x.h);
    if (!slots[s.arg[0]].learns)
        return;
    double *d = cell(p, p.adjoint, slots[s.arg[0]], x), sum = *d;
    for (int k = 0; k < s.size; k++)
        sum = fma(unit_adjoint(p, s, x, k), (double)w[k], sum);
    *d = sum;
}

__device__ void sweep_slots(const struct program &p, const struct place &x, int from, int to)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    for (int k = to - 1; k >= from; k--) {
        const struct pw_expr_slot &s = slots[k];
        if (!s.learns)
            continue;
        if (s.op == PW_X_OUT)
            give_units(p, slots, s, x, *cell(p, p.adjoint, s, x));
        else if (s.op == PW_X_HIDDEN)
            give_input(p, slots, s, x);
        else
            give_arguments(p, slots, s, x, *cell(p, p.adjoint, s, x));
    }
}

static __global__ void differentiate_places(struct program p, const float *d_bias)
{
    size_t thread = pw_dev_thread();
    int row = (int)(thread / (size_t)p.length[p.pass]), at = (int)(thread % (size_t)p.length[p.pass]);
    if (row >= p.rows || at >= row_length(p, row))
        return;
    const struct pw_expr_span &span = p.code->pass[p.pass];
    struct place x = place_of(p, row, at, 0);
    seed_slots(p, x, 0, span.shared);
    for (x.h = 0; x.h < p.H; x.h++) {
        seed_slots(p, x, span.shared, span.n);
        if (d_bias != NULL)
            *cell(p, p.adjoint, pw_expr_slots(p.code, p.pass)[p.code->root], x) +=
                (double)d_bias[bias_at(p, x)];
        sweep_slots(p, x, span.shared, span.n);
    }
    x.h = 0;
    sweep_slots(p, x, 0, span.shared);
}

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
__device__ double add_network(const struct program &p, const struct pw_expr_slot *slots,
                              const struct pw_expr_slot &s, const struct place &x, int param, int e,
                              double sum)
{
    int part = param - s.param;
    if (s.op == PW_X_HIDDEN) {
        double a = unit_adjoint(p, s, x, e);
        return part == 1 ? sum + a : fma(a, finite_input(*cell(p, p.value, slots[s.arg[0]], x)), sum);
    }
    double g = *cell(p, p.adjoint, s, x);
    if (part == 3)
        return sum + g;
    return fma(g, g == 0 ? 0 : *unit_cell(p, p.hidden, slots[s.arg[0]], x, e % s.size), sum);
}

__device__ double add_networks(const struct program &p, struct place x, int param, int e, double sum)
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
__device__ int import_slot(const struct program &p, int lane)
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

static __global__ void sum_lanes(struct program p, int first, int n)
{
    size_t half = pw_dev_half();
    int row = (int)(half / (size_t)n), lane = first + (int)(half % (size_t)n);
    bool there = row < p.rows;
    int param = there && lane < p.code->nets ? network_param(p.code, lane) : -1;
    int import = there && lane >= p.code->nets ? import_slot(p, lane) : -1;
    double sum = 0;
    for (int at = (int)(threadIdx.x % 16); there && at < row_length(p, row); at += 16) {
        struct place x = place_of(p, row, at, 0);
        if (param >= 0)
            sum = add_networks(p, x, param, lane - pw_expr_params(p.code)[param].lane, sum);
        if (import >= 0) {
            const struct pw_expr_slot &s = pw_expr_slots(p.code, p.pass)[import];
            x.h = lane - s.lane;
            sum += *cell(p, p.adjoint, s, x);
        }
    }
    for (int by = 8; by > 0; by /= 2)
        sum += __shfl_xor_sync(PW_ALL_LANES, sum, by);
    if (there && threadIdx.x % 16 == 0)
        p.totals[(size_t)row * (size_t)n + (size_t)(lane - first)] = sum;
}

static __global__ void add_totals(struct program p, int first, int n)
{
    size_t thread = pw_dev_thread();
    if (thread >= (size_t)n)
        return;
    int lane = first + (int)thread, param = lane < p.code->nets ? network_param(p.code, lane) : -1;
    int import = lane >= p.code->nets ? import_slot(p, lane) : -1;
    for (int row = 0; row < p.rows; row++) {
        double total = p.totals[(size_t)row * (size_t)n + thread];
        if (param >= 0)
            p.sums[float_of(p, param, 0) + (size_t)(lane - pw_expr_params(p.code)[param].lane)] += total;
        if (import >= 0) {
            const struct pw_expr_slot &s = pw_expr_slots(p.code, p.pass)[import];
            struct place x = place_of(p, row, 0, lane - s.lane);
            p.d_units[s.from][import_at(p, s, x)] += total;
        }
    }
}

/* ---- chains */

/* Exports of DISTANCE and KEY: a thread has one place of one head of the import k. */
static __global__ void add_columns(struct program p, int k)
{
    const struct pw_expr_slot &s = pw_expr_slots(p.code, p.pass)[k];
    size_t thread = pw_dev_thread(), stride = p.stride[s.from];
    int h = (int)(thread / stride), at = (int)(thread % stride);
    if (h >= (s.head ? p.H : 1))
        return;
    double *sum = p.d_units[s.from] + (size_t)(s.unit + h) * stride + (size_t)at;
    for (int row = 0; row < p.rows; row++) {
        int j = s.from == PW_PASS_KEY ? at : at - (p.P - 1) + p.query + row;
        if (j >= 0 && j < row_length(p, row))
            *sum += *cell(p, p.adjoint, s, place_of(p, row, j, h));
    }
}

__device__ double add_entry(const struct program &p, const struct pw_expr_slot *slots,
                            const struct pw_expr_slot &s, const struct place &x, int e, double sum)
{
    double g = *cell(p, p.adjoint, s, x), share = 0;
    int low = 0;
    if (g == 0)
        return sum;
    if (s.op != PW_X_PARAM)
        low = pw_f_entry(*cell(p, p.value, slots[s.arg[0]], x), s.size, s.op == PW_X_BETWEEN, &share);
    if (low == e)
        sum += g * (1 - share);
    if (share > 0 && low + 1 == e)
        sum += g * share;
    return sum;
}

/* Adds a block of sixteen places to entry e of a parameter. head: the one that has it; -1: all. */
__device__ double add_block(const struct program &p, int row, int from, int param, int head, int e,
                            double sum)
{
    const struct pw_expr_slot *slots = pw_expr_slots(p.code, p.pass);
    const struct pw_expr_span &span = p.code->pass[p.pass];
    int left = row_length(p, row) - from, end = from + (left < 16 ? left : 16);
    for (int h = 0; h <= p.H; h++) {
        bool shared = h == p.H;
        if (!shared && head >= 0 && head != h)
            continue;
        for (int k = shared ? span.shared - 1 : span.n - 1; k >= (shared ? 0 : span.shared); k--) {
            const struct pw_expr_slot &s = slots[k];
            bool reads = s.op == PW_X_PARAM || s.op == PW_X_ENTRY || s.op == PW_X_BETWEEN;
            for (int at = from; reads && s.param == param && at < end; at++)
                sum = add_entry(p, slots, s, place_of(p, row, at, shared ? 0 : h), e, sum);
        }
    }
    return sum;
}

/* A thread has one float of the parameter. */
static __global__ void add_entries(struct program p, int param)
{
    const struct pw_expr_place &place = pw_expr_params(p.code)[param];
    size_t thread = pw_dev_thread();
    if (thread >= (size_t)place.floats)
        return;
    int head = place.head > 0 ? (int)thread / place.head : -1, e = (int)thread % place.size;
    double *to = p.sums + place.offset + p.layer * place.layer + (int)thread, sum = *to;
    for (int row = 0; row < p.rows; row++)
        for (int from = 0; from < row_length(p, row); from += 16)
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

static struct program lay_program(const struct pw_expr_use *x, const float *param, int H, int P, double *room,
                                  size_t *doubles)
{
    struct program p = {};
    size_t rows = 0, wide = 0, lanes = 0, used = 0;
    p.code = x->there, p.param = param, p.from = x->from, p.step = x->step, p.layer = x->layer;
    p.causal = x->causal, p.H = H, p.P = P;
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
static cudaError_t each_rows(struct program *p, const struct pw_expr_code *code, enum pw_expr_pass pass,
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

static cudaError_t compute_exports(cudaStream_t s, struct program *p, const struct pw_expr_code *code)
{
    cudaError_t e = cudaSuccess;
    for (int k = 0; k < PW_PASSES && e == cudaSuccess; k++)
        if (k != pw_expr_last(code) && code->pass[k].n > 0)
            e = each_rows(p, code, (enum pw_expr_pass)k, [&] {
                return PW_LAUNCH(compute_places, dim3(pw_blocks(p->places, PW_THREADS)), dim3(PW_THREADS), 0,
                                 s, *p, (float *)NULL);
            });
    return e;
}

cudaError_t pw_cuda_expr_fwd(cudaStream_t s, float *bias, const float *param, const struct pw_expr_use *x,
                             int H, int P, double *room)
{
    size_t doubles;
    struct program p = lay_program(x, param, H, P, room, &doubles);
    cudaError_t e =
        cudaMemsetAsync(bias, 0, (size_t)H * pw_bias_entries(x->code->dense, P) * sizeof *bias, s);
    if (e == cudaSuccess)
        e = compute_exports(s, &p, x->code);
    if (e == cudaSuccess)
        e = each_rows(&p, x->code, pw_expr_last(x->code), [&] {
            return PW_LAUNCH(compute_places, dim3(pw_blocks(p.places, PW_THREADS)), dim3(PW_THREADS), 0, s, p,
                             bias);
        });
    return e;
}

/* The sums of the rows that have been differentiated. */
static cudaError_t add_rows(cudaStream_t s, const struct program &p, const struct pw_expr_code *code)
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

static cudaError_t differentiate(cudaStream_t s, struct program *p, const struct pw_expr_code *code,
                                 enum pw_expr_pass pass, const float *d_bias)
{
    return each_rows(p, code, pass, [&] {
        dim3 blocks(pw_blocks(p->places, PW_THREADS));
        cudaError_t e = PW_LAUNCH(compute_places, blocks, dim3(PW_THREADS), 0, s, *p, (float *)NULL);
        if (e == cudaSuccess)
            e = PW_LAUNCH(differentiate_places, blocks, dim3(PW_THREADS), 0, s, *p, d_bias);
        return e == cudaSuccess ? add_rows(s, *p, code) : e;
    });
}

cudaError_t pw_cuda_expr_bwd(cudaStream_t s, float *d_param, float *d_bias, const float *param,
                             const struct pw_expr_use *x, int L, int H, int P, double *room)
{
    static const enum pw_expr_pass back[] = {PW_PASS_KEY, PW_PASS_QUERY, PW_PASS_DISTANCE, PW_PASS_ONCE};
    size_t doubles, all = (size_t)H * pw_bias_entries(x->code->dense, P);
    struct program p = lay_program(x, param, H, P, room, &doubles);
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
        e = PW_LAUNCH(add_sums, dim3(pw_blocks((size_t)x->code->params, PW_THREADS)), dim3(PW_THREADS), 0, s,
                      d_param, p.sums, x->code->params);
    return e;
}
