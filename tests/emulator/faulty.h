/* faulty.h - kernels that have one fault each, to test that the emulator finds it (faulty.cu). One of them,
 * "faultless", has none. */
#ifndef PW_EMU_FAULTY_H
#define PW_EMU_FAULTY_H
#include <cuda_runtime_api.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Launches the kernel with this name on stream s, and returns the cudaError_t of the launch; -1: no such
 * name. out, in: 128 floats each on the device. Initialise both, unless uninitialised memory is the fault. */
int faulty_run(const char *name, cudaStream_t s, float *out, const float *in);
const char *faulty_name(size_t i); /* name of kernel i; NULL past the last */

#ifdef __cplusplus
}
#endif
#endif
