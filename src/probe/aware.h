/* aware.h - tests for forward-aware and backward-aware encodings (Qiu et al. 2021, Definitions 3.1 and 3.2).
 * There are three measures of one set of encoding tables. Any thread. Only pw_aware_decode can fail. */
#ifndef PW_AWARE_H
#define PW_AWARE_H
#include "model/pe.h"

enum { PW_AWARE_FROM = 10, PW_AWARE_TO = 20, PW_AWARE_LENGTHS = PW_AWARE_TO - PW_AWARE_FROM + 1 };

/* The encoding's tables for sequences of l = 10 .. 20 positions. Borrowed. */
struct pw_aware_tables {
    int d, D, pairs;         /* width, head width, rotated pairs per head */
    int reach;               /* relative keys: the largest distance that has a row of its own */
    enum pw_pairing pairing; /* how the rotation pairs dimensions */
    struct pw_pe_tables at[PW_AWARE_LENGTHS]; /* pw_model_tables for l positions */
};

/* Level 1: the rows themselves, at lengths 10, 13, 16 and 20. A column is informative if it varies at every
 * length. It is forward if rows at the same position are equal at all lengths. It is backward if rows at the
 * same distance from the end are equal at all lengths. */
struct pw_aware_rows {
    int informative, forward, backward;   /* numbers of columns */
    double apart_forward, apart_backward; /* smallest distance between two rows of length 20, in those
                                             columns; NaN: no such column */
    double median_forward,
        median_backward; /* median over columns of the largest difference, relative to the column's range */
};
void pw_aware_rows(struct pw_aware_rows *out, const struct pw_aware_tables *t);
/* Definitions 3.1 and 3.2. A constant satisfies both, so the columns must also separate positions. */
bool pw_aware_forward(const struct pw_aware_rows *r);
bool pw_aware_backward(const struct pw_aware_rows *r);

/* Properties 3.1 (from the front) and 3.2 (from_end): P_b = f(P_a, a, b), with one f for all lengths. The
 * columns are those that are equal at all lengths; if there are none, all informative ones.
 *
 * f is read from the longest length, which defines it for each row P_a at its place a. At every other length
 * each pair of places is tested. f applies if it is defined for P_a at a. If f applies, its value is right if
 * it equals P_b. */
struct pw_aware_property {
    int pairs, applies, right;
};
void pw_aware_property(struct pw_aware_property *out, const struct pw_aware_tables *t, bool from_end);

/* Level 2: attention scores of equal content at positions i >= j, relative to their range. forward: the
 * largest change with the length if positions are counted from the front. backward: the same, counted from
 * the end. relative: the largest deviation from a function of i - j. q and k are [contents,d]; rotations and
 * biases use the first D entries. */
struct pw_aware_scores {
    double forward, backward, relative;
};
void pw_aware_scores(struct pw_aware_scores *out, const struct pw_aware_tables *t, const double *q,
                     const double *k, int contents);

/* Level 3: R^2 of a linear map from a row to its position, and to its position from the end. Each length is
 * left out in turn, and R^2 is taken on the length left out. Returns false if out of memory. */
struct pw_aware_decoded {
    double position, reverse;
};
bool pw_aware_decode(struct pw_aware_decoded *out, const struct pw_aware_tables *t);

#endif
