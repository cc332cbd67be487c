/* figure.h - exports the content of a pane as a file for a paper: vector graphics with real text, axes,
 * legend, a caption, and the commands that made it.
 *
 * A figure is a function of the snapshot and the options: equal inputs give the same bytes of SVG, in tenths
 * of a point and without times of day. A curve keeps the extremes of each column, and a map is an embedded
 * image, so files stay small. */
#ifndef PW_FIGURE_H
#define PW_FIGURE_H
#include "base/err.h"
#include "base/opt.h"
#include "base/text.h"
#include "plot/ramp.h"
#include "sessions/fold.h"

#define PW_FIGURE_LINES 16 /* arms that one figure can distinguish by colour and mark */

enum pw_figure_font { PW_FONT_SANS, PW_FONT_SERIF };

/* A recorded session whose arms are drawn beside those of the snapshot. */
struct pw_figure_session {
    const char *name;               /* in legends and in the caption */
    const struct pw_snapshot *snap; /* at the session's end; NULL: the snapshot's own session */
};

/* The options of a figure, as `export figure` takes them. Plain values; recorded is borrowed. */
struct pw_figure_options {
    int pane;                      /* index into pw_figure_names */
    char page[16];                 /* "": the first page that has something to draw */
    char title[160];               /* "": the figure's own title */
    char x_label[80], y_label[80]; /* labels of the plot's axes; "": the figure's own */
    char names[256];   /* names of arms 1, 2, ... in legends, separated by commas; "": encodings */
    int font;          /* enum pw_figure_font */
    int width, height; /* points, of the whole picture; height 0: as needed */
    bool caption;
    bool log;           /* logarithmic y axis of curves, unless they are shares */
    int x;              /* enum pw_curves_axis */
    int arm;            /* 0: the current arm */
    char arms[64];      /* "1,3", "all" or ""; see pw_figure_arms */
    char sessions[512]; /* as the user typed them, for messages only */
    int reference;      /* arm whose encoding is compared with the arm's; 0: none */
    int task;           /* index in a mixture, from 1 */
    int layer, head;    /* of attention; -1: those selected in the workbench */
    int map;            /* enum pw_colormap */
    char finding[PW_FINDING_NAME + PW_FINDING_TOPIC]; /* "": the newest; see pw_finding_named */
    const struct pw_figure_session *recorded;         /* [n_recorded]; not an option: the caller opens them */
    int n_recorded;
};
/* The option table. pane has no default; 0 means that none was given. */
extern const struct pw_opt pw_figure_opts[];
extern const char *const pw_figure_names[]; /* panes' names, from 1; [0] "focused"; NULL-terminated */

/* Writes the names of a pane's pages. Returns their number. */
int pw_figure_pages(int pane, const char **names, int max);

/* Parses a list of arms into a set with bit id. An empty list gives an empty set; "all" also sets *all. */
enum pw_code pw_figure_arms(const char *list, unsigned *arms, bool *all, struct pw_err *err);
/* Returns true if the page that o names can draw the arms and sessions of o; without a name, if any page can.
 */
bool pw_figure_takes(const struct pw_figure_options *o);

/* Draws the figure. Fails with PW_EUSER if there is nothing to draw, the page does not exist, or the size is
 * too small. */
enum pw_code pw_figure_svg(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o,
                           struct pw_err *err);
/* Appends the commands that would produce the missing data of a figure, for example "table arm=2". Appends
 * nothing if the figure can be drawn, or if only the user can choose the input (a prompt). */
void pw_figure_needs(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o);
/* Are the libraries there that PDF and PNG need? Loads them. One thread at a time. */
bool pw_figure_renders(void);
/* Checks that path ends in .svg, .pdf or .png. Otherwise the message begins with `what`. */
enum pw_code pw_figure_ending(const char *what, const char *path, struct pw_err *err);
/* A figure that is drawn, and not yet written. */
struct pw_figure_drawn {
    struct pw_str svg;
    double w, h; /* points */
};
/* Draws the figure for a file; the ending of path selects the format. The caller frees out->svg. */
enum pw_code pw_figure_draw(struct pw_figure_drawn *out, const char *path, const struct pw_snapshot *s,
                            const struct pw_figure_options *o, struct pw_err *err);
/* The same for a finding that is in no snapshot, with the commands that made it (by). Pane and finding of o
 * are not read. */
enum pw_code pw_figure_draw_finding(struct pw_figure_drawn *out, const char *path, const struct pw_finding *f,
                                    const char *by, const struct pw_figure_options *o, struct pw_err *err);
/* Converts the drawn figure to the format of path and writes the file. Callable from any thread, but not from
 * two at once. */
enum pw_code pw_figure_put(const char *path, const struct pw_figure_drawn *d, struct pw_err *err);
/* Draws the figure and writes the file: pw_figure_draw, then pw_figure_put. */
enum pw_code pw_figure_write(const char *path, const struct pw_snapshot *s, const struct pw_figure_options *o,
                             struct pw_err *err);

#endif
