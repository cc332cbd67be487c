/* screenshot.c - writes the screen to a file, as shown or as the options select.
 *
 * The screen is drawn again from the snapshot, so the command also works without a terminal. A name that the
 * command chooses depends on the files that exist, so the job of the disk chooses it. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"
#include "ui/app.h"
#include "ui/commands/commands.h"
#include "ui/state.h"
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ROWS 500
#define MOST_COLS 1000
#define ROWS      48 /* without a screen */
#define COLS      160

struct options {
    char size[16], focus[16];
    int zoom, machine;
};

static const char *const zooms[] = {"as-it-is", "on", "off", NULL};
static const char *const switches[] = {"off", "on", NULL};

static const struct pw_opt opts[] = {
    {.name = "size",
     .type = PW_OPT_TEXT,
     .offset = offsetof(struct options, size),
     .def = "",
     .size = sizeof(((struct options *)0)->size),
     .help = "columns x rows, such as 160x48; default: the screen's"},
    {.name = "focus",
     .type = PW_OPT_TEXT,
     .offset = offsetof(struct options, focus),
     .def = "",
     .size = sizeof(((struct options *)0)->focus),
     .choices = pw_pane_names,
     .help = "pane to focus; default: the screen's"},
    {.name = "zoom",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct options, zoom),
     .def = "as-it-is",
     .choices = zooms,
     .help = "show only that pane, or all"},
    {.name = "machine",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct options, machine),
     .def = "on",
     .choices = switches,
     .help = "off: leave out processor, rates and times of day, for the same picture everywhere"},
    {.name = NULL},
};

static const char *const endings[] = {"txt", "ans", "svg", NULL};
#define ENDINGS (sizeof endings / sizeof *endings - 1)

static void print_as(struct pw_str *text, const struct pw_canvas *c, bool light, const char *ending)
{
    if (strcmp(ending, "svg") == 0)
        pw_canvas_svg(c, light, text);
    else if (strcmp(ending, "ans") == 0)
        pw_canvas_ansi(c, text);
    else
        pw_canvas_text(c, text);
}

static enum pw_code read_size(const char *text, int *rows, int *cols, struct pw_err *err)
{
    char left[16];
    const char *x = strchr(text, 'x');
    long w, h;
    pw_text_copy(left, x != NULL ? (size_t)(x - text) + 1 : 1, text);
    if (x == NULL || !pw_text_int(left, 1, MOST_COLS, &w) || !pw_text_int(x + 1, 1, MOST_ROWS, &h))
        return pw_fail(err, PW_EUSER,
                       "screenshot: size=%s: write columns x rows, such as 160x48, at most %dx%d", text,
                       MOST_COLS, MOST_ROWS);
    *cols = (int)w, *rows = (int)h;
    return PW_OK;
}

static enum pw_code focus_on(struct pw_ui *ui, const char *name, struct pw_err *err)
{
    int pane;
    enum pw_code code = pw_ui_find_pane("screenshot", name, &pane, err);
    if (code == PW_OK)
        pw_ui_focus(ui, pane);
    return code;
}

/* Prepares a copy of the workbench with the options. */
static enum pw_code prepare(const struct pw_app *app, const struct options *o, struct pw_ui *ui, int *rows,
                            int *cols, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    pw_app_pose(app, ui);
    *rows = app->screen ? app->ui.rows : ROWS;
    *cols = app->screen ? app->ui.cols : COLS;
    if (o->size[0])
        code = read_size(o->size, rows, cols, err);
    if (code == PW_OK && o->focus[0])
        code = focus_on(ui, o->focus, err);
    if (o->zoom)
        ui->zoom = o->zoom == 1;
    ui->no_machine = !o->machine;
    return code;
}

/* ---- files whose names are chosen: a job of the disk */

struct pictures {
    struct pw_str name, text[ENDINGS]; /* name: the path without number and ending */
};

static void free_pictures(void *arg)
{
    struct pictures *p = arg;
    pw_str_fini(&p->name);
    for (size_t i = 0; i < ENDINGS; i++)
        pw_str_fini(&p->text[i]);
    free(p);
}

/* Appends a number if the name is taken. */
static void choose_number(struct pw_str *name)
{
    struct pw_str taken = {0};
    size_t bare = name->len;
    for (int k = 2;; k++) {
        pw_str_clear(&taken);
        pw_str_add(&taken, "%s.svg", name->s);
        if (access(taken.s, F_OK) != 0)
            break;
        name->len = bare; /* remove the last number */
        name->s[bare] = '\0';
        pw_str_add(name, "-%d", k);
    }
    pw_str_fini(&taken);
}

static enum pw_code write_pictures(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct pictures *p = arg;
    struct pw_err why;
    if (pw_folder_make_above(p->name.s, &why) != PW_OK)
        return pw_fail(err, PW_EUSER, "screenshot: %s; name a FILE", why.msg);
    choose_number(&p->name);
    enum pw_code code = PW_OK;
    for (size_t i = 0; i < ENDINGS && code == PW_OK; i++) {
        struct pw_str path = {0};
        pw_str_add(&path, "%s.%s", p->name.s, endings[i]);
        code = pw_file_replace(path.s, pw_str_text(&p->text[i]), p->text[i].len, err);
        pw_str_fini(&path);
    }
    pw_str_add(said, "wrote %s.{txt,ans,svg}", p->name.s);
    return code;
}

/* The name is PANE-STEP in the state folder. */
static enum pw_code write_all(struct pw_app *app, const struct pw_ui *ui, const struct pw_canvas *c,
                              bool light, struct pw_err *err)
{
    const struct pw_snapshot *s = ui->snap;
    long long step = s->current > 0 ? (long long)s->arms[s->current - 1].info.step : 0;
    struct pictures *p = pw_alloc(1, sizeof *p);
    struct pw_str name = {0};
    struct pw_err why;
    pw_str_add(&name, "screenshots/%s-%lld", pw_panes[ui->focus]->name, step);
    bool found = pw_state_path(name.s, &p->name, &why) == PW_OK;
    pw_str_fini(&name);
    if (!found) {
        free_pictures(p);
        return pw_fail(err, PW_EUSER, "screenshot: %s; name a FILE", why.msg);
    }
    for (size_t i = 0; i < ENDINGS; i++)
        print_as(&p->text[i], c, light, endings[i]);
    return pw_app_write(app, &(struct pw_disk_job){.work = write_pictures, .free = free_pictures, .arg = p},
                        err);
}

static enum pw_code write_one(struct pw_app *app, const char *path, const char *ending,
                              const struct pw_canvas *c, bool light, struct pw_err *err)
{
    struct pw_disk_job job = {0};
    struct pw_str text = {0};
    print_as(&text, c, light, ending);
    pw_disk_add(&job, path, &text);
    pw_str_add(&job.said, "wrote %s", path);
    return pw_app_write(app, &job, err);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    const char *path = pw_args_word(args, 0), *dot = path != NULL ? strrchr(path, '.') : NULL;
    struct options o;
    struct pw_ui ui;
    struct pw_canvas c;
    int rows, cols, kind = 0;
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_args_limit(&pw_ui_cmd_screenshot, args, 0, 1, err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &o, err);
    while (dot != NULL && endings[kind] != NULL && strcmp(dot + 1, endings[kind]))
        kind++;
    if (code == PW_OK && path != NULL && (dot == NULL || endings[kind] == NULL))
        code = pw_fail(err, PW_EUSER, "screenshot: %s: the extension must be .txt, .ans or .svg", path);
    if (code == PW_OK)
        code = prepare(app, &o, &ui, &rows, &cols, err);
    if (code != PW_OK || pw_app_puts_off(app, &(struct pw_needs){.answer = true, .tables = true}, args))
        return code;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, rows, cols);
    pw_ui_frame(&ui, &c);
    bool light = ui.theme.backdrop == PW_ON_LIGHT;
    code = path != NULL ? write_one(app, path, endings[kind], &c, light, err)
                        : write_all(app, &ui, &c, light, err);
    pw_canvas_fini(&c);
    return code;
}

const struct pw_command pw_ui_cmd_screenshot = {
    .name = "screenshot",
    .search = "picture image print png pdf svg",
    .usage = "screenshot [FILE.txt|ans|svg] [key=value]",
    .example = "screenshot screen.svg size=160x48 focus=attention",
    .summary = "save the screen as text, with ANSI colours, or as a picture",
    .detail =
        "Without FILE, write all three to $XDG_STATE_HOME/pewter/screenshots and print the names.\n"
        "No terminal is needed: `pewter -c 'race none,t5; train 300; eval; screenshot a.svg focus=curves'`.",
    .where = PW_AT_UI,
    .opts = opts,
    .file_at = 1,
    .run = run,
};
