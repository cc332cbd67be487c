/* ref.h - reference implementations of the backend's operations, and the test cases that compare against
 * them.
 *
 * ref_plain implements every operation in plain C, in the exact order of additions that kernels/backend.h
 * defines. It is the reference for bits. ref_double has the same signatures, but computes in double precision
 * from the definitions, in any order. It is the reference for values. Contexts and backends of both are NULL.
 * Their memory is host memory. */
#ifndef PW_REF_H
#define PW_REF_H
#include "kernels/backend.h"
#include <stdbool.h>
#include <stdint.h>

extern const struct pw_backend_ops ref_plain, ref_double;

/* Returns ref_double with the operands of linear layers rounded to `mantissa` bits, including the implied
 * bit: 8 for bf16, 11 for tf32. Valid until the next call. */
const struct pw_backend_ops *ref_rounded(int mantissa);

/* All outputs of one run of a case, one after the other. A double holds every float and int exactly. */
struct ref_out {
    double *data;
    size_t n, cap;
};

struct ref_call; /* defined in ref_cases.h */

/* A test case: one family of operations on random inputs. Equal seeds give equal shapes and inputs for every
 * table. */
struct ref_case {
    const char *name;
    void (*run)(struct ref_call *r);
    bool whole;       /* true: operations of the whole machine, called outside for_chunks */
    double tolerance; /* against ref_double: |a-b| <= tolerance * (1 + |b|) */
    /* Does the table have the operations? NULL: every table has. */
    bool (*has)(const struct pw_backend_ops *ops);
};
extern const struct ref_case ref_cases[];      /* ends with name NULL */
extern const struct ref_case ref_scan_cases[]; /* only for tables with scans */

/* Runs a case on a worker of be; be = NULL: on the calling thread. All arrays are in the table's memory.
 * Fills *out, with nothing if the table lacks the operations; the caller frees out->data. Fails the test if
 * an operation wrote beyond an output. */
void ref_run(const struct ref_case *rc, const struct pw_backend_ops *ops, struct pw_backend *be,
             uint64_t seed, struct ref_out *out);

/* Fails the test if two runs of a case differ in any bit. All NaNs are equal. what: the name of the first
 * run's table, for the message. */
void ref_same_bits(const char *what, const struct ref_case *rc, uint64_t seed, const struct ref_out *a,
                   const struct ref_out *want);

/* Runs a case on a table and on ref_plain, and fails the test unless the bits are equal. */
void ref_expect_bits(const char *what, const struct ref_case *rc, const struct pw_backend_ops *ops,
                     struct pw_backend *be, uint64_t seed);

/* Runs a case on a table and on `oracle`, ref_double or ref_rounded. Fails the test if values differ by more
 * than `times` the case's tolerance. Returns the largest |a-b| / (1 + |b|). */
double ref_expect_values(const char *what, const struct ref_case *rc, const struct pw_backend_ops *ops,
                         struct pw_backend *be, const struct pw_backend_ops *oracle, uint64_t seed,
                         double times);

/* The dropout factor of entry (row, col) of head h: 0 or 1/(1-rate). row counts within the operation. */
float ref_mask(const struct pw_dropout *d, int h, int row, int col);

/* Returns the next random number of xorshift64*. */
uint64_t ref_next(uint64_t *state);

/* Returns a new array of n random numbers, multiplied by scale. The caller frees it. It has no slack at the
 * end, so that ASan detects reads beyond it. */
float *ref_random(uint64_t *state, size_t n, float scale);

#endif
