/* attention.h - what the kernels of attention share: what is attended to, and by whom. */
#ifndef PW_CUDA_ATTENTION_H
#define PW_CUDA_ATTENTION_H
#include "kernels/cuda/launch.h"
#include "kernels/cuda/philox.h"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/turn.h"
#include <assert.h>

/* One call of attention, as its kernels take it by value. */
struct pw_attend {
    const float *qkv; /* [R,3HD] */
    const int *pos;   /* [R]; NULL where nothing goes by it */
    const int *start; /* [n+1] */
    const float *bias, *keys;
    const float *dots;            /* [R,H,key_rows] of mode fast: q times all relative keys */
    struct pw_mask mask;          /* key NULL: no dropout */
    const struct pw_score *score; /* the function of scores, or NULL */
    size_t rows;                  /* R */
    int n, longest, heads, D, table, reach, key_rows;
    size_t bias_head;     /* entries */
    int by_query, by_key; /* from id to id; a bias by distance begins at that of 0 */
    float scale;
    bool causal, dense;
    bool fours, keys_fours; /* heads (and what they turn by) and relative keys can be read by fours */
};

static inline struct pw_attend pw_attend_of(const float *qkv, const struct pw_attn *a, const int *pos,
                                            const struct pw_seqs *s)
{
    struct pw_attend at = {};
    assert(a->turn == NULL || a->keys == NULL);
    at.qkv = qkv;
    at.pos = a->bias != NULL || a->keys != NULL || a->turn != NULL || a->score != NULL ? pos : NULL;
    at.start = s->start;
    at.bias = a->bias != NULL && !a->dense ? a->bias + a->table - 1 : a->bias;
    at.bias_head = pw_bias_entries(a->dense, a->table);
    at.by_query = a->dense ? a->table : 1;
    at.by_key = a->dense ? 1 : -1;
    at.keys = a->keys;
    at.mask = pw_mask_of(a->drop);
    at.score = a->score;
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
    at.keys_fours = at.D % 4 == 0 && pw_fours(a->keys);
    return at;
}

/* The same for kernels of mode fast, some of which turn q and k. */
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

/* The sequence that has row r: starts ascend, and an empty one has none. */
__device__ __forceinline__ int pw_dev_sequence(const struct pw_attend &a, size_t r)
{
    int low = 0, high = a.n - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if ((size_t)a.start[middle] <= r)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Of two rows of a batch; 0 where nothing depends on it. */
__device__ __forceinline__ int pw_dev_distance(const struct pw_attend &a, size_t query, size_t key)
{
    return a.pos != NULL ? a.pos[query] - a.pos[key] : 0;
}

/* pw_key_row */
__device__ __forceinline__ int pw_dev_key_row(const struct pw_attend &a, int distance)
{
    return max(0, min(a.causal ? distance : distance + a.reach, a.key_rows - 1));
}

/* Where the bias of head h on a query lies, by its position id: the key's times a.by_key is added. NULL
 * without a bias. Both shapes are strides, so no score asks which it is. */
__device__ __forceinline__ const float *pw_dev_bias(const struct pw_attend &a, int h, int query)
{
    return a.bias != NULL ? a.bias + (size_t)h * a.bias_head + (size_t)(a.by_query * query) : NULL;
}

/* A score from q.k (+ q.a): times scale, plus the bias of its query on a key. */
__device__ __forceinline__ float pw_dev_score(const struct pw_attend &a, float dot, const float *bias,
                                              int key)
{
    float v = dot * a.scale;
    return bias != NULL ? v + bias[a.by_key * key] : v;
}

/* The position id of a row of the batch; 0 where nothing goes by it. */
__device__ __forceinline__ int pw_dev_id(const struct pw_attend &a, size_t row)
{
    return a.pos != NULL ? a.pos[row] : 0;
}

/* The sums, of the bias' shape, of ds by distance or by position ids, where the map of head h of sequence s
 * has query i's row at ds + ((start[s] - start[first])*H + h*T + i) * longest. Sequences first .. last-1 are
 * split into chains: chain c of `chains` takes each chains-th from first+c on, queries ascending, and sets
 * its sums behind those of the chains before it, or adds to them. index: pw_bias_index_ints of scratch,
 * filled by pw_bias_index. */
size_t pw_bias_sums_floats(const struct pw_attend &a); /* of a chain */
size_t pw_bias_index_ints(const struct pw_attend &a);
cudaError_t pw_bias_index(cudaStream_t s, int *index, const struct pw_attend &a);
cudaError_t pw_bias_sums(cudaStream_t s, float *out, const float *ds, const int *index,
                         const struct pw_attend &a, int first, int last, int chains, bool add);
/* to [n] += the sums of all chains [chains,n], one after the other. */
cudaError_t pw_chains_add(cudaStream_t s, float *to, const float *sums, size_t n, int chains);

/* ---- relative.cu: relative keys in mode fast. dots and sums [R,H,key_rows]; ds as for pw_bias_sums. */
size_t pw_relative_floats(const struct pw_attend &a); /* of one of them; 0 without keys */
cudaError_t pw_relative_dots(cudaStream_t s, float *dots, const struct pw_attend &a);
/* The dS of each query by row, of sequences first .. last-1. */
cudaError_t pw_relative_sums(cudaStream_t s, float *sums, const float *ds, const struct pw_attend &a,
                             int first, int last);
/* dq of dqkv [R,3HD], which is scaled, gets what comes through relative keys; copy: of dqkv in bf16, or NULL.
 */
cudaError_t pw_relative_dq(cudaStream_t s, float *dqkv, uint16_t *copy, const float *sums,
                           const struct pw_attend &a);
/* Adds to d_keys [key_rows,D]; partial: pw_relative_partial floats of scratch. */
size_t pw_relative_partial(const struct pw_attend &a);
cudaError_t pw_relative_dkeys(cudaStream_t s, float *d_keys, const float *sums, const struct pw_attend &a,
                              float *partial);

#endif
