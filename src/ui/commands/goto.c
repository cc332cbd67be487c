/* goto.c - moves the time cursor: which moment of training the panes show. The laboratory goes on. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include "ui/timeline.h"
#include <string.h>

/* live and mark, the steps at which something happened to the current arm, and what its marks say. */
static void complete(struct pw_completion *c)
{
    const struct pw_ui *ui = c->seen;
    bool mark = c->at == 1 && strcmp(pw_args_word(c->so_far, 0), "mark") == 0;
    if (c->at == 0)
        pw_complete_offer_all(c, (const char *const[]){"live", "mark", NULL});
    for (int i = 0; ui != NULL && i < ui->snap->n_ticks; i++) {
        const struct pw_tick *t = &ui->snap->ticks[i];
        if (t->arm == ui->snap->current && c->at == 0 && !t->live)
            pw_complete_offer(c, "%lld", (long long)t->step);
        else if (t->arm == ui->snap->current && mark && t->kind == PW_TICK_MARK)
            pw_complete_offer(c, "%s", t->text);
    }
}

static enum pw_code to_mark(struct pw_ui *ui, const char *text, struct pw_err *err)
{
    const struct pw_tick *t = pw_timeline_mark(ui, text);
    if (!t && *text)
        return pw_fail(err, PW_EUSER, "goto: no mark of the current arm has '%s' in its text", text);
    if (!t)
        return pw_fail(err, PW_EUSER, "goto: the current arm has no mark; `mark TEXT` sets one");
    ui->time = t->step;
    return PW_OK;
}

static enum pw_code to_step(struct pw_ui *ui, const char *text, struct pw_err *err)
{
    int64_t last = pw_timeline_last(ui);
    bool relative = *text == '+' || *text == '-';
    long n;
    if (!pw_text_int(text + (*text == '+'), relative ? -last : 0, last, &n))
        return pw_fail(err, PW_EUSER, "goto: '%s': allowed are 0..%lld, +N, -N, live, mark", text,
                       (long long)last);
    int64_t step = relative ? pw_timeline_now(ui) + n : n;
    if (step < 0 || step > last)
        return pw_fail(err, PW_EUSER, "goto: %s from step %lld is outside 0..%lld", text,
                       (long long)pw_timeline_now(ui), (long long)last);
    ui->time = step < last ? step : -1;
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_goto, args, 1, 2, err);
    if (code != PW_OK)
        return code;
    if (!app->screen)
        return pw_fail(err, PW_EUSER, "goto: there is no timeline in plain mode");
    const char *where = pw_args_word(args, 0), *text = pw_args_word(args, 1);
    if (!strcmp(where, "mark"))
        return to_mark(&app->ui, text ? text : "", err);
    if (text)
        return pw_fail(err, PW_EUSER, "goto: too many words; usage: %s", pw_ui_cmd_goto.usage);
    if (strcmp(where, "live") != 0)
        return to_step(&app->ui, where, err);
    app->ui.time = -1;
    return PW_OK;
}

const struct pw_command pw_ui_cmd_goto = {
    .name = "goto",
    .usage = "goto STEP|+N|-N|live|mark [TEXT]",
    .summary = "look at an earlier moment of training",
    .detail =
        "Moves the time cursor of the timeline, and nothing else: training goes on. Panes that keep the "
        "past\n"
        "show it as it was at that step of the current arm; `goto live` is the present again. `goto mark`\n"
        "goes to the newest mark before the cursor (that has TEXT in it).",
    .where = PW_AT_UI,
    .complete = complete,
    .run = run,
};
