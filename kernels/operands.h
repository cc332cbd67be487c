/* operands.h - plain structs that the operations of a backend take (kernels/backend.h): matrices, sequences,
 * dropout, encodings, inspection and AdamW. Their pointers refer to the backend's memory. The shapes are
 * those of backend.h.
 *
 * It compiles as C11 and as C++17. */
#ifndef PW_OPERANDS_H
#define PW_OPERANDS_H
#include "base/both.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_score; /* kernels/score.h */

/* How the elements of a pack are stored. The values are those of the matrix in any case, so a pack has 16
 * bits an element only if every value of the matrix has an exact form there. */
enum pw_stored { PW_STORED_F32, PW_STORED_BF16, PW_STORED_F16 };

/* A weight matrix [out,in] (y = x W^T), and memory for the backend's packed copy of it. */
struct pw_mat {
    const float *w;
    int out, in;
    float *pack; /* mat_pack_floats floats, or half as many if stored in 16 bits; filled by prepare() */
    float *back; /* the same for linear_dx; NULL: it is not called */
    enum pw_stored stored; /* of pack and back; tables without unpack ignore it */
};

/* n packed sequences: sequence s owns rows start[s] .. start[s+1]-1. start has n+1 entries with start[0] = 0,
 * and is in the backend's memory. The other members are for the host. */
struct pw_seqs {
    int n;
    const int *start;
    /* start[n]; and an upper bound of the rows of the longest sequence. */
    int rows, longest;
};

/* Normalisation before a block, activation function, and order of the pairs of rotary embedding. */
enum pw_norm { PW_NORM_RMS, PW_NORM_LAYER, PW_NORM_NONE };
enum pw_act { PW_ACT_NONE, PW_ACT_RELU, PW_ACT_GELU, PW_ACT_GELU_TANH, PW_ACT_SILU };
enum pw_pairing { PW_PAIRING_INTERLEAVED, PW_PAIRING_HALF }; /* pairs (2i, 2i+1) or (i, i+pairs) */

/* Dropout of one tensor (Srivastava et al. 2014): an entry becomes 0 with probability rate, else x *
 * pw_dropout_kept.
 *
 * The mask depends on key, site and the entry's place only. Let w be word col mod 4 of Philox4x32-10 (Salmon
 * et al. 2011) with this key and the counter {col / 4, row, site, h}. Entry (row, col) of head h is dropped
 * if w < rate * 2^32. So the backward pass computes the same mask, and chunks and threads can't change it. */
struct pw_dropout {
    const uint32_t *key; /* [2] of the training step, in the backend's memory */
    uint32_t site;       /* which tensor of the network */
    int row;             /* row of the whole batch at which row 0 of the operation lies */
    float rate;          /* 0 <= rate < 1 */
};

/* The factor of entries that are kept. */
static inline float pw_dropout_kept(const struct pw_dropout *d)
{
    return 1.0f / (1.0f - d->rate);
}

/* The embedding's factor `scale`, and a vector a[r] that is added to embedding r, from n tables (n = 0:
 * nothing is added). Its parts are row[k][r] of table[k] [.,W], where row[k] is [R]. With `halves`, n is 2, W
 * = C/2, and the two parts are concatenated. Otherwise W = C, and a[r] is the one part or the sum of both. */
struct pw_added {
    int n;
    bool halves;
    const float *table[2];
    const int *row[2];
    float scale; /* factor on the token's embedding; 1: none */
};

/* How a layer's projection [R,(H+2K)D] becomes the q, k and v [R,3HD] of attention. Each of the K heads of k
 * and v serves H/K consecutive query heads. q and k are normed over D if they have gains. */
struct pw_heads {
    int heads, kv_heads, head_width; /* H; K, a divisor of H; D */
    const float *q_gain, *k_gain;    /* [D] each; both NULL: no norms */
    float eps;
};

/* Heads j of the projection are H of q, K of k and K of v. Return the part of head j (0, 1, 2 for q, k, v),
 * and its first place among the 3H heads that attention reads. */
static inline int pw_heads_part(const struct pw_heads *h, int j)
{
    return j < h->heads ? 0 : j < h->heads + h->kv_heads ? 1 : 2;
}
static inline int pw_heads_place(const struct pw_heads *h, int j)
{
    int part = pw_heads_part(h, j), of_part = part == 0 ? j : (j - h->heads) % h->kv_heads;
    return part * h->heads + of_part * (part == 0 ? 1 : h->heads / h->kv_heads);
}

/* Position-dependent transformation of q and k, by position ids. First comes rotary position embedding (Su et
 * al. 2021, Eq. 34). It rotates the first 2*pairs entries of every head, pair by pair, by the angles of their
 * row: (a,b) -> (a cos - b sin, a sin + b cos). The two results are computed as fmaf(a, cos, -(b*sin)) and
 * fmaf(a, sin, b*cos). Then q is multiplied by the gain of its row, which scales the query's scores; heads
 * share the gains, or head h has those from h * gain_head on. The backward pass multiplies by the gain first,
 * and then rotates by the negative angle. If the tables are learned, it leaves that to turn_bwd. */
struct pw_turn {
    const float *cosine, *sine; /* [P,pairs] */
    int keys_at;                /* rows from a query's row of these tables to a key's; 0: they share it */
    int pairs;                  /* 0 .. D/2 */
    enum pw_pairing pairing;
    const float *gain; /* [P], or with gain_head [H,P]; or NULL */
    int gain_head;     /* 0; or P: each head has gains of its own */
    bool learned;      /* the tables have gradients */
};

/* Gradients of the tables of a transformation, with the shapes of its tables; each is NULL if its table is
 * not learned. cosine and sine are learned together. */
struct pw_turn_grad {
    float *cosine, *sine, *gain;
};

/* Largest P of a dense bias: the kernels index the entries of a head with int. */
enum { PW_DENSE_MOST = 1 << 15 };

/* A bias that the query mixes from a bank of functions of the distance: with mixes = M, for a query and a key
 * at distance d = i - j, 0 <= d < reach, the chain over m of (w_m * g) * bank[m][d]. w are the weights of the
 * query's row and head, and g is the gain of its row (struct pw_turn; without one there is no product). At
 * other distances the bias is +0. attention_bwd sets d_weights and adds to d_bank; both are read by no other
 * operation. */
struct pw_mix {
    const float *weights; /* [R,H,M] for the rows of qkv */
    const float *bank;    /* [M,reach] */
    int mixes, reach;     /* >= 1 */
    float *d_weights, *d_bank;
};

/* Numbers that an encoding makes of the q and k of each row before attention, with their gradients, which
 * attention_bwd SETS; other operations ignore those. A pair is NULL if absent.
 *
 * slopes [R,2H]: (id of key - id of query) * (slopes[query][h] + slopes[key][H + h]) is added to a score. In
 * attention_cached it has the T+R rows of the sequence. Not with a function of scores.
 *
 * wide [R,2HE]: q and then k of all heads, with E entries a head, which replace those of qkv. Then
 * attention_bwd leaves q and k of dqkv alone. Not with relative keys or a transformation. */
struct pw_made {
    const float *slopes;
    float *d_slopes;
    const float *wide;
    float *d_wide;
    int width; /* E, at least D */
};

/* A scan that reads the finished scores s: over the keys of a query, from its own key backwards, or of SELECT
 * over the earlier queries of a key (kernels/backend.h has its arithmetic and order). It needs the causal
 * mask, and excludes bias, keys, score and terms of struct pw_attn. The order of the rows is the order of
 * positions. */
enum pw_scan_kind {
    PW_SCAN_NONE,
    /* Weights in place of a softmax (Tan et al. 2024): each earlier key takes the share sigmoid(s) of what
     * the keys after it have left of 1, and the query's own key takes the rest. */
    PW_SCAN_STICK,
    /* Contextual positions (Golovneva et al. 2024): each key has the gate sigmoid(s), and its position is the
     * sum of the gates from it to the query's own key. Column k of a table is for position k; the product of
     * the query with it, interpolated between two columns, is added to the score. */
    PW_SCAN_CONTEXT,
    /* Selection (Leviathan et al. 2024): in head 0 each token votes, by the positive part of its scores, that
     * later tokens should not read a key. All heads subtract from their scores the sum of the votes on the
     * key by the tokens before the query. No token votes on itself or on the first token. Only if the table
     * `selects`. */
    PW_SCAN_SELECT,
};
struct pw_scan {
    enum pw_scan_kind kind;
    const float *rows; /* CONTEXT: the table [D,n], shared by the heads */
    int n;             /* CONTEXT: at least 2; positions are at most n - 1 */
    /* SELECT, in attention_cached alone: pw_lost_at(T+R) floats. Row i, at pw_lost_at(i), has the sum of the
     * votes of rows 0..i for each of keys 0..i. The operation reads row T-1 and writes the R rows after it.
     */
    float *lost;
};

/* Floats of the first i rows of the sums of votes; row t has t + 1 floats, rounded up to 16. */
PW_BOTH size_t pw_lost_at(int i)
{
    size_t blocks = (size_t)i / 16, rest = (size_t)i % 16;
    return 16 * (blocks + 1) * (8 * blocks + rest);
}

/* The product of q and k by a walk: a vector u begins as q at the query's own key, visits the keys down to
 * the first, and takes its product with each. After the product with a key, the key's row changes u, so the
 * rows between a key and the query decide how the key is seen. It needs the causal mask, and excludes keys,
 * mix, score and scan of struct pw_attn, and wide q and k. attention_bwd SETS the gradients; other operations
 * ignore them. In attention_cached vectors and factors have the T+R rows of the sequence. */
enum pw_walk_kind {
    /* Yang et al. 2025: u = u - b (w.u) w with the row's unit vector w and factor b, 0 < b < 2. */
    PW_WALK_REFLECT,
    /* Wall attention: each entry of u times that of the row's vector, 0 < f < 1. */
    PW_WALK_SCALE,
};
struct pw_walk {
    enum pw_walk_kind kind;
    const float *vectors; /* [R,H,D] */
    const float *factors; /* [R,H]; NULL for SCALE, like its gradient */
    float *d_vectors, *d_factors;
};

/* How the vectors and factors of a walk are made (walk_fwd). */
enum { PW_WALK_TAPS = 8 };
struct pw_walk_rows {
    enum pw_walk_kind kind;
    int heads, head_width; /* H, D */
    int taps;              /* REFLECT: rows that a convolution reads, at most PW_WALK_TAPS; 0: none */
    const float *conv;     /* [HD,taps] its weights, the oldest row first */
};
#define PW_WALK_EPS 1e-6f /* added to the squared length of a vector, by which it is divided */

/* Parameters of one attention operation. */
struct pw_attn {
    int heads, head_width; /* H, D */
    float scale;           /* factor of q.k */
    bool causal;
    /* Bias added to the scores, by the position ids i of the query and j of the key, all below P; or NULL. By
     * distance: [H,2P-1], entry (h, P-1 + i-j). Dense: [H,P,P], entry (h,i,j). */
    const float *bias;
    int table; /* P; at most PW_DENSE_MOST if dense */
    bool dense;
    /* Relative keys (Shaw et al. 2018), shared by the heads: [pw_key_rows,D], or NULL. For query i, row
     * pw_key_row(i-j) is added to key j. i and j are position ids. */
    const float *keys;
    int reach; /* >= 1: distances beyond it use the row of reach */
    /* Dropout of the probabilities, after the softmax; NULL: none. row is the query's row, col the key's
     * index in its sequence, h the head. Only attention_fwd and attention_bwd use it; save and maps hold
     * values before dropout. */
    const struct pw_dropout *drop;
    /* Transformation of q and k before the dot product; NULL: none. Always NULL with relative keys. */
    const struct pw_turn *turn;
    /* Function of each finished score, in the backend's memory (kernels/score.h); NULL: the score itself. */
    const struct pw_score *score;
    /* Learned numbers that this function reads, [H,n_learned], n_learned up to PW_SCORE_MOST_LEARNED; NULL:
     * it reads none. attention_bwd adds to d_learned, of the same shape; other operations ignore it. */
    const float *learned;
    float *d_learned;
    int n_learned;
    /* Terms of rows, or NULL: terms[row of query][h] - terms[row of key][h] is added to the score. [R,H] for
     * the rows of qkv; of attention_cached [T+R,H] for all rows of the sequence. Always NULL with a function
     * of scores. */
    const float *terms;
    /* Bias that the query mixes, by the position ids of query and key; NULL: none. */
    const struct pw_mix *mix;
    /* Numbers that the encoding makes of q and k; NULL: none. */
    const struct pw_made *made;
    /* Replaces the product of q and k; NULL: none. */
    const struct pw_walk *walk;
    struct pw_scan scan; /* only if the table has `scans` */
};

/* How slopes are made of q and k (slopes_fwd). Each head has a learned direction for queries and one for
 * keys, and a factor, softplus(omega) times a fixed slope. */
enum { PW_SLOPES_MOST = 128 };
struct pw_slopes {
    int heads, head_width;       /* H, at most PW_SLOPES_MOST; D */
    const float *omega;          /* [H] */
    const float *query, *key;    /* [H,D]; NULL: slopes of this part are 0 */
    float slope[PW_SLOPES_MOST]; /* of each head */
};
#define PW_SLOPES_EPS 1e-6f /* least length by which a direction is divided */

/* Gradients of what is learned of slopes, with its shapes; NULL where that is NULL. */
struct pw_slopes_grad {
    float *omega, *query, *key;
};

/* How wide q and k of 2D entries a head are made (polar_fwd). Entry x of q or k becomes a vector in a plane
 * of its own. Its length is softplus(x), and its angle that of the position, for k with a learned phase. */
struct pw_polar {
    int heads, head_width;      /* H, D */
    const float *cosine, *sine; /* [P,D] of the angles; NULL: the lengths alone, so E is D */
    const float *phase;         /* [H,D] learned; limited to -2 pi .. 0 */
};

/* Planes in which q and k of a head turn (planes_fwd), by the angle of their row's position. Plane j of head
 * h turns by exp(log_factor[h][j] - j * fall) radians from one position to the next. Its two unit vectors are
 * orthogonal to each other and to those of the head's other planes, so turns commute. */
struct pw_planes {
    int heads, head_width, planes; /* H; D; N, 1 .. D/2 */
    double fall;
    double from, step;       /* id i stands for position from + i * step */
    const float *unit;       /* [H,2N,D]: first vectors, then second vectors */
    const float *log_factor; /* [H,N] learned */
};
#define PW_PLANES_EPS 1e-6 /* least length by which a vector is divided */

/* Number of bias entries of one head. */
static inline size_t pw_bias_entries(bool dense, int P)
{
    return dense ? (size_t)P * (size_t)P : 2 * (size_t)P - 1;
}

/* Parameters of FIRE (Li et al. 2023; formulas at fire_fwd) that are not learned. */
struct pw_fire {
    int hidden;       /* K, hidden units of its network */
    float threshold;  /* scale of the learned threshold: L = |factor * threshold| */
    float from, step; /* id i stands for position from + i * step; distances are multiplied by step */
    bool causal;
};

/* Number of learned floats of FIRE. Layout: c [1], factor [1], w1 [K], b1 [K], w2 [H,K], b2 [H]. */
static inline size_t pw_fire_floats(int K, int H)
{
    return 2 + (size_t)(2 + H) * (size_t)K + (size_t)H;
}
#define PW_FIRE_EPS 1e-6f /* added to the divisor psi(y), so that it is never 0 */

/* A table that a formula with learned parameters defines: a bias by distance or by both positions, or H
 * numbers for each position. */
struct pw_expr_code;
struct pw_expr_use {
    const struct pw_expr_code *code;  /* its program (kernels/expr_code.h), in host memory */
    const struct pw_expr_code *there; /* the same in the backend's memory */
    float from, step; /* id i stands for position from + i * step; distances are multiplied by step */
    int layer;        /* whose values parameters of a layer have */
    bool causal;
    /* head > 0: not a bias but a table by position ids, of a program by distance, whose distances are then
     * positions; entry (h, id) is at h * head + id * place, and causal is true. */
    int head, place;
};

/* Rows of the maps of one head: queries query .. query + n - 1 and keys 0 .. keys - 1. No query sees a later
 * key. Query i's row is (i - query) * stride floats after the first. */
struct pw_map_rows {
    int head, query, n, keys;
    size_t stride;
    const float *probs;   /* as in struct pw_maps */
    const float *scores;  /* as in struct pw_maps; NULL: pw_maps.wants is false */
    const float *content; /* the scores that pw_maps.content asks for; NULL: none, or not wanted */
};

/* Optional outputs of an attention operation for inspection: each is NULL, or has [H,T,T] for each
 * sequence. */
struct pw_maps {
    float *scores; /* before the softmax; -inf if the mask hides the key */
    float *probs;  /* after the softmax; 0 if the mask hides the key */
    /* Backends on the host only. Not NULL: each(arg, rows) reads all rows without a map being held. One
     * worker calls it for all rows of a head, queries ascending; the rows are valid during the call. */
    void (*each)(void *arg, const struct pw_map_rows *rows);
    /* Are the scores of this block of queries query .. query + n - 1 wanted, too? */
    bool (*wants)(void *arg, int head, int query, int n);
    /* Not NULL: wanted scores come with those of this attention, which has no bias, relative keys,
     * terms, mix or function.
     */
    const struct pw_attn *content;
    void *arg;
};

/* Rows of relative keys, and the row of a distance. There is a row for each distance 0..reach, or
 * -reach..reach without the causal mask. */
static inline int pw_key_rows(const struct pw_attn *a)
{
    return a->causal ? a->reach + 1 : 2 * a->reach + 1;
}
static inline int pw_key_row(const struct pw_attn *a, int distance)
{
    int row = a->causal ? distance : distance + a->reach, last = pw_key_rows(a) - 1;
    return row < 0 ? 0 : row > last ? last : row;
}

/* Tile size, in entries, of AdamW and of sums over all parameters. */
enum { PW_TILE = 4096 };

/* One tensor in the flat parameter buffer, as AdamW uses it. */
struct pw_adamw_seg {
    size_t offset, n; /* floats */
    size_t place;     /* where its moments and its gradient begin in their buffers, in floats */
    size_t tile;      /* number of tiles of the tensors before it; each tensor's last tile may be partial */
    float lr, decay;  /* learning rate; decoupled weight decay (p -= lr * decay * p) */
    float c1, c2;     /* 1 / (1 - beta^t), with this tensor's own step count t */
    uint16_t *pack;   /* its part of a pack, if the table packs (`packs`); or NULL */
};

/* Hyperparameters of AdamW, the same for all segments. */
struct pw_adamw {
    float beta1, beta2, eps;
    float clip; /* global gradient norm above which gradients are scaled down; 0: never */
};

#endif
