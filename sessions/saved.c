/* saved.c - the number of the last event on disk, in a file beside the database.
 *
 * If a log is damaged, SQLite uses its intact beginning, as it must after a power loss; events committed
 * after the damage would be lost without notice. So after each commit the store writes how far the session is
 * on disk. If a reader finds fewer events, some are lost. Nothing waits until this number is on
 * disk. After a power loss it may be an old one, which is harmless. It is never ahead of a commit, because
 * the commit is synced before it is written. */
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

/* Format "00000000000000000123 <sha256 of that>" and a newline; returns the length. */
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
