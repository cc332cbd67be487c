/* file_sha.c - the SHA-256 of an open file. Apart from file.c, which needs no library. */
#include <stdlib.h>

#include "base/file.h"
#include "base/progress.h"
#include "base/sha256.h"

enum { AT_ONCE = 128 << 10 }; /* bytes that are read, and hashed while they are in the cache */

enum pw_code pw_file_sha(int fd, const char *path, size_t size, uint8_t sha[32], struct pw_err *err)
{
    struct pw_sha256 h;
    char *part = malloc(AT_ONCE);
    enum pw_code code = PW_OK;

    if (part == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    pw_sha256_begin(&h);
    for (size_t at = 0; at < size && code == PW_OK;) {
        size_t n = size - at < AT_ONCE ? size - at : AT_ONCE;
        code = pw_file_read_at(fd, path, part, n, at, err);
        if (code == PW_OK) {
            pw_sha256_add(&h, part, n);
            code = pw_progress_add(n, err);
        }
        at += n;
    }
    pw_sha256_end(&h, sha);
    free(part);
    return code;
}
