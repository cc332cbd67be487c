/* curves.c - the training curves pane: one metric over steps, operations or time, every arm in one plot.
 *
 * Arms share data and batches, so their curves differ by the encoding alone. A dotted line marks a swap of an
 * encoding. Exact match has two curves per arm: a solid one for trained lengths, a dotted one for longer
 * lengths. So has the loss of running text: a solid one in training, a dotted one on held-out text. An arm of
 * several replicas is drawn as the line of their median in the band of their minimum and maximum; its label
 * ends with n. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/curves.h"

enum { EXACT = PW_METRIC_EXACT, CHOICES = PW_METRIC_CHOICES };

/* The order of key m, the most important metric first. */
static const int next_metric[CHOICES] = {
    [PW_M_LOSS] = EXACT,        [EXACT] = PW_M_ACCURACY, [PW_M_ACCURACY] = PW_M_GRAD_NORM,
    [PW_M_GRAD_NORM] = PW_M_LR, [PW_M_LR] = PW_M_LOSS,
};

static int metric_of(const struct pw_ui *ui)
{
    return ui->curves.metric >= 0 && ui->curves.metric < CHOICES ? ui->curves.metric : PW_M_LOSS;
}

static bool is_log(const struct pw_ui *ui)
{
    return ui->curves.log && !pw_metric_views[metric_of(ui)].percent;
}

enum { RAW = 2 }; /* value of ui's smooth: no smoothing */

/* Half-widths of the moving average as a share of the plot's width: short, long. */
static const double reaches[] = {1.0 / 60, 1.0 / 15};

static enum pw_curves_axis axis_of(const struct pw_ui *ui)
{
    return ui->curves.axis >= 0 && ui->curves.axis < PW_AXES ? (enum pw_curves_axis)ui->curves.axis
                                                             : PW_AXIS_STEP;
}

/* Collects the curves to draw, at most PW_MAX_CURVES. */
static int curves_of(const struct pw_ui *ui, struct pw_curve *out)
{
    return pw_curves_find(out, ui->snap, metric_of(ui), axis_of(ui));
}

void pw_curves_value(const struct pw_ui *ui, char *dst, size_t size, float v)
{
    if (pw_metric_views[metric_of(ui)].percent)
        snprintf(dst, size, "%.0f%%", 100 * (double)v);
    else
        snprintf(dst, size, "%.3g", (double)v);
}

/* ---- the axes */

/* Narrows the range to the zoomed window, at the right end or around the cursor. Each zoom level halves it.
 * The previous window stays while it contains the cursor. */
static void find_window(const struct pw_ui *ui, double *x0, double *x1)
{
    double all = *x1 - *x0, width = all / (double)(1 << (ui->curves.zoom < 20 ? ui->curves.zoom : 20));
    double at = (double)ui->curves.cursor, shown = ui->curves.x1 - ui->curves.x0, from = *x1 - width;

    if (ui->curves.zoom <= 0)
        return;
    if (at >= 0)
        from =
            shown > width * 0.75 && shown < width * 1.5 && at >= ui->curves.x0 && at <= ui->curves.x0 + width
                ? ui->curves.x0
                : at - width / 2;
    from = from > *x1 - width ? *x1 - width : from;
    from = from < *x0 ? *x0 : from;
    *x0 = from, *x1 = from + width;
}

/* Keeps the points of each curve in the window and one more on each side, so that lines reach the edges. */
static void cut(struct pw_curve *k, int n, double x0, double x1)
{
    for (int i = 0; i < n; i++)
        for (int r = 0; r < k[i].n; r++) {
            struct pw_points *p = &k[i].rep[r];
            if (p->n == 0)
                continue;
            int end = pw_curves_up_to(p->x, p->n, (int64_t)x1 + 1);
            p->from = pw_curves_up_to(p->x, p->n, (int64_t)x0 - 1);
            p->n = end + (end < p->n);
        }
}

static void draw_curve(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                       const struct pw_curve *k, enum pw_stroke stroke)
{
    if (k->n > 1)
        pw_plot_band(p, ui, c, k->arm, k->rep, k->n, stroke);
    else
        pw_plot_series(p, ui, c, k->arm, &k->rep[0], stroke);
}

/* Draws the current arm last, and the dotted curves before the solid ones, so that the most important curve
 * is on top. */
static void draw_curves(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                        const struct pw_curve *k, int n)
{
    bool smooth = ui->curves.smooth < RAW && metric_of(ui) != EXACT;

    for (int pass = 0; pass < 4; pass++)
        for (int i = 0; i < n; i++)
            if ((k[i].arm == ui->snap->current) == pass / 2 && k[i].dotted == !(pass % 2))
                draw_curve(ui, c, p, &k[i],
                           k[i].dotted ? PW_STROKE_DOTTED
                           : smooth    ? PW_STROKE_SMOOTH
                                       : PW_STROKE_LINE);
}

static void invite(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, bool any)
{
    static const char *const train[] = {"nothing trained yet", ":train 500", "or press Space",
                                        ":race none,alibi,t5  compares encodings", NULL};
    static const char *const evaluate[] = {"no evaluation yet", ":eval",
                                           "or continue training, which makes small ones", NULL};
    pw_draw_missing(ui, c, r, metric_of(ui) == EXACT && any ? evaluate : train);
}

/* The curves to draw, and their places. */
struct chart {
    struct pw_plot p;
    struct pw_curve all[PW_MAX_CURVES], cut[PW_MAX_CURVES]; /* cut: to the window */
    int n;
    struct pw_curve_end ends[PW_MAX_ARMS];
    int n_ends;
    bool readout; /* the last row */
    bool beside;  /* the labels are at the curves' ends, else above them if there is room */
    struct pw_rect r;
};

/* Returns false if there is nothing to draw. */
static bool fit(struct chart *t, const struct pw_ui *ui, struct pw_rect r)
{
    int label_w = 0;
    int64_t first, last;

    *t = (struct chart){.p = {.log = is_log(ui),
                              .percent = pw_metric_views[metric_of(ui)].percent,
                              .x_unit = pw_axis_views[axis_of(ui)].unit,
                              .reach = reaches[ui->curves.smooth == 1]}};
    t->n = curves_of(ui, t->all);
    if (!pw_curves_extent(t->all, t->n, &first, &last))
        return false;
    t->p.x0 = (double)first, t->p.x1 = (double)last;
    find_window(ui, &t->p.x0, &t->p.x1);
    memcpy(t->cut, t->all, sizeof t->cut);
    cut(t->cut, t->n, t->p.x0, t->p.x1);
    pw_curves_range(t->cut, t->n, t->p.percent, &t->p.log, &t->p.y0, &t->p.y1);
    t->readout = r.h >= 5 && pw_curves_moment(ui) >= 0;
    r.h -= t->readout;
    for (int i = 0; i < t->n; i++)
        if (!t->all[i].dotted && t->all[i].rep[0].n > 0) {
            struct pw_curve_end *end = &t->ends[t->n_ends++];
            end->arm = t->all[i].arm;
            pw_curves_describe_end(ui, end, &t->all[i]);
            int w = pw_text_cells(end->text);
            label_w = w > label_w ? w : label_w;
        }
    t->beside = r.w >= 2 * label_w + 20 && r.h >= t->n_ends + 2;
    t->r = t->p.box = r;
    if (t->beside)
        t->p.box.w -= label_w + 1;
    else if (r.h >= 5)
        t->p.box.y++, t->p.box.h--;
    return true;
}

bool pw_curves_field(const struct pw_ui *ui, struct pw_rect r, struct pw_plot *p)
{
    struct chart t;
    bool there = fit(&t, ui, r) && pw_plot_fit(&t.p, ui);

    *p = t.p;
    return there;
}

static void settle(struct pw_ui *ui, struct pw_rect r)
{
    struct pw_curve k[PW_MAX_CURVES];
    int n = curves_of(ui, k);
    int64_t first, last;

    (void)r;
    if (!pw_curves_extent(k, n, &first, &last))
        return;
    if (ui->curves.cursor > last)
        ui->curves.cursor = -1;
    if (ui->curves.cursor >= 0 && ui->curves.cursor < first)
        ui->curves.cursor = first;
    double x0 = (double)first, x1 = (double)last;
    find_window(ui, &x0, &x1);
    ui->curves.x0 = x0, ui->curves.x1 = x1;
}

static void draw_pane(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    struct chart t;

    if (!fit(&t, ui, r)) {
        invite(ui, c, r, t.n > 0);
        return;
    }
    if (!t.beside && t.r.h >= 5)
        pw_curves_draw_legend(ui, c, t.r, t.ends, t.n_ends);
    if (t.readout)
        pw_curves_draw_readout(ui, c, r, t.r.y + t.r.h, t.all, t.n);
    if (!pw_plot_begin(&t.p, ui, c, pw_axis_views[axis_of(ui)].name))
        return;
    pw_curves_draw_marks(ui, c, &t.p, false);
    draw_curves(ui, c, &t.p, t.cut, t.n);
    pw_curves_draw_marks(ui, c, &t.p, true);
    if (!t.beside)
        return;
    for (int i = 0, e = 0; i < t.n; i++)
        if (!t.all[i].dotted && t.all[i].rep[0].n > 0) {
            struct pw_spread v = pw_curves_at(&t.all[i], (int64_t)t.p.x1);
            t.ends[e++].row = pw_plot_row(&t.p, v.n > 0 ? (double)v.median : t.p.y0);
        }
    t.p.box = t.r;
    pw_curves_draw_ends(ui, c, &t.p, t.ends, t.n_ends);
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    pw_str_add(out, "%s%s%s", pw_metric_views[metric_of(ui)].title, is_log(ui) ? ", log" : "",
               pw_any_own_batches(ui->snap) ? ", own batches" : "");
    struct pw_curve k[PW_MAX_CURVES];
    bool held = false;

    for (int i = 0, n = curves_of(ui, k); metric_of(ui) == PW_M_LOSS && i < n; i++)
        held = held || k[i].dotted;
    if (held)
        pw_str_add(out, "  dotted: held-out");
    if (metric_of(ui) == EXACT)
        pw_str_add(out, "  dotted: beyond training");
    else if (ui->curves.smooth >= RAW)
        pw_str_add(out, "  every point");
    else
        pw_str_add(out, "  smoothed over %.0f%%", 200 * reaches[ui->curves.smooth == 1]);
    if (ui->curves.zoom > 0)
        pw_str_add(out, "  1/%d of the run", 1 << (ui->curves.zoom < 20 ? ui->curves.zoom : 20));
}

/* ---- keys */

/* Moves the cursor by a sixtieth of the window. A hidden cursor appears at the right end. */
static void move(struct pw_ui *ui, int by)
{
    double step = (ui->curves.x1 - ui->curves.x0) / 60, at = (double)ui->curves.cursor;

    step = step > 1 ? step : 1;
    if (ui->curves.cursor < 0) {
        if (by > 0 || !(ui->curves.x1 > ui->curves.x0))
            return;
        at = ui->curves.x1;
    }
    at += by * step;
    ui->curves.cursor = at < 9e18 ? (int64_t)(at > 0 ? at : 0) : -1;
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    (void)line;
    ui->curves.passing = false;
    switch (k) {
    case 'm': ui->curves.metric = next_metric[metric_of(ui)]; return true;
    case 'a': ui->curves.log = !ui->curves.log; return true;
    case 's': ui->curves.smooth = (ui->curves.smooth + 1) % (RAW + 1); return true;
    case 'x': /* cursor and window belong to the old axis */
        ui->curves.axis = (axis_of(ui) + 1) % PW_AXES;
        ui->curves.cursor = -1, ui->curves.zoom = 0;
        ui->curves.x0 = ui->curves.x1 = 0; /* no earlier window */
        return true;
    case 'h':
    case PW_KEY_LEFT: move(ui, -1); return true;
    case 'l':
    case PW_KEY_RIGHT: move(ui, 1); return true;
    case 'H': move(ui, -10); return true;
    case 'g':
    case PW_KEY_HOME: ui->curves.cursor = 0; return true;
    case 'G':
    case PW_KEY_END: ui->curves.cursor = -1; return true;
    case 'w': ui->curves.zoom += ui->curves.zoom < 12; return true;
    case 'W': ui->curves.zoom -= ui->curves.zoom > 0; return true;
    default: return false;
    }
}

/* Moves the cursor to the column's data. A cursor that was placed by a click does not follow the pointer. */
static bool click(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line)
{
    struct pw_plot p;

    (void)y;
    if ((line == NULL && ui->curves.cursor >= 0 && !ui->curves.passing) || !pw_curves_field(ui, inside, &p))
        return false;
    int at = x - p.field.x, w = p.field.w;
    if (at < 0 || at >= w)
        return false;
    ui->curves.passing = line == NULL;
    ui->curves.cursor = (int64_t)(ui->curves.x0 + (ui->curves.x1 - ui->curves.x0) * at / (w - 1) + 0.5);
    return true;
}

static void leave(struct pw_ui *ui)
{
    if (ui->curves.passing)
        ui->curves.cursor = -1, ui->curves.passing = false;
}

/* Copies the value of every model at the cursor, or the last one. */
static void copy(const struct pw_ui *ui, struct pw_str *out)
{
    struct pw_curve k[PW_MAX_CURVES];
    int n = curves_of(ui, k);
    int64_t at = pw_curves_moment(ui) >= 0 ? pw_curves_moment(ui) : INT64_MAX;
    static const char *const names[PW_AXES] = {"step", "flops", "ms"};

    bool exact = metric_of(ui) == EXACT, held = false;

    for (int i = 0; i < n; i++)
        held = held || (!exact && k[i].dotted);
    pw_str_add(out, "arm\tpe\treplicate\t%s\t%s%s\n", names[axis_of(ui)],
               pw_metric_views[metric_of(ui)].title,
               exact  ? "\tlengths"
               : held ? "\tpart"
                      : "");
    for (int i = 0; i < n; i++)
        for (int r = 0; r < k[i].n; r++) {
            const struct pw_points *p = &k[i].rep[r];
            int last = pw_curves_up_to(p->x, p->n, at) - 1;
            if (last >= 0)
                pw_str_add(out, "%d\t%s\t%d\t%lld\t%.9g%s\n", k[i].arm, ui->snap->arms[k[i].arm - 1].info.pe,
                           r + 1, (long long)p->x[last], (double)p->y[last],
                           held          ? k[i].dotted ? "\theld-out" : "\ttraining"
                           : !exact      ? ""
                           : k[i].dotted ? "\tbeyond"
                                         : "\ttrained");
        }
}

static const char *const keys[] = {
    "m",   "next metric: loss, exact match, token accuracy, gradient norm, learning rate",
    "a",   "linear or logarithmic axis",
    "s",   "smoothing: a short window, a longer one, or none",
    "x",   "x axis: steps, operations, seconds",
    "h l", "cursor: the value of every arm there; H ten at once",
    "g G", "cursor to the left end; hide it",
    "w W", "narrower and wider window, around the cursor or at the right end",
    NULL};

static const char *page(const struct pw_ui *ui)
{
    return pw_metric_views[metric_of(ui)].word;
}

static void init(struct pw_ui *ui)
{
    ui->curves = (struct pw_curves_state){
        .metric = PW_M_LOSS, .log = true, .cursor = -1}; /* log: arms differ most if the loss is small */
}

const struct pw_pane pw_pane_curves = {
    .name = "curves",
    .title = "Curves",
    .hints = "m metric  a log  s smooth  x across  hl cursor  wW zoom",
    .status = status,
    .draw = draw_pane,
    .init = init,
    .settle = settle,
    .key = key,
    .click = click,
    .leave = leave,
    .copy = copy,
    .keys = keys,
    .page = page,
    .words = pw_curves_words,
};
