/* equations.h - private to the probe equations. equations_check.c measures each equation; equations.c builds
 * the finding. Lab thread. */
#ifndef PW_EQUATIONS_H
#define PW_EQUATIONS_H
#include "probe/probe.h"

enum {
    PW_EQUATIONS_N = 24, /* tokens of a sequence */
    PW_EQUATIONS_C = 16, /* model width */
    PW_EQUATIONS_SEQUENCES = 4,
    PW_EQUATIONS_HEADS = 8, /* heads in ALiBi's slope example */
    PW_EQUATIONS_LONG = 20, /* lengths for 2DSPE, and its width below */
    PW_EQUATIONS_WIDE = 64,
    PW_EQUATIONS_RELATIVE = 5, /* relative encodings with a single definition of distance */
    PW_EQUATIONS_UNITS = PW_EQUATIONS_RELATIVE + 4
};
extern const char *const pw_equations_relative[PW_EQUATIONS_RELATIVE];

/* The probe's state: the results so far. */
struct pw_equations {
    float *score, *without,
        x[PW_EQUATIONS_N *
          PW_EQUATIONS_C]; /* score, without [N,N]; x: residual stream of the last sequence */
    /* per encoding: the largest difference at one distance in the scores that it adds, relative to their
     * range */
    double varies[PW_EQUATIONS_RELATIVE];
    double alibi, rotary, added,
        dspe; /* largest errors; errors of scores are relative to the largest score */
};

/* Runs measurement i. The state of p must be a struct pw_equations. */
enum pw_code pw_equations_unit(struct pw_probing_at *p, int i, struct pw_err *err);

#endif
