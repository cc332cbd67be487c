/* lengths_tests.c - tables: paired tests of arms on the same samples, and failing examples. */
#include "figure/panes/lengths.h"
#include "figure/sheet.h"
#include "sessions/paired.h"
#include <limits.h>
#include <stdio.h>

/* ---- tests */

static void find(const struct pw_figure *f, struct pw_lengths *v, struct pw_paired *x)
{
    pw_lengths_of(v, f->snap, pw_figure_task(f));
    unsigned arms = 0;

    for (int i = 0; i < f->n_lines; i++)
        arms |= 1u << (f->line[i].arm->info.id - 1);
    pw_paired_find(x, f->snap, arms, v->task, v->range != NULL ? v->range->train_hi + 1 : 0, INT_MAX);
}

struct tests {
    const struct pw_snapshot *s;
    struct pw_paired x;
};

static const struct pw_sheet_column test_columns[] = {
    {"first", 0, false},       {"second", 0, false}, {"samples", 46, true}, {"only first", 50, true},
    {"only second", 56, true}, {"seeds", 34, true},  {"p", 34, true},       {"corrected p", 54, true},
};

static void test_cell(const void *arg, int row, int column, char *dst, size_t size, struct pw_font *font)
{
    const struct tests *k = arg;
    const struct pw_pair_test *t = &k->x.tests[row];
    struct pw_str name = {0};
    char p[16];

    if (t->corrected < PW_SIGNIFICANCE)
        font->bold =
            column == 7 || (column == 0 ? t->ahead_a > t->ahead_b : column == 1 && t->ahead_b > t->ahead_a);
    switch (column) {
    case 0:
    case 1: pw_arm_name(&k->s->arms[(column == 0 ? t->a : t->b) - 1], &name); break;
    case 2: pw_str_add(&name, "%lld", (long long)t->samples); break;
    case 3: pw_str_add(&name, "%lld", (long long)t->only_a); break;
    case 4: pw_str_add(&name, "%lld", (long long)t->only_b); break;
    case 5: pw_str_add(&name, "%d:%d", t->ahead_a, t->ahead_b); break;
    case 6:
        pw_p_text(p, t->p);
        pw_str_add(&name, "%s", p);
        break;
    default:
        pw_p_text(p, t->corrected);
        pw_str_add(&name, "%s%s", p, t->corrected < PW_SIGNIFICANCE ? " *" : "");
    }
    pw_text_copy(dst, size, name.s);
    pw_str_fini(&name);
}

static struct pw_sheet test_sheet(const struct tests *k)
{
    return (struct pw_sheet){.columns = test_columns,
                             .n_columns = sizeof test_columns / sizeof *test_columns,
                             .n_rows = k->x.n,
                             .cell = test_cell,
                             .arg = k};
}

static bool has_two_arms(const struct pw_snapshot *s)
{
    int n = 0;

    for (int i = 0; i < PW_MAX_ARMS; i++)
        n += s->arms[i].used;
    return n > 1;
}

enum pw_code pw_figure_tests_prepare(struct pw_figure *f, struct pw_err *err)
{
    struct pw_lengths v;
    struct tests k = {.s = f->snap};

    find(f, &v, &k.x);
    if (k.x.n == 0) {
        const char *what = "fewer than two arms were evaluated on the same samples; run 'race', then 'eval'";
        return v.n == 0 && has_two_arms(f->snap) ? pw_figure_lacks(f, err, what, "eval")
                                                 : pw_figure_nothing(err, what);
    }
    pw_str_add(&f->title, "Arms compared on the same samples beyond training");
    pw_figure_caption_task(f, &v);
    pw_str_add(&f->caption,
               " p: %s, corrected for %d comparisons (Holm). Seeds: the number in which the first is "
               "ahead, and the second. * p < %g. Verdict: ",
               pw_paired_test_name(&k.x), k.x.n, PW_SIGNIFICANCE);
    pw_paired_verdict(&k.x, f->snap, &f->caption);
    pw_str_add(&f->caption, ".");
    struct pw_sheet t = test_sheet(&k);
    f->box.h = pw_sheet_height(&t);
    f->least = f->box.h, f->narrowest = 360;
    return PW_OK;
}

void pw_figure_tests_draw(struct pw_figure *f)
{
    struct pw_lengths v;
    struct tests k = {.s = f->snap};

    find(f, &v, &k.x);
    struct pw_sheet t = test_sheet(&k);
    pw_sheet_draw(&t, &f->svg, f->box);
}

/* ---- examples */

enum { EXAMPLES = 12 };

static const struct pw_sheet_column failing_columns[] = {{"prompt", 0, false},
                                                         {"right", 0, false},
                                                         {"model", 0, false},
                                                         {"first error", 58, false},
                                                         {"at", 18, true}};

static void failing_cell(const void *arg, int row, int column, char *dst, size_t size, struct pw_font *font)
{
    const struct pw_failing *x = &((const struct pw_ev_failing *)arg)->list[row];
    const char *text[] = {x->prompt, x->right, x->model,
                          x->place < 0 ? "right by now" : pw_error_name(x->kind)};

    font->mono = column < 3;
    font->size = column < 3 ? 7 : 8;
    if (column < 4)
        pw_text_copy(dst, size, text[column]);
    else if (x->place >= 0)
        snprintf(dst, size, "%d", x->place + 1);
}

static struct pw_sheet failing_sheet(const struct pw_ev_failing *e)
{
    return (struct pw_sheet){.columns = failing_columns,
                             .n_columns = sizeof failing_columns / sizeof *failing_columns,
                             .n_rows = e->n < EXAMPLES ? e->n : EXAMPLES,
                             .cell = failing_cell,
                             .arg = e};
}

enum pw_code pw_figure_failing_prepare(struct pw_figure *f, struct pw_err *err)
{
    const struct pw_ev_failing *e = &f->snap->failing;
    const struct pw_arm_view *arm = pw_find_arm(f->snap, f->snap->failing_arm);

    if (e->n == 0 || arm == NULL) {
        const char *what = "no list of failing examples; run 'eval', then 'failing'";
        return f->arm != NULL ? pw_figure_lacks(f, err, what, "%sfailing arm=%d",
                                                f->arm->rep[0].eval.n == 0 ? "eval; " : "", f->arm->info.id)
                              : pw_figure_nothing(err, what);
    }
    struct pw_sheet t = failing_sheet(e);
    pw_str_add(&f->title, "Examples that fail at length %d: ", e->length);
    pw_figure_arm(f, arm, &f->title);
    pw_replica_text(arm, f->snap->failing_replica, &f->title);
    pw_str_add(&f->caption,
               "The first %d of %d wrong answers to %d samples, as the weights of step %lld give them, up "
               "to the first wrong token; 'at' counts the answer's tokens from 1.",
               t.n_rows, e->failed, e->samples, (long long)f->snap->failing_step);
    f->box.h = f->least = pw_sheet_height(&t), f->narrowest = 260;
    return PW_OK;
}

void pw_figure_failing_draw(struct pw_figure *f)
{
    struct pw_sheet t = failing_sheet(&f->snap->failing);

    pw_sheet_draw(&t, &f->svg, f->box);
}
