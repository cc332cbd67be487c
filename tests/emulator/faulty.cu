/* faulty.cu - one fault a kernel, for test_faults.c and test_check.c: a checker that finds nothing checks
 * nothing. The line that must be named ends with "here". */
#include "kernels/cuda/device.h"
#include "tests/emulator/faulty.h"

#define ALL 0xffffffffu

__device__ static float warp_sum(float v)
{
    for (int bits = 16; bits > 0; bits /= 2)
        v += __shfl_xor_sync(ALL, v, bits);
    return v;
}

/* ---- barriers and warps: found in every build */

__global__ void barrier_in_branch(float *out, const float *in)
{
    if (threadIdx.x < 64)
        __syncthreads(); /* here */
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void return_before_barrier(float *out, const float *in)
{
    if (threadIdx.x >= 100)
        return;
    out[threadIdx.x] = in[threadIdx.x];
    __syncthreads(); /* here */
    out[threadIdx.x] += 1.0f;
}

__global__ void two_barriers(float *out, const float *in)
{
    if (threadIdx.x < 64) {
        out[threadIdx.x] = in[threadIdx.x];
        __syncthreads(); /* here */
    } else {
        __syncthreads();
        out[threadIdx.x] = in[threadIdx.x];
    }
}

__global__ void barrier_in_uneven_loop(float *out, const float *in)
{
    for (unsigned i = threadIdx.x; i < 100; i += 96) {
        out[i] = in[i];
        __syncthreads(); /* here */
    }
}

__global__ void barrier_and_warp(float *out, const float *in)
{
    float v = in[threadIdx.x];
    if (threadIdx.x < 32) {
        if (threadIdx.x < 16)
            v = warp_sum(v);
        else
            __syncthreads(); /* here */
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = v;
}

__global__ void shuffle_in_branch(float *out, const float *in)
{
    float v = in[threadIdx.x];
    if (threadIdx.x % 2 == 1)
        v += __shfl_xor_sync(ALL, v, 2); /* here */
    out[threadIdx.x] = v;
}

__global__ void shuffle_from_outside(float *out, const float *in)
{
    float v = in[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v += __shfl_sync(0x0000ffffu, v, 20);
    out[threadIdx.x] = v;
}

__global__ void shuffle_not_in_mask(float *out, const float *in)
{
    float v = in[threadIdx.x];
    v += __shfl_xor_sync(0x0000ffffu, v, 1); /* here */
    out[threadIdx.x] = v;
}

__global__ void lanes_left(float *out, const float *in)
{
    if (threadIdx.x % 32 >= 20)
        return;
    out[threadIdx.x] = warp_sum(in[threadIdx.x]);
}

/* ---- memory */

__global__ void shared_beyond(float *out, const float *in)
{
    PW_SHARED(float, tile, [128]);
    tile[threadIdx.x + 1] = in[threadIdx.x]; /* here */
    __syncthreads();
    out[threadIdx.x] = threadIdx.x > 0 ? tile[threadIdx.x] : 0.0f;
}

__global__ void shared_beyond_by_pointer(float *out, const float *in)
{
    PW_SHARED(float, tile, [128]);
    float *next = tile + 1;
    next[threadIdx.x] = in[threadIdx.x]; /* here */
    __syncthreads();
    out[threadIdx.x] = threadIdx.x > 0 ? tile[threadIdx.x] : 0.0f;
}

__global__ void dynamic_beyond(float *out, const float *in)
{
    PW_DYN_SHARED(float, buffer);
    buffer[threadIdx.x + 1] = in[threadIdx.x]; /* here */
    __syncthreads();
    out[threadIdx.x] = threadIdx.x > 0 ? buffer[threadIdx.x] : 0.0f;
}

__global__ void write_beyond(float *out, const float *in)
{
    out[threadIdx.x + 1] = in[threadIdx.x]; /* here */
}

__global__ void read_beyond(float *out, const float *in)
{
    out[threadIdx.x] = in[threadIdx.x + 1]; /* here */
}

__global__ void far_beyond(float *out, const float *in)
{
    out[threadIdx.x + 500000] = in[threadIdx.x]; /* here */
}

__global__ void local_beyond(float *out, const float *in)
{
    float last[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < 4; i++)
        last[i] = in[i];
    out[threadIdx.x] = last[(threadIdx.x + 127) / 32]; /* here */
}

__global__ void misaligned(float *out, const float *in)
{
    float4 v = *(const float4 *)(in + 1 + 4 * (threadIdx.x % 8)); /* here */
    out[threadIdx.x] = v.x + v.w;
}

__device__ static float somewhere[128];
__global__ void write_to_static(float *out, const float *in)
{
    somewhere[threadIdx.x] = in[threadIdx.x]; /* here */
    out[threadIdx.x] = somewhere[threadIdx.x];
}

__global__ void copy_only(float *out, const float *in)
{
    out[threadIdx.x] = in[threadIdx.x]; /* here */
}

/* ---- initialisation */

__global__ void shared_not_set(float *out, const float *in)
{
    PW_SHARED(float, tile, [129]);
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 1]; /* here */
}

__global__ void shared_of_block_before(float *out, const float *in)
{
    PW_SHARED(float, tile, [128]);
    if (blockIdx.x == 0)
        tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (blockIdx.x == 1)
        out[threadIdx.x] = tile[threadIdx.x]; /* here */
}

__global__ void add_to_result(float *out, const float *in)
{
    out[threadIdx.x] += in[threadIdx.x]; /* here */
}

/* ---- races */

__global__ void no_barrier(float *out, const float *in)
{
    PW_SHARED(float, tile, [128]);
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[127 - threadIdx.x]; /* here */
}

__global__ void no_barrier_to_neighbour(float *out, const float *in) /* right when threads run forwards */
{
    PW_SHARED(float, tile, [128]);
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = threadIdx.x > 0 ? tile[threadIdx.x - 1] : 0.0f; /* here */
}

__global__ void buffer_used_again(float *out,
                                  const float *in) /* right in every order that threads run in here */
{
    PW_SHARED(float, parts, [4]);
    float sum = 0.0f;
    for (unsigned k = 0; k < 3; k++) {
        float v = warp_sum(in[(threadIdx.x + k) % 128]);
        if (threadIdx.x % 32 == 0)
            parts[threadIdx.x / 32] = v; /* here */
        __syncthreads();
        sum += parts[0] + parts[1] + parts[2] + parts[3];
    }
    out[threadIdx.x] = sum;
}

__global__ void shuffle_is_no_fence(float *out, const float *in)
{
    PW_SHARED(float, tile, [128]);
    tile[threadIdx.x] = in[threadIdx.x];
    float sum = warp_sum(in[threadIdx.x]);
    out[threadIdx.x] = tile[threadIdx.x ^ 1] + sum; /* here */
}

__global__ void lane_reads_before_write(float *out, const float *in)
{
    float kept = threadIdx.x == 0 ? out[17] : 0.0f;
    out[threadIdx.x] = in[threadIdx.x]; /* here */
    if (threadIdx.x == 0)
        out[0] = kept;
}

__global__ void blocks_add(float *out, const float *in)
{
    if (threadIdx.x == 0)
        out[0] += in[blockIdx.x]; /* here */
}

__global__ void blocks_write_the_same(float *out, const float *in)
{
    if (threadIdx.x == 0)
        out[0] = in[0]; /* here */
}

__global__ void atomic_and_not(float *out, const float *in)
{
    PW_SHARED(unsigned, count, [1]);
    if (threadIdx.x == 0)
        count[0] = 0;
    __syncthreads();
    atomicAdd(&count[0], 1u);
    out[threadIdx.x] = in[threadIdx.x] + (float)count[0]; /* here */
}

__global__ void halves_of_a_word(float *out, const float *in)
{
    __nv_bfloat16 *half = (__nv_bfloat16 *)out;
    half[threadIdx.x + threadIdx.x % 2] = __float2bfloat16(in[threadIdx.x]); /* here */
}

/* ---- arithmetic */

__global__ void int_overflow(float *out, const float *in)
{
    int big = 1 << 30, by = (int)threadIdx.x + 2;
    out[threadIdx.x] = in[threadIdx.x] + (float)(big * by); /* here */
}

/* ---- none */

__global__ void faultless(float *out, const float *in)
{
    PW_SHARED(float, tile, [128]);
    PW_SHARED(unsigned, count, [1]);
    __nv_bfloat16 *half = (__nv_bfloat16 *)out;
    if (threadIdx.x == 0)
        count[0] = 0;
    tile[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    float v = tile[threadIdx.x ^ 1];
    __syncthreads();
    atomicMax(&count[0], threadIdx.x);
    v += tile[127 - threadIdx.x];
    __syncthreads();
    half[threadIdx.x] = __float2bfloat16(v); /* neighbours write the halves of a word */
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        out[100] = (float)count[0];
}

static const struct {
    const char *name;
    void (*kernel)(float *out, const float *in);
    unsigned blocks, threads;
    size_t shared;
} table[] = {
#define FAULT(name, blocks, threads, shared)                                                                 \
    {                                                                                                        \
#name, name, blocks, threads, shared                                                                 \
    }
    FAULT(barrier_in_branch, 1, 128, 0),
    FAULT(return_before_barrier, 1, 128, 0),
    FAULT(two_barriers, 1, 128, 0),
    FAULT(barrier_in_uneven_loop, 1, 96, 0),
    FAULT(barrier_and_warp, 1, 64, 0),
    FAULT(shuffle_in_branch, 1, 128, 0),
    FAULT(shuffle_from_outside, 1, 128, 0),
    FAULT(shuffle_not_in_mask, 1, 32, 0),
    FAULT(lanes_left, 1, 32, 0),
    FAULT(shared_beyond, 1, 128, 0),
    FAULT(shared_beyond_by_pointer, 1, 128, 0),
    FAULT(dynamic_beyond, 1, 128, 512),
    FAULT(write_beyond, 1, 128, 0),
    FAULT(read_beyond, 1, 128, 0),
    FAULT(far_beyond, 1, 128, 0),
    FAULT(local_beyond, 1, 128, 0),
    FAULT(misaligned, 1, 128, 0),
    FAULT(write_to_static, 1, 128, 0),
    FAULT(copy_only, 1, 128, 0),
    FAULT(shared_not_set, 1, 128, 0),
    FAULT(shared_of_block_before, 2, 128, 0),
    FAULT(add_to_result, 1, 128, 0),
    FAULT(no_barrier, 1, 128, 0),
    FAULT(no_barrier_to_neighbour, 1, 128, 0),
    FAULT(buffer_used_again, 1, 128, 0),
    FAULT(shuffle_is_no_fence, 1, 128, 0),
    FAULT(lane_reads_before_write, 1, 32, 0),
    FAULT(blocks_add, 8, 32, 0),
    FAULT(blocks_write_the_same, 2, 32, 0),
    FAULT(atomic_and_not, 1, 128, 0),
    FAULT(halves_of_a_word, 1, 128, 0),
    FAULT(int_overflow, 1, 128, 0),
    FAULT(faultless, 1, 128, 0),
#undef FAULT
};

const char *faulty_name(size_t i)
{
    return i < sizeof table / sizeof *table ? table[i].name : NULL;
}

int faulty_run(const char *name, cudaStream_t s, float *out, const float *in)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0)
            return PW_LAUNCH(table[i].kernel, dim3(table[i].blocks), dim3(table[i].threads), table[i].shared,
                             s, out, in);
    return -1;
}
