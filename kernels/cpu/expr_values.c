/* expr_values.c - the values of a formula's slots at sixteen places. */
#include "kernels/cpu/expr.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd_double.h"
#include "kernels/expr_maths.h"

static void fill_lanes(double *y, double v)
{
    w_store(y, w_set(v));
}

/* The distance, or the position of the query or key. */
static void fill_places(const struct pw_expr_run *r, double *y)
{
    int first = r->pass == PW_PASS_DISTANCE && !r->use->causal ? r->at - (r->P - 1) : r->at;
    bool distance = r->pass == PW_PASS_DISTANCE && r->use->head == 0;
    double from = distance ? 0 : (double)r->use->from, step = (double)r->use->step;
    for (int l = 0; l < 16; l++)
        y[l] = from + (first + l) * step;
}

static void import_unit(const struct pw_expr_run *r, const struct pw_expr_slot *s, double *y)
{
    enum pw_expr_pass from = (enum pw_expr_pass)s->from;
    const double *x = r->units[from] + pw_expr_unit_at(r, from, s->unit + (s->head ? r->head : 0));
    if (from == PW_PASS_ONCE || from == PW_PASS_QUERY)
        fill_lanes(y, *x);
    else
        w_store(y, w_load(x));
}

static double entry_value(const struct pw_expr_run *r, const struct pw_expr_slot *s, double at)
{
    const float *t = r->param + pw_expr_float(r, s->param);
    double share;
    int low = pw_f_entry(at, s->size, s->op == PW_X_BETWEEN, &share);
    double below = (double)t[low];
    return share > 0 ? below + share * ((double)t[low + 1] - below) : below;
}

/* Operations on few numbers, for each lane alone. */
static double lane_value(const struct pw_expr_run *r, const struct pw_expr_slot *s, double a, double b,
                         double c)
{
    double share;
    switch (s->op) {
    case PW_X_ENTRY:
    case PW_X_BETWEEN: return entry_value(r, s, a);
    case PW_X_BUCKET: return s->from + pw_f_reached(r->data + s->param, s->size, a);
    case PW_X_SLOPE: return r->data[s->param + pw_f_entry(a, s->size, false, &share)];
    default: return pw_f_value((enum pw_expr_function)s->from, a, b, c);
    }
}

static void hidden_units(const struct pw_expr_run *r, const struct pw_expr_slot *s, const double *in)
{
    const float *w = r->param + pw_expr_float(r, s->param), *b = r->param + pw_expr_float(r, s->param + 1);
    double *out = r->hidden + 16 * (size_t)s->vector, u[16];
    for (int l = 0; l < 16; l++) /* lanes without a place could be NaN, which would spoil products with 0 */
        u[l] = l < r->n ? in[l] : 0;
    w16 x = w_load(u);
    for (int k = 0; k < s->size; k++)
        w_store(out + 16 * k, w_relu(w_fma(w_set((double)w[k]), x, w_set((double)b[k]))));
}

static void network_output(const struct pw_expr_run *r, const struct pw_expr_slot *s, double *y)
{
    const float *w = r->param + pw_expr_float(r, s->param + 2),
                *b = r->param + pw_expr_float(r, s->param + 3);
    const double *in = r->hidden + 16 * (size_t)s->vector;
    w16 sum = w_set((double)*b);
    for (int k = 0; k < s->size; k++)
        sum = w_fma(w_set((double)w[k]), w_load(in + 16 * k), sum);
    w_store(y, sum);
}

/* Cheap functions: with f constant the compiler makes vector instructions of the loop. */
#define EACH_LANE(f)                                                                                         \
    case f:                                                                                                  \
        for (int l = 0; l < 16; l++)                                                                         \
            y[l] = pw_f_value(f, a[l], b[l], c[l]);                                                          \
        return

static void call_function(const struct pw_expr_run *r, const struct pw_expr_slot *s, double *restrict y,
                          const double *a, const double *b, const double *c)
{
    switch ((enum pw_expr_function)s->from) {
        EACH_LANE(PW_F_ADD);
        EACH_LANE(PW_F_SUBTRACT);
        EACH_LANE(PW_F_MULTIPLY);
        EACH_LANE(PW_F_DIVIDE);
        EACH_LANE(PW_F_NEGATE);
        EACH_LANE(PW_F_BELOW);
        EACH_LANE(PW_F_ABOVE);
        EACH_LANE(PW_F_AT_MOST);
        EACH_LANE(PW_F_AT_LEAST);
        EACH_LANE(PW_F_EQUAL);
        EACH_LANE(PW_F_MIN);
        EACH_LANE(PW_F_MAX);
        EACH_LANE(PW_F_CLIP);
        EACH_LANE(PW_F_ABS);
        EACH_LANE(PW_F_SQRT);
        EACH_LANE(PW_F_RELU);
        EACH_LANE(PW_F_EXP);
        EACH_LANE(PW_F_SIGMOID);
    default:
        for (int l = 0; l < r->n; l++)
            y[l] = lane_value(r, s, a[l], b[l], c[l]);
    }
}

static void slot_values(const struct pw_expr_run *r, const struct pw_expr_slot *s, double *restrict y)
{
    const double *a = pw_expr_operand(r, s, 0), *b = pw_expr_operand(r, s, 1), *c = pw_expr_operand(r, s, 2);
    switch (s->op) {
    case PW_X_NUMBER: fill_lanes(y, s->value); break;
    case PW_X_HEAD: fill_lanes(y, r->head); break;
    case PW_X_LAYER: fill_lanes(y, r->use->layer); break;
    case PW_X_AT: fill_places(r, y); break;
    case PW_X_COUNT:
        for (int l = 0; l < 16; l++)
            y[l] = r->at + l + 1;
        break;
    case PW_X_IMPORT: import_unit(r, s, y); break;
    case PW_X_PARAM: fill_lanes(y, (double)r->param[pw_expr_float(r, s->param)]); break;
    case PW_X_SELECT:
        for (int l = 0; l < 16; l++)
            y[l] = a[l] != 0 ? b[l] : c[l];
        break;
    case PW_X_HIDDEN: hidden_units(r, s, a); break;
    case PW_X_OUT: network_output(r, s, y); break;
    case PW_X_CALL: call_function(r, s, y, a, b, c); break;
    default:
        for (int l = 0; l < r->n; l++)
            y[l] = lane_value(r, s, a[l], 0, 0);
    }
}

void PW_OP(expr_values)(const struct pw_expr_run *r, int from, int to)
{
    for (int k = from; k < to; k++) {
        const struct pw_expr_slot *s = &r->slot[k];
        double *y = r->value + 16 * k;
        slot_values(r, s, y);
        if (s->unit < 0 || s->op == PW_X_IMPORT)
            continue;
        for (int l = 0; l < r->n; l++)
            r->units[r->pass][pw_expr_export_at(r, s, r->at + l)] = y[l];
    }
}
