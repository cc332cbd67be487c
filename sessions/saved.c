/* saved.c - the number of the last event on disk, in a file beside the database.
 *
 * SQLite takes the intact beginning of a damaged log for all of it, as it must after a loss of power, and
 * what was committed behind the damage would be gone without a word. So the store writes down after each
 * commit how far it has come: who finds less than that knows that events are lost. Nothing waits until the
 * number is on disk. After a loss of power it may be an old one, which is harmless; it can't be ahead of a
 * commit that was synced before it was written. */
#include "sessions/saved.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"

#define SAVED  "saved"
#define DIGITS 20

/* "00000000000000000123 <sha256 of that>" and a new line; returns its length. */
static int line_of(char dst[128], uint64_t seq)
{
    char sum[65];
    uint8_t sha[32];
    snprintf(dst, 128, "%0*" PRIu64, DIGITS, seq);
    pw_sha256_of(sha, dst, DIGITS);
    pw_sha256_text(sum, sha);
    return DIGITS + snprintf(dst + DIGITS, 128 - DIGITS, " %s\n", sum);
}

void pw_saved_write(const char *folder, uint64_t seq, bool sync)
{
    char path[PATH_MAX], line[128];
    snprintf(path, sizeof path, "%.4000s/" SAVED, folder);
    int n = line_of(line, seq),
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return;
    if (pwrite(fd, line, (size_t)n, 0) == n && sync)
        fsync(fd);
    close(fd);
}

void pw_saved_remove(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/" SAVED, folder);
    unlink(path);
}

uint64_t pw_saved_read(int folder)
{
    char is[128] = "", line[128];
    int fd = openat(folder, SAVED, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t got = fd >= 0 ? pread(fd, is, sizeof is - 1, 0) : -1;
    if (fd >= 0)
        close(fd);
    uint64_t seq = strtoull(is, NULL, 10);
    return got == line_of(line, seq) && memcmp(is, line, (size_t)got) == 0 ? seq : 0;
}
