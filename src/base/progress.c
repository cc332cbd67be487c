/* progress.c - see progress.h. */
#include "base/progress.h"

static _Thread_local struct pw_progress *progress;

struct pw_progress *pw_progress_watch(struct pw_progress *p)
{
    struct pw_progress *before = progress;
    progress = p;
    return before;
}

void pw_progress_begin(const char *what, size_t total)
{
    if (progress == NULL)
        return;
    atomic_store(&progress->what, NULL); /* no reader sees the new text with the old numbers */
    atomic_store(&progress->done, 0);
    atomic_store(&progress->total, total);
    atomic_store(&progress->what, what);
}

enum pw_code pw_progress_add(size_t bytes, struct pw_err *err)
{
    if (progress == NULL)
        return PW_OK;
    atomic_fetch_add(&progress->done, bytes);
    return atomic_load(&progress->cancel) ? pw_fail(err, PW_ECANCEL, "cancelled") : PW_OK;
}

void pw_progress_end(void)
{
    if (progress != NULL)
        atomic_store(&progress->what, NULL);
}
