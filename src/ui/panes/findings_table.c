/* findings_table.c - a table of a finding. The names at the left and above stay; the cells scroll with the
 * cursor.
 *
 * Columns are as wide as their contents. If not all fit, long column names are cut; the readout at the cursor
 * shows them in full. */
#include <stdio.h>
#include <string.h>

#include "ui/panes/findings.h"

enum { GAP = 2, HEAD = 10, MEASURED = 256 /* rows that determine the widths */, SHOWN = 64 /* columns */ };

void pw_fnd_row(const struct pw_block_of *k, int row, char out[PW_FINDING_LABEL])
{
    const char *name = pw_finding_row_name(k->f, k->b, row);

    if (name[0])
        pw_text_copy(out, PW_FINDING_LABEL, name);
    else
        snprintf(out, PW_FINDING_LABEL, "%d", row);
}

void pw_fnd_col(const struct pw_block_of *k, int col, char out[PW_FINDING_LABEL])
{
    const char *name = pw_finding_col_name(k->f, k->b, col);

    if (name[0])
        pw_text_copy(out, PW_FINDING_LABEL, name);
    else
        snprintf(out, PW_FINDING_LABEL, "%d", col);
}

/* Appends "head 3", not "head head 3". */
static void add_name(const char *what, const char *name, struct pw_str *out)
{
    if (what[0] && strncmp(name, what, strlen(what)) != 0)
        pw_str_add(out, "%s ", what);
    pw_str_add(out, "%s", name);
}

void pw_fnd_read_place(const struct pw_block_of *k, int row, int col, struct pw_str *out)
{
    char name[PW_FINDING_LABEL];
    bool map = k->b->kind == PW_BLOCK_MAP;
    const char *rows = map ? k->b->y : k->b->x, *cols = map ? k->b->x : "";

    pw_fnd_row(k, row, name);
    add_name(rows, name, out);
    pw_str_add(out, ", ");
    pw_fnd_col(k, col, name);
    add_name(cols, name, out);
}

void pw_fnd_copy_cells(const struct pw_block_of *k, struct pw_str *out)
{
    char name[PW_FINDING_LABEL];

    pw_str_add(out, "%s", k->b->kind == PW_BLOCK_MAP ? k->b->y : k->b->x);
    for (int col = 0; col < k->b->cols; col++) {
        pw_fnd_col(k, col, name);
        pw_str_add(out, "\t%s", name);
    }
    for (int row = 0; row < k->b->rows; row++) {
        pw_fnd_row(k, row, name);
        pw_str_add(out, "\n%s", name);
        for (int col = 0; col < k->b->cols; col++)
            pw_str_add(out, "\t%.9g", pw_finding_cell(k->f, k->b, row, col));
    }
    pw_str_add(out, "\n");
}

/* ---- geometry */

struct sheet {
    int label_w;
    int top, rows;        /* first row shown, and number of rows */
    int left, cols;       /* first column shown, and number of columns */
    int width[SHOWN];     /* of the shown columns, including the gap before each */
    struct pw_rect cells; /* without names */
    bool header;
};

static int wider(int w, const char *text)
{
    int n = pw_text_cells(text);

    return n > w ? n : w;
}

static int label_width(const struct pw_block_of *k, int first, int end, int room)
{
    int w = wider(0, k->b->x);

    for (int i = first; i < end; i++)
        w = wider(w, pw_finding_row_name(k->f, k->b, i));
    return w < room / 2 ? w : room / 2;
}

static int column_width(const struct pw_block_of *k, int col, int first, int end, bool cut)
{
    int w = wider(1, pw_finding_col_name(k->f, k->b, col));

    if (cut && w > HEAD)
        w = HEAD;
    for (int i = first; i < end; i++) {
        char text[64];
        pw_finding_cell_text(k->f, k->b, i, col, text, sizeof text);
        w = wider(w, text);
    }
    return w + GAP;
}

/* Sets the columns that fit, from `left` on; returns true if the cursor's column is one of them. */
static bool put_columns(struct sheet *s, const struct pw_block_of *k, int first, int end, bool cut, int at)
{
    int used = 0;

    s->cols = 0;
    for (int col = s->left; col < k->b->cols && s->cols < SHOWN; col++) {
        int w = column_width(k, col, first, end, cut);
        if (used + w > s->cells.w && s->cols > 0)
            break;
        s->width[s->cols++] = w;
        used += w;
    }
    return at < s->left + s->cols;
}

static void fit(struct sheet *s, const struct pw_ui *ui, const struct pw_block_of *k, struct pw_rect r)
{
    int rows = k->b->rows, at = ui->findings.across;

    *s = (struct sheet){.header = r.h >= 2};
    s->rows = r.h - s->header < rows ? r.h - s->header : rows;
    s->top = pw_scroll_held(ui->findings.held, ui->findings.down, rows, s->rows);
    int first = rows <= MEASURED ? 0 : s->top, end = rows <= MEASURED ? rows : s->top + s->rows;
    s->label_w = label_width(k, first, end, r.w);
    s->cells =
        (struct pw_rect){r.y + s->header, r.x + s->label_w, s->rows > 0 ? s->rows : 0, r.w - s->label_w};
    if (put_columns(s, k, first, end, false, at) && s->cols == k->b->cols)
        return;   /* all columns fit */
    s->cells.w--; /* for the sign that there are more */
    while (!put_columns(s, k, first, end, true, at) && s->left < at)
        s->left++;
}

/* ---- drawing */

static void draw_right(struct pw_canvas *c, struct pw_rect r, int y, int x, int w, struct pw_style style,
                       const char *text)
{
    int n = pw_text_cells(text);

    pw_draw_cut(c, r, y, n < w ? x + w - n : x, style, text, w);
}

static void draw_head(const struct pw_ui *ui, const struct pw_block_of *k, const struct sheet *s,
                      struct pw_canvas *c, struct pw_rect r)
{
    int x = s->cells.x;

    pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), k->b->x, s->label_w);
    for (int i = 0; i < s->cols; i++) {
        bool here = s->left + i == ui->findings.across;
        draw_right(c, r, r.y, x + GAP, s->width[i] - GAP, here ? pw_style_bold() : pw_style_dim(),
                   pw_finding_col_name(k->f, k->b, s->left + i));
        x += s->width[i];
    }
    if (s->left > 0)
        pw_draw_cell(c, r, r.y, s->cells.x, pw_style_warn(), 0x2026);
    if (s->left + s->cols < k->b->cols)
        pw_draw_cell(c, r, r.y, r.x + r.w - 1, pw_style_warn(), 0x2026);
}

static void draw_findings_table(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_canvas *c,
                                struct pw_rect r)
{
    struct sheet s;

    fit(&s, ui, k, r);
    if (s.header)
        draw_head(ui, k, &s, c, r);
    for (int i = 0; i < s.rows; i++) {
        int row = s.top + i, x = s.cells.x;
        struct pw_style name = row == ui->findings.down ? pw_style_bold() : pw_style_plain();
        pw_draw_cut(c, r, s.cells.y + i, r.x, name, pw_finding_row_name(k->f, k->b, row), s.label_w);
        for (int j = 0; j < s.cols; j++) {
            char text[64];
            struct pw_style style = pw_style_plain();
            if (row == ui->findings.down && s.left + j == ui->findings.across)
                style.attr = PW_REVERSE;
            pw_finding_cell_text(k->f, k->b, row, s.left + j, text, sizeof text);
            draw_right(c, s.cells, s.cells.y + i, x + GAP, s.width[j] - GAP, style, text);
            x += s.width[j];
        }
    }
}

static void read(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_str *out)
{
    char text[64];

    pw_finding_cell_text(k->f, k->b, ui->findings.down, ui->findings.across, text, sizeof text);
    pw_fnd_read_place(k, ui->findings.down, ui->findings.across, out);
    pw_str_add(out, ": %s%s%s", text, k->b->y[0] ? " " : "", k->b->y);
}

static bool table_cell_at(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_rect r, int y, int x,
                          int *down, int *across)
{
    struct sheet s;

    fit(&s, ui, k, r);
    int from = s.cells.x;
    if (y < s.cells.y || y >= s.cells.y + s.rows)
        return false;
    *down = s.top + y - s.cells.y;
    for (int i = 0; i < s.cols; i++) {
        if (x >= from && x < from + s.width[i])
            *across = s.left + i;
        from += s.width[i];
    }
    return true;
}

const struct pw_fnd_kind pw_fnd_table = {draw_findings_table, read, table_cell_at, pw_fnd_copy_cells};
