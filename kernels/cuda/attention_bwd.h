/* attention_bwd.h - launches the fused backward pass of attention (mode fast) for a range of sequences. */
#ifndef PW_CUDA_ATTENTION_BWD_H
#define PW_CUDA_ATTENTION_BWD_H
#include "kernels/cuda/attention.h"

/* Operands of the pass, in device memory. */
struct pw_backward {
    float *dqkv;         /* [R,3HD] output, overwritten */
    uint16_t *copy;      /* bf16 copy of dqkv to write, or NULL */
    const float *dz, *z; /* [R,HD] */
    const float *save;   /* [R,H] log-sum-exp of each row, from the forward pass */
    float *ds;           /* dS, laid out as for pw_bias_sums (attention.h); NULL: not needed */
};

/* Computes dq, dk and dv of sequences first .. last-1. a.fours must also hold for dz, z, dqkv and copy. bf16:
 * products run on tensor cores with operands rounded to bf16. */
cudaError_t pw_attention_bwd(cudaStream_t s, const struct pw_backward &b, const struct pw_turned_attend &a,
                             int first, int last, bool bf16);

#endif
