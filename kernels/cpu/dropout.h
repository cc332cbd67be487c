/* dropout.h - multiply rows of a tensor by a dropout mask (struct pw_dropout in kernels/backend.h). */
#ifndef PW_CPU_DROPOUT_H
#define PW_CPU_DROPOUT_H
#include "kernels/cpu/ops.h"

/* y = x times the mask of head h, for R rows of n columns that are ld floats apart. Row 0 here is row `row`
 * of the operation. y may be x. */
void PW_OP(drop_rows)(float *y, const float *x, const struct pw_dropout *d, int h, int row, int R, int n,
                      size_t ld);

#endif
