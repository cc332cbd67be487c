/* select.cu - selection (Leviathan et al. 2024; PW_SCAN_SELECT in kernels/backend.h): the votes of head 0,
 * their sums, and the gradient that votes have from the sums.
 *
 * A vote depends on no other, so each has a thread. A sum over queries rounds at each, so a thread has the
 * sums of one key. Neighbouring threads have neighbouring keys, and read neighbouring numbers. */
#include "kernels/cuda/attention_ref.h"

/* The vote of a query of head 0 on key j, if it is neither the query's own nor the first one. */
static __device__ __forceinline__ float vote_on(const struct pw_attend &a, const float *q, const float *k)
{
    float s = pw_dev_dot(q, k, a.E, a.qk_fours) * a.scale;
    return s > 0.0f ? s : 0.0f;
}

/* ---- a batch */

size_t pw_select_floats(const struct pw_attend &a)
{
    return a.scan.kind == PW_SCAN_SELECT ? a.rows * (size_t)a.longest : 0;
}

/* The votes of sequence seq in `save`, behind the probabilities of all sequences. */
static __device__ __forceinline__ size_t votes_at(const struct pw_attend &a, const size_t *at, int seq)
{
    return pw_dev_next_map(a, at) + at[seq];
}

/* Entry (r, j) of the votes [R,longest] of keys j before row r; and of those in save, unless it is NULL. */
static __global__ void find_votes(float *votes, float *save, struct pw_attend a, const size_t *at)
{
    size_t item = pw_dev_thread(), longest = (size_t)a.longest, r = item / longest;
    if (r >= a.rows)
        return;
    int seq = pw_dev_sequence(a, r), base = a.start[seq], T = a.start[seq + 1] - base;
    int i = (int)r - base, j = (int)(item % longest);
    if (j >= i)
        return;
    const float *keys = a.qk + (size_t)a.heads * (size_t)a.E;
    float v = j > 0 ? vote_on(a, a.qk + r * a.qk_row, keys + (size_t)(base + j) * a.qk_row) : 0.0f;
    votes[item] = v;
    if (save != NULL)
        save[votes_at(a, at, seq) + (size_t)i * (size_t)T + (size_t)j] = v;
}

/* The sequence and the key of this thread, and the number of rows of the sequence. */
struct pw_select_key {
    int seq, j, base, T;
};
static __device__ __forceinline__ bool key_of(const struct pw_attend &a, struct pw_select_key *p)
{
    size_t item = pw_dev_thread(), seq = item / (size_t)a.longest;
    if (seq >= (size_t)a.n)
        return false;
    p->seq = (int)seq;
    p->j = (int)(item % (size_t)a.longest);
    p->base = a.start[seq];
    p->T = a.start[seq + 1] - p->base;
    return p->j < p->T;
}

/* Replaces the votes of each row by the sums of those of all rows before. */
static __global__ void sum_votes(float *votes, struct pw_attend a)
{
    struct pw_select_key p;
    if (!key_of(a, &p))
        return;
    size_t longest = (size_t)a.longest;
    float *column = votes + (size_t)p.base * longest + (size_t)p.j, sum = 0.0f;
#pragma unroll 4
    for (int i = p.j + 1; i < p.T; i++) {
        float own = column[(size_t)i * longest];
        column[(size_t)i * longest] = sum;
        sum += own;
    }
}

/* A thread for each key of each sequence, at most a.longest. */
static dim3 blocks_of_keys(const struct pw_attend &a)
{
    return dim3(pw_blocks((size_t)a.n * (size_t)a.longest, PW_THREADS));
}

cudaError_t pw_select_sums(cudaStream_t s, float *sums, float *save, const struct pw_attend &a,
                           const size_t *at)
{
    size_t votes = a.rows * (size_t)a.longest;
    cudaError_t e =
        PW_LAUNCH(find_votes, dim3(pw_blocks(votes, PW_THREADS)), dim3(PW_THREADS), 0, s, sums, save, a, at);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH(sum_votes, blocks_of_keys(a), dim3(PW_THREADS), 0, s, sums, a);
}

/* Adds to dS of head 0. A sum over heads has head 0 last, with its dS from before. */
static __global__ void votes_back(float *ds, const float *save, struct pw_attend a, const size_t *at)
{
    struct pw_select_key p;
    if (!key_of(a, &p))
        return;
    size_t longest = (size_t)a.longest, head = (size_t)p.T * longest, j = (size_t)p.j;
    const float *votes = save + votes_at(a, at, p.seq);
    float later = 0.0f, before = 0.0f; /* sums of all later queries, and of the next one */
    ds += (size_t)p.base * (size_t)a.heads * longest;
    for (int i = p.T - 1; i > p.j; i--) {
        size_t place = (size_t)i * longest + j;
        float own = ds[place], sum = ds[(a.heads > 1 ? head : 0) + place];
        for (size_t h = 2; h < (size_t)a.heads; h++)
            sum += ds[h * head + place];
        later += before;
        if (votes[(size_t)i * (size_t)p.T + j] > 0.0f)
            ds[place] = own - later;
        before = a.heads > 1 ? sum + own : sum;
    }
}

cudaError_t pw_select_back(cudaStream_t s, float *ds, const float *save, const struct pw_attend &a,
                           const size_t *at)
{
    return PW_LAUNCH(votes_back, blocks_of_keys(a), dim3(PW_THREADS), 0, s, ds, save, a, at);
}

/* ---- decoding */

/* Votes of R rows from row T on, at q, on the keys before each; its own has none. */
static __global__ void cached_votes(float *lost, const float *k, size_t key_row, struct pw_attend a, int T,
                                    int R)
{
    size_t item = pw_dev_thread(), total = (size_t)(T + R), r = item / total;
    int i = T + (int)r, j = (int)(item % total);
    if (r >= (size_t)R || j > i)
        return;
    lost[pw_lost_at(i) + (size_t)j] =
        j > 0 && j < i ? vote_on(a, a.qk + r * a.qk_row, k + (size_t)j * key_row) : 0.0f;
}

/* Adds the sums of the row before to the votes of each row. */
static __global__ void cached_sums(float *lost, int T, int R)
{
    int j = (int)pw_dev_thread();
    if (j >= T + R)
        return;
    float sum = j < T ? lost[pw_lost_at(T - 1) + (size_t)j] : 0.0f;
    for (int i = T > j ? T : j; i < T + R; i++) {
        float *at = lost + pw_lost_at(i) + (size_t)j;
        *at = sum = sum + *at;
    }
}

cudaError_t pw_select_keep(cudaStream_t s, float *lost, const float *k, size_t key_row,
                           const struct pw_attend &a, int T, int R)
{
    size_t total = (size_t)(T + R);
    cudaError_t e = PW_LAUNCH(cached_votes, dim3(pw_blocks((size_t)R * total, PW_THREADS)), dim3(PW_THREADS),
                              0, s, lost, k, key_row, a, T, R);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH(cached_sums, dim3(pw_blocks(total, PW_THREADS)), dim3(PW_THREADS), 0, s, lost, T, R);
}
