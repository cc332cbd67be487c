/* adamw.cu - AdamW (Loshchilov and Hutter 2019) over the flat parameter buffer: the operations of
 * kernels/cpu/adamw.c in their order.
 *
 * One block handles one tile. The device itself reads *sumsq to decide whether the step happens and how much
 * the gradient is scaled down, so no step waits for the host. Weights that products read in bf16 are rounded
 * in the same pass. The terms of the two sums over a tile are kept in shared memory, the sixteen numbers of a
 * group side by side: one warp adds both at once. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tiles.h"

struct step {
    float beta1, beta2, keep1, keep2, eps, minus_lr, minus_decay, c1, c2, k;
};

/* The segment of a tile: the last one that begins at or before the tile. */
static __device__ __forceinline__ int find(const struct pw_adamw_seg *segs, int n_segs, size_t tile)
{
    int low = 0, high = n_segs;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (segs[middle].tile <= tile)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static __device__ __forceinline__ float clip_factor(double sumsq, float clip)
{
    double norm = sqrt(sumsq);
    return clip > 0.0f && norm > (double)clip ? (float)((double)clip / norm) : 1.0f;
}

/* Updates one parameter; returns its change. */
static __device__ __forceinline__ float update(float *p, float *m, float *v, float g, const struct step &s)
{
    float d = s.k * g, old = *p;
    *m = fmaf(s.beta1, *m, s.keep1 * d);
    *v = fmaf(s.beta2, *v, s.keep2 * (d * d));
    float by = (*m * s.c1) / (sqrtf(*v * s.c2) + s.eps);
    *p = fmaf(s.minus_lr, by, fmaf(s.minus_decay, old, old));
    return *p - old;
}

static __global__ void adamw_tiles(float *__restrict__ p, float *__restrict__ m, float *__restrict__ v,
                                   const float *__restrict__ g, const double *__restrict__ sumsq,
                                   const struct pw_adamw_seg *__restrict__ segs, int n_segs,
                                   struct pw_adamw h, double *__restrict__ partial, bool fours)
{
    PW_SHARED(float, sums, [PW_TILE / 16][2][16]); /* change, old value */
    PW_SHARED(float, factor, [1]);
    PW_SHARED(int, segment, [1]);
    double square = *sumsq;
    if (!isfinite(square)) {
        if (threadIdx.x < 2)
            partial[2 * (size_t)blockIdx.x + threadIdx.x] = 0.0;
        return;
    }
    if (threadIdx.x == 0) {
        *segment = find(segs, n_segs, blockIdx.x);
        *factor = clip_factor(square, h.clip);
    }
    __syncthreads();
    struct pw_adamw_seg seg = segs[*segment];
    struct step s = {h.beta1, h.beta2, 1.0f - h.beta1, 1.0f - h.beta2, h.eps, -seg.lr, -(seg.lr * seg.decay),
                     seg.c1,  seg.c2,  *factor};
    size_t first = ((size_t)blockIdx.x - seg.tile) * PW_TILE;
    int left = seg.n - first < PW_TILE ? (int)(seg.n - first) : PW_TILE;
    uint16_t *pack = seg.pack != NULL ? seg.pack + first : NULL;
    fours = fours && seg.offset % 4 == 0 && seg.place % 4 == 0 && (uintptr_t)pack % sizeof(uint2) == 0;
    for (int i = 4 * (int)threadIdx.x; i < left; i += 4 * PW_THREADS) {
        size_t at = seg.place + first + (size_t)i;
        float *param = p + seg.offset + first + (size_t)i;
        int n = left - i;
        float4 gi = pw_dev_load_4(g + at, n, fours), mi = pw_dev_load_4(m + at, n, fours);
        float4 vi = pw_dev_load_4(v + at, n, fours), pi = pw_dev_load_4(param, n, fours), by, old = pi;
        by.x = update(&pi.x, &mi.x, &vi.x, gi.x, s);
        by.y = update(&pi.y, &mi.y, &vi.y, gi.y, s);
        by.z = update(&pi.z, &mi.z, &vi.z, gi.z, s);
        by.w = update(&pi.w, &mi.w, &vi.w, gi.w, s);
        pw_dev_store_4(m + at, n, fours, mi);
        pw_dev_store_4(v + at, n, fours, vi);
        pw_dev_store_4(param, n, fours, pi);
        if (pack != NULL)
            pw_dev_store_rounded_4(pack + i, n, fours, pi);
        pw_dev_store_4(&sums[i / 16][0][i % 16], 4, true, by);
        pw_dev_store_4(&sums[i / 16][1][i % 16], 4, true, old);
    }
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    int which = (int)threadIdx.x / 16;
    float sum = pw_dev_squares(sums[0][which], 32, left);
    if (threadIdx.x % 16 == 0)
        partial[2 * (size_t)blockIdx.x + (size_t)which] = (double)sum;
}

static __device__ __forceinline__ size_t tiles_of(const struct pw_adamw_seg *seg)
{
    return (seg->n + PW_TILE - 1) / PW_TILE;
}

/* One block per segment. */
static __global__ void add_moved_ref(double *moved, const double *partial, const struct pw_adamw_seg *segs)
{
    PW_SHARED(double, turn, [PW_ADDERS]);
    const struct pw_adamw_seg *seg = &segs[blockIdx.x];
    double sum = pw_dev_ascending(turn, partial + 2 * seg->tile, 2 * tiles_of(seg), 2);
    if (threadIdx.x < 2)
        moved[2 * (size_t)blockIdx.x + threadIdx.x] = sum;
}

/* One block for each of the two sums (blockIdx.y) of a segment. */
static __global__ void __launch_bounds__(PW_THREADS, 1)
    add_moved_fast(double *moved, const double *partial, const struct pw_adamw_seg *segs)
{
    PW_SHARED(double, warps, [PW_WARPS]);
    const struct pw_adamw_seg *seg = &segs[blockIdx.x];
    double sum = pw_dev_shared_out(warps, partial + 2 * seg->tile + blockIdx.y, tiles_of(seg), 2);
    if (threadIdx.x == 0)
        moved[2 * (size_t)blockIdx.x + blockIdx.y] = sum;
}

cudaError_t pw_cuda_adamw(cudaStream_t s, float *p, float *m, float *v, const float *g, const double *sumsq,
                          const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles,
                          const struct pw_adamw *h, double *moved, double *moved_partial, bool ascending)
{
    if (n_segs == 0)
        return cudaSuccess;
    if (n_tiles > 0) {
        cudaError_t e = PW_LAUNCH(adamw_tiles, dim3((unsigned)n_tiles), dim3(PW_THREADS), 0, s, p, m, v, g,
                                  sumsq, segs, n_segs, *h, moved_partial, pw_fours(p, m, v, g));
        if (e != cudaSuccess)
            return e;
    }
    if (ascending)
        return PW_LAUNCH(add_moved_ref, dim3((unsigned)n_segs), dim3(PW_ADDERS), 0, s, moved, moved_partial,
                         segs);
    return PW_LAUNCH(add_moved_fast, dim3((unsigned)n_segs, 2), dim3(PW_THREADS), 0, s, moved, moved_partial,
                     segs);
}
