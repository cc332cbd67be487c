/* recorded.c - events and files of a recorded session, as the callbacks of a re-run need them. */
#include "lab/recording/recorded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void pw_recorded_close(struct pw_recorded *x)
{
    if (x->copy > 0)
        close(x->copy);
    pw_record_end(x->cursor);
    pw_record_close(x->record);
}

struct pw_event *pw_recorded_next(void *arg)
{
    const struct pw_recorded *x = arg;
    struct pw_event *e = pw_record_next(x->cursor);
    if (e != NULL && e->seq > x->last) {
        pw_event_free(e);
        return NULL;
    }
    return e;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t wrote = write(fd, bytes + done, n - done);
        if (wrote == 0 || (wrote < 0 && errno != EINTR))
            return false;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* The file is copied to memory (memfd). A packed session has no separate file, and this way the bytes that
 * were checked are the bytes that are read. */
const char *pw_recorded_file(void *arg, const uint8_t sha[PW_SHA256])
{
    struct pw_recorded *x = arg;
    struct pw_err err;
    void *bytes;
    size_t n;
    if (pw_record_file(x->record, sha, &bytes, &n, &err) != PW_OK)
        return NULL;
    if (x->copy > 0)
        close(x->copy);
    x->copy = memfd_create("pewter", MFD_CLOEXEC);
    bool written = x->copy > 0 && write_all(x->copy, bytes, n);
    free(bytes);
    snprintf(x->file, sizeof x->file, "/proc/self/fd/%d", x->copy);
    return written ? x->file : NULL;
}
