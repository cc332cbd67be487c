/* ref_quotient.h - checks that v_quotient (kernels/cpu/vmath.h) equals division bit by bit. */
#ifndef PW_REF_QUOTIENT_H
#define PW_REF_QUOTIENT_H
#include <stdbool.h>

/* Returns true if this processor supports the instruction set that the check was compiled for. */
bool ref_quotients_run(void);
/* Returns the first index in x [n] where v_quotient(x, by) differs from x / by; -1: none. */
int ref_quotients_differ(const float *x, int n, float by);

#endif
