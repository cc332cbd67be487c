/* sheet.h - a table of text in a figure. */
#ifndef PW_SHEET_H
#define PW_SHEET_H
#include "figure/svg.h"

#define PW_SHEET_ROW 11.5 /* height of a row in points; the header takes one more row */

/* A column of a table. */
struct pw_sheet_column {
    const char *name;
    double w;   /* points; 0: the width that the other columns leave */
    bool right; /* right-aligned, for numbers */
};

/* A table. Its texts come from the callback `cell`. */
struct pw_sheet {
    const struct pw_sheet_column *columns;
    int n_columns, n_rows;
    /* Writes a cell's text. The callback can change the font's colour and weight. */
    void (*cell)(const void *arg, int row, int column, char *dst, size_t size, struct pw_font *font);
    const void *arg;
};

/* Returns the height of the table in points. */
double pw_sheet_height(const struct pw_sheet *t);
/* Draws the table with the width of b. Rows below b are left out, text that is too wide is cut. */
void pw_sheet_draw(const struct pw_sheet *t, struct pw_svg *s, struct pw_box b);

#endif
