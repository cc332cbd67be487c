/* resolution.c - how finely a scalar distinguishes positions, compared with a learned table (Su 2024,
 * shortcoming 2). */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"first third", "standard dev", 0, PW_OF_MEAN, 0, 1000},
    {"last third", "standard dev", 1, PW_OF_MEAN, 0, 1000},
    {"untrained, first", "standard dev", 0, PW_OF_MEAN, 1, 1000},
    {"last", "standard dev", 1, PW_OF_MEAN, 1, 1000},
    {0},
};

static const struct pw_blog_claim claims[] = {
    {"Su 2024: without an encoding positions become harder to tell apart the further on",
     "first less last third",
     1,
     {"", "standard dev", 0, PW_OF_MEAN, 0, 1000},
     {"", "standard dev", 1, PW_OF_MEAN, 0, 1000},
     PW_ABOVE,
     0,
     0},
    {0},
};

static const struct pw_blog_plan plan = {.name = "resolution",
                                         .pes = "none,learned",
                                         .probe = "resolution",
                                         .seeds = 12,
                                         .judged = 1,
                                         .plot = "a readout's means",
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

const struct pw_study pw_study_resolution = {
    .name = "resolution",
    .document = "Su 2024, shortcoming 2",
    .summary = "1/sqrt(n) against 1/sqrt(n+1): step, noise, rounding; trained arms",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .plan = plan_model,
    .judge = judge,
    .finding = "resolution none,learned",
};
