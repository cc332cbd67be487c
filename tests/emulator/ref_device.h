/* ref_device.h - fixtures of the emulator's tests: a stream, and memory on the device. A CUDA error fails the
 * test. */
#ifndef PW_REF_DEVICE_H
#define PW_REF_DEVICE_H
#include "tests/emulator/emulator.h"

extern cudaStream_t ref_stream;

int ref_setup(void **state); /* cmocka setup of each test: resets the emulator and creates ref_stream */
int ref_teardown(void **state);

/* Allocates n bytes on the device and copies host to them; host NULL: uninitialised. ref_teardown frees them.
 */
void *ref_device(const void *host, size_t n);
/* Waits for ref_stream, then copies n bytes to the host. */
void ref_fetch(void *host, const void *device, size_t n);
/* Calls check in every order of threads, first with streams that run at once, then with deferred ones. */
void ref_each_order(void (*check)(void));
/* Fails the test unless there is exactly one finding, and it contains text. Clears the findings. */
void ref_assert_found(const char *text);

#endif
