/* study.h - tables, figures and claims of the documents that pewter implements, each as a script and a
 * verdict.
 *
 * A new study is one file in reproduce/ and one line in studies.c. `reproduce NAME` runs its script, lines
 * that could be typed, in the laboratory that there is; then `judge NAME` looks at what the lab has told
 * (evaluations, findings) and makes a finding of it, whose claims carry the verdict. Where a probe's own
 * finding has the claims there is nothing to judge. Thresholds stand in the study's file, fixed before
 * anything is measured. Texts have the documents' shape and the program's own vocabulary. */
#ifndef PW_STUDY_H
#define PW_STUDY_H
#include "base/err.h"
#include "base/finding.h"
#include "base/opt.h"
#include "base/plan.h"
#include "base/text.h"
#include "sessions/fold.h"

#define PW_STUDY_OPTS_MAX 1024

/* ---- seeds. The settings of the preset tiny, the steps of the toy tasks and the README's 8 buckets of T5
 * were tuned on seeds 0 to 4; bench/sort_seeds.sh then measured seeds 11 to 15. Studies begin at the seed
 * below, which no tuning and no earlier measurement saw; replica k of an arm has the seed PW_STUDY_SEED + k
 * - 1. */
#define PW_STUDY_SEED      101
#define PW_STUDY_SEED_TEXT "101" /* as an option's default */
#define PW_STUDY_SEEDS     "5" /* replicas of each encoding, as an option's default: suite.h says why five */

struct pw_study {
    const char *name;
    const char *document; /* "seed 003, Figure 3": what it reproduces */
    const char *summary;
    const char *detail;        /* more lines: the protocol, sizes, time on two cores; NULL */
    const struct pw_opt *opts; /* or NULL */
    size_t opts_size;          /* at most PW_STUDY_OPTS_MAX */
    enum pw_code (*check)(const void *opts, struct pw_err *err); /* NULL: nothing to check */
    /* Appends the script, a command a line, of the laboratory and of the workbench. `judge NAME options` and
     * `export figure` follow by themselves. */
    void (*script)(const void *opts, struct pw_str *out);
    const char *lines; /* in script's place: of a study without options */
    /* What the lab must hold for `judge` with these options: `judge` refuses where it holds something else.
     * Returns false where the verdict reads findings alone. NULL: nothing is checked. */
    bool (*plan)(const void *opts, struct pw_plan *plan);
    /* The finding, from what was told. NULL: the probes' findings say it all. */
    enum pw_code (*judge)(const void *opts, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err);
    /* The finding that the figure shows, name and topic as judge or the probe gives them ("": any). */
    const char *finding;
};

extern const struct pw_study *const pw_studies[]; /* NULL-terminated; studies.c */
/* "no study 'bucket'; did you mean 'buckets'?" */
enum pw_code pw_study_find(const struct pw_study **study, const char *name, struct pw_err *err);
/* NULL: there is none of that name (which may be NULL), or it has none. */
const struct pw_opt *pw_study_opts(const char *name);
/* What reproduces nothing, by document: "seed 003 Table 5: a 1.3 B model". One a line. */
extern const char *const pw_studies_left[];

/* ---- a verdict on several measurements. The finding of each says by which options it was made (options that
 * are not said have their defaults), and the verdict refuses one that others made: made.c. What is no option
 * of the measurement, which of them to judge for one, has its default in opts. */
void pw_finding_made(struct pw_finding *f, const char *study, const void *opts);
enum pw_code pw_finding_made_so(const struct pw_finding *f, const char *study, const void *opts,
                                struct pw_err *err);

#endif
