/* files.c - files that commands read. Reading a file emits an event, so that the session keeps a copy; a
 * re-run reads the copy instead of the file.
 *
 * The name remains as typed, also if a copy is read in its place. It is part of a task's text, and the text
 * determines the samples that an evaluation draws. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sha256.h"
#include "lab/core/lab_int.h"
#include "lab/loop/loop.h"

static void emit_file(void *arg, const char *path, const char *data, size_t size)
{
    struct pw_lab *lab = arg;
    struct pw_event *e = pw_lab_event(PW_EV_FILE, NULL);
    pw_text_copy(e->u.file.name, sizeof e->u.file.name, path);
    pw_sha256_of(e->u.file.sha, data, size);
    e->u.file.bytes = (int64_t)size;
    void *copy = lab->session.store != NULL ? malloc(size + 1) : NULL;
    struct pw_err err;
    if (copy != NULL) {
        memcpy(copy, data, size);
        pw_store_copy(lab->session.store, e->u.file.sha, copy, size);
    }
    pw_lab_emit(lab, e);
    if (copy == NULL && lab->session.store != NULL) {
        pw_fail(&err, PW_ENOMEM, "out of memory: the session keeps no copy of %.200s (%zu MiB)", path,
                size >> 20);
        pw_lab_trouble(lab, &err);
    }
}

static const char *instead(void *arg, const char *path)
{
    struct pw_lab *lab = arg;
    return lab->rerun.file(lab, path);
}

const char *const *pw_lab_file_folders(const struct pw_lab *lab)
{
    return (const char *const *)lab->session.folders.path;
}

void pw_lab_watch_files(struct pw_lab *lab, bool on)
{
    bool live = lab->follow == NULL;
    struct pw_file_watch watch = {.folders = pw_lab_file_folders(lab),
                                  .read = live ? emit_file : NULL,
                                  .instead = live ? NULL : instead,
                                  .arg = lab};
    pw_file_watch(on ? watch : (struct pw_file_watch){0});
}
