/* set.c - the settings of the workbench, from one table. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <stddef.h>
#include <string.h>

/* in the order of enum pw_color_want */
static const char *const colors[] = {"auto", "mono", "16", "256", "true", NULL};

/* in the order of enum pw_theme_want, pw_marker_want and pw_colormap */
static const char *const themes[] = {"auto", "dark", "light", NULL};
static const char *const markers[] = {"auto", "braille", "block", "ascii", NULL};
static const char *const colormaps[] = {"viridis", "cividis", NULL};

/* Settings of the lab, which has its own `set`. */
static const char *const of_lab[] = {"threads", "isa", "precision", "share", "temperature", NULL};

const struct pw_opt pw_settings_opts[] = {
    {.name = "color",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct pw_settings, color),
     .def = "auto",
     .choices = colors,
     .help = "colours of the screen; auto: by NO_COLOR, COLORTERM and TERM"},
    {.name = "theme",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct pw_settings, theme),
     .def = "auto",
     .choices = themes,
     .help = "background; auto: ask the terminal, then COLORFGBG, else use the terminal's colours"},
    {.name = "marker",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct pw_settings, marker),
     .def = "auto",
     .choices = markers,
     .help = "characters of curves; block: for fonts without Braille; ascii: for the whole screen; auto: "
             "braille, on the Linux console ascii with boxes"},
    {.name = "colormap",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct pw_settings, colormap),
     .def = "viridis",
     .choices = colormaps,
     .help = "colour scale; cividis is safe for colour-blind readers"},
    {.name = "fps",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_settings, fps),
     .def = "30",
     .min = 1,
     .max = 60,
     .help = "maximum frames per second (default over ssh: 10)"},
    {.name = "escape",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_settings, escape),
     .def = "25",
     .min = 1,
     .max = 1000,
     .help = "milliseconds to wait after Esc for the rest of a key (over ssh: 100)"},
    {.name = "mouse",
     .type = PW_OPT_SWITCH,
     .offset = offsetof(struct pw_settings, mouse),
     .def = "on",
     .help = "click to focus, wheel to scroll, drag borders; off: leave the mouse to the terminal"},
    {.name = "hover",
     .type = PW_OPT_SWITCH,
     .offset = offsetof(struct pw_settings, hover),
     .def = "on",
     .help = "the pointer moves the readout without a click (default over ssh: off)"},
    {.name = "sync",
     .type = PW_OPT_SWITCH,
     .offset = offsetof(struct pw_settings, sync),
     .def = "on",
     .help = "ask the terminal to show whole frames only (DECSET 2026)"},
    {.name = NULL},
};

/* Prints each setting on a line, and the names of the lab's settings. */
static void show(struct pw_app *app)
{
    struct pw_str text = {0};
    pw_opt_print(pw_settings_opts, &app->settings, false, &text);
    pw_opt_print(pw_split_opts, &app->ui.split, true, &text); /* only borders that were moved */
    for (char *at = text.s; (at = strchr(at, ' ')) != NULL;)
        *at = '\n';
    pw_str_add(&text, "\nof the lab, see 'help set':");
    for (int i = 0; of_lab[i] != NULL; i++)
        pw_str_add(&text, " %s", of_lab[i]);
    pw_str_add(&text, "\n");
    pw_app_page(app, "set", text.s + 1);
    pw_str_fini(&text);
}

static bool is_of_lab(const char *key)
{
    int i = 0;
    while (of_lab[i] != NULL && strcmp(of_lab[i], key) != 0)
        i++;
    return of_lab[i] != NULL;
}

/* Sends `set threads 2` or `set threads=2` to the lab in the first form. Returns false if the setting is not
 * one of the lab's. */
static bool hand_on(struct pw_app *app, const struct pw_args *args, enum pw_code *code, struct pw_err *err)
{
    const char *key = args->n == 1 ? args->words[0].key : pw_args_word(args, 0);
    const char *value = args->n == 1 ? args->words[0].value : pw_args_word(args, 1);
    if (args->n < 1 || args->n > 2 || key == NULL || value == NULL || !is_of_lab(key))
        return false;
    struct pw_str line = {0};
    pw_str_add(&line, "set %s \"%s\"", key, value);
    *code = pw_app_hand_on(app, line.s, err);
    pw_str_fini(&line);
    return true;
}

/* The workbench's settings are in two structs: those of the loop, and the borders. */
struct both {
    struct pw_settings settings;
    struct pw_proportions split;
};

static enum pw_code set_one(struct both *b, const char *key, const char *value, struct pw_err *err)
{
    if (pw_opt_find(pw_split_opts, key) != NULL)
        return pw_opt_set(pw_split_opts, &b->split, "set", key, value, err);
    return pw_opt_set(pw_settings_opts, &b->settings, "set", key, value, err);
}

/* `set KEY VALUE`, `set KEY=VALUE ...`, or `set` alone, which prints the settings. An error changes no
 * setting. */
static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct both b = {app->settings, app->ui.split};
    enum pw_code code = PW_OK;
    int n = pw_args_words(args);
    if (hand_on(app, args, &code, err))
        return code;
    if (n == 2 && args->n == 2)
        code = set_one(&b, pw_args_word(args, 0), pw_args_word(args, 1), err);
    else if (n != 0)
        return pw_fail(err, PW_EUSER, "set: usage: %s", pw_ui_cmd_set.usage);
    for (int i = 0; n == 0 && i < args->n && code == PW_OK; i++)
        code = set_one(&b, args->words[i].key, args->words[i].value, err);
    if (code != PW_OK)
        return code;
    app->settings = b.settings;
    app->ui.split = b.split;
    if (args->n == 0)
        show(app);
    return PW_OK;
}

/* Returns the named values of `set KEY VALUE`. */
static const char *const *values(const char *key)
{
    static const char *const switches[] = {"on", "off", NULL}, *const none[] = {NULL};
    static const char *const isas[] = {"auto", "scalar", "avx2", "avx512", NULL};
    static const char *const precisions[] = {"fp32", "tf32", "bf16", NULL}, *const shares[] = {"steps",
                                                                                               "flops", NULL};
    const struct pw_opt *opt = pw_opt_find(pw_settings_opts, key);
    if (opt != NULL && opt->type == PW_OPT_SWITCH)
        return switches;
    if (opt != NULL)
        return opt->choices != NULL ? opt->choices : none;
    return strcmp(key, "isa") == 0         ? isas
           : strcmp(key, "precision") == 0 ? precisions
           : strcmp(key, "share") == 0     ? shares
                                           : none;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, of_lab);
    else if (c->at == 1)
        pw_complete_offer_all(c, values(pw_args_word(c->so_far, 0)));
}

/* Of all settings, only precision, share and temperature change the lab's bits. */
static bool outside(const struct pw_args *args)
{
    const char *key = pw_args_word(args, 0);
    return key == NULL ||
           (strcmp(key, "precision") != 0 && strcmp(key, "share") != 0 && strcmp(key, "temperature") != 0);
}

const struct pw_command pw_ui_cmd_set = {
    .name = "set",
    .search = "color colour theme palette dark light settings preferences options",
    .usage = "set [KEY=VALUE]",
    .example = "set threads 2",
    .summary = "change settings; without arguments, show those of the workbench",
    .detail =
        "`set KEY VALUE` means the same as `set KEY=VALUE`. Of the lab:\n"
        "  threads N      threads of the cpu backend; 0: all processors. Does not change the bits\n"
        "  isa NAME       auto, scalar, avx2, avx512: the kernels in use. Does not change the bits\n"
        "  precision P    fp32, bf16: of linear layers; bf16 needs AMX units\n"
        "  share KIND     which arm trains next: steps: each in turn; flops: the one with the fewest so far\n"
        "  temperature T  temperature of decoding; 0: the most probable token",
    .where = PW_AT_UI,
    .opts = pw_settings_opts,
    .also = pw_split_opts,
    .complete = complete,
    .outside = outside,
    .run = run,
};
