/* script.c - runs a script's commands one after the other, in the workbench or the lab.
 *
 * The lab queues its own commands. A command of the workbench (focus, wait, screenshot) and the text of a
 * lesson must keep the order. So they wait here until the lab has finished all earlier commands. A failure on
 * either side drops the rest of the script. */
#include "base/alloc.h"
#include "base/clock.h"
#include "ui/app.h"
#include <stdlib.h>
#include <string.h>

#define BACKSPACE 127

static void push(struct pw_script *s, const char *text)
{
    if (s->n == s->cap) {
        s->cap = s->cap > 0 ? 2 * s->cap : 16;
        s->line = pw_grow(s->line, (size_t)s->cap, sizeof *s->line);
    }
    s->line[s->n++] = pw_text_dup(text);
}

/* Writes a place as an entry of a queue. */
static const char *entry_of(char entry[PW_LINE + 1], const char *place)
{
    entry[0] = PW_PLACE;
    pw_text_copy(entry + 1, PW_LINE, place);
    return entry;
}

static enum pw_code push_command(void *arg, const char *command, int line)
{
    struct pw_script *s = arg;
    char place[PW_LINE], entry[PW_LINE + 1];
    if (s->file != NULL) {
        snprintf(place, sizeof place, "%.*s:%d", PW_LINE - 16, s->file, line);
        push(s, entry_of(entry, place));
    }
    push(s, command);
    return PW_OK;
}

/* Splits text into commands. The error for an unclosed quote already names the line. */
static enum pw_code split(struct pw_script *s, const char *file, const char *text, struct pw_err *err)
{
    s->file = file;
    enum pw_code code = pw_commands_split(text, push_command, s, err);
    s->file = NULL;
    if (code != PW_OK && file != NULL)
        pw_err_at(err, file);
    return code;
}

static void clear(struct pw_script *s)
{
    for (int i = s->at; i < s->n; i++)
        free(s->line[i]);
    free(s->line);
    *s = (struct pw_script){0};
}

bool pw_script_busy(const struct pw_app *app)
{
    const struct pw_script *s = &app->todo;
    return s->at < s->n || s->sent || s->waiting != PW_WAIT_NOTHING || app->ui.lesson.title[0];
}

void pw_script_end(struct pw_app *app)
{
    clear(&app->todo);
    pw_lesson_forget(app);
    app->ui.lesson.title[0] = '\0';
}

enum pw_code pw_script_add(struct pw_app *app, const char *file, const char *text, struct pw_err *err)
{
    if (!pw_script_busy(app)) {
        app->todo.failures = pw_app_failures(app);
        app->todo.files = app->todo.pressed = 0;
        app->todo.place[0] = '\0';
        app->todo.placed = false;
    }
    return split(&app->todo, file, text, err);
}

enum pw_code pw_script_insert(struct pw_app *app, const char *file, const char *text, struct pw_err *err)
{
    char entry[PW_LINE + 1];
    bool more = app->script || pw_script_busy(app);
    struct pw_script first = {.failures = pw_app_failures(app),
                              .files = more ? app->todo.files : 0,
                              .pressed = more ? app->todo.pressed : 0};
    enum pw_code code = split(&first, file, text, err);
    if (code != PW_OK) {
        clear(&first);
        return code;
    }
    if (file != NULL) /* afterwards continue at the earlier place */
        push(&first, entry_of(entry, app->todo.place));
    for (int i = app->todo.at; i < app->todo.n; i++)
        push(&first, app->todo.line[i]);
    pw_text_copy(first.place, sizeof first.place, app->todo.place);
    if (app->todo.waiting == PW_WAIT_DISK)
        first.waiting = PW_WAIT_DISK, first.request = app->todo.request;
    clear(&app->todo);
    app->todo = first;
    return PW_OK;
}

/* Adds a paragraph to the lesson's page. A page is the text between two waits. */
static enum pw_code put_on_page(struct pw_ui *ui, const char *text, struct pw_err *err)
{
    size_t size = sizeof ui->lesson.text;
    if (ui->lesson.read) {
        ui->lesson.text[0] = '\0';
        ui->lesson.read = false;
        ui->lesson.step++;
    }
    size_t n = strlen(ui->lesson.text), more = strlen(text);
    if (n + 1 + more >= size)
        return pw_fail(err, PW_EUSER, "say: a step has at most %zu bytes; with this paragraph it has %zu",
                       size - 1, n + 1 + more);
    if (n > 0)
        ui->lesson.text[n++] = '\n';
    pw_text_copy(ui->lesson.text + n, size - n, text);
    return PW_OK;
}

/* Sends a command to the lab, after its place in the file. */
static enum pw_code send(struct pw_app *app, const char *line, struct pw_err *err)
{
    struct pw_script *s = &app->todo;
    if (app->lab != NULL && !s->placed) {
        char entry[PW_LINE + 1];
        pw_lab_send(app->lab, entry_of(entry, s->place), PW_SEND_SCRIPT);
        s->placed = true;
    }
    return pw_app_send(app, line, PW_SEND_SCRIPT, err);
}

/* Runs the next command, or sends it, after which the lab is no longer idle. Returns false if the command
 * must wait until the lab is idle. */
static bool run_next(struct pw_app *app, bool *idle, enum pw_code *code, struct pw_err *err)
{
    struct pw_script *s = &app->todo;
    const struct pw_command *cmd;
    struct pw_args args;
    while (s->at < s->n && s->line[s->at][0] == PW_PLACE) {
        pw_text_copy(s->place, sizeof s->place, s->line[s->at] + 1);
        s->placed = false;
        free(s->line[s->at++]);
    }
    if (s->at == s->n)
        return false;
    bool parsed = pw_command_parse(app->commands, s->line[s->at], &args, &cmd, err) == PW_OK;
    bool ours = parsed && cmd->where == PW_AT_UI;
    bool page = parsed && app->ui.lesson.title[0] != '\0' && strcmp(cmd->name, "say") == 0;
    /* fresh: the request that the command was put off for has completed. */
    bool go = *idle || app->fresh || !(ours || page);
    if (go) {
        char *line = s->line[s->at++]; /* a command can insert others before the rest */
        app->script = true;
        if (page)
            *code = put_on_page(&app->ui, args.rest, err);
        if (*code == PW_OK && ours) {
            *code = cmd->run(app, &args, err);
            app->fresh = false;
            *idle = *idle && !s->sent; /* the command was possibly sent on to the lab */
            pw_undo_note(app);
        } else if (*code == PW_OK) {
            /* also a command that cannot be parsed: the lab reports the error at its place among the events
             */
            *code = send(app, line, err);
            *idle = false;
            s->sent = true;
        }
        app->script = false;
        free(line);
    }
    pw_args_fini(&args);
    return go;
}

static enum pw_code run_ready(struct pw_app *app, struct pw_err *err)
{
    struct pw_script *s = &app->todo;
    enum pw_code code = PW_OK;
    bool idle = pw_app_idle(app);
    s->sent = false;
    if (pw_app_run_held(app, err) != PW_OK)
        return PW_EUSER;
    if (!pw_script_busy(app))
        return PW_OK;
    if (s->waiting == PW_WAIT_TIME && pw_now() >= s->until)
        s->waiting = PW_WAIT_NOTHING;
    if (s->waiting == PW_WAIT_LAB || s->waiting == PW_WAIT_PAST) {
        if (!pw_app_waited(app))
            return PW_OK;
        s->waiting = PW_WAIT_NOTHING;
        app->fresh = true;
    }
    if (s->waiting != PW_WAIT_NOTHING) {
        s->failures = pw_app_failures(app); /* failures of lines typed meanwhile do not count */
        return PW_OK;
    }
    if (pw_app_failures(app) > s->failures) { /* the lab dropped its part of the script */
        if (idle)
            pw_script_end(app);
        return PW_OK;
    }
    while (code == PW_OK && s->at < s->n && s->waiting == PW_WAIT_NOTHING && app->quit == PW_STAY &&
           run_next(app, &idle, &code, err))
        continue;
    if (code != PW_OK) {
        pw_err_at(err, s->place);
        pw_script_end(app);
    } else if (idle && s->at == s->n && s->waiting == PW_WAIT_NOTHING && app->ui.lesson.title[0]) {
        pw_script_end(app);
        app->ui.lesson.over = true;
        pw_app_answer(app, "the lesson has ended; the lab keeps its state");
    }
    return code;
}

enum pw_code pw_script_go_on(struct pw_app *app, struct pw_err *err)
{
    enum pw_code code = run_ready(app, err);
    /* Commands that waited for the player have run; later ones read further. */
    app->ui.transport.read = app->ui.transport.waited = false;
    return code;
}

void pw_script_key(struct pw_app *app)
{
    if (app->todo.waiting == PW_WAIT_KEY) {
        app->todo.waiting = PW_WAIT_NOTHING;
        app->ui.lesson.read = true;
        app->ui.lesson.waiting = false;
    }
}

bool pw_script_press(struct pw_app *app, int key)
{
    bool waits = app->todo.waiting == PW_WAIT_KEY, leaves = key == 'q' || key == PW_KEY_ESCAPE;
    if (app->ui.help || app->ui.page.text.len > 0 || (!waits && (!leaves || !app->ui.lesson.title[0])))
        return false;
    bool back = key == BACKSPACE;
    if (back && !app->ui.lesson.title[0])
        return false;
    app->ui.message[0] = '\0';
    if (back) {
        if (!pw_lesson_turn(app, -1))
            pw_app_answer(app, "this is the first step");
    } else if (leaves) {
        pw_script_end(app);
        pw_app_answer(app, "the lesson was left; the lab keeps its state");
    } else if (!pw_lesson_turn(app, 1)) {
        pw_script_key(app);
    }
    return true;
}

void pw_script_wait(struct pw_app *app, enum pw_waiting what, double seconds)
{
    if (what == PW_WAIT_KEY && app->alone) {
        app->ui.lesson.read = true;
        return;
    }
    app->todo.waiting = what;
    app->todo.until = pw_now() + seconds;
    app->ui.lesson.waiting = what == PW_WAIT_KEY;
    if (what == PW_WAIT_KEY && app->ui.lesson.title[0])
        pw_lesson_keep(app);
    if (what == PW_WAIT_KEY)
        pw_app_answer(app, app->screen ? "Enter continues, q leaves" : "press Enter to continue");
}

double pw_script_wakes(const struct pw_app *app)
{
    return app->todo.waiting == PW_WAIT_TIME ? app->todo.until : 0;
}

int pw_script_patience(const struct pw_app *app)
{
    if (app->todo.waiting != PW_WAIT_TIME)
        return -1;
    double left = app->todo.until - pw_now();
    return left > 0 ? (int)(left * 1e3) + 1 : 0;
}
