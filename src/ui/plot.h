/* plot.h - drawing functions that only panes share: styles, text, bars, curves and heat maps on a canvas.
 *
 * Panes use UTF-8 glyphs and RGB colours freely; pw_theme_fit converts the finished canvas to the terminal's
 * abilities. Only curves and heat maps choose other glyphs by the look, because there the glyph is the data.
 */
#ifndef PW_PLOT_H
#define PW_PLOT_H
#include "plot/columns.h"
#include "plot/matrix.h"
#include "plot/names.h"
#include "plot/palette.h"
#include "plot/ticks.h"
#include "ui/ui.h"

/* ---- styles (theme.c, ramp.c) */
struct pw_style pw_style_plain(void);
struct pw_style pw_style_bold(void);
struct pw_style pw_style_dim(void);
struct pw_style pw_style_ok(void);                       /* right; seen in training */
struct pw_style pw_style_bad(void);                      /* wrong, failed */
struct pw_style pw_style_warn(void);                     /* beyond training, caution */
struct pw_style pw_style_value(float x, bool is_signed); /* a ramp colour behind readable text */

/* Replaces glyphs and colours that the terminal lacks: glyphs by ASCII, colours by the nearest of 8 named
 * ones or none. If the background is known, named colours become RGB colours that are readable on it. */
void pw_theme_fit(struct pw_canvas *c, const struct pw_abilities *look);
void pw_theme_fit_on(struct pw_canvas *c, const struct pw_abilities *look, enum pw_backdrop backdrop);
/* Guesses the background from the variable COLORFGBG ("15;0"); unknown for NULL. */
enum pw_backdrop pw_theme_guess(const char *colorfgbg);
/* Returns dark for a colour on which white text has more contrast than black text, else light. */
enum pw_backdrop pw_theme_behind(uint32_t rgb);

/* ---- text (draw.c) */
/* Draws at most width columns from x; the last one is '…' if the text is longer. Returns the column after the
 * text. */
int pw_draw_cut(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, const char *text,
                int width);
/* Returns how many bytes of text fit into width columns. The cut is at a blank if the last third has one. */
size_t pw_text_fitting(const char *text, int width);
int pw_text_rows(const char *text, int width); /* rows of the text wrapped like this; 0 for "" */
/* Draws text over at most `most` lines, cut at blanks; the last line ends as in pw_draw_cut. Returns the
 * lines taken. */
int pw_draw_wrapped(struct pw_canvas *c, struct pw_rect r, int y, struct pw_style s, const char *text,
                    int most);
/* Draws text in the last rows of r. Two blanks separate its parts, the most important one first. A part is
 * drawn whole in a row or left out; a part longer than a row is wrapped. text is not empty and is destroyed.
 */
void pw_draw_parts(struct pw_canvas *c, struct pw_rect r, int rows, struct pw_style s, struct pw_str *text);
/* Draws the description of the cursor's value in such parts; two rows if r is tall, else one. The second row
 * stays reserved for short text, so that the content does not move under the pointer. Returns the rows
 * reserved. text is not empty and is destroyed. */
int pw_draw_readout(struct pw_canvas *c, struct pw_rect r, struct pw_str *text);
/* Draws a note in the middle of an empty r: the missing data, the command that computes it, and further
 * lines; NULL-terminated. */
void pw_draw_invitation(struct pw_canvas *c, struct pw_rect r, const char *const *lines);
/* Like pw_draw_invitation for data that a lab can compute. During a replay it only says that the data is
 * missing. */
void pw_draw_missing(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const char *const *lines);
/* Draws a bar of width columns of which the fraction 0..1 is filled, in eighths of a column. */
void pw_draw_bar(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, int width,
                 double fraction);
/* pw_within clamps i to 0..n - 1 (0 if n is 0). pw_scroll returns the first of n rows to show in `rows` rows,
 * with the cursor in the middle as far as the ends allow. */
int pw_within(int i, int n);
int pw_scroll(int cursor, int n, int rows);
/* Like pw_scroll after the pointer set the cursor: the first row stays (held is 1 + that row), so that no row
 * scrolls away under the pointer. held 0: a key set the cursor. */
int pw_scroll_held(int held, int cursor, int n, int rows);
/* pw_arm_title appends the arm's mark and pw_arm_name; pw_arm_short a short form, like "■2 t5 8/16". */
void pw_arm_title(const struct pw_ui *ui, const struct pw_arm_view *a, struct pw_str *out);
void pw_arm_short(const struct pw_ui *ui, const struct pw_arm_view *a, struct pw_str *out);

/* Writes and returns an example such as ":prompt sort 3 1 4 1 5" for the lab's first task, else ":sample". */
const char *pw_prompt_example(const struct pw_ev_lab *lab, char *text, size_t size);

/* ---- curves (plot.c, plot_curve.c) */
struct pw_plot {
    struct pw_rect box;    /* in: the area, including axes */
    double x0, x1, y0, y1; /* in; y > 0 if log */
    bool log, percent;     /* in */
    double x_unit;         /* in: x values per unit of the axis labels; 0 means 1 */
    double x_lo, x_hi;     /* in: axis labels of x0 and x1 if x_lo < x_hi; else x0 and x1 themselves */
    bool x_log;            /* in: labels between them are logarithmic; x_lo > 0 */
    double reach;         /* in: half width of the mean for SMOOTH, as a share of the plot's width; 0: 1/60 */
    struct pw_rect field; /* out: the area of the curves */
    int dots_x, dots_y;   /* out: size of the field in dots */
};
/* Computes the field. Returns false if the area is too small for curves. */
bool pw_plot_fit(struct pw_plot *p, const struct pw_ui *ui);
/* Draws the axes and computes the field. x_name replaces the last label of x; with "" that label stays.
 * Returns false if the area is too small for curves. */
bool pw_plot_begin(struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, const char *x_name);
/* How a curve is drawn. */
enum pw_stroke {
    PW_STROKE_LINE,   /* through every point */
    PW_STROKE_DOTTED, /* the same, but only every third column */
    PW_STROKE_SMOOTH, /* a moving mean that does not cross a swap, over all points in dim */
    PW_STROKE_GREY,   /* dotted and dim: not yet reliable */
};
/* Draws a polyline; arm 0 means no arm. Each column shows its smallest and largest point, so no spike is
 * lost. Points that are not finite become a red mark on the axis. */
void pw_plot_series(const struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, int arm,
                    const struct pw_points *points, enum pw_stroke stroke);
/* Draws n measured series (n at most PW_MAX_REPLICAS) as a line through their median, over a band from the
 * minimum to the maximum. Of several points in a column (or within the reach of SMOOTH) each replica
 * contributes its mean. So the band is the spread between replicas, not the noise between steps. */
void pw_plot_band(const struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, int arm,
                  const struct pw_points *replicas, int n, enum pw_stroke stroke);
int pw_plot_row(const struct pw_plot *p, double y);    /* canvas row of a value, clamped to the field */
int pw_plot_column(const struct pw_plot *p, double x); /* canvas column; -1 outside */
/* Draws the line between trained lengths or distances, up to `last`, and longer ones. Returns its column; -1:
 * outside. */
int pw_plot_edge(const struct pw_plot *p, struct pw_canvas *c, int last);

/* ---- heat maps (heat.c) */
struct pw_heat {
    struct pw_matrix data;
    bool square;              /* rows and columns have the same scale and pooling */
    bool wide;                /* with square: wider, if numbers in the cells need it */
    bool bare;                /* no numbers in the cells, because the drawn values are not meant as numbers */
    int split_row, split_col; /* a gap before these; 0: none */
    int cursor_row, cursor_col; /* marked; -1: none */
    /* Returns the largest value of the pixel that begins at a row and column, for data.arg; NULL: its values
     * are read. */
    float (*pixel)(const void *arg, int row, int col);
    /* set by pw_heat_fit */
    int sx, sy;         /* columns and half rows per value */
    int pool_r, pool_c; /* values per pixel, which shows the largest of them */
    int w, h;           /* columns and rows taken */
    int gap_r, gap_c;   /* half rows and columns of the gaps */
    bool shades;        /* values are drawn as glyphs, not as colours */
};
/* Chooses the largest integer scale that fits max_w columns and max_h rows, or pools. Returns false if there
 * is no room at all. */
bool pw_heat_fit(struct pw_heat *m, const struct pw_abilities *look, int max_w, int max_h);
/* Draws a fitted map with its top left at (y,x), clipped to clip. */
void pw_heat_draw(const struct pw_heat *m, const struct pw_abilities *look, struct pw_canvas *c,
                  struct pw_rect clip, int y, int x);
int pw_heat_column(const struct pw_heat *m, int col);   /* first column of a value, from the left */
int pw_heat_half_row(const struct pw_heat *m, int row); /* first half row of a value, from the top */
/* Sets *row and *col to the value at a cell, relative to the map's top left; the first one of a pool. Returns
 * false if there is none. */
bool pw_heat_at(const struct pw_heat *m, int y, int x, int *row, int *col);
#define PW_HEAT_CURSOR 0x25aa /* in a cell one column wide: neither a value's sign nor an arm's mark */
/* Draws one value of a strip as colour or shade, w columns wide. */
void pw_heat_cell(const struct pw_abilities *look, struct pw_canvas *c, struct pw_rect clip, int y, int x,
                  int w, float v, float lo, float hi, bool is_signed);

/* ---- a page of the step pane (panes/step_patch.c): the map of `patch`, if the snapshot has one */
bool pw_step_patch_shown(const struct pw_ui *ui); /* the user opened it, or the map is new */
void pw_step_patch_leave(struct pw_ui *ui);       /* closes the page until the next map */
void pw_step_patch_settle(struct pw_ui *ui);      /* clamps its cursor */
void pw_step_patch_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);
bool pw_step_patch_key(struct pw_ui *ui, int key); /* moves its cursor; false: the key has no effect */
bool pw_step_patch_click(struct pw_ui *ui, int y, int x, struct pw_rect r); /* for a map drawn into r */
void pw_step_patch_copy(const struct pw_ui *ui, struct pw_str *out);

/* ---- the text of a finding's file: .json or .csv, chosen by the path (panes/findings_file.c) */
enum pw_code pw_finding_text(struct pw_str *out, const char *path, const struct pw_finding_view *v,
                             struct pw_err *err);

/* ---- panes (panes/NAME.c) */
extern const struct pw_pane pw_pane_curves, pw_pane_lengths, pw_pane_attention, pw_pane_step,
    pw_pane_encoding, pw_pane_io, pw_pane_log, pw_pane_findings;

#endif
