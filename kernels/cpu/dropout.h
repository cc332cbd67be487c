/* dropout.h - the masks of dropout, 64 columns at a time. */
#ifndef PW_CPU_DROPOUT_H
#define PW_CPU_DROPOUT_H
#include "kernels/cpu/ops.h"

/* Multiplies x[0..n-1], columns 0.. of one row of head h, by the mask: y may be x. row counts within the
 * operation. Neither needs to be padded. */
void PW_OP(drop_row)(float *y, const float *x, const struct pw_dropout *d, int h, int row, int n);

#endif
