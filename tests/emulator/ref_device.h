/* ref_device.h - what the tests of the emulator share: a stream, and numbers on the device and back. */
#ifndef PW_REF_DEVICE_H
#define PW_REF_DEVICE_H
#include "tests/emulator/emulator.h"

extern cudaStream_t ref_stream;

int ref_setup(void **state); /* of each test: everything as at the start, and a stream */
int ref_teardown(void **state);

void *ref_device(const void *host, size_t n); /* n bytes of it on the device; host NULL: not initialised */
void ref_fetch(void *host, const void *device, size_t n);
/* Runs it in every order, at once and deferred. */
void ref_each_order(void (*check)(void));
/* Exactly one finding since the last, and it contains text. */
void ref_assert_found(const char *text);

#endif
