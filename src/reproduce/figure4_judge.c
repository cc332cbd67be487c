/* figure4_judge.c - the verdict on several runs of six models: their distances compared with the paper's
 * figures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "reproduce/figure4.h"
#include "reproduce/repro.h"

enum { PES = PW_PAPER_PES, RUNS = PW_FIGURE4_RUNS, LAYERS = PW_FIGURE4_LAYERS_MAX };

/* ---- collecting */

static double growth_of(const struct pw_finding *f, int pe)
{
    const struct pw_block *plot = &f->blocks[PW_FIGURE4_RELEASED];
    double from = plot->rows > 2 ? pw_finding_x_at(f, plot, plot->rows - 3) : INFINITY;
    return pw_figure4_mean(f, plot, pe, from, INFINITY) / pw_figure4_mean(f, plot, pe, 8, 12);
}

static bool learned(const struct pw_finding *f, int pe)
{
    const struct pw_block *b = &f->blocks[PW_FIGURE4_MEANS];
    double least = 100 * PW_ORDER_IN_RANGE;
    return pw_finding_cell(f, b, pe, PW_FIGURE4_IN_RANGE) >= least &&
           pw_finding_cell(f, b, PW_PAPER_NONE, PW_FIGURE4_IN_RANGE) >= least &&
           pw_finding_cell(f, b, pe, PW_FIGURE4_NOPE_IN_RANGE) >= least;
}

static void add_run(struct pw_figure4_runs *r, const struct pw_finding *f)
{
    const struct pw_block *means = &f->blocks[PW_FIGURE4_MEANS], *layers = &f->blocks[PW_FIGURE4_LAYERS];
    int n = layers->cols < LAYERS ? layers->cols : LAYERS, k = r->n++;
    r->f[k] = f;
    r->layers = k == 0 || n < r->layers ? n : r->layers;
    for (int pe = 0; pe < PES; pe++) {
        bool ok = learned(f, pe);
        for (int i = 0; i < PW_FIGURE4_VIEWS; i++)
            r->distance[i][pe][k] = ok ? pw_finding_cell(f, means, pe, i) : NAN;
        r->growth[pe][k] = ok ? growth_of(f, pe) : NAN;
        for (int l = 0; l < n; l++)
            r->layer[l][pe][k] = ok ? pw_finding_cell(f, layers, pe, l) : NAN;
    }
}

/* ---- the picture */

/* Plot block b of all runs: the mean over runs with their lowest and highest value. A single run is plotted
 * with its own band. */
static void add_plot(struct pw_finding *f, const struct pw_figure4_runs *r, int b)
{
    const struct pw_finding *first = r->f[0];
    const struct pw_block *shape = &first->blocks[b];
    int plot = pw_finding_plot(f, shape->title, shape->x, shape->y, shape->rows, shape->cols, true);
    for (int pe = 0; pe < shape->cols; pe++)
        pw_finding_name(f, plot, pe, "%s", pw_figure4_names[pe]);
    for (int i = 0; i < shape->rows; i++) {
        pw_finding_x(f, plot, i, pw_finding_x_at(first, shape, i));
        for (int pe = 0; pe < shape->cols; pe++) {
            double y[RUNS], low = INFINITY, high = -INFINITY;
            for (int k = 0; k < r->n; k++) {
                const struct pw_block *of = &r->f[k]->blocks[b];
                y[k] = i < of->rows ? pw_finding_y_at(r->f[k], of, i, pe, 0) : NAN;
                low = fmin(low, r->n == 1 ? pw_finding_y_at(first, of, i, pe, 1) : y[k]);
                high = fmax(high, r->n == 1 ? pw_finding_y_at(first, of, i, pe, 2) : y[k]);
            }
            pw_finding_band(f, plot, i, pe, pw_mean_interval(y, r->n).mean, low, high);
        }
    }
}

/* Cell (pe, col) of table b: the mean over runs. */
static double mean_cell(const struct pw_figure4_runs *r, int b, int pe, int col)
{
    double x[RUNS];
    for (int k = 0; k < r->n; k++)
        x[k] = pw_finding_cell(r->f[k], &r->f[k]->blocks[b], pe, col);
    return pw_mean_interval(x, r->n).mean;
}

static void tabulate(struct pw_finding *f, const struct pw_figure4_runs *r)
{
    static const struct {
        const char *head;
        int column; /* of the run's table; < 0: computed here */
    } columns[] = {{"released", PW_FIGURE4_RELEASED},
                   {"from", -1},
                   {"to", -2},
                   {"paper", -3},
                   {"JSD", PW_FIGURE4_JSD},
                   {"released, other init", PW_FIGURE4_RELEASED_OTHER},
                   {"JSD, other init", PW_FIGURE4_JSD_OTHER},
                   {"untrained", PW_FIGURE4_UNTRAINED},
                   {"in range, %", PW_FIGURE4_IN_RANGE},
                   {"longer, %", PW_FIGURE4_LONGER},
                   {"JSD, matched", PW_FIGURE4_MATCHED}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    int table = pw_finding_table(f,
                                 "mean over layers, lengths and runs, with the 95 % interval over runs; "
                                 "untrained: JSD before training",
                                 PES, COLUMNS);
    f->blocks[table].decimals = 3;
    for (int i = 0; i < COLUMNS; i++)
        pw_finding_col(f, table, i, "%s", columns[i].head);
    for (int pe = 0; pe < PES; pe++) {
        double released[RUNS];
        for (int k = 0; k < r->n; k++)
            released[k] =
                pw_finding_cell(r->f[k], &r->f[k]->blocks[PW_FIGURE4_MEANS], pe, PW_FIGURE4_RELEASED);
        struct pw_interval x = pw_mean_interval(released, r->n);
        pw_finding_row(f, table, pe, "%s", pw_figure4_names[pe]);
        for (int i = 0; i < COLUMNS; i++)
            pw_finding_put(f, table, pe, i,
                           columns[i].column >= 0    ? mean_cell(r, PW_FIGURE4_MEANS, pe, columns[i].column)
                           : columns[i].column == -1 ? x.lo
                           : columns[i].column == -2 ? x.hi
                                                     : (double)pw_figure4_paper[pe] / 100);
    }
}

static void tabulate_layers(struct pw_finding *f, const struct pw_figure4_runs *r)
{
    int table =
        pw_finding_table(f, "layer by layer, mean over lengths and runs, released formula", PES, r->layers);
    f->blocks[table].decimals = 3;
    for (int l = 0; l < r->layers; l++)
        pw_finding_col(f, table, l, "layer %d", l);
    for (int pe = 0; pe < PES; pe++) {
        pw_finding_row(f, table, pe, "%s", pw_figure4_names[pe]);
        for (int l = 0; l < r->layers; l++)
            pw_finding_put(f, table, pe, l, mean_cell(r, PW_FIGURE4_LAYERS, pe, l));
    }
}

static void add_remarks(struct pw_finding *f, const struct pw_figure4_runs *r)
{
    pw_finding_remark(f,
                      "NoPE: exact match %.1f %% in range, %.1f %% beyond; a model with less than %.0f %% in "
                      "range is left out",
                      mean_cell(r, PW_FIGURE4_MEANS, 0, PW_FIGURE4_NOPE_IN_RANGE),
                      mean_cell(r, PW_FIGURE4_MEANS, 0, PW_FIGURE4_NOPE_LONGER), 100 * PW_ORDER_IN_RANGE);
    pw_finding_remark(f, "the paper trains three seeds of each encoding, and two NoPE*; here each run has "
                         "its own data and weights");
    pw_finding_remark(
        f, "attention is measured after the last step; the paper uses the checkpoint that is best in range");
    pw_finding_remark(f, "the axis of the figure reaches 1.5 because its code computes [KL(m||p) + KL(m||q)] "
                         "/ 2 over head pairs a < b; a Jensen-Shannon divergence is at most 0.693");
    pw_finding_remark(f, "T5, ALiBi, rotary and APE started from the same weights as NoPE, unlike NoPE*, and "
                         "may be nearer for that reason alone; 'other init' measures from NoPE*, which "
                         "shares its initial weights with no model");
    pw_finding_remark(f, "the released rule a < b never compares heads with the same number, which started "
                         "equal, so it hides much of this effect; Jensen-Shannon over all pairs shows it");
}

static enum pw_code judge_all(const struct pw_figure4 *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    struct pw_figure4_runs r = {.n = 0};
    struct pw_figure4 made;
    enum pw_code code;
    pw_figure4_as_made(o, &made);
    for (int run = 1; run <= o->runs; run++) {
        char topic[PW_FINDING_TOPIC];
        pw_figure4_topic(topic, run);
        const struct pw_finding_view *v = pw_finding_of(s, "figure4", topic);
        if (v != NULL && (code = pw_finding_made_so(&v->f, "figure4", &made, err)) != PW_OK)
            return code;
        if (v != NULL)
            add_run(&r, &v->f);
    }
    if (r.n == 0)
        return pw_fail(err, PW_EUSER, "judge figure4: no run has been measured: run 'reproduce figure4'");
    pw_finding_init(f, "figure4", "", "attention distance from NoPE on %.80s: %d run%s of six models",
                    o->task, r.n, r.n == 1 ? "" : "s");
    add_plot(f, &r, PW_FIGURE4_RELEASED);
    for (int l = 0; l < r.layers; l++)
        add_plot(f, &r, PW_FIGURE4_LAYER_PLOTS + l);
    for (int view = PW_FIGURE4_JSD; view < PW_FIGURE4_VIEWS; view++)
        add_plot(f, &r, view);
    tabulate_layers(f, &r);
    tabulate(f, &r);
    /* Imported models may be of any size, and the figure is about SCAN. */
    bool papers = o->load[0] == '\0' && strcmp(o->task, "scan") == 0;
    pw_figure4_claim(f, &r, papers ? pw_protocol_size(o->protocol, o->steps) : PW_PROTOCOL_TOY);
    add_remarks(f, &r);
    return PW_OK;
}

enum pw_code pw_figure4_judge(const void *opts, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_figure4 *o = opts;
    return o->run > 0 ? pw_figure4_judge_run(o, s, f, err) : judge_all(o, s, f, err);
}
