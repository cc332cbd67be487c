/* suite.h - the tasks of Kazemnejad et al. 2023 with the accuracies in its figures. Also the parts that
 * studies of accuracy by length share: the script of a race on a task, and the test whether encodings are in
 * the paper's order. */
#ifndef PW_SUITE_H
#define PW_SUITE_H
#include "base/finding.h"
#include "base/plan.h"
#include "base/text.h"
#include "sessions/fold.h"

/* Encodings in the order of the paper's figures. */
enum pw_paper_pe { PW_PAPER_NONE, PW_PAPER_T5, PW_PAPER_ALIBI, PW_PAPER_ROTARY, PW_PAPER_APE, PW_PAPER_PES };
extern const char *const pw_paper_pe_names[PW_PAPER_PES]; /* names as in the command `pe` */

/* The groups of tasks that a study can run. A task belongs to PRIMITIVE, REASONING or CLASSIC. */
enum pw_suite_group {
    PW_SUITE_ONE,
    PW_SUITE_QUICK,
    PW_SUITE_PRIMITIVE,
    PW_SUITE_REASONING,
    PW_SUITE_CLASSIC,
    PW_SUITE_ALL
};
extern const char *const pw_suite_groups[]; /* "one", "quick", ..., NULL */

/* A task of the paper, at toy size and at the paper's. Constant. */
struct pw_suite_task {
    const char *name;        /* "copy rsc" */
    int group;               /* PRIMITIVE, REASONING or CLASSIC */
    bool quick;              /* learned in a minute or two at toy size */
    bool tuned;              /* the toy's settings were tuned on it: study.h names the seeds */
    const char *toy, *paper; /* arguments of `task` at toy size and at the paper's */
    int steps;               /* at toy size; 0: the preset's */
    int toy_far, paper_far;  /* longest distance in a training sequence of either text, in pewter's tokens */
    const char *from;        /* where the paper has the numbers; NULL: it has none */
    float beyond[PW_PAPER_PES]; /* the paper's mean exact match on longer inputs, per cent; < 0: none */
};
extern const struct pw_suite_task pw_suite[]; /* ends with name NULL */

/* Is the task in this group? */
bool pw_suite_has(const struct pw_suite_task *t, int group);
const struct pw_suite_task *pw_suite_find(const char *name); /* NULL: not one of the paper's */

/* The size of a study: preset tiny, or the paper's model and data. */
enum pw_protocol { PW_PROTOCOL_TOY, PW_PROTOCOL_PAPER };
extern const char *const pw_protocols[]; /* "toy", "paper", NULL */

/* The size that a verdict names. The paper's size needs its protocol and its number of steps. */
int pw_protocol_size(int protocol, int steps);

#define PW_TOY_STEPS   1000  /* of the preset tiny */
#define PW_PAPER_STEPS 40000 /* of the preset paper */
#define PW_SUITE_ROOM  8192  /* positions of a script's first model: room for the tasks before and after */

/* T5's buckets and largest distance at toy size, scaled from the paper's 32 and 128. The rule is the same for
 * all tasks and was fixed before any measurement with it: both times toy_far / paper_far, rounded to
 * integers, the buckets to an even one, at least 4. */
void pw_suite_t5(const struct pw_suite_task *t, int *buckets, int *distance);

/* Which checkpoint of a run counts: the one after the last step, or the best in range of PW_CHECKPOINTS. (The
 * released code of Kazemnejad et al. 2023 evaluates every 2,000 of 40,000 steps.) */
enum pw_checkpoint_choice { PW_CHECKPOINT_AUTO, PW_CHECKPOINT_LAST, PW_CHECKPOINT_BEST };
#define PW_CHECKPOINTS 20
extern const char *const pw_checkpoints[]; /* "auto", "last", "best", NULL */
/* The option checkpoint=auto|last|best of a study, for the member of its options that holds the choice. */
#define PW_CHECKPOINT_OPT(at)                                                                                \
    {                                                                                                        \
        .name = "checkpoint", .type = PW_OPT_CHOICE, .offset = (at), .def = "auto",                          \
        .choices = pw_checkpoints,                                                                           \
        .help = "last: after the last step; best: the best of 20 in range; auto: best with protocol=paper"   \
    }
/* Number of evaluations, at equal numbers of steps; 1: only after the last step. auto: as in the protocol. */
int pw_checkpoint_points(int checkpoint, int protocol);
/* Returns "after the last step" or "at the best of 20 checkpoints in range". */
const char *pw_checkpoint_text(int points);

/* The race to train. */
struct pw_race_plan {
    int protocol, seeds, steps, samples;
    int seed;
    const char *pes; /* "": the paper's five and, at toy size, also T5 scaled and rotary on the whole head */
    const char *optim; /* further options of `optim`; NULL: none */
    /* further options of `model`; NULL: none. Without context= the model fits the task's longest sample */
    const char *model;
    /* number of evaluations at equal numbers of steps, of which the best in range is taken; 0, 1: at the end
     * only */
    int points;
};

/* Fill a plan with the race on a task as plain values, which `check` and `judge` compare. task: arguments of
 * `task`; NULL: t's. */
void pw_suite_plan(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                   struct pw_plan *out);
/* Add the lines up to the command `race` of a plan; nothing is trained yet. The lab's previous arms are
 * dropped. */
void pw_suite_start(const struct pw_plan *plan, struct pw_str *out);
/* Add the lines that train a race on a task and evaluate it. */
void pw_suite_script(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                     struct pw_str *out);
/* Add the line that checks whether this race can run; its message contains name. */
void pw_suite_check(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                    const char *name, struct pw_str *out);

/* ---- the evaluated arms: their number, and a table of them */
int pw_evaluated(const struct pw_snapshot *s, const struct pw_arm_view *arms[PW_MAX_ARMS]);
/* Add a block with a row per arm, in per cent, medians over replicas: "in range", "longer", and then a column
 * such as "seed 101" for each replica's longer inputs. points: see pw_suite_runs. Returns the block. */
int pw_right_by_seed(struct pw_finding *f, const struct pw_snapshot *s, const struct pw_arm_view *const *arms,
                     int n, int seeds, int points);
#define PW_RIGHT_SEEDS 2 /* the first seed's column */

/* ---- the runs of one encoding */
struct pw_runs {
    int n;                                                     /* seeds; 0: not trained */
    double in_range[PW_MAX_REPLICAS], beyond[PW_MAX_REPLICAS]; /* exact match, fractions */
    double chance_beyond; /* chance level of guesses in the answers' format */
};

/* The results of an arm's seeds. points at most 1: after the last step. Else: each seed at its checkpoint
 * that is best in range, of this many; ties: the earliest. */
void pw_suite_runs(const struct pw_snapshot *s, const struct pw_arm_view *arm, int points,
                   struct pw_runs *out);
double pw_runs_mean(const double *x, int n);
struct pw_spread pw_runs_spread(const double *x, int n); /* x: fractions that were stored as floats */

/* ---- order
 *
 * A difference between two encodings counts only if it exceeds the spread of their seeds. All numbers were
 * fixed before the judged seeds were trained.
 *
 * Two encodings are comparable under three conditions. Each has PW_ORDER_SEEDS seeds. The median of its seeds
 * in range is at least PW_ORDER_LEARNED, which guessing reaches on no task. Not both are at chance beyond: a
 * mean at most PW_ORDER_OURS above chance. They are ordered if the ranges of their seeds beyond do not
 * overlap and their means differ by at least PW_ORDER_OURS.
 *
 * Error rate. If the two encodings did not differ, all choices of which n of the n + m runs are the first's
 * would be equally likely, and 2 of them separate the ranges. So a spurious order has a probability of at
 * most 2 / C(n + m, n): 0.8 % for five seeds of each, 2.9 % for four. A figure of the paper usually separates
 * nine pairs. At least one of nine is ordered by chance in at most 7 % of all studies, as often with the
 * paper's order as against it. Runs of equal seed share their batches, which makes them more alike and an
 * order by chance rarer. tests/unit/test_order.c measures the rate. */
#define PW_ORDER_PAPER    0.10 /* encodings that differ by less in the paper are not compared */
#define PW_ORDER_OURS     0.02
#define PW_ORDER_LEARNED  0.99
#define PW_ORDER_SEEDS    5
#define PW_ORDER_IN_RANGE 0.95 /* "learned" in studies that do not compare pairs of encodings */

/* The order of two encodings: the first or the second is better, undecided, or not comparable. */
enum pw_pair_order { PW_PAIR_FIRST, PW_PAIR_SECOND, PW_PAIR_UNDECIDED, PW_PAIR_INCOMPARABLE };
enum pw_pair_order pw_order_pair(const struct pw_runs *first, const struct pw_runs *second);

/* Counts of pairs of encodings, by their order in the paper and here. */
struct pw_order {
    int pairs, alike, opposite, incomparable; /* the remaining pairs are undecided */
};
/* Add every pair of encodings. The paper's numbers are in per cent (< 0: none). */
void pw_order_compare_all(struct pw_order *o, const struct pw_runs runs[PW_PAPER_PES], const float *paper);
/* Write "of 9 pairs that differ by 10 points or more in the paper, 5 are in its order, 1 in the opposite
 * order, 2 undecided, 1 not comparable". */
void pw_order_text(const struct pw_order *o, char *out, size_t size);

/* reproduced (toy: same order at toy scale): no pair is opposite, and three in four are alike. contradicted:
 * more pairs are opposite than alike. */
enum pw_claim_verdict pw_order_verdict(const struct pw_order *o, int protocol);

#endif
