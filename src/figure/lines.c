/* lines.c - the arms of a figure that draws several: those of the snapshot, and those of recorded sessions.
 *
 * A line is an arm together with its snapshot, because sessions have their own tasks and trained lengths. An
 * arm of the snapshot keeps its colour on the screen; arms of sessions get the remaining colours. */
#include "figure/figure_int.h"
#include "plot/palette.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing the request */

enum pw_code pw_figure_arms(const char *list, unsigned *arms, bool *all, struct pw_err *err)
{
    const char *at = list;

    *arms = 0, *all = strcmp(list, "all") == 0;
    if (*all || list[0] == '\0')
        return PW_OK;
    for (;;) {
        char *end;
        while (*at == ' ')
            at++;
        long id = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : 0;
        if (id < 1 || id > PW_MAX_ARMS)
            break;
        *arms |= 1u << id;
        at = end + strspn(end, " ");
        if (*at == '\0')
            return PW_OK;
        if (*at++ != ',')
            break;
    }
    return pw_fail(
        err, PW_EUSER,
        "export figure: arms=%s: allowed are numbers 1..%d separated by commas, as arms=1,3, or all", list,
        PW_MAX_ARMS);
}

static bool takes(const struct pw_figure_page *page, const struct pw_figure_options *o)
{
    return (!o->arms[0] && !o->sessions[0]) ||
           (page->several != NULL && (page->several->sessions || !o->sessions[0]));
}

bool pw_figure_takes(const struct pw_figure_options *o)
{
    bool any = false;

    for (const struct pw_figure_page *p = pw_figure_panes[o->pane - 1]->pages; p->name != NULL; p++)
        if (o->page[0] == '\0' || strcmp(p->name, o->page) == 0)
            any |= takes(p, o);
    return any;
}

/* Fails with a message that names the pages which support the request. */
static enum pw_code refuse(const struct pw_figure *f, const struct pw_figure_page *page, struct pw_err *err)
{
    bool sessions = f->o->sessions[0] != '\0';
    struct pw_str pages = {0};

    for (int i = 0; pw_figure_panes[i] != NULL; i++) {
        int n = 0;
        for (const struct pw_figure_page *p = pw_figure_panes[i]->pages; p->name != NULL; p++)
            if (p->several != NULL && (p->several->sessions || !sessions)) {
                pw_str_add(&pages,
                           n > 0           ? "|%s"
                           : pages.len > 0 ? ", %s"
                                           : "%s",
                           n > 0 ? p->name : pw_figure_panes[i]->name);
                if (n++ == 0)
                    pw_str_add(&pages, " %s", p->name);
            }
    }
    enum pw_code code =
        pw_fail(err, PW_EUSER, "export figure: %s %s takes no %s; those that do: %s",
                pw_figure_names[f->o->pane], page->name, sessions ? "sessions=" : "arms=", pages.s);
    pw_str_fini(&pages);
    return code;
}

/* ---- finding the lines */

struct search {
    struct pw_figure *f;
    const struct pw_figure_several *of;
    unsigned arms; /* bit id; ignored if all is set */
    bool all;
    unsigned known; /* those of `arms` that exist in some source */
    unsigned used;  /* places in use, bit place */
    int n;          /* arms found, including those without a place */
};

static bool wants(const struct search *s, int id)
{
    return s->all || s->arms == 0 || (s->arms >> id & 1) != 0;
}

/* Returns the place after the last used one, or else the first gap. */
static int free_place(const struct search *s)
{
    int place = PW_FIGURE_LINES;

    while (place > 0 && (s->used >> place & 1) == 0)
        place--;
    if (place < PW_FIGURE_LINES)
        return place + 1;
    for (place = 1; (s->used >> place & 1) != 0;)
        place++;
    return place;
}

/* Adds the lines of one source. Returns their number; *first_lacking receives an arm without data. */
static int add_source(struct search *s, const struct pw_snapshot *snap, const char *session,
                      const struct pw_arm_view **first_lacking)
{
    struct pw_figure *f = s->f;
    int found = 0;
    bool first = s->n == 0;

    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        const struct pw_arm_view *arm = pw_find_arm(snap, id);
        if (arm == NULL || !wants(s, id))
            continue;
        struct pw_figure_line l = {.snap = snap, .arm = arm, .session = session};
        s->known |= 1u << id;
        if (!s->of->has(f, &l)) {
            *first_lacking = *first_lacking != NULL ? *first_lacking : arm;
            f->left |= snap == f->given && s->all ? 1u << id : 0;
            continue;
        }
        found++;
        if (s->n++ >= PW_FIGURE_LINES)
            continue;
        l.place = first ? id : free_place(s);
        s->used |= 1u << l.place;
        f->line[f->n_lines++] = l;
    }
    return found;
}

static enum pw_code add_session(struct search *s, const struct pw_figure_session *r, struct pw_err *err)
{
    const struct pw_arm_view *lacking = NULL;

    if (add_source(s, r->snap, r->name, &lacking) > 0)
        return PW_OK;
    return lacking != NULL
               ? pw_fail(err, PW_EUSER, "export figure: session '%s' has %s to draw", r->name, s->of->lacks)
               : pw_fail(err, PW_EUSER, "export figure: session '%s' has no arm of arms=%s", r->name,
                         s->f->o->arms[0] ? s->f->o->arms : "all");
}

/* Returns the name under which the user requested the snapshot's own session; NULL: not requested. */
static const char *own_name(const struct pw_figure_options *o)
{
    for (int i = 0; i < o->n_recorded; i++)
        if (o->recorded[i].snap == NULL)
            return o->recorded[i].name;
    return NULL;
}

/* Checks that every named arm exists and, if no sessions are drawn, that each has data. */
static enum pw_code check_named(struct search *s, const struct pw_arm_view *lacking, struct pw_err *err)
{
    struct pw_figure *f = s->f;

    for (int id = 1; id <= PW_MAX_ARMS; id++)
        if ((s->arms & ~s->known) >> id & 1)
            return pw_fail(err, PW_EUSER, "export figure: arms=%s: there is no arm %d", f->o->arms, id);
    if (lacking != NULL && s->arms != 0 && f->o->n_recorded == 0) {
        struct pw_str what = {0};
        pw_str_add(&what, "arm ");
        pw_figure_arm(f, lacking, &what);
        pw_str_add(&what, " has %s", s->of->lacks);
        enum pw_code code = s->of->make != NULL ? pw_figure_lacks(f, err, what.s, "%s", s->of->make)
                                                : pw_figure_nothing(err, what.s);
        pw_str_fini(&what);
        return code;
    }
    return PW_OK;
}

static enum pw_code find(struct search *s, struct pw_err *err)
{
    struct pw_figure *f = s->f;
    const struct pw_figure_options *o = f->o;
    const struct pw_arm_view *lacking = NULL;
    const char *own = own_name(o);
    enum pw_code code = PW_OK;

    if (add_source(s, f->given, own, &lacking) == 0 && own != NULL)
        code = pw_fail(err, PW_EUSER, "export figure: session '%s' has %s to draw", own, s->of->lacks);
    for (int i = 0; i < o->n_recorded && code == PW_OK; i++)
        if (o->recorded[i].snap != NULL)
            code = add_session(s, &o->recorded[i], err);
    if (code == PW_OK)
        code = check_named(s, lacking, err);
    if (code == PW_OK && s->n == 0 && s->of->if_asked) {
        struct pw_str what = {0};
        pw_str_add(&what, "all arms have %s", s->of->lacks);
        code = pw_figure_nothing(err, what.s);
        pw_str_fini(&what);
    }
    if (code == PW_OK && s->n > PW_FIGURE_LINES)
        code = pw_fail(err, PW_EUSER,
                       "export figure: %d arms in one figure: at most %d are allowed; name fewer sessions, "
                       "or the arms of each, as arms=1,2",
                       s->n, PW_FIGURE_LINES);
    return code;
}

enum pw_code pw_figure_lines_find(struct pw_figure *f, const struct pw_figure_page *page, struct pw_err *err)
{
    struct search s = {.f = f, .of = page->several};

    f->n_lines = 0, f->snap = f->given, f->recorded = false, f->left = 0;
    enum pw_code code = pw_figure_arms(f->o->arms, &s.arms, &s.all, err);
    if (code == PW_OK && !takes(page, f->o))
        code = refuse(f, page, err);
    if (code == PW_OK && s.of != NULL && (f->o->arms[0] || !s.of->if_asked))
        code = find(&s, err);
    if (code != PW_OK)
        return code;
    if (f->n_lines > 0)
        f->snap = f->line[0].snap;
    for (int i = 0; i < f->n_lines; i++)
        f->recorded |= f->line[i].session != NULL;
    if (f->o->task > 1 && f->o->task > f->snap->lab.n_tasks)
        return pw_fail(err, PW_EUSER, "export figure: task=%d: there %s %d", f->o->task,
                       f->snap->lab.n_tasks == 1 ? "is" : "are", f->snap->lab.n_tasks);
    return PW_OK;
}

/* ---- their names */

struct pw_figure_line pw_figure_line_of(const struct pw_figure *f, const struct pw_arm_view *a)
{
    return (struct pw_figure_line){.snap = f->given, .arm = a, .place = a->info.id};
}

/* Returns true if another arm of the session has the same encoding. */
static bool has_twin(const struct pw_figure_line *l)
{
    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        const struct pw_arm_view *a = pw_find_arm(l->snap, id);
        if (a != NULL && a != l->arm && strcmp(a->info.pe, l->arm->info.pe) == 0)
            return true;
    }
    return false;
}

/* Appends the name without the session. */
static void name_encoding(const struct pw_figure_line *l, struct pw_str *out)
{
    if (has_twin(l)) {
        pw_arm_name(l->arm, out);
        return;
    }
    pw_encoding_name(out, l->arm->info.pe);
    if (l->arm->info.swaps > 0)
        pw_str_add(out, " " PW_SWAPPED);
}

void pw_figure_name(const struct pw_figure *f, const struct pw_figure_line *l, struct pw_str *out)
{
    const char *name = f->o->names;

    for (int place = 1; place < l->place && *name != '\0'; place++) {
        name += strcspn(name, ",");
        name += *name == ',';
    }
    if (*name != '\0' && *name != ',') {
        pw_str_put(out, name, strcspn(name, ","));
    } else if (l->session != NULL) {
        pw_str_add(out, "%s: ", l->session);
        name_encoding(l, out);
    } else {
        pw_arm_name(l->arm, out);
    }
}

void pw_figure_arm(const struct pw_figure *f, const struct pw_arm_view *a, struct pw_str *out)
{
    struct pw_figure_line l = pw_figure_line_of(f, a);

    pw_figure_name(f, &l, out);
}

int pw_figure_task_of(const struct pw_figure *f, const struct pw_figure_line *l)
{
    int task = pw_figure_task(f);

    if (l->snap == f->snap)
        return task;
    for (int i = 0; i < l->snap->lab.n_tasks && task < f->snap->lab.n_tasks; i++)
        if (strcmp(l->snap->lab.tasks[i].name, f->snap->lab.tasks[task].name) == 0)
            return i;
    return -1;
}

void pw_figure_caption_sessions(struct pw_figure *f)
{
    const struct pw_snapshot *last = NULL;

    for (int i = 0; i < f->n_lines; i++) {
        const struct pw_figure_line *l = &f->line[i];
        if (l->session == NULL)
            continue;
        pw_str_add(&f->caption,
                   last == NULL      ? " From recorded sessions: %s: "
                   : last == l->snap ? ", "
                                     : "; %s: ",
                   l->session);
        name_encoding(l, &f->caption);
        pw_str_add(&f->caption, " at step %lld", (long long)l->arm->info.step);
        last = l->snap;
    }
    if (last != NULL)
        pw_str_add(&f->caption, ".");
}

void pw_figure_caption_left(struct pw_figure *f)
{
    bool any = false;

    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        if ((f->left >> id & 1) == 0)
            continue;
        pw_str_add(&f->caption, any ? ", " : " Left out, because they lack the data: ");
        pw_figure_arm(f, pw_find_arm(f->given, id), &f->caption);
        any = true;
    }
    if (any)
        pw_str_add(&f->caption, ".");
}

void pw_figure_caption_lines(struct pw_figure *f, const int64_t *step)
{
    bool differ = false;

    for (int i = 1; i < f->n_lines; i++)
        differ |= step[i] != step[0];
    for (int i = 0; i < f->n_lines; i++) {
        pw_str_add(&f->caption, "%s", i > 0 ? ", " : "");
        pw_figure_name(f, &f->line[i], &f->caption);
        if (differ || i + 1 == f->n_lines)
            pw_str_add(&f->caption, " at step %lld", (long long)step[i]);
    }
}

/* ---- their style */

#define SECOND(place) ((place) > PW_MAX_ARMS) /* there are as many colours as arms */

void pw_figure_curve(struct pw_figure *f, const struct pw_axes *a, int place, struct pw_pen pen,
                     const double *x, const float *y, int n)
{
    pen.color = pw_svg_arm(place);
    if (SECOND(place))
        pen.width *= 1.4;
    pw_axes_line(a, &f->svg, pen, x, y, n);
    if (SECOND(place))
        pw_axes_line(a, &f->svg,
                     (struct pw_pen){.color = 0xffffff, .width = pen.width * 0.45, .dash = pen.dash}, x, y,
                     n);
}

static const struct pw_font key_font = {.size = 8, .color = PW_INK};

bool pw_figure_own_batches(const struct pw_figure *f)
{
    bool own = false;

    for (int i = 0; i < f->n_lines; i++)
        own |= f->line[i].arm->info.own_batches;
    return own;
}

double pw_figure_key(struct pw_figure *f, double x, double y, const struct pw_figure_line *l,
                     const char *more)
{
    struct pw_str name = {0};
    double width = SECOND(l->place) ? 1.8 : 1.3;

    pw_figure_name(f, l, &name);
    pw_str_add(&name, "%s", more);
    pw_svg_line(&f->svg, x, y - 2.7, x + 16, y - 2.7,
                (struct pw_pen){.color = pw_svg_arm(l->place), .width = width});
    if (SECOND(l->place))
        pw_svg_line(&f->svg, x, y - 2.7, x + 16, y - 2.7,
                    (struct pw_pen){.color = 0xffffff, .width = width * 0.45});
    pw_svg_mark(&f->svg, l->place, x + 8, y - 2.7, 2.4);
    pw_svg_cut(&f->svg, x + 20, y, &key_font, name.s,
               f->box.x + f->box.w + 8 - x - 20); /* shorter in narrow pictures */
    double w = 20 + pw_svg_width(&key_font, name.s);
    pw_str_fini(&name);
    return w;
}

double pw_figure_keys(struct pw_figure *f, double y, bool drawn,
                      void (*more)(const struct pw_figure *f, const struct pw_figure_line *l, char *dst,
                                   size_t size))
{
    double x = f->box.x + 8, rows = 1;

    for (int i = 0; i < f->n_lines; i++) {
        struct pw_str name = {0};
        char rest[48] = "";
        if (more != NULL)
            more(f, &f->line[i], rest, sizeof rest);
        pw_figure_name(f, &f->line[i], &name);
        pw_str_add(&name, "%s", rest);
        double w = 20 + pw_svg_width(&key_font, name.s) + 14;
        pw_str_fini(&name);
        if (x + w > f->box.x + f->box.w + 14 && x > f->box.x + 8)
            x = f->box.x + 8, y += 12, rows++;
        if (drawn)
            pw_figure_key(f, x, y, &f->line[i], rest);
        x += w;
    }
    return rows * 12;
}
