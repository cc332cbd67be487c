/* faulty.h - kernels with one fault each, in faulty.cu. */
#ifndef PW_EMU_FAULTY_H
#define PW_EMU_FAULTY_H
#include <cuda_runtime_api.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* out and in: 128 floats each, both initialised where the fault isn't that they aren't. -1: no such name. */
int faulty_run(const char *name, cudaStream_t s, float *out, const float *in);
const char *faulty_name(size_t i); /* NULL: no more */

#ifdef __cplusplus
}
#endif
#endif
