/* fresh.c - a command that draws waits until the laboratory has computed what it draws.
 *
 * What the snapshot holds of the pinned prompt and of encodings may be another arm's, or of other weights: a
 * line that chooses an arm may still be on its way, and without a screen nothing is refreshed unasked. So the
 * command asks the laboratory (lab/fresh.c) and is put off; it runs with the very snapshot that the request
 * ends with. In a script it waits in its place, of a typed line the rest waits with it. */
#include "base/alloc.h"
#include "ui/app.h"
#include <stdlib.h>
#include <string.h>

struct pw_needs pw_pane_needs(const struct pw_pane *pane)
{
    return (struct pw_needs){.answer = pane->shows == PW_SHOWS_ANSWER,
                             .table_of = pane->shows == PW_SHOWS_TABLE ? 1 : 0};
}

/* Is the past looked at, or is the lab re-running a recording, which comes before every request? Then what
 * there is is drawn. */
static bool can_ask(const struct pw_app *app)
{
    return app->lab && !app->ui.present && pw_time_end(&app->ui)->session.how != PW_REC_READ;
}

static void hold(struct pw_app *app, const char *text)
{
    struct pw_held *h = &app->held;
    h->entry = pw_grow(h->entry, (size_t)h->n + 1, sizeof *h->entry);
    h->entry[h->n++] = (struct pw_held_entry){.request = app->requests, .line = pw_text_dup(text)};
}

bool pw_app_puts_off(struct pw_app *app, const struct pw_needs *needs, const struct pw_args *args)
{
    struct pw_err none;
    if (app->fresh || !can_ask(app))
        return false;
    pw_lab_request(app->lab, needs);
    app->requests++;
    app->put_off = true;
    if (!app->script) {
        hold(app, args->text);
        return true;
    }
    pw_script_insert(app, NULL, args->text, &none); /* it was split before */
    app->todo.waiting = PW_WAIT_LAB;
    app->todo.request = app->requests;
    return true;
}

void pw_app_hold_rest(struct pw_app *app, const char *text)
{
    struct pw_held_entry *last = &app->held.entry[app->held.n - 1];
    struct pw_str line = {0};
    pw_str_add(&line, "%s\n%s", last->line, text);
    free(last->line);
    last->line = pw_text_dup(line.s);
    pw_str_fini(&line);
}

enum pw_code pw_app_run_held(struct pw_app *app, struct pw_err *err)
{
    struct pw_held *h = &app->held;
    enum pw_code code = PW_OK;
    while (h->n > 0 && h->entry[0].request <= pw_lab_requests_done(app->lab) && code == PW_OK) {
        char *line = h->entry[0].line;
        memmove(h->entry, h->entry + 1, (size_t)--h->n * sizeof *h->entry);
        app->fresh = true;
        code = pw_app_submit(app, line, PW_SEND_NOW, err);
        app->fresh = false;
        free(line);
    }
    return code;
}

void pw_app_drop_held(struct pw_app *app)
{
    for (int i = 0; i < app->held.n; i++)
        free(app->held.entry[i].line);
    free(app->held.entry);
    app->held = (struct pw_held){0};
}
