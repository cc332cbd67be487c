/* suite.h - the tasks of Kazemnejad et al. 2023 with the accuracies of its figures, and what the studies of
 * accuracy by length share: the script of a race on one of them, and whether encodings stand in the paper's
 * order. */
#ifndef PW_SUITE_H
#define PW_SUITE_H
#include "base/finding.h"
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
    const char *name;           /* "copy rsc" */
    int group;                  /* PRIMITIVE, REASONING or CLASSIC */
    bool quick;                 /* shows at a toy's size what it shows in the paper, in a minute or two */
    const char *toy, *paper;    /* arguments of `task`, at a toy's size and as the paper has them */
    int steps;                  /* of a toy; 0: the preset's */
    const char *from;           /* where the paper has the numbers; NULL: nowhere */
    float beyond[PW_PAPER_PES]; /* its mean exact match on longer inputs, per cent; < 0: none */
};
extern const struct pw_suite_task pw_suite[]; /* name NULL ends it */

bool pw_suite_has(const struct pw_suite_task *t, int group);
const struct pw_suite_task *pw_suite_find(const char *name); /* NULL: it is none of the paper's */

enum pw_protocol { PW_PROTOCOL_TOY, PW_PROTOCOL_PAPER };
extern const char *const pw_protocols[]; /* "toy", "paper", NULL */

/* What is trained. */
struct pw_race_plan {
    int protocol, seeds, steps, samples;
    int seed;
    const char *pes;   /* "": the five of the paper; of T5 at a toy's size both tables */
    const char *optim; /* more options of `optim`; NULL: none */
    const char *model; /* and of `model` */
};

/* Lines that train a race on a task (arguments of `task`; NULL: t's) and evaluate it. */
void pw_suite_script(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                     struct pw_str *out);

/* ---- the arms that were evaluated: how many, and a table of them */
int pw_evaluated(const struct pw_snapshot *s, const struct pw_arm_view *arms[PW_MAX_ARMS]);
/* A row an arm, per cent right, medians of its replicates: "in range", "longer", and `more` columns that the
 * caller fills. Returns the block. */
int pw_right_table(struct pw_finding *f, const char *title, const struct pw_snapshot *s,
                   const struct pw_arm_view *const *arms, int n, int more);

/* ---- order. Fixed before anything was measured: */
#define PW_ORDER_PAPER    0.10 /* encodings that the paper parts by less are not compared */
#define PW_ORDER_OURS     0.02 /* and a difference of ours below this decides nothing, */
#define PW_ORDER_IN_RANGE 0.95 /* nor does an encoding that has not learned the trained lengths */

struct pw_order {
    int pairs, alike, opposite; /* the rest of the pairs is undecided */
};
/* Compares every pair of encodings: ours [PW_PAPER_PES] fractions beyond, NaN where not trained or not
 * learned. */
void pw_order_add(struct pw_order *o, const double *ours, const float *paper);
/* One pair: our difference of the first from the second, theirs in per cent (< 0: none). */
void pw_order_add_pair(struct pw_order *o, double ours, float first, float second);
/* reproduced (toy: same order at toy scale): no pair is opposite, and three in four are alike. contradicted:
 * more are opposite than alike. */
enum pw_claim_verdict pw_order_verdict(const struct pw_order *o, int protocol);

#endif
