/* sheet.h - a table of text. */
#ifndef PW_SHEET_H
#define PW_SHEET_H
#include "figure/svg.h"

#define PW_SHEET_ROW 11.5 /* points a row; the names take one more */

struct pw_sheet_column {
    const char *name;
    double w;   /* points; of 0 what the others leave */
    bool right; /* numbers */
};

struct pw_sheet {
    const struct pw_sheet_column *columns;
    int n_columns, n_rows;
    /* Writes a cell's text; colour and weight of font may be changed. */
    void (*cell)(const void *arg, int row, int column, char *dst, size_t size, struct pw_font *font);
    const void *arg;
};

double pw_sheet_height(const struct pw_sheet *t);
void pw_sheet_draw(const struct pw_sheet *t, struct pw_svg *s, struct pw_box b);

#endif
