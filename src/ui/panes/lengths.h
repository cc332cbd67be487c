/* lengths.h - interface between the pages of the length generalisation pane. */
#ifndef PW_LENGTHS_H
#define PW_LENGTHS_H
#include "plot/lengths.h"
#include "ui/plot.h"

/* The pages of the pane. */
enum pw_lengths_page {
    PW_LENGTHS_CURVE,   /* exact match by length: plot and table */
    PW_LENGTHS_LOSS,    /* running text: loss by context length, plot and table */
    PW_LENGTHS_PLACES,  /* running text: loss by position */
    PW_LENGTHS_GRID,    /* by both numbers of a length that is a pair */
    PW_LENGTHS_ERRORS,  /* kind and place of the first error */
    PW_LENGTHS_TESTS,   /* paired tests of arms on the same samples */
    PW_LENGTHS_FAILING, /* failing examples */
    PW_LENGTHS_PAGES
};

/* The length under the cursor. */
int pw_lengths_cursor(const struct pw_ui *ui, const struct pw_lengths *v);
/* Compare with an evaluation of the same weights and encoding before heads were switched. While heads are
 * off, that evaluation has all heads on. With all heads on again, it is the one with heads off.
 * pw_lengths_before returns exact match at a length, the median over replicas; NaN: unknown. The name is
 * "before heads off" or "with heads off". */
bool pw_lengths_has_before(const struct pw_arm_view *arm);
float pw_lengths_before(const struct pw_arm_view *arm, int task, int length);
const char *pw_lengths_before_name(const struct pw_arm_view *arm);
/* Returns the current arm's latest evaluation at the cursor's length; NULL: none. */
const struct pw_eval_row *pw_lengths_row(const struct pw_ui *ui, const struct pw_lengths *v,
                                         const struct pw_arm_view **arm);
/* Draws a length at the left of a row, with the sign of a trained length: "12 ┊". */
void pw_lengths_label(struct pw_canvas *c, struct pw_rect r, int y, int length, bool trained, bool cursor);

/* Collects the lengths and clamps task and cursor to them. */
void pw_lengths_find(struct pw_ui *ui, struct pw_lengths *v);
/* Does the page exist for these evaluations? And the selected page, or the first one if it does not exist. */
bool pw_lengths_has_page(const struct pw_ui *ui, int page);
enum pw_lengths_page pw_lengths_page_of(const struct pw_ui *ui);

/* lengths_keys.c: members of struct pw_pane. A click moves the cursor to the length of the plot or row, or to
 * the pair of the grid; it also pins a failing example. */
bool pw_lengths_key(struct pw_ui *ui, int k, struct pw_str *line);
bool pw_lengths_click(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line);
extern const char *const pw_lengths_keys[];

/* The areas that a page has in the pane's inside, for the pointer; h = 0: the page has none. */
struct pw_lengths_areas {
    struct pw_rect plot, table, places;
    int first;            /* the cursor value of the table's first row */
    int place_w, place_n; /* of places: columns per cell, and answer places that share a cell */
};
void pw_lengths_find_areas(const struct pw_ui *ui, struct pw_rect inside, struct pw_lengths_areas *a);
/* Sets the table of a list of n rows, one per row of r. */
void pw_lengths_list(const struct pw_ui *ui, int cursor, int n, struct pw_rect r, struct pw_lengths_areas *a);
/* Set the areas of a page that is drawn into r. pw_lengths_plot_field returns the area of the curves. */
struct pw_rect pw_lengths_plot_field(const struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v);
void pw_lengths_table_areas(const struct pw_ui *ui, struct pw_rect r, int readout, const struct pw_lengths *v,
                            struct pw_lengths_areas *a);
void pw_lengths_errors_areas(const struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v,
                             struct pw_lengths_areas *a);
void pw_lengths_failing_areas(const struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v,
                              struct pw_lengths_areas *a);
/* Clamp the cursors of a page. */
void pw_lengths_errors_settle(struct pw_ui *ui, const struct pw_lengths *v);
void pw_lengths_tests_settle(struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v);
void pw_lengths_grid_settle(struct pw_ui *ui, const struct pw_lengths *v);

/* Draw a page. The last one or two rows of the table (readout) are the readout. */
void pw_lengths_plot(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                     const struct pw_lengths *v);
void pw_lengths_table(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int readout,
                      const struct pw_lengths *v);
/* The columns of the table: the cells of an arm, the arms shown, and their names. pw_lengths_columns returns
 * the width of one for a room of columns. */
enum { PW_LENGTHS_LEFT = 7 }; /* columns before the first arm */
int pw_lengths_columns(const struct pw_ui *ui, int room, int *shown);
void pw_lengths_head(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int shown, int w);
/* lengths_loss.c: the pages of running text. */
void pw_lengths_loss_page(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                          const struct pw_lengths *v);
void pw_lengths_places_page(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                            const struct pw_lengths *v);
void pw_lengths_loss_areas(const struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v,
                           struct pw_lengths_areas *a);
void pw_lengths_copy_loss(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);
/* The loss by position of all arms' first replicas in at most `most` parts of the context. */
void pw_lengths_add_places(const struct pw_ui *ui, const struct pw_lengths *v, int most, struct pw_str *out);
void pw_lengths_copy_places(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);
void pw_lengths_grid(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                     const struct pw_lengths *v);
void pw_lengths_errors(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                       const struct pw_lengths *v);
void pw_lengths_tests(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                      const struct pw_lengths *v);
/* Returns true if the list belongs to the inspected replica of the current arm. */
bool pw_lengths_failing_shown(const struct pw_snapshot *s);
void pw_lengths_failing(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                        const struct pw_lengths *v);

/* Append tab-separated values: counts of every model and length; the tests; the current arm's first errors;
 * its exact match over pairs. Without data, only the column names. */
void pw_lengths_copy_table(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);
void pw_lengths_copy_tests(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);
void pw_lengths_copy_errors(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);
void pw_lengths_copy_grid(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out);

/* lengths_words.c: prints all pages for `show`. */
void pw_lengths_words(FILE *out, const struct pw_ui *ui);

/* Moves the grid's cursor to the pair drawn at that cell of r; false: there is none. */
bool pw_lengths_grid_click(struct pw_ui *ui, const struct pw_lengths *v, struct pw_rect r, int y, int x);
/* Returns the sample that Enter pins on the grid: the first failing one of the pair under the cursor. *length
 * receives its length; -1: none. */
int pw_lengths_grid_sample(const struct pw_ui *ui, const struct pw_lengths *v, int *length);

#endif
