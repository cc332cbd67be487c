/* launch.h - the C interface of the .cu files: one launcher for every operation of kernels/backend.h.
 *
 * Names, shapes and orders of addition are those of backend.h. A launcher enqueues its kernels on stream s,
 * returns the error of the launch, and does not wait. Pointers are in device memory, unless a comment says
 * host. R, N or n of 0 launches nothing and succeeds.
 *
 * If the modes differ, an operation has two launchers. *_ref keeps the order of additions of backend.h, so it
 * has the bits of the cpu backend. *_fast chooses its own order, which is the same in every run on one
 * machine. Other launchers keep the order of backend.h and serve both modes.
 *
 * Recurring arguments. rounded, copy [shape of the output]: receives the output as bf16 as well, or NULL.
 * partial, room, ds, dots, scratch: device scratch, of the size that the function named in the comment
 * returns. */
#ifndef PW_CUDA_LAUNCH_H
#define PW_CUDA_LAUNCH_H
#include "kernels/backend.h"
#include <cuda_runtime_api.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { PW_CUDA_WIDEST = 128 }; /* largest head width of attention */

/* ---- reduce.cu, adamw.cu. partial: a double for each tile of PW_TILE entries; moved_partial: two for each
 * tile. ascending: add tiles in ascending order, as mode ref does; otherwise in the order of
 * pw_dev_shared_out (tiles.h). */
cudaError_t pw_cuda_reduce(cudaStream_t s, float *g, double *sumsq, int *spoilt, double *partial,
                           const float *slots, int n_slots, size_t stride, size_t n, const float *loss,
                           int n_loss, bool ascending);
cudaError_t pw_cuda_digest(cudaStream_t s, uint64_t *sums, const float *x, size_t n, uint64_t first);
cudaError_t pw_cuda_adamw(cudaStream_t s, float *p, float *m, float *v, const float *g, const double *sumsq,
                          const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles,
                          const struct pw_adamw *h, double *moved, double *moved_partial, bool ascending);

/* ---- embed.cu */
cudaError_t pw_cuda_embed_fwd(cudaStream_t s, float *x, const float *table, const int *ids,
                              const struct pw_added *a, int R, int C);
/* Each table is summed by scatter_sum.h. */
cudaError_t pw_cuda_embed_bwd(cudaStream_t s, float *d_table, float *const *d_added, const float *dx,
                              const int *ids, const struct pw_added *a, int R, int C);

/* ---- norm.cu. rounded [R,C]: y or dx as bf16, or NULL; y may be NULL if rounded is not. partial:
 * pw_cuda_norm_partial(R, C) floats. beside: the stream on which d_gain and d_bias may be summed, at the same
 * time as dx; or s. */
cudaError_t pw_cuda_norm_fwd(cudaStream_t s, float *y, uint16_t *rounded, float *stat, const float *x,
                             const float *gain, const float *bias, enum pw_norm kind, float eps, float scale,
                             int R, int C);
cudaError_t pw_cuda_norm_bwd_ref(cudaStream_t s, float *dx, float *d_gain, float *d_bias, const float *dy,
                                 const float *x, const float *stat, const float *gain, enum pw_norm kind,
                                 float scale, int R, int C);
size_t pw_cuda_norm_partial(int R, int C);
cudaError_t pw_cuda_norm_bwd_fast(cudaStream_t s, cudaStream_t beside, float *dx, uint16_t *rounded,
                                  float *d_gain, float *d_bias, const float *dy, const float *x,
                                  const float *stat, const float *gain, enum pw_norm kind, float scale, int R,
                                  int C, float *partial);

/* ---- linear.cu: complete operations of mode ref, on CUDA cores */
cudaError_t pw_cuda_linear_fwd_ref(cudaStream_t s, float *y, float *pre, const float *x, const float *w,
                                   const float *bias, const float *residual, enum pw_act act, int R, int in,
                                   int out);
cudaError_t pw_cuda_linear_dx_ref(cudaStream_t s, float *dx, const float *dy, const float *w, enum pw_act act,
                                  const float *saved, float scale, int R, int in, int out);
cudaError_t pw_cuda_linear_dw_ref(cudaStream_t s, float *dw, float *d_bias, const float *dy, const float *x,
                                  bool add, int out, int in, int R);
/* A tensor in one of two forms; the other pointer is NULL. */
struct pw_cuda_numbers {
    const float *f32;
    const uint16_t *bf16;
};
/* ---- linear_parts.cu: epilogues of a product [R,out] or [R,in] that cuBLASLt has computed. The product may
 * lie in any of the outputs. rounded: y or dx as bf16. y (dx) and rounded may each be NULL. */
cudaError_t pw_cuda_linear_end(cudaStream_t s, float *y, uint16_t *rounded, float *pre, const float *product,
                               const float *bias, const float *residual, enum pw_act act, int R, int out);
cudaError_t pw_cuda_linear_dx_end(cudaStream_t s, float *dx, uint16_t *rounded,
                                  struct pw_cuda_numbers product, enum pw_act act,
                                  struct pw_cuda_numbers saved, float scale, int R, int in);
/* d_bias [out] = (add ? d_bias : 0) + column sums of dy [R,out]. partial: pw_cuda_column_partial(R, out)
 * floats. */
size_t pw_cuda_column_partial(int R, int out);
cudaError_t pw_cuda_column_sums(cudaStream_t s, float *d_bias, struct pw_cuda_numbers dy, bool add, int R,
                                int out, float *partial);
/* Round n floats to bf16, to nearest even, into n 16-bit words. */
cudaError_t pw_cuda_to_bf16(cudaStream_t s, uint16_t *to, const float *from, size_t n);
/* One such conversion; pw_cuda_to_bf16_all does n of them. The list is in host memory. */
struct pw_cuda_copy {
    uint16_t *to;
    const float *from;
    size_t n;
};
cudaError_t pw_cuda_to_bf16_all(cudaStream_t s, const struct pw_cuda_copy *copies, int n);
/* Convert n numbers back to float. */
cudaError_t pw_cuda_of_bf16(cudaStream_t s, float *to, const uint16_t *from, size_t n);

/* ---- gate.cu, heads.cu */
cudaError_t pw_cuda_gate_fwd(cudaStream_t s, float *y, const float *pre, enum pw_act act, int F, int R);
cudaError_t pw_cuda_gate_bwd(cudaStream_t s, float *d_pre, const float *dy, const float *pre, enum pw_act act,
                             int F, int R);
cudaError_t pw_cuda_heads_fwd(cudaStream_t s, float *qkv, float *stat, const float *x,
                              const struct pw_heads *h, int R);
cudaError_t pw_cuda_heads_bwd(cudaStream_t s, float *dx, float *d_q_gain, float *d_k_gain, const float *dqkv,
                              const float *x, const float *stat, const struct pw_heads *h, int R);

/* ---- rotate.cu: y [R,3HD] = x with q and k transformed by t; back: the inverse, for gradients. y may be x.
 */
cudaError_t pw_cuda_rotate(cudaStream_t s, float *y, const float *x, const struct pw_turn *t, const int *pos,
                           bool back, int H, int D, int R);
/* ---- turn_bwd.cu. room: pw_cuda_turn_bwd_floats floats of device scratch. */
size_t pw_cuda_turn_bwd_floats(const struct pw_turn *t, int H, int R);
cudaError_t pw_cuda_turn_bwd(cudaStream_t s, float *dqkv, const struct pw_turn_grad *d, const float *qkv,
                             const struct pw_turn *t, const int *pos, int H, int D, int R, float *room);

/* ---- attention_ref.cu, attention.cu, attention_grad.cu. The contents of start and pos are unknown to the
 * host, so grids depend on seqs->n, seqs->rows and seqs->longest.
 *
 * save: mode ref stores the probabilities of each sequence [H,T,T], one sequence after the other. Mode fast
 * stores [R,H], the logarithm of the sum of exponentials of each row and head. at [n+1]: device scratch for
 * the offsets of the sequences, and behind them for products of contextual positions or sums of votes; the
 * launcher fills it.
 *
 * Launchers of mode fast transform q and k by a->turn, and the gradients back. The others ignore a->turn: qkv
 * must be transformed already. */
size_t pw_cuda_attention_at(const struct pw_attn *a, const struct pw_seqs *seqs); /* bytes of at */
cudaError_t pw_cuda_scores(cudaStream_t s, float *out, const float *qkv, const struct pw_attn *a,
                           const int *pos, const struct pw_seqs *seqs, size_t *at);
cudaError_t pw_cuda_attention_fwd_ref(cudaStream_t s, float *z, float *save, float *probs, const float *qkv,
                                      const struct pw_attn *a, const int *pos, const struct pw_seqs *seqs,
                                      size_t *at);
/* ds: pw_cuda_attention_ds floats. */
size_t pw_cuda_attention_ds(const struct pw_attn *a, const struct pw_seqs *seqs);
cudaError_t pw_cuda_attention_bwd_ref(cudaStream_t s, float *dqkv, float *d_bias, float *d_keys,
                                      float *d_terms, const float *dz, const float *qkv, const float *save,
                                      const struct pw_attn *a, const int *pos, const struct pw_seqs *seqs,
                                      size_t *at, float *ds);
/* bf16: operands of products are rounded to bf16; requires compute capability 8.0. copy (of z, or of dqkv)
 * may be set only then. dots: pw_cuda_attention_dots floats; 0 without relative keys. */
size_t pw_cuda_attention_dots(const struct pw_attn *a, const struct pw_seqs *seqs);
cudaError_t pw_cuda_attention_fwd_fast(cudaStream_t s, float *z, uint16_t *copy, float *save,
                                       const float *qkv, const struct pw_attn *a, const int *pos,
                                       const struct pw_seqs *seqs, float *dots, bool bf16);
/* The backward pass. partial: pw_cuda_attention_partial floats.
 *
 * later: leave out d_bias, so that it can be computed on another stream; allowed if
 * pw_cuda_attention_may_wait. Then call pw_cuda_attention_bias_begin at any time after partial is free, and
 * pw_cuda_attention_bias after both it and the backward pass. The contents of partial must stay until then.
 */
size_t pw_cuda_attention_partial(const struct pw_attn *a, const struct pw_seqs *seqs);
bool pw_cuda_attention_may_wait(const struct pw_attn *a, const struct pw_seqs *seqs);
cudaError_t pw_cuda_attention_bwd_fast(cudaStream_t s, float *dqkv, uint16_t *copy, float *d_bias,
                                       float *d_keys, const float *dz, const float *z, const float *qkv,
                                       const float *save, const struct pw_attn *a, const int *pos,
                                       const struct pw_seqs *seqs, float *partial, bool later, bool bf16);
cudaError_t pw_cuda_attention_bias_begin(cudaStream_t s, const struct pw_attn *a, const int *pos,
                                         const struct pw_seqs *seqs, float *partial);
cudaError_t pw_cuda_attention_bias(cudaStream_t s, float *d_bias, const struct pw_attn *a, const int *pos,
                                   const struct pw_seqs *seqs, float *partial);
/* cache [cap,2HD]: key and value of each row. scratch: pw_cuda_attention_cached_scratch floats. */
size_t pw_cuda_attention_cached_scratch(const struct pw_attn *a, int T, int R);
cudaError_t pw_cuda_attention_cached(cudaStream_t s, float *z, float *cache, const float *qkv,
                                     const struct pw_attn *a, const int *pos, int cap, int T, int R,
                                     float *scratch);

/* ---- terms.cu */
cudaError_t pw_cuda_terms_fwd(cudaStream_t s, float *y, const float *g, const float *before,
                              const struct pw_score *f, int H, const struct pw_seqs *seqs, int R);
cudaError_t pw_cuda_terms_bwd(cudaStream_t s, float *dg, const float *dy, const float *g,
                              const struct pw_score *f, int H, const struct pw_seqs *seqs);

/* ---- slopes.cu. room: pw_cuda_slopes_bwd_floats. */
cudaError_t pw_cuda_slopes_fwd(cudaStream_t s, float *y, const float *qkv, const struct pw_slopes *p, int R);
size_t pw_cuda_slopes_bwd_floats(const struct pw_slopes *p, int R);
cudaError_t pw_cuda_slopes_bwd(cudaStream_t s, float *dqkv, const struct pw_slopes_grad *d, const float *dy,
                               const float *qkv, const struct pw_slopes *p, int R, float *room);

/* ---- polar.cu. room: pw_cuda_polar_floats; of the backward pass pw_cuda_polar_bwd_floats. */
size_t pw_cuda_polar_floats(const struct pw_polar *p);
cudaError_t pw_cuda_polar_fwd(cudaStream_t s, float *y, const float *qkv, const struct pw_polar *p,
                              const int *pos, int R, float *room);
size_t pw_cuda_polar_bwd_floats(const struct pw_polar *p, int R);
cudaError_t pw_cuda_polar_bwd(cudaStream_t s, float *dqkv, float *d_phase, const float *dy, const float *qkv,
                              const struct pw_polar *p, const int *pos, int R, float *room);

/* ---- walk_rows.cu. room: pw_cuda_walk_bwd_floats. */
cudaError_t pw_cuda_walk_fwd(cudaStream_t s, float *vectors, float *factors, const float *y, const float *g,
                             int before, const struct pw_walk_rows *w, const struct pw_seqs *seqs, int R);
size_t pw_cuda_walk_bwd_floats(const struct pw_walk_rows *w, int R);
cudaError_t pw_cuda_walk_bwd(cudaStream_t s, float *dy, float *dg, float *d_conv, const float *d_vectors,
                             const float *d_factors, const float *y, const float *g,
                             const struct pw_walk_rows *w, const struct pw_seqs *seqs, float *room);

/* ---- planes.cu. room: pw_cuda_planes_floats; of the backward pass pw_cuda_planes_bwd_floats. */
size_t pw_cuda_planes_floats(const struct pw_planes *p, int R);
cudaError_t pw_cuda_planes_fwd(cudaStream_t s, float *y, const float *qkv, const struct pw_planes *p,
                               const int *pos, int R, float *room);
size_t pw_cuda_planes_bwd_floats(const struct pw_planes *p, int R);
cudaError_t pw_cuda_planes_bwd(cudaStream_t s, float *dqkv, float *d_unit, float *d_log_factor,
                               const float *dy, const float *qkv, const struct pw_planes *p, const int *pos,
                               int R, float *room);

/* ---- planes_make.cu. room: pw_cuda_planes_make_bytes, for both. */
size_t pw_cuda_planes_make_bytes(int H, int N, int D);
cudaError_t pw_cuda_planes_make(cudaStream_t s, float *unit, const float *a, const float *b, int H, int N,
                                int D, double *room);
cudaError_t pw_cuda_planes_make_bwd(cudaStream_t s, float *d_a, float *d_b, const float *d_unit,
                                    const float *a, const float *b, int H, int N, int D, double *room);

/* ---- put_head.cu, gather.cu, fire.cu, loss.cu, elementwise.cu, dropout.cu. rounded: dx, d_logits or y as
 * bf16, or NULL. In dropout y may be NULL if rounded is not. */
cudaError_t pw_cuda_put_head(cudaStream_t s, float *z, const float *table, const int *pos, int h, int H,
                             int D, int R);
cudaError_t pw_cuda_gather_bias_fwd(cudaStream_t s, float *out, const float *param, const int *index, int H,
                                    int n);
cudaError_t pw_cuda_gather_bias_bwd(cudaStream_t s, float *d_param, const float *d_out, const int *index,
                                    int L, int H, int n);
cudaError_t pw_cuda_fire_fwd(cudaStream_t s, float *bias, const float *param, const struct pw_fire *f, int H,
                             int P);
/* room: pw_cuda_fire_bwd_floats floats. */
size_t pw_cuda_fire_bwd_floats(const struct pw_fire *f, int H, int P);
cudaError_t pw_cuda_fire_bwd(cudaStream_t s, float *d_param, float *d_bias, const float *param,
                             const struct pw_fire *f, int L, int H, int P, float *room);
/* expr.cu. room: pw_cuda_expr_bytes of scratch. */
size_t pw_cuda_expr_bytes(const struct pw_expr_use *x, int H, int P);
cudaError_t pw_cuda_expr_fwd(cudaStream_t s, float *bias, const float *param, const struct pw_expr_use *x,
                             int H, int P, double *room);
cudaError_t pw_cuda_expr_bwd(cudaStream_t s, float *d_param, float *d_bias, const float *param,
                             const struct pw_expr_use *x, int L, int H, int P, double *room);
cudaError_t pw_cuda_gather_rows(cudaStream_t s, float *y, const float *x, const int *rows, int N, int C);
cudaError_t pw_cuda_scatter_rows(cudaStream_t s, float *dx, uint16_t *rounded, const float *dy,
                                 const int *rows, int N, int R, int C);
cudaError_t pw_cuda_cross_entropy(cudaStream_t s, float *loss, int *best, float *d_logits, uint16_t *rounded,
                                  const float *logits, const int *targets, const float *scale, int N, int V);
cudaError_t pw_cuda_softmax(cudaStream_t s, float *p, const float *logits, float temperature, int N, int V);
cudaError_t pw_cuda_cap_fwd(cudaStream_t s, float *y, float cap, size_t n);
cudaError_t pw_cuda_cap_bwd(cudaStream_t s, float *d, const float *y, float cap, size_t n);
cudaError_t pw_cuda_clip_fwd(cudaStream_t s, float *y, float most, size_t n);
cudaError_t pw_cuda_clip_bwd(cudaStream_t s, float *d, const float *y, float most, size_t n);
cudaError_t pw_cuda_add(cudaStream_t s, float *y, const float *x, size_t n);
cudaError_t pw_cuda_dropout(cudaStream_t s, float *y, uint16_t *rounded, struct pw_cuda_numbers x,
                            const struct pw_dropout *d, const float *residual, int R, int C);

#ifdef __cplusplus
}
#endif
#endif
