/* lengths_tests.c - paired tests of arms on the same samples: a row with a verdict for each pair of arms.
 *
 * Two overlapping intervals can hide a difference that a paired test finds. The unit is the training run: one
 * trained model per encoding says nothing about the encodings (sessions/paired.h). */
#include <limits.h>
#include <stdio.h>

#include "sessions/paired.h"
#include "ui/panes/lengths.h"

enum { NAMES = 27, COLUMN = 10 };

/* The columns after the names, by importance; as many as there is room for are shown. */
static const struct {
    const char *name;
    int rank; /* order in the row among the shown columns */
} columns[] = {{"p", 4}, {"seeds", 3}, {"corrected", 5}, {"only 1st", 1}, {"only 2nd", 2}, {"samples", 0}};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static void cell_text(char *dst, size_t size, const struct pw_pair_test *t, int column)
{
    char p[16];

    switch (column) {
    case 0:
        pw_p_text(p, t->p);
        snprintf(dst, size, "%s%s", p, t->p < PW_SIGNIFICANCE ? " *" : "  ");
        break;
    case 1: snprintf(dst, size, "%d:%d", t->ahead_a, t->ahead_b); break;
    case 2:
        pw_p_text(p, t->corrected);
        snprintf(dst, size, "%s%s", p, t->corrected < PW_SIGNIFICANCE ? " *" : "  ");
        break;
    case 3: snprintf(dst, size, "%lld", (long long)t->only_a); break;
    case 4: snprintf(dst, size, "%lld", (long long)t->only_b); break;
    default: snprintf(dst, size, "%lld", (long long)t->samples); break;
    }
}

/* Draws the `shown` most important columns, in the order of the row. */
static void draw_columns(struct pw_canvas *c, struct pw_rect r, int y, int x, int shown,
                         const struct pw_pair_test *t)
{
    for (int rank = 0; rank < N_COLUMNS; rank++)
        for (int i = 0; i < shown; i++) {
            char text[32];
            if (columns[i].rank != rank)
                continue;
            if (t != NULL)
                cell_text(text, sizeof text, t, i);
            struct pw_style s = t == NULL                        ? pw_style_dim()
                                : t->corrected < PW_SIGNIFICANCE ? pw_style_bold()
                                                                 : pw_style_plain();
            pw_draw_fmt(c, r, y, x, s, "%*s", COLUMN - 1, t != NULL ? text : columns[i].name);
            x += COLUMN;
        }
}

static void draw_names(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                       const struct pw_pair_test *t, int width)
{
    int x = r.x;

    for (int k = 0; k < 2; k++) {
        const struct pw_arm_view *a = pw_find_arm(ui->snap, k == 0 ? t->a : t->b);
        struct pw_style s = pw_style_arm(ui, a->info.id);
        struct pw_str name = {0};
        s.attr |= (k == 0 ? t->ahead_a > t->ahead_b : t->ahead_b > t->ahead_a) ? PW_BOLD : 0;
        pw_arm_short(ui, a, &name);
        x = pw_draw_cut(c, r, y, x, s, name.s, (width - 2) / 2);
        pw_str_fini(&name);
        if (k == 0)
            x = pw_draw_text(c, r, y, x, pw_style_dim(),
                             t->ahead_a > t->ahead_b   ? " > "
                             : t->ahead_a < t->ahead_b ? " < "
                                                       : " ~ ");
    }
}

/* Appends warnings: arms that are missing, and arms that did not learn their trained lengths. */
static void add_cautions(const struct pw_ui *ui, const struct pw_paired *x, const struct pw_lengths *v,
                         struct pw_str *out)
{
    int n = 0;

    for (int i = 0; i < x->n_arms && !x->losses; i++) {
        const struct pw_arm_view *a = &ui->snap->arms[x->arms[i] - 1];
        if (pw_lengths_learned(&ui->snap->lab, a, v->task))
            continue;
        pw_str_add(out, n++ == 0 ? " Below 99%% on trained lengths: " : ", ");
        pw_arm_short(ui, a, out);
    }
    if (n > 0)
        pw_str_add(out, ".");
    if (x->left_out > 0)
        pw_str_add(out, " %d more not evaluated on these samples.", x->left_out);
}

/* Computes the tests at the cursor's length, or over all lengths beyond training. */
static void find(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_paired *x, int *lo, int *hi)
{
    bool alone = ui->lengths.alone || v->range == NULL;

    *lo = !alone ? v->range->train_hi + 1 : v->n > 0 ? v->lengths[pw_lengths_cursor(ui, v)] : 0;
    *hi = !alone ? INT_MAX : *lo;
    pw_paired_find(x, ui->snap, ~0u, v->task, *lo, *hi);
}

void pw_lengths_copy_tests(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out)
{
    struct pw_paired x;
    int lo, hi;

    find(ui, v, &x, &lo, &hi);
    pw_str_add(out,
               "first\tsecond\tsamples\tonly_first\tonly_second\tseeds_first\tseeds_second\tp\tcorrected\t"
               "networks\n");
    for (int i = 0; i < x.n; i++) {
        const struct pw_pair_test *t = &x.tests[i];
        pw_str_add(out, "%s\t%s\t%lld\t%lld\t%lld\t%d\t%d\t%.9g\t%.9g\t%d\n",
                   ui->snap->arms[t->a - 1].info.pe, ui->snap->arms[t->b - 1].info.pe, (long long)t->samples,
                   (long long)t->only_a, (long long)t->only_b, t->ahead_a, t->ahead_b, t->p, t->corrected,
                   t->networks);
    }
}

/* Draws the verdict with its cautions. Returns the rest of r, for the table. */
static struct pw_rect draw_verdict(const struct pw_ui *ui, const struct pw_paired *x,
                                   const struct pw_lengths *v, struct pw_canvas *c, struct pw_rect r)
{
    struct pw_rect foot = {r.y, r.x, r.h > 6 ? 3 : r.h > 3 ? 1 : 0, r.w};
    struct pw_str text = {0};

    pw_paired_verdict(x, ui->snap, &text);
    pw_str_add(&text, ".");
    add_cautions(ui, x, v, &text);
    int used =
        pw_draw_wrapped(c, foot, foot.y, x->best > 0 ? pw_style_ok() : pw_style_warn(), text.s, foot.h);
    pw_str_fini(&text);
    r.y += used, r.h -= used;
    return r;
}

/* Returns the rows of the note below a table in r. */
static int note_rows(struct pw_rect r)
{
    return r.w < 40 ? 0 : r.h >= 9 ? 2 : r.h >= 6;
}

void pw_lengths_tests_settle(struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v)
{
    struct pw_canvas nowhere = {0}; /* nothing is drawn: only the rows are counted */
    struct pw_paired x;
    int lo, hi;

    find(ui, v, &x, &lo, &hi);
    r = draw_verdict(ui, &x, v, &nowhere, r);
    int rows = r.h - 1 - note_rows(r);
    if (ui->lengths.top > x.n - rows)
        ui->lengths.top = x.n > rows && rows > 0 ? x.n - rows : 0;
}

void pw_lengths_tests(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                      const struct pw_lengths *v)
{
    struct pw_paired x;
    int lo, hi;

    find(ui, v, &x, &lo, &hi);
    r = draw_verdict(ui, &x, v, c, r);
    int names = r.w < NAMES + COLUMN ? r.w - COLUMN : NAMES;
    int shown = names > 8 ? (r.w - names) / COLUMN : 0;
    shown = shown > N_COLUMNS ? N_COLUMNS : shown;
    if (r.h > 0) {
        char what[64];
        if (hi == INT_MAX)
            snprintf(what, sizeof what, "all lengths from %d", lo);
        else
            snprintf(what, sizeof what, "length %d", lo);
        pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), what, names);
        draw_columns(c, r, r.y, r.x + names, shown, NULL);
    }
    int note = note_rows(r), rows = r.h - 1 - note;
    for (int i = 0; i < rows && ui->lengths.top + i < x.n; i++) {
        const struct pw_pair_test *t = &x.tests[ui->lengths.top + i];
        draw_names(ui, c, r, r.y + 1 + i, t, names);
        draw_columns(c, r, r.y + 1 + i, r.x + names, shown, t);
    }
    if (note) {
        struct pw_str about = {0};
        pw_str_add(&about, "p: exact, over training runs  corrected for all pairs (Holm)  * below 0.05  "
                           "b this length alone");
        pw_draw_parts(c, r, note, pw_style_dim(), &about);
        pw_str_fini(&about);
    }
}
