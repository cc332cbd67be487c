/* results.h - all results of a study, the comparisons that they decide, and the cells that are still wanted.
 *
 * Everything here is a function of the study and the results, so it is the same on every machine, in whatever
 * order the cells were computed. Any thread; one struct belongs to one thread at a time. */
#ifndef PW_STUDY_RESULTS_H
#define PW_STUDY_RESULTS_H
#include "base/sequential.h"
#include "study/result.h"

/* State of a cell. */
enum pw_study_cell_state {
    PW_CELL_MISSING, /* not begun, or interrupted */
    PW_CELL_RUNS,    /* a process computes it */
    PW_CELL_BROKEN,  /* it failed: cells/ID.txt */
    PW_CELL_THERE,   /* its result is there */
    PW_CELL_QUEUED   /* it waits in a cluster's queue (slurm.h) */
};

struct pw_results {
    const struct pw_study *s;        /* borrowed */
    int n;                           /* cells: seeds_max x tasks x arms, in the order seed, task, arm */
    struct pw_study_cell *cells;     /* [n] */
    enum pw_study_cell_state *state; /* [n] */
    struct pw_result *results;       /* [n], for those that are there */
    int there, broken, running, queued;
    int64_t steps; /* of all results */
    double operations, seconds;
};

void pw_results_init(struct pw_results *r, const struct pw_study *s);
void pw_results_fini(struct pw_results *r);
/* Look for results that appeared since the last call, and for cells that run or failed. A result that can't
 * be read counts as failed. */
void pw_results_read(struct pw_results *r, const char *folder);
int pw_results_at(const struct pw_results *r, int arm, int task, int seed); /* index of a cell */

/* ---- comparisons, of one task */

/* Why two arms are not compared, or the outcome. */
enum pw_judged {
    PW_JUDGED_NO_DATA,   /* no seed has both results */
    PW_JUDGED_UNLEARNED, /* an arm's mean in range is below PW_STUDY_LEARNED: not comparable */
    PW_JUDGED_OPEN,      /* no difference at this budget, or not yet */
    PW_JUDGED_FIRST,     /* the first arm does better on longer inputs */
    PW_JUDGED_SECOND
};

struct pw_judgement {
    int a, b; /* arms */
    int n;    /* seeds with both results */
    enum pw_judged judged;
    struct pw_decision decision;
    struct pw_interval difference; /* a minus b: exact match beyond the trained lengths, or minus the loss */
    double effect;                 /* standardised: pw_effect_size */
};

/* Judge the asked comparisons of a task from its first `seeds` seeds. out [s->n_ask]. The evidence may be
 * looked at after every seed (base/sequential.h). */
void pw_results_judge(const struct pw_results *r, int task, int seeds, struct pw_judgement *out);
/* The number of seeds of a task that have been begun by its rule to stop: seeds_min, and one more as long as
 * a comparison is open and the budget lasts. */
int pw_results_seeds(const struct pw_results *r, int task);

/* ---- the cells that are wanted next, in order. A seed beyond the first seeds_min begins when the one before
 * it is complete, and only for arms with an open comparison. Cells that failed are wanted if `again`. Returns
 * the number; wanted [r->n] gets their indices. */
int pw_results_wanted(const struct pw_results *r, bool again, int *wanted);

#endif
