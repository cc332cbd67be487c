/* suite.h - the tasks of Kazemnejad et al. 2023 with the accuracies of its figures, and what the studies of
 * accuracy by length share: the script of a race on one of them, and whether encodings stand in the paper's
 * order. */
#ifndef PW_SUITE_H
#define PW_SUITE_H
#include "base/finding.h"
#include "base/plan.h"
#include "base/text.h"
#include "sessions/fold.h"

/* Encodings in the order of the paper's figures. */
enum pw_paper_pe { PW_PAPER_NONE, PW_PAPER_T5, PW_PAPER_ALIBI, PW_PAPER_ROTARY, PW_PAPER_APE, PW_PAPER_PES };
extern const char *const pw_paper_pe_names[PW_PAPER_PES]; /* as `pe` calls them */

enum pw_suite_group {
    PW_SUITE_ONE,
    PW_SUITE_QUICK,
    PW_SUITE_PRIMITIVE,
    PW_SUITE_REASONING,
    PW_SUITE_CLASSIC,
    PW_SUITE_ALL
};
extern const char *const pw_suite_groups[]; /* "one", "quick", ..., NULL */

struct pw_suite_task {
    const char *name;        /* "copy rsc" */
    int group;               /* PRIMITIVE, REASONING or CLASSIC */
    bool quick;              /* learned at toy size in a minute or two */
    bool tuned;              /* settings were tuned on it: study.h says on which seeds */
    const char *toy, *paper; /* arguments of `task`, at a toy's size and as the paper has them */
    int steps;               /* of a toy; 0: the preset's */
    int toy_far, paper_far; /* longest distance in a training sequence, in pewter's tokens of the two texts */
    const char *from;       /* where the paper has the numbers; NULL: nowhere */
    float beyond[PW_PAPER_PES]; /* its mean exact match on longer inputs, per cent; < 0: none */
};
extern const struct pw_suite_task pw_suite[]; /* name NULL ends it */

bool pw_suite_has(const struct pw_suite_task *t, int group);
const struct pw_suite_task *pw_suite_find(const char *name); /* NULL: it is none of the paper's */

enum pw_protocol { PW_PROTOCOL_TOY, PW_PROTOCOL_PAPER };
extern const char *const pw_protocols[]; /* "toy", "paper", NULL */

/* The size that a verdict speaks of: the paper's own takes its protocol and its number of steps. */
int pw_protocol_size(int protocol, int steps);

#define PW_TOY_STEPS   1000  /* of the preset tiny */
#define PW_PAPER_STEPS 40000 /* and of paper */
#define PW_SUITE_ROOM                                                                                        \
    8192 /* positions of the model that a script begins with: room for the task before and after */

/* T5's buckets and largest distance at toy size, of the paper's 32 and 128. The rule is the same for all
 * tasks and was fixed before anything was measured with it: both times toy_far / paper_far, rounded to whole
 * numbers, the buckets to an even one, at least 4. */
void pw_suite_t5(const struct pw_suite_task *t, int *buckets, int *distance);

/* Which checkpoint of a run counts: after the last step, or the best in range of PW_CHECKPOINTS (the released
 * code of Kazemnejad et al. 2023 evaluates every 2,000 of 40,000 steps). */
enum pw_checkpoint_choice { PW_CHECKPOINT_AUTO, PW_CHECKPOINT_LAST, PW_CHECKPOINT_BEST };
#define PW_CHECKPOINTS 20
extern const char *const pw_checkpoints[]; /* "auto", "last", "best", NULL */
#define PW_CHECKPOINT_HELP                                                                                   \
    "last: after the last step; best: the one of 20 that is best in range; auto: best where protocol=paper"
/* Evaluations at equal numbers of steps; 1: after the last step alone. auto: as the protocol has it. */
int pw_checkpoint_points(int checkpoint, int protocol);
/* "after the last step", "at the best of 20 checkpoints in range" */
const char *pw_checkpoint_text(int points);

/* What is trained. */
struct pw_race_plan {
    int protocol, seeds, steps, samples;
    int seed;
    const char *pes;   /* "": the five of the paper, and at toy size T5 scaled and rotary on the whole head
                          beside them */
    const char *optim; /* more options of `optim`; NULL: none */
    const char *model; /* and of `model`; NULL: none. Without context= the model takes the longest sample of
                          the task */
    int points; /* evaluations at equal numbers of steps, of which the best in range is taken; 0, 1: at the
                   end */
};

/* The same as plain values, on a task (arguments of `task`; NULL: t's): what `check` and `judge` compare. */
void pw_suite_plan(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                   struct pw_plan *out);
/* Lines up to the race that a plan asks for: nothing is trained yet. What the lab had before is gone. */
void pw_suite_start(const struct pw_plan *plan, struct pw_str *out);
/* Lines that train a race on a task and evaluate it. */
void pw_suite_script(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                     struct pw_str *out);
/* The line that asks whether this race can run; name stands in its message. */
void pw_suite_check(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                    const char *name, struct pw_str *out);

/* ---- the arms that were evaluated: how many, and a table of them */
int pw_evaluated(const struct pw_snapshot *s, const struct pw_arm_view *arms[PW_MAX_ARMS]);
/* A row an arm, per cent right, medians of its replicates: "in range", "longer", and then a column "seed 101"
 * for each of so many replicates on longer inputs; points: as pw_suite_runs takes them. Returns the block. */
int pw_right_by_seed(struct pw_finding *f, const struct pw_snapshot *s, const struct pw_arm_view *const *arms,
                     int n, int seeds, int points);
#define PW_RIGHT_SEEDS 2 /* the column of the first */

/* ---- one encoding's runs */
struct pw_runs {
    int n;                                                         /* seeds; 0: not trained */
    double in_range[PW_MAX_REPLICATES], beyond[PW_MAX_REPLICATES]; /* exact match, fractions */
    double chance_beyond; /* of a guesser who knows the answers' format */
};

/* The results of an arm's seeds: after its last step (points at most 1), or each seed's at the one of so many
 * checkpoints that is best in range, the earliest of equal ones. */
void pw_suite_runs(const struct pw_snapshot *s, const struct pw_arm_view *arm, int points,
                   struct pw_runs *out);
double pw_runs_mean(const double *x, int n);
struct pw_spread pw_runs_spread(const double *x, int n); /* x: fractions that were floats */

/* ---- order. A difference between two encodings counts only beyond the spread of their seeds. All numbers
 * were fixed before the seeds that are judged were trained.
 *
 * Two encodings are comparable if each has PW_ORDER_SEEDS seeds, the median of its seeds has PW_ORDER_LEARNED
 * in range (which no guesser reaches on any task), and not both are at chance beyond: a mean at most
 * PW_ORDER_OURS above chance. They are ordered if the ranges of their seeds beyond do not overlap and their
 * means differ by PW_ORDER_OURS.
 *
 * Error rate. If the two encodings did not differ, all choices of which n of the n + m runs are the first's
 * would be equally likely, and 2 of them part the ranges: an order out of nothing has the probability 2 / C(n
 * + m, n) at most, 0.8 % for five seeds of each, 2.9 % for four. Of the nine pairs that a figure of the paper
 * usually parts, one or more would be ordered by chance in at most 7 % of all studies, as often with the
 * paper's order as against it. Runs of equal seed share their batches, which makes them more alike and an
 * order by chance rarer. tests/unit/test_order.c measures the rate. */
#define PW_ORDER_PAPER    0.10 /* encodings that the paper parts by less are not compared */
#define PW_ORDER_OURS     0.02
#define PW_ORDER_LEARNED  0.99
#define PW_ORDER_SEEDS    5
#define PW_ORDER_IN_RANGE 0.95 /* "learned" where a study compares no pairs of encodings */

enum pw_pair_order { PW_PAIR_FIRST, PW_PAIR_SECOND, PW_PAIR_UNDECIDED, PW_PAIR_INCOMPARABLE };
enum pw_pair_order pw_order_pair(const struct pw_runs *first, const struct pw_runs *second);

struct pw_order {
    int pairs, alike, opposite, incomparable; /* the rest of the pairs is undecided */
};
/* Adds one pair, whose numbers in the paper are in per cent (< 0: none). */
void pw_order_compare(struct pw_order *o, const struct pw_runs *first, const struct pw_runs *second,
                      float in_paper, float second_in_paper);
/* The same of every pair of encodings. */
void pw_order_compare_all(struct pw_order *o, const struct pw_runs runs[PW_PAPER_PES], const float *paper);
/* "of 9 pairs that the paper parts by 10 points or more 5 are in its order, 1 in the opposite one, 2
 * undecided, 1 not comparable" */
void pw_order_text(const struct pw_order *o, char *out, size_t size);

/* reproduced (toy: same order at toy scale): no pair is opposite, and three in four are alike. contradicted:
 * more are opposite than alike. */
enum pw_claim_verdict pw_order_verdict(const struct pw_order *o, int protocol);

#endif
