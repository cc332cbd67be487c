/* checkpoint.c - checkpoints: the complete state of the lab between two steps, from which a session can
 * resume.
 *
 * The state is a copy in memory (state.h), so training continues while it is written to disk. The CHECKPOINT
 * event is emitted once the files are on disk, and names the event after which the state was taken. Every
 * session begins with a checkpoint, so that it is complete in itself, and the first line waits for that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "lab/core/lab_int.h"
#include "lab/recording/session.h"
#include "lab/recording/state.h"
#include "lab/train/train.h"

#define TELL_S   0.5  /* seconds between two events about the session that say only how large it is */
#define EVERY_S  30.0 /* most seconds of training that must be computed again */
#define SHARE    0.01 /* largest share of the lab's time that checkpoints may take */
#define LAST_S   10.0 /* seconds that the end of the program waits for the last checkpoint */
#define PAUSED_S 2.0  /* seconds that it waits for a failing disk */

/* The requested checkpoint exists or its failure was reported; the next one is not the requested one. */
static void forget_wish(struct pw_session *s)
{
    s->wanted = s->keep = false;
    s->text[0] = '\0';
}

static enum pw_code begin_checkpoint(struct pw_lab *lab, struct pw_err *err)
{
    struct pw_session *s = &lab->session;
    struct pw_lab_images images = {0};
    struct pw_str state = {0};
    double began = s->t_checkpoint = pw_now();
    enum pw_code code = pw_lab_state_save(lab, &state, &images, err);
    if (code != PW_OK) {
        pw_str_fini(&state);
        return code;
    }
    struct pw_event *e = s->checkpoint = pw_event_new(PW_EV_CHECKPOINT);
    struct pw_ev_checkpoint *c = &e->u.checkpoint;
    const struct pw_replica *arm = pw_lab_current(lab);
    e->arm = arm->id;
    e->step = arm->step;
    c->as_of = lab->seq;
    c->state = state.s;
    c->keep = s->keep;
    c->n_files = images.n;
    c->files = pw_alloc((size_t)images.n, sizeof *c->files);
    for (int i = 0; i < images.n; i++) {
        pw_sha256_of(c->files[i], images.at[i].bytes, images.at[i].n);
        c->bytes += (int64_t)images.at[i].n;
        pw_store_file(s->store, c->files[i], images.at[i].bytes, images.at[i].n);
    }
    snprintf(c->text, sizeof c->text, "checkpoint, %.1f MB%s%s", (double)c->bytes * 1e-6,
             s->text[0] != '\0' ? ": " : "", s->text);
    forget_wish(s);
    s->commands = 0;
    s->took_s = pw_now() - began;
    return PW_OK;
}

/* Emit the pending checkpoint once its files are on disk; drop it if recording has stopped or paused. */
static void finish(struct pw_lab *lab)
{
    struct pw_session *s = &lab->session;
    struct pw_event *told = s->checkpoint;
    const struct pw_ev_checkpoint *c = &told->u.checkpoint;
    for (int i = 0; i < c->n_files && s->now.how == PW_REC_ON; i++)
        if (!pw_store_has_file(s->store, c->files[i]))
            return;
    s->checkpoint = NULL;
    for (int i = 0; i < c->n_files && c->keep; i++)
        pw_store_keep(s->store, c->files[i]);
    if (s->now.how != PW_REC_ON) {
        pw_event_free(told);
        return;
    }
    told->t_ns = pw_wall_ns(); /* the time of this event; the state that it describes is older */
    s->first = true;
    bool asked = c->keep;
    s->told_step = asked ? told->step : s->told_step;
    pw_lab_emit(lab, told);
    s->told = asked ? lab->seq : s->told;
    if (asked)
        pw_store_hurry(s->store);
}

/* Report a requested checkpoint once its event is on disk and can't be lost. */
static void confirm(struct pw_lab *lab)
{
    struct pw_session *s = &lab->session;
    if (s->told == 0 || !pw_store_has(s->store, s->told))
        return;
    char name[sizeof s->now.name];
    pw_session_name(name, sizeof name, s->now.folder);
    if (s->now.how == PW_REC_ON)
        pw_lab_note(lab, "checkpoint at step %lld, in session %s (%s)", (long long)s->told_step, name,
                    s->now.folder);
    s->told = 0;
}

static bool is_due(const struct pw_session *s)
{
    return pw_now() - s->t_checkpoint >= fmax(EVERY_S, s->took_s / SHARE);
}

/* Begin a checkpoint if one is due, and emit the pending one if it is on disk. */
static void tick(struct pw_lab *lab)
{
    struct pw_session *s = &lab->session;
    struct pw_err why, err;
    if (s->checkpoint != NULL)
        finish(lab);
    confirm(lab);
    bool wanted = !s->first || s->wanted || (lab->steps_done != s->steps && is_due(s));
    if (s->checkpoint != NULL || !wanted || s->now.how != PW_REC_ON)
        return;
    pw_lab_drain(lab);
    if (!pw_lab_state_ready(lab))
        return;
    s->steps = lab->steps_done;
    if (begin_checkpoint(lab, &why) == PW_OK)
        return;
    bool named = s->text[0] != '\0';
    pw_fail(&err, why.code, "%s%.200s%s%.250s", named ? "checkpoint " : "", s->text, named ? ": " : "",
            why.msg);
    pw_lab_trouble(lab, &err);
    forget_wish(s);
    if (!s->first) /* a session without any checkpoint can't be resumed, so recording stops */
        pw_session_stop(lab, err.msg);
}

static void tell_news(struct pw_lab *lab)
{
    struct pw_session *s = &lab->session;
    struct pw_ev_session now = {0};
    pw_store_status(s->store, &now);
    bool news = now.how != s->now.how || now.checkpoints != s->now.checkpoints;
    if (now.how != s->now.how && now.how == PW_REC_PAUSED)
        pw_lab_note(lab, "recording is paused: %s; training continues", now.why);
    else if (now.how != s->now.how) {
        pw_lab_note(lab, "recording continues");
        /* a new checkpoint makes the session resumable from here, whatever is missing before it */
        s->wanted = true;
    }
    if (news || (now.bytes != s->now.bytes && pw_now() - s->t_told >= TELL_S))
        pw_session_emit(lab, false);
}

void pw_session_tick(struct pw_lab *lab)
{
    if (lab->session.store == NULL)
        return;
    tick(lab);
    tell_news(lab);
}

/* If the disk has just failed, allow time for a few more attempts: events that are not on disk by then are
 * lost. */
static void get_over_pause(struct pw_lab *lab)
{
    struct pw_session *s = &lab->session;
    double until = pw_now() + PAUSED_S;
    pw_session_tick(lab);
    while (s->store != NULL && s->now.how == PW_REC_PAUSED && pw_now() < until) {
        pw_store_hurry(s->store);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        pw_session_tick(lab);
    }
}

void pw_checkpoint_last(struct pw_lab *lab)
{
    struct pw_session *s = &lab->session;
    double until = pw_now() + LAST_S;
    if (s->store == NULL || !s->used)
        return;
    get_over_pause(lab);
    if (s->store == NULL)
        return;
    s->wanted = s->wanted || s->commands > 0 || lab->steps_done != s->steps;
    while ((s->wanted || s->checkpoint != NULL) && s->now.how == PW_REC_ON && pw_lab_state_ready(lab) &&
           pw_now() < until) {
        tick(lab);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}
