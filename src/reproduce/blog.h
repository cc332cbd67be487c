/* blog.h - what the studies of Su 2024 (kexue.fm 10347) share: several small trainings, a probe of each arm,
 * and claims that all of the models decide together.
 *
 * One trained model shows its initialisation and its data as much as its encoding. So a study trains `seeds`
 * models of each encoding, each with its own initialisation and its own data; a number of theirs is judged by
 * the 95 % interval of its mean over the models (Student's t), never by one model. What is judged is fixed in
 * the study's file: which layer, which number, which bounds. Where it is the largest of several heads, the
 * same largest of the model before its training stands beside it, so that choosing favours neither.
 *
 * The task is to copy random tokens, which takes knowing where they stand; sorting can do without. */
#ifndef PW_BLOG_H
#define PW_BLOG_H
#include "reproduce/study.h"

/* The first seed of a study. Bounds and layers were chosen on seeds below 100; none from here on was looked
 * at. */
#define PW_BLOG_SEED "9001"
enum { PW_BLOG_MOST = 20 }; /* models */

struct pw_blog {
    int steps, seeds, seed; /* seeds 0: the plan's */
    int model;              /* 1..seeds: keep what this one shows; 0: judge all that were kept */
};
extern const struct pw_opt pw_blog_opts[];

enum pw_blog_of { PW_OF_LEAST, PW_OF_MEAN, PW_OF_MOST };

/* A number of an arm: of a table of its finding, whose title begins so, column col (-1: all) in rows first,
 * first + every, ...; every 0: all. */
struct pw_blog_number {
    const char *name, *block;
    int col;
    enum pw_blog_of of;
    int first, every;
};

/* Where the interval has to lie for the claim to hold, and for it to be contradicted. */
enum pw_blog_side {
    PW_ABOVE, /* holds: all of it above `holds`; contradicted: all of it below `fails` */
    PW_BELOW, /* the other way round */
};

struct pw_blog_claim {
    const char *claim; /* what the document says, and where */
    const char *what;  /* the number that is judged, at most 23 bytes */
    int arm;           /* 1, 2, ... of the plan's encodings */
    struct pw_blog_number of,
        before; /* the number, less another one of the same model; block NULL: less nothing */
    enum pw_blog_side side;
    double holds, fails; /* fails NaN: it can't be contradicted */
};

struct pw_blog_plan {
    const char *name;        /* of the study */
    const char *pes, *probe; /* the arms, "none,alibi"; the probe of each */
    int seeds;  /* models, so many that the width of their interval lets a claim be decided: 12, or 20 */
    int judged; /* the first so many are trained for every model, the others beside the last */
    const char *plot;                     /* begins the title of the arms' plot that is shown side by side */
    const struct pw_blog_number *numbers; /* name NULL ends them; NULL: none */
    const struct pw_blog_claim *claims;   /* claim NULL ends them; NULL: none */
    /* A number that is above `control_most` only where the measurement itself is wrong, such as of shuffled
     * positions: then no claim is decided. NULL: there is none. */
    const struct pw_blog_number *control;
    double control_most;
};

/* What the lab must hold for `judge` with model=K; false with model=0, which reads findings alone. */
bool pw_blog_plan_model(const struct pw_blog_plan *plan, const struct pw_blog *o, struct pw_plan *out);
/* For every model: trains an arm for each encoding, runs the probe on each, and keeps what is judged. */
void pw_blog_script(const struct pw_blog_plan *plan, const struct pw_blog *o, struct pw_str *out);
/* With model=K, right behind its probes: a finding "model K" of its numbers and of the claims that its probes
 * made (exact ones; of one that several arms make the worst verdict). Otherwise the study's finding, from
 * those. */
enum pw_code pw_blog_judge(const struct pw_blog_plan *plan, const struct pw_blog *o,
                           const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err);

/* The 95 % interval of x [n] against a claim's bounds: same order at toy scale, contradicted, or
 * inconclusive. */
enum pw_claim_verdict pw_blog_verdict(const struct pw_blog_claim *claim, const double *x, int n);

#endif
