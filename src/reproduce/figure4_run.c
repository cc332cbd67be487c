/* figure4_run.c - the finding of one run of six models. It turns the probe's four findings of attention
 * distances into plots by length and tables of means, and adds each model's accuracy.
 *
 * It makes no claims, because one run says little about two encodings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/figure4.h"
#include "reproduce/repro.h"

const char *const pw_figure4_names[PW_PAPER_PES] = {"NoPE*", "T5", "ALiBi", "rotary", "APE"};

/* Topics of the probe's findings. */
static const char *const topics[PW_FIGURE4_VIEWS] = {"1 2 3 4 5 6 released", "1 2 3 4 5 6",
                                                     "2 1 3 4 5 6 released", "2 1 3 4 5 6"};
static const char *const view_names[PW_FIGURE4_VIEWS] = {"released", "JSD", "released, other init",
                                                         "JSD, other init"};

void pw_figure4_topic(char out[PW_FINDING_TOPIC], int run)
{
    snprintf(out, PW_FINDING_TOPIC, "run %d", run);
}

void pw_figure4_as_made(const struct pw_figure4 *o, struct pw_figure4 *out)
{
    pw_opt_defaults(pw_repro_opts("figure4"), out);
    int runs = out->runs;
    *out = *o;
    out->runs = runs;
    out->run = 0;
    out->save[0] = '\0';
}

struct view {
    const struct pw_finding *f;
    const struct pw_block *mean; /* mean over layers */
};

/* Was the finding measured on the present models, with `samples` sequences? */
static enum pw_code check_found(const struct pw_snapshot *s, const struct pw_finding_view *found, int samples,
                                struct pw_err *err)
{
    char part[64];
    snprintf(part, sizeof part, "; %d sequences a length", samples);
    if (found->f_seq < s->arms[0].rep[0].eval_seq)
        return pw_fail(err, PW_EUSER,
                       "judge figure4: the finding about '%s' is older than the evaluation of the models: "
                       "run 'reproduce figure4', which measures it again",
                       found->f.topic);
    if (strstr(found->f.title, part) == NULL)
        return pw_fail(
            err, PW_EUSER,
            "judge figure4: the finding about '%s' doesn't have %d sequences a length, which the study needs",
            found->f.topic, samples);
    return PW_OK;
}

static enum pw_code find(const struct pw_snapshot *s, const char *topic, int samples, struct view *v,
                         struct pw_err *err)
{
    const struct pw_finding_view *found = pw_finding_of(s, "distance", topic);
    if (found == NULL)
        return pw_fail(
            err, PW_EUSER,
            "judge figure4: no finding 'distance' about '%s': run 'reproduce figure4', which measures it",
            topic);
    *v = (struct view){&found->f, &found->f.blocks[0]};
    if (v->mean->kind != PW_BLOCK_PLOT || v->mean->cols != PW_PAPER_PES)
        return pw_fail(err, PW_EUSER,
                       "judge figure4: the finding about '%s' is about other arms: run 'reproduce figure4', "
                       "which creates the right ones",
                       topic);
    return check_found(s, found, samples, err);
}

double pw_figure4_mean(const struct pw_finding *f, const struct pw_block *plot, int pe, double from,
                       double to)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < plot->rows; i++) {
        double x = pw_finding_x_at(f, plot, i), y = pw_finding_y_at(f, plot, i, pe, 0);
        if (x < from || x > to || isnan(y))
            continue;
        sum += y;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

static double over_lengths(const struct pw_finding *f, const struct pw_block *plot, int pe)
{
    return pw_figure4_mean(f, plot, pe, -INFINITY, INFINITY);
}

/* Return the mean exact match at trained lengths, or beyond them, in per cent; NaN if not evaluated. */
static double exact(const struct pw_snapshot *s, int arm, bool beyond)
{
    struct pw_spread x = pw_spread_mean(&s->lab, &s->arms[arm - 1], beyond);
    return x.n > 0 ? 100 * (double)x.median : NAN;
}

/* Return a cell of the probe's table of means: row pe, column `head`. */
static double column(const struct view *v, int pe, const char *head)
{
    for (int i = 0; i < v->f->n_blocks; i++) {
        const struct pw_block *b = &v->f->blocks[i];
        for (int k = 0; b->kind == PW_BLOCK_TABLE && k < b->cols; k++)
            if (strcmp(pw_finding_col_name(v->f, b, k), head) == 0)
                return pw_finding_cell(v->f, b, pe, k);
    }
    return NAN;
}

static void copy_plot(struct pw_finding *f, const struct pw_finding *from, const struct pw_block *b,
                      const char *title)
{
    int plot = pw_finding_plot(f, title, "output length", "D(NoPE, model)", b->rows, b->cols, true);
    for (int k = 0; k < b->cols; k++)
        pw_finding_name(f, plot, k, "%s", pw_figure4_names[k]);
    for (int i = 0; i < b->rows; i++) {
        pw_finding_x(f, plot, i, pw_finding_x_at(from, b, i));
        for (int k = 0; k < b->cols; k++)
            pw_finding_band(f, plot, i, k, pw_finding_y_at(from, b, i, k, 0),
                            pw_finding_y_at(from, b, i, k, 1), pw_finding_y_at(from, b, i, k, 2));
    }
}

static void tabulate_means(struct pw_finding *f, const struct pw_snapshot *s,
                           const struct view v[PW_FIGURE4_VIEWS])
{
    static const char *const heads[] = {"untrained", "JSD, matched",  "in range, %",
                                        "longer, %", "NoPE in range", "NoPE longer"};
    int table = pw_finding_table(f, "mean over layers and lengths; untrained: JSD before training",
                                 PW_PAPER_PES, PW_FIGURE4_COLUMNS);
    f->blocks[table].decimals = 3;
    for (int k = 0; k < PW_FIGURE4_COLUMNS; k++)
        pw_finding_col(f, table, k, "%s", k < PW_FIGURE4_VIEWS ? view_names[k] : heads[k - PW_FIGURE4_VIEWS]);
    for (int pe = 0; pe < PW_PAPER_PES; pe++) {
        pw_finding_row(f, table, pe, "%s", pw_figure4_names[pe]);
        for (int k = 0; k < PW_FIGURE4_VIEWS; k++)
            pw_finding_put(f, table, pe, k, over_lengths(v[k].f, v[k].mean, pe));
        pw_finding_put(f, table, pe, PW_FIGURE4_UNTRAINED, column(&v[PW_FIGURE4_JSD], pe, "untrained"));
        pw_finding_put(f, table, pe, PW_FIGURE4_MATCHED, column(&v[PW_FIGURE4_JSD], pe, "matched"));
        pw_finding_put(f, table, pe, PW_FIGURE4_IN_RANGE, exact(s, 2 + pe, false));
        pw_finding_put(f, table, pe, PW_FIGURE4_LONGER, exact(s, 2 + pe, true));
        pw_finding_put(f, table, pe, PW_FIGURE4_NOPE_IN_RANGE, exact(s, 1, false));
        pw_finding_put(f, table, pe, PW_FIGURE4_NOPE_LONGER, exact(s, 1, true));
    }
}

/* Find the probe's plots of single layers. Returns their number. */
static int find_layers(const struct pw_finding *f, const struct pw_block *layers[PW_FIGURE4_LAYERS_MAX])
{
    int n = 0;
    for (int i = 1; i < f->n_blocks && n < PW_FIGURE4_LAYERS_MAX; i++)
        if (strncmp(f->blocks[i].title, "layer ", 6) == 0 && f->blocks[i].kind == PW_BLOCK_PLOT)
            layers[n++] = &f->blocks[i];
    return n;
}

static void add_layers(struct pw_finding *f, const struct view *v)
{
    const struct pw_block *layers[PW_FIGURE4_LAYERS_MAX];
    int n = find_layers(v->f, layers);
    int table = pw_finding_table(f, "layer by layer, mean over lengths, released formula", PW_PAPER_PES, n);
    f->blocks[table].decimals = 3;
    for (int l = 0; l < n; l++)
        pw_finding_col(f, table, l, "layer %d", l);
    for (int pe = 0; pe < PW_PAPER_PES; pe++) {
        pw_finding_row(f, table, pe, "%s", pw_figure4_names[pe]);
        for (int l = 0; l < n; l++)
            pw_finding_put(f, table, pe, l, over_lengths(v->f, layers[l], pe));
    }
    for (int l = 0; l < n; l++) {
        char title[PW_FINDING_TEXT];
        snprintf(title, sizeof title, "released formula, layer %d", l);
        copy_plot(f, v->f, layers[l], title);
    }
}

enum pw_code pw_figure4_judge_run(const struct pw_figure4 *o, const struct pw_snapshot *s,
                                  struct pw_finding *f, struct pw_err *err)
{
    static const char *const titles[PW_FIGURE4_VIEWS] = {
        "released formula, mean over layers", "Jensen-Shannon, mean over layers (at most 0.693)",
        "released formula, only models with other seeds", "Jensen-Shannon, only models with other seeds"};
    struct view v[PW_FIGURE4_VIEWS];
    struct pw_figure4 made;
    char topic[PW_FINDING_TOPIC];
    for (int i = 0; i < PW_FIGURE4_VIEWS; i++) {
        enum pw_code code = find(s, topics[i], o->samples, &v[i], err);
        if (code != PW_OK)
            return code;
    }
    pw_figure4_topic(topic, o->run);
    pw_finding_init(
        f, "figure4", topic,
        "run %d, seed %llu: attention distance from NoPE on %.80s: %s, %d steps, %d sequences a length",
        o->run, (unsigned long long)s->arms[0].info.seed, o->task, s->arms[0].info.model,
        (int)s->arms[0].info.step, o->samples);
    for (int i = 0; i < PW_FIGURE4_VIEWS; i++)
        copy_plot(f, v[i].f, v[i].mean, titles[i]);
    tabulate_means(f, s, v);
    add_layers(f, &v[PW_FIGURE4_RELEASED]);
    pw_figure4_as_made(o, &made);
    pw_finding_made(f, "figure4", &made);
    return PW_OK;
}
