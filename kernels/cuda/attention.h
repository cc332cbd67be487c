/* attention.h - the argument of attention kernels (struct pw_attend), device functions that read it, and the
 * launchers of the gradients of bias and relative keys.
 *
 * Shapes use the capitals of kernels/backend.h; n is the number of sequences. All pointers are in device
 * memory. A launcher enqueues on stream s, returns the launch's error and does not wait. */
#ifndef PW_CUDA_ATTENTION_H
#define PW_CUDA_ATTENTION_H
#include "kernels/cuda/launch.h"
#include "kernels/cuda/philox.h"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/turn.h"
#include <assert.h>

/* One call of attention, passed to its kernels by value. */
struct pw_attend {
    const float *qkv; /* [R,3HD] */
    /* q and k: those of qkv, or wide ones (struct pw_made). Head h of q begins at h * E in a row, and that of
     * k at (H + h) * E. Rows are qk_row floats apart. */
    const float *qk;
    size_t qk_row;
    int E;
    const int *pos;   /* [R] position ids; NULL if no part of attention reads them */
    const int *start; /* [n+1] first row of each sequence */
    const float *bias, *keys;
    const float *dots;            /* mode fast, [R,H,key_rows]: products of q with all relative keys */
    struct pw_mask mask;          /* dropout of the probabilities; key NULL: none */
    const struct pw_score *score; /* the function of scores; NULL: none */
    const float *learned;         /* [H,n_learned] learned numbers that it reads; NULL: none */
    int n_learned;
    const float *terms;  /* [R,H] terms of rows; NULL: none */
    const float *slopes; /* [R,2H] slopes of rows; NULL: none */
    struct pw_mix mix;   /* weights NULL: none */
    const float *gain;   /* of the mix: as in struct pw_turn, with gain_head; NULL: none */
    int gain_head;
    struct pw_walk walk; /* vectors NULL: none */
    struct pw_scan scan;
    /* mode ref, [R,H,scan.n]: products of q with the columns of contextual positions */
    const float *products;
    /* mode ref, [R,longest]: with selection, sums of the votes of the rows before */
    const float *lost;
    size_t rows; /* R */
    int n, longest, heads, D, table, reach, key_rows;
    size_t bias_head; /* bias entries of one head */
    /* Strides: the entry of query id i and key id j is bias[h * bias_head + by_query * i + by_key * j]. For a
     * bias by distance, `bias` points to the entry of distance 0. */
    int by_query, by_key;
    float scale;
    bool causal, dense;
    /* Heads (with rotation angles), q and k, or relative keys can be read as aligned float4. */
    bool fours, qk_fours, keys_fours;
};

/* Builds the argument from the operands of an operation in kernels/backend.h. Rotation (a->turn) is left out:
 * qkv must be transformed already, unless pw_turned_attend_of is used. */
static inline struct pw_attend pw_attend_of(const float *qkv, const struct pw_attn *a, const int *pos,
                                            const struct pw_seqs *s)
{
    struct pw_attend at = {};
    assert(a->turn == NULL || a->keys == NULL);
    bool wide = a->made != NULL && a->made->wide != NULL;
    at.qkv = qkv;
    at.qk = wide ? a->made->wide : qkv;
    at.E = wide ? a->made->width : a->head_width;
    at.qk_row = (wide ? 2 : 3) * (size_t)a->heads * (size_t)at.E;
    at.scan = a->scan;
    if (a->walk != NULL)
        at.walk = *a->walk;
    if (a->mix != NULL)
        at.mix = *a->mix;
    if (a->mix != NULL && a->turn != NULL) {
        at.gain = a->turn->gain;
        at.gain_head = a->turn->gain_head;
    }
    bool by_id = a->bias != NULL || a->keys != NULL || a->turn != NULL || a->score != NULL ||
                 a->made != NULL || a->mix != NULL;
    at.pos = by_id ? pos : NULL;
    at.start = s->start;
    at.bias = a->bias != NULL && !a->dense ? a->bias + a->table - 1 : a->bias;
    at.bias_head = pw_bias_entries(a->dense, a->table);
    at.by_query = a->dense ? a->table : 1;
    at.by_key = a->dense ? 1 : -1;
    at.keys = a->keys;
    at.mask = pw_mask_of(a->drop);
    at.score = a->score;
    at.learned = a->learned;
    at.n_learned = a->n_learned;
    at.terms = a->terms;
    at.slopes = a->made != NULL ? a->made->slopes : NULL;
    at.rows = (size_t)s->rows;
    at.n = s->n;
    at.longest = s->longest;
    at.heads = a->heads;
    at.D = a->head_width;
    at.table = a->table;
    at.dense = a->dense;
    at.reach = a->reach;
    at.key_rows = a->keys != NULL ? pw_key_rows(a) : 0;
    at.scale = a->scale;
    at.causal = a->causal;
    at.fours = at.D % 4 == 0 && pw_fours(qkv);
    at.qk_fours = at.E % 4 == 0 && pw_fours(at.qk);
    at.keys_fours = at.D % 4 == 0 && pw_fours(a->keys);
    return at;
}

/* The argument of the kernels of mode fast, which can rotate q and k as they read them. */
struct pw_turned_attend : pw_attend {
    bool turns;
    struct pw_turn turn;
};

static inline struct pw_turned_attend pw_turned_attend_of(const float *qkv, const struct pw_attn *a,
                                                          const int *pos, const struct pw_seqs *s)
{
    struct pw_turned_attend at = {pw_attend_of(qkv, a, pos, s), a->turn != NULL, {}};
    if (at.turns)
        at.turn = *a->turn;
    at.fours = at.fours && pw_fours(at.turn.cosine, at.turn.sine);
    return at;
}

/* Returns the sequence that owns row r of the batch. */
__device__ __forceinline__ int pw_dev_sequence(const struct pw_attend &a, size_t r)
{
    return pw_dev_owner(a.start, a.n, r);
}

/* Returns the distance, in position ids, of two rows of the batch; 0 if no part of the score depends on it.
 */
__device__ __forceinline__ int pw_dev_distance(const struct pw_attend &a, size_t query, size_t key)
{
    return a.pos != NULL ? a.pos[query] - a.pos[key] : 0;
}

/* pw_key_row (kernels/backend.h) on the device. */
__device__ __forceinline__ int pw_dev_key_row(const struct pw_attend &a, int distance)
{
    return max(0, min(a.causal ? distance : distance + a.reach, a.key_rows - 1));
}

/* Returns the start of the bias row of head h for a query with this position id; NULL without a bias. The
 * entry of a key with id j is at index a.by_key * j. Both shapes of bias are strides, so no score tests which
 * one it is. */
__device__ __forceinline__ const float *pw_dev_bias(const struct pw_attend &a, int h, int query)
{
    return a.bias != NULL ? a.bias + (size_t)h * a.bias_head + (size_t)(a.by_query * query) : NULL;
}

/* Returns the score: q.k (+ q.a) times scale, plus the bias. bias: from pw_dev_bias; key: the position id of
 * the key. */
__device__ __forceinline__ float pw_dev_score(const struct pw_attend &a, float dot, const float *bias,
                                              int key)
{
    float v = dot * a.scale;
    return bias != NULL ? v + bias[a.by_key * key] : v;
}

/* Returns the position id of a row of the batch; 0 if no part of the score depends on it. */
__device__ __forceinline__ int pw_dev_id(const struct pw_attend &a, size_t row)
{
    return a.pos != NULL ? a.pos[row] : 0;
}

/* Sum dS into the shape of the bias: by distance, or by both position ids. The rows of queries in ds are
 * `longest` floats apart; query i of head h of sequence s is row (start[s] - start[first]) * H + h * T + i,
 * where T is the length of s.
 *
 * Sequences first .. last-1 are split into chains. Chain c of `chains` takes sequences first+c,
 * first+c+chains, ..., with queries ascending. out [chains, pw_bias_sums_floats] is set, or added to if
 * `add`. index: pw_bias_index_ints ints of scratch that pw_bias_index has filled from the position ids of the
 * batch. */
size_t pw_bias_sums_floats(const struct pw_attend &a); /* floats of one chain */
size_t pw_bias_index_ints(const struct pw_attend &a);
cudaError_t pw_bias_index(cudaStream_t s, int *index, const struct pw_attend &a);
cudaError_t pw_bias_sums(cudaStream_t s, float *out, const float *ds, const int *index,
                         const struct pw_attend &a, int first, int last, int chains, bool add);
/* to [n] += the sums of all chains [chains,n], in the order of chains. */
cudaError_t pw_chains_add(cudaStream_t s, float *to, const float *sums, size_t n, int chains);

/* ---- mix.cu: the gradients of a mix (struct pw_mix). sums: pw_mix_floats of scratch; ds: as for
 * pw_bias_sums, of all sequences. */
size_t pw_mix_floats(const struct pw_attend &a);
cudaError_t pw_mix_bwd(cudaStream_t s, float *sums, const float *ds, const struct pw_attend &a);

/* ---- walk.cu: the product of q and k by a walk. Sets the products of each query in the maps out [H,T,T] of
 * all sequences; at: from pw_attention_maps. */
cudaError_t pw_walk_maps(cudaStream_t s, float *out, const size_t *at, const struct pw_attend &a);
/* Sets out [R,H,total] to the products of R rows, at q, from row i0 of a sequence on. k: the keys of all rows
 * in the cache, key_row floats apart. */
cudaError_t pw_walk_cached(cudaStream_t s, float *out, const float *k, size_t key_row, const float *q,
                           const struct pw_attend &a, int i0, int R, int total);
/* Sets q and k of dqk, laid out as a.qk, and the gradients of a.walk. ds: as for pw_bias_sums, of all
 * sequences; room: pw_walk_floats of scratch. */
size_t pw_walk_floats(const struct pw_attend &a); /* 0 without a walk */
cudaError_t pw_walk_bwd(cudaStream_t s, float *dqk, const float *ds, float *room, const struct pw_attend &a);

/* ---- relative.cu: relative keys in mode fast. dots and sums are [R,H,key_rows]; ds is as for pw_bias_sums.
 */
size_t pw_relative_floats(const struct pw_attend &a); /* of dots, or of sums; 0 without relative keys */
/* Sets dots to the products of every query with every relative key. */
cudaError_t pw_relative_dots(cudaStream_t s, float *dots, const struct pw_attend &a);
/* Sets sums to the dS of each query, summed by row of the relative keys, for sequences first .. last-1. */
cudaError_t pw_relative_sums(cudaStream_t s, float *sums, const float *ds, const struct pw_attend &a,
                             int first, int last);
/* Adds the gradient through the relative keys to dq in dqkv [R,3HD], which is already multiplied by scale.
 * copy: a bf16 copy of dqkv to update, or NULL. */
cudaError_t pw_relative_dq(cudaStream_t s, float *dqkv, uint16_t *copy, const float *sums,
                           const struct pw_attend &a);
/* Adds to d_keys [key_rows,D]. partial: pw_relative_partial floats of scratch. */
size_t pw_relative_partial(const struct pw_attend &a);
cudaError_t pw_relative_dkeys(cudaStream_t s, float *d_keys, const float *sums, const struct pw_attend &a,
                              float *partial);

#endif
