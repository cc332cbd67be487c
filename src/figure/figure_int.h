/* figure_int.h - a figure while it is drawn, and what a pane's figures are. For src/figure alone. */
#ifndef PW_FIGURE_INT_H
#define PW_FIGURE_INT_H
#include "figure/figure.h"
#include "figure/svg.h"
#include "plot/names.h"

struct pw_figure {
    const struct pw_snapshot *snap;
    const struct pw_figure_options *o;
    const struct pw_arm_view *arm; /* that was asked for, or the current one; may be NULL */
    int kind;                      /* the page's */
    struct pw_svg svg;
    struct pw_box box;       /* of the drawing; its height is what prepare asked for, or what there is */
    struct pw_str title;     /* what is shown, in a few words */
    struct pw_str caption;   /* sentences: what it shows, of how many, what intervals are */
    double least;            /* height below which nothing can be seen */
    double narrowest;        /* and width */
    const char *const *asks; /* commands that it depends on beside those that change models; NULL: none */
    struct pw_str needs;     /* commands that would make what is missing; empty: none would, or nothing is */
};

struct pw_figure_page {
    const char *name; /* NULL: the end of a pane's */
    int kind;         /* for pages that share their functions */
    /* Writes title, caption and the height (least, narrowest) that the drawing should have for f->box.w.
     * PW_EUSER: there is nothing to draw, and why. */
    enum pw_code (*prepare)(struct pw_figure *f, struct pw_err *err);
    void (*draw)(struct pw_figure *f);
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
/* What an arm is called: as the options say, else by its number and encoding. */
void pw_figure_arm(const struct pw_figure *f, const struct pw_arm_view *a, struct pw_str *out);
/* Draws the axes, with the options' labels where they say some. */
struct pw_axes;
void pw_figure_axes(struct pw_figure *f, struct pw_axes *a);
/* A legend entry: sign, line and name of an arm; returns the width taken. */
double pw_figure_key(struct pw_figure *f, double x, double y, const struct pw_arm_view *a, const char *more);

/* ---- made.c */
extern const char *const pw_figure_prompts[], *const pw_figure_tables[]; /* asks of prompts; of encodings */
/* The commands of the session that what is shown depends on, as one text: "...; train 300" */
void pw_figure_made(const struct pw_figure *f, struct pw_str *out);

/* ---- render.c: SVG text as PDF or PNG into a file */
enum pw_code pw_figure_render(const char *path, bool pdf, const struct pw_str *svg, double w, double h,
                              struct pw_err *err);

extern const struct pw_figure_pane pw_figure_curves, pw_figure_lengths, pw_figure_attention, pw_figure_step,
    pw_figure_encoding, pw_figure_prompt, pw_figure_log, pw_figure_findings;

#endif
