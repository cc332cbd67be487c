/* linear.h - what surrounds the products of linear layers, whatever computes them. */
#ifndef PW_CPU_LINEAR_H
#define PW_CPU_LINEAR_H
#include "kernels/cpu/ops.h"

/* n <= 32 columns of y = act(t + bias) + residual, t [R,32] the product; the other pointers are at the first
 * of these columns in rows of `out`. bias, pre and residual may be NULL, residual may be y. */
void PW_OP(finish_fwd)(float *y, float *pre, const float *t, const float *bias, const float *residual,
                       enum pw_act act, int R, int out, int n);

/* n <= 32 columns of dx = (add ? dx : 0) + act'(saved) * t, likewise, in rows of `in`. */
void PW_OP(finish_dx)(float *dx, const float *t, const float *saved, enum pw_act act, float scale, int R,
                      int in, int n);

/* d_bias [out] = (add ? d_bias : 0) + the sum of the rows of dy [R,out]: chains. */
void PW_OP(bias_grad)(float *d_bias, const float *dy, bool add, int R, int out);

#endif
