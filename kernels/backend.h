/* backend.h - the one contract that kernels/cpu and kernels/cuda both fulfil.
 *
 * Compiles as C11 and as C++17: plain structs and function pointers only.
 *
 * Shapes, capitals everywhere: R rows (token positions of all sequences of a chunk, one after the other,
 * without padding), T positions of one sequence, C width, H heads, D head width, V vocabulary, P rows of a
 * position table, N scored rows. All tensors are dense, row-major, float32. Outputs come first; an operation
 * named *_bwd ADDS into its outputs unless it says "set". Pointers are in the backend's memory
 * (host memory on the cpu): above this header they are only offset, never dereferenced; on the cpu backend
 * they may be read after sync().
 *
 * Sequences are ragged: struct pw_seqs gives where each begins. So no work is spent on padding, and
 * padding can't change bits.
 *
 * Order of additions (determinism class "portable", docs/bits.md). Every table that claims this class
 * keeps it, whatever its tiles, threads and vectors:
 *   chain   acc = fmaf(a_k, b_k, acc), k ascending, acc starts at +0, or at the old value where the
 *           operation adds into its output (gradient sums over rows).
 *   lanes   element i goes to lane i mod 16, each lane adds ascending (fmaf where there is a product) from
 *           +0; then lanes l and l+8 are added, then l+4, l+2, l+1.
 *   masked  keys after the query are left out of max, chains and lanes (the same bits as adding exact zeros).
 * What each operation does is written beside it; element-wise parts round after every written operation.
 *
 * A chunk operation takes a struct pw_ctx (cpu: one worker, synchronous; cuda: a stream, asynchronous) and
 * can't fail; device errors stick to the backend and sync() reports them. */
#ifndef PW_BACKEND_H
#define PW_BACKEND_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define PW_BACKEND_ABI 18
/* Grows when the same commands give other bits than before: recordings say which they have. */
#define PW_BITS 1

struct pw_backend; /* opaque; each backend defines its own */
struct pw_ctx;     /* opaque; one per worker or stream */

/* A weight matrix [out,in] (y = x W^T), and room for the backend's packed copies of it. */
struct pw_mat {
    const float *w;
    int out, in;
    float *pack; /* mat_pack_floats(out, in) floats, filled by prepare() */
};

/* n sequences, packed: sequence s owns rows start[s] .. start[s+1]-1. start has n+1 entries, start[0] = 0,
 * and lies in the backend's memory; what a host needs to know of it stands beside it. */
struct pw_seqs {
    int n;
    const int *start;
    int rows, longest; /* start[n]; the rows of the longest, or more */
};

enum pw_norm { PW_NORM_RMS, PW_NORM_LAYER, PW_NORM_NONE };
enum pw_act { PW_ACT_NONE, PW_ACT_RELU, PW_ACT_GELU, PW_ACT_GELU_TANH };
enum pw_pairing { PW_PAIRING_INTERLEAVED, PW_PAIRING_HALF }; /* (2i,2i+1) or (i,i+pairs) */

/* Dropout (Srivastava et al. 2014) of one tensor: an entry becomes 0 with probability rate, else
 * x * pw_dropout_kept. Which ones depends on nothing but key, site and the entry's place: entry (row, col)
 * of head h is dropped where word col mod 4 of Philox4x32-10 (Salmon et al. 2011) with this key and the
 * counter {col / 4, row, site, h} is below rate * 2^32. So a backward pass finds the same mask, and chunks
 * and threads can't change it. */
struct pw_dropout {
    const uint32_t *key; /* [2] of the training step, in the backend's memory */
    uint32_t site;       /* which tensor of the network */
    int row;             /* of the whole batch, where row 0 of the operation lies */
    float rate;          /* 0 <= rate < 1 */
};

/* What entries that are kept are multiplied by. */
static inline float pw_dropout_kept(const struct pw_dropout *d)
{
    return 1.0f / (1.0f - d->rate);
}

/* The row a[r] that is added to embedding r, out of n tables (0: nothing is added): row[k][r] of table[k]
 * [.,W], where row[k] is [R]. halves: they stand side by side, W = C/2, and n is 2; else W = C, and a[r] is
 * the one row, or the sum of the two. */
struct pw_added {
    int n;
    bool halves;
    const float *table[2];
    const int *row[2];
};

/* What q and k go through by their position ids. Rotary position embedding (Su et al. 2021, eq. 34): the
 * first 2*pairs entries of every head of both turn, pair by pair, by the angles of their row: (a,b) ->
 * (a cos - b sin, a sin + b cos), each as fmaf(a, cos, -(b*sin)) and fmaf(a, sin, b*cos). Then a scale of
 * each query's scores: q is multiplied by its gain. Back, as gradients go, is first by the gain and then by
 * the negative angle. */
struct pw_turn {
    const float *cosine, *sine; /* [P,pairs] */
    int pairs;                  /* 0 .. D/2 */
    enum pw_pairing pairing;
    const float *gain; /* [P], or NULL */
};

/* Positions that a dense bias may have: its places in a head are ints. */
enum { PW_DENSE_MOST = 1 << 15 };

/* What one attention needs beside its tensors. */
struct pw_attn {
    int heads, head_width; /* H, D */
    float scale;           /* on q.k */
    bool causal;
    /* Added to the scores, by the position ids i of the query and j of the key, all below P: by distance
     * [H,2P-1], entry (h, P-1 + i-j), or dense [H,P,P], entry (h,i,j); or NULL. */
    const float *bias;
    int table; /* P; of a dense one at most PW_DENSE_MOST */
    bool dense;
    /* Relative keys (Shaw et al. 2018), shared by the heads: to the key that query i sees in key j belongs
     * row pw_key_row(i-j), distances in position ids. [pw_key_rows,D]; or NULL. */
    const float *keys;
    int reach; /* >= 1: farther is the same */
    /* Of the probabilities, after the softmax: row is the query's, col the key's place in its sequence, h the
     * head. NULL: none. attention_fwd and _bwd only; save and maps are of before it. */
    const struct pw_dropout *drop;
    const struct pw_turn *turn; /* what q and k go through first; NULL, as with relative keys: nothing */
};

/* Entries of a head's bias. */
static inline size_t pw_bias_entries(bool dense, int P)
{
    return dense ? (size_t)P * (size_t)P : 2 * (size_t)P - 1;
}

/* What FIRE (Li et al. 2023; formulas at fire_fwd) has beside its parameters. */
struct pw_fire {
    int hidden;       /* K, units of its network */
    float threshold;  /* what the learned factor is of: L = |factor * threshold| */
    float from, step; /* id i stands for position from + i * step; distances are times step */
    bool causal;
};

/* Its parameters, one behind the other: c [1], factor [1], w1 [K], b1 [K], w2 [H,K], b2 [H]. */
static inline size_t pw_fire_floats(int K, int H)
{
    return 2 + (size_t)(2 + H) * (size_t)K + (size_t)H;
}
#define PW_FIRE_EPS 1e-6f /* under which no distance is divided by */

/* What somebody wants to see of an attention: each NULL, or for each sequence [H,T,T]. */
struct pw_maps {
    float *scores; /* before the softmax; -inf where the mask hides a key */
    float *probs;  /* after it; 0 there */
};

/* Distances 0..reach have a row each; without the causal mask -reach..reach. */
static inline int pw_key_rows(const struct pw_attn *a)
{
    return a->causal ? a->reach + 1 : 2 * a->reach + 1;
}
static inline int pw_key_row(const struct pw_attn *a, int distance)
{
    int row = a->causal ? distance : distance + a->reach, last = pw_key_rows(a) - 1;
    return row < 0 ? 0 : row > last ? last : row;
}

/* AdamW and the sums over all parameters go by tiles of so many entries. */
enum { PW_TILE = 4096 };

/* One tensor in the flat parameter buffer, as AdamW sees it. */
struct pw_adamw_seg {
    size_t offset, n; /* floats */
    size_t tile;      /* tiles of the tensors before it, each with a last one of its own */
    float lr, decay;  /* learning rate; decoupled weight decay (p -= lr * decay * p) */
    float c1, c2;     /* 1 / (1 - beta^t) of this tensor's own step count t */
    uint16_t *pack;   /* its part of a pack, of a table that packs; or NULL */
};

struct pw_adamw {
    float beta1, beta2, eps;
    float clip; /* global gradient norm above which gradients are scaled down; 0: never */
};

/* A device that a backend could run on. */
struct pw_device {
    char name[128];      /* "NVIDIA H200, compute capability 9.0" */
    char why_not[128];   /* it can't be used, because; "": it can */
    char libraries[128]; /* that the backend takes there, with versions: "CUDA 13.0, driver 13.0" */
    size_t free, total;  /* bytes of its memory */
};

struct pw_backend_ops {
    int abi; /* PW_BACKEND_ABI this table was built against */
    const char *name, *summary;
    const char *mode; /* cuda: "ref", the cpu backend's bits, or "fast"; cpu: "" */
    int slots;        /* gradient slots of a step at most; 0: as many as the class portable has (step.c) */
    const char *isa;  /* "avx512" */
    const char *precision; /* "fp32", "bf16": of the products in linear layers */
    int act_bytes;         /* of memory that alloc_acts, where there is one, takes for a float */
    int operand_bytes;     /* and of alloc_operands, for an entry */
    int widest_head;       /* head width at most; 0: any */
    bool portable;         /* determinism class: the same bits on every machine, or on one only ("machine") */
    bool host;  /* its memory is the host's: a caller's buffer serves where the backend's own is asked for */
    bool packs; /* a pack is the tensor rounded to bf16, and adamw leaves those that segments name */
    bool pads;  /* shapes should repeat: batches get rows and sequences that carry no loss (model/plan.c) */

    /* ---- lifetime. unit: workers of the cpu backend, 0 for all processors; the number of the device. */
    enum pw_code (*open)(struct pw_backend **be, int unit, struct pw_err *err);
    void (*close)(struct pw_backend *be); /* NULL is a no-op */
    enum pw_code (*sync)(struct pw_backend *be, struct pw_err *err);
    int (*unit)(const struct pw_backend *be);    /* open's number; not on a host backend */
    int (*workers)(const struct pw_backend *be); /* contexts that run at the same time */
    size_t (*chunk_bytes)(void); /* of activations that run through in one go; NULL: without limit */
    const char *(*device)(const struct pw_backend *be); /* "2 threads, avx512": one line for the screen */
    /* Of what a library chose for it so far, and its bits depend on: number i = 0, 1, ... in no order that
     * means anything, as one line; false beyond the last. NULL: nothing is chosen. */
    bool (*choice)(const struct pw_backend *be, int i, char *line, size_t size);
    /* Device n = 0, 1, ... of the machine; fails where there is no such device, with the reason where there
     * is none at all. NULL: the backend has no devices. */
    enum pw_code (*device_at)(struct pw_device *out, int n, struct pw_err *err);

    /* ---- memory: 64-byte aligned, zeroed; NULL when there is none */
    void *(*alloc)(struct pw_backend *be, size_t bytes);
    /* The same for the activations of a pass: of a tensor that lies there a backend may keep a copy as its
     * products take it, which holds as long as the tensor is written to by this table's operations. NULL:
     * alloc does it. */
    float *(*alloc_acts)(struct pw_backend *be, size_t floats);
    /* The same for operands: activations that nobody reads but linear_fwd, linear_dx and linear_dw, relu's
     * saved one among them, and dropout in place; norm_fwd and dropout write them, too. Of these a backend
     * may keep nothing but what its products take. bytes: operand_bytes an entry. NULL: alloc does it. */
    float *(*alloc_operands)(struct pw_backend *be, size_t bytes);
    void (*free)(struct pw_backend *be, void *ptr); /* NULL is a no-op; either kind */
    /* Bytes of the device's memory; NULL: it is the host's. */
    void (*memory)(struct pw_backend *be, size_t *free, size_t *total);
    /* Bytes of that memory which a model takes beside what it asks for, where the largest attention of its
     * steps is this one (pointers NULL or not, none is followed) and its widest tensor has so many columns.
     * NULL: none. */
    size_t (*beside)(const struct pw_attn *a, const struct pw_seqs *s, int widest);
    /* upload: src may be used again when it returns. download: dst belongs to the backend until sync(), or
     * until wait() for a later mark. */
    void (*upload)(struct pw_backend *be, void *dst, const void *src, size_t bytes);
    void (*download)(struct pw_backend *be, void *dst, const void *src, size_t bytes);
    /* From the memory of this backend, or of another one of the same table and unit of which nothing is under
     * way. NULL: memory is the host's, so upload does it. */
    void (*copy)(struct pw_backend *be, void *dst, const void *src, size_t bytes);
    /* Memory of the host from which and into which copies are quickest; as alloc and free. */
    void *(*host_alloc)(struct pw_backend *be, size_t bytes);
    void (*host_free)(struct pw_backend *be, void *ptr);

    /* ---- order in time. mark: a point behind all that was asked for so far; wait returns when it is
     * reached, with the error that sync would report. */
    uint64_t (*mark)(struct pw_backend *be);
    enum pw_code (*wait)(struct pw_backend *be, uint64_t mark, struct pw_err *err);
    /* Calls fn(arg), which calls operations, and nothing that allocates, frees, copies or waits. key [bytes]
     * tells apart all that they may depend on beside the contents of the backend's memory: when fn was called
     * with an equal key before, and nothing was freed since, a backend may do again what it did then, and not
     * call it (a CUDA graph). */
    void (*replay)(struct pw_backend *be, const void *key, size_t bytes, void (*fn)(void *arg), void *arg);

    /* ---- whole-machine operations: they use every worker themselves; call them outside for_chunks */

    /* Runs fn(ctx, chunk, worker, arg) for chunk = 0..n-1, on any worker, in any order. */
    void (*for_chunks)(struct pw_backend *be, int n,
                       void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg), void *arg);
    size_t (*mat_pack_floats)(int out, int in);
    void (*prepare)(struct pw_backend *be, const struct pw_mat *mats, int n); /* fills every pack from w */
    /* g[i] = ((slot0[i] + slot1[i]) + ...) ; slot s begins at slots + s*stride, and g may be slots where
     * n_slots is 1. *sumsq = sum of g[i]^2: tiles by lanes in float, ascending in double. Where it or one of
     * loss [n_loss] is not finite *spoilt becomes 1; where that is not 0, *sumsq becomes NaN: nothing is
     * learned from such a step, nor from those after it that have the same flag, until somebody sets it to 0
     * again. */
    void (*reduce)(struct pw_backend *be, float *g, double *sumsq, int *spoilt, const float *slots,
                   int n_slots, size_t stride, size_t n, const float *loss, int n_loss);
    /* AdamW (Loshchilov and Hutter 2019) over the segments, which lie in the backend's memory and have
     * n_tiles in all. Where *sumsq is not finite nothing changes and moved is 0. Else, sums by fmaf as
     * written in adamw.c, with norm = sqrt(*sumsq) and k = clip > 0 && norm > clip ? clip/norm : 1:
     *
     *   g' = k*g
     *   m = beta1*m + (1-beta1)*g'
     *   v = beta2*v + (1-beta2)*(g'*g')
     *   p = (p - (lr*decay)*p) - lr * ((m*c1) / (sqrt(v*c2) + eps))
     *
     * moved [n_segs,2] (backend memory) = for each segment the sums of (p_after - p_before)^2, the difference
     * rounded, and of p_before^2: each over tiles from the segment's beginning by lanes in float, tiles added
     * ascending in double. */
    void (*adamw)(struct pw_backend *be, float *p, float *m, float *v, const float *g, const double *sumsq,
                  const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles, const struct pw_adamw *h,
                  double *moved);
    /* sums[k] += mix64(the bits of x[i] ^ mix64(2 * (first + i) + k)) for all i below n and k of 0 and 1,
     * sums [2] in the backend's memory; mix64 is the finaliser of SplitMix64 (Stafford's mix 13). */
    void (*digest)(struct pw_backend *be, uint64_t *sums, const float *x, size_t n, uint64_t first);

    /* ---- embedding. x[r] = table[ids[r]] + a[r], where the sum of two rows in a[r] is rounded first. table
     * [V,C]. */
    void (*embed_fwd)(struct pw_ctx *c, float *x, const float *table, const int *ids,
                      const struct pw_added *a, int R, int C);
    /* d_table[ids[r]] += dx[r], and of every added table d_added[k][row[k][r]] += its columns of dx[r]: rows
     * ascending. d_added [a->n]: tables that don't overlap, or NULL where none of them learns. */
    void (*embed_bwd)(struct pw_ctx *c, float *d_table, float *const *d_added, const float *dx,
                      const int *ids, const struct pw_added *a, int R, int C);

    /* ---- norms. y = scale * (xhat * gain + bias); RMS: xhat = x/sqrt(mean(x^2)+eps) (Zhang and Sennrich
     * 2019); NONE: y = scale * x. stat [R,2]: mean, 1/sqrt(..). gain and bias may be NULL (1 and 0). Sums:
     * lanes. */
    void (*norm_fwd)(struct pw_ctx *c, float *y, float *stat, const float *x, const float *gain,
                     const float *bias, enum pw_norm kind, float eps, float scale, int R, int C);
    /* Adds to dx [R,C], d_gain [C], d_bias [C] (NULL where absent); d_gain and d_bias: chains over rows. */
    void (*norm_bwd)(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                     const float *x, const float *stat, const float *gain, enum pw_norm kind, float scale,
                     int R, int C);

    /* ---- linear. y = act(x W^T + bias) + residual. The product is a chain over in; then each of the others
     * is one rounded operation. pre [R,out] receives x W^T + bias where it is not NULL (the gelus need it for
     * their backward); bias [out], residual [R,out] may be NULL; residual may be y. */
    void (*linear_fwd)(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R);
    /* dx = scale * (act'(saved) * (dy W)): dx [R,in], dy [R,out]. The product is a chain over out; then each
     * of the others is one rounded operation. act is the activation that MADE the input x of this layer:
     * saved [R,in] is x itself for relu, the pre-activation for the gelus, NULL for none. A relu's x of which
     * some was dropped serves, too: what was dropped is 0, and scale is that of what was kept. */
    void (*linear_dx)(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R);
    /* dw [out,in] = (add ? dw : 0) + dy^T x, d_bias [out] likewise the sum of the rows of dy (NULL where
     * absent): chains over rows, with add continued from the old value. */
    void (*linear_dw)(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                      int out, int in, int R);

    /* ---- attention. qkv [R,3HD]: q, k, v side by side, head h at h*D of each, before they turn. */

    /* Turns q and k in place: for who wants to see them as they enter the dot product. */
    void (*rotate)(struct pw_ctx *c, float *qkv, const struct pw_turn *t, const int *pos, int H, int D,
                   int R);
    /* Scores before the softmax, as in struct pw_maps: out = scale*(q.k (+ q.a)) (+ bias), a the pair's
     * relative key. Inspection only; the same bits as inside attention_fwd. */
    void (*scores)(struct pw_ctx *c, float *out, const float *qkv, const struct pw_attn *a, const int *pos,
                   const struct pw_seqs *s);
    /* z [R,HD] = softmax(scores) v. Scores: chain over D, plus that of the relative key, times scale, plus
     * bias. Softmax: minus the row's maximum, exp, sum by lanes over key index, divided by the sum. z: chain
     * over keys ascending. save: attn_save_floats floats for the backward pass. maps: NULL where nobody
     * looks. */
    void (*attention_fwd)(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                          const float *qkv, const struct pw_attn *a, const int *pos, const struct pw_seqs *s);
    size_t (*attn_save_floats)(int H, const int *start, int n_seqs);
    /* The same for R rows that continue one sequence of T: z [R,HD] has the bits of the last R rows of
     * attention_fwd over all T+R. Appends the rows' keys, turned, and values to cache, which holds those of
     * the T from earlier calls with the same cap and belongs to one layer of one sequence: attn_cache_floats
     * floats in the backend's own layout, what lies beyond T+R in it is never read. T+R <= cap; pos
     * [T+R]. Without the causal mask T must be 0: earlier rows would have to see the new keys. */
    void (*attention_cached)(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                             const struct pw_attn *a, const int *pos, int cap, int T, int R);
    size_t (*attn_cache_floats)(int H, int D, int cap);
    /* z is what attention_fwd gave. SETS dqkv [R,3HD]; adds to d_bias, of the bias' shape, and d_keys
     * [pw_key_rows,D] (NULL where there are none). dP = chain over D; row sum of P*dP by lanes; dS = P*(dP -
     * sum); dq chain over keys, dk and dv chains over queries, then dq, dk times scale; d_bias is a chain
     * over sequences, then queries ascending, then keys. With relative keys g[r] of a query = the sum of dS
     * over its keys of row r, by lanes over key index; dq's chain goes on over g[r] and row r, r ascending,
     * and d_keys[r] is a chain over sequences, then heads, then queries of scale*g[r], rounded, and q. What
     * turned turns back last: dq and dk are those of the q and k that came in. */
    void (*attention_bwd)(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, const float *dz,
                          const float *z, const float *qkv, const float *save, const struct pw_attn *a,
                          const int *pos, const struct pw_seqs *s);

    /* Head h of every row of z [R,HD] becomes row pos[r] of table [P,D], or zeros where table is NULL; the
     * other heads keep their bits. What replaces the output of a head (its backward pass is zeros), and with
     * H = 1 whole rows of any tensor. */
    void (*put_head)(struct pw_ctx *c, float *z, const float *table, const int *pos, int h, int H, int D,
                     int R);

    /* ---- tables that are gathers from parameters. out [H,n] : out[h][j] = param[index[j]][h], 0 where
     * index[j] < 0; param [rows,H]. bwd: d_param[index[j]][h] += d_out[l][h][j] of d_out [L,H,n], l
     * ascending, then j. */
    void (*gather_bias_fwd)(struct pw_ctx *c, float *out, const float *param, const int *index, int H, int n);
    void (*gather_bias_bwd)(struct pw_ctx *c, float *d_param, const float *d_out, const int *index, int L,
                            int H, int n);

    /* ---- a dense bias that a small network makes of distances: FIRE. Of ids i of the query and j of the key
     * (causal: j <= i), x = |i-j| * step, y = max(from + i * step, L), C = |c|; psi in double precision, by
     * the host's log, then rounded: psi(x) = log(1 + C * x)        u = psi(x) / (psi(y) + PW_FIRE_EPS) hid[k]
     * = relu(fmaf(w1[k], u, b1[k])) bias[h][i][j] = chain over k of w2[h][k] * hid[k], from b2[h]; 0 where
     * the mask hides j. */
    void (*fire_fwd)(struct pw_ctx *c, float *bias, const float *param, const struct pw_fire *f, int H,
                     int P);
    /* Adds to d_param; d_bias [L,H,P,P], of which g = ((d_bias[0] + d_bias[1]) + ...), is used up. Each is a
     * sum over keys by lanes (key j to lane j mod 16), added to d_param query by query, ascending:
     *   b2[h]: g[h]    w2[h][k]: g[h] * hid[k]    b1[k]: a[k]    w1[k]: a[k] * u
     * with a[k] = chain over h of g[h] * w2[h][k], 0 where hid[k] is. And with e = chain over k of a[k] *
     * w1[k], slope(x) = x / fmaf(C, x, 1), and n = psi(y) + PW_FIRE_EPS of a query, from E = the sum of
     * e * slope(x) and U = that of e * u, by lanes as above:
     *   c: (E - U * slope(y)) / n * sign(c)
     *   factor, where y is L: (U * (C / fmaf(C, L, 1)) / n) * -(sign(factor) * threshold) */
    void (*fire_bwd)(struct pw_ctx *c, float *d_param, float *d_bias, const float *param,
                     const struct pw_fire *f, int L, int H, int P);

    /* ---- scored rows and the loss */
    /* y[n] = x[rows[n]], zeros where rows[n] is -1. */
    void (*gather_rows)(struct pw_ctx *c, float *y, const float *x, const int *rows, int N, int C);
    /* SETS dx [R,C]: dy[n] at rows[n], zero elsewhere; rows ascending, distinct, then those that are -1. */
    void (*scatter_rows)(struct pw_ctx *c, float *dx, const float *dy, const int *rows, int N, int R, int C);
    /* loss[n] = logsumexp(logits[n]) - logits[n][target]; best[n] = argmax (lowest id on ties);
     * d_logits [N,V] = *scale * (softmax - onehot) where not NULL; scale lies in the backend's memory. Target
     * -1 is no target: loss 0 and no gradient. Sums: lanes. */
    void (*cross_entropy)(struct pw_ctx *c, float *loss, int *best, float *d_logits, const float *logits,
                          const int *targets, const float *scale, int N, int V);
    /* p = softmax(logits / temperature) by rows. */
    void (*softmax)(struct pw_ctx *c, float *p, const float *logits, float temperature, int N, int V);
    void (*add)(struct pw_ctx *c, float *y, const float *x, size_t n); /* y += x */
    /* y [R,C] = x or 0, by the mask, rounded, + residual (NULL: 0, and then its own backward pass); y may be
     * x, residual is neither. */
    void (*dropout)(struct pw_ctx *c, float *y, const float *x, const struct pw_dropout *d,
                    const float *residual, int R, int C);
    void (*zero)(struct pw_ctx *c, float *y, size_t n);
};

/* The cpu backend with the instruction set that PEWTER_ISA names, or the processor's best; or with a named
 * one (auto, scalar, avx2, avx512): NULL and a message with those that would do where the processor lacks it.
 */
const struct pw_backend_ops *pw_backend_cpu(void);
const struct pw_backend_ops *pw_backend_cpu_isa(const char *isa, struct pw_err *err);

/* The same in a precision, fp32 or bf16; isa as above. bf16 rounds what enters the products of linear layers
 * to bf16, on the processor's matrix units; sums, and everything else, stay float32. Its bits are those of
 * one kind of machine (determinism class "machine"), still whatever the number of threads. NULL and a message
 * where the processor has no such units or isa is not the one that goes with them. */
const struct pw_backend_ops *pw_backend_cpu_precision(const char *isa, const char *precision,
                                                      struct pw_err *err);

/* What a backend's plug-in hands out; libpewter_NAME.so exports nothing but the function that does. */
struct pw_backend_plugin {
    int abi;             /* PW_BACKEND_ABI that it was built with; the rest is read only where that is this */
    const char *version; /* of the pewter that it belongs to */
    const struct pw_backend_ops *const *tables; /* the usual one first; ends with NULL */
};
typedef const struct pw_backend_plugin *pw_backend_entry(void);
#define PW_BACKEND_ENTRY "pw_backend_plugin"

/* The plug-in of a backend ("cuda") and the path of its file; NULL and one line that says why there is none.
 * It stays loaded. */
const struct pw_backend_plugin *pw_backend_plugin_of(const char *name, char *path, size_t size,
                                                     struct pw_err *err);

/* A backend by name, and what its open is to be told: "cpu", "cpu:ISA"; "cuda", "cuda:N" for device N, by its
 * plug-in. mode and precision: NULL for the usual ones. NULL and a message with what there is. Opening it may
 * fail yet. */
const struct pw_backend_ops *pw_backend_find(const char *name, const char *mode, const char *precision,
                                             int *unit, struct pw_err *err);

#ifdef __cplusplus
}
#endif
#endif
