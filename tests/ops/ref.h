/* ref.h - the references that the operations are tested against, and the cases they are tested on.
 *
 * ref_plain is every operation in plain C, in exactly the order of additions that kernels/backend.h defines:
 * the oracle for bits. ref_double has the same signatures and computes inside in double precision from the
 * definitions, without regard to order: the oracle for values. The contexts and backends of both are NULL,
 * their memory is the host's. */
#ifndef PW_REF_H
#define PW_REF_H
#include "kernels/backend.h"
#include <stdbool.h>
#include <stdint.h>

extern const struct pw_backend_ops ref_plain, ref_double;

/* ref_double with operands of linear layers rounded to so many bits of mantissa, one of them implied: 8 for
 * bf16, 11 for tf32. Until the next call. */
const struct pw_backend_ops *ref_rounded(int mantissa);

/* Everything that one run of a case wrote, one output after the other; floats and ints are exact in it. */
struct ref_out {
    double *data;
    size_t n, cap;
};

struct ref_call; /* ref_cases.h */

/* One family of operations on random inputs: equal seeds give equal shapes and inputs whatever the table. */
struct ref_case {
    const char *name;
    void (*run)(struct ref_call *r);
    bool whole;       /* a whole-machine operation: to be called outside for_chunks */
    double tolerance; /* of ref_double: |a-b| <= tolerance * (1 + |b|) */
};
extern const struct ref_case ref_cases[]; /* ends with name NULL */

/* Runs a case on a worker of be (or here, where be is NULL), all arrays in the table's memory, and fills
 * *out, which the caller frees (data). Fails the test if anything was written beyond an output. */
void ref_run(const struct ref_case *rc, const struct pw_backend_ops *ops, struct pw_backend *be,
             uint64_t seed, struct ref_out *out);

/* Fails the test where two runs of a case differ in a bit; NaN is NaN. what: whose the first one is, for the
 * message. */
void ref_same_bits(const char *what, const struct ref_case *rc, uint64_t seed, const struct ref_out *a,
                   const struct ref_out *want);

/* Runs a case on a table and on ref_plain: the same bits. */
void ref_expect_bits(const char *what, const struct ref_case *rc, const struct pw_backend_ops *ops,
                     struct pw_backend *be, uint64_t seed);

/* The same with values: fails the test where they are further apart than times the case's tolerance; returns
 * the largest |a-b| / (1 + |b|). */
double ref_expect_values(const char *what, const struct ref_case *rc, const struct pw_backend_ops *ops,
                         struct pw_backend *be, const struct pw_backend_ops *oracle, uint64_t seed,
                         double times);

/* What dropout multiplies entry (row, col) of head h by, row counted within the operation: 0, or 1/(1-rate).
 */
float ref_mask(const struct pw_dropout *d, int h, int row, int col);

/* xorshift64*; and numbers of a bell shape with variance 1. */
uint64_t ref_next(uint64_t *state);
float ref_normal(uint64_t *state);

/* A fresh array of n numbers times scale; the caller frees. Exactly as long as it says, for ASan. */
float *ref_random(uint64_t *state, size_t n, float scale);

#endif
