/* expr_code.h - the program of a learned bias that a formula defines: expr_fwd and expr_bwd of
 * kernels/backend.h.
 *
 * A value of the formula depends on some of: the head, the distance, the query, the key. The program has five
 * passes. Each computes the values that depend on no more than its own axis, once for every place on it:
 *
 *   ONCE      no position               1 place
 *   DISTANCE  the distance alone        T places: distances 0..P-1, or 1-P..P-1 without the causal mask
 *   QUERY     the query alone           P places
 *   KEY       the key alone             P places
 *   PAIR      query and key             for each query, a row: the keys that it sees
 *
 * The last pass is PAIR for a dense bias and DISTANCE for a bias by distance; its root is the bias. A table
 * by position has the passes of a bias by distance: its distances are positions, and its heads are the
 * columns of the table. The slots of a pass are its values in the order of evaluation: `shared` ones first,
 * which all heads have in common, then those of a head. A slot reads slots before it in its pass, or, by
 * IMPORT, a slot of another pass that is exported. All values are doubles.
 *
 * Terms of the storage. A unit is an exported value of one pass, stored for each of its places; a slot that
 * differs between heads has one unit per head, from `unit` on. A sum by lanes is a gradient that is summed
 * over the places of a row (one query of PAIR, the whole of another pass) in 16 partial sums; `lane` is its
 * number. `row` and `wide` number the slots' values and hidden units if those of all heads are stored at
 * once; `vector` numbers the hidden units if those of one head are.
 *
 * The program is one block of memory without pointers, so it can be copied to a device. */
#ifndef PW_EXPR_CODE_H
#define PW_EXPR_CODE_H
#include "base/both.h"
#include "kernels/operands.h"
#include <stdbool.h>
#include <stddef.h>

enum pw_expr_pass { PW_PASS_ONCE, PW_PASS_DISTANCE, PW_PASS_QUERY, PW_PASS_KEY, PW_PASS_PAIR, PW_PASSES };

enum pw_expr_op {
    PW_X_NUMBER,  /* value */
    PW_X_HEAD,    /* number of the head, from 0 */
    PW_X_LAYER,   /* number of the layer, from 0 */
    PW_X_AT,      /* the distance, or the position of the query or key */
    PW_X_COUNT,   /* number of position ids up to the place; of a table by position */
    PW_X_IMPORT,  /* export `unit` of pass `from` */
    PW_X_PARAM,   /* parameter `param`, a number */
    PW_X_ENTRY,   /* entry arg[0], rounded to 0..size-1, of parameter `param` */
    PW_X_BETWEEN, /* parameter `param` at arg[0], linear between entries */
    PW_X_BUCKET, /* first + number of thresholds that arg[0], rounded, reaches: data[param .. param+size-1] */
    PW_X_SLOPE,  /* data[param + arg[0]], rounded to 0..size-1 */
    PW_X_SELECT, /* arg[0] != 0 ? arg[1] : arg[2] */
    PW_X_HIDDEN, /* hidden units of a network: vector[k] = relu(w1[k] * arg[0] + b1[k]), k < size */
    PW_X_OUT,    /* its output: b2 + sum of w2[k] * vector[k]; arg[0] is the HIDDEN slot */
    PW_X_CALL,   /* function of arg[] */
};

/* struct pw_expr_slot: one value of a pass. */
struct pw_expr_slot {
    enum pw_expr_op op;
    bool head;    /* its value differs between heads */
    bool learns;  /* it depends on a parameter, so it has an adjoint */
    int from;     /* IMPORT: pass. CALL: enum pw_expr_function. BUCKET: value below all thresholds */
    int arg[3];   /* slots of this pass; -1 if unused */
    int unit;     /* IMPORT: the unit read. Otherwise the unit written, or -1 */
    int param;    /* parameter, or place in data. HIDDEN, OUT: the network's first of four parameters */
    int size;     /* entries, thresholds, hidden units */
    int lane;     /* IMPORT from ONCE or QUERY: place of its adjoint among the pass's sums by lanes */
    int row;      /* place among the pass's values, where each head has its own */
    int vector;   /* HIDDEN, OUT: place of hidden unit 0 among the pass's hidden units */
    int wide;     /* the same where each head has its own */
    double value; /* NUMBER */
};

/* A parameter among the floats of all: entry e of head h in layer l is offset + l*layer + h*head + e. */
struct pw_expr_place {
    int offset, size;
    int head, layer; /* floats from one head and from one layer to the next; 0: they share it */
    int floats;      /* of all heads, of one layer */
    int lane;        /* of a network: place among the sums by lanes; -1: not of a network */
};

/* The slots and exported values of a pass. */
struct pw_expr_span {
    int first, shared, n; /* its slots: first .. first+n-1, the first `shared` of them shared */
    int units;            /* exported values; one of a head counts as `heads` */
    int lane, lanes;      /* its sums by lanes are lane .. lanes-1 */
    int rows, vectors, wide;
    bool learns;
};

/* The head of the block; slots, parameters and data follow. */
struct pw_expr_code {
    size_t bytes; /* of the whole block */
    int heads;
    bool dense;
    int n_slots, n_params, n_data;
    int params; /* floats of all parameters, of all layers */
    int root;   /* slot of the last pass */
    int nets;   /* floats of all networks: lanes 0..nets-1 of a pass with networks */
    struct pw_expr_span pass[PW_PASSES];
};

PW_BOTH const struct pw_expr_slot *pw_expr_slots(const struct pw_expr_code *x, enum pw_expr_pass pass)
{
    return (const struct pw_expr_slot *)(x + 1) + x->pass[pass].first;
}

PW_BOTH const struct pw_expr_place *pw_expr_params(const struct pw_expr_code *x)
{
    return (const struct pw_expr_place *)((const struct pw_expr_slot *)(x + 1) + x->n_slots);
}

PW_BOTH const double *pw_expr_data(const struct pw_expr_code *x)
{
    size_t at = x->bytes - (size_t)x->n_data * sizeof(double);
    return (const double *)(const void *)((const char *)x + at);
}

PW_BOTH enum pw_expr_pass pw_expr_last(const struct pw_expr_code *x)
{
    return x->dense ? PW_PASS_PAIR : PW_PASS_DISTANCE;
}

/* Number of entries of the table that x asks for. */
static inline size_t pw_expr_entries(const struct pw_expr_use *x, int H, int P)
{
    return (size_t)H * (x->head > 0 ? (size_t)P : pw_bias_entries(x->code->dense, P));
}

/* Number of distances. */
PW_BOTH int pw_expr_distances(bool causal, int P)
{
    return causal ? P : 2 * P - 1;
}

#endif
