/* figure_int.h - the state of a figure while it is drawn, and the interface of a pane's figures. Private to
 * src/figure. */
#ifndef PW_FIGURE_INT_H
#define PW_FIGURE_INT_H
#include "figure/axes.h"
#include "figure/figure.h"
#include "figure/svg.h"
#include "plot/names.h"

/* One arm in a figure that draws several arms. */
struct pw_figure_line {
    const struct pw_snapshot *snap; /* the snapshot that contains the arm */
    const struct pw_arm_view *arm;
    const char *session; /* the session's name on the command line; NULL: none was named */
    int place;           /* selects colour, mark and name: 1..PW_FIGURE_LINES */
};

/* A figure that is being drawn. It owns its texts and svg, and borrows the rest. */
struct pw_figure {
    const struct pw_snapshot *given; /* the snapshot that was passed in */
    const struct pw_snapshot *snap;  /* the same, or the first line's if the given one has no line */
    const struct pw_figure_options *o;
    const struct pw_arm_view *arm; /* the selected arm, or the current one; possibly NULL */
    int kind;                      /* kind of the page */
    struct pw_figure_line line[PW_FIGURE_LINES];
    int n_lines;   /* 0: the page draws one arm, or nothing can be drawn */
    bool recorded; /* some lines are of named sessions */
    unsigned left; /* arms of arms=all without data, bit id */
    struct pw_svg svg;
    struct pw_box box;       /* of the drawing; its height is what prepare requested, or what is available */
    struct pw_str title;     /* a few words */
    struct pw_str caption;   /* sentences: content, sample sizes, meaning of intervals */
    double least;            /* height below which the drawing is unreadable */
    double narrowest;        /* the same for the width */
    const char *const *asks; /* commands that it depends on besides those that change models; NULL: none */
    struct pw_str needs;     /* commands that would produce missing data; empty: nothing to run */
};

/* How a page handles several arms. */
struct pw_figure_several {
    bool sessions; /* also draws arms of recorded sessions */
    bool if_asked; /* draws one arm unless arms= names others */
    bool (*has)(const struct pw_figure *f, const struct pw_figure_line *l); /* is there data to draw? */
    const char *lacks; /* the missing data, for messages: "no evaluation" */
    const char *make;  /* commands that would produce it; NULL: none, or the caller ran them */
};

/* One page of a pane's figures. Constant. */
struct pw_figure_page {
    const char *name; /* NULL: the end of the pane's table */
    int kind;         /* distinguishes pages that share their functions */
    /* Writes the title, the caption and the height (least, narrowest) that the drawing needs at width
     * f->box.w. Fails with PW_EUSER and the reason if there is nothing to draw. */
    enum pw_code (*prepare)(struct pw_figure *f, struct pw_err *err);
    void (*draw)(struct pw_figure *f);
    const struct pw_figure_several *several; /* NULL: the page draws one arm */
};

/* The figures of one pane, panes/NAME.c; panes.c lists them. */
struct pw_figure_pane {
    const char *name;
    const struct pw_figure_page *pages;
};
extern const struct pw_figure_pane *const pw_figure_panes[]; /* as pw_figure_names from 1; NULL-terminated */

/* Fails with "nothing to draw yet: WHAT". */
enum pw_code pw_figure_nothing(struct pw_err *err, const char *what);
/* Fails with "nothing to draw yet: WHAT; 'prompt P' THEN"; P is a prompt of the lab's first task. */
enum pw_code pw_figure_no_prompt(const struct pw_figure *f, struct pw_err *err, const char *what,
                                 const char *then);
/* Like pw_figure_nothing; also stores the commands that would produce the data (printf) for pw_figure_needs.
 */
enum pw_code pw_figure_lacks(struct pw_figure *f, struct pw_err *err, const char *what, const char *commands,
                             ...) __attribute__((format(printf, 4, 5)));
/* Returns the index of the selected task of a mixture, clamped. */
int pw_figure_task(const struct pw_figure *f);
/* Appends the name of an arm of the snapshot: from the options, or else its number and encoding. */
void pw_figure_arm(const struct pw_figure *f, const struct pw_arm_view *a, struct pw_str *out);
/* Draws the axes; labels from the options replace those of a. */
void pw_figure_axes(struct pw_figure *f, struct pw_axes *a);

/* ---- lines.c: the arms of a figure that draws several */
/* Finds the lines of f and sets the snapshot to draw from. */
enum pw_code pw_figure_lines_find(struct pw_figure *f, const struct pw_figure_page *page, struct pw_err *err);
/* Returns an arm of the snapshot as a line. */
struct pw_figure_line pw_figure_line_of(const struct pw_figure *f, const struct pw_arm_view *a);
/* Appends the line's name: from the options, or else "1 none", "A: none", or "A: 2 none" if another arm of
 * the session has the same encoding. */
void pw_figure_name(const struct pw_figure *f, const struct pw_figure_line *l, struct pw_str *out);
/* Returns the index of f's task in the line's own lab; -1: it has no task with this name. */
int pw_figure_task_of(const struct pw_figure *f, const struct pw_figure_line *l);
/* Append sentences to the caption: which arms come from recorded sessions, and which arms were left out. */
void pw_figure_caption_sessions(struct pw_figure *f);
void pw_figure_caption_left(struct pw_figure *f);
/* Appends the lines with their steps [n_lines]: "1 none, 2 t5 8/16 at step 20", or each with its own step if
 * they differ. */
void pw_figure_caption_lines(struct pw_figure *f, const int64_t *step);
/* Returns true if some drawn arm has replicas with their own batches. */
bool pw_figure_own_batches(const struct pw_figure *f);
/* Draws a legend entry: line, mark, name and `more`. Returns its width. */
double pw_figure_key(struct pw_figure *f, double x, double y, const struct pw_figure_line *l,
                     const char *more);
/* Draws the legend in rows from y on; `more` adds text to a name. Returns the height. Only measures if drawn
 * is false. */
double pw_figure_keys(struct pw_figure *f, double y, bool drawn,
                      void (*more)(const struct pw_figure *f, const struct pw_figure_line *l, char *dst,
                                   size_t size));
/* Draws a curve in the style of a place. Places of the second half have a white line inside. */
void pw_figure_curve(struct pw_figure *f, const struct pw_axes *a, int place, struct pw_pen pen,
                     const double *x, const float *y, int n);

/* ---- made.c */
extern const char *const pw_figure_prompts[], *const pw_figure_tables[]; /* of prompts; of encodings */
/* Appends the commands that the figure depends on as one text, "...; train 300"; session by session if there
 * are several. */
void pw_figure_made(const struct pw_figure *f, struct pw_str *out);

/* ---- render.c: writes SVG text as PDF or PNG into a file */
enum pw_code pw_figure_render(const char *path, bool pdf, const struct pw_str *svg, double w, double h,
                              struct pw_err *err);

extern const struct pw_figure_pane pw_figure_curves, pw_figure_lengths, pw_figure_attention, pw_figure_step,
    pw_figure_encoding, pw_figure_prompt, pw_figure_log, pw_figure_findings;

#endif
