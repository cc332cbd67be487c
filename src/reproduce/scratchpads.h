/* scratchpads.h - the study of scratchpad formats. scratchpads.c trains the races and measures each.
 * scratchpads_judge.c compares each format with none, and scratchpads_best.c compares the formats with each
 * other. */
#ifndef PW_SCRATCHPADS_H
#define PW_SCRATCHPADS_H
#include "base/err.h"
#include "base/finding.h"
#include "reproduce/contrast.h"
#include "reproduce/suite.h"
#include "sessions/fold.h"

enum { PW_PAD_FORMATS = 8, PW_PAD_TASKS = 7 }; /* format 0: no scratchpad */

/* The options of the study. */
struct pw_scratchpads {
    int task; /* PW_PAD_TASKS: all */
    int protocol, seeds, steps, samples, checkpoint;
    int format; /* >= 0: judge the race of this format; -1: judge all measured races */
    char pes[256];
};

/* A task of the paper with scratchpads. Constant. */
struct pw_pad_task {
    const char *name, *figure;
    const char *toy, *paper; /* arguments of `task`, without its scratchpad */
    bool no_variables;       /* its steps have no variables */
    /* The paper's mean accuracy on longer inputs, per cent, by encoding and format; < 0: not in the figure.
     */
    float right[PW_PAPER_PES][PW_PAD_FORMATS];
};
extern const struct pw_pad_task pw_pad_tasks[PW_PAD_TASKS];
extern const char *const pw_pad_formats[PW_PAD_FORMATS]; /* "none", "minimal", "full", "-input", ... */

/* The topic of the finding 'scratchpads' about the race of a task and format. The finding's first block has a
 * row per arm, in per cent: median in range, median on longer inputs, then longer inputs seed by seed
 * (pw_right_by_seed). */
void pw_pad_topic(char out[PW_FINDING_TOPIC], const struct pw_pad_task *t, int format);

/* The measured accuracies of a task's races, per cent; NaN: not measured. */
struct pw_pads {
    /* number of measured formats; the largest number of runs of any format */
    int n_measured, runs;
    double in_range[PW_PAPER_PES][PW_PAD_FORMATS]; /* medians */
    double right[PW_PAPER_PES][PW_PAD_FORMATS][PW_MAX_REPLICAS];
};

/* Was this format measured with this encoding? */
bool pw_pads_measured(const struct pw_pads *d, int pe, int format);
/* Compare two formats of an encoding. A format that did not learn the trained lengths is not compared: no
 * runs, p is 1. */
void pw_pads_compare(struct pw_run_contrast *c, const struct pw_pads *d, int pe, int first, int second);
/* Add a task to the sum over tasks, run by run. A cell stays valid only if all tasks have it. */
void pw_pads_add(struct pw_pads *sum, const struct pw_pads *d, bool first);
/* Judge whether one format is the best for all encodings. sum: the sum over `tasks` tasks. */
void pw_pads_claim_best(struct pw_finding *f, const struct pw_pads *sum, int tasks, int protocol);

/* Make the finding on all measured races of o->task, or of all tasks. */
enum pw_code pw_scratchpads_judge(const struct pw_scratchpads *o, const struct pw_snapshot *s,
                                  struct pw_finding *f, struct pw_err *err);

#endif
