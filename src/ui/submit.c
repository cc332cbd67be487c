/* submit.c - passes the commands of a text to the workbench, the script or the lab. Also the app's start and
 * end. */
#include "base/alloc.h"
#include "ui/app.h"
#include "ui/config.h"
#include "ui/page.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct submission {
    struct pw_app *app;
    enum pw_send how;
    bool held; /* a command was put off, and the rest of the line with it */
    struct pw_err *err;
};

static enum pw_code each_command(struct submission *s, const struct pw_command *cmd,
                                 const struct pw_args *args)
{
    const char *text = args->text;
    enum pw_code code;
    if (s->held) {
        pw_app_hold_rest(s->app, text);
        return PW_OK;
    }
    if (strcmp(cmd->name, "wait") == 0)
        s->how = PW_SEND_SCRIPT; /* for the rest of the line too */
    bool busy = pw_script_busy(s->app);
    s->app->put_off = false;
    if (s->how == PW_SEND_SCRIPT)
        code = pw_script_add(s->app, NULL, text, s->err);
    else if (cmd->where == PW_AT_UI)
        code = cmd->run(s->app, args, s->err);
    else
        code = pw_app_send(s->app, text, s->how, s->err);
    s->app->fresh = false;
    s->held = s->app->put_off;
    if (cmd->lasts || (!busy && pw_script_busy(s->app)))
        /* This command, or the script that it started, precedes the rest of the line. */
        s->how = PW_SEND_SCRIPT;
    return code;
}

/* ---- `help` is a command of the lab, but works without one. On the disk's thread, because formula files
 * have help, too. */

struct help {
    const struct pw_commands *commands;
    char *line;
    struct pw_str page;
};

static enum pw_code make_help(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct help *h = arg;
    struct pw_args args;
    const struct pw_command *cmd;
    (void)said;
    enum pw_code code = pw_command_parse(h->commands, h->line, &args, &cmd, err);
    if (code == PW_OK && pw_args_word(&args, 0) != NULL)
        code = pw_command_help(h->commands, pw_args_word(&args, 0), pw_args_word(&args, 1), &h->page, err);
    else if (code == PW_OK)
        pw_command_help_list(h->commands, &h->page);
    pw_args_fini(&args);
    return code;
}

static void free_help(void *arg)
{
    struct help *h = arg;
    free(h->line);
    pw_str_fini(&h->page);
    free(h);
}

static enum pw_code show_help(struct pw_app *app, void *arg, struct pw_err *err)
{
    const struct help *h = arg;
    (void)err;
    pw_app_page(app, "help", h->page.s);
    free_help(arg);
    return PW_OK;
}

static enum pw_code help(struct pw_app *app, const char *text, struct pw_err *err)
{
    struct help *h = pw_alloc(1, sizeof *h);
    *h = (struct help){.commands = app->commands, .line = pw_text_dup(text)};
    struct pw_disk_job job = {
        .work = make_help, .done = show_help, .free = free_help, .arg = h, .orders = true};
    return pw_app_write(app, &job, err);
}

enum pw_code pw_app_send(struct pw_app *app, const char *text, enum pw_send how, struct pw_err *err)
{
    size_t n = strcspn(text, " ");
    if (app->lab == NULL && n == 4 && strncmp(text, "help", n) == 0)
        return help(app, text, err);
    if (app->lab == NULL)
        return pw_fail(
            err, PW_EUSER,
            "%.*s: this is a recording; `pewter replay %s --from STEP` continues from a step of it", (int)n,
            text, app->ui.snap->session.name);
    if (app->ui.present != NULL) {
        pw_time_live(&app->ui);
        pw_app_answer(app, "live again: `%.*s` acts on the present", (int)n, text);
    }
    if (how == PW_SEND_NOW && pw_time_end(&app->ui)->session.how == PW_REC_READ)
        pw_app_answer(app, "waits for the re-run of the session; Ctrl-C ends it");
    pw_lab_send(app->lab, text, how);
    return PW_OK;
}

bool pw_app_idle(const struct pw_app *app)
{
    return app->lab == NULL || pw_lab_idle(app->lab);
}

int pw_app_failures(const struct pw_app *app)
{
    return app->lab != NULL ? pw_lab_failures(app->lab) : 0;
}

enum pw_code pw_app_check(struct pw_app *app, const char *text, struct pw_err *err)
{
    return pw_commands_check(app->commands, text, err);
}

enum pw_code pw_app_submit(struct pw_app *app, const char *text, enum pw_send how, struct pw_err *err)
{
    struct submission s = {.app = app, .how = how, .err = err};
    struct pw_parsed p;
    enum pw_code code = pw_commands_parse(app->commands, text, &p, err);
    if (code != PW_OK)
        return code;
    for (int i = 0; i < p.n && code == PW_OK; i++)
        code = each_command(&s, p.command[i].cmd, &p.command[i].args);
    pw_parsed_fini(&p);
    pw_undo_note(app);
    return code;
}

enum pw_code pw_app_hand_on(struct pw_app *app, const char *line, struct pw_err *err)
{
    enum pw_code code = pw_app_send(app, line, app->script ? PW_SEND_SCRIPT : PW_SEND_NOW, err);
    app->todo.sent |= app->script; /* the script's next command waits for it */
    return code;
}

void pw_app_dress(struct pw_app *app, struct pw_abilities look, enum pw_backdrop behind)
{
    const struct pw_settings *s = &app->settings;
    app->ui.look = look;
    bool console = s->marker == PW_MARKER_AUTO && pw_term_is_console();
    app->ui.look.boxes = look.utf8 && s->marker != PW_MARKER_ASCII;
    if (s->marker == PW_MARKER_ASCII || console)
        app->ui.look.utf8 = false;
    app->ui.theme = (struct pw_theme){s->theme == PW_THEME_DARK    ? PW_ON_DARK
                                      : s->theme == PW_THEME_LIGHT ? PW_ON_LIGHT
                                                                   : behind,
                                      s->marker == PW_MARKER_BLOCK ? PW_BLOCKS : PW_BRAILLE,
                                      (enum pw_colormap)s->colormap};
}

void pw_app_pose(const struct pw_app *app, struct pw_ui *ui)
{
    *ui = app->ui;
    ui->reads.what = NULL;
    if (!app->screen) /* a picture supports every colour and glyph */
        ui->look = (struct pw_abilities){PW_COLORS_TRUE, true, true};
    if (ui->theme.backdrop == PW_ON_UNKNOWN)
        ui->theme.backdrop = app->settings.theme == PW_THEME_LIGHT ? PW_ON_LIGHT : PW_ON_DARK;
    ui->theme.map = (enum pw_colormap)app->settings.colormap;
    if (!ui->lesson.waiting)
        ui->message[0] = '\0'; /* messages of earlier commands */
}

void pw_app_answer(struct pw_app *app, const char *fmt, ...)
{
    char text[sizeof app->ui.message];
    va_list ap;
    va_start(ap, fmt);
    if (app->screen) {
        vsnprintf(text, sizeof text, fmt, ap);
        pw_text_copy(app->ui.message, sizeof app->ui.message, text);
        app->ui.message_is_error = false;
    } else {
        vfprintf(app->words, fmt, ap);
        putc('\n', app->words);
    }
    va_end(ap);
}

void pw_app_page(struct pw_app *app, const char *title, const char *text)
{
    if (app->screen)
        pw_page_open(&app->ui, title, text);
    else
        fputs(text, app->words);
}

/* ---- start and end */

bool pw_app_possible(void)
{
    return pw_term_possible(STDIN_FILENO, STDOUT_FILENO, NULL) == PW_OK;
}

void pw_app_settings(struct pw_settings *s, int color)
{
    pw_opt_defaults(pw_settings_opts, s);
    s->color = color;
    if (getenv("SSH_CONNECTION") != NULL) {
        s->fps = 10;
        s->escape = 100;
        s->hover = false;
    }
}

void pw_app_begin(struct pw_app *app, struct pw_str *errors)
{
    pw_ui_init(&app->ui);
    app->ui.commands = app->commands;
    if (app->recording != NULL)
        pw_time_open(&app->ui, app->recording);
    else
        app->ui.snap = pw_lab_snapshot(app->lab);
    app->ui.transport.beside = app->screen;
    if (app->screen && app->ui.transport.player != NULL)
        pw_player_defer(app->ui.transport.player);
    app->begin = app->settings;
    pw_config_begin(app, errors);
    pw_undo_fini(&app->undo); /* undo does not go back past the user's file */
    pw_undo_note(app);
}

void pw_app_end(struct pw_app *app)
{
    pw_app_drop_film(app);
    pw_undo_fini(&app->undo);
    pw_app_drop_held(app);
    pw_watching_end(app);
    pw_disk_close(app->disk);
    app->disk = NULL;
    pw_str_fini(&app->to_terminal);
    pw_ui_fini(&app->ui);
}

/* ---- signals: blocked in all threads, read from a descriptor */

static sigset_t loop_signals(void)
{
    static const int list[] = {SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        sigaddset(&set, list[i]);
    return set;
}

void pw_app_block_signals(void)
{
    sigset_t set = loop_signals();
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* a write then fails with EPIPE, which its caller handles */
}

int pw_app_signals(void)
{
    sigset_t set = loop_signals();
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

const char *pw_app_ended_by(int signal)
{
    return signal == SIGTERM ? "ended by SIGTERM" : signal == SIGHUP ? "ended by SIGHUP" : "ended by SIGINT";
}
