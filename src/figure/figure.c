/* figure.c - lays out a figure from top to bottom: title, drawing, caption, and the commands that made it.
 *
 * The page requests a height for its drawing; caption and commands follow below with the height that they
 * need. If the user gives a height, the drawing gets the rest of it. */
#include "base/file.h"
#include "figure/figure_int.h"
#include "plot/curves.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MARGIN     10.0
#define TITLE_H    20.0
#define LINE_H     10.5 /* of the caption */
#define MADE_H     8.5  /* of the commands */
#define MADE_LINES 4    /* twice as many if sessions are drawn */

static const struct pw_font title_font = {.size = 10.5, .color = PW_INK, .bold = true};
static const struct pw_font caption_font = {.size = 8, .color = PW_INK};
static const struct pw_font made_font = {.size = 6.5, .color = 0x5a5a5a, .mono = true};

const char *const pw_figure_names[] = {"focused",  "curves", "lengths", "attention", "step",
                                       "encoding", "prompt", "log",     "findings",  NULL};
static const char *const xs[] = {"step", "flops", "seconds", NULL}; /* enum pw_curves_axis */
static const char *const fonts[] = {"sans", "serif", NULL};         /* enum pw_figure_font */
static const char *const maps[] = {"viridis", "cividis", NULL};

#define O(member) offsetof(struct pw_figure_options, member)
const struct pw_opt pw_figure_opts[] = {
    {.name = "pane",
     .type = PW_OPT_CHOICE,
     .offset = O(pane),
     .def = "focused",
     .choices = pw_figure_names,
     .help = "pane to draw; required without a screen"},
    {.name = "page",
     .type = PW_OPT_TEXT,
     .offset = O(page),
     .def = "",
     .size = sizeof(((struct pw_figure_options *)0)->page),
     .help = "page of the pane; default: the one on the screen, or the first with data"},
    {.name = "title",
     .type = PW_OPT_TEXT,
     .offset = O(title),
     .def = "",
     .size = sizeof(((struct pw_figure_options *)0)->title),
     .help = "title above the drawing; default: its content"},
    {.name = "xlabel",
     .type = PW_OPT_TEXT,
     .offset = O(x_label),
     .def = "",
     .size = sizeof(((struct pw_figure_options *)0)->x_label),
     .help = "label of the axis; default: that of the plot"},
    {.name = "ylabel",
     .type = PW_OPT_TEXT,
     .offset = O(y_label),
     .def = "",
     .size = sizeof(((struct pw_figure_options *)0)->y_label),
     .help = "likewise"},
    {.name = "names",
     .type = PW_OPT_TEXT,
     .offset = O(names),
     .def = "",
     .size = sizeof(((struct pw_figure_options *)0)->names),
     .help = "names of arms 1, 2, ... in legends, as names=\"NoPE,RoPE\"; default: the encodings. Those of "
             "sessions follow"},
    {.name = "font",
     .type = PW_OPT_CHOICE,
     .offset = O(font),
     .def = "sans",
     .choices = fonts,
     .help = "font of the text"},
    {.name = "width",
     .type = PW_OPT_INT,
     .offset = O(width),
     .def = "468",
     .min = 240,
     .max = 2000,
     .help = "font size or width in points (1/72 inch)"},
    {.name = "height",
     .type = PW_OPT_INT,
     .offset = O(height),
     .def = "0",
     .min = 0,
     .max = 2000,
     .help = "height in points, with the caption; 0: as needed"},
    {.name = "caption",
     .type = PW_OPT_SWITCH,
     .offset = O(caption),
     .def = "on",
     .help = "content, sample sizes, and the commands that made it; off: only in the file's metadata"},
    {.name = "log",
     .type = PW_OPT_SWITCH,
     .offset = O(log),
     .def = "on",
     .help = "logarithmic y axis for curves that are not shares, as on the screen"},
    {.name = "x",
     .type = PW_OPT_CHOICE,
     .offset = O(x),
     .def = "step",
     .choices = xs,
     .help = "axis of curves"},
    {.name = "arm",
     .type = PW_OPT_INT,
     .offset = O(arm),
     .def = "0",
     .min = 0,
     .max = PW_MAX_ARMS,
     .help = "arm whose errors or encoding are drawn; 0: the current one"},
    {.name = "arms",
     .type = PW_OPT_TEXT,
     .offset = O(arms),
     .def = "",
     .size = sizeof(((struct pw_figure_options *)0)->arms),
     .help =
         "arms to draw, as 1,3, or all: in curves, lengths, attention map (side by side), encoding slopes "
         "bias kernel decay"},
    {.name = "sessions",
     .type = PW_OPT_TEXT,
     .offset = O(sessions),
     .def = "",
     .size = sizeof(((struct pw_figure_options *)0)->sessions),
     .help = "recorded sessions, as \"A,B\" (names, paths, packed files), drawn with the lab's arms: "
             "curves, lengths curve and grid"},
    {.name = "reference",
     .type = PW_OPT_INT,
     .offset = O(reference),
     .def = "0",
     .min = 0,
     .max = PW_MAX_ARMS,
     .help = "arm that the encoding is compared with (page=difference); 0: the one on the screen"},
    {.name = "task",
     .type = PW_OPT_INT,
     .offset = O(task),
     .def = "1",
     .min = 1,
     .max = 8,
     .help = "task of a mixture: 1, 2, ..."},
    {.name = "layer",
     .type = PW_OPT_INT,
     .offset = O(layer),
     .def = "-1",
     .min = -1,
     .max = 63,
     .help = "layer or head of attention; -1: the inspected one"},
    {.name = "head",
     .type = PW_OPT_INT,
     .offset = O(head),
     .def = "-1",
     .min = -1,
     .max = 63,
     .help = "layer or head of attention; -1: the inspected one"},
    {.name = "colormap",
     .type = PW_OPT_CHOICE,
     .offset = O(map),
     .def = "viridis",
     .choices = maps,
     .help = "colours of values"},
    {.name = "finding",
     .type = PW_OPT_TEXT,
     .offset = O(finding),
     .def = "",
     .size = sizeof(((struct pw_figure_options *)0)->finding),
     .help = "finding: its name, or \"NAME TOPIC\"; default: the one on the screen, or the newest"},
    {.name = NULL},
};
#undef O

int pw_figure_pages(int pane, const char **names, int max)
{
    const struct pw_figure_page *page = pane > 0 ? pw_figure_panes[pane - 1]->pages : NULL;
    int n = 0;

    for (; page != NULL && page[n].name != NULL && n < max; n++)
        names[n] = page[n].name;
    return n;
}

enum pw_code pw_figure_nothing(struct pw_err *err, const char *what)
{
    return pw_fail(err, PW_EUSER, "export figure: nothing to draw yet: %s", what);
}

enum pw_code pw_figure_no_prompt(const struct pw_figure *f, struct pw_err *err, const char *what,
                                 const char *then)
{
    const struct pw_ev_lab *lab = &f->snap->lab;
    const char *prompt = lab->n_tasks > 0 ? lab->tasks[0].prompt : "";

    /* "sample": the prompt is unknown in an old session, or is a line of a file that cannot be typed */
    return pw_fail(err, PW_EUSER, "export figure: nothing to draw yet: %s; run '%s%s'%s", what,
                   prompt[0] ? "prompt " : "sample", prompt, then);
}

enum pw_code pw_figure_lacks(struct pw_figure *f, struct pw_err *err, const char *what, const char *commands,
                             ...)
{
    char text[128];
    va_list ap;

    va_start(ap, commands);
    vsnprintf(text, sizeof text, commands, ap);
    va_end(ap);
    pw_str_add(&f->needs, "%s", text);
    return pw_figure_nothing(err, what);
}

int pw_figure_task(const struct pw_figure *f)
{
    int n = f->snap->lab.n_tasks;

    return f->o->task <= n ? f->o->task - 1 : n > 0 ? n - 1 : 0;
}

void pw_figure_axes(struct pw_figure *f, struct pw_axes *a)
{
    if (f->o->x_label[0])
        a->x_name = f->o->x_label;
    if (f->o->y_label[0])
        a->y_name = f->o->y_label;
    pw_axes_draw(a, &f->svg);
}

/* ---- which page */

static enum pw_code no_page(const struct pw_figure_pane *pane, const char *name, struct pw_err *err)
{
    struct pw_str all = {0};

    for (int i = 0; pane->pages[i].name != NULL; i++)
        pw_str_add(&all, "%s%s", i ? ", " : "", pane->pages[i].name);
    enum pw_code code = pw_fail(err, PW_EUSER, "export figure: %s has no page '%s'; there %s %s", pane->name,
                                name, pane->pages[1].name != NULL ? "are" : "is", all.s);
    pw_str_fini(&all);
    return code;
}

static enum pw_code prepare(struct pw_figure *f, const struct pw_figure_page *page, struct pw_err *err)
{
    pw_str_clear(&f->title);
    pw_str_clear(&f->caption);
    pw_str_clear(&f->needs);
    f->kind = page->kind;
    f->least = 60, f->narrowest = 0;
    enum pw_code code = pw_figure_lines_find(f, page, err);
    return code == PW_OK ? page->prepare(f, err) : code;
}

/* Chooses the named page, or else the first one that has something to draw. */
static enum pw_code choose(struct pw_figure *f, const struct pw_figure_page **page, struct pw_err *err)
{
    const struct pw_figure_pane *pane = pw_figure_panes[f->o->pane - 1];
    const struct pw_figure_page *p = pane->pages;
    struct pw_err why;

    if (f->o->page[0] != '\0') {
        while (p->name != NULL && strcmp(p->name, f->o->page) != 0)
            p++;
        if (p->name == NULL)
            return no_page(pane, f->o->page, err);
        *page = p;
        return prepare(f, p, err);
    }
    enum pw_code code = prepare(f, *page = p, err);
    while (code != PW_OK && (++p)->name != NULL) {
        if (prepare(f, p, &why) != PW_OK)
            continue;
        *page = p;
        return PW_OK;
    }
    if (code != PW_OK)
        prepare(f, pane->pages, &why); /* report what the first page lacks */
    return code;
}

/* ---- text below the drawing */

/* Wraps text into at most `most` lines of width w and cuts the last one. Returns the number of lines; with s
 * NULL it only counts. */
static int flow(struct pw_svg *s, double x, double y, const struct pw_font *f, double line, const char *text,
                double w, int most)
{
    int n = 0;

    for (; *text && n < most; n++) {
        char part[1024];
        size_t bytes = pw_svg_fitting(f, text, w);
        bytes = bytes < sizeof part ? bytes : sizeof part - 1;
        memcpy(part, text, bytes);
        part[bytes] = '\0';
        if (s != NULL && n + 1 == most)
            pw_svg_cut(s, x, y + n * line, f, text, w);
        else if (s != NULL)
            pw_svg_text(s, x, y + n * line, f, part);
        text += bytes;
        text += strspn(text, " ");
    }
    return n;
}

static void draw_below(struct pw_figure *f, const char *made, double y, int lines, int made_lines)
{
    flow(&f->svg, MARGIN, y + LINE_H, &caption_font, LINE_H, f->caption.s, f->box.w, lines);
    flow(&f->svg, MARGIN, y + lines * LINE_H + 4 + MADE_H, &made_font, MADE_H, made, f->box.w, made_lines);
}

/* ---- the whole figure */

static enum pw_code check(const struct pw_snapshot *s, const struct pw_figure_options *o, struct pw_err *err)
{
    if (o->arm > 0 && pw_find_arm(s, o->arm) == NULL)
        return pw_fail(err, PW_EUSER, "export figure: arm=%d: there is no such arm", o->arm);
    if (o->reference > 0 && pw_find_arm(s, o->reference) == NULL)
        return pw_fail(err, PW_EUSER, "export figure: reference=%d: there is no such arm", o->reference);
    if (o->arm > 0 && o->arms[0])
        return pw_fail(err, PW_EUSER, "export figure: arm=%d and arms=%s: only one of the two", o->arm,
                       o->arms);
    return PW_OK;
}

/* Draws the picture and sets its size *w, *h. by: the commands that made it; NULL: those of s. */
static enum pw_code draw_figure(struct pw_str *out, double *w, double *h, const struct pw_snapshot *s,
                                const char *by, const struct pw_figure_options *o, struct pw_err *err)
{
    struct pw_figure f = {
        .given = s, .snap = s, .o = o, .arm = pw_find_arm(s, o->arm > 0 ? o->arm : s->current)};
    const struct pw_figure_page *page = NULL;
    struct pw_str made = {0}, desc = {0};

    f.box = (struct pw_box){MARGIN, MARGIN + TITLE_H, o->width - 2 * MARGIN, 0};
    enum pw_code code = check(s, o, err);
    if (code == PW_OK)
        code = choose(&f, &page, err);
    if (code == PW_OK) {
        if (by != NULL)
            pw_str_add(&made, "pewter %s: %s", PEWTER_VERSION, by);
        else
            pw_figure_made(&f, &made);
        pw_str_add(&desc, "%s\nMade by: %s", pw_str_text(&f.caption), made.s);
        int lines = o->caption ? flow(NULL, 0, 0, &caption_font, 0, f.caption.s, f.box.w, 100) : 0;
        int made_lines =
            o->caption ? flow(NULL, 0, 0, &made_font, 0, made.s, f.box.w, MADE_LINES * (f.recorded ? 2 : 1))
                       : 0;
        double below = o->caption ? lines * LINE_H + 4 + made_lines * MADE_H + 8 : 0;
        double rest = 2 * MARGIN + TITLE_H + below;
        if (f.box.w < f.narrowest)
            code = pw_fail(err, PW_EUSER,
                           "export figure: width=%d is too small: this figure needs %.0f points or more",
                           o->width, f.narrowest + 2 * MARGIN);
        else if (o->height > 0 && o->height < rest + f.least)
            code = pw_fail(err, PW_EUSER,
                           "export figure: height=%d is too small: this figure needs %.0f points or more%s",
                           o->height, rest + f.least + 0.5, o->caption ? ", less with caption=off" : "");
        if (o->height > 0)
            f.box.h = o->height - rest;
        *w = o->width, *h = (double)(int)(rest + f.box.h + 0.5);
        if (code == PW_OK) {
            const char *title = o->title[0] ? o->title : pw_str_text(&f.title);
            pw_svg_open(&f.svg, *w, *h, o->font == PW_FONT_SERIF, title, desc.s);
            pw_svg_cut(&f.svg, MARGIN, MARGIN + 10, &title_font, title, f.box.w);
            page->draw(&f);
            if (o->caption)
                draw_below(&f, made.s, f.box.y + f.box.h, lines, made_lines);
            pw_svg_close(&f.svg);
            pw_str_put(out, f.svg.out.s, f.svg.out.len);
        }
    }
    pw_str_fini(&made);
    pw_str_fini(&desc);
    pw_str_fini(&f.title);
    pw_str_fini(&f.caption);
    pw_str_fini(&f.needs);
    pw_svg_fini(&f.svg);
    return code;
}

void pw_figure_needs(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o)
{
    struct pw_figure f = {
        .given = s, .snap = s, .o = o, .arm = pw_find_arm(s, o->arm > 0 ? o->arm : s->current)};
    const struct pw_figure_page *page = NULL;
    struct pw_err err;

    f.box.w = o->width - 2 * MARGIN;
    if (check(s, o, &err) == PW_OK && choose(&f, &page, &err) != PW_OK)
        pw_str_add(out, "%s", pw_str_text(&f.needs));
    pw_str_fini(&f.title);
    pw_str_fini(&f.caption);
    pw_str_fini(&f.needs);
}

enum pw_code pw_figure_svg(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o,
                           struct pw_err *err)
{
    double w, h;

    return draw_figure(out, &w, &h, s, NULL, o, err);
}

enum pw_code pw_figure_ending(const char *what, const char *path, struct pw_err *err)
{
    const char *dot = strrchr(path, '.');

    if (dot != NULL && (strcmp(dot, ".svg") == 0 || strcmp(dot, ".pdf") == 0 || strcmp(dot, ".png") == 0))
        return PW_OK;
    return pw_fail(err, PW_EUSER, "%s: %s: the extension must be .svg, .pdf or .png", what, path);
}

enum pw_code pw_figure_draw(struct pw_figure_drawn *out, const char *path, const struct pw_snapshot *s,
                            const struct pw_figure_options *o, struct pw_err *err)
{
    enum pw_code code = pw_figure_ending("export figure", path, err);

    *out = (struct pw_figure_drawn){.w = 0};
    return code == PW_OK ? draw_figure(&out->svg, &out->w, &out->h, s, NULL, o, err) : code;
}

enum pw_code pw_figure_draw_finding(struct pw_figure_drawn *out, const char *path, const struct pw_finding *f,
                                    const char *by, const struct pw_figure_options *o, struct pw_err *err)
{
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_figure_options of_finding = *o;

    for (int i = 0; pw_figure_names[i] != NULL; i++)
        if (strcmp(pw_figure_names[i], "findings") == 0)
            of_finding.pane = i;
    of_finding.finding[0] = '\0';
    s->findings[0].f = *f;
    s->findings[0].f_seq = 1;
    *out = (struct pw_figure_drawn){.w = 0};
    enum pw_code code = pw_figure_ending("export figure", path, err);
    if (code == PW_OK)
        code = draw_figure(&out->svg, &out->w, &out->h, s, by, &of_finding, err);
    s->findings[0].f = (struct pw_finding){0}; /* the caller's */
    pw_snapshot_free(s);
    return code;
}

enum pw_code pw_figure_put(const char *path, const struct pw_figure_drawn *d, struct pw_err *err)
{
    const char *dot = strrchr(path, '.');

    if (strcmp(dot, ".svg") != 0)
        return pw_figure_render(path, strcmp(dot, ".pdf") == 0, &d->svg, d->w, d->h, err);
    return pw_file_replace(path, pw_str_text(&d->svg), d->svg.len, err);
}

enum pw_code pw_figure_write(const char *path, const struct pw_snapshot *s, const struct pw_figure_options *o,
                             struct pw_err *err)
{
    struct pw_figure_drawn d;
    enum pw_code code = pw_figure_draw(&d, path, s, o, err);

    if (code == PW_OK)
        code = pw_figure_put(path, &d, err);
    pw_str_fini(&d.svg);
    return code;
}
