/* walk_rows.cu - the vectors and factors of a walk (walk_fwd in kernels/backend.h), in the order of
 * kernels/cpu/walk_rows.c. Half a warp has one head of a row, because its length is a sum by lanes. Entries
 * of other loops depend on nothing, so each has a thread. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/maths.h"
#include "kernels/cuda/rows.h"

/* Rows of y, and of which sequences they are. start NULL: the R rows continue one sequence, of which `before`
 * rows are before y. */
struct pw_walk_source {
    const float *y;
    const int *start;
    int n, before, R;
};

/* The first row of the sequence of row r, and the row after its last. */
static __device__ __forceinline__ int2 rows_of(const struct pw_walk_source &x, int r)
{
    if (x.start == NULL)
        return make_int2(-x.before, x.R);
    int seq = pw_dev_owner(x.start, x.n, (size_t)r);
    return make_int2(x.start[seq], x.start[seq + 1]);
}

/* Entry i of z of row r, whose sequence begins at row `first`; without taps, of y. */
static __device__ __forceinline__ float convolve(const struct pw_walk_rows &w, const float *y, int r,
                                                 int first, int i)
{
    long HD = (long)w.heads * w.head_width;
    float z = 0.0f;
    if (w.taps == 0)
        return y[r * HD + i];
    for (int k = 0, row = r - w.taps + 1; k < w.taps; k++, row++)
        if (row >= first)
            z = fmaf(w.conv[i * w.taps + k], y[row * HD + i], z);
    return z;
}

/* Entry i of x of a row. */
static __device__ __forceinline__ float activate(const struct pw_walk_rows &w, const float *y, int r,
                                                 int first, int i)
{
    float z = convolve(w, y, r, first, i);
    return w.taps > 0 ? pw_dev_act(z, PW_ACT_SILU) : z;
}

/* The row r and head h of this half warp; n: entries of the head, 0 if there is no row. */
struct pw_walk_half {
    int r, h, n, first;
};
static __device__ __forceinline__ struct pw_walk_half half_of(const struct pw_walk_rows &w,
                                                              const struct pw_walk_source &x)
{
    size_t item = pw_dev_half(), H = (size_t)w.heads;
    bool in = item < (size_t)x.R * H;
    int r = in ? (int)(item / H) : 0;
    return {r, (int)(item % H), in ? w.head_width : 0, in ? rows_of(x, r).x : 0};
}

static __device__ __forceinline__ float inverse_length(float sum)
{
    return 1.0f / sqrtf(pw_dev_tree(sum) + PW_WALK_EPS);
}

static __global__ void unit_vectors(float *vectors, struct pw_walk_rows w, struct pw_walk_source x)
{
    struct pw_walk_half p = half_of(w, x);
    int lane = (int)threadIdx.x % 16, D = w.head_width;
    float sum = 0.0f;
    vectors += ((size_t)p.r * (size_t)w.heads + (size_t)p.h) * (size_t)D;
    for (int d = lane; d < p.n; d += 16) {
        float v = activate(w, x.y, p.r, p.first, p.h * D + d);
        vectors[d] = v;
        sum = fmaf(v, v, sum);
    }
    float by = inverse_length(sum);
    for (int d = lane; d < p.n; d += 16)
        vectors[d] = vectors[d] * by;
}

/* y = s(x), or twice that. */
static __global__ void shares(float *y, const float *x, bool twice, size_t n)
{
    size_t i = pw_dev_thread();
    float s, minus;
    if (i >= n)
        return;
    pw_dev_sigmoid(x[i], &s, &minus);
    y[i] = twice ? s + s : s;
}

static cudaError_t launch_shares(cudaStream_t s, float *y, const float *x, bool twice, size_t n)
{
    return PW_LAUNCH(shares, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, y, x, twice, n);
}

cudaError_t pw_cuda_walk_fwd(cudaStream_t s, float *vectors, float *factors, const float *y, const float *g,
                             int before, const struct pw_walk_rows *w, const struct pw_seqs *seqs, int R)
{
    size_t heads = (size_t)R * (size_t)w->heads;
    struct pw_walk_source x = {y, seqs != NULL ? seqs->start : NULL, seqs != NULL ? seqs->n : 1, before, R};
    if (heads == 0)
        return cudaSuccess;
    if (w->kind == PW_WALK_SCALE)
        return launch_shares(s, vectors, y, false, heads * (size_t)w->head_width);
    cudaError_t e =
        PW_LAUNCH(unit_vectors, dim3(pw_blocks(heads, PW_HALVES)), dim3(PW_THREADS), 0, s, vectors, *w, x);
    return e == cudaSuccess ? launch_shares(s, factors, g, true, heads) : e;
}

/* ---- gradients */

/* dz [R,HD] from the gradients dv of the vectors. */
static __global__ void grad_before_silu(float *dz, const float *dv, struct pw_walk_rows w,
                                        struct pw_walk_source x)
{
    struct pw_walk_half p = half_of(w, x);
    int lane = (int)threadIdx.x % 16, D = w.head_width;
    size_t at = ((size_t)p.r * (size_t)w.heads + (size_t)p.h) * (size_t)D;
    float sum = 0.0f, along = 0.0f;
    dz += at;
    dv += at;
    for (int d = lane; d < p.n; d += 16) { /* dz holds x for now */
        float v = activate(w, x.y, p.r, p.first, p.h * D + d);
        dz[d] = v;
        sum = fmaf(v, v, sum);
    }
    float by = inverse_length(sum);
    for (int d = lane; d < p.n; d += 16)
        along = fmaf(dv[d], dz[d] * by, along);
    float minus = -pw_dev_tree(along);
    for (int d = lane; d < p.n; d += 16) {
        float dx = fmaf(minus, dz[d] * by, dv[d]) * by;
        float z = convolve(w, x.y, p.r, p.first, p.h * D + d);
        dz[d] = w.taps > 0 ? pw_dev_act_grad(dx, z, PW_ACT_SILU) : dx;
    }
}

/* Entry `at` of dy [R,HD]. */
static __global__ void convolve_back(float *dy, const float *dz, struct pw_walk_rows w,
                                     struct pw_walk_source x)
{
    size_t at = pw_dev_thread(), HD = (size_t)w.heads * (size_t)w.head_width;
    if (at >= (size_t)x.R * HD)
        return;
    int r = (int)(at / HD), end = rows_of(x, r).y;
    size_t i = at % HD;
    float d = 0.0f;
    for (int row = r; row < r + w.taps && row < end; row++)
        d = fmaf(w.conv[i * (size_t)w.taps + (size_t)(w.taps - 1 - (row - r))], dz[(size_t)row * HD + i], d);
    dy[at] = d;
}

/* Entry `at` of the weights [HD,taps]: a chain over rows. */
static __global__ void sum_taps(float *d_conv, const float *dz, struct pw_walk_rows w,
                                struct pw_walk_source x)
{
    size_t at = pw_dev_thread(), HD = (size_t)w.heads * (size_t)w.head_width, taps = (size_t)w.taps;
    if (at >= HD * taps)
        return;
    size_t i = at / taps, back = taps - 1 - at % taps; /* how many rows before */
    float sum = d_conv[at];
    for (int s = 0; s < x.n; s++)
#pragma unroll 4
        for (size_t r = (size_t)x.start[s] + back; r < (size_t)x.start[s + 1]; r++)
            sum = fmaf(dz[r * HD + i], x.y[(r - back) * HD + i], sum);
    d_conv[at] = sum;
}

/* y = d * s(x) * s(-x), with s(x) doubled first if `twice`. */
static __global__ void grad_shares(float *y, const float *d, const float *x, bool twice, size_t n)
{
    size_t i = pw_dev_thread();
    float s, minus;
    if (i >= n)
        return;
    pw_dev_sigmoid(x[i], &s, &minus);
    y[i] = d[i] * ((twice ? s + s : s) * minus);
}

static cudaError_t launch_grad_shares(cudaStream_t s, float *y, const float *d, const float *x, bool twice,
                                      size_t n)
{
    return PW_LAUNCH(grad_shares, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, y, d, x, twice, n);
}

size_t pw_cuda_walk_bwd_floats(const struct pw_walk_rows *w, int R)
{
    return w->taps > 0 ? (size_t)R * (size_t)w->heads * (size_t)w->head_width : 0;
}

cudaError_t pw_cuda_walk_bwd(cudaStream_t s, float *dy, float *dg, float *d_conv, const float *d_vectors,
                             const float *d_factors, const float *y, const float *g,
                             const struct pw_walk_rows *w, const struct pw_seqs *seqs, float *room)
{
    size_t heads = (size_t)seqs->rows * (size_t)w->heads, HD = (size_t)w->heads * (size_t)w->head_width,
           n = heads * (size_t)w->head_width;
    struct pw_walk_source x = {y, seqs->start, seqs->n, 0, seqs->rows};
    if (heads == 0)
        return cudaSuccess;
    if (w->kind == PW_WALK_SCALE)
        return launch_grad_shares(s, dy, d_vectors, y, false, n);
    cudaError_t e = PW_LAUNCH(grad_before_silu, dim3(pw_blocks(heads, PW_HALVES)), dim3(PW_THREADS), 0, s,
                              w->taps > 0 ? room : dy, d_vectors, *w, x);
    if (e == cudaSuccess && w->taps > 0)
        e = PW_LAUNCH(convolve_back, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, dy, room, *w, x);
    if (e == cudaSuccess && w->taps > 0)
        e = PW_LAUNCH(sum_taps, dim3(pw_blocks(HD * (size_t)w->taps, PW_THREADS)), dim3(PW_THREADS), 0, s,
                      d_conv, room, *w, x);
    return e == cudaSuccess ? launch_grad_shares(s, dg, d_factors, g, true, heads) : e;
}
