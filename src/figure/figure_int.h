/* figure_int.h - a figure while it is drawn, and what a pane's figures are. For src/figure alone. */
#ifndef PW_FIGURE_INT_H
#define PW_FIGURE_INT_H
#include "figure/axes.h"
#include "figure/figure.h"
#include "figure/svg.h"
#include "plot/names.h"

/* One of the arms that a figure draws beside each other. */
struct pw_figure_line {
    const struct pw_snapshot *snap; /* that it is of */
    const struct pw_arm_view *arm;
    const char *session; /* that was named for it; NULL: none */
    int place;           /* of its colour, sign and name: 1..PW_FIGURE_LINES */
};

struct pw_figure {
    const struct pw_snapshot *given; /* what the figure is a function of */
    const struct pw_snapshot *snap;  /* the same, or that of the first line where it has none to draw */
    const struct pw_figure_options *o;
    const struct pw_arm_view *arm; /* that was asked for, or the current one; may be NULL */
    int kind;                      /* the page's */
    struct pw_figure_line line[PW_FIGURE_LINES];
    int n_lines;   /* 0: the page draws one arm, or has nothing to draw */
    bool recorded; /* some are of sessions that were named */
    unsigned left; /* arms of arms=all that have nothing to draw, bit id */
    struct pw_svg svg;
    struct pw_box box;       /* of the drawing; its height is what prepare asked for, or what there is */
    struct pw_str title;     /* what is shown, in a few words */
    struct pw_str caption;   /* sentences: what it shows, of how many, what intervals are */
    double least;            /* height below which nothing can be seen */
    double narrowest;        /* and width */
    const char *const *asks; /* commands that it depends on beside those that change models; NULL: none */
    struct pw_str needs;     /* commands that would make what is missing; empty: none would, or nothing is */
};

/* What a page that draws several arms has to say. */
struct pw_figure_several {
    bool sessions; /* arms of recorded sessions, too */
    bool if_asked; /* one arm, unless arms= names others */
    bool (*has)(const struct pw_figure *f, const struct pw_figure_line *l); /* something to draw */
    const char *lacks; /* what an arm has then: "no evaluation" */
    const char *make;  /* commands that would make it; NULL: none, or the caller has run them */
};

struct pw_figure_page {
    const char *name; /* NULL: the end of a pane's */
    int kind;         /* for pages that share their functions */
    /* Writes title, caption and the height (least, narrowest) that the drawing should have for f->box.w.
     * PW_EUSER: there is nothing to draw, and why. */
    enum pw_code (*prepare)(struct pw_figure *f, struct pw_err *err);
    void (*draw)(struct pw_figure *f);
    const struct pw_figure_several *several; /* NULL: it is of one arm */
};

/* One of panes/NAME.c, in the table of panes.c. */
struct pw_figure_pane {
    const char *name;
    const struct pw_figure_page *pages;
};
extern const struct pw_figure_pane *const pw_figure_panes[]; /* NULL-terminated, as pw_figure_names from 1 */

/* "nothing to draw yet: WHAT". */
enum pw_code pw_figure_nothing(struct pw_err *err, const char *what);
/* "nothing to draw yet: WHAT; 'prompt P' THEN", where P is a prompt of the lab's first task. */
enum pw_code pw_figure_no_prompt(const struct pw_figure *f, struct pw_err *err, const char *what,
                                 const char *then);
/* The same, and the commands that would make it (printf), for pw_figure_needs. */
enum pw_code pw_figure_lacks(struct pw_figure *f, struct pw_err *err, const char *what, const char *commands,
                             ...) __attribute__((format(printf, 4, 5)));
/* Of a mixture's tasks the one that was asked for, clamped. */
int pw_figure_task(const struct pw_figure *f);
/* What an arm of the snapshot is called: as the options say, else by its number and encoding. */
void pw_figure_arm(const struct pw_figure *f, const struct pw_arm_view *a, struct pw_str *out);
/* Draws the axes, with the options' labels where they say some. */
void pw_figure_axes(struct pw_figure *f, struct pw_axes *a);

/* ---- lines.c: the arms of a figure that draws several */
/* Finds f's lines, and the snapshot that they begin with. */
enum pw_code pw_figure_lines_find(struct pw_figure *f, const struct pw_figure_page *page, struct pw_err *err);
/* An arm of the snapshot as a line. */
struct pw_figure_line pw_figure_line_of(const struct pw_figure *f, const struct pw_arm_view *a);
/* "1 none", "A: none", "A: 2 none" where that session has another one, or as the options say. */
void pw_figure_name(const struct pw_figure *f, const struct pw_figure_line *l, struct pw_str *out);
/* The place that f's task has in the line's own lab; -1: it has none of this name. */
int pw_figure_task_of(const struct pw_figure *f, const struct pw_figure_line *l);
/* Sentences: which arms are those of recorded sessions; which have been left out. */
void pw_figure_say_sessions(struct pw_figure *f);
void pw_figure_say_left(struct pw_figure *f);
/* "1 none, 2 t5 8/16 at step 20", or where steps [n_lines] differ each with its own. */
void pw_figure_say_lines(struct pw_figure *f, const int64_t *step);
/* Does an arm that is drawn have replicas with batches of their own? */
bool pw_figure_own_batches(const struct pw_figure *f);
/* A legend entry: sign, line and name; returns the width taken. */
double pw_figure_key(struct pw_figure *f, double x, double y, const struct pw_figure_line *l,
                     const char *more);
/* Entries beside and below each other; returns the height. y: of the first; svg is left alone unless drawn.
 */
double pw_figure_keys(struct pw_figure *f, double y, bool drawn,
                      void (*more)(const struct pw_figure *f, const struct pw_figure_line *l, char *dst,
                                   size_t size));
/* A curve in the look of a place: those of the second half have a white thread in them. */
void pw_figure_curve(struct pw_figure *f, const struct pw_axes *a, int place, struct pw_pen pen,
                     const double *x, const float *y, int n);

/* ---- made.c */
extern const char *const pw_figure_prompts[], *const pw_figure_tables[]; /* asks of prompts; of encodings */
/* The commands that what is shown depends on, as one text: "...; train 300", of several sessions one by one.
 */
void pw_figure_made(const struct pw_figure *f, struct pw_str *out);

/* ---- render.c: SVG text as PDF or PNG into a file */
enum pw_code pw_figure_render(const char *path, bool pdf, const struct pw_str *svg, double w, double h,
                              struct pw_err *err);

extern const struct pw_figure_pane pw_figure_curves, pw_figure_lengths, pw_figure_attention, pw_figure_step,
    pw_figure_encoding, pw_figure_prompt, pw_figure_log, pw_figure_findings;

#endif
