/* ref_plain.h - declares the operations of ref_plain under the names pw_NAME_ref. */
#ifndef PW_REF_PLAIN_H
#define PW_REF_PLAIN_H
#define PW_ISA ref
#include "kernels/cpu/ops.h"
#include "tests/ops/ref.h"

/* ref_turn rotates q and k of R rows in place; back: by the negative angles. ref_turned returns a copy with q
 * and k rotated if the encoding rotates them. The caller frees the copy. */
void ref_turn(float *qkv, const struct pw_turn *t, const int *pos, bool back, int H, int D, int R);
float *ref_turned(const float *qkv, const struct pw_attn *a, const int *pos, int R);

/* Stick-breaking of query i: p [i+1] holds its scores and becomes its weights. taken (NULL: not wanted)
 * receives the shares. bwd: ds [i+1] holds dP and becomes dS. */
void ref_stick(float *p, float *taken, int i);
void ref_stick_bwd(float *ds, const float *p, const float *taken, int i);
/* Contextual positions of query i, whose row is q: their part is added to its scores s [i+1]. gates (NULL:
 * not wanted) receives the gates. bwd: ds [i+1] becomes the gradient without the part, u [n+1] that of the
 * query's products. */
void ref_context(float *s, float *gates, const float *q, const struct pw_attn *a, int i);
void ref_context_bwd(float *ds, float *u, const float *gates, const float *q, const struct pw_attn *a, int i);

/* Selection. ref_votes returns the votes [T,T] of the sequence that starts at row base; the caller frees
 * them. ref_select subtracts their sums from the scores s [i+1] of query i. bwd: ds [H,T,T] of all heads, 0
 * for hidden keys, becomes the gradient of the scores before. */
float *ref_votes(const float *qkv, const struct pw_attn *a, int base, int T);
void ref_select(float *s, const float *votes, int T, int i);
void ref_select_bwd(float *ds, const float *votes, int H, int T);
/* A walk of query i, row q, over the keys k of its sequence, w floats apart: s [i+1] receives the products.
 * bwd: sets dq and dk of a head of the sequence, before they are multiplied by scale, and the gradients of
 * a->walk; ds [T,T]. */
void ref_walk(float *s, const float *q, const float *k, size_t w, const struct pw_attn *a, int base, int i,
              int h);
void ref_walk_bwd(float *dq, float *dk, const float *ds, const float *q, const float *k, size_t w,
                  const struct pw_attn *a, int base, int T, int h);

#endif
