/* ref_expr.c - reference for bits: a formula's program, one place at a time, and the gradients of its
 * parameters as sums over the places of a row in the order of kernels/backend.h. */
#include "kernels/expr_code.h"
#include "kernels/expr_maths.h"
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <stdlib.h>

struct program {
    const struct pw_expr_use *use;
    const struct pw_expr_code *code;
    const float *param;
    int H, P;
    double *units[PW_PASSES], *d_units[PW_PASSES]; /* [unit][place] */
    double *sums;                                  /* [floats of the parameters] */
};

/* One place of a pass: query i, place k (of PAIR the key), and its values and adjoints. */
struct place {
    enum pw_expr_pass pass;
    int i, k, h;
    double *value, *adjoint; /* [row] */
    double *unit, *d_unit;   /* [hidden unit] */
};

static int length_of(const struct program *p, enum pw_expr_pass pass, int i)
{
    switch (pass) {
    case PW_PASS_ONCE: return 1;
    case PW_PASS_DISTANCE: return p->use->causal ? p->P : 2 * p->P - 1;
    case PW_PASS_PAIR: return p->use->causal ? i + 1 : p->P;
    default: return p->P;
    }
}

static const struct pw_expr_slot *slot_of(const struct program *p, const struct place *x, int k)
{
    return pw_expr_slots(p->code, x->pass) + k;
}

static double *cell_of(const struct place *x, const struct pw_expr_slot *s, bool adjoint)
{
    return (adjoint ? x->adjoint : x->value) + s->row + (s->head ? x->h : 0);
}

static double *unit_of(const struct place *x, const struct pw_expr_slot *hidden, bool adjoint)
{
    return (adjoint ? x->d_unit : x->unit) + hidden->wide + (hidden->head ? x->h * hidden->size : 0);
}

static const float *floats_of(const struct program *p, int param, int h)
{
    const struct pw_expr_place *at = &pw_expr_params(p->code)[param];
    return p->param + at->offset + p->use->layer * at->layer + h * at->head;
}

/* Where an import reads from its pass, or where the pass itself exports. */
static size_t unit_at(const struct program *p, const struct place *x, const struct pw_expr_slot *s)
{
    enum pw_expr_pass from = s->op == PW_X_IMPORT ? (enum pw_expr_pass)s->from : x->pass;
    int at = x->k, unit = s->unit + (s->head ? x->h : 0);
    if (from == PW_PASS_ONCE)
        at = 0;
    else if (x->pass == PW_PASS_PAIR && from == PW_PASS_QUERY)
        at = x->i;
    else if (x->pass == PW_PASS_PAIR && from == PW_PASS_DISTANCE)
        at = x->i - x->k + (p->use->causal ? 0 : p->P - 1);
    return (size_t)unit * (size_t)length_of(p, from, 0) + (size_t)at;
}

static double compute_slot(struct program *p, struct place *x, const struct pw_expr_slot *s)
{
    double a[3] = {0}, share, step = (double)p->use->step;
    for (int k = 0; k < 3; k++)
        a[k] = s->arg[k] >= 0 ? *cell_of(x, slot_of(p, x, s->arg[k]), false) : 0;
    switch (s->op) {
    case PW_X_NUMBER: return s->value;
    case PW_X_HEAD: return x->h;
    case PW_X_LAYER: return p->use->layer;
    case PW_X_COUNT: return x->k + 1;
    case PW_X_AT:
        if (x->pass == PW_PASS_DISTANCE && p->use->head == 0)
            return 0 + (p->use->causal ? x->k : x->k - (p->P - 1)) * step;
        return (double)p->use->from + x->k * step;
    case PW_X_IMPORT: return p->units[s->from][unit_at(p, x, s)];
    case PW_X_PARAM: return (double)*floats_of(p, s->param, x->h);
    case PW_X_ENTRY: return (double)floats_of(p, s->param, x->h)[pw_f_entry(a[0], s->size, false, &share)];
    case PW_X_BETWEEN: {
        const float *t = floats_of(p, s->param, x->h);
        int low = pw_f_entry(a[0], s->size, true, &share);
        double below = (double)t[low];
        return share > 0 ? below + share * ((double)t[low + 1] - below) : below;
    }
    case PW_X_BUCKET: {
        const double *t = pw_expr_data(p->code) + s->param;
        int n = 0;
        while (n < s->size && t[n] <= nearbyint(a[0]))
            n++;
        return s->from + n;
    }
    case PW_X_SLOPE: return pw_expr_data(p->code)[s->param + pw_f_entry(a[0], s->size, false, &share)];
    case PW_X_SELECT: return a[0] != 0 ? a[1] : a[2];
    case PW_X_HIDDEN:
        for (int k = 0; k < s->size; k++) {
            double pre =
                fma((double)floats_of(p, s->param, 0)[k], a[0], (double)floats_of(p, s->param + 1, 0)[k]);
            unit_of(x, s, false)[k] = 0 > pre ? 0 : pre;
        }
        return 0;
    case PW_X_OUT: {
        double sum = (double)*floats_of(p, s->param + 3, x->h);
        for (int k = 0; k < s->size; k++)
            sum = fma((double)floats_of(p, s->param + 2, x->h)[k],
                      unit_of(x, slot_of(p, x, s->arg[0]), false)[k], sum);
        return sum;
    }
    case PW_X_CALL: return pw_f_value((enum pw_expr_function)s->from, a[0], a[1], a[2]);
    }
    return 0;
}

/* Computes the slots of a place, of all heads. */
static void compute_place(struct program *p, struct place *x)
{
    const struct pw_expr_span *span = &p->code->pass[x->pass];
    for (int k = 0; k < span->n; k++)
        for (x->h = 0; x->h < (k < span->shared ? 1 : p->H); x->h++) {
            const struct pw_expr_slot *s = slot_of(p, x, k);
            double y = compute_slot(p, x, s);
            *cell_of(x, s, false) = y;
            if (s->unit >= 0 && s->op != PW_X_IMPORT)
                p->units[x->pass][unit_at(p, x, s)] = y;
        }
}

/* Adds to an entry, or to both entries around a place between them. */
static void add_entries(struct program *p, struct place *x, const struct pw_expr_slot *s, double g)
{
    double share = 0, at = s->op == PW_X_PARAM ? 0 : *cell_of(x, slot_of(p, x, s->arg[0]), false);
    int low = s->op == PW_X_PARAM ? 0 : pw_f_entry(at, s->size, s->op == PW_X_BETWEEN, &share);
    double *sums = p->sums + (floats_of(p, s->param, x->h) - p->param);
    if (g == 0)
        return;
    sums[low] += g * (1 - share);
    if (share > 0)
        sums[low + 1] += g * share;
}

static void give_slot(struct program *p, struct place *x, const struct pw_expr_slot *s)
{
    double g = *cell_of(x, s, true), a[3] = {0}, slope[3] = {0}, share;
    for (int k = 0; k < 3; k++)
        a[k] = s->arg[k] >= 0 ? *cell_of(x, slot_of(p, x, s->arg[k]), false) : 0;
    if (s->op == PW_X_OUT) {
        double *d = unit_of(x, slot_of(p, x, s->arg[0]), true);
        for (int k = 0; k < s->size; k++)
            d[k] = fma(g, (double)floats_of(p, s->param + 2, x->h)[k], d[k]);
        return;
    }
    if (s->op == PW_X_HIDDEN) {
        double *d = unit_of(x, s, true), *in = cell_of(x, slot_of(p, x, s->arg[0]), true);
        for (int k = 0; k < s->size; k++) {
            d[k] = unit_of(x, s, false)[k] > 0 ? d[k] : 0;
            *in = slot_of(p, x, s->arg[0])->learns ? fma(d[k], (double)floats_of(p, s->param, 0)[k], *in) : 0;
        }
        return;
    }
    if (g == 0)
        return;
    if (s->op == PW_X_SELECT)
        slope[a[0] != 0 ? 1 : 2] = 1;
    if (s->op == PW_X_CALL)
        pw_f_slopes((enum pw_expr_function)s->from, a[0], a[1], a[2], *cell_of(x, s, false), slope);
    if (s->op == PW_X_BETWEEN) {
        int low = pw_f_entry(a[0], s->size, true, &share);
        const float *t = floats_of(p, s->param, x->h);
        slope[0] = a[0] > 0 && low + 1 < s->size ? (double)t[low + 1] - (double)t[low] : 0;
    }
    for (int k = 0; k < 3; k++)
        if (s->arg[k] >= 0 && slot_of(p, x, s->arg[k])->learns)
            *cell_of(x, slot_of(p, x, s->arg[k]), true) += pw_f_product(g, slope[k]);
}

/* d_bias: the adjoint of the root [H] `apart` floats from each other; NULL: 0. */
static void differentiate_place(struct program *p, struct place *x, const float *d_bias, size_t apart)
{
    const struct pw_expr_span *span = &p->code->pass[x->pass];
    for (int k = 0; k < span->n; k++)
        for (x->h = 0; x->h < (k < span->shared ? 1 : p->H); x->h++) {
            const struct pw_expr_slot *s = slot_of(p, x, k);
            bool exported = s->unit >= 0 && s->op != PW_X_IMPORT;
            *cell_of(x, s, true) = exported ? p->d_units[x->pass][unit_at(p, x, s)] : 0;
        }
    for (x->h = 0; x->h < p->H; x->h++) {
        if (d_bias != NULL)
            *cell_of(x, slot_of(p, x, p->code->root), true) += (double)d_bias[(size_t)x->h * apart];
        for (int k = span->n - 1; k >= span->shared; k--)
            if (slot_of(p, x, k)->learns)
                give_slot(p, x, slot_of(p, x, k));
    }
    x->h = 0;
    for (int k = span->shared - 1; k >= 0; k--)
        if (slot_of(p, x, k)->learns)
            give_slot(p, x, slot_of(p, x, k));
}

/* ---- sums of a row */

static double tree_of(const double *lane)
{
    double s[16];
    for (int l = 0; l < 16; l++)
        s[l] = lane[l];
    for (int by = 8; by > 0; by /= 2)
        for (int l = 0; l < by; l++)
            s[l] += s[l + by];
    return s[0];
}

/* Float e of parameter q of a network: the sum of its slots at a place, continued from sum. */
static double add_network(struct program *p, struct place *x, const struct pw_expr_slot *s, int q, int e,
                          double sum)
{
    const struct pw_expr_slot *hidden = s->op == PW_X_OUT ? slot_of(p, x, s->arg[0]) : s;
    double in = *cell_of(x, slot_of(p, x, hidden->arg[0]), false), g = *cell_of(x, s, true);
    bool out = s->op == PW_X_OUT;
    switch (q - s->param) {
    case 0: return out ? sum : fma(unit_of(x, s, true)[e], in - in == 0 ? in : 0, sum);
    case 1: return out ? sum : sum + unit_of(x, s, true)[e];
    case 2:
        return out && e / s->size == x->h ? fma(g, g == 0 ? 0 : unit_of(x, hidden, false)[e % s->size], sum)
                                          : sum;
    case 3: return out && e == x->h ? sum + g : sum;
    default: return sum;
    }
}

/* Adds the contribution of one place to one sum by lanes: float e of parameter q, or import slot `import` of
 * head e. */
static double add_place(struct program *p, struct place *x, int q, int import, int e, double sum)
{
    const struct pw_expr_span *span = &p->code->pass[x->pass];
    if (import >= 0) {
        x->h = e;
        return sum + *cell_of(x, slot_of(p, x, import), true);
    }
    for (int h = 0; h <= p->H; h++) {
        x->h = h < p->H ? h : 0;
        for (int k = span->n - 1; k >= 0; k--) {
            const struct pw_expr_slot *s = slot_of(p, x, k);
            if ((k >= span->shared) == (h < p->H) && (s->op == PW_X_HIDDEN || s->op == PW_X_OUT))
                sum = add_network(p, x, s, q, e, sum);
        }
    }
    return sum;
}

static double lanes_of(struct program *p, struct place *row, int n, int q, int import, int e)
{
    double lane[16] = {0};
    for (int k = 0; k < n; k++)
        lane[k % 16] = add_place(p, &row[k], q, import, e, lane[k % 16]);
    return tree_of(lane);
}

static void end_row(struct program *p, struct place *row, int n)
{
    const struct pw_expr_span *span = &p->code->pass[row->pass];
    const struct pw_expr_place *place = pw_expr_params(p->code);
    for (int q = 0; q < p->code->n_params && span->vectors > 0; q++)
        for (int e = 0; e < place[q].floats && place[q].lane >= 0; e++)
            p->sums[place[q].offset + p->use->layer * place[q].layer + e] += lanes_of(p, row, n, q, -1, e);
    for (int k = 0; k < span->n; k++) {
        const struct pw_expr_slot *s = slot_of(p, row, k);
        bool lanes = s->from == PW_PASS_ONCE || s->from == PW_PASS_QUERY;
        for (int h = 0; s->op == PW_X_IMPORT && s->learns && h < (s->head ? p->H : 1); h++) {
            row->h = h;
            if (lanes)
                p->d_units[s->from][unit_at(p, row, s)] += lanes_of(p, row, n, -1, k, h);
            for (int at = 0; at < n && !lanes; at++) {
                row[at].h = h;
                p->d_units[s->from][unit_at(p, &row[at], s)] += *cell_of(&row[at], s, true);
            }
        }
    }
    for (int from = 0; from < n; from += 16)
        for (int h = 0; h <= p->H; h++)
            for (int k = span->n - 1; k >= 0; k--)
                for (int at = from; at < n && at < from + 16; at++) {
                    const struct pw_expr_slot *s = slot_of(p, row, k);
                    bool reads = s->op == PW_X_PARAM || s->op == PW_X_ENTRY || s->op == PW_X_BETWEEN;
                    row[at].h = h < p->H ? h : 0;
                    if ((k >= span->shared) == (h < p->H) && reads)
                        add_entries(p, &row[at], s, *cell_of(&row[at], s, true));
                }
}

/* ---- passes */

static size_t entry_of(const struct program *p, const struct place *x, int h)
{
    size_t P = (size_t)p->P;
    if (p->use->head > 0)
        return (size_t)(h * p->use->head + x->k * p->use->place);
    if (x->pass == PW_PASS_PAIR)
        return ((size_t)h * P + (size_t)x->i) * P + (size_t)x->k;
    return (size_t)h * (2 * P - 1) + (size_t)(p->use->causal ? p->P - 1 : 0) + (size_t)x->k;
}

/* Computes a row of a pass, its bias if there is one, and with `back` its gradients, from d_bias if there is
 * one. */
static void run_row(struct program *p, enum pw_expr_pass pass, int i, float *bias, const float *d_bias,
                    bool back)
{
    const struct pw_expr_span *span = &p->code->pass[pass];
    int n = length_of(p, pass, i);
    size_t cells = (size_t)(2 * span->rows + 2 * span->wide + 1),
           apart = p->use->head > 0 ? (size_t)p->use->head : pw_bias_entries(p->code->dense, p->P);
    double *room = calloc((size_t)n * cells, sizeof *room);
    struct place *row = calloc((size_t)n, sizeof *row);
    for (int k = 0; k < n; k++) {
        struct place *x = &row[k];
        x->pass = pass, x->i = i, x->k = k;
        x->value = room + (size_t)k * cells;
        x->adjoint = x->value + span->rows;
        x->unit = x->adjoint + span->rows;
        x->d_unit = x->unit + span->wide;
        compute_place(p, x);
        for (int h = 0; bias != NULL && h < p->H; h++) {
            x->h = h;
            bias[entry_of(p, x, h)] = (float)*cell_of(x, slot_of(p, x, p->code->root), false);
        }
        if (back)
            differentiate_place(p, x, d_bias != NULL ? d_bias + entry_of(p, x, 0) : NULL, apart);
    }
    if (back)
        end_row(p, row, n);
    free(row);
    free(room);
}

static struct program begin_program(const struct pw_expr_use *x, const float *param, int H, int P)
{
    struct program p = {.use = x, .code = x->code, .param = param, .H = H, .P = P};
    for (int k = 0; k < PW_PASSES; k++) {
        size_t n = (size_t)x->code->pass[k].units * (size_t)length_of(&p, (enum pw_expr_pass)k, P) + 1;
        p.units[k] = calloc(n, sizeof(double));
        p.d_units[k] = calloc(n, sizeof(double));
    }
    p.sums = calloc((size_t)x->code->params, sizeof *p.sums);
    for (int k = 0; k < PW_PASSES; k++)
        if (k != (int)pw_expr_last(x->code) && x->code->pass[k].n > 0)
            run_row(&p, (enum pw_expr_pass)k, 0, NULL, NULL, false);
    return p;
}

static void end_program(struct program *p)
{
    for (int k = 0; k < PW_PASSES; k++) {
        free(p->units[k]);
        free(p->d_units[k]);
    }
    free(p->sums);
}

void PW_OP(expr_fwd)(struct pw_ctx *c, float *bias, const float *param, const struct pw_expr_use *x, int H,
                     int P)
{
    struct program p = begin_program(x, param, H, P);
    (void)c;
    for (size_t k = 0; k < pw_expr_entries(x, H, P); k++)
        bias[k] = 0;
    for (int i = 0; i < (x->code->dense ? P : 1); i++)
        run_row(&p, pw_expr_last(x->code), i, bias, NULL, false);
    end_program(&p);
}

void PW_OP(expr_bwd)(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_expr_use *x, int L, int H, int P)
{
    static const enum pw_expr_pass back[] = {PW_PASS_KEY, PW_PASS_QUERY, PW_PASS_DISTANCE, PW_PASS_ONCE};
    struct program p = begin_program(x, param, H, P);
    size_t all = pw_expr_entries(x, H, P);
    (void)c;
    for (size_t k = 0; k < all; k++)
        for (int l = 1; l < L; l++)
            d_bias[k] += d_bias[(size_t)l * all + k];
    for (int i = 0; i < (x->code->dense ? P : 1); i++)
        run_row(&p, pw_expr_last(x->code), i, NULL, d_bias, true);
    for (int k = 0; k < 4; k++)
        if (back[k] != pw_expr_last(x->code) && x->code->pass[back[k]].n > 0)
            run_row(&p, back[k], 0, NULL, NULL, true);
    for (int k = 0; k < x->code->params; k++)
        d_param[k] = (float)((double)d_param[k] + p.sums[k]);
    end_program(&p);
}
