/* blog.h - shared parts of the studies of Su 2024 (kexue.fm 10347): train several small models, probe each
 * arm, and judge claims over all models.
 *
 * One trained model reflects its initialisation and its data as much as its encoding. So a study trains
 * `seeds` models of each encoding, each with its own initialisation and data. A claim is judged by the 95 %
 * interval of a number's mean over the models (Student's t), never by one model. The study's row fixes the
 * layer, the number and the bounds. A number that is the largest over several heads is compared with the same
 * largest number before training. Then the choice of the head favours neither. The rows are in
 * blog_studies.c.
 *
 * The task is to copy random tokens, which requires their positions; sorting does not. */
#ifndef PW_BLOG_H
#define PW_BLOG_H
#include "reproduce/repro.h"

/* First seed of a study. Bounds and layers were chosen on seeds below 100; no seed from here on was
 * inspected. */
#define PW_BLOG_SEED "9001"
enum { PW_BLOG_MOST = 20 }; /* most models of an encoding */

/* The options of such a study. */
struct pw_blog {
    int steps, seeds, seed; /* seeds 0: the plan's number */
    int model;              /* 1..seeds: record the numbers of this model; 0: judge all recorded models */
};
extern const struct pw_opt pw_blog_opts[];

/* How the rows of a column become one number: their minimum, mean or maximum. */
enum pw_blog_of { PW_OF_LEAST, PW_OF_MEAN, PW_OF_MOST };

/* A number of an arm, read from its finding: the table whose title begins with `block`, column col (-1: all).
 * The rows are first, first + every, ...; every 0: all rows. */
struct pw_blog_number {
    const char *name, *block;
    int col;
    enum pw_blog_of of;
    int first, every;
};

/* Where the interval must lie for the claim to hold, and for it to be contradicted. */
enum pw_blog_side {
    PW_ABOVE, /* holds: the interval lies above `holds`; contradicted: it lies below `fails` */
    PW_BELOW, /* the opposite */
};

/* A claim, and the number that decides it. */
struct pw_blog_claim {
    const char *claim; /* the claim of the source, and its place there */
    const char *what;  /* name of the number that is judged, at most 23 bytes */
    int arm;           /* index from 1 into the plan's encodings */
    /* the number, minus another number of the same model; block NULL: minus nothing */
    struct pw_blog_number of, before;
    enum pw_blog_side side;
    double holds, fails; /* fails NaN: the claim can't be contradicted */
};

/* The row of a study in blog_studies.c. Constant. */
struct pw_blog_plan {
    const char *name;        /* name of the study */
    const char *pes, *probe; /* encodings of the arms, "none,alibi"; the probe that each arm gets */
    /* Number of models, 12 or 20: large enough that the width of the interval lets a claim be decided. */
    int seeds;
    /* The first `judged` encodings are trained for every model, the others only with the last model. */
    int judged;
    const char *plot;                     /* start of the title of the plot that is shown for all arms */
    const struct pw_blog_number *numbers; /* ends with name NULL; NULL: none */
    const struct pw_blog_claim *claims;   /* ends with claim NULL; NULL: none */
    /* A number that exceeds `control_most` only if the measurement itself is wrong, such as one with shuffled
     * positions. Then no claim is decided. NULL: no control. */
    const struct pw_blog_number *control;
    double control_most;
};

/* Set *out to the plan that the lab's state must match for `judge` with model=K. Returns false with model=0,
 * which reads only findings. */
bool pw_blog_plan_model(const struct pw_blog_plan *plan, const struct pw_blog *o, struct pw_plan *out);
/* Write the script: for every model, train an arm for each encoding, probe each arm, and record the numbers
 * that are judged. */
void pw_blog_script(const struct pw_blog_plan *plan, const struct pw_blog *o, struct pw_str *out);
/* With model=K, which follows the model's probes: make the finding "model K" from its numbers and from the
 * exact claims of its probes. If several arms make the same claim, the worst verdict counts. With model=0:
 * make the study's finding from the findings of all models. */
enum pw_code pw_blog_judge(const struct pw_blog_plan *plan, const struct pw_blog *o,
                           const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err);

/* Compare the 95 % interval of x [n] with the claim's bounds: same order at toy scale, contradicted, or
 * inconclusive. */
enum pw_claim_verdict pw_blog_verdict(const struct pw_blog_claim *claim, const double *x, int n);

#endif
