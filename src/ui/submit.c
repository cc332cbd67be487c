/* submit.c - from a line of text to whoever runs its commands. */
#include "ui/app.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>

struct submission {
    struct pw_app *app;
    enum pw_send how;
    bool check; /* parse only */
    struct pw_err *err;
};

static enum pw_code each_command(void *arg, const char *text)
{
    struct submission *s = arg;
    struct pw_args args;
    const struct pw_command *cmd;
    enum pw_code code = pw_command_parse(s->app->commands, text, &args, &cmd, s->err);
    if (code != PW_OK)
        return code;
    if (!s->check && strcmp(cmd->name, "wait") == 0)
        s->how = PW_SEND_SCRIPT; /* and with it the rest of the line */
    if (s->check)
        code = PW_OK;
    else if (s->how == PW_SEND_SCRIPT)
        code = pw_script_add(s->app, text, s->err);
    else if (cmd->where == PW_AT_UI)
        code = cmd->run(s->app, &args, s->err);
    else
        pw_lab_send(s->app->lab, text, s->how);
    pw_args_fini(&args);
    return code;
}

enum pw_code pw_app_submit(struct pw_app *app, const char *text, enum pw_send how, struct pw_err *err)
{
    struct submission s = {app, how, true, err};
    enum pw_code code = pw_commands_split(text, each_command, &s, err);
    if (code != PW_OK)
        return code;
    s.check = false;
    return pw_commands_split(text, each_command, &s, err);
}

void pw_app_dress(struct pw_app *app, struct pw_look look, enum pw_backdrop behind)
{
    const struct pw_settings *s = &app->settings;
    app->ui.look = look;
    if (s->marker == PW_MARKER_ASCII)
        app->ui.look.utf8 = false;
    app->ui.theme = (struct pw_theme){s->theme == PW_THEME_DARK    ? PW_ON_DARK
                                      : s->theme == PW_THEME_LIGHT ? PW_ON_LIGHT
                                                                   : behind,
                                      s->marker == PW_MARKER_BLOCK ? PW_BLOCKS : PW_BRAILLE,
                                      (enum pw_colormap)s->colormap};
}

void pw_app_say(struct pw_app *app, const char *fmt, ...)
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

/* ---- signals: blocked everywhere, read from a descriptor */

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
    signal(SIGPIPE, SIG_IGN); /* a write says EPIPE, and that is handled where it is written */
}

int pw_app_signals(void)
{
    sigset_t set = loop_signals();
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}
