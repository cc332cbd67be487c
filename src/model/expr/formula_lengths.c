/* formula_lengths.c - rotations by the length n of the whole sequence: which lengths share rows of the
 * tables.
 *
 * A length has a block of rows, one for each of its positions. Lengths share a block if all expressions that
 * depend on n alone have the same values for them: max(n, L) is the same up to L, and n > L has two values. A
 * stage reads n through such expressions only, so shared rows are equal. Blocks are in the order of their
 * shortest length, and each has room for its longest. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

#define MOST_BYTES 2e9 /* of the table of all lengths */

/* Variables that are the same for all entries of a model's table. */
#define CONSTANTS                                                                                            \
    (UINT64_C(1) << PW_VAR_TRAINED | UINT64_C(1) << PW_VAR_CONTEXT | UINT64_C(1) << PW_VAR_HEADS |           \
     UINT64_C(1) << PW_VAR_LAYERS | UINT64_C(1) << PW_VAR_PAIRS | UINT64_C(1) << PW_VAR_CHANNELS |           \
     UINT64_C(1) << PW_VAR_WIDTH)

bool pw_formula_by_length(const struct pw_expr *x)
{
    return pw_expr_reads(x, PW_STAGE_ANGLE, PW_VAR_N) || pw_expr_reads(x, PW_STAGE_GAIN, PW_VAR_N);
}

static bool of_length_alone(const struct pw_node *node)
{
    uint64_t n = UINT64_C(1) << PW_VAR_N;
    return (node->vars & n) != 0 && (node->vars & ~(n | CONSTANTS)) == 0 && node->counters == 0;
}

/* Sets wanted for the largest expressions of n alone in a stage. */
static void mark_lengths(const struct pw_expr *x, enum pw_stage stage, bool wanted[PW_EXPR_NODES])
{
    bool needed[PW_EXPR_NODES];
    int root = x->root[stage];
    memset(wanted, 0, PW_EXPR_NODES * sizeof *wanted);
    if (root < 0)
        return;
    pw_expr_mark(x, root, needed);
    wanted[root] = of_length_alone(&x->node[root]);
    for (int k = 0; k <= root; k++)
        for (int i = 0; i < 3 && needed[k] && !of_length_alone(&x->node[k]); i++)
            if (x->node[k].arg[i] >= 0 && of_length_alone(&x->node[x->node[k].arg[i]]))
                wanted[x->node[k].arg[i]] = true;
}

/* The values of a length, n of them, for each of the lengths so far that began a block. */
struct blocks {
    struct pw_formula_inputs in;
    bool wanted[2][PW_EXPR_NODES]; /* of angle, of gain */
    int n, count, cap;
    double *values, *now; /* [cap,n]; [n] */
    int *size;            /* [cap] rows: the longest length */
};

static void evaluate_length(struct blocks *b, int length)
{
    static const enum pw_stage stages[] = {PW_STAGE_ANGLE, PW_STAGE_GAIN};
    int at = 0;
    for (int s = 0; s < 2; s++) {
        if (!pw_expr_has(b->in.x, stages[s]))
            continue;
        pw_formula_value(&b->in, stages[s], &(struct pw_formula_at){.length = length});
        for (int k = 0; k <= b->in.x->root[stages[s]]; k++)
            if (b->wanted[s][k])
                b->now[at++] = b->in.regs[k];
    }
}

/* Returns the block of these values, the latest first; a new one if there is none. */
static int block_of(struct blocks *b)
{
    size_t n = (size_t)b->n;
    for (int k = b->count - 1; k >= 0; k--)
        if (memcmp(b->values + (size_t)k * n, b->now, n * sizeof *b->now) == 0)
            return k;
    if (b->count == b->cap) {
        b->cap = b->cap * 2 + 8;
        b->values = pw_grow(b->values, (size_t)b->cap * n, sizeof *b->values);
        b->size = pw_grow(b->size, (size_t)b->cap, sizeof *b->size);
    }
    memcpy(b->values + (size_t)b->count * n, b->now, n * sizeof *b->now);
    b->size[b->count] = 0;
    return b->count++;
}

static struct blocks blocks_of(const void *opts, const struct pw_config *cfg)
{
    struct blocks b = {.in = pw_formula_inputs_of(pw_formula_of(opts)->x, opts, cfg, 0, 1)};
    mark_lengths(b.in.x, PW_STAGE_ANGLE, b.wanted[0]);
    mark_lengths(b.in.x, PW_STAGE_GAIN, b.wanted[1]);
    for (int k = 0; k < PW_EXPR_NODES; k++)
        b.n += b.wanted[0][k] + b.wanted[1][k];
    b.now = pw_alloc((size_t)b.n + 1, sizeof *b.now);
    return b;
}

/* Writes the block of each length to of [context+1]. Returns the rows of all blocks; stops beyond `most`. */
static double find_blocks(struct blocks *b, const struct pw_config *cfg, double most, int *of)
{
    double rows = 0;
    for (int l = 1; l <= cfg->context && rows <= most; l++) {
        evaluate_length(b, l);
        of[l] = block_of(b);
        rows += l - b->size[of[l]];
        b->size[of[l]] = l;
    }
    return rows;
}

static void free_blocks(struct blocks *b)
{
    free(b->values);
    free(b->now);
    free(b->size);
    pw_formula_inputs_fini(&b->in);
}

/* Bytes of a row of cosines and sines, in all layers. */
static double row_bytes(const struct pw_expr *x, const struct pw_config *cfg)
{
    int kinds = pw_formula_key_turns(x) ? 2 : 1;
    int layers = pw_formula_layers(x, cfg, PW_STAGE_ANGLE, PW_STAGE_GAIN);
    return 8.0 * pw_expr_pairs(x, cfg) * kinds * layers;
}

int pw_formula_lengths(const void *opts, const struct pw_config *cfg, int *first)
{
    struct blocks b = blocks_of(opts, cfg);
    int rows = (int)find_blocks(&b, cfg, INT_MAX, first), from = 0;
    for (int k = 0; k < b.count; k++) { /* a size becomes the block's first row */
        int size = b.size[k];
        b.size[k] = from;
        from += size;
    }
    first[0] = 0;
    for (int l = 1; l <= cfg->context; l++)
        first[l] = b.size[first[l]];
    free_blocks(&b);
    return rows;
}

/* Fails if a stage is not finite at a position of a length, or too large; at the shortest length that has the
 * values of its block, which stands for the others. */
static enum pw_code check_blocks(const void *opts, const struct pw_config *cfg, double from, double step,
                                 const int *of, const struct blocks *b, struct pw_err *err)
{
    struct pw_formula_inputs in = pw_formula_inputs_of(pw_formula_of(opts)->x, opts, cfg, from, step);
    enum pw_code code = PW_OK;
    for (int l = 1; l <= cfg->context && code == PW_OK; l++)
        if (b->size[of[l]] == l)
            code = pw_formula_check_turns(&in, cfg, l, err);
    pw_formula_inputs_fini(&in);
    return code;
}

enum pw_code pw_formula_check_lengths(const void *opts, const struct pw_config *cfg, double from, double step,
                                      struct pw_err *err)
{
    const struct pw_expr *x = pw_formula_of(opts)->x;
    struct blocks b = blocks_of(opts, cfg);
    int *of = pw_alloc((size_t)cfg->context + 1, sizeof *of);
    double most = MOST_BYTES / row_bytes(x, cfg), rows = find_blocks(&b, cfg, most, of);
    enum pw_code code = PW_OK;
    if (rows > most)
        code = pw_fail(err, PW_EUSER,
                       "expr: angle and gain read n: the rows of all lengths up to context=%d need more than "
                       "2 GB: allowed are %.0f rows; use fewer lengths, as in max(n, L)",
                       cfg->context, most);
    else
        code = check_blocks(opts, cfg, from, step, of, &b, err);
    free(of);
    free_blocks(&b);
    return code;
}
