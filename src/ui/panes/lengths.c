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

/* Collects the lengths and clamps task and cursor to them. */
static void find(struct pw_ui *ui, struct pw_lengths *v)
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

static bool has_page(const struct pw_ui *ui, int page)
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

/* Returns the selected page, or the first one if it does not exist. */
static enum pw_lengths_page page_of(const struct pw_ui *ui)
{
    int page = ui->lengths.page;

    return has_page(ui, page) ? (enum pw_lengths_page)page : is_text(ui) ? PW_LENGTHS_LOSS : PW_LENGTHS_CURVE;
}

/* Returns the number of existing pages before `page`. */
static int pages_before(const struct pw_ui *ui, int page)
{
    int n = 0;

    for (int i = 0; i < page; i++)
        n += has_page(ui, i);
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
    switch (page_of(ui)) {
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

    find(ui, &v);
    if (v.n == 0)
        return;
    switch (page_of(ui)) {
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
    switch (page_of(ui)) {
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
    int page = page_of(ui);
    struct pw_str differ = {0};
    pw_str_add(out, "%s %d/%d  %s", page_names[page], pages_before(ui, page) + 1,
               pages_before(ui, PW_LENGTHS_PAGES), lab->tasks[i].name);
    /* The samples precede the trained lengths, which plot and table also show by colours: a narrow title
     * drops its end. */
    if (pw_lengths_samples_differ(&differ, ui->snap, i))
        pw_str_add(out, "  %s  trained", differ.s);
    else
        pw_str_add(out, ", trained");
    pw_str_add(out, " %d..%d", lab->tasks[i].train_lo, lab->tasks[i].train_hi);
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
    if (page_of(ui) == PW_LENGTHS_CURVE && pw_lengths_has_before(a))
        pw_str_add(out, "  dim dots: %s", pw_lengths_before_name(a));
    if (page_of(ui) == PW_LENGTHS_CURVE && any_greyed(ui, i))
        pw_str_add(out, "  dim beyond: in range <99%%");
    if (page_of(ui) == PW_LENGTHS_CURVE && a->info.replicas > 1)
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

/* ---- keys */

static void turn_page(struct pw_ui *ui, int by)
{
    int page = page_of(ui);

    do
        page = (page + by + PW_LENGTHS_PAGES) % PW_LENGTHS_PAGES;
    while (!has_page(ui, page));
    ui->lengths.page = page;
}

static void add_task(const struct pw_ui *ui, struct pw_str *line)
{
    if (ui->snap->lab.n_tasks > 1)
        pw_str_add(line, " task=%s", ui->snap->lab.tasks[ui->lengths.task].name);
}

/* Enter: pins the first failing example at the cursor, or the selected one of the list. */
static void pin(struct pw_ui *ui, struct pw_str *line)
{
    const struct pw_ev_failing *f = &ui->snap->failing;
    const struct pw_arm_view *arm;
    struct pw_lengths v;

    find(ui, &v);
    if (v.runs) {
        pw_str_add(line, "sample length=%d", v.lengths[pw_lengths_cursor(ui, &v)]);
        return;
    }
    const struct pw_eval_row *row = pw_lengths_row(ui, &v, &arm);
    const struct pw_ev_eval *e = row != NULL ? &pw_inspected_view(ui->snap, arm)->eval : NULL;
    const struct pw_eval_row *own = row != NULL ? pw_eval_find(e, row->task, row->length) : NULL;
    int length = row != NULL ? row->length : 0, index = own != NULL ? pw_eval_failing(e, own, 0) : -1;
    if (page_of(ui) == PW_LENGTHS_FAILING && f->n > 0 && pw_lengths_failing_shown(ui->snap))
        length = f->length, index = f->list[pw_within(ui->lengths.chosen, f->n)].index;
    else if (page_of(ui) == PW_LENGTHS_GRID)
        index = pw_lengths_grid_sample(ui, &v, &length);
    if (index < 0) {
        pw_ui_message(ui, row != NULL ? "nothing failed there" : "not evaluated yet: e evaluates");
        return;
    }
    pw_str_add(line, "failing length=%d index=%d", length, index);
    add_task(ui, line);
}

/* f: lists the failures at the cursor's length. */
static void list(struct pw_ui *ui, struct pw_str *line)
{
    const struct pw_arm_view *arm;
    struct pw_lengths v;

    find(ui, &v);
    if (v.runs) {
        pw_ui_message(ui, "running text has no failing samples; Enter pins one");
        return;
    }
    const struct pw_eval_row *row = pw_lengths_row(ui, &v, &arm);
    ui->lengths.page = PW_LENGTHS_FAILING, ui->lengths.chosen = 0;
    if (row == NULL) {
        pw_ui_message(ui, "not evaluated yet: e evaluates");
        return;
    }
    pw_str_add(line, "failing length=%d n=20", row->length);
    add_task(ui, line);
}

/* Returns the cursor that j, k, g and G move. */
static int *cursor_of(struct pw_ui *ui)
{
    switch (page_of(ui)) {
    case PW_LENGTHS_TESTS: return &ui->lengths.top;
    case PW_LENGTHS_FAILING: return &ui->lengths.chosen;
    case PW_LENGTHS_GRID: return &ui->lengths.b;
    default: return &ui->lengths.cursor;
    }
}

static void move(int *cursor, int by)
{
    *cursor = *cursor + by > 0 ? *cursor + by : 0;
}

/* h and l: move the pair's first number or the answer's token; the list of failures changes its length. */
static void move_across(struct pw_ui *ui, int by, struct pw_str *line)
{
    if (page_of(ui) == PW_LENGTHS_FAILING) {
        move(&ui->lengths.cursor, by);
        list(ui, line);
    } else {
        move(page_of(ui) == PW_LENGTHS_GRID ? &ui->lengths.a : &ui->lengths.place, by);
    }
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    ui->lengths.held = 0;
    switch (k) {
    case 'j':
    case PW_KEY_DOWN: move(cursor_of(ui), 1); return true;
    case 'k':
    case PW_KEY_UP: move(cursor_of(ui), -1); return true;
    case 'l':
    case PW_KEY_RIGHT: move_across(ui, 1, line); return true;
    case 'h':
    case PW_KEY_LEFT: move_across(ui, -1, line); return true;
    case 'g':
    case PW_KEY_HOME: *cursor_of(ui) = 0; return true;
    case 'G':
    case PW_KEY_END: *cursor_of(ui) = PW_MAX_LENGTHS; return true;
    case 'v': turn_page(ui, 1); return true;
    case 'V': turn_page(ui, -1); return true;
    case 'b': ui->lengths.alone = !ui->lengths.alone; return true;
    case '\n': pin(ui, line); return true;
    case 'f': list(ui, line); return true;
    case 't':
        ui->lengths.task = ui->snap->lab.n_tasks > 0 ? (ui->lengths.task + 1) % ui->snap->lab.n_tasks : 0;
        if (ui->snap->lab.n_tasks < 2)
            pw_ui_message(ui, "there is no other task: the task is not a mixture");
        return true;
    case 'e': pw_str_add(line, "eval"); return true;
    default: return false;
    }
}

/* Returns the index of the nearest length. */
static int nearest(const struct pw_lengths *v, double length)
{
    int best = 0;

    for (int i = 1; i < v->n; i++)
        if (fabs(v->lengths[i] - length) < fabs(v->lengths[best] - length))
            best = i;
    return best;
}

/* Selects the list's row at a cell, and the answer's token in the map of errors. */
static bool click_list(struct pw_ui *ui, const struct pw_lengths_areas *a, int y, int x)
{
    bool across = pw_rect_has(a->places, y, x), down = pw_rect_has(a->table, y, x);

    if (across)
        ui->lengths.place = (x - a->places.x) / a->place_w * a->place_n;
    if (down) {
        *cursor_of(ui) = a->first + y - a->table.y;
        ui->lengths.held = a->first + 1;
    }
    return across || down;
}

/* Moves the cursor to the plot's or row's length, or to the grid's pair; also pins a failing example. */
static bool click(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line)
{
    struct pw_lengths_areas a;
    struct pw_lengths v;

    find(ui, &v);
    if (v.n == 0)
        return false;
    if (page_of(ui) == PW_LENGTHS_GRID)
        return pw_lengths_grid_click(ui, &v, inside, y, x);
    pw_lengths_find_areas(ui, inside, &a);
    if (a.plot.w > 1 && pw_rect_has(a.plot, y, x)) {
        double share = (double)(x - a.plot.x) / (a.plot.w - 1);
        ui->lengths.cursor = nearest(&v, v.lengths[0] + share * (v.lengths[v.n - 1] - v.lengths[0]));
        return true;
    }
    bool hit = click_list(ui, &a, y, x);
    if (hit && page_of(ui) == PW_LENGTHS_FAILING && line != NULL && !ui->drag.moved)
        pin(ui, line);
    return hit;
}

static void copy(const struct pw_ui *ui, struct pw_str *out)
{
    struct pw_lengths v;

    find_lengths(ui, &v);
    switch (page_of(ui)) {
    case PW_LENGTHS_TESTS: pw_lengths_copy_tests(ui, &v, out); break;
    case PW_LENGTHS_ERRORS: pw_lengths_copy_errors(ui, &v, out); break;
    case PW_LENGTHS_GRID: pw_lengths_copy_grid(ui, &v, out); break;
    case PW_LENGTHS_LOSS: pw_lengths_copy_loss(ui, &v, out); break;
    case PW_LENGTHS_PLACES: pw_lengths_copy_places(ui, &v, out); break;
    default: pw_lengths_copy_table(ui, &v, out); break;
    }
}

static const char *const keys[] = {
    "v V",
    "next and previous page: curve, grid (where a length is a pair), errors, tests, failing; of text: loss, "
    "positions, tests",
    "j k",
    "cursor: the length (test, example) that is read out below",
    "h l",
    "across: token of the answer, first number of a pair, length of the list",
    "g G",
    "first and last",
    "Enter",
    "pin the first failing example of this length, decoded to its first wrong token; of text, a window",
    "f",
    "list the failing samples of this length",
    "b",
    "tests over all lengths beyond training, or at this one",
    "e",
    "evaluate all arms now",
    "t",
    "next task of a mixture",
    NULL};

static const char *page(const struct pw_ui *ui)
{
    return page_names[page_of(ui)];
}

const struct pw_pane pw_pane_lengths = {
    .name = "lengths",
    .title = "Lengths",
    .hints = "v page  jk length  Enter failing  f list  e evaluate  t task",
    .status = status,
    .draw = draw_lengths,
    .settle = settle,
    .key = key,
    .click = click,
    .copy = copy,
    .keys = keys,
    .page = page,
    .words = pw_lengths_words,
};
