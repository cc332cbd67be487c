/* ref_cases.h - helpers to write test cases of operations: random shapes, and arrays in the memory of the
 * table under test. The run frees the arrays. */
#ifndef PW_REF_CASES_H
#define PW_REF_CASES_H
#include "tests/ops/ref.h"

#define PICK(s, ...) ref_pick(s, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
/* Random choices from a list: any value, a number of rows, a width. */
int ref_pick(uint64_t *s, const int *list, size_t n);
int ref_pick_rows(uint64_t *s); /* includes vector tails, one row and no row */
int ref_pick_width(uint64_t *s);

/* The element type of an array, which decides how its entries enter struct ref_out. REF_HALVES: uint64_t,
 * stored as two halves, because a double can't hold 64 bits. */
enum ref_kind { REF_FLOATS, REF_INTS, REF_DOUBLES, REF_BYTES, REF_HALVES };

struct ref_array {
    void *base, *at; /* in the table's memory; base is the address to free */
    enum ref_kind kind;
    size_t n;     /* entries, without the sentinels */
    bool guarded; /* sentinels follow the array */
    bool kept;    /* its entries are compared */
};

/* One run of a case. */
struct ref_call {
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
    struct pw_ctx *c; /* the worker's context; NULL in a case of whole-machine operations */
    uint64_t s;       /* state of the random numbers for shapes and inputs */
    size_t shift;     /* bytes between an aligned address and the start of a float or int array */
    struct ref_array arrays[32];
    int n_arrays;
};

/* Inputs: random floats multiplied by scale; indices in lowest..limit-1; a copy of any data. */
float *ref_input(struct ref_call *r, size_t n, float scale);
int *ref_ids(struct ref_call *r, int n, int lowest, int limit);
void *ref_copy(struct ref_call *r, const void *from, size_t bytes);
/* Outputs with sentinels after them, filled with `old`, or with random values if old is NULL. */
float *ref_output(struct ref_call *r, size_t n);
void *ref_output_of(struct ref_call *r, enum ref_kind kind, size_t n, const void *old);
/* n floats whose layout the table defines. They are guarded by sentinels, but not compared. */
float *ref_own(struct ref_call *r, size_t n);

/* Runs fn on a worker, in a case of whole-machine operations. */
void ref_chunk(struct ref_call *r, void (*fn)(struct pw_ctx *c, int chunk, int worker, void *arg), void *arg);

/* The run functions of ref_cases. */
void ref_case_linear(struct ref_call *r);
void ref_case_norm(struct ref_call *r);
void ref_case_embed(struct ref_call *r);
void ref_case_rotate(struct ref_call *r);
void ref_case_turn_bwd(struct ref_call *r);
void ref_case_attention(struct ref_call *r);
void ref_case_attention_wide(struct ref_call *r);
void ref_case_cached(struct ref_call *r);
void ref_case_cached_wide(struct ref_call *r);
void ref_case_terms(struct ref_call *r);
void ref_case_attention_terms(struct ref_call *r);
void ref_case_cached_terms(struct ref_call *r);
void ref_case_attention_mix(struct ref_call *r);
void ref_case_cached_mix(struct ref_call *r);
void ref_case_attention_learned(struct ref_call *r);
void ref_case_cached_learned(struct ref_call *r);
void ref_case_slopes(struct ref_call *r);
void ref_case_attention_slopes(struct ref_call *r);
void ref_case_cached_slopes(struct ref_call *r);
void ref_case_stick(struct ref_call *r);
void ref_case_cached_stick(struct ref_call *r);
void ref_case_context(struct ref_call *r);
void ref_case_cached_context(struct ref_call *r);
void ref_case_select(struct ref_call *r);
void ref_case_cached_select(struct ref_call *r);
void ref_case_polar(struct ref_call *r);
void ref_case_planes(struct ref_call *r);
void ref_case_attention_made(struct ref_call *r);
void ref_case_cached_made(struct ref_call *r);
void ref_case_reflect(struct ref_call *r);
void ref_case_attention_reflect(struct ref_call *r);
void ref_case_cached_reflect(struct ref_call *r);
void ref_case_scale(struct ref_call *r);
void ref_case_attention_scale(struct ref_call *r);
void ref_case_cached_scale(struct ref_call *r);
void ref_case_gather(struct ref_call *r);
void ref_case_fire(struct ref_call *r);
void ref_case_expr(struct ref_call *r);
void ref_case_gate(struct ref_call *r);
void ref_case_heads(struct ref_call *r);
void ref_case_cap(struct ref_call *r);
void ref_case_clip(struct ref_call *r);
void ref_case_put(struct ref_call *r);
void ref_case_loss(struct ref_call *r);
void ref_case_add(struct ref_call *r);
void ref_case_dropout(struct ref_call *r);
void ref_case_digest(struct ref_call *r);
void ref_case_optimiser(struct ref_call *r);

/* Rotation angles of P positions for heads of width D >= 2. Random choices: the pairing, and whether all of a
 * head or a part rotates. */
struct pw_turn ref_angles(struct ref_call *r, int P, int H, int D);

/* A random dropout mask. Its key is in the table's memory. */
struct pw_dropout ref_dropout(struct ref_call *r);

#endif
