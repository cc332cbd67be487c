/* shift.c - absolute position without an encoding, and encodings that use only distances (Su 2024,
 * shortcoming 3). */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"change of loss", "all position", 1, PW_OF_MOST, 0, 0},
    {"same argmax", "all position", 2, PW_OF_LEAST, 0, 0},
    {0},
};

static const struct pw_blog_claim claims[] = {
    {"Su 2024, shortcoming 3: without an encoding a state depends on its absolute place",
     "cosine lost",
     1,
     {"", "cosine of a", 0, PW_OF_MEAN, 0, 1000},
     {"", "cosine of a", 1, PW_OF_MEAN, 0, 1000},
     PW_ABOVE,
     0.05,
     0},
    {"Su 2024: an absolute encoding depends on where a text stands",
     "learned: loss changes",
     2,
     {"", "all position", 1, PW_OF_MOST, 0, 0},
     {0},
     PW_ABOVE,
     0.01,
     0.01},
    {0},
};

static const struct pw_blog_plan plan = {.name = "shift",
                                         .pes = "none,learned,rotary,alibi",
                                         .probe = "shift",
                                         .seeds = 12,
                                         .judged = 2,
                                         .plot = "the same text",
                                         .numbers = numbers,
                                         .claims = claims};

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(&plan, opts, out);
}

static bool plan_model(const void *opts, struct pw_plan *out)
{
    return pw_blog_plan_model(&plan, opts, out);
}

static enum pw_code judge(const void *opts, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    return pw_blog_judge(&plan, opts, s, f, err);
}

const struct pw_study pw_study_shift = {
    .name = "shift",
    .document = "Su 2024, shortcoming 3",
    .summary = "absolute and relative: all numbers higher, or more text in front",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .plan = plan_model,
    .judge = judge,
    .finding = "shift none,learned,rotary,alibi",
};
