/* verify_session.c - re-run a recorded session in a lab that serves only this purpose, and compare. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"
#include "lab/follow.h"
#include "lab/recording/recorded.h"
#include "lab/recording/session.h"
#include "sessions/player.h"

struct verification {
    struct pw_recorded from;
    struct pw_lab *lab;
    struct pw_record_info info;
};

static void free_verification(struct verification *x)
{
    pw_recorded_close(&x->from);
    free(x);
}

/* Find the earliest suitable checkpoint. The search goes backwards from the end, because an index supports
 * that. */
static struct pw_event *checkpoint(void *arg, uint64_t from)
{
    struct verification *x = arg;
    struct pw_event *e, *found = NULL;
    for (uint64_t at = x->info.last;
         (e = pw_record_last(x->from.record, PW_EV_CHECKPOINT, -1, -1, at)) != NULL && e->seq > from;) {
        at = e->seq - 1;
        bool fits = e->u.checkpoint.state != NULL && e->u.checkpoint.as_of >= from;
        pw_event_free(fits ? found : e);
        found = fits ? e : found;
    }
    pw_event_free(e);
    return found;
}

static bool ended(void *arg, const struct pw_verdict *v)
{
    struct verification *x = arg;
    struct pw_lab *lab = x->lab;
    lab->verdict = *v;
    pw_lab_note(lab, "%s: %d segment%s, the last with pewter %s", x->info.name, x->info.segments,
                x->info.segments == 1 ? "" : "s", x->info.env);
    pw_lab_note(lab, "now: pewter %s, %s: %s%s", PEWTER_VERSION, lab->ops->name, lab->ops->device(lab->be),
                lab->ops->portable ? ", class portable" : "");
    if (x->info.kernel_abi != PW_BITS || strcmp(x->info.bits, "portable") != 0)
        pw_lab_note(
            lab,
            "it was recorded in class %s, bits version %d (now %d): different bits would not be an error",
            x->info.bits, x->info.kernel_abi, PW_BITS);
    free_verification(x);
    return false;
}

/* Position the cursor at the beginning of the session, or restore the checkpoint before the event at which
 * the current arm had taken `from` steps. */
static enum pw_code begin_verification(struct pw_lab *lab, struct verification *x, int64_t from,
                                       uint64_t *first, struct pw_err *err)
{
    struct pw_player *p;
    struct pw_err passed; /* ignored: the session has been checked already */
    uint64_t as_of = 0;
    *first = x->info.first;
    if (from < 0)
        return pw_record_begin(x->from.record, *first, &x->from.cursor, err);
    enum pw_code code = pw_player_open(&p, x->from.folder, err);
    if (code != PW_OK)
        return code;
    uint64_t last = pw_player_step(p, 0, from);
    const struct pw_snapshot *s = pw_player_at(p, last);
    long long step = last > 0 && s->current > 0 ? (long long)s->arms[s->current - 1].info.step : 0;
    pw_player_close(p);
    if (last == 0 || step < from)
        return pw_fail(err, PW_EUSER, "%.200s: there is no step %lld of the current arm; its last is %lld",
                       x->info.name, (long long)from, step);
    code = pw_session_restore(lab, x->from.record, last, &x->from.cursor, &as_of, &passed, err);
    *first = as_of + 1;
    return code == PW_OK ? pw_session_fold(lab->record, x->from.folder, as_of, pw_lab_keeps, err) : code;
}

enum pw_code pw_session_verify(struct pw_lab *lab, const char *name, int64_t from, struct pw_err *err)
{
    struct verification *x = pw_alloc(1, sizeof *x);
    uint64_t first = 0, intact;
    x->lab = lab;
    x->from.last = UINT64_MAX; /* include events that are recorded meanwhile */
    enum pw_code code = pw_session_folder(x->from.folder, sizeof x->from.folder, name, err);
    if (code == PW_OK)
        code = pw_record_open(&x->from.record, x->from.folder, err);
    if (code == PW_OK)
        code = pw_record_check(x->from.record, &intact, err); /* a damaged session can't be compared */
    if (code == PW_OK)
        pw_record_info(x->from.record, &x->info);
    if (code == PW_OK)
        lab->session.folders = pw_session_read_folders(x->from.record);
    if (code == PW_OK)
        code = begin_verification(lab, x, from, &first, err);
    if (code != PW_OK) {
        free_verification(x);
        return code;
    }
    struct pw_follow_opts opts = {.next = pw_recorded_next,
                                  .file = pw_recorded_file,
                                  .checkpoint = checkpoint,
                                  .ended = ended,
                                  .arg = x,
                                  .first = first,
                                  .last = x->info.last,
                                  .verify = true};
    return pw_lab_follow(lab, &opts, err);
}
