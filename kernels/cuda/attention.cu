/* attention.cu - the forward pass of attention in mode fast: softmax as keys come in (Milakov and Gimelshein
 * 2018), so that no map is ever written (Dao et al. 2022). What is kept for the backward pass is the
 * logarithm of each row's sum of exponentials. */
#include "kernels/cuda/attention_tile.h"

/* What a lane knows of one of its queries so far. */
struct pw_row {
    float most, sum; /* sum: of this lane's keys alone */
};

/* s: q.k of this lane's queries and keys; becomes what weighs v. acc is scaled to the new maximum. */
template <int M>
static __device__ __forceinline__ void soften(float s[PW_TILE_OWN][PW_TILE_OWN], float4 acc[PW_TILE_OWN][M],
                                              struct pw_row rows[PW_TILE_OWN], const struct pw_attend &a,
                                              const struct pw_tile_place &p, int j0)
{
    const int *pos = a.bias != NULL ? a.pos + p.base : NULL;
    unsigned kept = pw_dev_tile_kept(a, p, j0);
#pragma unroll
    for (int r = 0; r < PW_TILE_OWN; r++) {
        int i = p.row + r, at = pos != NULL ? pos[min(i, p.T - 1)] : 0;
        float most = rows[r].most;
#pragma unroll
        for (int c = 0; c < PW_TILE_OWN; c++) {
            int j = j0 + p.l + 8 * c;
            bool seen = j < p.T && (j <= i || !a.causal);
            s[r][c] = seen ? pw_dev_score(a, s[r][c], p.h, pos != NULL ? at - pos[j] : 0) : -INFINITY;
            most = fmaxf(most, s[r][c]);
        }
        most = pw_dev_tile_max(most);
        float from = most == -INFINITY ? 0.0f : most; /* no key but such as the bias hides */
        float shrink = __expf(rows[r].most - from);
        rows[r].most = most;
        rows[r].sum *= shrink;
#pragma unroll
        for (int m = 0; m < M; m++)
            acc[r][m] = make_float4(acc[r][m].x * shrink, acc[r][m].y * shrink, acc[r][m].z * shrink,
                                    acc[r][m].w * shrink);
#pragma unroll
        for (int c = 0; c < PW_TILE_OWN; c++) {
            float e = __expf(s[r][c] - from);
            rows[r].sum += e;
            if (a.mask.key != NULL)
                e = kept >> (4 * r + c) & 1 ? e * a.mask.keep : 0.0f;
            s[r][c] = e;
        }
    }
}

template <int M>
static __global__ void attend_tiles(float *z, float *save, struct pw_attend a, unsigned tiles, bool fours)
{
    PW_DYN_SHARED(float, room);
    struct pw_tile_place p;
    if (!pw_dev_tile_place(a, &p, 0, tiles))
        return;
    int ld = pw_tile_ld(a.D), own = PW_TILE_ROWS * p.warp + PW_TILE_OWN * p.g;
    size_t C = (size_t)a.heads * (size_t)a.D, w = 3 * C;
    float *q = room, *k = q + p.rows * ld, *v = k + PW_TILE_COLUMNS * ld;
    float *passed = v + PW_TILE_COLUMNS * ld + p.warp * PW_TILE_PASSED;
    const float *from = a.qkv + (size_t)p.base * w + (size_t)p.h * (size_t)a.D;
    int block_keys = a.causal ? min(p.T, p.first + p.rows) : p.T; /* that any of its queries sees */
    int warp_keys = a.causal ? min(p.T, p.first + PW_TILE_ROWS * (p.warp + 1)) : p.T;
    float4 acc[PW_TILE_OWN][M] = {};
    struct pw_row rows[PW_TILE_OWN];
#pragma unroll
    for (int r = 0; r < PW_TILE_OWN; r++)
        rows[r] = {-INFINITY, 0.0f};
    pw_dev_tile_load(q, p.rows, from, w, p.first, p.T, a.D, fours);
    for (int j0 = 0; j0 < block_keys; j0 += PW_TILE_COLUMNS) {
        __syncthreads(); /* the keys before are used up */
        pw_dev_tile_load(k, PW_TILE_COLUMNS, from + C, w, j0, p.T, a.D, fours);
        pw_dev_tile_load(v, PW_TILE_COLUMNS, from + 2 * C, w, j0, p.T, a.D, fours);
        __syncthreads();
        if (j0 >= warp_keys)
            continue;
        float s[PW_TILE_OWN][PW_TILE_OWN];
        pw_dev_tile_product(s, q + own * ld, k + p.l * ld, a.D);
        soften<M>(s, acc, rows, a, p, j0);
        pw_dev_tile_pass(passed, s, p);
        __syncwarp();
        pw_dev_tile_add<M>(acc, passed, v, min(PW_TILE_COLUMNS, warp_keys - j0), a.D, p);
    }
#pragma unroll
    for (int r = 0; r < PW_TILE_OWN; r++) {
        float sum = pw_dev_tile_sum(rows[r].sum);
        if (p.row + r >= p.T)
            continue;
        size_t row = (size_t)(p.base + p.row + r);
        pw_dev_tile_store<M>(z + row * C + (size_t)p.h * (size_t)a.D, acc[r], 1.0f / sum, a.D, fours, p.l);
        if (p.l == 0)
            save[row * (size_t)a.heads + (size_t)p.h] = rows[r].most + logf(sum);
    }
}

template <int M> static cudaError_t attend(cudaStream_t s, float *z, float *save, const struct pw_attend &a)
{
    struct pw_tile_block b = pw_tile_block_of(a, 1, 2);
    cudaError_t e = pw_tile_allow(attend_tiles<M>, b.bytes);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH(attend_tiles<M>, dim3((unsigned)a.n * b.tiles, (unsigned)a.heads), dim3(b.threads),
                     b.bytes, s, z, save, a, b.tiles, a.D % 4 == 0 && pw_fours(a.qkv, z));
}

cudaError_t pw_cuda_attention_fwd_fast(cudaStream_t s, float *z, float *save, const float *qkv,
                                       const struct pw_attn *a, const int *pos, const struct pw_seqs *seqs)
{
    struct pw_attend all = pw_attend_of(qkv, a, pos, seqs);
    if (all.rows == 0)
        return cudaSuccess;
    switch ((all.D + 31) / 32) {
    case 1: return attend<1>(s, z, save, all);
    case 2: return attend<2>(s, z, save, all);
    case 3: return attend<3>(s, z, save, all);
    default: return attend<4>(s, z, save, all);
    }
}
