/* blog.h - what the studies of Su 2024 (kexue.fm 10347) share: a small training, a probe of each arm, and the
 * arms side by side.
 *
 * The task is to copy random tokens, which takes knowing where they stand; sorting can do without. */
#ifndef PW_BLOG_H
#define PW_BLOG_H
#include "reproduce/study.h"

struct pw_blog {
    int steps, seed;
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

struct pw_blog_plan {
    const char *name;                     /* of the study */
    const char *pes, *probe;              /* the arms, "none,alibi"; the probe of each */
    const char *plot;                     /* begins the title of the arms' plot that is shown side by side */
    const struct pw_blog_number *numbers; /* name NULL ends them; NULL: none */
};

/* Trains an arm for each encoding, then runs the probe on each. */
void pw_blog_script(const struct pw_blog_plan *plan, const struct pw_blog *o, struct pw_str *out);
/* The arms' numbers and plots, and every claim once: of one that several arms make the worst verdict. */
enum pw_code pw_blog_judge(const struct pw_blog_plan *plan, const struct pw_blog *o,
                           const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err);

#endif
