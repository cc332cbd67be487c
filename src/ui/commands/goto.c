/* goto.c - moves the time cursor, which selects the moment that the panes show. The lab continues. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include "ui/timeline.h"
#include <stdio.h>
#include <string.h>

static const char *const places[] = {"live", "mark", "command", "event", "start", "end", NULL};

/* Offers the places, the steps at which the current arm has ticks, and the texts of its marks. */
static void complete(struct pw_completion *c)
{
    const struct pw_ui *ui = c->seen;
    bool mark = c->at == 1 && strcmp(pw_args_word(c->so_far, 0), "mark") == 0;
    if (c->at == 0)
        pw_complete_offer_all(c, places);
    for (int i = 0; ui != NULL && i < ui->snap->n_ticks; i++) {
        const struct pw_tick *t = &ui->snap->ticks[i];
        if (t->arm == ui->snap->current && c->at == 0 && !t->live)
            pw_complete_offer(c, "%lld", (long long)t->step);
        else if (t->arm == ui->snap->current && mark && t->kind == PW_TICK_MARK)
            pw_complete_offer(c, "%s", t->text);
    }
}

/* ---- if no session is recorded: steps of the current arm */

static enum pw_code to_kept_mark(struct pw_ui *ui, const char *text, struct pw_err *err)
{
    const struct pw_tick *t = pw_timeline_mark(ui, text);
    if (t == NULL && *text)
        return pw_fail(err, PW_EUSER, "goto: no mark of the current arm has '%s' in its text", text);
    if (t == NULL)
        return pw_fail(err, PW_EUSER, "goto: the current arm has no mark; `mark TEXT` sets one");
    ui->time = t->step;
    return PW_OK;
}

static enum pw_code to_kept_step(struct pw_ui *ui, int64_t step, const char *text, struct pw_err *err)
{
    int64_t last = pw_timeline_last(ui);
    if (step < 0 || step > last)
        return pw_fail(err, PW_EUSER, "goto: %s from step %lld is outside 0..%lld", text,
                       (long long)pw_timeline_now(ui), (long long)last);
    ui->time = step < last ? step : -1;
    return PW_OK;
}

/* ---- if a session is recorded */

static uint64_t here(const struct pw_ui *ui, const struct pw_player *p)
{
    return ui->transport.at > 0 ? ui->transport.at : pw_player_last(p);
}

/* Shows the log line of the current moment, if it has one. */
static void say_what(struct pw_app *app)
{
    const struct pw_snapshot *s = app->ui.snap;
    const struct pw_log_line *line = s->n_log > 0 ? &s->log[(s->n_log - 1) % PW_LOG_LINES] : NULL;
    if (line != NULL && line->t_ns == pw_player_time(app->ui.transport.player, s->seq))
        pw_app_answer(app, "%s", line->text);
}

/* Moves to the newest mark before the cursor; the search wraps around. */
static enum pw_code to_mark(struct pw_app *app, struct pw_player *p, const char *text, struct pw_err *err)
{
    uint64_t seq = pw_player_seek(p, here(&app->ui, p), -1, PW_EV_MARK, text);
    if (seq == 0)
        seq = pw_player_seek(p, UINT64_MAX, -1, PW_EV_MARK, text);
    if (seq == 0 && *text)
        return pw_fail(err, PW_EUSER, "goto: no mark has '%s' in its text", text);
    if (seq == 0)
        return pw_fail(err, PW_EUSER, "goto: the recording has no mark; `mark TEXT` sets one");
    pw_time_to_event(&app->ui, seq);
    say_what(app);
    return PW_OK;
}

/* Moves n commands (or events) forward or back. */
static enum pw_code to_nth(struct pw_app *app, struct pw_player *p, const char *what, const char *text,
                           struct pw_err *err)
{
    enum pw_event_kind kind = strcmp(what, "command") == 0 ? PW_EV_COMMAND : PW_EV_KINDS;
    uint64_t seq = here(&app->ui, p);
    long n = 1;
    if (text != NULL && (!pw_text_int(text + (*text == '+'), -1000000, 1000000, &n) || n == 0))
        return pw_fail(err, PW_EUSER, "goto %s: '%s': allowed are -1000000..1000000 except 0", what, text);
    for (long i = 0; seq > 0 && i < (n < 0 ? -n : n); i++)
        seq = pw_player_seek(p, seq, n < 0 ? -1 : 1, kind, "");
    if (seq == 0)
        return pw_fail(err, PW_EUSER, "goto %s %ld: too few %ss %s this moment", what, n, what,
                       n < 0 ? "before" : "after");
    pw_time_to_event(&app->ui, seq);
    say_what(app);
    return PW_OK;
}

static enum pw_code to_start(struct pw_ui *ui, struct pw_player *p)
{
    if (p != NULL)
        pw_time_to_event(ui, pw_player_seek(p, 0, 1, PW_EV_KINDS, ""));
    else
        ui->time = pw_timeline_last(ui) > 0 ? 0 : -1;
    return PW_OK;
}

/* ---- both */

/* A step that is not on disk yet is awaited as this step, also if it was relative to one that is past then.
 */
static bool puts_off_step(struct pw_app *app, int64_t step)
{
    char line[64];
    if (!pw_time_awaits(&app->ui, step))
        return false;
    snprintf(line, sizeof line, "goto %lld", (long long)step);
    return pw_app_puts_off_past(app, line);
}

static enum pw_code to_step(struct pw_app *app, struct pw_player *p, const char *text, struct pw_err *err)
{
    struct pw_ui *ui = &app->ui;
    bool relative = *text == '+' || *text == '-';
    const struct pw_arm_view *arm = ui->snap->current > 0 ? &ui->snap->arms[ui->snap->current - 1] : NULL;
    int64_t now = p == NULL ? pw_timeline_now(ui) : arm != NULL ? arm->info.step : 0;
    int64_t last = p != NULL ? INT64_MAX / 2 : pw_timeline_last(ui);
    long n;
    if (!pw_text_int(text + (*text == '+'), relative ? -last : 0, last, &n)) {
        if (p != NULL)
            return pw_fail(err, PW_EUSER,
                           "goto: '%s': allowed are a step, +N, -N, live, mark, command, event, start, end",
                           text);
        return pw_fail(err, PW_EUSER, "goto: '%s': allowed are 0..%lld, +N, -N, live, mark, start, end", text,
                       (long long)last);
    }
    int64_t step = relative ? now + n : n;
    if (p != NULL && puts_off_step(app, step))
        return PW_OK;
    return p != NULL ? pw_time_to_step(ui, step, err) : to_kept_step(ui, step, text, err);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct pw_player *p;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_goto, args, 1, 2, err);
    if (code != PW_OK)
        return code;
    if (!app->screen && !app->ui.transport.alone)
        return pw_fail(err, PW_EUSER,
                       "goto: plain mode has no timeline; use 'pewter replay NAME -c' on a recorded session");
    const char *where = pw_args_word(args, 0), *text = pw_args_word(args, 1);
    bool nth = strcmp(where, "command") == 0 || strcmp(where, "event") == 0,
         mark = strcmp(where, "mark") == 0;
    if (text != NULL && !nth && !mark)
        return pw_fail(err, PW_EUSER, "goto: too many words; usage: %s", pw_ui_cmd_goto.usage);
    if ((code = pw_time_player(&app->ui, &p, err)) != PW_OK || pw_app_puts_off_past(app, args->text))
        return code;
    if (nth && p == NULL)
        return pw_fail(err, PW_EUSER, "goto %s: nothing is recorded here", where);
    app->ui.transport.playing = false;
    if (mark)
        return p != NULL ? to_mark(app, p, text != NULL ? text : "", err)
                         : to_kept_mark(&app->ui, text != NULL ? text : "", err);
    if (nth)
        return to_nth(app, p, where, text, err);
    if (strcmp(where, "start") == 0)
        return to_start(&app->ui, p);
    if (strcmp(where, "live") != 0 && strcmp(where, "end") != 0)
        return to_step(app, p, where, err);
    pw_time_live(&app->ui);
    return PW_OK;
}

const struct pw_command pw_ui_cmd_goto = {
    .name = "goto",
    .search = "rewind replay history time scrub seek",
    .usage = "goto STEP|+N|-N|live|mark [TEXT]|command [N]|event [N]|start|end",
    .example = "goto 10",
    .summary = "show an earlier moment of training",
    .detail =
        "Move the time cursor; training continues. In a recorded or replayed session all panes show that\n"
        "moment, and steps are those of the arm that was current then. If nothing is recorded, only panes\n"
        "that keep their past show it. `goto mark` goes to the last mark before the cursor (that contains\n"
        "TEXT), `goto command -1` to the previous command, `goto event 1` to the next event; `goto live`\n"
        "(or end) returns to the present.",
    .where = PW_AT_UI,
    .complete = complete,
    .run = run,
};
