/* curves.h - the parts of the curves pane and their shared functions. */
#ifndef PW_CURVES_H
#define PW_CURVES_H
#include "plot/curves.h"
#include "ui/plot.h"

/* Writes a value of the current metric: "0.0123", "97%". */
void pw_curves_value(const struct pw_ui *ui, char *dst, size_t size, float v);
/* Sets *p to the plot in the pane's inside r; p->field is the area of the curves. Returns false if there is
 * none.
 */
bool pw_curves_field(const struct pw_ui *ui, struct pw_rect r, struct pw_plot *p);
/* ---- curves_ends.c: labels at the right end, or above the curves */
struct pw_curve_end {
    int arm, row;
    char text[48];
    char name[32]; /* the name of its encoding alone, if the room is small */
};
/* Sets the label of a curve from its name and its last value. */
void pw_curves_describe_end(const struct pw_ui *ui, struct pw_curve_end *l, const struct pw_curve *k);
/* Draws n labels at the right end of the plot. Sorts them by row and moves overlapping ones apart. */
void pw_curves_draw_ends(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                         struct pw_curve_end *l, int n);
/* Draws the labels in one line above a plot that is too narrow for labels at its end: with values if they
 * fit, else names. */
void pw_curves_draw_legend(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                           const struct pw_curve_end *l, int n);

/* ---- curves_words.c: for `show` */
void pw_curves_words(FILE *out, const struct pw_ui *ui);

/* ---- curves_cursor.c: marks and values at a moment */
/* Draws marks at swaps of encodings, at a forked arm's departure from its parent, at the time cursor and at
 * the cursor. names false: the lines, which belong behind the curves; true: the labels, which belong in
 * front. */
void pw_curves_draw_marks(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p, bool names);
/* Returns the x position of the readout: the cursor, or the time cursor; -1: none. */
int64_t pw_curves_moment(const struct pw_ui *ui);
/* Draws the value of every arm at that position, in row y of r. */
void pw_curves_draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                            const struct pw_curve *k, int n);

#endif
