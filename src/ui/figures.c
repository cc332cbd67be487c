/* figures.c - the options of a figure; the screen provides those that the line omits.
 *
 * Three kinds of data can be missing when the line runs. The lab computes an arm's data (answers, tables) on
 * request. Commands that produce data (an evaluation) are inserted before the line. In both cases the line
 * runs again. Recorded sessions are found and folded to their ends on disk by a job of the disk; then the
 * figure is drawn, and a second job converts it to its format and writes it. */
#include "ui/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "figure/figure.h"
#include "lab/lab.h"
#include "sessions/player.h"
#include "ui/plot.h"

/* The figures have the order of the workbench's panes. */
_Static_assert(PW_PANE_CURVES == 0 && PW_PANE_FINDINGS == 7 && PW_PANES == 8, "pw_figure_names");

static enum pw_code say_panes(struct pw_err *err)
{
    struct pw_str names = {0};

    for (int i = 1; pw_figure_names[i] != NULL; i++)
        pw_str_add(&names, "%s%s", i > 1 ? "|" : "", pw_figure_names[i]);
    enum pw_code code =
        pw_fail(err, PW_EUSER, "export figure: without a screen it must be named: pane=%s", names.s);
    pw_str_fini(&names);
    return code;
}

void pw_figures_shown(const struct pw_app *app, char *name, size_t size)
{
    const struct pw_ui *ui = &app->ui;

    if (app->screen && name[0] == '\0' && ui->findings.name[0])
        snprintf(name, size, "%s%s%s", ui->findings.name, ui->findings.topic[0] ? " " : "",
                 ui->findings.topic);
}

/* ---- recorded sessions */

/* A figure on its way, with the sessions that it needs. */
struct figure {
    struct pw_figure_options o;
    char *path, *line; /* the file, and the whole command */
    char *own;         /* the folder of the session that is shown */
    struct pw_figure_session list[PW_FIGURE_LINES];
    char name[PW_FIGURE_LINES][128];
    char *folder[PW_FIGURE_LINES];             /* to read; NULL: the session that is shown */
    struct pw_snapshot *snap[PW_FIGURE_LINES]; /* owned; NULL: likewise */
    int n;
    char *session; /* the session of a shown moment, if that is needed; else NULL */
    uint64_t seq;
    struct pw_snapshot *moment; /* owned: the complete fold of that moment */
    struct pw_figure_drawn drawn;
};

static void free_figure(void *arg)
{
    struct figure *g = arg;
    for (int i = 0; i < g->n; i++) {
        pw_snapshot_free(g->snap[i]);
        free(g->folder[i]);
    }
    pw_snapshot_free(g->moment);
    pw_str_fini(&g->drawn.svg);
    free(g->session);
    free(g->own);
    free(g->path);
    free(g->line);
    free(g);
}

static bool fold_event(void *arg, struct pw_event *e)
{
    pw_fold(arg, e);
    return true;
}

/* Folds a session to its end. A damaged session fails as a whole. */
static enum pw_code fold_session(struct pw_snapshot **s, const char *folder, const char *name,
                                 struct pw_err *err)
{
    struct pw_record *r;
    struct pw_record_info info;
    struct pw_err why;
    enum pw_code code = pw_record_open(&r, folder, &why);

    if (code != PW_OK)
        return pw_fail(err, code, "export figure: sessions: %s", why.msg);
    *s = pw_snapshot_new();
    code = pw_record_events(r, 1, UINT64_MAX, fold_event, *s, &why);
    pw_record_info(r, &info);
    pw_record_close(r);
    if (code != PW_OK)
        code = pw_fail(err, code, "export figure: session '%s' can't be read: %s", name, why.msg);
    else if (info.damaged > 0)
        code = pw_fail(err, PW_EUSER, "export figure: session '%s' is damaged: %s", name, info.damage);
    return code;
}

/* The folder of the running session, or of the recorded session that is shown; "": there is none. */
static const char *shown_folder(const struct pw_ui *ui)
{
    const struct pw_ev_session *s = &pw_time_end(ui)->session;
    return ui->transport.alone     ? pw_record_path(pw_player_record(ui->transport.player))
           : s->how != PW_REC_NONE ? s->folder
                                   : "";
}

static bool is_shown(const struct figure *g, const char *folder)
{
    struct stat a, b;
    return g->own[0] != '\0' && stat(g->own, &a) == 0 && stat(folder, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static enum pw_code add_session(struct figure *g, const char *typed, struct pw_err *err)
{
    char folder[PW_LINE * 4], *name = g->name[g->n];
    struct pw_err why;

    if (pw_lab_session_folder(folder, sizeof folder, name, sizeof *g->name, typed, &why) != PW_OK)
        return pw_fail(err, PW_EUSER, "export figure: sessions: '%s': %s", typed, why.msg);
    for (int i = 0; i < g->n; i++)
        if (strcmp(g->name[i], name) == 0)
            return pw_fail(err, PW_EUSER, "export figure: sessions: two of them are called '%s'", name);
    if (!is_shown(g, folder))
        g->folder[g->n] = pw_text_dup(folder);
    g->list[g->n++] = (struct pw_figure_session){.name = name};
    return PW_OK;
}

static enum pw_code find_sessions(struct figure *g, struct pw_err *err)
{
    const char *list = g->o.sessions;
    enum pw_code code = PW_OK;

    for (const char *at = list; code == PW_OK && *list;) {
        char typed[sizeof g->o.sessions];
        size_t n = strcspn(at, ","), blank = strspn(at, " ");
        const char *end = at + n;
        blank = blank < n ? blank : n;
        for (n -= blank, at += blank; n > 0 && at[n - 1] == ' ';)
            n--;
        snprintf(typed, sizeof typed, "%.*s", (int)n, at);
        if (typed[0] == '\0')
            code = pw_fail(err, PW_EUSER,
                           "export figure: sessions=%s: a name is missing; 'sessions' lists them", list);
        else if (g->n == PW_FIGURE_LINES)
            code =
                pw_fail(err, PW_EUSER, "export figure: sessions: at most %d in one figure", PW_FIGURE_LINES);
        else
            code = add_session(g, typed, err);
        if (*end == '\0')
            break;
        at = end + 1;
    }
    g->o.recorded = g->list, g->o.n_recorded = g->n;
    return code;
}

/* The player's snapshot has no maps for arms that do not decode the prompt at that moment (player.h); a
 * complete fold has them. */
static void find_moment(struct figure *g, const struct pw_ui *ui)
{
    g->session = pw_text_dup(pw_record_path(pw_player_record(ui->transport.player)));
    g->seq = ui->snap->seq;
}

static enum pw_code fold_moment(struct figure *g, struct pw_err *err)
{
    struct pw_record *r;
    enum pw_code code = pw_record_open(&r, g->session, err);

    if (code != PW_OK)
        return code;
    g->moment = pw_snapshot_new();
    code = pw_record_events(r, 1, g->seq, fold_event, g->moment, err);
    pw_record_close(r);
    return code;
}

/* On the disk's thread. */
static enum pw_code read_recorded(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct figure *g = arg;
    enum pw_code code = find_sessions(g, err);

    (void)said;
    for (int i = 0; i < g->n && code == PW_OK; i++)
        if (g->folder[i] != NULL) {
            code = fold_session(&g->snap[i], g->folder[i], g->name[i], err);
            g->list[i].snap = g->snap[i];
        }
    return code == PW_OK && g->session != NULL ? fold_moment(g, err) : code;
}

/* ---- missing data */

/* Inserts the commands that compute the figure's missing data before this line, and this line after them.
 * Returns false if no command is needed, they ran already, or no lab is available in the present. */
static bool compute_first(struct pw_app *app, const char *line, const struct pw_figure_options *o,
                          struct pw_err *err)
{
    bool computed = app->todo.computed;
    struct pw_str lines = {0};

    app->todo.computed = false;
    if (!computed && app->lab != NULL && app->ui.present == NULL)
        pw_figure_needs(&lines, app->ui.snap, o);
    bool put = lines.len > 0;
    if (put) {
        pw_str_add(&lines, "; %s", line);
        put = app->todo.computed = pw_script_insert(app, NULL, lines.s, err) == PW_OK;
    }
    pw_str_fini(&lines);
    return put;
}

/* Returns the data that the figure needs of the arms, besides or instead of the selected one. */
static struct pw_needs needs_of(const struct pw_figure_options *o, unsigned arms)
{
    struct pw_needs needs = pw_pane_needs(pw_panes[o->pane - 1]);

    if (needs.table_of)
        needs.table_of = arms ? arms : o->arm > 0 ? 1u << o->arm : 1u;
    if (needs.table_of && o->reference > 0)
        needs.table_of |= 1u << o->reference;
    if (needs.answer)
        needs.answer_of = arms;
    return needs;
}

/* ---- the command */

static enum pw_code options_of(const struct pw_app *app, const struct pw_args *args,
                               struct pw_figure_options *o, struct pw_err *err)
{
    const struct pw_ui *ui = &app->ui;

    *o = (struct pw_figure_options){0};
    pw_opt_defaults(pw_figure_opts, o);
    o->map = app->settings.colormap;
    if (app->screen)
        o->log = ui->curves.log, o->x = ui->curves.axis, o->task = ui->lengths.task + 1,
        o->reference = pw_find_arm(ui->snap, ui->encoding.reference) != NULL ? ui->encoding.reference : 0;
    enum pw_code code = pw_args_opts(args, pw_figure_opts, o, err);
    if (code == PW_OK && o->pane == 0 && !app->screen)
        code = say_panes(err);
    if (o->pane == 0)
        o->pane = ui->focus + 1;
    return code;
}

/* Takes page and selection from the screen, unless that page cannot draw the requested arms and sessions. */
static void take_page(const struct pw_app *app, struct pw_figure_options *o)
{
    const struct pw_ui *ui = &app->ui;
    const char *page = NULL;

    if (app->screen && o->page[0] == '\0' && pw_panes[o->pane - 1]->page != NULL)
        page = pw_panes[o->pane - 1]->page(ui);
    if (page == NULL)
        return;
    pw_text_copy(o->page, sizeof o->page, page);
    if (!pw_figure_takes(o))
        o->page[0] = '\0';
    else if (strncmp(page, "file", strlen("file")) == 0) { /* the workbench selects the map of a file */
        const struct pw_ev_attention *a = &ui->snap->foreign;
        o->layer = o->layer < 0 ? pw_within(ui->attention.file.layer, a->layers) : o->layer;
        o->head = o->head < 0 ? pw_within(ui->attention.file.head, a->heads) : o->head;
    }
}

/* On the disk's thread. */
static enum pw_code put_figure(void *arg, struct pw_str *said, struct pw_err *err)
{
    const struct figure *g = arg;

    pw_str_add(said, "wrote %s", g->path);
    return pw_figure_put(g->path, &g->drawn, err);
}

/* Draws the figure, or first computes what it lacks. Takes ownership of g. */
static enum pw_code draw_or_compute(struct pw_app *app, struct figure *g, struct pw_err *err)
{
    const struct pw_snapshot *s = g->moment != NULL ? g->moment : app->ui.snap;
    const struct pw_finding_view *v =
        g->o.pane - 1 == PW_PANE_FINDINGS ? pw_watching_finding(app, g->o.finding) : NULL;
    bool later = v == NULL && compute_first(app, g->line, &g->o, err);
    enum pw_code code =
        later       ? PW_OK
        : v != NULL ? pw_figure_draw_finding(&g->drawn, g->path, &v->f, pw_watching_commands(app), &g->o, err)
                    : pw_figure_draw(&g->drawn, g->path, s, &g->o, err);

    if (code == PW_OK && !later)
        return pw_app_write(app, &(struct pw_disk_job){.work = put_figure, .free = free_figure, .arg = g},
                            err);
    free_figure(g);
    return code;
}

static enum pw_code use_recorded(struct pw_app *app, void *arg, struct pw_err *err)
{
    return draw_or_compute(app, arg, err);
}

enum pw_code pw_figures_draw(struct pw_app *app, const struct pw_args *args, struct pw_err *err)
{
    const struct pw_ui *ui = &app->ui;
    struct pw_figure_options o;
    unsigned arms = 0;
    bool all = false;
    enum pw_code code = options_of(app, args, &o, err);

    if (code == PW_OK)
        code = pw_figure_arms(o.arms, &arms, &all, err);
    if (code != PW_OK)
        return code;
    struct pw_needs needs = needs_of(&o, all ? ~1u : arms);
    if (pw_app_puts_off(app, &needs, args))
        return PW_OK;
    take_page(app, &o);
    pw_figures_shown(app, o.finding, sizeof o.finding);
    struct figure *g = pw_alloc(1, sizeof *g);
    *g = (struct figure){.o = o,
                         .path = pw_text_dup(pw_args_word(args, 1)),
                         .line = pw_text_dup(args->text),
                         .own = pw_text_dup(shown_folder(ui))};
    code = pw_figure_ending("export figure", g->path, err);
    if (code == PW_OK && needs.answer_of && pw_time_in_recording(ui))
        find_moment(g, ui);
    bool read = g->session != NULL || o.sessions[0] != '\0';
    if (code == PW_OK && !read)
        return draw_or_compute(app, g, err);
    if (code == PW_OK) {
        struct pw_disk_job job = {.work = read_recorded, .done = use_recorded, .free = free_figure, .arg = g};
        job.orders = true;
        return pw_app_write(app, &job, err);
    }
    free_figure(g);
    return code;
}
