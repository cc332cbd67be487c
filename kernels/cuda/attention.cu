/* attention.cu - the forward pass of attention in mode fast. Softmax is computed online, key by key
 * (Milakov and Gimelshein 2018), so no map is written (Dao et al. 2022). For the backward pass it stores
 * the logarithm of each row's sum of exponentials. */
#include "kernels/cuda/attention_bf16.h"
#include "kernels/cuda/attention_fp32.h"

/* The softmax state of one query in one lane. */
struct so_far {
    float most, sum; /* sum: over this lane's keys only */
};

/* s: q.k of a tile of keys; replaced by the weights of v. Rescales z to the new maximum. */
template <class E>
static __device__ __forceinline__ void
soften(const E &tile, float s[E::ROWS][E::COLUMNS], typename E::sums &z, struct so_far rows[E::ROWS],
       const struct pw_attend &a, const struct pw_tile_place &p, int j0)
{
    const int *pos = a.bias != NULL ? a.pos + p.base : NULL;
    unsigned kept = a.mask.key != NULL ? tile.kept(a, p, j0) : 0;
#pragma unroll
    for (int r = 0; r < E::ROWS; r++) {
        int i = p.warp_first + tile.row(r);
        const float *bias = pos != NULL ? pw_dev_bias(a, p.h, pos[min(i, p.T - 1)]) : NULL;
        float most = rows[r].most;
#pragma unroll
        for (int c = 0; c < E::COLUMNS; c++) {
            int j = j0 + tile.column(c);
            bool seen = j < p.T && (j <= i || !a.causal);
            s[r][c] = seen ? pw_dev_score(a, s[r][c], bias, bias != NULL ? pos[j] : 0) : -INFINITY;
            most = fmaxf(most, s[r][c]);
        }
        most = tile.largest(most);
        float from = most == -INFINITY ? 0.0f : most; /* the bias has hidden every key so far */
        float shrink = __expf(rows[r].most - from);
        rows[r].most = most;
        rows[r].sum *= shrink;
        z.scale(r, shrink);
#pragma unroll
        for (int c = 0; c < E::COLUMNS; c++) {
            float e = __expf(s[r][c] - from);
            rows[r].sum += e;
            if (a.mask.key != NULL)
                e = kept >> (E::COLUMNS * r + c) & 1 ? e * a.mask.keep : 0.0f;
            s[r][c] = e;
        }
    }
}

template <enum pw_with WITH, class E>
static __global__ void attend_tiles(float *z, uint16_t *copy, float *save,
                                    typename pw_attend_with<WITH>::type a, unsigned tiles)
{
    PW_DYN_SHARED(uint32_t, room);
    struct pw_tile_place p;
    if (!pw_dev_tile_place(a, &p, 0, tiles))
        return;
    size_t D = (size_t)a.D, C = (size_t)a.heads * D;
    uint32_t *q = room, *k = q + E::row_words(p.rows, a.D), *v = k + E::column_words(PW_USE_PRODUCT, a.D);
    E tile(a.D, v + E::column_words(PW_USE_ADD, a.D) + p.warp * E::EXTRA);
    struct pw_source of_q = {a.qkv + (size_t)p.base * 3 * C + (size_t)p.h * D, 3 * C, p.T, a.D, a.fours};
    struct pw_source of_k = of_q, of_v = of_q;
    of_k.p += C;
    of_v.p += 2 * C;
    int block_keys = a.causal ? min(p.T, p.first + p.rows) : p.T; /* keys that any of its queries sees */
    int warp_keys = a.causal ? min(p.T, p.warp_first + PW_TILE_ROWS) : p.T;
    typename E::sums sums;
    struct so_far rows[E::ROWS];
    sums.zero();
#pragma unroll
    for (int r = 0; r < E::ROWS; r++)
        rows[r] = {-INFINITY, 0.0f};
    pw_dev_load_rows<WITH>(tile, q, of_q, a, p, true, p.first, p.rows);
    for (int j0 = 0; j0 < block_keys; j0 += PW_TILE_COLUMNS) {
        __syncthreads(); /* the previous keys are no longer needed */
        pw_dev_load_columns<WITH>(tile, k, PW_USE_PRODUCT, of_k, a, p, false, j0);
        tile.load_columns(v, PW_USE_ADD, of_v, j0);
        __syncthreads();
        if (j0 >= warp_keys)
            continue;
        float s[E::ROWS][E::COLUMNS];
        tile.product(s, q, PW_TILE_ROWS * p.warp, k);
        if (WITH == PW_WITH_KEYS)
            pw_dev_add_dots<false>(tile, s, a, p, j0);
        soften(tile, s, sums, rows, a, p, j0);
        tile.add(sums, s, v, min(PW_TILE_COLUMNS, warp_keys - j0), PW_USE_ADD);
    }
#pragma unroll
    for (int r = 0; r < E::ROWS; r++) {
        float sum = tile.total(rows[r].sum);
        int i = p.warp_first + tile.row(r);
        if (i >= p.T)
            continue;
        size_t row = (size_t)(p.base + i);
        sums.scale(r, 1.0f / sum);
        size_t at = row * C + (size_t)p.h * D;
        tile.store(z + at, copy != NULL ? copy + at : NULL, sums, r, a.fours);
        if (tile.leads())
            save[row * (size_t)a.heads + (size_t)p.h] = rows[r].most + logf(sum);
    }
}

template <enum pw_with WITH, class E>
static cudaError_t attend(cudaStream_t s, float *z, uint16_t *copy, float *save,
                          typename pw_attend_with<WITH>::type a)
{
    a.fours = a.fours && pw_fours(z, copy);
    struct pw_tile_block b =
        pw_tile_block_of<E>(a, 1, E::column_words(PW_USE_PRODUCT, a.D) + E::column_words(PW_USE_ADD, a.D));
    cudaError_t e = pw_tile_allow(attend_tiles<WITH, E>, b.bytes);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH((attend_tiles<WITH, E>), dim3((unsigned)a.n * b.tiles, (unsigned)a.heads),
                     dim3(b.threads), b.bytes, s, z, copy, save, a, b.tiles);
}

template <enum pw_with WITH, template <int> class E>
static cudaError_t attend_any(cudaStream_t s, float *z, uint16_t *copy, float *save,
                              const struct pw_turned_attend &a)
{
    switch ((a.D + 31) / 32) {
    case 1: return attend<WITH, E<1>>(s, z, copy, save, a);
    case 2: return attend<WITH, E<2>>(s, z, copy, save, a);
    case 3: return attend<WITH, E<3>>(s, z, copy, save, a);
    default: return attend<WITH, E<4>>(s, z, copy, save, a);
    }
}

template <template <int> class E>
static cudaError_t attend_with(cudaStream_t s, float *z, uint16_t *copy, float *save,
                               const struct pw_turned_attend &a)
{
    switch (pw_with_of(a)) {
    case PW_WITH_KEYS: return attend_any<PW_WITH_KEYS, E>(s, z, copy, save, a);
    case PW_WITH_TURN: return attend_any<PW_WITH_TURN, E>(s, z, copy, save, a);
    default: return attend_any<PW_WITH_NOTHING, E>(s, z, copy, save, a);
    }
}

size_t pw_cuda_attention_dots(const struct pw_attn *a, const struct pw_seqs *seqs)
{
    return pw_relative_floats(pw_attend_of(NULL, a, NULL, seqs));
}

cudaError_t pw_cuda_attention_fwd_fast(cudaStream_t s, float *z, uint16_t *copy, float *save,
                                       const float *qkv, const struct pw_attn *a, const int *pos,
                                       const struct pw_seqs *seqs, float *dots, bool bf16)
{
    struct pw_turned_attend all = pw_turned_attend_of(qkv, a, pos, seqs);
    if (all.rows == 0)
        return cudaSuccess;
    if (all.keys != NULL) {
        cudaError_t e = pw_relative_dots(s, dots, all);
        if (e != cudaSuccess)
            return e;
        all.dots = dots;
    }
    return bf16 ? attend_with<pw_bf16>(s, z, copy, save, all) : attend_with<pw_fp32>(s, z, copy, save, all);
}
