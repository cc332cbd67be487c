/* progress.c - see progress.h. */
#include "base/progress.h"

#include <stdio.h>

#include "base/clock.h"

#define CALL_S 0.1

static _Thread_local struct pw_progress *progress;

struct pw_progress *pw_progress_watch(struct pw_progress *p)
{
    struct pw_progress *before = progress;
    progress = p;
    return before;
}

/* Calls `changed` if it is time. */
static void call(void)
{
    double now = progress->changed != NULL ? pw_now() : 0;
    if (progress->changed == NULL || now < progress->next)
        return;
    progress->next = now + CALL_S;
    progress->changed(progress->arg);
}

void pw_progress_begin(const char *what, size_t total)
{
    if (progress == NULL)
        return;
    atomic_store(&progress->what, NULL); /* no reader sees the new text with the old numbers */
    atomic_store(&progress->done, 0);
    atomic_store(&progress->total, total);
    atomic_store(&progress->what, what);
    progress->next = progress->first = progress->changed != NULL ? pw_now() + CALL_S : 0;
}

enum pw_code pw_progress_add(size_t bytes, struct pw_err *err)
{
    if (progress == NULL)
        return PW_OK;
    atomic_fetch_add(&progress->done, bytes);
    call();
    return atomic_load(&progress->cancel) ? pw_fail(err, PW_ECANCEL, "cancelled") : PW_OK;
}

void pw_progress_end(void)
{
    if (progress == NULL)
        return;
    atomic_store(&progress->what, NULL);
    if (progress->next > progress->first) /* the last call showed the work */
        progress->changed(progress->arg);
}

/* ---- the other thread */

struct pw_progress_now pw_progress_read(const struct pw_progress *p)
{
    struct pw_progress_now now = {atomic_load(&p->what), atomic_load(&p->done), atomic_load(&p->total)};
    now.done = now.done < now.total ? now.done : now.total;
    return now;
}

/* A number with commas: "1,600". */
static void group_digits(char dst[32], size_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%zu", n), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            dst[at++] = ',';
        dst[at++] = digits[i];
    }
    dst[at] = '\0';
}

void pw_progress_print(const struct pw_progress_now *p, struct pw_str *out)
{
    char part[32], all[32];
    group_digits(part, p->done / 1000000);
    group_digits(all, p->total / 1000000);
    pw_str_add(out, "%s", p->what);
    if (p->total > 0)
        pw_str_add(out, ", %s of %s MB", part, all);
}
