/* lengths_keys.c - keys and clicks of the length generalisation pane. */
#include "ui/panes/lengths.h"

#include <math.h>

static void turn_page(struct pw_ui *ui, int by)
{
    int page = pw_lengths_page_of(ui);

    do
        page = (page + by + PW_LENGTHS_PAGES) % PW_LENGTHS_PAGES;
    while (!pw_lengths_has_page(ui, page));
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

    pw_lengths_find(ui, &v);
    if (v.runs) {
        pw_str_add(line, "sample length=%d", v.lengths[pw_lengths_cursor(ui, &v)]);
        return;
    }
    const struct pw_eval_row *row = pw_lengths_row(ui, &v, &arm);
    const struct pw_ev_eval *e = row != NULL ? &pw_inspected_view(ui->snap, arm)->eval : NULL;
    const struct pw_eval_row *own = row != NULL ? pw_eval_find(e, row->task, row->length) : NULL;
    int length = row != NULL ? row->length : 0, index = own != NULL ? pw_eval_failing(e, own, 0) : -1;
    if (pw_lengths_page_of(ui) == PW_LENGTHS_FAILING && f->n > 0 && pw_lengths_failing_shown(ui->snap))
        length = f->length, index = f->list[pw_within(ui->lengths.chosen, f->n)].index;
    else if (pw_lengths_page_of(ui) == PW_LENGTHS_GRID)
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

    pw_lengths_find(ui, &v);
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
    switch (pw_lengths_page_of(ui)) {
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
    if (pw_lengths_page_of(ui) == PW_LENGTHS_FAILING) {
        move(&ui->lengths.cursor, by);
        list(ui, line);
    } else {
        move(pw_lengths_page_of(ui) == PW_LENGTHS_GRID ? &ui->lengths.a : &ui->lengths.place, by);
    }
}

bool pw_lengths_key(struct pw_ui *ui, int k, struct pw_str *line)
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

bool pw_lengths_click(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line)
{
    struct pw_lengths_areas a;
    struct pw_lengths v;

    pw_lengths_find(ui, &v);
    if (v.n == 0)
        return false;
    if (pw_lengths_page_of(ui) == PW_LENGTHS_GRID)
        return pw_lengths_grid_click(ui, &v, inside, y, x);
    pw_lengths_find_areas(ui, inside, &a);
    if (a.plot.w > 1 && pw_rect_has(a.plot, y, x)) {
        double share = (double)(x - a.plot.x) / (a.plot.w - 1);
        ui->lengths.cursor = nearest(&v, v.lengths[0] + share * (v.lengths[v.n - 1] - v.lengths[0]));
        return true;
    }
    bool hit = click_list(ui, &a, y, x);
    if (hit && pw_lengths_page_of(ui) == PW_LENGTHS_FAILING && line != NULL && !ui->drag.moved)
        pin(ui, line);
    return hit;
}

const char *const pw_lengths_keys[] = {
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
