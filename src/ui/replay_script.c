/* replay_script.c - writes a session as a script that re-runs it: its commands, each at the steps of the arms
 * at which it took effect.
 *
 * Commands that were typed while training ran took effect between two steps. The script therefore replaces
 * the training commands by those that reach the recorded steps, arm by arm. That is sufficient because no
 * arm's bits depend on another arm. Three kinds of commands become comments: those that only control time,
 * those that failed (they would end the script), and those that act outside the program. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "ui/replay.h"

/* Commands that control time, and `demo`, whose lines are recorded as commands of their own. */
static const char *const clocks[] = {"train", "step", "pause", "resume", "stop", "cancel", "demo", NULL};

struct arm {
    int replicas;                      /* 0: no such arm */
    int64_t told;                      /* the step that the script has reached */
    int64_t step[PW_MAX_REPLICAS + 1]; /* step of each replica; [0] is unused */
    bool moved;                        /* some replica took steps since the last command */
};

/* The position of an arm: step `at`, which its last `behind` replicas have not taken yet. */
struct place {
    int64_t at;
    int behind;
};

struct writer {
    FILE *out;
    const struct pw_commands *commands;
    struct arm arms[PW_MAX_ARMS + 1]; /* by id */
    bool gap;                         /* events are missing since the last command, possibly steps */
    bool pending;                     /* text is a command that can still fail */
    char text[PW_COMMAND];
    struct place at[PW_MAX_ARMS + 1]; /* steps of the arms when the command arrived */
};

static struct place now(const struct arm *a)
{
    struct place p = {a->step[1], 0};
    for (int r = 2; r <= a->replicas; r++)
        p.behind += a->step[r] < a->step[1];
    return p;
}

static bool moves(const struct writer *w, const struct arm *a, struct place to)
{
    return a->replicas > 0 && (a->moved || (w->gap && to.at > a->told));
}

/* Returns true if `train until step=STEP`, with the value of step, brings all arms to the positions in to. */
static bool are_together(const struct writer *w, const struct place to[PW_MAX_ARMS + 1], int64_t step)
{
    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        const struct arm *a = &w->arms[id];
        bool right = moves(w, a, to[id]) ? to[id].at == step && to[id].behind == 0
                                         : to[id].at - (to[id].behind > 0) >= step;
        if (a->replicas > 0 && !right)
            return false;
    }
    return true;
}

static void write_training(struct writer *w, const struct place to[PW_MAX_ARMS + 1])
{
    int64_t step = 0;
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        if (moves(w, &w->arms[id], to[id]) && to[id].at > step)
            step = to[id].at;
    bool together = step > 0 && are_together(w, to, step);
    if (together)
        fprintf(w->out, "train until step=%" PRId64 "\n", step);
    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        struct arm *a = &w->arms[id];
        if (moves(w, a, to[id]) && !together) {
            fprintf(w->out, "train until step=%" PRId64 " arm=%d", to[id].at, id);
            if (to[id].behind > 0)
                fprintf(w->out, " replica=%d", a->replicas - to[id].behind);
            putc('\n', w->out);
        }
        for (int r = 1; r <= a->replicas; r++)
            a->step[r] = to[id].at - (r > a->replicas - to[id].behind);
        a->told = to[id].at;
        a->moved = false;
    }
    w->gap = false;
}

static bool is_comment(const struct writer *w, const char *text)
{
    struct pw_args args;
    const struct pw_command *cmd;
    struct pw_err err;
    if (pw_command_parse(w->commands, text, &args, &cmd, &err) != PW_OK)
        return true; /* written by another version of pewter */
    bool comment = cmd->outside != NULL && cmd->outside(&args);
    for (int i = 0; clocks[i] != NULL; i++)
        comment = comment || strcmp(args.name, clocks[i]) == 0;
    pw_args_fini(&args);
    return comment;
}

/* Writes the pending command after the training that brings the arms to its steps. failed: the error message,
 * or NULL. */
static void write_command(struct writer *w, const char *failed)
{
    if (!w->pending)
        return;
    bool comment = failed != NULL || is_comment(w, w->text);
    w->pending = false;
    if (!comment)
        write_training(w, w->at);
    fprintf(w->out, "%s%s%s%s\n", comment ? "# " : "", w->text, failed != NULL ? "  # failed: " : "",
            failed != NULL ? failed : "");
}

static void take_command(struct writer *w, const struct pw_event *e)
{
    write_command(w, NULL);
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        w->at[id] = (struct place){e->u.command.at[id - 1], e->u.command.behind[id - 1]};
    memcpy(w->text, e->u.command.text, sizeof w->text);
    w->pending = true;
}

static void take_arm(struct writer *w, const struct pw_ev_arm *v)
{
    struct arm *a = &w->arms[v->id];
    const struct arm *parent = v->parent > 0 ? &w->arms[v->parent] : NULL;
    if (!v->restarted && a->replicas > 0)
        return;
    *a = (struct arm){.replicas = v->replicas, .told = v->step};
    for (int r = 1; r <= v->replicas; r++) /* a fork can happen in the middle of a round */
        a->step[r] = parent != NULL && parent->told == v->step ? parent->step[r] : v->step;
}

static bool take(void *arg, struct pw_event *e)
{
    struct writer *w = arg;
    bool of_arm = e->arm >= 1 && e->arm <= PW_MAX_ARMS;
    int replica = pw_event_replica(e);
    if (e->kind == PW_EV_ERROR)
        write_command(w, e->u.text);
    else if (e->kind == PW_EV_ASKED || e->kind == PW_EV_STEP || e->kind == PW_EV_ARM ||
             e->kind == PW_EV_DROP || e->kind == PW_EV_GAP)
        write_command(w, NULL); /* a failure is reported before any other event */
    switch (e->kind) {
    case PW_EV_COMMAND: take_command(w, e); break;
    case PW_EV_ARM: take_arm(w, &e->u.arm); break;
    case PW_EV_DROP: w->arms[of_arm ? e->arm : 0] = (struct arm){0}; break;
    case PW_EV_STEP:
        w->arms[of_arm ? e->arm : 0].step[replica] = e->step;
        w->arms[of_arm ? e->arm : 0].moved = true;
        break;
    case PW_EV_GAP:
        fprintf(w->out, "# events are missing here: recording was paused, so commands may be missing\n");
        w->gap = true;
        break;
    default: break;
    }
    return ferror(w->out) == 0;
}

static void write_head(FILE *out, struct pw_record *r)
{
    struct pw_record_info info;
    char day[32] = "";
    struct tm tm;
    pw_record_info(r, &info);
    time_t t = (time_t)(info.created_ns / 1000000000);
    if (gmtime_r(&t, &tm) != NULL)
        strftime(day, sizeof day, "%Y-%m-%d", &tm);
    fprintf(out,
            "# The session %s, recorded since %s, as a script: 'pewter run FILE' re-runs it.\n"
            "# Written by pewter " PEWTER_VERSION " from %" PRIu64 " events; recorded with pewter %s.\n"
            "# Each training command stops where the next command was typed.\n"
            "\n",
            info.name, day, info.last, info.env);
}

enum pw_code pw_replay_script(FILE *out, struct pw_record *r, const struct pw_commands *all,
                              struct pw_str *missing, struct pw_err *err)
{
    struct writer w = {.out = out, .commands = all};
    struct place end[PW_MAX_ARMS + 1] = {{0, 0}};
    write_head(out, r);
    enum pw_code code = pw_replay_events(r, take, &w, missing, err);
    write_command(&w, NULL);
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        end[id] = now(&w.arms[id]);
    write_training(&w, end);
    return code;
}
