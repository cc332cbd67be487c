/* sha256.h - SHA-256 (FIPS 180-4): names files by their content and chains the rows of a session.
 *
 * nettle computes it, with the processor's SHA instructions if there are any. Any thread may call these
 * functions. */
#ifndef PW_SHA256_H
#define PW_SHA256_H
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State of a hash that is computed in parts. */
struct pw_sha256 {
    struct sha256_ctx ctx;
};

/* Hash in parts (begin, add, end), or n bytes at once (of). */
void pw_sha256_begin(struct pw_sha256 *h);
void pw_sha256_add(struct pw_sha256 *h, const void *data, size_t n);
void pw_sha256_end(struct pw_sha256 *h, uint8_t out[32]);
void pw_sha256_of(uint8_t out[32], const void *data, size_t n);
/* Write a hash as 64 hexadecimal digits; and read it back. pw_sha256_read returns false if the text is not 64
 * such digits. */
void pw_sha256_text(char dst[65], const uint8_t sha[32]);
bool pw_sha256_read(uint8_t sha[32], const char *text);

#endif
