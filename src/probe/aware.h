/* aware.h - is an encoding forward- or backward-aware? Three measures of one table of rows (Qiu et al.
 * 2021, Definitions 3.1 and 3.2). Any thread. */
#ifndef PW_AWARE_H
#define PW_AWARE_H
#include "model/pe.h"

enum { PW_AWARE_FROM = 10, PW_AWARE_TO = 20, PW_AWARE_LENGTHS = PW_AWARE_TO - PW_AWARE_FROM + 1 };

/* What an encoding does to sequences of l positions, for l = 10 .. 20. */
struct pw_aware_tables {
    int d, D, pairs;                          /* width, head width, of which so many pairs turn */
    int reach;                                /* of relative keys: rows for distances up to this one */
    enum pw_pairing pairing;                  /* of the rotation */
    struct pw_pe_tables at[PW_AWARE_LENGTHS]; /* of pw_model_tables for l positions */
};

/* Level 1: the rows themselves, at lengths 10, 13, 16 and 20. A column is informative if it varies in every
 * length; it is forward if rows at the same position are equal in all lengths, backward if rows at the same
 * place from the end are. */
struct pw_aware_rows {
    int informative, forward, backward;   /* columns */
    double apart_forward, apart_backward; /* least distance of two rows of length 20 in those columns; NaN */
    double median_forward, median_backward; /* of the columns' largest differences, relative to their range */
};
void pw_aware_rows(struct pw_aware_rows *out, const struct pw_aware_tables *t);
/* The definitions hold for a constant, too: so columns must tell positions apart. */
bool pw_aware_forward(const struct pw_aware_rows *r);
bool pw_aware_backward(const struct pw_aware_rows *r);

/* Properties 3.1 (from the front) and 3.2 (from_end): P_b = f(P_a, a, b) with one f for all lengths, in the
 * columns that are the same at all lengths; where there are none, in all that are informative. f is read off
 * the longest length, where it has a value for P_a at a; then at every other length and for every pair of
 * places it either applies, as P_a is one that f knows at a, or it doesn't; and where it applies it gives
 * P_b, or another row. */
struct pw_aware_property {
    int pairs, applies, right;
};
void pw_aware_property(struct pw_aware_property *out, const struct pw_aware_tables *t, bool from_end);

/* Level 2: scores of the same content at positions i >= j, relative to their range: how much they change with
 * the length where positions are counted from the front, or from the end; and how far they are from a
 * function of i - j. q, k [contents,d], of rotations and biases the first D entries. */
struct pw_aware_scores {
    double forward, backward, relative;
};
void pw_aware_scores(struct pw_aware_scores *out, const struct pw_aware_tables *t, const double *q,
                     const double *k, int contents);

/* Level 3: can position, and position from the end, be read from a row by a linear map? R^2 on lengths that
 * the map has not seen, each left out in turn. false: no memory. */
struct pw_aware_decoded {
    double position, reverse;
};
bool pw_aware_decode(struct pw_aware_decoded *out, const struct pw_aware_tables *t);

#endif
