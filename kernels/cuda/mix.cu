/* mix.cu - the gradients of a bias that the query mixes (struct pw_mix) in the order of kernels/backend.h.
 *
 * A warp first sums the dS of each query by distance. From these sums one thread computes each gradient of a
 * weight, and one thread each of the bank's, which is a chain over all rows and heads. */
#include "kernels/cuda/attention_ref.h"

size_t pw_mix_floats(const struct pw_attend &a)
{
    return a.rows * (size_t)a.heads * (size_t)a.mix.reach;
}

/* Do the position ids of the keys ascend by one? Then key i - d is the only one at distance d. */
static __device__ __forceinline__ bool is_ordered(const struct pw_attend &a, const struct pw_place &p,
                                                  int keys)
{
    bool ordered = true;
    for (int j = (int)(threadIdx.x % 32); j < keys; j += 32)
        ordered = ordered && pw_dev_distance(a, p.r, (size_t)(p.base + j)) == p.i - j;
    return __all_sync(PW_ALL_LANES, ordered);
}

/* The sum of ds over the keys at `distance`, ascending from +0, in the lane that asks for it. */
static __device__ __forceinline__ float sum_at(int distance, const float *ds, const struct pw_attend &a,
                                               const struct pw_place &p, int keys)
{
    int lane = (int)(threadIdx.x % 32);
    float sum = 0.0f;
    for (int first = 0; first < keys; first += 32) {
        int j = first + lane;
        float d = j < keys ? ds[j] : 0.0f;
        int apart = j < keys ? pw_dev_distance(a, p.r, (size_t)(p.base + j)) : -1;
        for (int m = 0; m < 32 && first + m < keys; m++) {
            float other = __shfl_sync(PW_ALL_LANES, d, m);
            if (__shfl_sync(PW_ALL_LANES, apart, m) == distance)
                sum += other;
        }
    }
    return sum;
}

/* sums [R,H,reach] */
static __global__ void sum_distances(float *sums, const float *ds, struct pw_attend a)
{
    struct pw_place p;
    if (!pw_dev_place(a, &p))
        return;
    int keys = a.causal ? p.i + 1 : p.T, reach = a.mix.reach, lane = (int)(threadIdx.x % 32);
    ds += pw_dev_ds_row(a, p, p.i);
    sums += (p.r * (size_t)a.heads + (size_t)p.h) * (size_t)reach;
    bool ordered = is_ordered(a, p, keys);
    for (int d = lane; d - lane < reach; d += 32) {
        float sum = !ordered ? sum_at(d, ds, a, p, keys) : d <= p.i ? 0.0f + ds[p.i - d] : 0.0f;
        if (d < reach)
            sums[d] = sum;
    }
}

/* Entry `at` of the weights [R,H,M]. */
static __global__ void weight_gradients(const float *sums, struct pw_attend a)
{
    size_t at = pw_dev_thread(), M = (size_t)a.mix.mixes, reach = (size_t)a.mix.reach;
    if (at >= a.rows * (size_t)a.heads * M)
        return;
    size_t item = at / M, row = item / (size_t)a.heads;
    const float *bank = a.mix.bank + at % M * reach;
    float sum = 0.0f;
    sums += item * reach;
#pragma unroll 4
    for (size_t d = reach; d > 0; d--)
        sum = fmaf(sums[d - 1], bank[d - 1], sum);
    a.mix.d_weights[at] = sum * pw_dev_mix_gain(a, (int)(item % (size_t)a.heads), row);
}

/* Entry `at` of the bank [M,reach]. */
static __global__ void bank_gradients(const float *sums, struct pw_attend a)
{
    size_t at = pw_dev_thread(), M = (size_t)a.mix.mixes, reach = (size_t)a.mix.reach, H = (size_t)a.heads;
    if (at >= M * reach)
        return;
    float sum = a.mix.d_bank[at];
    for (int s = 0; s < a.n; s++)
        for (size_t h = 0; h < H; h++)
#pragma unroll 4
            for (size_t i = (size_t)a.start[s]; i < (size_t)a.start[s + 1]; i++) {
                float weight = a.mix.weights[(i * H + h) * M + at / reach] * pw_dev_mix_gain(a, (int)h, i);
                sum = fmaf(weight, sums[(i * H + h) * reach + at % reach], sum);
            }
    a.mix.d_bank[at] = sum;
}

cudaError_t pw_mix_bwd(cudaStream_t s, float *sums, const float *ds, const struct pw_attend &a)
{
    size_t items = a.rows * (size_t)a.heads, weights = items * (size_t)a.mix.mixes,
           bank = (size_t)a.mix.mixes * (size_t)a.mix.reach;
    cudaError_t e =
        PW_LAUNCH(sum_distances, dim3(pw_blocks(items, PW_WARPS)), dim3(PW_THREADS), 0, s, sums, ds, a);
    if (e == cudaSuccess)
        e = PW_LAUNCH(weight_gradients, dim3(pw_blocks(weights, PW_THREADS)), dim3(PW_THREADS), 0, s, sums,
                      a);
    if (e == cudaSuccess)
        e = PW_LAUNCH(bank_gradients, dim3(pw_blocks(bank, PW_THREADS)), dim3(PW_THREADS), 0, s, sums, a);
    return e;
}
