/* members.h - members of struct pw_backend_ops (kernels/backend.h) in which the two modes differ; table.c
 * lists them. Mode ref keeps the order of additions of backend.h. Mode fast uses tensor cores and fused
 * attention.
 *
 * All operations are enqueued on the stream of their context. A failure is kept by the backend
 * (pw_cuda_note). */
#ifndef PW_CUDA_MEMBERS_H
#define PW_CUDA_MEMBERS_H
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"

/* Launches an operation and notes its error. If the backend has an error already, `launch` is not evaluated;
 * so ask for scratch before, whose failure is such an error. */
#define PW_CUDA_DO(c, what, launch)                                                                          \
    do {                                                                                                     \
        if (pw_cuda_ready((c)->be))                                                                          \
            pw_cuda_note((c)->be, launch, what);                                                             \
    } while (0)

/* Returns where an operation writes x as floats; NULL if only its bf16 copy exists. */
static inline float *pw_cuda_floats_of(const struct pw_ctx *c, float *x)
{
    return pw_cuda_alone(c, x) ? NULL : x;
}

/* Returns x in the form that it has: floats, or bf16 if that is all. */
static inline struct pw_cuda_numbers pw_cuda_numbers_of(struct pw_ctx *c, const float *x)
{
    bool alone = pw_cuda_alone(c, x);
    return (struct pw_cuda_numbers){alone ? NULL : x, alone ? pw_cuda_copy_of(c, x) : NULL};
}

/* Returns `bytes` of scratch for an attention kernel that does not transform q and k itself. If a->turn is
 * set, *qkv [R,3HD] becomes a transformed copy behind that scratch; pos [R]. Returns NULL without memory; the
 * error is kept then. pw_cuda_turned_bytes returns the total size of the scratch. */
void *pw_cuda_turned(struct pw_ctx *c, size_t bytes, const float **qkv, const struct pw_attn *a,
                     const int *pos, int R);
size_t pw_cuda_turned_bytes(const struct pw_attn *a, size_t bytes, int R);

/* ---- ref.c */
size_t pw_cuda_ref_pack_floats(int out, int in, bool backward);
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
void pw_cuda_ref_attention_bwd(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                               const float *dz, const float *z, const float *qkv, const float *save,
                               const struct pw_attn *a, const int *pos, const struct pw_seqs *s);

/* ---- fast_linear.c. A pack (struct pw_mat) is the weight rounded to bf16; precisions fp32 and tf32 have no
 * packs. */
size_t pw_cuda_bf16_pack_floats(int out, int in, bool backward);
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
void pw_cuda_fast_attention_bwd(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                                const float *dz, const float *z, const float *qkv, const float *save,
                                const struct pw_attn *a, const int *pos, const struct pw_seqs *s);

#endif
