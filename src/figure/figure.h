/* figure.h - what a pane shows, as a file for a paper: vector with real text, axes, legend, a caption and the
 * commands that made it.
 *
 * A figure is a function of the snapshot and the options: SVG of the same two has the same bytes. */
#ifndef PW_FIGURE_H
#define PW_FIGURE_H
#include "base/err.h"
#include "base/opt.h"
#include "base/text.h"
#include "plot/ramp.h"
#include "sessions/fold.h"

enum pw_figure_font { PW_FONT_SANS, PW_FONT_SERIF };

struct pw_figure_options {
    int pane;                      /* index into pw_figure_names */
    char page[16];                 /* ""; the first that there is something for */
    char title[160];               /* "": its own */
    char x_label[80], y_label[80]; /* of plots' axes; "": their own */
    char names[256];               /* of arms 1, 2, ... in legends, parted by commas; "": their encodings */
    int font;                      /* enum pw_figure_font */
    int width, height;             /* points, of the whole picture; height 0: what it needs */
    bool caption;
    bool log;                                         /* y axis of curves, where it isn't a share */
    int x;                                            /* enum pw_curves_axis */
    int arm;                                          /* 0: the current one */
    int reference;                                    /* arm that its encoding is compared with; 0: none */
    int task;                                         /* of a mixture, from 1 */
    int layer, head;                                  /* of attention; -1: those that are looked at */
    int map;                                          /* enum pw_colormap */
    char finding[PW_FINDING_NAME + PW_FINDING_TOPIC]; /* "": the newest; pw_finding_named */
};
/* pane has no default: 0 stands for none. */
extern const struct pw_opt pw_figure_opts[];
extern const char *const pw_figure_names[]; /* of panes, from 1 on; [0] is "focused"; NULL-terminated */

/* Its pages by name; returns how many. */
int pw_figure_pages(int pane, const char **names, int max);

/* PW_EUSER: nothing to draw yet, no such page, too small. */
enum pw_code pw_figure_svg(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o,
                           struct pw_err *err);
/* Appends the commands that would make what a figure lacks, "table arm=2"; nothing where it can be drawn, or
 * where only the user can say what is to be asked (a prompt). */
void pw_figure_needs(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o);
/* Is the ending of path .svg, .pdf or .png? Else the message begins with `what`. */
enum pw_code pw_figure_ending(const char *what, const char *path, struct pw_err *err);
/* The ending of path says what. */
enum pw_code pw_figure_write(const char *path, const struct pw_snapshot *s, const struct pw_figure_options *o,
                             struct pw_err *err);

#endif
