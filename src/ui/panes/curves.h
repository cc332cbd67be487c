/* curves.h - the parts of the pane of curves, and what they share. */
#ifndef PW_CURVES_H
#define PW_CURVES_H
#include "plot/curves.h"
#include "ui/plot.h"

/* "0.0123", "97%": a value of the metric that is shown. */
void pw_curves_value(const struct pw_ui *ui, char *dst, size_t size, float v);
/* ---- curves_ends.c: names at the right end, or above */
struct pw_curve_end {
    int arm, row;
    char text[48];
    char name[32]; /* of its encoding alone, where there is no room for more */
};
void pw_curves_describe_end(const struct pw_ui *ui, struct pw_curve_end *l, const struct pw_curve *k);
void pw_curves_draw_ends(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                         struct pw_curve_end *l, int n);
void pw_curves_draw_legend(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                           const struct pw_curve_end *l, int n);

/* ---- curves_words.c: for `show` */
void pw_curves_words(FILE *out, const struct pw_ui *ui);

/* ---- curves_cursor.c: what stands at a moment */
/* Swaps of encodings, where a forked arm left its parent, the time cursor, the cursor: lines, which belong
 * behind the curves, or their names, which belong before them. */
void pw_curves_draw_marks(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p, bool names);
/* The moment that is read out: the cursor's, or the time cursor's; -1: none. */
int64_t pw_curves_moment(const struct pw_ui *ui);
/* The value of every arm at that moment, in row y of r. */
void pw_curves_draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                            const struct pw_curve *k, int n);

#endif
