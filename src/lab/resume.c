/* resume.c - a recorded session is gone on with.
 *
 * The newest checkpoint that is intact puts the lab where it stood then; what is recorded after it is done
 * again and compared (follow.h), and then the lab is live. A recording is one line of events that leads from
 * its first checkpoint to its end: what goes on from anywhere but its end, because somebody asked for that,
 * broke the re-run off or because bits differed, goes on as a session of its own that begins with a copy of
 * the events up to there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "lab/follow.h"
#include "lab/lab_int.h"
#include "lab/recorded.h"
#include "lab/state.h"
#include "sessions/player.h"

/* What is kept from opening to the end of the re-run. */
struct pw_resume {
    struct pw_recorded from;
    struct pw_lab *lab;
    struct pw_err passed;   /* the newest checkpoint can't be used, because; "": it can */
    struct pw_err lost;     /* of the session that was left for it, not all is on record; "": all is */
    uint64_t gone;          /* events of the recording that were on disk once */
    bool branch;            /* what follows is another session's */
    bool left;              /* nothing follows: pewter was left before the end */
    struct pw_store *store; /* else of this one */
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

enum pw_code pw_session_restore(struct pw_lab *lab, struct pw_record *record, uint64_t last,
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
        bool tried = c->state != NULL && c->as_of < last; /* else exported weights */
        enum pw_code code = tried ? pw_record_begin(record, c->as_of + 1, cursor, &why) : PW_EUSER;
        if (code == PW_OK)
            code = pw_lab_state_restore(lab, c->state, get_file, &(struct files){record, c}, &why);
        if (code != PW_OK && tried && passed->msg[0] == '\0')
            pw_fail(passed, code, "the checkpoint at step %lld can't be used: %.300s", (long long)e->step,
                    why.msg);
        *as_of = c->as_of;
        pw_event_free(e);
        if (code == PW_OK)
            return PW_OK;
        pw_record_end(*cursor);
        *cursor = NULL;
        if (code == PW_EDEVICE) /* an older one wouldn't help */
            return pw_fail(err, code, "%s", why.msg);
    }
    return pw_fail(err, PW_EUSER, "no checkpoint of this session can be gone on from: %.300s", why.msg);
}

/* The event that it is to go on from: the last one, or that at which the current arm had taken `from` steps.
 */
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

/* ---- following */

/* The copy of a recording up to an event, which a session begins with. */
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
        pw_store_file(c->to, sha, bytes, n);
    /* else the budget took it: the copy does without */
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
            pw_session_remove(folder); /* half of a copy is no session */
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

/* A line that was asked for when the recording broke off, and has not run: it doesn't now, because it may be
 * what ended the program. */
static void tell_unserved(struct pw_lab *lab, struct pw_record *r, uint64_t last)
{
    struct pw_event *asked = pw_record_last(r, PW_EV_ASKED, -1, -1, last);
    struct pw_event *run = pw_record_last(r, PW_EV_COMMAND, -1, -1, last);
    struct pw_event *failed = pw_record_last(r, PW_EV_ERROR, -1, -1, last);
    uint64_t served = run != NULL ? run->seq : 0;
    served = failed != NULL && failed->seq > served ? failed->seq : served;
    if (asked != NULL && asked->seq > served)
        pw_lab_note(lab, "not run: '%s' was asked for when the recording broke off", asked->u.text);
    pw_event_free(asked);
    pw_event_free(run);
    pw_event_free(failed);
}

/* Where training was to go there is nobody's word any more; and a job would keep all lines waiting, since the
 * new session's first checkpoint waits for its end. What waits by now are the lines of who opened it. */
static void stop(struct pw_lab *lab)
{
    pthread_mutex_lock(&lab->lock);
    struct pw_lines waiting = lab->script;
    lab->script = (struct pw_lines){0};
    pthread_mutex_unlock(&lab->lock);
    pw_lab_run(lab, "stop");
    pw_lab_resume_script(lab, &waiting, true);
}

/* Something was computed again: a checkpoint behind it spares the next opening that. */
static bool is_worth_one(const struct pw_lab *lab, const struct pw_verdict *v)
{
    return lab->steps_done != lab->session.steps || v->evals + v->tokens + v->others > 0;
}

/* The re-run is over: what the lab tells from now on is on record. */
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
        wait_for(s->store, at); /* readers begin with what is on disk */
    }
    s->unnamed = away;
    s->first = !away;
    s->used = true;
    s->wanted = is_worth_one(lab, v);
    lab->seq = at;
    pw_session_tell(lab, away);
    return !away;
}

/* "goes on", and where else if not in the session that was opened. */
static void add_where(struct pw_str *text, const struct pw_lab *lab, bool away)
{
    if (lab->session.store == NULL)
        pw_str_add(text, "goes on without a session");
    else if (away)
        pw_str_add(text, "goes on as a new session, %s,", lab->session.now.name);
    else
        pw_str_add(text, "goes on");
}

/* What there is to say of it, and where training waits for somebody's word. */
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
        pw_lab_tell_all(lab, false);
    if (v->end == PW_FOLLOW_DIFFERENT)
        pw_lab_note(lab, "the re-run differs from the recording: %s", v->text);
    if (r->lost.msg[0] != '\0')
        pw_lab_note(lab, "%s", r->lost.msg);
    if (r->gone > 0)
        pw_lab_note(lab, "the session's log was damaged: %" PRIu64 " events that had been on disk are gone",
                    r->gone);
    if (r->passed.msg[0] != '\0')
        pw_lab_note(lab, "%s; an older one was taken", r->passed.msg);
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
        pw_str_add(&text, "; %lld steps were computed again%s", (long long)v->steps,
                   v->end == PW_FOLLOW_DIFFERENT ? "" : ", every bit as recorded");
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

/* What the lab keeps for itself of events 1..as_of: the rest comes as they are done again. */
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
        code = pw_fail(err, PW_EUSER, "open: '%.200s' is the session that is open", name);
    if (code == PW_OK && !r->branch)
        code = pw_session_attach(lab, r->from.folder, false, &r->store, err);
    if (code == PW_OK && !r->branch)
        r->gone = pw_store_gone(r->store);
    if (code == PW_OK)
        code = pw_record_open(&r->from.record, r->from.folder, err);
    if (code == PW_OK)
        code = find_end(r, from, err);
    struct pw_store *left = s->store;
    s->store = NULL; /* a job that ends now goes on when that session is taken up again, as if by `quit` */
    if (code == PW_OK)
        code =
            pw_session_restore(lab, r->from.record, r->from.last, &r->from.cursor, &as_of, &r->passed, err);
    s->store = left;
    if (code != PW_OK) {
        free_resume(r);
        return code;
    }
    pw_session_end(lab, "left for another", &r->lost);
    s->steps = lab->steps_done;
    s->commands = 0;
    recall(lab, r->from.folder, as_of);
    s->resume = r;
    s->now = (struct pw_ev_session){.how = PW_REC_READ, .saved = r->from.last};
    snprintf(s->now.folder, sizeof s->now.folder, "%s", r->from.folder);
    pw_session_name(s->now.name, sizeof s->now.name, r->from.folder);
    pw_session_tell(lab, true);
    struct pw_follow_opts opts = {.next = pw_recorded_next,
                                  .file = pw_recorded_file,
                                  .ended = ended,
                                  .live = live,
                                  .arg = r,
                                  .last = r->from.last};
    return pw_lab_follow(lab, &opts, err);
}
