/* fresh.c - a command that draws waits until the lab has computed its data, and one that moves in time until
 * the session has been read.
 *
 * The snapshot's data of the pinned prompt and of encodings can belong to another arm or to older weights. A
 * line that selects an arm is possibly still on its way, and without a screen no data is refreshed unasked.
 * So the command sends a request to the lab (lab/loop/fresh.c) and is put off. It runs with the snapshot in
 * which the request completes. In a script the command waits at its place; the rest of a typed line waits
 * with it. A command that needs the session's player waits in the same way while another thread reads it, and
 * one that draws an earlier moment while another thread reads its arrays. */
#include "base/alloc.h"
#include "ui/app.h"
#include <stdlib.h>
#include <string.h>

struct pw_needs pw_pane_needs(const struct pw_pane *pane)
{
    return (struct pw_needs){.answer = pane->shows == PW_SHOWS_ANSWER,
                             .table_of = pane->shows == PW_SHOWS_TABLE ? 1 : 0};
}

/* Returns false if the view is the past, or if the lab is re-running a session, which precedes every request.
 * Then the command draws the available data. */
static bool can_ask(const struct pw_app *app)
{
    return app->lab != NULL && app->ui.present == NULL && pw_time_end(&app->ui)->session.how != PW_REC_READ;
}

#define PLAYER 0          /* in place of a request: the session's player */
#define ROWS   UINT64_MAX /* the arrays of the moment that is shown */

/* Puts the command off, with the rest of its line or script. */
static void put_off(struct pw_app *app, const char *text, uint64_t request)
{
    struct pw_held *h = &app->held;
    struct pw_err none;
    app->put_off = true;
    if (app->script) {
        pw_script_insert(app, NULL, text, &none); /* cannot fail: the text was split before */
        app->todo.waiting = request == PLAYER || request == ROWS ? PW_WAIT_PAST : PW_WAIT_LAB;
        app->todo.request = request;
        return;
    }
    h->entry = pw_grow(h->entry, (size_t)h->n + 1, sizeof *h->entry);
    h->entry[h->n++] = (struct pw_held_entry){.request = request, .line = pw_text_dup(text)};
}

static bool is_ready(const struct pw_app *app, uint64_t request)
{
    return request == PLAYER ? !pw_time_reading(&app->ui)
           : request == ROWS ? !pw_time_lacks(&app->ui)
                             : pw_lab_requests_done(app->lab) >= request;
}

bool pw_app_puts_off(struct pw_app *app, const struct pw_needs *needs, const struct pw_args *args)
{
    if (pw_time_lacks(&app->ui)) {
        put_off(app, args->text, ROWS);
        return true;
    }
    if (app->fresh || !can_ask(app))
        return false;
    pw_lab_request(app->lab, needs);
    put_off(app, args->text, ++app->requests);
    return true;
}

bool pw_app_puts_off_past(struct pw_app *app, const char *text)
{
    bool reading = pw_time_reading(&app->ui);
    if (reading)
        put_off(app, text, PLAYER);
    return reading;
}

bool pw_app_waited(const struct pw_app *app)
{
    return is_ready(app, app->todo.request);
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
    while (h->n > 0 && is_ready(app, h->entry[0].request) && code == PW_OK) {
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
