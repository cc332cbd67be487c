/* ref_device.h - arrays on the device for tests of launchers. Behind each lie numbers that must stay. */
#ifndef PW_REF_DEVICE_H
#define PW_REF_DEVICE_H
#include <cuda_runtime_api.h>
#include <stddef.h>

/* n floats, copied from the host, or as the device gives them where from is NULL. skew: floats from an
 * address that is a multiple of 256 bytes on. Freed by device_free. */
float *device_floats(const float *from, size_t n, size_t skew);

/* Waits for the device and copies. Fails the test where something was written behind the array. */
void device_read(float *to, const float *array);

/* Frees all arrays. */
void device_free(void);

/* Fails the test unless the call succeeds. */
#define DEVICE(call) assert_int_equal((call), cudaSuccess)

/* Fails the test where an array hasn't the bits of want; NaN are alike. */
void device_expect_bits(const char *what, unsigned long seed, const float *want, const float *array);

/* The same by values: |got - want| <= tolerance * (1 + |want|). */
void device_expect_near(const char *what, unsigned long seed, const float *want, const float *array,
                        double tolerance);

#endif
