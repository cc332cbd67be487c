/* verify.c - choose the events that are compared in a re-run, and write the verdict.
 *
 * The codec's tables (codec.h) drive the comparison, so every member of every kind is compared, except the
 * members that the tables mark as machine-dependent. */
#include "lab/recording/verify.h"
#include "lab/recording/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sessions/codec.h"

bool pw_verify_takes(enum pw_event_kind kind)
{
    return pw_event_of_replica(kind) || kind == PW_EV_FINDING;
}

bool pw_verify_is(const struct pw_event *want, const struct pw_event *got)
{
    if (want->kind != got->kind || want->arm != got->arm || pw_event_replica(want) != pw_event_replica(got) ||
        want->step != got->step)
        return false;
    switch (want->kind) {
    case PW_EV_EVAL: return want->u.eval.live == got->u.eval.live;
    case PW_EV_TOKEN:
        return want->u.token.prompt == got->u.token.prompt && want->u.token.pos == got->u.token.pos;
    default: return true;
    }
}

/* ---- the first difference */

static const char *name_of(enum pw_event_kind kind)
{
    static const char *const names[PW_EV_KINDS] = {
        [PW_EV_COMMAND] = "command", [PW_EV_STEP] = "step",           [PW_EV_UPDATES] = "updates",
        [PW_EV_DIGEST] = "digest",   [PW_EV_EVAL] = "evaluation",     [PW_EV_FAILING] = "failing examples",
        [PW_EV_PROMPT] = "prompt",   [PW_EV_TOKEN] = "token",         [PW_EV_CURSOR] = "cursor",
        [PW_EV_LOOK] = "look",       [PW_EV_ATTENTION] = "attention", [PW_EV_TABLE] = "table",
        [PW_EV_HEADS] = "heads",     [PW_EV_PATCH] = "patch",         [PW_EV_ERROR] = "error",
        [PW_EV_FINDING] = "finding",
    };
    return names[kind] != NULL ? names[kind] : "event";
}

/* "arm 1, replica 2, step 78" */
static void place_of(char dst[64], const struct pw_event *e)
{
    char replica[24] = "";
    if (e->replica > 1)
        snprintf(replica, sizeof replica, ", replica %d", e->replica);
    if (e->arm > 0)
        snprintf(dst, 64, "arm %d%s, step %" PRId64, e->arm, replica, e->step);
    else
        snprintf(dst, 64, "event %" PRIu64, e->seq);
}

/* Return the counter of equal events of a kind. */
static int64_t *counter_of(struct pw_verdict *v, enum pw_event_kind kind)
{
    switch (kind) {
    case PW_EV_STEP: return &v->steps;
    case PW_EV_DIGEST: return &v->digests;
    case PW_EV_EVAL: return &v->evals;
    case PW_EV_TOKEN: return &v->tokens;
    default: return &v->others;
    }
}

static void differs(struct pw_verdict *v, const struct pw_event *want)
{
    v->end = PW_FOLLOW_DIFFERENT;
    v->seq = want->seq;
    v->kind = want->kind;
    v->arm = want->arm;
    v->replica = want->replica;
    v->step = want->step;
}

void pw_verify_missing(struct pw_verdict *v, const struct pw_event *want, const char *why)
{
    char place[64], what[96] = "";
    differs(v, want);
    place_of(place, want);
    if (want->kind == PW_EV_COMMAND)
        pw_text_copy(what, sizeof what, want->u.command.text);
    snprintf(v->text, sizeof v->text, "%s: the %s%s%s%s that was recorded there is missing: %.200s", place,
             name_of(want->kind), what[0] != '\0' ? " '" : "", what, what[0] != '\0' ? "'" : "", why);
}

/* A digest is one number of 128 bits, so its text shows all of it. */
static void digest_texts(struct pw_difference *d, const struct pw_event *want, const struct pw_event *got)
{
    snprintf(d->what, sizeof d->what, "digest");
    pw_digest_text(d->recorded, want->u.digest);
    pw_digest_text(d->now, got->u.digest);
}

bool pw_verify_same(struct pw_verdict *v, const struct pw_event *want, const struct pw_event *got)
{
    struct pw_difference d;
    char place[64];
    if (pw_event_same(want, got, &d)) {
        *counter_of(v, want->kind) += 1;
        return true;
    }
    if (want->kind == PW_EV_DIGEST)
        digest_texts(&d, want, got);
    differs(v, want);
    place_of(place, want);
    memcpy(v->what, d.what, sizeof v->what);
    memcpy(v->recorded, d.recorded, sizeof v->recorded);
    memcpy(v->now, d.now, sizeof v->now);
    snprintf(v->text, sizeof v->text, "%s: %s: %s was %s when it was recorded and is %s now", place,
             name_of(v->kind), v->what, v->recorded, v->now);
    return false;
}

void pw_verify_failed(struct pw_verdict *v, uint64_t seq, const char *why)
{
    v->end = PW_FOLLOW_DIFFERENT;
    v->seq = seq;
    v->kind = PW_EV_ERROR;
    snprintf(v->text, sizeof v->text,
             "event %" PRIu64 ": a command fails now that did not fail when it was recorded: %s", seq, why);
}

void pw_verify_end(struct pw_verdict *v, enum pw_follow_end end, uint64_t seq)
{
    v->end = end;
    v->seq = seq;
    snprintf(v->text, sizeof v->text,
             "%s: %" PRId64 " commands re-run; %" PRId64 " steps, %" PRId64 " digests, %" PRId64
             " evaluations, %" PRId64 " tokens, %" PRId64 " other results and %" PRId64
             " models of checkpoints have the recorded bits",
             end == PW_FOLLOW_EQUAL ? "equal" : "stopped, equal so far", v->commands, v->steps, v->digests,
             v->evals, v->tokens, v->others, v->models);
}
