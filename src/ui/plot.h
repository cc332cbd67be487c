/* plot.h - what panes share and nobody else needs: styles, bars, curves and heat maps on a canvas.
 *
 * Panes name UTF-8 glyphs and RGB colours freely; pw_theme_fit turns the finished canvas into what the
 * terminal can show. Only curves and heat maps choose other glyphs by the look, because there the glyph is
 * the data. */
#ifndef PW_PLOT_H
#define PW_PLOT_H
#include "plot/columns.h"
#include "plot/names.h"
#include "plot/palette.h"
#include "plot/ticks.h"
#include "ui/ui.h"

/* ---- styles (theme.c, ramp.c) */
struct pw_style pw_style_plain(void);
struct pw_style pw_style_bold(void);
struct pw_style pw_style_dim(void);
struct pw_style pw_style_ok(void);   /* right, within training */
struct pw_style pw_style_bad(void);  /* wrong, failed */
struct pw_style pw_style_warn(void); /* beyond training, careful */
struct pw_style pw_style_value(float x,
                               bool is_signed); /* a ramp's colour as background, readable text on it */

/* Replaces glyphs and colours that the terminal lacks: ASCII for each glyph, the nearest of 8 colours, none.
 * On a background that is known, named colours become ones that can be read there. */
void pw_theme_fit(struct pw_canvas *c, const struct pw_look *look);
void pw_theme_fit_on(struct pw_canvas *c, const struct pw_look *look, enum pw_backdrop backdrop);
/* What the variable COLORFGBG ("15;0") says about the background; NULL says nothing. */
enum pw_backdrop pw_theme_guess(const char *colorfgbg);
/* Dark or light: the one on which text of its own kind has more contrast. */
enum pw_backdrop pw_theme_behind(uint32_t rgb);

/* ---- text (draw.c) */
/* At most width columns from x, the last one '…' when text is longer. Returns the column after. */
int pw_draw_cut(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, const char *text,
                int width);
/* Bytes of text that fit into width columns; at a blank where there is one in the last third. */
size_t pw_text_fitting(const char *text, int width);
int pw_text_rows(const char *text, int width); /* that it takes wrapped like this; "": none */
/* Text over up to `most` lines, cut at blanks, the last one as pw_draw_cut does; returns how many it takes.
 */
int pw_draw_wrapped(struct pw_canvas *c, struct pw_rect r, int y, struct pw_style s, const char *text,
                    int most);
/* Text in the last rows of r. Its parts are two blanks apart, the most important first: each has room in a
 * row as a whole, or is left out, and one that is longer than a row is wrapped. It isn't empty, and of no use
 * afterwards. */
void pw_draw_parts(struct pw_canvas *c, struct pw_rect r, int rows, struct pw_style s, struct pw_str *text);
/* What a cursor is on, as such parts, in two rows where r is tall. The two are kept free also where the words
 * need but one, so that nothing moves under the pointer. Returns how many rows are taken; text, which isn't
 * empty, is of no use afterwards.
 */
int pw_draw_readout(struct pw_canvas *c, struct pw_rect r, struct pw_str *text);
/* A note in the middle of r where there is nothing to show: what is missing, what to type, and more; ends
 * with NULL. */
void pw_draw_invitation(struct pw_canvas *c, struct pw_rect r, const char *const *lines);
/* The same where what is missing could be had from a laboratory; of a recording alone it says only that. */
void pw_draw_missing(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const char *const *lines);
/* A bar of width columns, fraction 0..1 of it filled, in eighths of a column. */
void pw_draw_bar(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, int width,
                 double fraction);
/* Of a cursor and what of a list is shown around it: i, or the nearest of 0..n - 1 (0 where n is 0); and the
 * first of n rows to show in so many, with the cursor's in their middle as far as the ends allow. */
int pw_within(int i, int n);
int pw_scroll(int cursor, int n, int rows);
/* The same for a cursor that the pointer has put on a row: what is shown stays as it is (held is 1 + its
 * first row), so that the row doesn't scroll away under the pointer. held 0: a key has put it there. */
int pw_scroll_held(int held, int cursor, int n, int rows);
/* pw_arm_name after its mark, for titles; and "■2 t5 8/16", where there is less room. */
void pw_arm_title(const struct pw_ui *ui, const struct pw_arm_view *a, struct pw_str *out);
void pw_arm_short(const struct pw_ui *ui, const struct pw_arm_view *a, struct pw_str *out);

/* ":prompt sort 3 1 4 1 5", by the lab's first task, else ":sample"; returns text. */
const char *pw_prompt_example(const struct pw_ev_lab *lab, char *text, size_t size);

/* ---- curves (plot.c, plot_curve.c) */
struct pw_plot {
    struct pw_rect box;    /* with axes; in */
    double x0, x1, y0, y1; /* in; y > 0 where log */
    bool log, percent;     /* in */
    double x_unit;         /* in: of the numbers on the axis; 0: 1 */
    double x_lo, x_hi;     /* in: what x0 and x1 are called on the axis, where x_lo < x_hi; else themselves */
    bool x_log;            /* in: and between them its numbers go by their logarithm, x_lo > 0 */
    double reach; /* in: the part of the width on either side that SMOOTH takes the mean of; 0: 1/60 */
    struct pw_rect field; /* the curves' part; out */
    int dots_x, dots_y;   /* of the field; out */
};
/* Draws the axes and finds the field; the name of x takes the place of its last number, "" leaves it that.
 * False: too small for any curve. */
bool pw_plot_begin(struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, const char *x_name);
enum pw_stroke {
    PW_STROKE_LINE,   /* every point */
    PW_STROKE_DOTTED, /* the same, every third column only */
    PW_STROKE_SMOOTH, /* the mean of what lies near, on this side of a swap, over every point in dim */
    PW_STROKE_GREY,   /* dotted and dim: not to be relied on yet */
};
/* A polyline through points, of no arm with arm 0. Each column shows the smallest and the largest of its
 * points, so no spike is lost. Points that are not finite become a red mark on the axis. */
void pw_plot_series(const struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, int arm,
                    const struct pw_points *points, enum pw_stroke stroke);
/* The same measured n times (struct pw_points, n at most PW_MAX_REPLICATES): a line through the median and,
 * behind all lines, a band from the least to the greatest. Of points that share a column (or with SMOOTH lie
 * near) each replicate's mean counts: the band is what lies between replicates, not the noise from step to
 * step. */
void pw_plot_band(const struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, int arm,
                  const struct pw_points *replicates, int n, enum pw_stroke stroke);
int pw_plot_row(const struct pw_plot *p, double y);    /* canvas row of a value, clamped to the field */
int pw_plot_column(const struct pw_plot *p, double x); /* canvas column; -1 outside */

/* ---- heat maps (heat.c) */
struct pw_heat {
    int rows, cols;                                    /* of the data */
    float (*value)(const void *arg, int row, int col); /* -inf: hidden, drawn as background; NaN: red */
    const void *arg;
    float lo, hi; /* the ramp's ends; with is_signed -hi..hi */
    bool is_signed;
    bool square;                /* rows and columns are scaled and pooled alike */
    bool wide;                  /* where square: wider than high, as far as numbers in the cells need */
    bool bare;                  /* no numbers in the cells: what is drawn isn't what they would say */
    int split_row, split_col;   /* a gap before these; 0: none */
    int cursor_row, cursor_col; /* marked; -1: none */
    /* out of pw_heat_fit */
    int sx, sy;         /* columns and half rows a value */
    int pool_r, pool_c; /* values a pixel, the largest of which is shown */
    int w, h;           /* columns and rows taken */
    int gap_r, gap_c;   /* half rows and columns of the gaps */
    bool shades;        /* glyphs carry the value, not colours */
};
/* Chooses the largest whole scale that fits max_w columns and max_h rows, or pools. False: no room at all. */
bool pw_heat_fit(struct pw_heat *m, const struct pw_look *look, int max_w, int max_h);
void pw_heat_draw(const struct pw_heat *m, const struct pw_look *look, struct pw_canvas *c,
                  struct pw_rect clip, int y, int x);
int pw_heat_column(const struct pw_heat *m, int col);   /* first column of a value, from the map's left */
int pw_heat_half_row(const struct pw_heat *m, int row); /* first half row of a value, from the map's top */
/* The value that is drawn in a cell, counted from the map's top left; of pooled ones the first. False: none.
 */
bool pw_heat_at(const struct pw_heat *m, int y, int x, int *row, int *col);
#define PW_HEAT_CURSOR 0x25aa /* on a cell one column wide: neither a value's sign nor an arm's mark */
/* One cell of a strip: the value as colour or shade, w columns. */
void pw_heat_cell(const struct pw_look *look, struct pw_canvas *c, struct pw_rect clip, int y, int x, int w,
                  float v, float lo, float hi, bool is_signed);

/* ---- a page of the step pane (panes/step_patch.c): the map of `patch`, while the snapshot has one */
bool pw_step_patch_shown(const struct pw_ui *ui); /* asked for by its key, or a map is new */
void pw_step_patch_leave(struct pw_ui *ui);
void pw_step_patch_draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);
bool pw_step_patch_key(struct pw_ui *ui, int key); /* moves its cursor; false: the key means nothing here */
bool pw_step_patch_click(struct pw_ui *ui, int y, int x, struct pw_rect r); /* as drawn into r */
void pw_step_patch_copy(const struct pw_ui *ui, struct pw_str *out);

/* ---- a finding as a file: .json or .csv (panes/findings_file.c) */
enum pw_code pw_finding_write(const char *path, const struct pw_finding_view *v, struct pw_err *err);

/* ---- panes (panes/NAME.c) */
extern const struct pw_pane pw_pane_curves, pw_pane_lengths, pw_pane_attention, pw_pane_step,
    pw_pane_encoding, pw_pane_io, pw_pane_log, pw_pane_findings;

#endif
