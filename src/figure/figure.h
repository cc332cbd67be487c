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

#define PW_FIGURE_LINES 16 /* arms that one figure can tell apart by colour and sign */

enum pw_figure_font { PW_FONT_SANS, PW_FONT_SERIF };

/* A recorded session whose arms are drawn beside those of the snapshot. */
struct pw_figure_session {
    const char *name;               /* in legends and in the caption */
    const struct pw_snapshot *snap; /* as it ended; NULL: it is the session of the snapshot itself */
};

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
    char arms[64];                                    /* "1,3", "all", ""; pw_figure_arms */
    char sessions[512];                               /* as they were typed, for messages alone */
    int reference;                                    /* arm that its encoding is compared with; 0: none */
    int task;                                         /* of a mixture, from 1 */
    int layer, head;                                  /* of attention; -1: those that are looked at */
    int map;                                          /* enum pw_colormap */
    char finding[PW_FINDING_NAME + PW_FINDING_TOPIC]; /* "": the newest; pw_finding_named */
    const struct pw_figure_session *recorded;         /* [n_recorded]: no option, the caller reads them */
    int n_recorded;
};
/* pane has no default: 0 stands for none. */
extern const struct pw_opt pw_figure_opts[];
extern const char *const pw_figure_names[]; /* of panes, from 1 on; [0] is "focused"; NULL-terminated */

/* Its pages by name; returns how many. */
int pw_figure_pages(int pane, const char **names, int max);

/* The arms that a list names, bit id; none where it is empty, and with *all every one that there is. */
enum pw_code pw_figure_arms(const char *list, unsigned *arms, bool *all, struct pw_err *err);
/* Can the page that is named, or any where none is, draw the arms and sessions that are asked for? */
bool pw_figure_takes(const struct pw_figure_options *o);

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
