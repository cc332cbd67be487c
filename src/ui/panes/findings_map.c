/* findings_map.c - a map of a finding: all values, pooled if there are more than cells, with labels and a
 * legend. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/findings.h"

enum { SQUARE = 8, LEGEND = 12, AXIS = 10 /* maximum columns of the y axis' name */ };

struct chart {
    struct pw_heat m;
    struct pw_block_of k;
    int x, y;    /* of the map's top left */
    int label_w; /* width of the rows' names, with a blank after them */
    bool heads;  /* column names above the map */
    bool legend; /* below the map */
    struct pw_rect r;
};

/* Returns false if there is no room at all. */
static bool fit(struct chart *t, const struct pw_ui *ui, const struct pw_block_of *k, struct pw_rect r)
{
    const struct pw_block *b = k->b;

    *t = (struct chart){.k = *k, .r = r, .heads = r.h >= 4, .legend = r.h >= 5};
    if (t->heads)
        t->label_w = 1 + (pw_text_cells(b->y) < AXIS ? pw_text_cells(b->y) : AXIS);
    for (int i = 0; i < b->rows && i < 256; i++) {
        char name[PW_FINDING_LABEL];
        pw_fnd_row(k, i, name);
        int w = pw_text_cells(name) + 1;
        t->label_w = w > t->label_w ? w : t->label_w;
    }
    t->label_w = t->label_w < r.w / 3 ? t->label_w : r.w / 3;
    t->x = r.x + t->label_w, t->y = r.y + t->heads;
    t->m = (struct pw_heat){.data = pw_block_matrix(&t->k),
                            .square = b->rows >= SQUARE && b->cols >= SQUARE,
                            .cursor_row = ui->findings.down,
                            .cursor_col = ui->findings.across};
    t->m.bare = t->m.data.hi > 99;
    return pw_heat_fit(&t->m, &ui->look, r.w - t->label_w, r.h - t->heads - t->legend);
}

static void draw_names(const struct pw_ui *ui, const struct chart *t, struct pw_canvas *c)
{
    int free_from = t->x - 1, last = -1;
    char name[PW_FINDING_LABEL];

    if (t->heads)
        pw_draw_cut(c, t->r, t->r.y, t->r.x, pw_style_dim(), t->k.b->y, t->label_w - 1);
    for (int col = 0; t->heads && col < t->m.data.cols; col += t->m.pool_c) {
        bool here = ui->findings.across / t->m.pool_c == col / t->m.pool_c;
        int x = t->x + pw_heat_column(&t->m, col);
        pw_fnd_col(&t->k, col, name);
        int w = pw_text_cells(name);
        if (w > t->m.sx - 1 && w > 3 && t->m.sx >= 4)
            w = t->m.sx - 1; /* cut the name */
        if (x <= free_from || (w >= t->m.sx && x + w > t->x + t->m.w + 1))
            continue;
        free_from = pw_draw_cut(c, t->r, t->r.y, x, here ? pw_style_bold() : pw_style_dim(), name, w);
    }
    for (int row = 0; row < t->m.data.rows; row += t->m.pool_r) {
        bool here = ui->findings.down / t->m.pool_r == row / t->m.pool_r;
        int y = t->y + (pw_heat_half_row(&t->m, row) + (t->m.sy - 1) / 2) / 2;
        if (y == last && !here)
            continue;
        pw_fnd_row(&t->k, row, name);
        for (int x = t->r.x; x < t->x; x++)
            pw_draw_cell(c, t->r, y, x, pw_style_plain(), ' ');
        pw_draw_cut(c, t->r, y, t->r.x, here ? pw_style_bold() : pw_style_dim(), name, t->label_w - 1);
        last = here ? last : y;
    }
}

static void draw_legend(const struct pw_ui *ui, const struct chart *t, struct pw_canvas *c)
{
    int y = t->r.y + t->r.h - 1, x = t->x;
    char text[32];

    snprintf(text, sizeof text, "%.3g ", (double)t->m.data.lo);
    x = pw_draw_text(c, t->r, y, x, pw_style_dim(), text);
    for (int i = 0; i < LEGEND; i++)
        pw_heat_cell(&ui->look, c, t->r, y, x + i, 1,
                     t->m.data.lo + (t->m.data.hi - t->m.data.lo) * (float)i / (float)(LEGEND - 1),
                     t->m.data.lo, t->m.data.hi, t->m.data.is_signed);
    snprintf(text, sizeof text, " %.3g", (double)t->m.data.hi);
    x = pw_draw_text(c, t->r, y, x + LEGEND, pw_style_dim(), text);
    if (t->k.b->x[0]) {
        char across[PW_FINDING_TOPIC + 16];
        snprintf(across, sizeof across, "  across: %s", t->k.b->x);
        x = pw_draw_cut(c, t->r, y, x, pw_style_dim(), across, t->r.x + t->r.w - x);
    }
    if (t->m.pool_r > 1 || t->m.pool_c > 1) {
        snprintf(text, sizeof text, "  each cell %d x %d", t->m.pool_r, t->m.pool_c);
        pw_draw_cut(c, t->r, y, x, pw_style_warn(), text, t->r.x + t->r.w - x);
    }
}

static void draw_findings_map(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_canvas *c,
                              struct pw_rect r)
{
    struct chart t;

    if (!fit(&t, ui, k, r))
        return;
    pw_heat_draw(&t.m, &ui->look, c, r, t.y, t.x);
    draw_names(ui, &t, c);
    if (t.legend)
        draw_legend(ui, &t, c);
}

static void read(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_str *out)
{
    double v = pw_finding_cell(k->f, k->b, ui->findings.down, ui->findings.across);

    pw_fnd_read_place(k, ui->findings.down, ui->findings.across, out);
    if (isnan(v))
        pw_str_add(out, ": nothing");
    else
        pw_str_add(out, ": %.5g", v);
}

static bool map_cell_at(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_rect r, int y, int x,
                        int *down, int *across)
{
    struct chart t;
    int row, col;

    if (!fit(&t, ui, k, r) || !pw_heat_at(&t.m, y - t.y, x - t.x, &row, &col))
        return false;
    *down = row, *across = col;
    return true;
}

const struct pw_fnd_kind pw_fnd_map = {draw_findings_map, read, map_cell_at, pw_fnd_copy_cells};
