/* ref_double.h - private to ref_double, the reference for values: functions that its files share. */
#ifndef PW_REF_DOUBLE_H
#define PW_REF_DOUBLE_H
#include "tests/ops/ref.h"

double *ref_room(size_t n); /* n zeros; aborts if out of memory */
/* Softmax of each row of p [rows,n]. */
void ref_softmax(double *p, int rows, int n);

/* p [T,T] holds the scores of a head and becomes its weights: a softmax, or those of a->scan. */
void ref_double_weights(double *p, const struct pw_attn *a, int T);
/* Adds to ds the gradient of the scores s, from dp, that of the weights p; all [T,T]. */
void ref_double_weights_bwd(double *ds, const double *dp, const double *p, const double *s,
                            const struct pw_attn *a, int T);

/* out [i+1] = the scores s of query i, whose row is q, plus their part of contextual positions. bwd: ds [i+1]
 * becomes the gradient of s; adds to u [n+1], the gradient of the query's products with the table. */
void ref_double_context(double *out, const double *s, const float *q, const struct pw_attn *a, int i);
void ref_double_context_bwd(double *ds, double *u, const double *s, const float *q, const struct pw_attn *a,
                            int i);

/* Selection. first [T,T]: the scores of head 0 without it. The sums of votes are subtracted from s. bwd: ds
 * of head 0 gets the gradient of its votes; sums: the sum of dS over all heads. */
void ref_double_select(double *s, const double *first, int T);
void ref_double_select_bwd(double *ds, const double *first, const double *sums, int T);
/* The product of query i, row q, and key j, row k, by a walk in the sequence from row base on. bwd: sets dq
 * and adds to dk, both [T,D], before they are multiplied by scale; sets the gradients of a->walk. ds [T,T];
 * rows of q and k are w floats apart. */
double ref_double_walk(const float *q, const float *k, const struct pw_attn *a, int base, int i, int j,
                       int h);
void ref_double_walk_bwd(double *dq, double *dk, const double *ds, const float *q, const float *k, int w,
                         const struct pw_attn *a, int base, int T, int h);

/* Rotates q and k of R rows in place; back: by the negative angles. */
void ref_double_turn(float *qkv, const struct pw_turn *t, const int *pos, bool back, int H, int D, int R);

/* An activation and its derivative. */
double ref_double_act(double x, enum pw_act act);
double ref_double_slope(double x, enum pw_act act);

/* The operations of kernels/backend.h, members of the table ref_double. */
void ref_double_scores(struct pw_ctx *c, float *out, const float *qkv, const struct pw_attn *a,
                       const int *pos, const struct pw_seqs *s);
void ref_double_attention_fwd(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                              const float *qkv, const struct pw_attn *a, const int *pos,
                              const struct pw_seqs *s);
size_t ref_double_save_floats(const struct pw_attn *a, const int *start, int n_seqs);
void ref_double_attention_cached(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                                 const struct pw_attn *a, const int *pos, int cap, int T, int R);
size_t ref_double_cache_floats(int H, int D, int cap);
void ref_double_attention_bwd(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                              const float *dz, const float *z, const float *qkv, const float *save,
                              const struct pw_attn *a, const int *pos, const struct pw_seqs *s);

void ref_double_turn_bwd(struct pw_ctx *c, float *dqkv, const struct pw_turn_grad *d, const float *qkv,
                         const struct pw_turn *t, const int *pos, int H, int D, int R);

void ref_double_gate_fwd(struct pw_ctx *c, float *y, const float *pre, enum pw_act act, int F, int R);
void ref_double_gate_bwd(struct pw_ctx *c, float *d_pre, const float *dy, const float *pre, enum pw_act act,
                         int F, int R);
void ref_double_heads_fwd(struct pw_ctx *c, float *qkv, float *stat, const float *x, const struct pw_heads *h,
                          int R);
void ref_double_heads_bwd(struct pw_ctx *c, float *dx, float *d_q_gain, float *d_k_gain, const float *dqkv,
                          const float *x, const float *stat, const struct pw_heads *h, int R);
void ref_double_cap_fwd(struct pw_ctx *c, float *y, float cap, size_t n);
void ref_double_cap_bwd(struct pw_ctx *c, float *d, const float *y, float cap, size_t n);
void ref_double_clip_fwd(struct pw_ctx *c, float *y, float most, size_t n);
void ref_double_clip_bwd(struct pw_ctx *c, float *d, const float *y, float most, size_t n);

void ref_double_terms_fwd(struct pw_ctx *c, float *y, const float *g, const float *before,
                          const struct pw_score *f, int H, const struct pw_seqs *s, int R);
void ref_double_terms_bwd(struct pw_ctx *c, float *dg, const float *dy, const float *g,
                          const struct pw_score *f, int H, const struct pw_seqs *s);
void ref_double_slopes_fwd(struct pw_ctx *c, float *y, const float *qkv, const struct pw_slopes *s, int R);
void ref_double_slopes_bwd(struct pw_ctx *c, float *dqkv, const struct pw_slopes_grad *d, const float *dy,
                           const float *qkv, const struct pw_slopes *s, int R);
void ref_double_polar_fwd(struct pw_ctx *c, float *y, const float *qkv, const struct pw_polar *p,
                          const int *pos, int R);
void ref_double_polar_bwd(struct pw_ctx *c, float *dqkv, float *d_phase, const float *dy, const float *qkv,
                          const struct pw_polar *p, const int *pos, int R);
void ref_double_planes_make(struct pw_ctx *c, float *unit, const float *a, const float *b, int H, int N,
                            int D);
void ref_double_planes_make_bwd(struct pw_ctx *c, float *d_a, float *d_b, const float *d_unit, const float *a,
                                const float *b, int H, int N, int D);
void ref_double_planes_fwd(struct pw_ctx *c, float *y, const float *qkv, const struct pw_planes *p,
                           const int *pos, int R);
void ref_double_planes_bwd(struct pw_ctx *c, float *dqkv, float *d_unit, float *d_log_factor, const float *dy,
                           const float *qkv, const struct pw_planes *p, const int *pos, int R);
void ref_double_walk_fwd(struct pw_ctx *c, float *vectors, float *factors, const float *y, const float *g,
                         int before, const struct pw_walk_rows *w, const struct pw_seqs *s, int R);
void ref_double_walk_bwd_rows(struct pw_ctx *c, float *dy, float *dg, float *d_conv, const float *d_vectors,
                              const float *d_factors, const float *y, const float *g,
                              const struct pw_walk_rows *w, const struct pw_seqs *s);
void ref_double_fire_fwd(struct pw_ctx *c, float *bias, const float *param, const struct pw_fire *f, int H,
                         int P);
void ref_double_fire_bwd(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                         const struct pw_fire *f, int L, int H, int P);

/* Of ref_plain: programs of formulas are in double precision. */
void pw_expr_fwd_ref(struct pw_ctx *c, float *bias, const float *param, const struct pw_expr_use *x, int H,
                     int P);
void pw_expr_bwd_ref(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_expr_use *x, int L, int H, int P);

#endif
