/* sample.h - the kernels of sample.cu, for the tests of the emulator itself. */
#ifndef PW_EMU_SAMPLE_H
#define PW_EMU_SAMPLE_H
#include <cuda_runtime_api.h>
#ifdef __cplusplus
extern "C" {
#endif

/* out[b] = the sum of in[n], for every block b. Uses warp shuffles, shared memory and a barrier. */
cudaError_t sample_sum(cudaStream_t s, float *out, const float *in, int n, int blocks);
/* y[i] = a * x[i] + y[i] */
cudaError_t sample_axpy(cudaStream_t s, float *y, const float *x, float a, int n);
/* y[i] = x[n-1-i] within tiles of 64, through dynamic shared memory. */
cudaError_t sample_flip(cudaStream_t s, float *y, const float *x, int n);
/* Calls the warp intrinsics; out [32][8] receives the results of each lane. */
cudaError_t sample_warp(cudaStream_t s, int *out);
/* out[i] = the index of thread i in its grid, computed from threadIdx and blockIdx in three dimensions. */
cudaError_t sample_places(cudaStream_t s, int *out, struct dim3 grid, struct dim3 block);
/* to[i] = from[i] as bfloat16, and back[i] = to[i] as float again. */
cudaError_t sample_bf16(cudaStream_t s, uint16_t *to, float *back, const float *from, int n);
/* sample_dynamic writes the last int of `bytes` bytes of dynamic shared memory. sample_allow_dynamic raises
 * the limit of that kernel. */
cudaError_t sample_dynamic(cudaStream_t s, int *out, size_t bytes);
cudaError_t sample_allow_dynamic(int bytes);

#ifdef __cplusplus
}
#endif
#endif
