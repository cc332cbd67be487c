/* sheet.c - a table of text: names above a line, then rows. Text that is too wide is cut. */
#include "figure/sheet.h"

#define GAP 6.0

double pw_sheet_height(const struct pw_sheet *t)
{
    return PW_SHEET_ROW * (t->n_rows + 1) + 6;
}

static void put(struct pw_svg *s, const struct pw_sheet_column *c, struct pw_font *f, double x, double y,
                double w, const char *text)
{
    f->anchor = c->right ? PW_END : PW_START;
    pw_svg_cut(s, c->right ? x + w : x, y, f, text, w);
}

void pw_sheet_draw(const struct pw_sheet *t, struct pw_svg *s, struct pw_box b)
{
    double fixed = -GAP, y = b.y + 9;
    int open = 0;

    for (int i = 0; i < t->n_columns; i++)
        fixed += t->columns[i].w + GAP, open += t->columns[i].w == 0;
    double rest = open > 0 && b.w > fixed ? (b.w - fixed) / open : 0;
    for (int row = -1; row < t->n_rows && y < b.y + b.h; row++, y += PW_SHEET_ROW) {
        double x = b.x;
        for (int i = 0; i < t->n_columns; i++) {
            char text[512];
            struct pw_font f = {.size = row < 0 ? 7.5 : 8, .color = row < 0 ? 0x5a5a5a : PW_INK};
            double w = t->columns[i].w > 0 ? t->columns[i].w : rest;
            if (row >= 0) {
                text[0] = '\0';
                t->cell(t->arg, row, i, text, sizeof text, &f);
            }
            put(s, &t->columns[i], &f, x, y, w, row < 0 ? t->columns[i].name : text);
            x += w + GAP;
        }
        if (row < 0) {
            pw_svg_line(s, b.x, y + 3.5, b.x + b.w, y + 3.5,
                        (struct pw_pen){.color = 0x808080, .width = 0.6});
            y += 3;
        }
    }
}
