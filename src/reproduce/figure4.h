/* figure4.h - the study of Figures 4 and E.5 of Kazemnejad et al. 2023. figure4.c has options and script,
 * figure4_run.c the measurements of one run of six models. figure4_judge.c combines several runs into a
 * picture, and figure4_claims.c judges the claims. */
#ifndef PW_FIGURE4_H
#define PW_FIGURE4_H
#include "base/err.h"
#include "base/finding.h"
#include "reproduce/suite.h"
#include "sessions/event.h"
#include "sessions/fold.h"

#define PW_FIGURE4_RUNS 10 /* most runs */

/* Options of the study; figure4.c has their table. */
struct pw_figure4 {
    /* Arguments of `task`, or the name of one of the paper's tasks; folder of weights to load instead of
     * training; folder to write weights into. "": none. */
    char task[256], load[256], save[256];
    int protocol; /* enum pw_protocol */
    int model;    /* preset of the toy protocol: 0 tiny, 1 small, 2 medium */
    int steps;    /* of training; 0: those of the protocol */
    int samples;  /* sequences of each length that are compared */
    int seed;     /* of the first run; a run uses two: its own, and the next one for NoPE* */
    int runs;     /* number of runs of six models */
    int run;      /* >= 1: judge the lab's six models as this run; 0: judge all runs together */
};

/* The models of a run are arms 1 to 6: NoPE, NoPE*, T5, ALiBi, rotary and sinusoidal. Its distances are those
 * of the last five, in this order, from NoPE. Views named "other" give the distances of arms 1 and 3 to 6
 * from NoPE*; there no two models began with the same weights. */
extern const char *const pw_figure4_names[PW_PAPER_PES]; /* "NoPE*", "T5", ... */

/* Distances that a run measures. Each is a finding of the probe, and a plot in the run's finding. */
enum pw_figure4_view {
    PW_FIGURE4_RELEASED, /* formula of the released code, which the figure's numbers use */
    PW_FIGURE4_JSD,      /* Jensen-Shannon divergence, Eq. 2 */
    PW_FIGURE4_RELEASED_OTHER,
    PW_FIGURE4_JSD_OTHER,
    PW_FIGURE4_VIEWS
};

/* Blocks of a run's finding 'figure4 run K': a plot of the mean over layers for each view, then two tables,
 * then a plot per layer by the released formula. The second table has a row per encoding and a column per
 * layer (means over lengths, released formula). */
enum pw_figure4_block { PW_FIGURE4_MEANS = PW_FIGURE4_VIEWS, PW_FIGURE4_LAYERS, PW_FIGURE4_LAYER_PLOTS };

/* Columns of the first table; the first PW_FIGURE4_VIEWS columns are the views. */
enum pw_figure4_column {
    PW_FIGURE4_UNTRAINED = PW_FIGURE4_VIEWS, /* before training */
    PW_FIGURE4_MATCHED,
    PW_FIGURE4_IN_RANGE, /* exact match, per cent */
    PW_FIGURE4_LONGER,
    PW_FIGURE4_NOPE_IN_RANGE, /* of the model that distances are measured from; equal in all rows */
    PW_FIGURE4_NOPE_LONGER,
    PW_FIGURE4_COLUMNS
};

/* The means of the paper's figure over all layers and lengths, in per cent of a nat; entry PW_PAPER_NONE is
 * NoPE*. */
extern const float pw_figure4_paper[PW_PAPER_PES];

#define PW_FIGURE4_LAYERS_MAX 64

/* The measured runs. A distance is NaN unless its model, NoPE and NoPE* all have learned the task. */
struct pw_figure4_runs {
    int n, layers;
    const struct pw_finding *f[PW_FIGURE4_RUNS];
    double distance[PW_FIGURE4_VIEWS][PW_PAPER_PES][PW_FIGURE4_RUNS];
    /* Distance at the longest three lengths divided by that at lengths 8..12; released formula. */
    double growth[PW_PAPER_PES][PW_FIGURE4_RUNS];
    double layer[PW_FIGURE4_LAYERS_MAX][PW_PAPER_PES][PW_FIGURE4_RUNS]; /* released formula */
};

/* Copy the options that determine the measurements of a run: `runs`, `run` and `save` get their defaults. */
void pw_figure4_as_made(const struct pw_figure4 *o, struct pw_figure4 *out);
void pw_figure4_topic(char out[PW_FINDING_TOPIC], int run);
/* Return the mean of a plot's column over the lengths from..to, with equal weights; NaN if there are none. */
double pw_figure4_mean(const struct pw_finding *f, const struct pw_block *plot, int pe, double from,
                       double to);
/* Make the finding of one run from the six arms and the probe's four findings. */
enum pw_code pw_figure4_judge_run(const struct pw_figure4 *o, const struct pw_snapshot *s,
                                  struct pw_finding *f, struct pw_err *err);
/* Add the claims about all runs. */
void pw_figure4_claim(struct pw_finding *f, const struct pw_figure4_runs *r, int protocol);
/* The study's `judge`: judges one run, or all measured runs. */
enum pw_code pw_figure4_judge(const void *opts, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err);

#endif
