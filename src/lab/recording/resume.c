/* resume.c - resume a recorded session.
 *
 * The newest intact checkpoint restores the lab. The events recorded after it are re-run and compared
 * (follow.h), and then the lab is live.
 *
 * A session is one line of events from its first checkpoint to its end. So the lab continues in the same
 * session only from its end. In three cases it continues in a new session that begins with a copy of the
 * events so far: the user asked for an earlier step, the user stopped the re-run, or bits differed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/progress.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/follow.h"
#include "lab/loop/loop.h"
#include "lab/recording/recorded.h"
#include "lab/recording/session.h"
#include "lab/recording/state.h"
#include "sessions/player.h"

/* State that is kept from opening a session to the end of its re-run. */
struct pw_resume {
    struct pw_recorded from;
    struct pw_lab *lab;
    struct pw_err passed;   /* why the newest checkpoint can't be used; "": it can */
    struct pw_err lost;     /* why part of the session that was left is not on disk; "": all is */
    uint64_t gone;          /* number of events that were once on disk and are lost */
    bool branch;            /* continue in a new session */
    bool left;              /* the user quit before the end of the re-run, so nothing continues */
    struct pw_store *store; /* otherwise: the store to continue in */
};

static void free_resume(struct pw_resume *r)
{
    if (r == NULL)
        return;
    pw_recorded_close(&r->from);
    pw_store_close(r->store, "not resumed");
    free(r);
}

/* ---- the state */

struct files {
    struct pw_record *record;
    const struct pw_ev_checkpoint *of;
};

static enum pw_code get_file(void *arg, int i, void **bytes, size_t *n, struct pw_err *err)
{
    const struct files *f = arg;
    if (i >= f->of->n_files)
        return pw_fail(err, PW_EUSER, "the checkpoint names too few files");
    return pw_record_file(f->record, f->of->files[i], bytes, n, err);
}

/* Restore the newest checkpoint at or before event `last` that can be used. */
static enum pw_code restore_newest(struct pw_lab *lab, struct pw_record *record, uint64_t last,
                                   struct pw_record_cursor **cursor, uint64_t *as_of, struct pw_err *passed,
                                   struct pw_err *err)
{
    struct pw_err why = {.msg = "it has none"};
    struct pw_event *e;
    *cursor = NULL;
    passed->msg[0] = '\0';
    for (uint64_t at = last; (e = pw_record_last(record, PW_EV_CHECKPOINT, -1, -1, at)) != NULL;) {
        const struct pw_ev_checkpoint *c = &e->u.checkpoint;
        at = e->seq - 1;
        bool tried = c->state != NULL && c->as_of < last; /* otherwise the event is about exported weights */
        enum pw_code code = tried ? pw_record_begin(record, c->as_of + 1, cursor, &why) : PW_EUSER;
        if (code == PW_OK)
            code = pw_lab_state_restore(lab, c->state, get_file, &(struct files){record, c}, &why);
        if (code != PW_OK && tried && passed->msg[0] == '\0')
            pw_fail(passed, code, "the checkpoint at step %lld cannot be used: %.300s", (long long)e->step,
                    why.msg);
        *as_of = c->as_of;
        pw_event_free(e);
        if (code == PW_OK)
            return PW_OK;
        pw_record_end(*cursor);
        *cursor = NULL;
        /* An older checkpoint would fail, too. Or it is from before the model was read, and its re-run would
         * fail. */
        if (code == PW_EDEVICE || code == PW_EMISSING || code == PW_ECANCEL)
            return pw_fail(err, code, "%s", why.msg);
    }
    return pw_fail(err, PW_EUSER, "no checkpoint of this session is usable: %.300s", why.msg);
}

enum pw_code pw_session_restore(struct pw_lab *lab, struct pw_record *record, uint64_t last,
                                struct pw_record_cursor **cursor, uint64_t *as_of, struct pw_err *passed,
                                struct pw_err *err)
{
    struct pw_file_watch before = pw_file_watch((struct pw_file_watch){0}), with = before;
    with.folders = pw_lab_file_folders(lab);
    pw_file_watch(with);
    enum pw_code code = restore_newest(lab, record, last, cursor, as_of, passed, err);
    pw_file_watch(before);
    return code;
}

/* Find the event from which to continue: the last one, or the one at which the current arm had taken `from`
 * steps. */
static enum pw_code find_end(struct pw_resume *r, int64_t from, struct pw_err *err)
{
    struct pw_record_info info;
    struct pw_player *p;
    pw_record_info(r->from.record, &info);
    r->from.last = info.last;
    if (from < 0)
        return PW_OK;
    if (from > info.steps)
        return pw_fail(err, PW_EUSER, "open: there is no step %lld in this session, which has 0..%lld",
                       (long long)from, (long long)info.steps);
    enum pw_code code = pw_player_open(&p, r->from.folder, err);
    if (code != PW_OK)
        return code;
    r->from.last = pw_player_step(p, 0, from);
    pw_player_close(p);
    return r->from.last > 0
               ? PW_OK
               : pw_fail(err, PW_EUSER, "open: there is no step %lld in this session", (long long)from);
}

/* ---- the re-run */

/* The copy of a session up to an event; a new session begins with it. */
struct copy {
    struct pw_record *from;
    struct pw_store *to;
};

static void copy_file(const struct copy *c, const uint8_t sha[PW_SHA256])
{
    struct pw_err err;
    void *bytes;
    size_t n;
    if (pw_record_file(c->from, sha, &bytes, &n, &err) == PW_OK)
        pw_store_copy(c->to, sha, bytes, n);
    /* otherwise the storage budget removed the file, and the copy has none either */
}

static bool copy_event(void *arg, struct pw_event *e)
{
    const struct copy *c = arg;
    for (int i = 0; e->kind == PW_EV_CHECKPOINT && i < e->u.checkpoint.n_files; i++)
        copy_file(c, e->u.checkpoint.files[i]);
    if (e->kind == PW_EV_FILE)
        copy_file(c, e->u.file.sha);
    pw_store_put(c->to, e);
    return true;
}

static enum pw_code branch(struct pw_lab *lab, struct pw_resume *r, uint64_t upto, struct pw_err *err)
{
    char folder[sizeof r->from.folder];
    struct copy copy = {.from = r->from.record};
    enum pw_code code = pw_session_unnamed(folder, sizeof folder, err);
    if (code == PW_OK)
        code = pw_session_attach(lab, folder, true, &copy.to, err);
    if (code == PW_OK)
        code = pw_record_events(r->from.record, 1, upto, copy_event, &copy, err);
    if (code != PW_OK) {
        pw_store_close(copy.to, "not begun");
        if (copy.to != NULL)
            pw_session_remove(folder); /* an incomplete copy is no session */
        return code;
    }
    pw_store_close(r->store, "branched");
    r->store = copy.to;
    return PW_OK;
}

static void wait_for(struct pw_store *s, uint64_t seq)
{
    pw_store_hurry(s);
    while (!pw_store_has(s, seq))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* A line was received when the session broke off and has not run. It does not run now, because it may have
 * ended the program. */
static void tell_unserved(struct pw_lab *lab, struct pw_record *r, uint64_t last)
{
    struct pw_event *asked = pw_record_last(r, PW_EV_ASKED, -1, -1, last);
    struct pw_event *run = pw_record_last(r, PW_EV_COMMAND, -1, -1, last);
    struct pw_event *failed = pw_record_last(r, PW_EV_ERROR, -1, -1, last);
    uint64_t served = run != NULL ? run->seq : 0;
    served = failed != NULL && failed->seq > served ? failed->seq : served;
    if (asked != NULL && asked->seq > served)
        pw_lab_note(lab, "not run: '%s' was typed just before the recording broke off", asked->u.text);
    pw_event_free(asked);
    pw_event_free(run);
    pw_event_free(failed);
}

/* Stop training and jobs of a session that continues elsewhere. The training goal belonged to the script that
 * was interrupted, so it is dropped. A job would block all lines, since the new session's first checkpoint
 * waits for the job's end. Lines that wait at this point, or arrive meanwhile, come from the user who opened
 * the session, so they are kept. */
static void stop(struct pw_lab *lab)
{
    lab->keeps_script = true;
    pw_lab_run(lab, "stop");
    lab->keeps_script = false;
}

/* Has something been computed again? Then a checkpoint saves the next opening that work. */
static bool is_worth_one(const struct pw_lab *lab, const struct pw_verdict *v)
{
    return lab->steps_done != lab->session.steps || v->evals + v->tokens + v->others > 0;
}

/* The re-run is over: record the lab's events from now on. */
static bool ended(void *arg, const struct pw_verdict *v)
{
    struct pw_resume *r = arg;
    struct pw_lab *lab = r->lab;
    struct pw_session *s = &lab->session;
    struct pw_err err;
    bool away = r->branch = r->branch || v->end != PW_FOLLOW_EQUAL;
    uint64_t at = v->end == PW_FOLLOW_EQUAL ? r->from.last : v->seq - (v->end == PW_FOLLOW_DIFFERENT);
    r->left = v->end == PW_FOLLOW_STOPPED && pw_lab_quits(lab);
    s->resume = NULL;
    if (r->left)
        return false;
    if (away && branch(lab, r, at, &err) != PW_OK) {
        s->now = (struct pw_ev_session){.how = PW_REC_NONE};
        pw_text_copy(s->now.why, sizeof s->now.why, err.msg);
    } else {
        s->store = r->store;
        r->store = NULL;
        wait_for(s->store, at); /* readers start with the events on disk */
    }
    s->unnamed = away;
    s->first = !away;
    s->used = true;
    s->wanted = is_worth_one(lab, v);
    lab->seq = at;
    pw_session_emit(lab, away);
    return !away;
}

/* Append "goes on", and the new session's name if it is not the opened one. */
static void add_where(struct pw_str *text, const struct pw_lab *lab, bool away)
{
    if (lab->session.store == NULL)
        pw_str_add(text, "continues without a session");
    else if (away)
        pw_str_add(text, "continues as a new session, %s,", lab->session.now.name);
    else
        pw_str_add(text, "continues");
}

/* Report the result of the re-run. In the workbench, training is paused until the user resumes it. */
static void live(void *arg, const struct pw_verdict *v)
{
    struct pw_resume *r = arg;
    struct pw_lab *lab = r->lab;
    bool away = r->branch;
    if (r->left) {
        free_resume(r);
        return;
    }
    if (v->end != PW_FOLLOW_EQUAL)
        pw_lab_emit_all(lab, false);
    if (v->end == PW_FOLLOW_DIFFERENT)
        pw_lab_note(lab, "the re-run differs from the recording: %s", v->text);
    if (r->lost.msg[0] != '\0')
        pw_lab_note(lab, "%s", r->lost.msg);
    if (r->gone > 0)
        pw_lab_note(lab, "the session's log is damaged: %" PRIu64 " recorded events are lost", r->gone);
    if (r->passed.msg[0] != '\0')
        pw_lab_note(lab, "%s; an older one is used", r->passed.msg);
    if (away && (pw_lab_training(lab) || pw_lab_busy(lab)))
        stop(lab);
    else if (lab->cfg.live && pw_lab_training(lab) && !lab->paused)
        pw_lab_run(lab, "pause");
    if (!away)
        tell_unserved(lab, r->from.record, r->from.last);
    struct pw_str text = {0};
    add_where(&text, lab, away);
    pw_str_add(&text, " at step %lld", (long long)pw_lab_current(lab)->step);
    if (v->steps > 0)
        pw_str_add(&text, "; %lld steps were re-run%s", (long long)v->steps,
                   v->end == PW_FOLLOW_DIFFERENT ? "" : ", with the recorded bits");
    pw_lab_note(lab, "%s", text.s);
    pw_str_fini(&text);
    free_resume(r);
}

/* ---- opening */

struct fold {
    struct pw_snapshot *s;
    bool (*wanted)(const struct pw_event *e);
};

static bool fold_event(void *arg, struct pw_event *e)
{
    const struct fold *f = arg;
    if (f->wanted == NULL || f->wanted(e))
        pw_fold(f->s, e);
    return true;
}

enum pw_code pw_session_fold(struct pw_snapshot *s, const char *folder, uint64_t upto,
                             bool (*wanted)(const struct pw_event *e), struct pw_err *err)
{
    struct pw_record *r;
    enum pw_code code = pw_record_open(&r, folder, err);
    if (code != PW_OK)
        return code;
    code = pw_record_events(r, 1, upto, fold_event, &(struct fold){s, wanted}, err);
    pw_record_close(r);
    return code;
}

/* Restore the lab's own record of events 1..as_of; later events follow as they are re-run. */
static void recall(struct pw_lab *lab, const char *folder, uint64_t as_of)
{
    struct pw_err err;
    pw_snapshot_free(lab->record);
    lab->record = pw_snapshot_new();
    if (pw_session_fold(lab->record, folder, as_of, pw_lab_keeps, &err) != PW_OK)
        pw_lab_trouble(lab, &err);
}

enum pw_code pw_session_open(struct pw_lab *lab, const char *name, int64_t from, struct pw_err *err)
{
    struct pw_session *s = &lab->session;
    struct pw_resume *r = pw_alloc(1, sizeof *r);
    uint64_t as_of;
    r->lab = lab;
    r->branch = from >= 0;
    enum pw_code code = pw_session_folder(r->from.folder, sizeof r->from.folder, name, err);
    if (code == PW_OK && !r->branch && s->store != NULL && strcmp(r->from.folder, s->now.folder) == 0)
        code = pw_fail(err, PW_EUSER, "open: '%.200s' is already open", name);
    if (code == PW_OK && !r->branch)
        code = pw_session_attach(lab, r->from.folder, false, &r->store, err);
    if (code == PW_OK && !r->branch)
        r->gone = pw_store_gone(r->store);
    if (code == PW_OK)
        code = pw_record_open(&r->from.record, r->from.folder, err);
    if (code == PW_OK)
        code = find_end(r, from, err);
    struct pw_session_folders folders = {{NULL}}, before = s->folders;
    if (code == PW_OK)
        folders = pw_session_read_folders(r->from.record);
    s->folders = folders;
    struct pw_store *left = s->store;
    /* the old session must not record the end of a job: it is in progress again when that session is resumed,
     * as after `quit` */
    s->store = NULL;
    if (code == PW_OK)
        code =
            pw_session_restore(lab, r->from.record, r->from.last, &r->from.cursor, &as_of, &r->passed, err);
    s->store = left;
    if (code == PW_OK) /* the last point at which opening can be cancelled without a trace */
        code = pw_progress_add(0, err);
    if (code != PW_OK) {
        s->folders = before;
        pw_session_free_folders(&folders);
        free_resume(r);
        return code;
    }
    pw_session_free_folders(&before);
    pw_session_end(lab, "left for another", &r->lost);
    s->steps = lab->steps_done;
    s->commands = 0;
    recall(lab, r->from.folder, as_of);
    s->resume = r;
    s->now = (struct pw_ev_session){.how = PW_REC_READ, .saved = r->from.last};
    snprintf(s->now.folder, sizeof s->now.folder, "%s", r->from.folder);
    pw_session_name(s->now.name, sizeof s->now.name, r->from.folder);
    pw_session_emit(lab, true);
    struct pw_follow_opts opts = {.next = pw_recorded_next,
                                  .file = pw_recorded_file,
                                  .ended = ended,
                                  .live = live,
                                  .arg = r,
                                  .last = r->from.last};
    return pw_lab_follow(lab, &opts, err);
}
