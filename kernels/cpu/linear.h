/* linear.h - epilogues of the products in linear layers (activation, bias, residual, their gradients). Both
 * the fp32 and the bf16 product use them. */
#ifndef PW_CPU_LINEAR_H
#define PW_CPU_LINEAR_H
#include "kernels/cpu/ops.h"

/* n <= 32 columns of y = act(t + bias) + residual, with t [R,32] the product. The other pointers point to the
 * first of these columns, in rows of `out` floats. bias, pre and residual may be NULL; residual may be y. */
void PW_OP(finish_fwd)(float *y, float *pre, const float *t, const float *bias, const float *residual,
                       enum pw_act act, int R, int out, int n);

/* n <= 32 columns of dx = scale * (act'(saved) * t), with t [R,32]. The other pointers point to the first of
 * these columns, in rows of `in` floats. */
void PW_OP(finish_dx)(float *dx, const float *t, const float *saved, enum pw_act act, float scale, int R,
                      int in, int n);

/* d_bias [out] = (add ? d_bias : 0) + the sum of the rows of dy [R,out]: chains. */
void PW_OP(bias_grad)(float *d_bias, const float *dy, bool add, int R, int out);

#endif
