/* set.c - settings of the workbench, from one table. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* in the order of enum pw_color_want */
static const char *const colors[] = {"auto", "mono", "16", "256", "true", NULL};

static const char *const isas[] = {"auto", "scalar", "avx2", "avx512", NULL};

const struct pw_opt pw_settings_opts[] = {
    {.name = "color",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct pw_settings, color),
     .def = "auto",
     .choices = colors,
     .help = "colours of the screen; auto asks NO_COLOR, COLORTERM and TERM"},
    {.name = "fps",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_settings, fps),
     .def = "30",
     .min = 1,
     .max = 60,
     .help = "frames a second at most (over ssh it begins with 10)"},
    {.name = "escape",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_settings, escape),
     .def = "25",
     .min = 1,
     .max = 1000,
     .help = "milliseconds after which Esc is a key of its own (over ssh 100)"},
    {.name = "mouse",
     .type = PW_OPT_SWITCH,
     .offset = offsetof(struct pw_settings, mouse),
     .def = "on",
     .help = "clicks focus, the wheel moves; off leaves the mouse to the terminal"},
    {.name = "sync",
     .type = PW_OPT_SWITCH,
     .offset = offsetof(struct pw_settings, sync),
     .def = "on",
     .help = "ask the terminal to show whole frames only (DECSET 2026)"},
    {.name = "threads",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_settings, threads),
     .def = "0",
     .min = 0,
     .max = 64,
     .help = "of the cpu backend; 0: all processors"},
    {.name = "isa",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct pw_settings, isa),
     .def = "auto",
     .choices = isas,
     .help = "instruction set of the cpu backend; auto: the processor's best"},
    {.name = NULL},
};

static void show(struct pw_app *app)
{
    struct pw_str text = {0};
    pw_opt_print(pw_settings_opts, &app->settings, false, &text);
    pw_app_say(app, "set%s", pw_str_text(&text));
    pw_str_fini(&text);
}

/* `set KEY VALUE`, `set KEY=VALUE ...`, or `set` alone to see what is set. Nothing changes unless all is
 * right. */
static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct pw_settings s = app->settings;
    enum pw_code code = PW_OK;
    int n = pw_args_words(args);
    if (n == 2 && args->n == 2)
        code = pw_opt_set(pw_settings_opts, &s, "set", pw_args_word(args, 0), pw_args_word(args, 1), err);
    else if (n == 0)
        code = pw_args_opts(args, pw_settings_opts, &s, err);
    else
        return pw_fail(err, PW_EUSER, "set: usage: %s", pw_ui_cmd_set.usage);
    if (code != PW_OK)
        return code;
    if (s.isa != app->settings.isa) {
        char line[32];
        snprintf(line, sizeof line, "set isa %s", isas[s.isa]);
        pw_lab_send(app->lab, line, app->script ? PW_SEND_SCRIPT : PW_SEND_NOW);
    }
    if (s.threads != app->settings.threads) {
        char line[32];
        snprintf(line, sizeof line, "set threads %d", s.threads);
        pw_lab_send(app->lab, line, app->script ? PW_SEND_SCRIPT : PW_SEND_NOW);
    }
    app->settings = s;
    if (args->n == 0)
        show(app);
    return PW_OK;
}

const struct pw_command pw_ui_cmd_set = {
    .name = "set",
    .usage = "set [KEY=VALUE]",
    .summary = "settings of the workbench; alone it shows them",
    .detail = "`set KEY VALUE` means the same as `set KEY=VALUE`.",
    .where = PW_AT_UI,
    .opts = pw_settings_opts,
    .run = run,
};
