/* expr_adjoints.c - the adjoints of a formula's slots at sixteen places, in the order of kernels/backend.h.
 */
#include "kernels/cpu/expr.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd_double.h"
#include "kernels/expr_maths.h"

static void add_lanes(double *sum, const double *x)
{
    w_store(sum, w_add(w_load(sum), w_load(x)));
}

/* The adjoint of an argument; NULL if it has none. */
static double *argument(const struct pw_expr_run *r, const struct pw_expr_slot *s, int k)
{
    return s->arg[k] >= 0 && r->slot[s->arg[k]].learns ? r->adjoint + 16 * s->arg[k] : NULL;
}

static void leave_import(const struct pw_expr_run *r, const struct pw_expr_slot *s, const double *g)
{
    enum pw_expr_pass from = (enum pw_expr_pass)s->from;
    int head = s->head ? r->head : 0;
    if (from == PW_PASS_ONCE || from == PW_PASS_QUERY)
        add_lanes(r->lanes + 16 * (s->lane + head), g);
    else
        add_lanes(r->d_units[from] + pw_expr_unit_at(r, from, s->unit + head), g);
}

static void leave_entries(const struct pw_expr_run *r, const struct pw_expr_slot *s, const double *g)
{
    size_t first = pw_expr_float(r, s->param);
    const double *at = r->value + 16 * s->arg[0];
    double *d_at = argument(r, s, 0), *sums = r->sums + first, share;
    const float *t = r->param + first;
    for (int l = 0; l < r->n; l++) {
        int low = pw_f_entry(at[l], s->size, s->op == PW_X_BETWEEN, &share);
        if (g[l] == 0)
            continue;
        sums[low] += g[l] * (1 - share);
        if (share > 0)
            sums[low + 1] += g[l] * share;
        if (s->op == PW_X_BETWEEN && d_at != NULL && at[l] > 0 && low + 1 < s->size)
            d_at[l] += pw_f_product(g[l], (double)t[low + 1] - (double)t[low]);
    }
}

static void network_adjoints(const struct pw_expr_run *r, const struct pw_expr_slot *s, const double *g)
{
    const struct pw_expr_place *w2 = &r->place[s->param + 2], *b2 = w2 + 1;
    const float *w = r->param + pw_expr_float(r, s->param + 2);
    const double *hid = r->hidden + 16 * (size_t)s->vector;
    double *d_hid = r->d_hidden + 16 * (size_t)s->vector;
    double *sums = r->lanes + 16 * (w2->lane + r->head * w2->head);
    const double *in = r->value + 16 * r->slot[s->arg[0]].arg[0];
    bool finite = true;
    w16 d = w_load(g);
    for (int l = 0; l < r->n; l++)
        finite = finite && in[l] - in[l] == 0;
    for (int k = 0; k < s->size; k++) {
        w16 unit = w_load(hid + 16 * k);
        if (!finite) { /* an adjoint of 0 stays without effect */
            double kept[16];
            for (int l = 0; l < 16; l++)
                kept[l] = g[l] == 0 ? 0 : hid[16 * k + l];
            unit = w_load(kept);
        }
        w_store(sums + 16 * k, w_fma(d, unit, w_load(sums + 16 * k)));
        w_store(d_hid + 16 * k, w_fma(d, w_set((double)w[k]), w_load(d_hid + 16 * k)));
    }
    add_lanes(r->lanes + 16 * (b2->lane + r->head * b2->head), g);
}

static void hidden_adjoints(const struct pw_expr_run *r, const struct pw_expr_slot *s)
{
    const float *w = r->param + pw_expr_float(r, s->param);
    const double *in = r->value + 16 * s->arg[0], *hid = r->hidden + 16 * (size_t)s->vector;
    const double *d_hid = r->d_hidden + 16 * (size_t)s->vector;
    double *w1 = r->lanes + 16 * r->place[s->param].lane, *b1 = r->lanes + 16 * r->place[s->param + 1].lane;
    double *d_in = argument(r, s, 0), kept[16];
    for (int l = 0; l < 16; l++)
        kept[l] = l < r->n && in[l] - in[l] == 0 ? in[l] : 0; /* of another value all units are 0 or NaN */
    w16 u = w_load(kept), e = d_in != NULL ? w_load(d_in) : w_set(0);
    for (int k = 0; k < s->size; k++) {
        w16 a = w_where_positive(w_load(hid + 16 * k), w_load(d_hid + 16 * k));
        w_store(b1 + 16 * k, w_add(w_load(b1 + 16 * k), a));
        w_store(w1 + 16 * k, w_fma(a, u, w_load(w1 + 16 * k)));
        e = w_fma(a, w_set((double)w[k]), e);
    }
    if (d_in != NULL)
        w_store(d_in, e);
}

/* One argument of a cheap function: with f constant the compiler makes vector instructions of the loop. */
#define EACH_LANE(f)                                                                                         \
    case f:                                                                                                  \
        for (int l = 0; l < 16; l++) {                                                                       \
            double slope[3];                                                                                 \
            pw_f_slopes(f, a[l], b[l], c[l], y[l], slope);                                                   \
            d[l] += pw_f_product(g[l], slope[k]);                                                            \
        }                                                                                                    \
        return

static void call_adjoint(const struct pw_expr_run *r, const struct pw_expr_slot *s, double *restrict d, int k,
                         const double *y, const double *g)
{
    const double *a = pw_expr_operand(r, s, 0), *b = pw_expr_operand(r, s, 1), *c = pw_expr_operand(r, s, 2);
    switch ((enum pw_expr_function)s->from) {
        EACH_LANE(PW_F_ADD);
        EACH_LANE(PW_F_SUBTRACT);
        EACH_LANE(PW_F_MULTIPLY);
        EACH_LANE(PW_F_DIVIDE);
        EACH_LANE(PW_F_NEGATE);
        EACH_LANE(PW_F_ABS);
        EACH_LANE(PW_F_RELU);
        EACH_LANE(PW_F_EXP);
        EACH_LANE(PW_F_LOG);
        EACH_LANE(PW_F_LOG1P);
        EACH_LANE(PW_F_TANH);
        EACH_LANE(PW_F_SIGMOID);
        EACH_LANE(PW_F_MIN);
        EACH_LANE(PW_F_MAX);
    default:
        for (int l = 0; l < r->n; l++) {
            double slope[3];
            if (g[l] == 0)
                continue;
            pw_f_slopes((enum pw_expr_function)s->from, a[l], b[l], c[l], y[l], slope);
            d[l] += pw_f_product(g[l], slope[k]);
        }
    }
}

static void choice_adjoint(const struct pw_expr_run *r, const struct pw_expr_slot *s, double *restrict d,
                           int k, const double *g)
{
    const double *a = r->value + 16 * s->arg[0];
    for (int l = 0; l < r->n; l++)
        d[l] += (a[l] != 0) == (k == 1) ? g[l] : 0;
}

static void slot_adjoints(const struct pw_expr_run *r, const struct pw_expr_slot *s, const double *y,
                          const double *g)
{
    switch (s->op) {
    case PW_X_IMPORT: leave_import(r, s, g); break;
    case PW_X_PARAM: r->sums[pw_expr_float(r, s->param)] += g[0]; break;
    case PW_X_ENTRY:
    case PW_X_BETWEEN: leave_entries(r, s, g); break;
    case PW_X_OUT: network_adjoints(r, s, g); break;
    case PW_X_HIDDEN: hidden_adjoints(r, s); break;
    case PW_X_SELECT:
    case PW_X_CALL:
        for (int k = 0; k < 3; k++) {
            double *d = argument(r, s, k);
            if (d == NULL)
                continue;
            if (s->op == PW_X_CALL)
                call_adjoint(r, s, d, k, y, g);
            else if (k > 0)
                choice_adjoint(r, s, d, k, g);
        }
        break;
    default: break;
    }
}

void PW_OP(expr_seed)(const struct pw_expr_run *r, int from, int to)
{
    for (int k = from; k < to; k++) {
        const struct pw_expr_slot *s = &r->slot[k];
        double *g = r->adjoint + 16 * k;
        if (!s->learns)
            continue;
        w_store(g, w_set(0));
        if (s->op == PW_X_HIDDEN)
            for (int u = 0; u < s->size; u++)
                w_store(r->d_hidden + 16 * (size_t)(s->vector + u), w_set(0));
        if (s->unit < 0 || s->op == PW_X_IMPORT)
            continue;
        for (int l = 0; l < r->n; l++)
            g[l] = r->d_units[r->pass][pw_expr_export_at(r, s, r->at + l)];
    }
}

void PW_OP(expr_adjoints)(const struct pw_expr_run *r, int from, int to)
{
    for (int k = to - 1; k >= from; k--)
        if (r->slot[k].learns)
            slot_adjoints(r, &r->slot[k], r->value + 16 * k, r->adjoint + 16 * k);
}
