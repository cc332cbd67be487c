/* nearest.c - the built-in encoding that a formula equals. Fixed tables are compared entry by entry, up to a
 * factor: at all of the first positions, and at some of all others. A learned bias is the same if both read
 * an entry of a table for the same distances. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "kernels/score.h"
#include "model/expr/describe.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

#define NEAR 1e-3
/* Positions of the two samples. A row of an embedding has many entries, so few rows do. */
enum { FIRST = 128, LATER = 64, FIRST_ROWS = 8, LATER_ROWS = 16 };

/* ---- fixed tables */

struct sample {
    struct pw_pe_tables t;
    size_t n[4]; /* entries of added rows, cosine, sine, bias */
    float *part[4];
    bool causal; /* only the causal half of a bias counts */
};

static int pairs_of(const struct pw_pe_use_opts *use, const struct pw_config *cfg)
{
    return use->pe->uses & PW_PE_ROTATION ? use->pe->pairs(use->o.bytes, cfg) : 0;
}

/* P positions; 0: none. */
static struct sample sample_of(const struct pw_pe_use_opts *use, const struct pw_config *cfg, int P,
                               double step)
{
    const struct pw_pe *pe = use->pe;
    size_t rows = (size_t)P, pairs = rows * (size_t)pairs_of(use, cfg);
    struct sample s = {.t = {.P = P, .rows = P, .step = step}, .causal = cfg->causal};
    if (P == 0)
        return s;
    s.n[0] = pe->uses & PW_PE_ADDED ? rows * cfg->width : 0;
    s.n[1] = s.n[2] = pairs;
    s.n[3] = pe->uses & PW_PE_BIAS ? (2 * rows - 1) * cfg->heads : 0;
    for (int k = 0; k < 4; k++)
        s.part[k] = s.n[k] > 0 ? pw_alloc(s.n[k], sizeof(float)) : NULL;
    s.t.add[0] = s.part[0];
    s.t.cosine = s.part[1];
    s.t.sine = s.part[2];
    s.t.bias = s.part[3];
    if (pe->build != NULL)
        pe->build(use->o.bytes, cfg, &s.t);
    return s;
}

static void sample_free(struct sample *s)
{
    for (int k = 0; k < 4; k++)
        free(s->part[k]);
}

/* Sums over two samples, or the largest difference once the factor is known. */
struct comparison {
    double ab, bb, largest, error, factor;
    bool same_bits;
};

static void compare(struct comparison *c, const struct sample *a, const struct sample *b)
{
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; i < a->n[k]; i++) {
            size_t P = (size_t)a->t.P;
            if (k == 3 && a->causal && i % (2 * P - 1) < P - 1)
                continue;
            double x = (double)a->part[k][i], y = (double)b->part[k][i];
            c->ab += x * y;
            c->bb += y * y;
            double difference = fabs(x - c->factor * y);
            c->largest = fabs(x) > c->largest ? fabs(x) : c->largest;
            c->error = difference > c->error ? difference : c->error;
            c->same_bits = c->same_bits && memcmp(&a->part[k][i], &b->part[k][i], sizeof(float)) == 0;
        }
}

/* Compares both with a factor on the built-in encoding. */
static struct comparison compared(const struct sample *formula, const struct sample *built_in, double factor)
{
    struct comparison c = {.factor = factor, .same_bits = true};
    for (int k = 0; k < 2; k++)
        compare(&c, &formula[k], &built_in[k]);
    return c;
}

static bool same_shape(const struct pw_pe_use_opts *a, const struct pw_pe_use_opts *b,
                       const struct pw_config *cfg)
{
    unsigned gain = pw_pe_gains(b) ? 0u : PW_PE_GAIN; /* a use without effect at these options */
    if (a->pe->uses != (b->pe->uses & ~gain) || pw_pe_adds(b->pe) > 1 ||
        memcmp(a->pe->by, b->pe->by, sizeof a->pe->by) != 0)
        return false;
    return !(a->pe->uses & PW_PE_ROTATION) ||
           (pairs_of(a, cfg) == pairs_of(b, cfg) && a->pe->pairing(a->o.bytes) == b->pe->pairing(b->o.bytes));
}

static void try_fixed(struct pw_formula_twin *best, const struct sample *formula,
                      const struct pw_pe_use_opts *b, const struct pw_config *cfg, double step)
{
    struct sample s[2] = {sample_of(b, cfg, formula[0].t.P, 1), sample_of(b, cfg, formula[1].t.P, step)};
    struct comparison c = compared(formula, s, 1);
    double factor = 1;
    if (!(c.error < NEAR * c.largest) && c.bb > 0 && c.ab != 0) {
        factor = c.ab / c.bb;
        c = compared(formula, s, factor);
    }
    if (c.error < NEAR * c.largest && (best->pe == NULL || c.error / c.largest < best->error))
        *best = (struct pw_formula_twin){
            .pe = b->pe, .factor = factor, .error = c.same_bits ? 0 : fmax(c.error / c.largest, 1e-16)};
    for (int k = 0; k < 2; k++)
        sample_free(&s[k]);
}

/* ---- learned entries */

/* The number of the only table that the bias is an entry of; -1: it is something else. */
static int table_of(const struct pw_expr *x)
{
    const struct pw_node *root = x->root[PW_STAGE_BIAS] >= 0 ? &x->node[x->root[PW_STAGE_BIAS]] : NULL;
    return root != NULL && root->op == PW_NODE_ENTRY && x->param[root->index].axis == PW_AXIS_HEAD &&
                   !x->param[root->index].per_layer && x->n_params == 1
               ? root->index
               : -1;
}

/* Does the formula read one entry exactly for those distances for which the built-in encoding does? */
static bool same_entries(const struct pw_pe_use_opts *use, const struct pw_pe_use_opts *b,
                         const struct pw_config *cfg)
{
    const struct pw_formula *f = pw_formula_of(use->o.bytes);
    int size = f->x->param[0].size, rows = b->pe->param_rows(b->o.bytes, cfg), P = cfg->context;
    int *mine = pw_alloc((size_t)size, sizeof *mine), *its = pw_alloc((size_t)rows, sizeof *its);
    double *values = pw_alloc((size_t)size, sizeof *values);
    double *regs = pw_alloc((size_t)pw_expr_n_nodes(f->x), sizeof *regs);
    const double *param[1] = {values};
    struct pw_formula_inputs in = pw_formula_inputs_of(f->x, NULL, cfg, 0, 1);
    const uint64_t place = UINT64_C(1) << PW_VAR_DISTANCE | UINT64_C(1) << PW_VAR_HEAD;
    bool same = true;
    for (int e = 0; e < size; e++) {
        values[e] = e; /* the value is the number of the entry */
        mine[e] = -1;
    }
    for (int r = 0; r < rows; r++)
        its[r] = -1;
    int heads = pw_expr_reads(f->x, PW_STAGE_BIAS, PW_VAR_HEAD) ? cfg->heads : 1;
    pw_expr_eval(f->x, PW_STAGE_BIAS, in.vars, param, regs);
    for (int d = cfg->causal ? 0 : 1 - P; same && d < P; d++)
        for (int h = 0; same && h < (d < FIRST ? heads : 1); h++) {
            in.vars[PW_VAR_HEAD] = h;
            in.vars[PW_VAR_DISTANCE] = d;
            int e = (int)pw_expr_eval_changed(f->x, PW_STAGE_BIAS, in.vars, param, regs, place);
            int r = b->pe->index(b->o.bytes, cfg, d);
            same = (mine[e] < 0 || mine[e] == r) && (its[r] < 0 || its[r] == e);
            mine[e] = r;
            its[r] = e;
        }
    pw_formula_inputs_fini(&in);
    free(regs);
    free(mine);
    free(its);
    free(values);
    return same;
}

/* ---- gates */

enum { FARTHEST = 20 };

/* The largest difference between the formula's gate and ln sigmoid, that of a built-in encoding without a
 * function of its own, relative to the largest value. Infinite if layers or heads differ. */
static double gate_error(const struct pw_pe_use_opts *use, const struct pw_config *cfg)
{
    struct pw_score *f = pw_alloc((size_t)cfg->layers, sizeof *f);
    bool varies = pw_expr_reads(pw_formula_of(use->o.bytes)->x, PW_STAGE_GATE, PW_VAR_LAYER) ||
                  pw_expr_reads(pw_formula_of(use->o.bytes)->x, PW_STAGE_GATE, PW_VAR_HEAD);
    double error = varies ? INFINITY : 0;
    use->pe->gate(use->o.bytes, cfg, 0, 1, f);
    for (float x = -FARTHEST; x <= FARTHEST; x += 0.25f) {
        float slope, y = pw_score_value(f, (struct pw_score_pair){0}, x, &slope);
        error = fmax(error, fabs((double)y + log1p(exp(-(double)x))));
    }
    free(f);
    return error / FARTHEST;
}

/* ---- mixes */

/* Is a mix the entry d of a table for each m and layer, for the distances of a built-in bank? */
static bool same_bank(const struct pw_pe_use_opts *use, const struct pw_pe_use_opts *b,
                      const struct pw_config *cfg)
{
    const struct pw_expr *x = pw_formula_of(use->o.bytes)->x;
    int reach = use->pe->reach(use->o.bytes, cfg), its = b->pe->reach(b->o.bytes, cfg);
    const struct pw_expr_param *q = &x->param[0];
    its = its < cfg->context ? its : cfg->context;
    if (x->n_params != 1 || q->axis != PW_AXIS_MIX || !q->per_layer || q->size < reach || reach != its ||
        x->mixes != b->pe->mixes(b->o.bytes))
        return false;
    double *values = pw_alloc((size_t)q->size, sizeof *values);
    const double *param[1] = {values};
    struct pw_formula_inputs in = pw_formula_inputs_of(x, NULL, cfg, 0, 1);
    struct pw_formula_at at = {0};
    bool same = true;
    in.param = param;
    for (int e = 0; e < q->size; e++)
        values[e] = e + 1; /* the value is the number of the entry */
    for (at.layer = 0; at.layer < cfg->layers; at.layer++)
        for (at.part = 0; at.part < x->mixes; at.part++)
            for (at.query = 0; same && at.query < cfg->context; at.query++)
                same = pw_formula_value(&in, PW_STAGE_MIX, &at) == (at.query < reach ? at.query + 1 : 0);
    pw_formula_inputs_fini(&in);
    free(values);
    return same;
}

static struct pw_formula_twin find_twin(const struct pw_pe_use_opts *use, const struct pw_config *cfg)
{
    const struct pw_formula *f = pw_formula_of(use->o.bytes);
    struct pw_formula_twin best = {.factor = 1};
    bool fixed = f->x->n_params == 0 && f->pe.by_layer == 0 && !f->pe.key_turns &&
                 f->pe.rows_by_length == NULL &&
                 (f->pe.uses & ~(unsigned)(PW_PE_ADDED | PW_PE_ROTATION | PW_PE_BIAS)) == 0;
    bool table = f->pe.uses == PW_PE_BIAS && table_of(f->x) >= 0;
    bool rows = (f->pe.uses & PW_PE_ADDED) != 0;
    int first = rows ? FIRST_ROWS : FIRST, later = rows ? LATER_ROWS : LATER;
    double step = fmax(1, (cfg->context - 1) / (later - 1));
    double gate = f->pe.uses == PW_PE_TERMS ? gate_error(use, cfg) : INFINITY;
    struct sample s[2] = {{.n = {0}}, {.n = {0}}};
    if (fixed && f->pe.uses != 0) {
        s[0] = sample_of(use, cfg, cfg->context < first ? cfg->context : first, 1);
        s[1] = sample_of(use, cfg, cfg->context <= first ? 0 : later, step);
    }
    for (int k = 0; pw_pes[k] != NULL; k++) {
        struct pw_pe_use_opts b;
        if (use->pe->ids != NULL) /* equal tables are read at other positions */
            break;
        if (((f->pe.uses ^ pw_pes[k]->uses) & ~(unsigned)PW_PE_GAIN) != 0 ||
            pw_pe_parse(&b, pw_pes[k]->name, cfg, NULL) != PW_OK || !same_shape(use, &b, cfg))
            continue;
        if (fixed && !pw_pe_learns(b.pe) && f->pe.uses != 0)
            try_fixed(&best, s, &b, cfg, step);
        else if (table && b.pe->index != NULL && b.pe->param_rows != NULL && best.pe == NULL &&
                 same_entries(use, &b, cfg))
            best = (struct pw_formula_twin){.pe = b.pe, .factor = 1, .learned = true};
        else if (f->pe.uses == PW_PE_MIXES && same_bank(use, &b, cfg))
            best = (struct pw_formula_twin){.pe = b.pe, .factor = 1, .learned = true};
        else if (f->pe.uses == PW_PE_SCAN && f->pe.scan == b.pe->scan &&
                 (f->pe.scan != PW_SCAN_CONTEXT ||
                  use->pe->scan_rows(use->o.bytes) == b.pe->scan_rows(b.o.bytes)))
            best = (struct pw_formula_twin){.pe = b.pe, .factor = 1};
        else if (b.pe->uses == PW_PE_TERMS && gate < NEAR)
            best = (struct pw_formula_twin){.pe = b.pe, .factor = 1, .error = fmax(gate, 1e-16)};
    }
    for (int k = 0; k < 2; k++)
        sample_free(&s[k]);
    return best;
}

/* The last answer, because seeds, forks and swaps back ask for the same formula again. Formulas live until
 * the process ends. A difference in padding costs a search. */
static _Thread_local struct {
    struct pw_pe_use_opts use;
    struct pw_config cfg;
    struct pw_formula_twin twin;
} last;

struct pw_formula_twin pw_formula_nearest(const struct pw_pe_use_opts *use, const struct pw_config *cfg)
{
    if (memcmp(&last.use, use, sizeof *use) != 0 || memcmp(&last.cfg, cfg, sizeof *cfg) != 0) {
        last.twin = find_twin(use, cfg);
        memcpy(&last.use, use, sizeof *use);
        memcpy(&last.cfg, cfg, sizeof *cfg);
    }
    return last.twin;
}
