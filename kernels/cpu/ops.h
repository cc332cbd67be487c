/* ops.h - declares the operations of the cpu backend, with one set of names for each instruction set.
 *
 * Every operation is written once and compiled once for each instruction set (kernels/CMakeLists.txt), with
 * PW_ISA set to scalar, avx2 or avx512. For example, PW_OP(norm_fwd) becomes pw_norm_fwd_avx512. Shapes,
 * orders of addition and ownership are those of kernels/backend.h. */
#ifndef PW_CPU_OPS_H
#define PW_CPU_OPS_H
#include "kernels/backend.h"

#ifndef PW_ISA
#error "compile with -DPW_ISA=scalar, avx2 or avx512"
#endif
#define PW_OP_JOIN(name, isa)   pw_##name##_##isa
#define PW_OP_EXPAND(name, isa) PW_OP_JOIN(name, isa)
#define PW_OP(name)             PW_OP_EXPAND(name, PW_ISA)

size_t PW_OP(mat_pack_floats)(int out, int in, bool backward);
void PW_OP(prepare)(struct pw_backend *be, const struct pw_mat *mats, int n);
void PW_OP(unpack)(float *out, const struct pw_mat *m, size_t first, size_t n);
void PW_OP(pack_back)(struct pw_backend *be, const struct pw_mat *mats, int n);
void PW_OP(unpack_rows)(struct pw_ctx *c, float *x, const struct pw_mat *m, const int *ids, int R);
void PW_OP(reduce)(struct pw_backend *be, float *g, double *sumsq, int *spoilt, const float *slots,
                   int n_slots, size_t stride, size_t n, const float *loss, int n_loss);
void PW_OP(adamw)(struct pw_backend *be, float *p, float *m, float *v, const float *g, const double *sumsq,
                  const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles, const struct pw_adamw *h,
                  double *moved);
void PW_OP(digest)(struct pw_backend *be, uint64_t *sums, const float *x, size_t n, uint64_t first);
void PW_OP(embed_fwd)(struct pw_ctx *c, float *x, const float *table, const int *ids,
                      const struct pw_added *a, int R, int C);
void PW_OP(embed_bwd)(struct pw_ctx *c, float *d_table, float *const *d_added, const float *dx,
                      const int *ids, const struct pw_added *a, int R, int C);
void PW_OP(norm_fwd)(struct pw_ctx *c, float *y, float *stat, const float *x, const float *gain,
                     const float *bias, enum pw_norm kind, float eps, float scale, int R, int C);
void PW_OP(norm_bwd)(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                     const float *x, const float *stat, const float *gain, enum pw_norm kind, float scale,
                     int R, int C);
void PW_OP(linear_fwd)(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R);
void PW_OP(linear_dx)(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R);
void PW_OP(linear_dw)(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                      int out, int in, int R);
void PW_OP(gate_fwd)(struct pw_ctx *c, float *y, const float *pre, enum pw_act act, int F, int R);
void PW_OP(gate_bwd)(struct pw_ctx *c, float *d_pre, const float *dy, const float *pre, enum pw_act act,
                     int F, int R);
void PW_OP(heads_fwd)(struct pw_ctx *c, float *qkv, float *stat, const float *x, const struct pw_heads *h,
                      int R);
void PW_OP(heads_bwd)(struct pw_ctx *c, float *dx, float *d_q_gain, float *d_k_gain, const float *dqkv,
                      const float *x, const float *stat, const struct pw_heads *h, int R);
void PW_OP(rotate)(struct pw_ctx *c, float *qkv, const struct pw_turn *t, const int *pos, int H, int D,
                   int R);
void PW_OP(turn_bwd)(struct pw_ctx *c, float *dqkv, const struct pw_turn_grad *d, const float *qkv,
                     const struct pw_turn *t, const int *pos, int H, int D, int R);
void PW_OP(scores)(struct pw_ctx *c, float *out, const float *qkv, const struct pw_attn *a, const int *pos,
                   const struct pw_seqs *s);
void PW_OP(attention_fwd)(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                          const float *qkv, const struct pw_attn *a, const int *pos, const struct pw_seqs *s);
size_t PW_OP(attn_save_floats)(const struct pw_attn *a, const int *start, int n_seqs);
void PW_OP(attention_cached)(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                             const struct pw_attn *a, const int *pos, int cap, int T, int R);
size_t PW_OP(attn_cache_floats)(int H, int D, int cap);
void PW_OP(attention_bwd)(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                          const float *dz, const float *z, const float *qkv, const float *save,
                          const struct pw_attn *a, const int *pos, const struct pw_seqs *s);
void PW_OP(terms_fwd)(struct pw_ctx *c, float *y, const float *g, const float *before,
                      const struct pw_score *f, int H, const struct pw_seqs *s, int R);
void PW_OP(slopes_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_slopes *s, int R);
void PW_OP(slopes_bwd)(struct pw_ctx *c, float *dqkv, const struct pw_slopes_grad *d, const float *dy,
                       const float *qkv, const struct pw_slopes *s, int R);
void PW_OP(polar_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_polar *p, const int *pos,
                      int R);
void PW_OP(polar_bwd)(struct pw_ctx *c, float *dqkv, float *d_phase, const float *dy, const float *qkv,
                      const struct pw_polar *p, const int *pos, int R);
void PW_OP(planes_make)(struct pw_ctx *c, float *unit, const float *a, const float *b, int H, int N, int D);
void PW_OP(planes_make_bwd)(struct pw_ctx *c, float *d_a, float *d_b, const float *d_unit, const float *a,
                            const float *b, int H, int N, int D);
void PW_OP(planes_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_planes *p,
                       const int *pos, int R);
void PW_OP(planes_bwd)(struct pw_ctx *c, float *dqkv, float *d_unit, float *d_log_factor, const float *dy,
                       const float *qkv, const struct pw_planes *p, const int *pos, int R);
void PW_OP(walk_fwd)(struct pw_ctx *c, float *vectors, float *factors, const float *y, const float *g,
                     int before, const struct pw_walk_rows *w, const struct pw_seqs *s, int R);
void PW_OP(walk_bwd)(struct pw_ctx *c, float *dy, float *dg, float *d_conv, const float *d_vectors,
                     const float *d_factors, const float *y, const float *g, const struct pw_walk_rows *w,
                     const struct pw_seqs *s);
void PW_OP(terms_bwd)(struct pw_ctx *c, float *dg, const float *dy, const float *g, const struct pw_score *f,
                      int H, const struct pw_seqs *s);
void PW_OP(put_head)(struct pw_ctx *c, float *z, const float *table, const int *pos, int h, int H, int D,
                     int R);
void PW_OP(gather_bias_fwd)(struct pw_ctx *c, float *out, const float *param, const int *index, int H, int n);
void PW_OP(gather_bias_bwd)(struct pw_ctx *c, float *d_param, const float *d_out, const int *index, int L,
                            int H, int n);
void PW_OP(fire_fwd)(struct pw_ctx *c, float *bias, const float *param, const struct pw_fire *f, int H,
                     int P);
void PW_OP(fire_bwd)(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_fire *f, int L, int H, int P);
void PW_OP(expr_fwd)(struct pw_ctx *c, float *bias, const float *param, const struct pw_expr_use *x, int H,
                     int P);
void PW_OP(expr_bwd)(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_expr_use *x, int L, int H, int P);
void PW_OP(gather_rows)(struct pw_ctx *c, float *y, const float *x, const int *rows, int N, int C);
void PW_OP(scatter_rows)(struct pw_ctx *c, float *dx, const float *dy, const int *rows, int N, int R, int C);
void PW_OP(cross_entropy)(struct pw_ctx *c, float *loss, int *best, float *d_logits, const float *logits,
                          const int *targets, const float *scale, int N, int V);
void PW_OP(softmax)(struct pw_ctx *c, float *p, const float *logits, float temperature, int N, int V);
void PW_OP(cap_fwd)(struct pw_ctx *c, float *y, float cap, size_t n);
void PW_OP(cap_bwd)(struct pw_ctx *c, float *d, const float *y, float cap, size_t n);
void PW_OP(clip_fwd)(struct pw_ctx *c, float *y, float most, size_t n);
void PW_OP(clip_bwd)(struct pw_ctx *c, float *d, const float *y, float most, size_t n);
void PW_OP(add)(struct pw_ctx *c, float *y, const float *x, size_t n);
void PW_OP(dropout)(struct pw_ctx *c, float *y, const float *x, const struct pw_dropout *d,
                    const float *residual, int R, int C);
void PW_OP(zero)(struct pw_ctx *c, float *y, size_t n);

#endif
