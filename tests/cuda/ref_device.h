/* ref_device.h - arrays on the device for tests of launchers. Each has guard values after its end. */
#ifndef PW_REF_DEVICE_H
#define PW_REF_DEVICE_H
#include <cuda_runtime_api.h>
#include <stddef.h>

/* Allocates n floats and copies them from the host; from NULL: uninitialised. skew: offset in floats from a
 * multiple of 256 bytes. device_free frees them. */
float *device_floats(const float *from, size_t n, size_t skew);

/* Waits for the device and copies. Fails the test if the guard values were overwritten. */
void device_read(float *to, const float *array);

/* Frees all arrays. */
void device_free(void);

/* Fails the test unless the call succeeds. */
#define DEVICE(call) assert_int_equal((call), cudaSuccess)

/* Fails the test unless the array has the bits of want; all NaN are equal. */
void device_expect_bits(const char *what, unsigned long seed, const float *want, const float *array);

/* As device_expect_bits, but by values: |got - want| <= tolerance * (1 + |want|). */
void device_expect_near(const char *what, unsigned long seed, const float *want, const float *array,
                        double tolerance);

#endif
