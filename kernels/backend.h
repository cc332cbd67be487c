/* backend.h - the interface that kernels/cpu and kernels/cuda both implement: a table of operations on
 * float32 tensors.
 *
 * It compiles as C11 and as C++17: plain structs and function pointers only.
 *
 * Shapes use these capitals everywhere:
 *
 *   R  rows: token positions of all sequences of a chunk, concatenated without padding
 *   T  positions of one sequence
 *   C  width;  H heads;  D head width;  V vocabulary
 *   P  rows of a position table;  N scored rows
 *
 * All tensors are dense, row-major, float32. Outputs come first. An operation named *_bwd ADDS into its
 * outputs unless its comment says SETS. Pointers refer to the backend's memory (host memory on the cpu). Code
 * above this header only offsets them and never dereferences them, except that it may read them after sync()
 * on the cpu backend.
 *
 * Sequences are ragged: struct pw_seqs gives the start of each. So padding costs no work and can't change
 * bits.
 *
 * Order of additions (determinism class "portable", docs/bits.md). Every table that claims this class keeps
 * this order, for all tile sizes, numbers of threads and vector widths:
 *   chain   acc = fmaf(a_k, b_k, acc), k ascending. acc starts at +0, or at the old value if the operation
 *           adds into its output (gradient sums over rows).
 *   lanes   element i goes to lane i mod 16. Each lane adds in ascending order (fmaf for a product) from +0.
 *           Then lanes l and l+8 are added, then l+4, l+2, l+1.
 *   masked  keys after the query are left out of max, chains and lanes (the same bits as adding zeros).
 *
 * The comment of an operation says which order it uses. Element-wise parts round after every operation of the
 * formula.
 *
 * A chunk operation takes a struct pw_ctx (cpu: one worker, synchronous; cuda: a stream, asynchronous) and
 * can't fail. A device error is kept by the backend, and sync() reports it. */
#ifndef PW_BACKEND_H
#define PW_BACKEND_H
#include "base/err.h"
#include "kernels/operands.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define PW_BACKEND_ABI 34
/* Increases when the same commands give different bits than before. A session records it. */
#define PW_BITS 1

struct pw_backend; /* opaque; each backend defines its own */
struct pw_ctx;     /* opaque; one per worker or stream */

/* A device that a backend could use. */
struct pw_device {
    char name[128];      /* "NVIDIA H200, compute capability 9.0" */
    char why_not[128];   /* why it can't be used; "": it can */
    char libraries[128]; /* libraries that the backend uses there, with versions: "CUDA 13.0, driver 13.0" */
    size_t free, total;  /* bytes of its memory */
};

/* A backend: what it is, and its operations. Each table is constant. */
struct pw_backend_ops {
    int abi; /* PW_BACKEND_ABI that this table was built against */
    const char *name, *summary;
    const char *mode;      /* cuda: "ref" (the bits of the cpu backend) or "fast"; cpu: "" */
    int slots;             /* maximum number of gradient slots per step; 0: that of class portable (step.c) */
    const char *isa;       /* "avx512" */
    const char *precision; /* precision of the products in linear layers: "fp32", "bf16" */
    int act_bytes;         /* bytes per float in memory from alloc_acts, if the table has it */
    int operand_bytes;     /* bytes per entry in memory from alloc_operands */
    int widest_head;       /* largest head width; 0: any */
    /* Determinism class: true: the same bits on every machine; false: class "machine". */
    bool portable;
    bool host;  /* its memory is host memory, so a caller's buffer may be used in its place */
    bool packs; /* a pack is the tensor rounded to bf16, and adamw updates the packs that segments name */
    /* Shapes should repeat: batches are padded with rows and sequences without loss (model/plan.c). */
    bool pads;
    /* Attention can have a mix, a scan other than SELECT, SELECT (struct pw_attn); otherwise it never gets
     * one. */
    bool mixes, scans, selects;

    /* ---- lifetime. unit: for the cpu backend, the number of workers (0: all processors); else the
     * device. */
    enum pw_code (*open)(struct pw_backend **be, int unit, struct pw_err *err);
    void (*close)(struct pw_backend *be); /* NULL is a no-op */
    /* Wait until all submitted work is done. Fails with the first device error since the last call. */
    enum pw_code (*sync)(struct pw_backend *be, struct pw_err *err);
    int (*unit)(const struct pw_backend *be);    /* unit as given to open; not on a host backend */
    int (*workers)(const struct pw_backend *be); /* number of contexts that run at the same time */
    /* Bytes of activations that one pass should process at a time; NULL: no limit. */
    size_t (*chunk_bytes)(void);
    const char *(*device)(const struct pw_backend *be); /* one line for the screen: "2 threads, avx512" */
    /* Algorithms that a library has chosen so far and that bits depend on. Writes choice i = 0, 1, ... as one
     * line; the order has no meaning. Returns false past the last. NULL: no choices are made. */
    bool (*choice)(const struct pw_backend *be, int i, char *line, size_t size);
    /* Describe device n = 0, 1, ... of the machine. Fails if there is no such device; if there is none at
     * all, the message says why. NULL: the backend has no devices. */
    enum pw_code (*device_at)(struct pw_device *out, int n, struct pw_err *err);

    /* ---- memory: 64-byte aligned, zeroed; NULL if there is no memory */
    void *(*alloc)(struct pw_backend *be, size_t bytes);
    /* Like alloc, for activations of a pass. The backend may keep a converted copy of such a tensor for its
     * products; the copy is valid as long as only operations of this table write to the tensor. NULL: use
     * alloc. */
    float *(*alloc_acts)(struct pw_backend *be, size_t floats);
    /* Like alloc, for operands: activations that only linear_fwd, linear_dx and linear_dw read (relu's saved
     * one included), and dropout in place; norm_fwd and dropout also write them. The backend may store them
     * only in the form that its products use. bytes: operand_bytes per entry. NULL: use alloc. */
    float *(*alloc_operands)(struct pw_backend *be, size_t bytes);
    void (*free)(struct pw_backend *be, void *ptr); /* memory of any of the three; NULL is a no-op */
    /* Free and total bytes of the device's memory. NULL: it is host memory. */
    void (*memory)(struct pw_backend *be, size_t *free, size_t *total);
    /* Bytes of device memory that a model needs beyond its own allocations. `a` and `s` are the largest
     * attention of its steps (pointers in it are tested for NULL, never followed), `widest` the columns of
     * its widest tensor. NULL: none. */
    size_t (*beside)(const struct pw_attn *a, const struct pw_seqs *s, int widest);
    /* upload: src may be reused when it returns. download: dst belongs to the backend until sync(), or until
     * wait() for a later mark. */
    void (*upload)(struct pw_backend *be, void *dst, const void *src, size_t bytes);
    void (*download)(struct pw_backend *be, void *dst, const void *src, size_t bytes);
    /* Copy from memory of this backend, or of another one of the same table and unit that has no work in
     * flight. NULL: memory is host memory; use upload. */
    void (*copy)(struct pw_backend *be, void *dst, const void *src, size_t bytes);
    /* Host memory for fast copies to and from the device (pinned); like alloc and free. */
    void *(*host_alloc)(struct pw_backend *be, size_t bytes);
    void (*host_free)(struct pw_backend *be, void *ptr);

    /* ---- order in time. mark returns a point after all work submitted so far. wait returns when that point
     * is reached, with the error that sync would report. */
    uint64_t (*mark)(struct pw_backend *be);
    enum pw_code (*wait)(struct pw_backend *be, uint64_t mark, struct pw_err *err);
    /* Call fn(arg), which calls operations but does not allocate, free, copy or wait. The key [bytes]
     * identifies everything that the operations depend on, except the contents of the backend's memory. If fn
     * was called before with an equal key, and nothing was freed since, the backend may repeat those
     * operations without calling fn (a CUDA graph). */
    void (*replay)(struct pw_backend *be, const void *key, size_t bytes, void (*fn)(void *arg), void *arg);

    /* ---- whole-machine operations: each uses all workers itself; call them outside for_chunks */

    /* Run fn(ctx, chunk, worker, arg) for chunk = 0..n-1, on any worker, in any order; with n = 1 on worker
     * 0. */
    void (*for_chunks)(struct pw_backend *be, int n,
                       void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg), void *arg);
    /* Number of floats of struct pw_mat's `pack`, or with backward of its `back`; 0: pack serves both.
     * prepare fills every pack from w, and every back that is not NULL. */
    size_t (*mat_pack_floats)(int out, int in, bool backward);
    void (*prepare)(struct pw_backend *be, const struct pw_mat *mats, int n);
    /* A pack of this table has every bit of its matrix, so it can be the only copy: then w is never read
     * again after prepare. unpack writes elements first .. first+n-1 of the matrix, row-major, to host
     * memory. pack_back fills every back from its pack. NULL, like unpack_rows below: packs are rounded, or
     * in a device's memory. */
    void (*unpack)(float *out, const struct pw_mat *m, size_t first, size_t n);
    void (*pack_back)(struct pw_backend *be, const struct pw_mat *mats, int n);
    /* Sum gradient slots: g[i] = ((slot0[i] + slot1[i]) + ...). Slot s begins at slots + s*stride; g may be
     * slots if n_slots is 1.
     *
     * *sumsq = sum of g[i]^2: each tile by lanes in float, tiles ascending in double. If *sumsq or one of
     * loss [n_loss] is not finite, *spoilt becomes 1. If *spoilt is not 0, *sumsq becomes NaN. So adamw
     * ignores this step and all later ones with the same flag, until the caller sets it to 0. */
    void (*reduce)(struct pw_backend *be, float *g, double *sumsq, int *spoilt, const float *slots,
                   int n_slots, size_t stride, size_t n, const float *loss, int n_loss);
    /* AdamW (Loshchilov and Hutter 2019) over the segments, which are in the backend's memory and have
     * n_tiles tiles in all. p has a segment at its offset, m, v and g at its place. If *sumsq is not finite,
     * nothing changes and moved is 0. Otherwise, with norm = sqrt(*sumsq), k = clip > 0 && norm > clip ?
     * clip/norm : 1, and sums by fmaf as written in adamw.c:
     *
     *   g' = k*g
     *   m = beta1*m + (1-beta1)*g'
     *   v = beta2*v + (1-beta2)*(g'*g')
     *   p = (p - (lr*decay)*p) - lr * ((m*c1) / (sqrt(v*c2) + eps))
     *
     * moved [n_segs,2] (backend memory) receives for each segment the sums of (p_after - p_before)^2, with
     * the difference rounded, and of p_before^2. Each sum goes over tiles from the segment's beginning: lanes
     * in float inside a tile, tiles ascending in double. */
    void (*adamw)(struct pw_backend *be, float *p, float *m, float *v, const float *g, const double *sumsq,
                  const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles, const struct pw_adamw *h,
                  double *moved);
    /* Hash of x [n]: for k = 0 and 1, sums[k] += mix64(bits of x[i] ^ mix64(2 * (first + i) + k)) over all i
     * < n. sums [2] is in the backend's memory; mix64 is the finaliser of SplitMix64 (Stafford's mix 13). */
    void (*digest)(struct pw_backend *be, uint64_t *sums, const float *x, size_t n, uint64_t first);

    /* ---- embedding. x[r] = a->scale * table[ids[r]] + a[r], where a sum of two rows in a[r] is rounded
     * first. table [V,C]. ids NULL: row r of table [R,C], which may be x. */
    void (*embed_fwd)(struct pw_ctx *c, float *x, const float *table, const int *ids,
                      const struct pw_added *a, int R, int C);
    /* x[r] = row ids[r] of m, from its pack: x [R,in]. */
    void (*unpack_rows)(struct pw_ctx *c, float *x, const struct pw_mat *m, const int *ids, int R);
    /* d_table[ids[r]] += a->scale * dx[r], and for every added table d_added[k][row[k][r]] += its columns of
     * dx[r]; rows ascending. d_added [a->n]: tables that don't overlap, or NULL if none of them is learned.
     * d_table NULL: only those; ids is not read then. */
    void (*embed_bwd)(struct pw_ctx *c, float *d_table, float *const *d_added, const float *dx,
                      const int *ids, const struct pw_added *a, int R, int C);

    /* ---- norms. y = scale * (xhat * gain + bias). LAYER: xhat = (x - mean) / sqrt(var + eps) (Ba et al.
     * 2016). RMS: xhat = x / sqrt(mean(x^2) + eps) (Zhang and Sennrich 2019). NONE: y = scale * x. stat [R,2]
     * receives mean and 1/sqrt(..). gain and bias may be NULL (1 and 0). Sums: lanes. */
    void (*norm_fwd)(struct pw_ctx *c, float *y, float *stat, const float *x, const float *gain,
                     const float *bias, enum pw_norm kind, float eps, float scale, int R, int C);
    /* Adds to dx [R,C], d_gain [C], d_bias [C] (NULL if absent). d_gain and d_bias: chains over rows. */
    void (*norm_bwd)(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                     const float *x, const float *stat, const float *gain, enum pw_norm kind, float scale,
                     int R, int C);

    /* ---- linear. y = act(x W^T + bias) + residual, with x [R,in], y [R,out]. The product is a chain over
     * in; each other part is one rounded operation. pre [R,out], if not NULL, receives x W^T + bias; the
     * gelus need it for their backward pass. bias [out] and residual [R,out] may be NULL; residual may be
     * y. */
    void (*linear_fwd)(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R);
    /* SETS dx = scale * (act'(saved) * (dy W)): dx [R,in], dy [R,out]. The product is a chain over out; each
     * other part is one rounded operation. act is the activation that PRODUCED this layer's input x. saved
     * [R,in] is x itself for relu, the pre-activation for the gelus, NULL for none. relu's x may have gone
     * through dropout: dropped entries are 0, and scale is pw_dropout_kept. */
    void (*linear_dx)(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R);
    /* dw [out,in] = (add ? dw : 0) + dy^T x, and d_bias [out] likewise the sum of the rows of dy (NULL if
     * absent). Chains over rows; with add they continue from the old value. */
    void (*linear_dw)(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                      int out, int in, int R);

    /* ---- gated MLP (Shazeer 2020). pre [R,2F] has gate and up side by side; y [R,F] = act(gate) * up. bwd
     * SETS d_pre: act'(gate) * (dy * up) and dy * act(gate). */
    void (*gate_fwd)(struct pw_ctx *c, float *y, const float *pre, enum pw_act act, int F, int R);
    void (*gate_bwd)(struct pw_ctx *c, float *d_pre, const float *dy, const float *pre, enum pw_act act,
                     int F, int R);

    /* ---- heads of q, k and v (struct pw_heads): qkv [R,3HD] from x [R,(H+2K)D]. A normed head is (x * rstd)
     * * gain, with rstd as in norm_fwd for RMS. stat [R,H+K] receives rstd; NULL without gains. */
    void (*heads_fwd)(struct pw_ctx *c, float *qkv, float *stat, const float *x, const struct pw_heads *h,
                      int R);
    /* SETS dx [R,(H+2K)D]. The gradient of a shared head is that of its first query head plus the others,
     * ascending. Adds to d_q_gain and d_k_gain [D] (both NULL: they don't learn): chains over rows, then
     * heads. */
    void (*heads_bwd)(struct pw_ctx *c, float *dx, float *d_q_gain, float *d_k_gain, const float *dqkv,
                      const float *x, const float *stat, const struct pw_heads *h, int R);

    /* ---- attention. qkv [R,3HD]: q, k, v concatenated; head h is at offset h*D of each. pos [R]: position
     * ids. */

    /* Transform q and k in place by t. For inspection: q and k as they enter the dot product. */
    void (*rotate)(struct pw_ctx *c, float *qkv, const struct pw_turn *t, const int *pos, int H, int D,
                   int R);
    /* Scores before the softmax, as in struct pw_maps: out = f(scale*(q.k (+ q.a)) (+ bias) (+ (t_i - t_j))
     * (+ mix)), where a is the relative key of the pair, t are a->terms of its rows, and f is a->score if
     * there is one. mix: struct pw_mix. Slopes (struct pw_made) are added next, before f: the exact
     * difference of the ids, as a float, times the rounded sum of both slopes. For inspection; the same bits
     * as inside attention_fwd. A walk (struct pw_walk) replaces q.k. */
    void (*scores)(struct pw_ctx *c, float *out, const float *qkv, const struct pw_attn *a, const int *pos,
                   const struct pw_seqs *s);
    /* z [R,HD] = softmax(scores) v. Scores: a chain over D, plus the chain of the relative key, times scale,
     * plus bias, plus the rounded difference of terms, plus the mix; then the function a->score, if there is
     * one. Softmax: subtract the row's maximum, exp, sum by lanes over key index, divide by the sum. z: a
     * chain over keys, ascending. save: attn_save_floats floats for the backward pass; on the host NULL if
     * none follows. maps: NULL if no inspection output is wanted.
     *
     * SCAN_CONTEXT: L[k] = chain over D of q and column k, and L[n] = L[n-1]. A key's position t is the sum
     * of sigmoid(s) over the key and all later ones: additions from +0, keys descending; at most n - 1. With
     * f = floor(t), s = s + fmaf(t - f, L[f+1] - L[f], L[f]).
     *
     * SCAN_STICK replaces the softmax. left is 1 at first; for each earlier key, descending, p = sigmoid(s) *
     * left, and then left = left * sigmoid(-s). Each product below 2^-100 becomes 0. At the end p of the
     * query's own key is left. Its own score is not read.
     *
     * SCAN_SELECT: the vote of row k on key j, 0 < j < k, is max(s, 0) with s their score in head 0. A sum F
     * is +0 at first. For queries ascending: s = s - F for each key, in all heads; then F = F + the query's
     * vote, for each key. So votes are taken of scores before the subtraction.
     *
     * A walk: a product of two vectors is four chains, chain c over the entries d with d mod 4 = c, added as
     * (0 + 2) + (1 + 3). At key j, after the product of u and k: REFLECT: t is the product of u and w, and u
     * = fmaf(-b * t, w, u). SCALE: u = u * f. If j mod 16 = 0, entries of u below 2^-64 then become 0. */
    void (*attention_fwd)(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                          const float *qkv, const struct pw_attn *a, const int *pos, const struct pw_seqs *s);
    /* Number of floats of `save` for sequences with these starts. Only heads and scan.kind of a are read;
     * score, learned, terms, mix, made and walk are tested for NULL. */
    size_t (*attn_save_floats)(const struct pw_attn *a, const int *start, int n_seqs);
    /* Incremental attention with a key-value cache: like attention_fwd for R rows that continue one sequence
     * of T. z [R,HD] has the bits of the last R rows of attention_fwd over all T+R. Appends the rows'
     * transformed keys and their values to cache.
     *
     * cache has attn_cache_floats floats in the backend's own layout, and belongs to one layer of one
     * sequence. It holds the T rows of earlier calls with the same cap; entries beyond T+R are never read.
     * With wide q and k (struct pw_made), of which wide has the R rows, D of attn_cache_floats is their
     * width.
     *
     * T+R <= cap; pos [T+R]. Without the causal mask T must be 0, because earlier rows would have to see the
     * new keys. */
    void (*attention_cached)(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                             const struct pw_attn *a, const int *pos, int cap, int T, int R);
    /* Number of floats of `cache` for at most cap positions. */
    size_t (*attn_cache_floats)(int H, int D, int cap);
    /* Backward pass of attention_fwd; z is its output. SETS dqkv [R,3HD] and d_terms [R,H]. Adds to d_bias
     * (shape of the bias) and d_keys [pw_key_rows,D]. d_bias, d_keys and d_terms are NULL if absent.
     *
     * dP = chain over D; row sum of P*dP by lanes; dS = P*(dP - sum), times the derivative of a->score with
     * respect to the score. dq: chain over keys; dk and dv: chains over queries; then dq and dk are
     * multiplied by scale. d_bias: chain over sequences, then queries ascending, then keys.
     *
     * With relative keys, g[r] of a query is the sum of dS over its keys of row r, by lanes over key index.
     * The chain of dq continues over g[r] and row r, r ascending. d_keys[r] is a chain over sequences, then
     * heads, then queries, of scale*g[r], rounded, and q.
     *
     * d_terms of a row is minus the sum of dS over the queries that see its key: additions from +0, queries
     * ascending. The row's own sum of dS over its keys belongs to it, too. It is 0, because a softmax does
     * not change with a constant that is added to all scores of a query, and so it is left out.
     *
     * Of a mix, e of a query and a distance is the sum of dS over the keys at that distance, ascending from
     * +0. d_weights: a chain over distances, descending, of e and the bank; then times the gain. d_bank: a
     * chain over sequences, then heads, then queries, of the weight, times the gain, and e.
     *
     * d_learned[h][k]: a chain over sequences, then queries, of the sum of dS, before it is multiplied by the
     * derivative of a->score, times the derivative of a->score with respect to number k: by lanes over key
     * index.
     *
     * Slopes: d_slopes[i][h] of a query is the sum of dS times the difference of ids by lanes over key index,
     * and d_slopes[j][H + h] of a key the chain of the same over queries.
     *
     * SCAN_STICK: with t = P*dP, sum begins with t of the query's own key. For each earlier key, ascending,
     * sum = sum + t, and dS = t - sigmoid(s) * sum. dS of its own key is 0.
     *
     * SCAN_CONTEXT: with t, f and L of a key, w = t - f and g = sigmoid(s) of its score before the sum: u[f]
     * = u[f] + (1-w)*dS, then u[f+1] = u[f+1] + w*dS, from +0, keys ascending. The sum of dS*(L[f+1]-L[f])
     * over the key and all earlier ones, additions from +0, keys ascending, times g*(1-g), is added to dS.
     * After dq was multiplied by scale, its chain continues over u[k] and column k, k ascending below n.
     * d_keys [D,n] is the gradient of the table: a chain over sequences, then heads, then queries, of q and
     * u[k].
     *
     * SCAN_SELECT: G of a query and a key is the sum of dS over heads 1..H-1, ascending, and then head 0. For
     * each key, queries k descending from the last but one: later = later + G of query k + 1, from +0; and if
     * the vote of k is not 0, later is subtracted from dS of head 0.
     *
     * A walk: g is 0 before the first key. At each key, ascending, REFLECT: c is the product of g and w, and
     * g = fmaf(-b * c, w, g). SCALE: g = g * f. Then g = fmaf(dS, k, g), which is dq of the query whose own
     * key it is. With g before the key: dk sums dS * u by lanes over queries; d of w sums c * u and then t *
     * g in the same lane, and d of b t * c; d of f sums g * u. Query i belongs to lane i mod 16. Each is
     * multiplied by scale, then that of w by -b, and that of b by -1.
     *
     * Last, the transformation is undone, so dq and dk are gradients of the q and k in qkv; not if its tables
     * are learned: then turn_bwd follows. */
    void (*attention_bwd)(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                          const float *dz, const float *z, const float *qkv, const float *save,
                          const struct pw_attn *a, const int *pos, const struct pw_seqs *s);
    /* Undoes a learned transformation in dqkv, which attention_bwd wrote for qkv, and adds to the gradients
     * of its tables. Each row with position id i adds one number to an entry; rows ascend.
     *
     *   gain (h,i): the sum by lanes over D of dq and the rotated q of head h
     *   cosine (i,p): the chain of da*a, then db*b, over q of heads 0..H-1, then k of heads 0..H-1
     *   sine (i,p): the chain of db*a, then -da*b, over the same
     *
     * (a,b) is pair p before the rotation, (da,db) its gradient after it; that of q is multiplied by the gain
     * after the sum for the gain. With keys_at the chains of q and k belong to entries of their own. Learned
     * gains are [H,P]. */
    void (*turn_bwd)(struct pw_ctx *c, float *dqkv, const struct pw_turn_grad *d, const float *qkv,
                     const struct pw_turn *t, const int *pos, int H, int D, int R);

    /* ---- terms of rows. y [R,H] from g [R,H], one number for each row and head, which a layer projects from
     * its normed input. y of a row is f(g) added to y of the row before in its sequence, rows ascending. s
     * NULL: the R rows continue one sequence; before [H] is y of the row before them, or NULL if they are its
     * first.
     *
     * f is a program in the backend's memory (kernels/score.h), for a pair of ids 0 and the head. f NULL: ln
     * sigmoid, as f(x) = min(x, 0) - l, where l = ln(1 + e) and e = exp(-|x|) by the exp of a softmax. With
     * t = e / (2 + e) and u = t*t, l = (t + t) * p(u), p = 1 + u/3 + u^2/5 + ... + u^7/15 by fmaf from the
     * highest power on, coefficients rounded to float. */
    void (*terms_fwd)(struct pw_ctx *c, float *y, const float *g, const float *before,
                      const struct pw_score *f, int H, const struct pw_seqs *s, int R);
    /* SETS dg [R,H] from dy [R,H]: the sum of dy over the row and all later ones of its sequence, rows
     * descending from +0, times f'(g). That of ln sigmoid is f'(x) = sigmoid(-x): e * q if x > 0 and q
     * otherwise, with q = 1 / (1 + e). */
    void (*terms_bwd)(struct pw_ctx *c, float *dg, const float *dy, const float *g, const struct pw_score *f,
                      int H, const struct pw_seqs *s);

    /* ---- slopes of rows (struct pw_slopes). y [R,2H] from q and k in qkv. A direction u has the length |u|,
     * a sum of squares by lanes, inv = 1 / max(|u|, eps) and unit = u * inv. Let t be the sum by lanes of x
     * and unit: of q and its direction, and of k and that of keys. Then y = softplus(t * (1 / sqrt(D))) * w,
     * with w = softplus(omega[h]) * slope[h], and softplus(x) = -f(-x) with f of terms_fwd. */
    void (*slopes_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_slopes *s, int R);
    /* Adds to dqkv, and to d: chains over rows, q before k in a row. With s = sigmoid(t * (1 / sqrt(D))) and
     * g = ((dy * w) * s) * (1 / sqrt(D)): to dx the product of g and unit, to the direction that of g * inv
     * and x - t * unit, and to omega that of dy * softplus(..) and sigmoid(omega[h]) * slope[h], each by
     * fmaf. */
    void (*slopes_bwd)(struct pw_ctx *c, float *dqkv, const struct pw_slopes_grad *d, const float *dy,
                       const float *qkv, const struct pw_slopes *s, int R);

    /* ---- wide q and k (struct pw_polar). y [R,2H,2D] from q and k in qkv: with m = softplus(x) as in
     * slopes_fwd, and C and S of row pos[r], entry c of a head of q becomes m*C at c and m*S at D + c. For k
     * the angle has the phase: with p = min(max(phase, -2 pi), 0) and the host's cos p and sin p, rounded, C
     * is fmaf(C, cos p, -(S * sin p)) and S is fmaf(S, cos p, C * sin p). Without angles y [R,2H,D] is m.
     * NULL, and so is the next: the table has neither. */
    void (*polar_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_polar *p, const int *pos,
                      int R);
    /* SETS q and k of dqkv from dy [R,2H,2D]: fmaf(a, C, b*S) * sigmoid(x), with a and b at c and D + c of
     * dy. Adds to d_phase [H,D], where the phase is not limited: a chain over rows of m and fmaf(b, C,
     * -(a*S)). */
    void (*polar_bwd)(struct pw_ctx *c, float *dqkv, float *d_phase, const float *dy, const float *qkv,
                      const struct pw_polar *p, const int *pos, int R);

    /* ---- planes of turned q and k (struct pw_planes), of one layer. unit [H,2N,D] from a and b [H,N,D], by
     * Gram-Schmidt in double precision: the vectors of a head are a_0, b_0, a_1, b_1, ... For each of them: n
     * is the root of the chain over D of its squares, and its unit vector e = w * (1 / max(n, eps)). Then for
     * each later one, t is the chain over D of e and w, and w = fma(-t, e, w). e is rounded at the end. NULL,
     * and so are the next three: the table has no planes. */
    void (*planes_make)(struct pw_ctx *c, float *unit, const float *a, const float *b, int H, int N, int D);
    /* Adds to d_a and d_b [H,N,D] from d_unit, one rounded number each. In double precision, vectors
     * descending, with e, t and w of each as above, g the gradient of e, and f that of each later w after its
     * subtraction: r is the chain over D of e and f. g is a chain over the later ones: of -t and f, then of
     * -r and the w before its subtraction, fma(t, e, w). f = fma(-r, e, f). Then with s the chain over D of e
     * and g, the vector's own gradient is fma(-s, e, g) * (1 / n); of a length up to eps g * (1 / eps). */
    void (*planes_make_bwd)(struct pw_ctx *c, float *d_a, float *d_b, const float *d_unit, const float *a,
                            const float *b, int H, int N, int D);
    /* y [R,2H,D] from q and k in qkv. For each plane with unit vectors u and v: p and q are the chains over D
     * of x and u, and of x and v. With the angle's C = cos - 1 and S = sin, made in double precision and
     * rounded, e = fmaf(C, p, S*q) and f = fmaf(C, q, -(S*p)). y is a chain over planes from x: of e and u,
     * then of f and v. That is exp(angle (u v^T - v u^T)) x, by Rodrigues' formula. */
    void (*planes_fwd)(struct pw_ctx *c, float *y, const float *qkv, const struct pw_planes *p,
                       const int *pos, int R);
    /* SETS q and k of dqkv from dy [R,2H,D]. A and B are the chains over D of dy and u, and of dy and v; dp =
     * fmaf(C, A, -(S*B)) and dq = fmaf(C, B, S*A). dx is a chain over planes from dy: of dp and u, then of dq
     * and v. Adds to d_unit: chains over rows, q before k in a row, of e and dy, then of dp and x to that
     * of u; of f and dy, then of dq and x to that of v. Adds to d_log_factor [H,N], in the same order, the
     * product of the rounded angle and fmaf(A, fmaf(C+1, q, -(S*p)), -(B * fmaf(C+1, p, S*q))). */
    void (*planes_bwd)(struct pw_ctx *c, float *dqkv, float *d_unit, float *d_log_factor, const float *dy,
                       const float *qkv, const struct pw_planes *p, const int *pos, int R);

    /* ---- vectors and factors of a walk (struct pw_walk_rows) from y [R,HD] and, for REFLECT, g [R,H]. s
     * NULL: the R rows continue one sequence, and `before` rows of it are in memory before y; else before is
     * 0.
     *
     * REFLECT: z of a row is the chain over the taps, oldest first, of the weight and y of the tap's row;
     * rows before the sequence are left out. x = silu(z); without taps x is y. The vector of a head is x * (1
     * / sqrt(n + eps)), where n is the sum of x^2 by lanes over D. The factor is s + s with s = sigmoid(g).
     *
     * SCALE: the vector is sigmoid(y). NULL, and so is the next: the table has no walk. */
    void (*walk_fwd)(struct pw_ctx *c, float *vectors, float *factors, const float *y, const float *g,
                     int before, const struct pw_walk_rows *w, const struct pw_seqs *s, int R);
    /* SETS dy [R,HD] and dg [R,H]. REFLECT: dx = fmaf(-e, v, dv) * (1 / sqrt(n + eps)), where e is the
     * product of dv and v by lanes; dz is dx times silu'(z); dy a chain over the rows that read it,
     * ascending. Adds to d_conv [HD,taps]: chains over rows. dg = d * ((s + s) * sigmoid(-g)). SCALE: dy = d
     * * (s * sigmoid(-y)). */
    void (*walk_bwd)(struct pw_ctx *c, float *dy, float *dg, float *d_conv, const float *d_vectors,
                     const float *d_factors, const float *y, const float *g, const struct pw_walk_rows *w,
                     const struct pw_seqs *s);

    /* Replace the output of head h in every row of z [R,HD] by row pos[r] of table [P,D], or by zeros if
     * table is NULL. Other heads keep their bits. Used for ablation (the backward pass is zeros), and with H
     * = 1 for whole rows of any tensor. */
    void (*put_head)(struct pw_ctx *c, float *z, const float *table, const int *pos, int h, int H, int D,
                     int R);

    /* ---- tables gathered from parameters. out [H,n]: out[h][j] = param[index[j]][h], or 0 if index[j] < 0;
     * param [rows,H]. bwd: d_param[index[j]][h] += d_out[l][h][j] of d_out [L,H,n], l ascending, then j. */
    void (*gather_bias_fwd)(struct pw_ctx *c, float *out, const float *param, const int *index, int H, int n);
    void (*gather_bias_bwd)(struct pw_ctx *c, float *d_param, const float *d_out, const int *index, int L,
                            int H, int n);

    /* ---- FIRE: a dense bias computed by a small network from distances (Li et al. 2023). For ids i of the
     * query and j of the key (causal: j <= i), let x = |i-j| * step, y = max(from + i * step, L), C = |c|.
     * psi is computed in double precision with the host's log, then rounded:
     *   psi(x) = log(1 + C * x)        u = psi(x) / (psi(y) + PW_FIRE_EPS)
     *   hid[k] = relu(fmaf(w1[k], u, b1[k]))
     *   bias[h][i][j] = chain over k of w2[h][k] * hid[k], from b2[h]; 0 if the mask hides j. */
    void (*fire_fwd)(struct pw_ctx *c, float *bias, const float *param, const struct pw_fire *f, int H,
                     int P);
    /* Backward pass of fire_fwd. Adds to d_param. d_bias [L,H,P,P], of which g = ((d_bias[0] + d_bias[1]) +
     * ...), is overwritten. Each gradient is a sum over keys by lanes (key j to lane j mod 16), added to
     * d_param query by query, ascending:
     *   b2[h]: g[h]    w2[h][k]: g[h] * hid[k]    b1[k]: a[k]    w1[k]: a[k] * u
     *
     * with a[k] = chain over h of g[h] * w2[h][k], 0 if hid[k] is 0. Let e = chain over k of a[k] * w1[k],
     * slope(x) = x / fmaf(C, x, 1), and n = psi(y) + PW_FIRE_EPS of a query. E is the sum of e * slope(x) and
     * U that of e * u, by lanes as above:
     *   c: (E - U * slope(y)) / n * sign(c)
     *   factor, if y is L: (U * (C / fmaf(C, L, 1)) / n) * -(sign(factor) * threshold) */
    void (*fire_bwd)(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_fire *f, int L, int H, int P);

    /* ---- formulas: a bias computed from learned parameters by a program in double precision, then rounded.
     * bias is [H,2P-1] or, of a dense program, [H,P,P]; 0 where the mask hides the key. x may ask for a table
     * by position instead, with P entries for each of H columns. param: the floats of all parameters. Slots
     * are evaluated as kernels/expr_maths.h has them; a network's sums are chains of fma over its hidden
     * units, OUT's from b2. */
    void (*expr_fwd)(struct pw_ctx *c, float *bias, const float *param, const struct pw_expr_use *x, int H,
                     int P);
    /* Backward pass of expr_fwd. Adds to d_param. d_bias has the shape of the bias L times and is
     * overwritten; the adjoint of the root is g = ((d_bias[0] + d_bias[1]) + ...), in float.
     *
     * The last pass comes first, then KEY, QUERY, DISTANCE and ONCE, each a row of its places; PAIR has a row
     * for each query, ascending. At each place of a row: the adjoints of the slots of head 0 in descending
     * order, then of head 1, ..., then of shared slots, which have then collected those of all heads. An
     * adjoint starts at 0, or at the adjoint that the export has collected. pw_f_product multiplies; a
     * network uses fma: first w2 and the vector's adjoints for k ascending, and in HIDDEN b1, w1 and arg[0]
     * for k ascending.
     *
     * Sums over places: an export of ONCE or QUERY, and a network's parameters, by lanes over the places of a
     * row, and then added to the adjoint so far (place k to lane k mod 16). An export of DISTANCE or KEY gets
     * one adjoint from a row: a chain over queries. PARAM, ENTRY and BETWEEN add to their entry in this
     * order: blocks of 16 places ascending, heads ascending, slots descending, places ascending; BETWEEN the
     * lower entry first. At the end the sums, in double, are added to d_param. */
    void (*expr_bwd)(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_expr_use *x, int L, int H, int P);

    /* ---- scored rows and the loss */
    /* y[n] = x[rows[n]], or zeros if rows[n] is -1. */
    void (*gather_rows)(struct pw_ctx *c, float *y, const float *x, const int *rows, int N, int C);
    /* SETS dx [R,C]: dy[n] at rows[n], zero elsewhere. rows ascend and are distinct; entries of -1 come
     * last. */
    void (*scatter_rows)(struct pw_ctx *c, float *dx, const float *dy, const int *rows, int N, int R, int C);
    /* loss[n] = logsumexp(logits[n]) - logits[n][target]; best[n] = argmax (the lowest id on ties). d_logits
     * [N,V], if not NULL, = *scale * (softmax - onehot); scale is in the backend's memory. Target -1: loss 0
     * and no gradient. Sums: lanes. */
    void (*cross_entropy)(struct pw_ctx *c, float *loss, int *best, float *d_logits, const float *logits,
                          const int *targets, const float *scale, int N, int V);
    /* p = softmax(logits / temperature) for each row. */
    void (*softmax)(struct pw_ctx *c, float *p, const float *logits, float temperature, int N, int V);
    /* y [n] = cap * tanh(y / cap), in place. bwd, for y after the cap: d = d * (1 - (y / cap)^2), the last
     * factor by one fma. */
    void (*cap_fwd)(struct pw_ctx *c, float *y, float cap, size_t n);
    void (*cap_bwd)(struct pw_ctx *c, float *d, const float *y, float cap, size_t n);
    /* y [n] = y limited to -most..most, in place; a NaN stays. bwd, for y after the limit: d = 0 unless |y| <
     * most. */
    void (*clip_fwd)(struct pw_ctx *c, float *y, float most, size_t n);
    void (*clip_bwd)(struct pw_ctx *c, float *d, const float *y, float most, size_t n);
    void (*add)(struct pw_ctx *c, float *y, const float *x, size_t n); /* y += x */
    /* y [R,C] = dropout(x) + residual, rounded after each. y may be x; residual is neither. residual NULL:
     * nothing is added; this form is also the backward pass. */
    void (*dropout)(struct pw_ctx *c, float *y, const float *x, const struct pw_dropout *d,
                    const float *residual, int R, int C);
    void (*zero)(struct pw_ctx *c, float *y, size_t n);
};

/* The cpu backend with the instruction set that PEWTER_ISA names, or the processor's best. _isa: with a named
 * one (auto, scalar, avx2, avx512). Returns NULL and a message with the possible values if the processor
 * lacks it. */
const struct pw_backend_ops *pw_backend_cpu(void);
const struct pw_backend_ops *pw_backend_cpu_isa(const char *isa, struct pw_err *err);

/* The cpu backend in a precision, fp32 or bf16; isa as above. bf16 rounds the inputs of products in linear
 * layers to bf16 and uses the processor's matrix units; sums and everything else stay float32. Its bits are
 * those of one kind of machine (determinism class "machine"), but the same for any number of threads. Returns
 * NULL and a message if the processor has no such units, or if isa is not the one that belongs to them. */
const struct pw_backend_ops *pw_backend_cpu_precision(const char *isa, const char *precision,
                                                      struct pw_err *err);

/* The content of a backend plug-in. libpewter_NAME.so exports only the function that returns it. */
struct pw_backend_plugin {
    /* PW_BACKEND_ABI that it was built with; other members are read only if it matches */
    int abi;
    const char *version;                        /* version of pewter that it belongs to */
    const struct pw_backend_ops *const *tables; /* tables, the default first; ends with NULL */
};
typedef const struct pw_backend_plugin *pw_backend_entry(void);
#define PW_BACKEND_ENTRY "pw_backend_plugin"

/* Load the plug-in of a backend ("cuda") and write its file's path. Returns NULL and one line that says why
 * there is none. The plug-in is never unloaded. */
const struct pw_backend_plugin *pw_backend_plugin_of(const char *name, char *path, size_t size,
                                                     struct pw_err *err);

/* Find a backend by name: "cpu", "cpu:ISA", or from its plug-in "cuda", "cuda:N" for device N. Writes the
 * argument for its open to *unit. mode and precision: NULL for the defaults. Returns NULL and a message with
 * the possible values on failure. Opening the backend may still fail. */
const struct pw_backend_ops *pw_backend_find(const char *name, const char *mode, const char *precision,
                                             int *unit, struct pw_err *err);

#ifdef __cplusplus
}
#endif
#endif
