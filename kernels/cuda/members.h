/* members.h - what the two modes do each in its own way: members of struct pw_backend_ops, as table.c lists
 * them. ref keeps the order of additions that backend.h defines, fast has tensor cores and fused attention.
 */
#ifndef PW_CUDA_MEMBERS_H
#define PW_CUDA_MEMBERS_H
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"

/* An operation, unless an error sticks; what it needs of scratch is asked for before. */
#define PW_CUDA_DO(c, what, launch)                                                                          \
    do {                                                                                                     \
        if (pw_cuda_ready((c)->be))                                                                          \
            pw_cuda_note((c)->be, launch, what);                                                             \
    } while (0)

/* Where x is written as floats; NULL: its copy alone is. */
static inline float *pw_cuda_floats_of(const struct pw_ctx *c, float *x)
{
    return pw_cuda_alone(c, x) ? NULL : x;
}

/* x in the form that it is in. */
static inline struct pw_cuda_numbers pw_cuda_numbers_of(struct pw_ctx *c, const float *x)
{
    bool alone = pw_cuda_alone(c, x);
    return (struct pw_cuda_numbers){alone ? NULL : x, alone ? pw_cuda_copy_of(c, x) : NULL};
}

/* Scratch of `bytes` for an attention whose kernels don't turn q and k. Where they are to, *qkv [R,3HD]
 * becomes a copy behind it in which they have; pos [R]. NULL is nothing to hand on. */
void *pw_cuda_turned(struct pw_ctx *c, size_t bytes, const float **qkv, const struct pw_attn *a,
                     const int *pos, int R);
size_t pw_cuda_turned_bytes(const struct pw_attn *a, size_t bytes, int R);

/* ---- ref.c */
size_t pw_cuda_ref_pack_floats(int out, int in);
void pw_cuda_ref_prepare(struct pw_backend *be, const struct pw_mat *mats, int n);
void pw_cuda_ref_norm_bwd(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                          const float *x, const float *stat, const float *gain, enum pw_norm kind,
                          float scale, int R, int C);
void pw_cuda_ref_linear_fwd(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                            const float *bias, const float *residual, enum pw_act act, int R);
void pw_cuda_ref_linear_dx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m,
                           enum pw_act act, const float *saved, float scale, int R);
void pw_cuda_ref_linear_dw(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x,
                           bool add, int out, int in, int R);
size_t pw_cuda_ref_beside(const struct pw_attn *a, const struct pw_seqs *s, int widest);
void pw_cuda_ref_attention_fwd(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                               const float *qkv, const struct pw_attn *a, const int *pos,
                               const struct pw_seqs *s);
size_t pw_cuda_ref_attn_save_floats(const struct pw_attn *a, const int *start, int n_seqs);
void pw_cuda_ref_attention_bwd(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, const float *dz,
                               const float *z, const float *qkv, const float *save, const struct pw_attn *a,
                               const int *pos, const struct pw_seqs *s);

/* ---- fast_linear.c. Packs are copies of the weights in bf16; in other precisions there are none. */
size_t pw_cuda_bf16_pack_floats(int out, int in);
void pw_cuda_bf16_prepare(struct pw_backend *be, const struct pw_mat *mats, int n);
void pw_cuda_fast_linear_fwd(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                             const float *bias, const float *residual, enum pw_act act, int R);
void pw_cuda_fast_linear_dx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m,
                            enum pw_act act, const float *saved, float scale, int R);
void pw_cuda_fast_linear_dw(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x,
                            bool add, int out, int in, int R);

/* ---- fast.c */
enum pw_code pw_cuda_fast_open_fp32(struct pw_backend **be, int device, struct pw_err *err);
enum pw_code pw_cuda_fast_open_tf32(struct pw_backend **be, int device, struct pw_err *err);
enum pw_code pw_cuda_fast_open_bf16(struct pw_backend **be, int device, struct pw_err *err);
void pw_cuda_fast_close(struct pw_backend *be);
bool pw_cuda_fast_choice(const struct pw_backend *be, int i, char *line, size_t size);
void pw_cuda_fast_norm_bwd(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                           const float *x, const float *stat, const float *gain, enum pw_norm kind,
                           float scale, int R, int C);
size_t pw_cuda_fast_beside(const struct pw_attn *a, const struct pw_seqs *s, int widest);
void pw_cuda_fast_attention_fwd(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                                const float *qkv, const struct pw_attn *a, const int *pos,
                                const struct pw_seqs *s);
size_t pw_cuda_fast_attn_save_floats(const struct pw_attn *a, const int *start, int n_seqs);
void pw_cuda_fast_attention_bwd(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, const float *dz,
                                const float *z, const float *qkv, const float *save, const struct pw_attn *a,
                                const int *pos, const struct pw_seqs *s);

#endif
