/* expr.h - evaluation of a formula's program on the cpu: sixteen places of a pass at a time. expr.c runs the
 * passes, expr_values.c computes the slots of a block, expr_adjoints.c their adjoints. */
#ifndef PW_CPU_EXPR_H
#define PW_CPU_EXPR_H
#include "kernels/cpu/ops.h"
#include "kernels/expr_code.h"

#include <stdint.h>

/* A program with its parameters, and the block of 16 places that is being computed. Arrays of doubles but
 * data are scratch of the call; the other pointers are borrowed. */
struct pw_expr_run {
    const struct pw_expr_use *use;
    const struct pw_expr_code *code;
    const struct pw_expr_place *place; /* where each parameter is in param */
    const double *data;                /* constants of the program */
    const float *param;
    int H, P;
    int length[PW_PASSES];    /* places of a pass; of PAIR P */
    size_t stride[PW_PASSES]; /* doubles of one unit */
    /* Exports and their adjoints [unit][stride]. Those of DISTANCE are in descending order, so that the keys
     * of a query are contiguous: distance index t is at length-1-t. */
    double *units[PW_PASSES], *d_units[PW_PASSES];
    double *value, *adjoint;   /* [slot][16] */
    double *hidden, *d_hidden; /* [hidden unit][16] */
    double *lanes;             /* [sum by lanes][16] */
    double *sums;              /* gradients of the parameters [floats of the parameters] */

    enum pw_expr_pass pass;
    const struct pw_expr_slot *slot; /* of the pass */
    int query, head;
    int at, n; /* first place of the block, and number of places; lanes from n on have the adjoint 0 */
};

/* Returns the index in param of entry 0 of a parameter, for the current layer and head. */
static inline size_t pw_expr_float(const struct pw_expr_run *r, int param)
{
    const struct pw_expr_place *p = &r->place[param];
    return (size_t)(p->offset + r->use->layer * p->layer + r->head * p->head);
}

/* Returns the 16 values of argument k of a slot; arbitrary values if the argument is unused. */
static inline const double *pw_expr_operand(const struct pw_expr_run *r, const struct pw_expr_slot *s, int k)
{
    return r->value + 16 * (s->arg[k] < 0 ? 0 : s->arg[k]);
}

/* For IMPORT: the index in units[from] of a unit's value for lane 0 of the block. Lane l reads the same value
 * if `from` is ONCE or QUERY, else the value l doubles later. */
static inline size_t pw_expr_unit_at(const struct pw_expr_run *r, enum pw_expr_pass from, int unit)
{
    size_t at = (size_t)unit * r->stride[from];
    if (from == PW_PASS_DISTANCE)
        return at + (size_t)(r->P - 1 - r->query + r->at);
    return at + (size_t)(from == PW_PASS_KEY ? r->at : from == PW_PASS_QUERY ? r->query : 0);
}

/* The index in units[pass] of the value that the slot exports for place k of the current pass. */
static inline size_t pw_expr_export_at(const struct pw_expr_run *r, const struct pw_expr_slot *s, int k)
{
    int unit = s->unit + (s->head ? r->head : 0);
    int at = r->pass == PW_PASS_DISTANCE ? r->length[r->pass] - 1 - k : k;
    return (size_t)unit * r->stride[r->pass] + (size_t)at;
}

/* Each handles the slots from .. to-1 of the current pass, for the places of the block. expr_values computes
 * and exports their values. expr_seed sets their adjoints to those of their exports, else to 0.
 * expr_adjoints propagates adjoints from each slot to its arguments, parameters and imports, last slot first.
 */
void PW_OP(expr_values)(const struct pw_expr_run *r, int from, int to);
void PW_OP(expr_seed)(const struct pw_expr_run *r, int from, int to);
void PW_OP(expr_adjoints)(const struct pw_expr_run *r, int from, int to);

#endif
