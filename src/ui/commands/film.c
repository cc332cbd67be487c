/* film.c - writes a film of the screen, frame by frame, as a script directs it (ui/film.h).
 *
 * Durations come from the script, never from a clock, and a frame is drawn when all earlier commands are
 * finished. So a script makes the same film on every machine. `export cast` films a recording as it happened,
 * in its own time. */
#include "ui/film.h"
#include "base/alloc.h"
#include "base/file.h"
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MOST_S    60.0             /* seconds of one frame */
#define MOST_MS   INT64_C(3600000) /* of a film */
#define MOST_SHOT 1000             /* frames of one command */

/* A film that is being made. */
struct pw_filming {
    struct pw_film *film;
    char *path;
};

struct size {
    int width, height;
};

static const struct pw_opt size_opts[] = {{.name = "width",
                                           .type = PW_OPT_INT,
                                           .offset = offsetof(struct size, width),
                                           .def = "110",
                                           .min = 20,
                                           .max = 500,
                                           .help = "columns"},
                                          {.name = "height",
                                           .type = PW_OPT_INT,
                                           .offset = offsetof(struct size, height),
                                           .def = "34",
                                           .min = 6,
                                           .max = 200,
                                           .help = "rows"},
                                          {.name = NULL}};

struct shot {
    int times;
    char before[256], caption[160];
};

static const struct pw_opt shot_opts[] = {{.name = "times",
                                           .type = PW_OPT_INT,
                                           .offset = offsetof(struct shot, times),
                                           .def = "1",
                                           .min = 1,
                                           .max = MOST_SHOT,
                                           .help = "number of frames, each as long"},
                                          {.name = "before",
                                           .type = PW_OPT_TEXT,
                                           .offset = offsetof(struct shot, before),
                                           .def = "",
                                           .size = sizeof(((struct shot *)0)->before),
                                           .help = "commands to run before each frame, such as \"train 10\""},
                                          {.name = "caption",
                                           .type = PW_OPT_TEXT,
                                           .offset = offsetof(struct shot, caption),
                                           .def = "",
                                           .size = sizeof(((struct shot *)0)->caption),
                                           .help = "text for the last row"},
                                          {.name = NULL}};

static const char *const forms[] = {"begin", "shot", "end", NULL};

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    const char *form = pw_args_word(so_far, 0);
    return form == NULL                 ? NULL
           : strcmp(form, "begin") == 0 ? size_opts
           : strcmp(form, "shot") == 0  ? shot_opts
                                        : NULL;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, forms);
}

static void values(struct pw_completion *c)
{
    static const char *const times[] = {"10", "20", "50", NULL};
    static const char *const before[] = {"train 10", "goto +10", NULL};
    if (strcmp(c->key, "times") == 0)
        pw_complete_offer_all(c, times);
    else if (strcmp(c->key, "before") == 0)
        pw_complete_offer_all(c, before);
}

static void free_filming(void *arg)
{
    struct pw_filming *f = arg;
    if (f == NULL)
        return;
    pw_film_destroy(f->film);
    free(f->path);
    free(f);
}

void pw_app_drop_film(struct pw_app *app)
{
    free_filming(app->filming);
    app->filming = NULL;
}

/* Checks that the file can be written, before any frame is drawn. arg: the path. */
static enum pw_code try_file(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct pw_file *file;
    (void)said;
    enum pw_code code = pw_file_create(&file, arg, err);
    if (code == PW_OK)
        pw_file_abandon(file);
    return code;
}

static void drop_film_of(struct pw_app *app, void *path)
{
    if (app->filming != NULL && strcmp(app->filming->path, path) == 0)
        pw_app_drop_film(app);
}

static enum pw_code begin_film(struct pw_app *app, const struct pw_args *args, struct pw_err *err)
{
    const char *path = pw_args_word(args, 1), *dot = path != NULL ? strrchr(path, '.') : NULL;
    struct size size;
    struct pw_ui ui;
    if (pw_args_words(args) != 2 || dot == NULL || strcmp(dot, ".svg") != 0)
        return pw_fail(err, PW_EUSER, "film begin: name one file that ends in .svg");
    if (app->filming != NULL)
        return pw_fail(err, PW_EUSER, "film begin: %s is not finished; 'film end' writes it",
                       app->filming->path);
    pw_opt_defaults(size_opts, &size);
    enum pw_code code = pw_args_opts(args, size_opts, &size, err);
    if (code != PW_OK)
        return code;
    pw_app_pose(app, &ui);
    app->filming = pw_alloc(1, sizeof *app->filming);
    app->filming->film = pw_film_create(size.height, size.width, ui.theme.backdrop == PW_ON_LIGHT);
    app->filming->path = pw_text_dup(path);
    struct pw_disk_job job = {
        .work = try_file, .failed = drop_film_of, .free = free, .arg = pw_text_dup(path)};
    return pw_app_write(app, &job, err);
}

/* Puts the frames into the script, each after its commands. */
static enum pw_code repeat(struct pw_app *app, const char *seconds, const struct shot *shot,
                           struct pw_err *err)
{
    struct pw_str lines = {0};
    for (int i = 0; i < shot->times; i++) {
        pw_str_add(&lines, "%s\nfilm shot %s", shot->before, seconds);
        if (shot->caption[0]) {
            pw_str_add(&lines, " caption=");
            pw_str_quote(&lines, shot->caption);
        }
        pw_str_add(&lines, "\n");
    }
    enum pw_code code = pw_script_insert(app, NULL, lines.s, err);
    pw_str_fini(&lines);
    return code;
}

static void draw_caption(struct pw_canvas *c, const char *text)
{
    const struct pw_rect row = {c->rows - 1, 0, 1, c->cols};
    const struct pw_style style = {PW_RGB(0x12, 0x12, 0x12), PW_RGB(0xe6, 0xc0, 0x4c), PW_BOLD};
    pw_draw_fill(c, row, style, ' ');
    pw_draw_text(c, row, row.y, 1, style, text);
}

static enum pw_code shoot(struct pw_app *app, const struct pw_args *args, struct pw_err *err)
{
    const char *text = pw_args_word(args, 1);
    struct shot shot;
    double seconds;
    pw_opt_defaults(shot_opts, &shot);
    if (pw_args_words(args) != 2 || !pw_text_double(text, &seconds) ||
        !(seconds >= 0.01 && seconds <= MOST_S))
        return pw_fail(err, PW_EUSER, "film shot: give the duration in seconds, 0.01 to %g", MOST_S);
    enum pw_code code = pw_args_opts(args, shot_opts, &shot, err);
    if (code != PW_OK)
        return code;
    if (app->filming == NULL)
        return pw_fail(err, PW_EUSER, "film shot: no film; 'film begin FILE.svg' starts one");
    if (shot.times > 1 || shot.before[0])
        return repeat(app, text, &shot, err);
    struct pw_film *film = app->filming->film;
    if (pw_film_duration(film) + (int64_t)(seconds * 1e3) > MOST_MS)
        return pw_fail(err, PW_EUSER, "film shot: a film has at most one hour");
    if (pw_app_puts_off(app, &(struct pw_needs){.answer = true, .tables = true}, args))
        return PW_OK;
    struct pw_canvas *c = pw_film_canvas(film);
    struct pw_ui ui;
    pw_app_pose(app, &ui);
    ui.no_machine = true;
    pw_ui_frame(&ui, c);
    if (shot.caption[0])
        draw_caption(c, shot.caption);
    pw_film_shot(film, (int)(seconds * 1e3 + 0.5));
    return PW_OK;
}

static enum pw_code write_film(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct pw_filming *f = arg;
    struct pw_str svg = {0};
    pw_film_svg(f->film, &svg);
    enum pw_code code = pw_file_replace(f->path, pw_str_text(&svg), svg.len, err);
    pw_str_add(said, "wrote %s: %.1f s, %zu kB", f->path, (double)pw_film_duration(f->film) * 1e-3,
               (svg.len + 999) / 1000);
    pw_str_fini(&svg);
    return code;
}

static enum pw_code end(struct pw_app *app, const struct pw_args *args, struct pw_err *err)
{
    struct pw_filming *f = app->filming;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_film, args, 1, 1, err);
    if (code == PW_OK)
        code = pw_args_opts(args, NULL, NULL, err);
    if (code == PW_OK && (f == NULL || pw_film_duration(f->film) == 0))
        code = pw_fail(err, PW_EUSER,
                       f != NULL ? "film end: no frame yet; 'film shot SECONDS' takes one"
                                 : "film end: no film; 'film begin FILE.svg' starts one");
    if (code != PW_OK)
        return code;
    app->filming = NULL;
    return pw_app_write(app, &(struct pw_disk_job){.work = write_film, .free = free_filming, .arg = f}, err);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *form = pw_args_word(args, 0);
    if (form != NULL && strcmp(form, "begin") == 0)
        return begin_film(ctx, args, err);
    if (form != NULL && strcmp(form, "shot") == 0)
        return shoot(ctx, args, err);
    if (form != NULL && strcmp(form, "end") == 0)
        return end(ctx, args, err);
    return pw_fail(err, PW_EUSER, "film: allowed are begin FILE.svg, shot SECONDS, end");
}

const struct pw_command pw_ui_cmd_film = {
    .name = "film",
    .search = "video animation animate gif svg demo record",
    .usage = "film begin FILE.svg|shot SECONDS|end [key=value]",
    .example = "film begin a.svg width=100; film shot 0.1 times=5 before=\"train 2\"; film end",
    .summary = "make an animated picture of the screen, frame by frame",
    .detail =
        "`film begin` checks that FILE can be written (width=110 height=34), each `film shot` adds the\n"
        "screen as a frame of SECONDS, and `film end` writes the file: SVG with CSS animation, without\n"
        "scripts, so it plays in a web page as a picture. The times come from the commands, so a script\n"
        "always makes the same file.\n"
        "  film begin a.svg; film shot 0.1 times=50 before=\"train 10\" caption=\"training\"; film end\n"
        "In a recording, before=\"goto +10\" films its steps. `export cast` films one for asciinema in its\n"
        "own time.",
    .where = PW_AT_UI,
    .opts = shot_opts,
    .opts_for = opts_for,
    .complete = complete,
    .values = values,
    .file_at = 2,
    .run = run,
};
