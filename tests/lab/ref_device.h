/* ref_device.h - for tests of the lab on the emulated device: its digests, and errors. */
#ifndef PW_REF_DEVICE_H
#define PW_REF_DEVICE_H
#include "ref_lab.h"

/* The line that makes a small model. */
extern const char device_tiny[];

/* Runs the script, which must emit one error that contains `with`. */
void bench_must_fail(struct bench *b, const char *script, const char *with);

/* Copies the digest that the last `digest` printed; and fails unless it is this one. */
void device_digest(char digest[33], const char *digests);
void device_must_be(const struct bench *b, const char *digest);
/* Stores the digest of t5 after four steps of the small model on the cpu. */
void device_remember(char digest[33]);

#endif
