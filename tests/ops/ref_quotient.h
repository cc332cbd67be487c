/* ref_quotient.h - whether v_quotient (kernels/cpu/vmath.h) is division, bit by bit. */
#ifndef PW_REF_QUOTIENT_H
#define PW_REF_QUOTIENT_H
#include <stdbool.h>

/* The processor has what it was compiled for. */
bool ref_quotients_run(void);
/* The first of x [n] whose quotient is not x / by; -1: there is none. */
int ref_quotients_differ(const float *x, int n, float by);

#endif
