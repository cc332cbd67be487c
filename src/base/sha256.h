/* sha256.h - SHA-256 (FIPS 180-4), which names files by their content and chains a session's rows.
 *
 * nettle computes it, with the processor's own instructions where there are some. */
#ifndef PW_SHA256_H
#define PW_SHA256_H
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_sha256 {
    struct sha256_ctx ctx;
};

void pw_sha256_begin(struct pw_sha256 *h);
void pw_sha256_add(struct pw_sha256 *h, const void *data, size_t n);
void pw_sha256_end(struct pw_sha256 *h, uint8_t out[32]);
void pw_sha256_of(uint8_t out[32], const void *data, size_t n);
/* As 64 hexadecimal digits; and back: false where text isn't that. */
void pw_sha256_text(char dst[65], const uint8_t sha[32]);
bool pw_sha256_read(uint8_t sha[32], const char *text);

#endif
