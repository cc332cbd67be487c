/* ref_cases.h - what the cases of the operations are written with: random shapes, and arrays that lie in the
 * memory of the table under test and are freed with the run. */
#ifndef PW_REF_CASES_H
#define PW_REF_CASES_H
#include "tests/ops/ref.h"

#define PICK(s, ...) ref_pick(s, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
int ref_pick(uint64_t *s, const int *list, size_t n);
int ref_pick_rows(uint64_t *s); /* tails, one row, none */
int ref_pick_width(uint64_t *s);

/* What an array holds, and so what becomes of it in struct ref_out. HALVES: of uint64_t, which a double has
 * no room for. */
enum ref_kind { REF_FLOATS, REF_INTS, REF_DOUBLES, REF_BYTES, REF_HALVES };

struct ref_array {
    void *base, *at; /* in the table's memory; base is what is freed */
    enum ref_kind kind;
    size_t n;     /* entries before the sentinels */
    bool guarded; /* sentinels stand behind it */
    bool kept;    /* it is compared */
};

/* One run of a case. */
struct ref_call {
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
    struct pw_ctx *c; /* NULL in a case that is whole */
    uint64_t s;       /* for shapes and inputs */
    size_t shift;     /* bytes that arrays of floats and ints begin behind an aligned address */
    struct ref_array arrays[32];
    int n_arrays;
};

/* Inputs: random floats times scale; indices from lowest up to below limit; a copy of anything. */
float *ref_input(struct ref_call *r, size_t n, float scale);
int *ref_ids(struct ref_call *r, int n, int lowest, int limit);
void *ref_copy(struct ref_call *r, const void *from, size_t bytes);
/* Outputs, with old contents and sentinels behind; random ones where old is NULL. */
float *ref_output(struct ref_call *r, size_t n);
void *ref_output_of(struct ref_call *r, enum ref_kind kind, size_t n, const void *old);
/* n floats in the table's own layout, for which it may ask as many as it likes: guarded, not compared. */
float *ref_own(struct ref_call *r, size_t n);

/* fn on a worker: for a case that is whole. */
void ref_chunk(struct ref_call *r, void (*fn)(struct pw_ctx *c, int chunk, int worker, void *arg), void *arg);

void ref_case_linear(struct ref_call *r);
void ref_case_norm(struct ref_call *r);
void ref_case_embed(struct ref_call *r);
void ref_case_rotate(struct ref_call *r);
void ref_case_attention(struct ref_call *r);
void ref_case_attention_wide(struct ref_call *r);
void ref_case_cached(struct ref_call *r);
void ref_case_cached_wide(struct ref_call *r);
void ref_case_gather(struct ref_call *r);
void ref_case_fire(struct ref_call *r);
void ref_case_put(struct ref_call *r);
void ref_case_loss(struct ref_call *r);
void ref_case_add(struct ref_call *r);
void ref_case_dropout(struct ref_call *r);
void ref_case_digest(struct ref_call *r);
void ref_case_optimiser(struct ref_call *r);

/* Angles of P positions for heads of D, 2 at least: of either pairing, of all of a head or of some. */
struct pw_turn ref_angles(struct ref_call *r, int P, int D);

/* A mask; its key lies in the table's memory. */
struct pw_dropout ref_dropout(struct ref_call *r);

#endif
