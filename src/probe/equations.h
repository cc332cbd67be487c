/* equations.h - what equations.c and equations_check.c share: one measurement of each equation. Lab thread.
 */
#ifndef PW_EQUATIONS_H
#define PW_EQUATIONS_H
#include "probe/probe.h"

enum {
    PW_EQUATIONS_N = 24, /* tokens */
    PW_EQUATIONS_C = 16, /* width */
    PW_EQUATIONS_SEQUENCES = 4,
    PW_EQUATIONS_HEADS = 8, /* of ALiBi's example */
    PW_EQUATIONS_LONG = 20, /* lengths of 2DSPE, and its width */
    PW_EQUATIONS_WIDE = 64,
    PW_EQUATIONS_RELATIVE = 5, /* relative encodings of this program without a second meaning of distance */
    PW_EQUATIONS_UNITS = PW_EQUATIONS_RELATIVE + 4
};
extern const char *const pw_equations_relative[PW_EQUATIONS_RELATIVE];

struct pw_equations {
    float *score, *without, x[PW_EQUATIONS_N * PW_EQUATIONS_C]; /* [N,N]; the stream of the last sequence */
    double varies[PW_EQUATIONS_RELATIVE]; /* what an encoding adds: largest difference at one distance, of its
                                             range */
    double alibi, rotary, added, dspe;    /* largest errors; of scores relative to the largest */
};

/* The state of p is a struct pw_equations. */
enum pw_code pw_equations_unit(struct pw_probing_at *p, int i, struct pw_err *err);

#endif
