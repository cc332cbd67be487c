/* sha256.c - SHA-256 by nettle, and hashes as hexadecimal text. */
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

void pw_sha256_begin(struct pw_sha256 *h)
{
    sha256_init(&h->ctx);
}

void pw_sha256_add(struct pw_sha256 *h, const void *data, size_t n)
{
    sha256_update(&h->ctx, n, data);
}

void pw_sha256_end(struct pw_sha256 *h, uint8_t out[32])
{
    sha256_digest(&h->ctx, 32, out);
}

void pw_sha256_of(uint8_t out[32], const void *data, size_t n)
{
    struct pw_sha256 h;
    pw_sha256_begin(&h);
    pw_sha256_add(&h, data, n);
    pw_sha256_end(&h, out);
}

void pw_sha256_text(char dst[65], const uint8_t sha[32])
{
    for (int i = 0; i < 32; i++)
        snprintf(dst + 2 * i, 3, "%02x", sha[i]);
}

bool pw_sha256_read(uint8_t sha[32], const char *text)
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 64)
        return false;
    memset(sha, 0, 32);
    for (int i = 0; i < 64; i++) {
        const char *d = strchr(digits, text[i]);
        if (d == NULL)
            return false;
        sha[i / 2] = (uint8_t)(sha[i / 2] << 4 | (d - digits));
    }
    return true;
}
