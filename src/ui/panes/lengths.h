/* lengths.h - the pages of the pane of length generalisation, and what they share. */
#ifndef PW_LENGTHS_H
#define PW_LENGTHS_H
#include "plot/lengths.h"
#include "ui/plot.h"

enum pw_lengths_page {
    PW_LENGTHS_CURVE,   /* exact match by length: plot and table */
    PW_LENGTHS_GRID,    /* by both numbers of a pair */
    PW_LENGTHS_ERRORS,  /* what goes wrong first, and where */
    PW_LENGTHS_TESTS,   /* arms against each other on the same samples */
    PW_LENGTHS_FAILING, /* examples */
    PW_LENGTHS_PAGES
};

/* Brings ui's cursor, too, to what is there. */
void pw_lengths_find(struct pw_ui *ui, struct pw_lengths *v);
/* Exact match at a length as it was with every head, or when all are on again with some off, of the same
 * weights and the same encoding, the median of replicates; NaN: not known. What that was in words: "before
 * heads off", or with all of them on again "with heads off".
 */
bool pw_lengths_has_before(const struct pw_arm_view *arm);
float pw_lengths_before(const struct pw_arm_view *arm, int task, int length);
const char *pw_lengths_before_name(const struct pw_arm_view *arm);
/* The current arm's latest evaluation at the cursor's length; NULL: none. */
const struct pw_eval_row *pw_lengths_row(const struct pw_ui *ui, const struct pw_lengths *v,
                                         const struct pw_arm_view **arm);
/* "12 ┊": a length at the left of a row, and whether it was trained. */
void pw_lengths_label(struct pw_canvas *c, struct pw_rect r, int y, int length, bool trained, bool cursor);

/* The first row to show of a list of n with this cursor, a row each in r: the pointer finds them there. */
int pw_lengths_list(struct pw_ui *ui, int cursor, int n, struct pw_rect r);

/* A page; of the table's rows the last ones, one or two, are the readout's. */
void pw_lengths_plot(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct pw_lengths *v);
void pw_lengths_table(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int readout,
                      const struct pw_lengths *v);
void pw_lengths_grid(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct pw_lengths *v);
void pw_lengths_errors(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct pw_lengths *v);
void pw_lengths_tests(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct pw_lengths *v);
/* Is the list that of the replica of the current arm that is inspected? */
bool pw_lengths_failing_shown(const struct pw_snapshot *s);
void pw_lengths_failing(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct pw_lengths *v);

/* The interval at a length, in per cent: Wilson's of one model, the least and the greatest of several; false:
 * there is none. And an arm over all lengths beyond training, median, least and greatest of its replicates.
 */
bool pw_lengths_interval(const struct pw_arm_view *arm, int task, int length, double *lo, double *hi);
struct pw_spread pw_lengths_beyond(const struct pw_ui *ui, const struct pw_arm_view *arm, int task);

/* As tab-separated values: counts of every model and length; the tests; of the current arm what goes wrong
 * first, and exact match over pairs. The names alone where there is nothing. */
void pw_lengths_copy_table(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);
void pw_lengths_copy_tests(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);
void pw_lengths_copy_errors(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);
void pw_lengths_copy_grid(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);

/* lengths_words.c: all pages, for `show`. */
void pw_lengths_words(FILE *out, const struct pw_ui *ui);

/* The grid's cursor to the pair that is drawn in that cell of r; false: none is. */
bool pw_lengths_grid_click(struct pw_ui *ui, const struct pw_lengths *v, struct pw_rect r, int y, int x);
/* The sample that Enter pins on the grid: the first failing one of the pair under the cursor, and its length;
 * -1: none. */
int pw_lengths_grid_sample(const struct pw_ui *ui, const struct pw_lengths *v, int *length);

#endif
