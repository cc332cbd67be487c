/* play.c - plays a session from the current moment. */
#include "base/clock.h"
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <string.h>

/* The speeds of faster and slower; 0: as recorded, with all pauses. */
static const double speeds[] = {0, 1, 2, 4, 10, 20, 50, 100, 200, 500, PW_SPEED_MAX};
#define N_SPEEDS ((int)(sizeof speeds / sizeof *speeds))

static const char *const words[] = {"off", "faster", "slower", NULL};

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, words);
}

static void values(struct pw_completion *c)
{
    pw_complete_offer(c, "recorded");
    for (int i = 1; i < N_SPEEDS; i++)
        pw_complete_offer(c, "%g", speeds[i]);
}

/* Returns the next speed in that direction, or the last one. */
static double beside(double speed, int direction)
{
    int i = direction > 0 ? 0 : N_SPEEDS - 1;
    while (i + direction >= 0 && i + direction < N_SPEEDS && (speeds[i] - speed) * direction <= 0)
        i += direction;
    return speeds[i];
}

static const struct pw_opt opts[] = {{.name = "speed",
                                      .type = PW_OPT_TEXT,
                                      .def = "",
                                      .size = 16,
                                      .help = "speed factor, 1..1000, or recorded"},
                                     {0}};

static enum pw_code read_speed(const struct pw_args *args, double *speed, struct pw_err *err)
{
    char checked[16];
    const char *text = pw_args_key(args, "speed");
    enum pw_code code = pw_args_opts(args, opts, checked, err);
    if (code != PW_OK || text == NULL)
        return code;
    if (strcmp(text, "recorded") == 0) {
        *speed = 0;
        return PW_OK;
    }
    double n;
    if (!pw_text_double(text, &n) || n < 1 || n > PW_SPEED_MAX)
        return pw_fail(err, PW_EUSER, "play: speed=%s: allowed are 1..%d, recorded", text, PW_SPEED_MAX);
    *speed = n;
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct pw_transport *t = &app->ui.transport;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_play, args, 0, 1, err);
    const char *word = pw_args_word(args, 0);
    double speed = t->speed;
    if (code == PW_OK && !app->screen)
        return pw_fail(
            err, PW_EUSER,
            "play: not available in plain mode; use 'goto' to move in a recording, 'export cast' for a film");
    if (code == PW_OK)
        code = read_speed(args, &speed, err);
    if (code != PW_OK)
        return code;
    if (word != NULL && strcmp(word, "off") == 0) {
        pw_time_pause(&app->ui);
        return PW_OK;
    }
    if (word != NULL && strcmp(word, "faster") == 0)
        speed = beside(speed, 1);
    else if (word != NULL && strcmp(word, "slower") == 0)
        speed = beside(speed, -1);
    else if (word != NULL)
        return pw_fail(err, PW_EUSER, "play: '%s': allowed are off, faster, slower, or no argument", word);
    code = pw_time_play(&app->ui, pw_now(), err);
    if (code == PW_OK && pw_app_puts_off_past(app, args->text))
        return PW_OK;
    if (code == PW_OK)
        t->speed = speed;
    return code;
}

const struct pw_command pw_ui_cmd_play = {
    .name = "play",
    .search = "rewind replay video animate movie",
    .usage = "play [off|faster|slower] [speed=N|recorded]",
    .example = "play speed=4",
    .summary = "play the recording from the moment that is shown",
    .detail =
        "All panes follow the recording, N times as fast (1..1000); pauses of more than a second are cut\n"
        "short, unless `speed=recorded`. At the end it starts from the beginning. `play off`, or any other\n"
        "move, stops it.",
    .where = PW_AT_UI,
    .opts = opts,
    .complete = complete,
    .values = values,
    .run = run,
};
