/* turn_bwd.cu - gradients of learned tables of cosines, sines and gains, as kernels/backend.h defines them.
 *
 * Each row's terms are computed first; scatter_sum.h then adds the rows with the same position id. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/scatter_sum.h"
#include "kernels/cuda/turn.h"

/* Where entry e of a head is in its pair. */
struct pair {
    int a, b, number; /* entries of the head; number < 0: it is not rotated */
    bool second;
};

static __device__ __forceinline__ struct pair pair_of(const struct pw_turn &t, int e)
{
    bool half = t.pairing == PW_PAIRING_HALF;
    int p = e >= 2 * t.pairs ? -1 : half ? e % t.pairs : e / 2, a = half ? p : 2 * p;
    struct pair x = {a, half ? p + t.pairs : a + 1, p, half ? e >= t.pairs : e % 2 == 1};
    return x;
}

/* Entry e of the head x, rotated by row `row` of the tables. */
static __device__ __forceinline__ float turned(const float *x, const struct pw_turn &t, int row, int e)
{
    struct pair p = pair_of(t, e);
    if (p.number < 0)
        return x[e];
    size_t angle = (size_t)row * (size_t)t.pairs + (size_t)p.number;
    float2 v = pw_dev_turn(x[p.a], x[p.b], t.cosine[angle], t.sine[angle]);
    return p.second ? v.y : v.x;
}

/* out [R,H]: the sums by lanes of dq and the rotated q. A half warp has one head of one row. */
static __global__ void gain_terms(float *out, const float *dqkv, const float *qkv, struct pw_turn t,
                                  const int *pos, int H, int D, int R)
{
    size_t n = pw_dev_half();
    int lane = (int)threadIdx.x % 16;
    bool there = n < (size_t)R * (size_t)H;
    size_t r = there ? n / (size_t)H : 0,
           at = r * 3 * (size_t)(H * D) + (there ? n % (size_t)H : 0) * (size_t)D;
    float sum = 0;
    for (int e = lane; there && e < D; e += 16)
        sum = fmaf(dqkv[at + (size_t)e], turned(qkv + at, t, pos[r], e), sum);
    sum = pw_dev_tree(sum);
    if (there && lane == 0)
        out[n] = sum;
}

/* cosine and sine [R,pairs], of heads first .. last-1: those of q come before those of k. A thread has one
 * pair of one row. */
static __global__ void angle_terms(float *cosine, float *sine, const float *dqkv, const float *qkv,
                                   struct pw_turn t, const int *pos, int H, int D, int R, int first, int last)
{
    size_t n = pw_dev_thread(), r = n / (size_t)t.pairs, row = r * 3 * (size_t)(H * D);
    if (r >= (size_t)R)
        return;
    int number = (int)(n % (size_t)t.pairs);
    struct pair p = pair_of(t, t.pairing == PW_PAIRING_HALF ? number : 2 * number);
    float of_cosine = 0, of_sine = 0;
    for (int h = first; h < last; h++) {
        const float *d = dqkv + row + h * D, *x = qkv + row + h * D;
        float gain = pw_dev_gain(t, h, pos[r], h < H), da = d[p.a] * gain, db = d[p.b] * gain;
        of_cosine = fmaf(db, x[p.b], fmaf(da, x[p.a], of_cosine));
        of_sine = fmaf(-da, x[p.b], fmaf(db, x[p.a], of_sine));
    }
    cosine[n] = of_cosine;
    sine[n] = of_sine;
}

size_t pw_cuda_turn_bwd_floats(const struct pw_turn *t, int H, int R)
{
    return (size_t)R * (size_t)(H + 2 * t->pairs);
}

static cudaError_t add_gains(cudaStream_t s, float *d_gain, const float *dqkv, const float *qkv,
                             const struct pw_turn *t, const int *pos, int H, int D, int R, float *room)
{
    struct pw_scatter_from from = {room, (size_t)H, 1, R, 0, 1.0f};
    cudaError_t e = PW_LAUNCH(gain_terms, dim3(pw_blocks((size_t)R * (size_t)H, PW_HALVES)), dim3(PW_THREADS),
                              0, s, room, dqkv, qkv, *t, pos, H, D, R);
    for (int h = 0; h < H && e == cudaSuccess; h++, from.p++)
        e = pw_scatter_sum(s, d_gain + (size_t)h * (size_t)t->gain_head, from, pos, R, 1);
    return e;
}

/* Adds the terms of heads first .. last-1 to rows of the tables that begin at row `at`. */
static cudaError_t add_angles(cudaStream_t s, const struct pw_turn_grad *d, const float *dqkv,
                              const float *qkv, const struct pw_turn *t, const int *pos, int H, int D, int R,
                              float *room, int first, int last, int at)
{
    size_t n = (size_t)R * (size_t)t->pairs, table = (size_t)at * (size_t)t->pairs;
    struct pw_scatter_from from = {room, (size_t)t->pairs, 1, R, 0, 1.0f};
    cudaError_t e = PW_LAUNCH(angle_terms, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, room,
                              room + n, dqkv, qkv, *t, pos, H, D, R, first, last);
    if (e == cudaSuccess)
        e = pw_scatter_sum(s, d->cosine + table, from, pos, R, t->pairs);
    from.p += n;
    return e == cudaSuccess ? pw_scatter_sum(s, d->sine + table, from, pos, R, t->pairs) : e;
}

cudaError_t pw_cuda_turn_bwd(cudaStream_t s, float *dqkv, const struct pw_turn_grad *d, const float *qkv,
                             const struct pw_turn *t, const int *pos, int H, int D, int R, float *room)
{
    cudaError_t e = cudaSuccess;
    float *terms = room + (size_t)R * (size_t)H;
    bool angles = d->cosine != NULL && t->pairs > 0, apart = t->keys_at > 0;
    if (R == 0)
        return e;
    if (d->gain != NULL)
        e = add_gains(s, d->gain, dqkv, qkv, t, pos, H, D, R, room);
    if (e == cudaSuccess && angles)
        e = add_angles(s, d, dqkv, qkv, t, pos, H, D, R, terms, 0, apart ? H : 2 * H, 0);
    if (e == cudaSuccess && angles && apart)
        e = add_angles(s, d, dqkv, qkv, t, pos, H, D, R, terms, H, 2 * H, t->keys_at);
    return e == cudaSuccess ? pw_cuda_rotate(s, dqkv, dqkv, t, pos, true, H, D, R) : e;
}
