/* figure4.h - the study of Figures 4 and E.5: what is trained (figure4.c), what one run of six models
 * measured (figure4_run.c), and what several runs say together: the picture (figure4_judge.c) and the claims
 * (figure4_claims.c). */
#ifndef PW_FIGURE4_H
#define PW_FIGURE4_H
#include "base/err.h"
#include "base/finding.h"
#include "reproduce/suite.h"
#include "sessions/event.h"
#include "sessions/fold.h"

#define PW_FIGURE4_RUNS 10 /* at most */

struct pw_figure4 {
    char task[256], load[256], save[256];
    int protocol, model, steps, samples, seed, runs;
    int run; /* >= 1: judge the six models that are there, as this run; 0: all runs together */
};

/* A run's models are arms 1 to 6: NoPE, NoPE*, T5, ALiBi, rotary and sinusoidal. Its distances are those of
 * the last five, in this order, from NoPE; "other init": of arms 1 and 3 to 6 from NoPE*, so that no two
 * began with the same weights. */
extern const char *const pw_figure4_names[PW_PAPER_PES]; /* "NoPE*", "T5", ... */

/* The distances that a run measures, each a finding of the probe and a plot of the run's finding. */
enum pw_figure4_view {
    PW_FIGURE4_RELEASED, /* the released code's formula: the figure's numbers */
    PW_FIGURE4_JSD,      /* Eq. 2 */
    PW_FIGURE4_RELEASED_OTHER,
    PW_FIGURE4_JSD_OTHER,
    PW_FIGURE4_VIEWS
};
extern const char *const pw_figure4_topics[PW_FIGURE4_VIEWS]; /* of the probe's findings */

/* What a run's finding 'figure4 run K' holds, in blocks: a plot of the mean over layers for each view, then
 * the two tables, then a plot for each layer by the released formula. The second table has a row for each
 * encoding and a column for each layer (means over lengths, released formula). */
enum pw_figure4_block { PW_FIGURE4_MEANS = PW_FIGURE4_VIEWS, PW_FIGURE4_LAYERS, PW_FIGURE4_LAYER_PLOTS };

/* Columns of the first table. */
enum pw_figure4_column {
    PW_FIGURE4_UNTRAINED = PW_FIGURE4_VIEWS, /* the views come first */
    PW_FIGURE4_MATCHED,
    PW_FIGURE4_IN_RANGE, /* per cent right */
    PW_FIGURE4_LONGER,
    PW_FIGURE4_NOPE_IN_RANGE, /* of the arm that distances are from, the same in all rows */
    PW_FIGURE4_NOPE_LONGER,
    PW_FIGURE4_COLUMNS
};

/* Mean over all layers and lengths of the paper's figure, NoPE* for NoPE; in per cent of a nat. */
extern const float pw_figure4_paper[PW_PAPER_PES];

#define PW_FIGURE4_LAYERS_MAX 64

/* The runs that were measured. Numbers are NaN where a model has not learned the task, as NoPE and NoPE* must
 * have, too. */
struct pw_figure4_runs {
    int n, layers;
    const struct pw_finding *f[PW_FIGURE4_RUNS];
    double distance[PW_FIGURE4_VIEWS][PW_PAPER_PES][PW_FIGURE4_RUNS];
    double growth[PW_PAPER_PES]
                 [PW_FIGURE4_RUNS]; /* from lengths 8..12 to the longest three; released formula */
    double layer[PW_FIGURE4_LAYERS_MAX][PW_PAPER_PES][PW_FIGURE4_RUNS]; /* released formula */
};

/* The options that say what a run is: without which runs are judged, and where they are kept. */
void pw_figure4_as_made(const struct pw_figure4 *o, struct pw_figure4 *out);
void pw_figure4_topic(char out[PW_FINDING_TOPIC], int run);
/* The mean of a plot's column over its lengths from..to, each the same weight; NaN where there is none. */
double pw_figure4_mean(const struct pw_finding *f, const struct pw_block *plot, int pe, double from,
                       double to);
/* The finding of one run, from the six arms and the four findings of the probe. */
enum pw_code pw_figure4_judge_run(const struct pw_figure4 *o, const struct pw_snapshot *s,
                                  struct pw_finding *f, struct pw_err *err);
/* Adds the claims about all runs. */
void pw_figure4_claim(struct pw_finding *f, const struct pw_figure4_runs *r, int protocol);
/* The study's judge: of one run, or of all that were measured. */
enum pw_code pw_figure4_judge(const void *opts, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err);

#endif
