/* expr.c - a bias that a formula with learned parameters defines, and the gradients of its parameters: the
 * passes of its program (kernels/expr_code.h), sixteen places at a time. */
#include "kernels/cpu/expr.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/simd_double.h"

#include <string.h>

static const enum pw_expr_pass before_last[] = {PW_PASS_ONCE, PW_PASS_DISTANCE, PW_PASS_QUERY, PW_PASS_KEY};

/* ---- scratch */

static double *take(double *room, size_t *used, size_t n)
{
    double *p = room != NULL ? room + *used : NULL;
    *used += (n + 7) / 8 * 8;
    return p;
}

/* Lays out the memory of a run in room, and returns the doubles of it. room NULL: only counts them. */
static size_t lay_run(struct pw_expr_run *r, double *room, bool backward)
{
    size_t slots = 1, vectors = 0, lanes = 0, used = 0;
    for (int p = 0; p < PW_PASSES; p++) {
        const struct pw_expr_span *span = &r->code->pass[p];
        slots = (size_t)span->n > slots ? (size_t)span->n : slots;
        vectors = (size_t)span->vectors > vectors ? (size_t)span->vectors : vectors;
        lanes = (size_t)span->lanes > lanes ? (size_t)span->lanes : lanes;
        r->units[p] = take(room, &used, (size_t)span->units * r->stride[p]);
        r->d_units[p] = backward ? take(room, &used, (size_t)span->units * r->stride[p]) : NULL;
    }
    r->value = take(room, &used, 16 * slots);
    r->hidden = take(room, &used, 16 * vectors);
    if (!backward)
        return used;
    r->adjoint = take(room, &used, 16 * slots);
    r->d_hidden = take(room, &used, 16 * vectors);
    r->lanes = take(room, &used, 16 * lanes);
    r->sums = take(room, &used, (size_t)r->code->params);
    return used;
}

static struct pw_expr_run begin_run(struct pw_ctx *c, const struct pw_expr_use *x, const float *param, int H,
                                    int P, bool backward)
{
    struct pw_expr_run r = {.use = x, .code = x->code, .param = param, .H = H, .P = P};
    r.place = pw_expr_params(x->code);
    r.data = pw_expr_data(x->code);
    for (int p = 0; p < PW_PASSES; p++) {
        r.length[p] = p == PW_PASS_ONCE ? 1 : p == PW_PASS_DISTANCE ? pw_expr_distances(x->causal, P) : P;
        r.stride[p] = p == PW_PASS_ONCE ? 1 : (size_t)r.length[p] + 16; /* blocks may read past the end */
    }
    size_t doubles = lay_run(&r, NULL, backward);
    double *room = (double *)(void *)pw_ctx_scratch(c, 2 * doubles);
    memset(room, 0, doubles * sizeof *room);
    lay_run(&r, room, backward);
    return r;
}

/* ---- passes */

static int places_of(const struct pw_expr_run *r)
{
    return r->pass == PW_PASS_PAIR && r->use->causal ? r->query + 1 : r->length[r->pass];
}

static void begin_pass(struct pw_expr_run *r, enum pw_expr_pass pass)
{
    r->pass = pass;
    r->slot = pw_expr_slots(r->code, pass);
    r->query = 0;
}

static void begin_block(struct pw_expr_run *r, int at)
{
    int left = places_of(r) - at;
    r->at = at;
    r->n = left < 16 ? left : 16;
    r->head = 0;
}

/* The entry of lane l of the block, for a head. */
static size_t entry_of(const struct pw_expr_run *r, int h, int l)
{
    size_t P = (size_t)r->P, at = (size_t)(r->at + l);
    if (r->use->head > 0)
        return (size_t)h * (size_t)r->use->head + at * (size_t)r->use->place;
    if (r->pass == PW_PASS_PAIR)
        return ((size_t)h * P + (size_t)r->query) * P + at;
    return (size_t)h * (2 * P - 1) + (size_t)(r->use->causal ? r->P - 1 : 0) + at;
}

static void compute_row(struct pw_expr_run *r, float *bias)
{
    const struct pw_expr_span *span = &r->code->pass[r->pass];
    const double *root = r->value + 16 * r->code->root;
    for (int at = 0; at < places_of(r); at += 16) {
        begin_block(r, at);
        PW_OP(expr_values)(r, 0, span->shared);
        for (int h = 0; h < r->H && (bias != NULL || span->n > span->shared); h++) {
            r->head = h;
            PW_OP(expr_values)(r, span->shared, span->n);
            for (int l = 0; l < r->n && bias != NULL; l++)
                bias[entry_of(r, h, l)] = (float)root[l];
        }
    }
}

static void compute_exports(struct pw_expr_run *r)
{
    for (int p = 0; p < 4; p++)
        if (before_last[p] != pw_expr_last(r->code) && r->code->pass[before_last[p]].n > 0) {
            begin_pass(r, before_last[p]);
            compute_row(r, NULL);
        }
}

void PW_OP(expr_fwd)(struct pw_ctx *c, float *bias, const float *param, const struct pw_expr_use *x, int H,
                     int P)
{
    struct pw_expr_run r = begin_run(c, x, param, H, P, false);
    memset(bias, 0, pw_expr_entries(x, H, P) * sizeof *bias);
    compute_exports(&r);
    begin_pass(&r, pw_expr_last(x->code));
    for (int i = 0; i < (x->code->dense ? P : 1); i++) {
        r.query = i;
        compute_row(&r, bias);
    }
}

/* ---- backward */

static void add_root(struct pw_expr_run *r, const float *d_bias, int h)
{
    double *g = r->adjoint + 16 * r->code->root;
    for (int l = 0; l < r->n; l++)
        g[l] += (double)d_bias[entry_of(r, h, l)];
}

/* Returns a sum by lanes and clears it for the next row. */
static double end_sum(struct pw_expr_run *r, int lane)
{
    double *at = r->lanes + 16 * lane, sum = w_tree(w_load(at));
    w_store(at, w_set(0));
    return sum;
}

/* Adds the sums by lanes of a row to what they are sums of. */
static void end_row(struct pw_expr_run *r)
{
    const struct pw_expr_span *span = &r->code->pass[r->pass];
    for (int p = 0; p < r->code->n_params && span->lane == 0; p++) {
        const struct pw_expr_place *place = &r->place[p];
        double *sums = r->sums + place->offset + r->use->layer * place->layer;
        for (int e = 0; e < place->floats && place->lane >= 0; e++)
            sums[e] += end_sum(r, place->lane + e);
    }
    for (int k = 0; k < span->n; k++) {
        const struct pw_expr_slot *s = &r->slot[k];
        if (s->op != PW_X_IMPORT || !s->learns || (s->from != PW_PASS_ONCE && s->from != PW_PASS_QUERY))
            continue;
        for (int h = 0; h < (s->head ? r->H : 1); h++) {
            size_t at = (size_t)(s->unit + h) * r->stride[s->from] +
                        (size_t)(s->from == PW_PASS_QUERY ? r->query : 0);
            r->d_units[s->from][at] += end_sum(r, s->lane + h);
        }
    }
}

static void differentiate_row(struct pw_expr_run *r, const float *d_bias)
{
    const struct pw_expr_span *span = &r->code->pass[r->pass];
    /* A network's output has no part in its own adjoint. */
    bool output = d_bias != NULL && r->code->root == span->n - 1 && r->slot[r->code->root].op == PW_X_OUT;
    int needed = output ? span->n - 1 : span->n;
    for (int at = 0; at < places_of(r); at += 16) {
        begin_block(r, at);
        PW_OP(expr_values)(r, 0, span->shared);
        PW_OP(expr_seed)(r, 0, span->shared);
        for (int h = 0; h < r->H && (d_bias != NULL || span->n > span->shared); h++) {
            r->head = h;
            PW_OP(expr_values)(r, span->shared, needed);
            PW_OP(expr_seed)(r, span->shared, span->n);
            if (d_bias != NULL)
                add_root(r, d_bias, h);
            PW_OP(expr_adjoints)(r, span->shared, span->n);
        }
        r->head = 0;
        PW_OP(expr_adjoints)(r, 0, span->shared);
    }
    end_row(r);
}

void PW_OP(expr_bwd)(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_expr_use *x, int L, int H, int P)
{
    size_t all = pw_expr_entries(x, H, P);
    enum pw_expr_pass last = pw_expr_last(x->code);
    for (int l = 1; l < L; l++)
        PW_OP(add)(c, d_bias, d_bias + (size_t)l * all, all);
    struct pw_expr_run r = begin_run(c, x, param, H, P, true);
    compute_exports(&r);
    begin_pass(&r, last);
    for (int i = 0; i < (x->code->dense ? P : 1); i++) {
        r.query = i;
        differentiate_row(&r, d_bias);
    }
    for (int p = 3; p >= 0; p--)
        if (before_last[p] != last && x->code->pass[before_last[p]].learns) {
            begin_pass(&r, before_last[p]);
            differentiate_row(&r, NULL);
        }
    for (int p = 0; p < x->code->params; p++)
        d_param[p] = (float)((double)d_param[p] + r.sums[p]);
}
