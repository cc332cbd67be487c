/* ref_device.c - see ref_device.h. */
#include "ref_device.h"

#include <stdio.h>
#include <string.h>

const char device_tiny[] = "model layers=1 width=16 heads=2; optim batch=3";

void bench_must_fail(struct bench *b, const char *script, const char *with)
{
    bench_run(b, script);
    if (b->errors != 1 || strstr(b->error, with) == NULL)
        fail_msg("%s: %d errors, the last: %s", script, b->errors, b->error);
}

void device_digest(char digest[33], const char *digests)
{
    const char *at = strstr(digests, "digest ");
    assert_non_null(at);
    snprintf(digest, 33, "%.32s", at + strlen("digest "));
}

void device_must_be(const struct bench *b, const char *digest)
{
    char got[33];
    device_digest(got, b->digests);
    assert_string_equal(got, digest);
}

void device_remember(char digest[33])
{
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, device_tiny);
    bench_must(&b, "pe t5; train 4; digest");
    device_digest(digest, b.digests);
    bench_close(&b);
}
