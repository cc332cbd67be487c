/* attention_bwd.h - the backward pass of fused attention, of some of the sequences. */
#ifndef PW_CUDA_ATTENTION_BWD_H
#define PW_CUDA_ATTENTION_BWD_H
#include "kernels/cuda/attention.h"

struct pw_backward {
    float *dqkv;         /* [R,3HD], set */
    uint16_t *copy;      /* of dqkv, or NULL */
    const float *dz, *z; /* [R,HD] */
    const float *save;   /* [R,H], of the forward pass */
    float *ds;           /* maps as for pw_bias_sums, or NULL: nobody wants them */
};

/* Of sequences first .. last-1. a.fours is of dz, z, dqkv and copy, too. */
cudaError_t pw_attention_bwd(cudaStream_t s, const struct pw_backward &b, const struct pw_turned_attend &a,
                             int first, int last, bool bf16);

#endif
