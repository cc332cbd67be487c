/* repro.h - studies: tables, figures and claims of the papers that pewter reproduces, each as a script and a
 * verdict.
 *
 * A new study is one file in reproduce/ (or a row of blog_studies.c) and one line in repros.c. `reproduce
 * NAME` runs its script in the present lab; the script consists of lines that a user could type. Then `judge
 * NAME` reads the events that the lab has emitted (evaluations, findings) and makes a finding whose claims
 * carry the verdict. If a probe's own finding has the claims, the study has no `judge`. A study's file
 * contains its thresholds, fixed before anything is measured. Texts follow the shape of the papers' claims in
 * the program's own vocabulary. */
#ifndef PW_REPRO_H
#define PW_REPRO_H
#include "base/err.h"
#include "base/finding.h"
#include "base/opt.h"
#include "base/plan.h"
#include "base/text.h"
#include "sessions/fold.h"

#define PW_REPRO_OPTS_MAX 1024

/* ---- seeds. The settings of the preset tiny, the steps of the toy tasks and the demo's 8 buckets of T5
 * were tuned on seeds 0 to 4. bench/sort_seeds.sh then measured seeds 11 to 15. Studies begin at the seed
 * below, which no tuning and no earlier measurement used. Replica k of an arm has the seed PW_REPRO_SEED + k
 * - 1. */
#define PW_REPRO_SEED      101
#define PW_REPRO_SEED_TEXT "101" /* as the default of an option */
/* replicas of each encoding, as the default of an option; suite.h has the reason */
#define PW_REPRO_SEEDS "5"

struct pw_blog_plan;

/* The descriptor of a study. Constant. */
struct pw_repro {
    const char *name;
    const char *document; /* the paper and the place that it reproduces: "Kazemnejad et al. 2023, Eq. 1" */
    const char *summary;
    const char *detail;        /* more lines: the protocol, sizes, time on two cores; or NULL */
    const struct pw_opt *opts; /* or NULL */
    size_t opts_size;          /* size of the struct of options, at most PW_REPRO_OPTS_MAX */
    enum pw_code (*check)(const void *opts, struct pw_err *err); /* checks options; NULL: nothing to check */
    /* Append the script: one command per line, of the lab or of the workbench. `reproduce` adds the final
     * `judge NAME options` and `export figure`. */
    void (*script)(const void *opts, struct pw_str *out);
    const char *lines; /* the script of a study without options, in place of `script` */
    /* A study that probes several trained models (blog.h): its plan, in place of script, plan and judge. Its
     * options are pw_blog_opts. */
    const struct pw_blog_plan *blog;
    /* Set *plan to the plan that the lab's state must match for `judge` with these options; `judge` refuses
     * another state. Returns false if the verdict reads only findings. NULL: nothing is checked. */
    bool (*plan)(const void *opts, struct pw_plan *plan);
    /* Make the finding from the snapshot. NULL: the probes' findings carry the verdict. */
    enum pw_code (*judge)(const void *opts, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err);
    /* The finding that the figure shows: name and topic as judge or the probe sets them; topic "": any. */
    const char *finding;
};

extern const struct pw_repro *const pw_repros[]; /* NULL-terminated; repros.c */
/* Find a study by name. Fails with "no study 'bucket'; did you mean 'buckets'?". */
enum pw_code pw_repro_find(const struct pw_repro **study, const char *name, struct pw_err *err);

/* Append the script, made from `script`, `lines` or `blog`. opts: the study's options. */
void pw_repro_script(const struct pw_repro *study, const void *opts, struct pw_str *out);
/* Set *plan to the plan that the lab's state must match. Returns false if there is nothing to check. */
bool pw_repro_plan(const struct pw_repro *study, const void *opts, struct pw_plan *plan);
/* Has the study a verdict of its own? Otherwise the probes' findings carry it. */
bool pw_repro_has_verdict(const struct pw_repro *study);
/* Make the finding from the snapshot. The study must have a verdict of its own. */
enum pw_code pw_repro_judge(const struct pw_repro *study, const void *opts, const struct pw_snapshot *s,
                            struct pw_finding *f, struct pw_err *err);

/* Return the options of a study; NULL if name is NULL, if there is no such study, or if it has no options. */
const struct pw_opt *pw_repro_opts(const char *name);
/* Items of the papers that no study reproduces, each with the reason, one per line; NULL-terminated. */
extern const char *const pw_repros_left[];

/* ---- verdicts on several measurements (made.c). The finding of each measurement records the options that
 * made it; unrecorded options have their defaults. The verdict refuses a finding that other options made. The
 * caller sets options that do not belong to the measurement to their defaults in opts, such as which
 * measurement to judge. */
void pw_finding_made(struct pw_finding *f, const char *study, const void *opts);
enum pw_code pw_finding_made_so(const struct pw_finding *f, const char *study, const void *opts,
                                struct pw_err *err);

#endif
