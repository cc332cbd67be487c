/* show.c - shows a pane; without a screen prints its contents in words. */
#include "plot/names.h"
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <string.h>

static const char *const zooms[] = {"as-it-is", "on", "off", NULL};

struct options {
    int zoom;
    int query, key;     /* cursor of the attention pane, or AS_IT_IS */
    int distance, head; /* cursor of the encoding pane, or AS_IT_IS */
};
#define AS_IT_IS -1

#define CURSOR(member, what)                                                                                 \
    {                                                                                                        \
        .name = #member, .type = PW_OPT_INT, .offset = offsetof(struct options, member), .def = "-1",        \
        .min = AS_IT_IS, .max = 65535, .help = what                                                          \
    }

static const struct pw_opt opts[] = {
    {.name = "zoom",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct options, zoom),
     .def = "as-it-is",
     .choices = zooms,
     .help = "show only that pane, or all"},
    CURSOR(query, "attention: the cursor's row; -1: unchanged"),
    CURSOR(key, "attention: its column"),
    CURSOR(distance, "encoding: the cursor's distance, or position; -1: unchanged"),
    CURSOR(head, "encoding: its head"),
    {.name = NULL},
};

/* Sets the pane's cursors, for example to the place that a lesson explains. */
static enum pw_code place_cursors(struct pw_ui *ui, int pane, const struct options *o, struct pw_err *err)
{
    if (pane != PW_PANE_ATTENTION && (o->query >= 0 || o->key >= 0))
        return pw_fail(err, PW_EUSER, "show: query= and key= are only allowed with the pane attention");
    if (pane != PW_PANE_ENCODING && (o->distance >= 0 || o->head >= 0))
        return pw_fail(err, PW_EUSER, "show: distance= and head= are only allowed with the pane encoding");
    if (o->query >= 0 || o->key >= 0)
        ui->attention.follow = ui->attention.overview = ui->attention.list = false;
    ui->attention.query = o->query >= 0 ? o->query : ui->attention.query;
    ui->attention.key = o->key >= 0 ? o->key : ui->attention.key;
    int *at = ui->encoding.cursor;
    at[PW_ENC_DISTANCE] = o->distance >= 0 ? o->distance : at[PW_ENC_DISTANCE];
    at[PW_ENC_HEAD] = o->head >= 0 ? o->head : at[PW_ENC_HEAD];
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct options o;
    int pane;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_show, args, 1, 1, err);
    pw_opt_defaults(opts, &o);
    if (code == PW_OK)
        code = pw_ui_find_pane("show", pw_args_word(args, 0), &pane, err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &o, err);
    if (code != PW_OK)
        return code;
    struct pw_needs needs = pw_pane_needs(pw_panes[pane]);
    if (!app->screen && pw_app_puts_off(app, &needs, args))
        return PW_OK;
    code = place_cursors(&app->ui, pane, &o, err);
    if (code != PW_OK)
        return code;
    if (!app->screen)
        pw_panes[pane]->words(app->words, &app->ui);
    if (o.zoom)
        app->ui.zoom = o.zoom == 1;
    pw_ui_focus(&app->ui, pane);
    return PW_OK;
}

/* Offers the valid cursor positions. */
static void values(struct pw_completion *c)
{
    const struct pw_ui *ui = c->seen;
    const struct pw_snapshot *s = ui != NULL ? ui->snap : NULL;
    const struct pw_arm_view *arm = s != NULL ? pw_find_arm(s, s->current) : NULL;
    int n = 0;
    if (s != NULL && (strcmp(c->key, "query") == 0 || strcmp(c->key, "key") == 0))
        n = s->prompt.n;
    else if (arm != NULL && strcmp(c->key, "head") == 0)
        n = arm->info.heads;
    else if (arm != NULL && strcmp(c->key, "distance") == 0)
        n = arm->info.context;
    for (int i = 0; i < n && i < 64; i++)
        pw_complete_offer(c, "%d", i);
}

const struct pw_command pw_ui_cmd_show = {
    .name = "show",
    .search = "print pane heatmap",
    .usage = "show PANE [zoom=on|off] [query=N] [key=N] [distance=N] [head=N]",
    .example = "show curves",
    .summary = "focus a pane; without a screen, print its content as text",
    .detail = "Without a screen, print all pages as tables. Choices made with keys apply here, too:\n"
              "  press 4 t; show step          the parts of the right token's logit\n"
              "  press 3 a; show attention     the mean over a layer's heads",
    .where = PW_AT_UI,
    .opts = opts,
    .complete = pw_ui_complete_pane,
    .values = values,
    .run = run,
};
