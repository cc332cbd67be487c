/* mouse.c - the pointer's position selects the target; a drag keeps its first target. */
#include "ui/mouse.h"
#include "ui/timeline.h"
#include <string.h>

#define WHEEL_LINES 3

static int pane_at(const struct pw_layout *l, int y, int x)
{
    int i = 0;
    while (i < PW_PANES && !pw_rect_has(l->panes[i], y, x))
        i++;
    return i;
}

/* Passes a pane's inside cell to its click; while dragging, the cell nearest to the pointer. */
static void point_into(struct pw_ui *ui, const struct pw_layout *l, int pane, int y, int x, bool dragging,
                       struct pw_str *line)
{
    struct pw_rect r = pw_ui_inside(l, pane);
    if (r.h < 1 || pw_panes[pane]->click == NULL || (!dragging && !pw_rect_has(r, y, x)))
        return;
    y = y < r.y ? r.y : y < r.y + r.h ? y : r.y + r.h - 1;
    x = x < r.x ? r.x : x < r.x + r.w ? x : r.x + r.w - 1;
    pw_panes[pane]->click(ui, y, x, r, line);
}

static void press(struct pw_ui *ui, const struct pw_layout *l, int y, int x, struct pw_str *line)
{
    const struct pw_border *border = pw_layout_border(l, y, x);
    int pane = pane_at(l, y, x);

    ui->drag.moved = false;
    if (pw_rect_has(l->timeline, y, x)) {
        ui->drag.what = PW_DRAG_TIME;
        pw_timeline_go(ui, pw_timeline_at(ui, l->timeline, x));
    } else if (border != NULL) {
        ui->drag.what = PW_DRAG_BORDER;
        ui->drag.border = *border;
        ui->drag.from = border->upright ? x : y;
    } else if (pane < PW_PANES) {
        ui->drag.what = PW_DRAG_PANE;
        ui->drag.pane = pane;
    }
    if (pane == PW_PANES)
        return;
    pw_ui_focus(ui, pane);
    if (border == NULL)
        point_into(ui, l, pane, y, x, false, line);
}

static void drag(struct pw_ui *ui, const struct pw_layout *l, int y, int x, struct pw_str *line)
{
    const struct pw_border *b = &ui->drag.border;
    ui->drag.moved = true;
    switch (ui->drag.what) {
    case PW_DRAG_TIME: pw_timeline_go(ui, pw_timeline_at(ui, l->timeline, x)); break;
    case PW_DRAG_BORDER: {
        /* The border moves by the pointer's move since the press, so its distance to the pointer stays. */
        int first = b->upright ? b->line.x + 1 - b->from : b->line.y + 1 - b->from;
        pw_layout_move(b, first + (b->upright ? x : y) - ui->drag.from, &ui->split);
        break;
    }
    case PW_DRAG_PANE: point_into(ui, l, ui->drag.pane, y, x, true, line); break;
    case PW_DRAG_NONE: break;
    }
}

/* The wheel scrolls the pane under the pointer; the focus stays. */
static void wheel(struct pw_ui *ui, const struct pw_layout *l, const struct pw_input *in, struct pw_str *line)
{
    int key = in->button == PW_BUTTON_WHEEL_UP ? PW_KEY_UP : PW_KEY_DOWN;
    bool covered = ui->help || ui->page.text.len > 0;
    int pane = pane_at(l, in->y, in->x);

    for (int i = 0; i < WHEEL_LINES && line->len == 0; i++) /* one key is enough if the key is a command */
        if (covered)
            pw_ui_key(ui, key, line);
        else if (pane < PW_PANES)
            pw_panes[pane]->key(ui, key, line);
}

bool pw_ui_hover(struct pw_ui *ui, const struct pw_input *in)
{
    struct pw_ui before = *ui;
    struct pw_layout l;
    pw_ui_layout(ui, ui->rows, ui->cols, &l);
    int pane = pane_at(&l, in->y, in->x);
    for (int i = 0; i < PW_PANES; i++)
        if (i != pane && pw_panes[i]->leave != NULL)
            pw_panes[i]->leave(ui);
    ui->drag.what = PW_DRAG_NONE; /* the release happened outside of the terminal */
    if (pane < PW_PANES && l.panes[pane].h >= 3 && !ui->help && ui->page.text.len == 0)
        point_into(ui, &l, pane, in->y, in->x, false, NULL);
    return memcmp(&before, ui, sizeof before) != 0;
}

bool pw_ui_mouse(struct pw_ui *ui, const struct pw_input *in, struct pw_str *line)
{
    struct pw_layout l;
    pw_ui_layout(ui, ui->rows, ui->cols, &l);
    if (in->button == PW_BUTTON_WHEEL_UP || in->button == PW_BUTTON_WHEEL_DOWN) {
        wheel(ui, &l, in, line);
        return false;
    }
    if (ui->help || ui->page.text.len > 0 || in->mouse == PW_MOUSE_RELEASE || in->button != PW_BUTTON_LEFT)
        ui->drag.what = PW_DRAG_NONE;
    else if (in->mouse == PW_MOUSE_PRESS)
        press(ui, &l, in->y, in->x, line);
    else
        drag(ui, &l, in->y, in->x, line);
    return ui->drag.what != PW_DRAG_NONE;
}
