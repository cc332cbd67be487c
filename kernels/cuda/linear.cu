/* linear.cu - linear layers in the order of kernels/backend.h, on CUDA cores.
 *
 * Every output is one chain of fmaf over k in ascending order, held by one thread from its first product to
 * its last. k is never split, so tile sizes cannot change bits. A block computes 64 x 64 outputs. Sixteen k
 * of both operands are in shared memory, k by k, so that a thread reads the operands of its 4 x 4 outputs as
 * two float4; the next sixteen are loaded meanwhile. After the last k nothing is multiplied, because fmaf(0,
 * 0, -0) would be +0. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/linear.h"

enum {
    SIDE = 64,         /* rows, and columns, of a block's outputs */
    OWN = 4,           /* the same of a thread's: one float4 */
    EDGE = SIDE / OWN, /* threads of a block in each direction */
    DEPTH = 16,        /* k in shared memory: each thread fetches one float4 of each operand */
    PITCH = EDGE + 1,  /* float4 from k to k: halves the bank conflicts of transposed stores */
};

/* n vectors over k. along_k: a vector is a row of the matrix; otherwise each k is a row. */
struct operand {
    const float *p;
    size_t n, ld; /* ld: from row to row */
    bool wide;    /* rows begin at multiples of 16 bytes */
};

/* This thread's four numbers of k0 .. k0+15 of vectors i0 .. i0+63; zeros after the last vector. */
template <bool along_k>
static __device__ __forceinline__ float4 fetch(const operand &a, size_t i0, size_t k0, size_t K)
{
    size_t t = threadIdx.x, row, column, rows, columns;
    if (along_k) {
        row = i0 + t / (DEPTH / 4), rows = a.n;
        column = k0 + t % (DEPTH / 4) * 4, columns = K;
    } else {
        row = k0 + t / EDGE, rows = K;
        column = i0 + t % EDGE * 4, columns = a.n;
    }
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row >= rows || column >= columns)
        return v;
    const float *p = a.p + row * a.ld + column;
    size_t left = columns - column;
    if (a.wide && left >= 4)
        return *(const float4 *)p;
    v.x = p[0];
    if (left > 1)
        v.y = p[1];
    if (left > 2)
        v.z = p[2];
    if (left > 3)
        v.w = p[3];
    return v;
}

template <bool along_k> static __device__ __forceinline__ void keep(float4 (*to)[PITCH], float4 v)
{
    unsigned t = threadIdx.x;
    if (!along_k) {
        to[t / EDGE][t % EDGE] = v;
        return;
    }
    float *column = (float *)to[t % (DEPTH / 4) * 4] + t / (DEPTH / 4);
    column[0 * PITCH * 4] = v.x;
    column[1 * PITCH * 4] = v.y;
    column[2 * PITCH * 4] = v.z;
    column[3 * PITCH * 4] = v.w;
}

static __device__ __forceinline__ void multiply(float acc[OWN][OWN], const float4 *a, const float4 *b)
{
    float x[OWN] = {a->x, a->y, a->z, a->w}, y[OWN] = {b->x, b->y, b->z, b->w};
#pragma unroll
    for (int i = 0; i < OWN; i++)
#pragma unroll
        for (int j = 0; j < OWN; j++)
            acc[i][j] = fmaf(x[i], y[j], acc[i][j]);
}

/* Computes outputs (i, j), i < a.n and j < b.n: the chain that starts at end.begin(i, j), over a[i][k] *
 * b[j][k], k < K. Passes it to end.put. */
template <bool a_along_k, bool b_along_k, class end_of>
static __global__ void __launch_bounds__(EDGE *EDGE) product(operand a, operand b, size_t K, end_of end)
{
    PW_SHARED(float4, left, [2][DEPTH][PITCH]);
    PW_SHARED(float4, right, [2][DEPTH][PITCH]);
    unsigned column = threadIdx.x % EDGE, line = threadIdx.x / EDGE;
    size_t i0 = (size_t)blockIdx.x * SIDE, j0 = (size_t)blockIdx.y * SIDE;
    size_t i1 = i0 + line * OWN, j1 = j0 + column * OWN;
    bool some = i1 < a.n && j1 < b.n; /* how many of this thread's outputs exist */
    float acc[OWN][OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++)
#pragma unroll
        for (int j = 0; j < OWN; j++)
            acc[i][j] = i1 + i < a.n && j1 + j < b.n ? end.begin(i1 + i, j1 + j) : 0.0f;

    keep<a_along_k>(left[0], fetch<a_along_k>(a, i0, 0, K));
    keep<b_along_k>(right[0], fetch<b_along_k>(b, j0, 0, K));
    __syncthreads();
    int half = 0;
    for (size_t k0 = 0; k0 < K; k0 += DEPTH, half ^= 1) {
        bool more = k0 + DEPTH < K;
        float4 x = make_float4(0.0f, 0.0f, 0.0f, 0.0f),
               y = x; /* gcc 14 doesn't see that `more` guards both uses */
        if (more) {
            x = fetch<a_along_k>(a, i0, k0 + DEPTH, K);
            y = fetch<b_along_k>(b, j0, k0 + DEPTH, K);
        }
        if (some && K - k0 >= DEPTH) {
#pragma unroll
            for (int k = 0; k < DEPTH; k++)
                multiply(acc, &left[half][k][line], &right[half][k][column]);
        } else if (some) {
            for (int k = 0; k < (int)(K - k0); k++)
                multiply(acc, &left[half][k][line], &right[half][k][column]);
        }
        if (more) { /* all threads have read this half before the last round's barrier */
            keep<a_along_k>(left[half ^ 1], x);
            keep<b_along_k>(right[half ^ 1], y);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < OWN; i++)
#pragma unroll
        for (int j = 0; j < OWN; j++)
            if (i1 + i < a.n && j1 + j < b.n) {
                float v[1] = {acc[i][j]};
                end.put(v, i1 + i, j1 + j);
            }
}

/* These chains start at +0. */
struct fwd_end : pw_fwd_end {
    __device__ __forceinline__ float begin(size_t, size_t) const
    {
        return 0.0f;
    }
};

struct dx_end : pw_dx_end<float> {
    __device__ __forceinline__ float begin(size_t, size_t) const
    {
        return 0.0f;
    }
};

struct dw_end {
    float *dw; /* [out,in] */
    bool add;
    size_t in;

    __device__ __forceinline__ float begin(size_t o, size_t i) const
    {
        return add ? dw[o * in + i] : 0.0f;
    }
    __device__ __forceinline__ void put(float (&sum)[1], size_t o, size_t i) const
    {
        dw[o * in + i] = sum[0];
    }
};

/* d_bias [out]: one thread per column, rows ascending. */
static __global__ void bias_chain(float *d_bias, const float *dy, bool add, size_t R, size_t out)
{
    size_t o = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (o < out) {
        float sum = add ? d_bias[o] : 0.0f;
#pragma unroll 16
        for (size_t r = 0; r < R; r++)
            sum = sum + dy[r * out + o];
        d_bias[o] = sum;
    }
}

static operand make_operand(const float *p, int n, int ld)
{
    bool wide = (uintptr_t)p % sizeof(float4) == 0 && ld % 4 == 0;
    operand a = {p, (size_t)n, (size_t)ld, wide};
    return a;
}

static dim3 blocks(int m, int n)
{
    return dim3((unsigned)(m - 1) / SIDE + 1, (unsigned)(n - 1) / SIDE + 1);
}

cudaError_t pw_cuda_linear_fwd_ref(cudaStream_t s, float *y, float *pre, const float *x, const float *w,
                                   const float *bias, const float *residual, enum pw_act act, int R, int in,
                                   int out)
{
    if (R == 0)
        return cudaSuccess;
    fwd_end end;
    static_cast<pw_fwd_end &>(end) = {y, pre, NULL, bias, residual, act, (size_t)out};
    return PW_LAUNCH((product<true, true, fwd_end>), blocks(R, out), EDGE * EDGE, 0, s,
                     make_operand(x, R, in), make_operand(w, out, in), (size_t)in, end);
}

cudaError_t pw_cuda_linear_dx_ref(cudaStream_t s, float *dx, const float *dy, const float *w, enum pw_act act,
                                  const float *saved, float scale, int R, int in, int out)
{
    if (R == 0)
        return cudaSuccess;
    dx_end end;
    static_cast<pw_dx_end<float> &>(end) = {dx, NULL, saved, act, scale, (size_t)in};
    return PW_LAUNCH((product<true, false, dx_end>), blocks(R, in), EDGE * EDGE, 0, s,
                     make_operand(dy, R, out), make_operand(w, in, in), (size_t)out, end);
}

cudaError_t pw_cuda_linear_dw_ref(cudaStream_t s, float *dw, float *d_bias, const float *dy, const float *x,
                                  bool add, int out, int in, int R)
{
    dw_end end = {dw, add, (size_t)in};
    cudaError_t e = PW_LAUNCH((product<false, false, dw_end>), blocks(out, in), EDGE * EDGE, 0, s,
                              make_operand(dy, out, out), make_operand(x, in, in), (size_t)R, end);
    if (e != cudaSuccess || d_bias == NULL)
        return e;
    return PW_LAUNCH(bias_chain, ((unsigned)out + 31) / 32, 32, 0, s, d_bias, dy, add, (size_t)R,
                     (size_t)out);
}
