#include "lab/recorded.h"

#include <stdio.h>
#include <unistd.h>

#include "base/sha256.h"

void pw_recorded_close(struct pw_recorded *x)
{
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

const char *pw_recorded_file(void *arg, const uint8_t sha[PW_SHA256])
{
    struct pw_recorded *x = arg;
    char name[65];
    pw_sha256_text(name, sha);
    snprintf(x->file, sizeof x->file, "%s/files/%s", x->folder, name);
    return access(x->file, R_OK) == 0 ? x->file : NULL;
}
