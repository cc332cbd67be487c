/* ref_wide.h - attention with wide q and k (struct pw_made) by a reference that has none: heads of q, k and v
 * become as wide as q and k. The functions have the arguments of kernels/backend.h. ops: the reference. */
#ifndef PW_REF_WIDE_H
#define PW_REF_WIDE_H
#include "kernels/backend.h"

bool ref_is_wide(const struct pw_attn *a);
void ref_wide_scores(const struct pw_backend_ops *ops, float *out, const float *qkv, const struct pw_attn *a,
                     const int *pos, const struct pw_seqs *s);
void ref_wide_fwd(const struct pw_backend_ops *ops, float *z, float *save, const struct pw_maps *maps,
                  const float *qkv, const struct pw_attn *a, const int *pos, const struct pw_seqs *s);
void ref_wide_cached(const struct pw_backend_ops *ops, float *z, float *cache, const float *qkv,
                     const struct pw_attn *a, const int *pos, int cap, int T, int R);
void ref_wide_bwd(const struct pw_backend_ops *ops, float *dqkv, float *d_bias, float *d_terms,
                  const float *dz, const float *qkv, const float *save, const struct pw_attn *a,
                  const int *pos, const struct pw_seqs *s);

#endif
