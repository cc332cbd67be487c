/* lengths.c - the length generalisation pane: exact match by length of every arm, on trained and longer
 * lengths.
 *
 * Running text has pages of its own: the loss by context length, and by position.
 *
 * Each page has its own file:
 *   a plot above a table;
 *   a grid over both numbers if a length is a pair;
 *   kind and place of the first error;
 *   paired tests of arms on the same samples;
 *   failing examples, which Enter pins.
 *
 * Lengths beyond the trained ones are marked everywhere, because they are the question. They are greyed for
 * arms that have not learned the trained lengths yet: such results reflect training, not the encoding. */
#include "ui/panes/lengths.h"

#include <math.h>
#include <stdio.h>

static void find_lengths(const struct pw_ui *ui, struct pw_lengths *v)
{
    pw_lengths_of(v, ui->snap, ui->lengths.task);
}

int pw_lengths_cursor(const struct pw_ui *ui, const struct pw_lengths *v)
{
    return pw_within(ui->lengths.cursor, v->n);
}

void pw_lengths_find(struct pw_ui *ui, struct pw_lengths *v)
{
    find_lengths(ui, v);
    ui->lengths.task = v->task;
    ui->lengths.cursor = pw_lengths_cursor(ui, v);
}

bool pw_lengths_has_before(const struct pw_arm_view *arm)
{
    for (int r = 0; r < arm->info.replicas; r++)
        if (pw_eval_before(arm, &arm->rep[r]) != NULL)
            return true;
    return false;
}

float pw_lengths_before(const struct pw_arm_view *arm, int task, int length)
{
    float v[PW_MAX_REPLICAS];

    if (!pw_lengths_has_before(arm))
        return NAN;
    for (int r = 0; r < arm->info.replicas; r++) {
        const struct pw_replica_view *rep = &arm->rep[r];
        /* An unchanged replica has no earlier evaluation: its latest one counts. */
        const struct pw_ev_eval *before = pw_eval_before(arm, rep);
        const struct pw_eval_row *row = pw_eval_find(before != NULL ? before : &rep->eval, task, length);
        v[r] = row != NULL && row->samples > 0 ? (float)row->exact / (float)row->samples : NAN;
    }
    return pw_spread_of(v, arm->info.replicas).median;
}

const char *pw_lengths_before_name(const struct pw_arm_view *arm)
{
    return pw_arm_heads_off(arm) ? "before heads off" : "with heads off";
}

const struct pw_eval_row *pw_lengths_row(const struct pw_ui *ui, const struct pw_lengths *v,
                                         const struct pw_arm_view **arm)
{
    *arm = pw_find_arm(ui->snap, ui->snap->current);
    return *arm != NULL && v->n > 0
               ? pw_eval_find(&(*arm)->rep[0].eval, v->task, v->lengths[pw_lengths_cursor(ui, v)])
               : NULL;
}

void pw_lengths_label(struct pw_canvas *c, struct pw_rect r, int y, int length, bool trained, bool cursor)
{
    struct pw_style s = trained ? pw_style_ok() : pw_style_warn();

    pw_draw_cell(c, r, y, r.x + 5, s, trained ? 0x2503 : 0x250a);
    if (cursor)
        s.attr |= PW_REVERSE;
    pw_draw_fmt(c, r, y, r.x, s, "%4d", length);
}

void pw_lengths_list(const struct pw_ui *ui, int cursor, int n, struct pw_rect r, struct pw_lengths_areas *a)
{
    a->first = pw_scroll_held(ui->lengths.held, cursor, n, r.h);
    a->table = r;
    a->table.h = r.h < n - a->first ? r.h : n - a->first;
}

static bool has_pairs(const struct pw_ui *ui)
{
    const struct pw_ev_lab *lab = &ui->snap->lab;
    int t = ui->lengths.task;

    return t >= 0 && t < lab->n_tasks && lab->tasks[t].axis[0][0] != '\0';
}

/* Returns true if the evaluations are of running text. */
static bool is_text(const struct pw_ui *ui)
{
    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        if (arm != NULL && pw_eval_runs(&arm->rep[0].eval))
            return true;
    }
    return false;
}

bool pw_lengths_has_page(const struct pw_ui *ui, int page)
{
    bool text = is_text(ui);

    switch (page) {
    case PW_LENGTHS_GRID: return has_pairs(ui);
    case PW_LENGTHS_LOSS:
    case PW_LENGTHS_PLACES: return text;
    case PW_LENGTHS_TESTS: return true;
    default: return !text && page >= 0 && page < PW_LENGTHS_PAGES;
    }
}

enum pw_lengths_page pw_lengths_page_of(const struct pw_ui *ui)
{
    int page = ui->lengths.page;

    return pw_lengths_has_page(ui, page) ? (enum pw_lengths_page)page
           : is_text(ui)                 ? PW_LENGTHS_LOSS
                                         : PW_LENGTHS_CURVE;
}

/* Returns the number of existing pages before `page`. */
static int pages_before(const struct pw_ui *ui, int page)
{
    int n = 0;

    for (int i = 0; i < page; i++)
        n += pw_lengths_has_page(ui, i);
    return n;
}

/* Cuts the plot off the top of *r; h = 0: there is no room for it. The table keeps *readout rows for the
 * readout. */
static struct pw_rect cut_plot(struct pw_rect *r, int *readout, const struct pw_lengths *v)
{
    /* The shape matters more than the numbers: a table that cannot show all lengths yields its space to the
     * plot. */
    *readout = r->h >= 18 && r->w < 120 ? 2 : 1;
    int whole = v->n + 2 + *readout;
    bool all = whole <= r->h;
    struct pw_rect plot = {r->y, r->x, 0, r->w};

    if (r->w >= 40 && v->n > 1 && (r->h >= 18 || (r->h >= 9 && !all))) {
        int table = r->h < 18 ? 4 : whole < r->h * 55 / 100 ? whole : r->h * 55 / 100;
        plot.h = r->h - table;
        r->y += plot.h, r->h = table;
    }
    return plot;
}

static void draw_curve_page(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                            const struct pw_lengths *v)
{
    int readout;
    struct pw_rect plot = cut_plot(&r, &readout, v);

    if (plot.h > 0)
        pw_lengths_plot(ui, c, plot, v);
    pw_lengths_table(ui, c, r, readout, v);
}

void pw_lengths_find_areas(const struct pw_ui *ui, struct pw_rect r, struct pw_lengths_areas *a)
{
    struct pw_lengths v;
    int readout;

    *a = (struct pw_lengths_areas){0};
    find_lengths(ui, &v);
    if (v.n == 0)
        return;
    switch (pw_lengths_page_of(ui)) {
    case PW_LENGTHS_GRID:
    case PW_LENGTHS_TESTS:
    case PW_LENGTHS_PLACES: break;
    case PW_LENGTHS_LOSS: pw_lengths_loss_areas(ui, r, &v, a); break;
    case PW_LENGTHS_ERRORS: pw_lengths_errors_areas(ui, r, &v, a); break;
    case PW_LENGTHS_FAILING: pw_lengths_failing_areas(ui, r, &v, a); break;
    default: {
        struct pw_rect plot = cut_plot(&r, &readout, &v);
        if (plot.h > 0)
            a->plot = pw_lengths_plot_field(ui, plot, &v);
        pw_lengths_table_areas(ui, r, readout, &v, a);
    }
    }
}

static void settle(struct pw_ui *ui, struct pw_rect r)
{
    struct pw_lengths v;

    pw_lengths_find(ui, &v);
    if (v.n == 0)
        return;
    switch (pw_lengths_page_of(ui)) {
    case PW_LENGTHS_GRID: pw_lengths_grid_settle(ui, &v); break;
    case PW_LENGTHS_ERRORS: pw_lengths_errors_settle(ui, &v); break;
    case PW_LENGTHS_TESTS: pw_lengths_tests_settle(ui, r, &v); break;
    case PW_LENGTHS_FAILING:
        if (pw_lengths_failing_shown(ui->snap))
            ui->lengths.chosen = pw_within(ui->lengths.chosen, ui->snap->failing.n);
        break;
    default: break;
    }
}

static void draw_lengths(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    struct pw_lengths v;

    find_lengths(ui, &v);
    if (v.n == 0) {
        static const char *const lines[] = {"no evaluation yet", ":eval", "or e here: exact match by length,",
                                            "trained and beyond", NULL};
        static const char *const of_text[] = {
            "no evaluation yet", ":eval", "or e here: loss by context length,", "trained and beyond", NULL};
        pw_draw_missing(ui, c, r, v.range != NULL && v.range->runs ? of_text : lines);
        return;
    }
    switch (pw_lengths_page_of(ui)) {
    case PW_LENGTHS_GRID: pw_lengths_grid(ui, c, r, &v); break;
    case PW_LENGTHS_ERRORS: pw_lengths_errors(ui, c, r, &v); break;
    case PW_LENGTHS_TESTS: pw_lengths_tests(ui, c, r, &v); break;
    case PW_LENGTHS_FAILING: pw_lengths_failing(ui, c, r, &v); break;
    case PW_LENGTHS_LOSS: pw_lengths_loss_page(ui, c, r, &v); break;
    case PW_LENGTHS_PLACES: pw_lengths_places_page(ui, c, r, &v); break;
    default: draw_curve_page(ui, c, r, &v); break;
    }
}

static const char *const page_names[PW_LENGTHS_PAGES] = {
    [PW_LENGTHS_CURVE] = "curve",      [PW_LENGTHS_GRID] = "grid",       [PW_LENGTHS_ERRORS] = "errors",
    [PW_LENGTHS_TESTS] = "tests",      [PW_LENGTHS_FAILING] = "failing", [PW_LENGTHS_LOSS] = "loss",
    [PW_LENGTHS_PLACES] = "positions",
};

/* Returns true if the values of some arm beyond training are greyed. */
static bool any_greyed(const struct pw_ui *ui, int task)
{
    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        if (arm != NULL && arm->rep[0].eval.n > 0 && !pw_lengths_learned(&ui->snap->lab, arm, task))
            return true;
    }
    return false;
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_ev_lab *lab = &ui->snap->lab;
    int i = ui->lengths.task >= 0 && ui->lengths.task < lab->n_tasks ? ui->lengths.task : 0;
    const struct pw_arm_view *a = pw_find_arm(ui->snap, ui->snap->current);

    if (lab->n_tasks == 0)
        return;
    int page = pw_lengths_page_of(ui);
    struct pw_str differ = {0};
    pw_str_add(out, "%s %d/%d  %s", page_names[page], pages_before(ui, page) + 1,
               pages_before(ui, PW_LENGTHS_PAGES), lab->tasks[i].name);
    /* The samples precede the trained lengths, which plot and table also show by colours: a narrow title
     * drops its end. */
    bool samples = pw_lengths_samples_differ(&differ, ui->snap, i);
    pw_str_add(out, "%s%s%s", samples ? "  " : ",", samples ? differ.s : "", samples ? "  " : " ");
    pw_lengths_range_text(out, ui->snap, i, "..");
    if (a == NULL || a->rep[0].eval.n == 0) {
        pw_str_fini(&differ);
        return;
    }
    enum pw_judge judge = pw_eval_judge(&a->rep[0].eval, i);
    if (judge != PW_JUDGE_EXACT)
        pw_str_add(out, ", %s", pw_judge_name(judge));
    bool together = page == PW_LENGTHS_ERRORS || page == PW_LENGTHS_GRID;
    if (a->info.replicas > 1)
        pw_str_add(out, together ? ", %d seeds together%s" : ", n=%d%s", a->info.replicas,
                   pw_batches_text(&a->info));
    if (pw_lengths_page_of(ui) == PW_LENGTHS_CURVE && pw_lengths_has_before(a))
        pw_str_add(out, "  dim dots: %s", pw_lengths_before_name(a));
    if (pw_lengths_page_of(ui) == PW_LENGTHS_CURVE && any_greyed(ui, i))
        pw_str_add(out, "  dim beyond: in range <99%%");
    if (pw_lengths_page_of(ui) == PW_LENGTHS_CURVE && a->info.replicas > 1)
        pw_str_add(out, "  medians of seeds");
    if (differ.len == 0) {
        pw_str_add(out, "  ");
        pw_lengths_samples(out, ui->snap, i);
    }
    pw_str_fini(&differ);
    pw_str_add(out, "  step %lld", (long long)a->rep[0].eval_step);
    if (ui->time >= 0 && ui->time < a->rep[0].eval_step)
        pw_str_add(out, ", not %lld", (long long)ui->time); /* lengths of earlier evaluations are not kept */
}

static void copy(const struct pw_ui *ui, struct pw_str *out)
{
    struct pw_lengths v;

    find_lengths(ui, &v);
    switch (pw_lengths_page_of(ui)) {
    case PW_LENGTHS_TESTS: pw_lengths_copy_tests(ui, &v, out); break;
    case PW_LENGTHS_ERRORS: pw_lengths_copy_errors(ui, &v, out); break;
    case PW_LENGTHS_GRID: pw_lengths_copy_grid(ui, &v, out); break;
    case PW_LENGTHS_LOSS: pw_lengths_copy_loss(ui, &v, out); break;
    case PW_LENGTHS_PLACES: pw_lengths_copy_places(ui, &v, out); break;
    default: pw_lengths_copy_table(ui, &v, out); break;
    }
}

static const char *page(const struct pw_ui *ui)
{
    return page_names[pw_lengths_page_of(ui)];
}

const struct pw_pane pw_pane_lengths = {
    .name = "lengths",
    .title = "Lengths",
    .hints = "v page  jk length  Enter failing  f list  e evaluate  t task",
    .status = status,
    .draw = draw_lengths,
    .settle = settle,
    .key = pw_lengths_key,
    .click = pw_lengths_click,
    .copy = copy,
    .keys = pw_lengths_keys,
    .page = page,
    .words = pw_lengths_words,
};
