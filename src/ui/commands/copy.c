/* copy.c - copies the focused pane's contents to the clipboard and to a file. */
#include "ui/app.h"
#include "ui/clipboard.h"
#include "ui/commands/commands.h"
#include "ui/plot.h"
#include "ui/state.h"
#include <stdlib.h>

/* Appends the text as it is drawn, without the frame. */
static void copy_drawn(struct pw_ui *ui, struct pw_str *out)
{
    struct pw_layout at;
    struct pw_canvas c;
    pw_ui_settle(ui, ui->rows, ui->cols);
    pw_ui_layout(ui, ui->rows, ui->cols, &at);
    struct pw_rect r = at.panes[ui->focus];
    pw_canvas_init(&c);
    pw_canvas_resize(&c, r.h > 2 ? r.h - 2 : 1, r.w > 2 ? r.w - 2 : 1);
    pw_panes[ui->focus]->draw(ui, &c, (struct pw_rect){0, 0, c.rows, c.cols});
    pw_theme_fit(&c, &ui->look);
    pw_canvas_text(&c, out);
    pw_canvas_fini(&c);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct pw_str text = {0}, path = {0};
    enum pw_code code = pw_args_limit(&pw_ui_cmd_copy, args, 0, 1, err);
    if (code != PW_OK)
        return code;
    if (!app->screen)
        return pw_fail(err, PW_EUSER, "copy: there are no panes in plain mode; `export` writes values");
    const struct pw_pane *pane = pw_panes[app->ui.focus];
    struct pw_needs needs = pw_pane_needs(pane);
    if (pw_app_puts_off(app, &needs, args))
        return PW_OK;
    if (pane->copy != NULL)
        pane->copy(&app->ui, &text);
    if (text.len == 0)
        copy_drawn(&app->ui, &text);
    if (args->n == 1)
        pw_str_add(&path, "%s", pw_args_word(args, 0));
    else
        code = pw_state_path("copy.tsv", &path, err);
    bool fits = text.len <= PW_CLIPBOARD_MAX;
    if (code == PW_OK && fits)
        pw_clipboard_sequence(text.s, text.len, getenv("TMUX") != NULL, &app->to_terminal);
    if (code == PW_OK) {
        struct pw_disk_job job = {0};
        pw_str_add(&job.said, "%s %s: %zu bytes in %s%s", pane->title,
                   pane->copy != NULL ? "copied" : "copied as drawn", text.len, path.s,
                   fits ? ", and to the terminal's clipboard" : "; too much for a clipboard");
        pw_disk_add(&job, path.s, &text);
        job.folders = args->n == 0;
        code = pw_app_write(app, &job, err);
    }
    pw_str_fini(&text);
    pw_str_fini(&path);
    return code;
}

const struct pw_command pw_ui_cmd_copy = {
    .name = "copy",
    .search = "yank clipboard",
    .usage = "copy [FILE]",
    .example = "copy values.tsv",
    .summary = "copy the focused pane's values to the clipboard and a file",
    .detail =
        "Tab-separated values if the pane has any, else its text as drawn. The clipboard is the terminal's\n"
        "(OSC 52), also over ssh; in tmux it needs `set -g set-clipboard on`. Default of FILE:\n"
        "$XDG_STATE_HOME/pewter/copy.tsv, else ~/.local/state/pewter/copy.tsv.",
    .where = PW_AT_UI,
    .file_at = 1,
    .run = run,
};
