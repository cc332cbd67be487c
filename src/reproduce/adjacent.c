/* adjacent.c - the prior that adjacent positions are alike. */
#include "reproduce/blog.h"

static const struct pw_blog_plan plan = {
    .name = "adjacent", .pes = "sinusoidal,learned", .probe = "adjacent", .plot = "by distance"};

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(&plan, opts, out);
}

static enum pw_code judge(const void *opts, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    return pw_blog_judge(&plan, opts, s, f, err);
}

const struct pw_study pw_study_adjacent = {
    .name = "adjacent",
    .document = "Su 2024, 'Prior Knowledge'",
    .summary = "neighbouring position vectors: sines and a learned table, before and after",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .judge = judge,
    .finding = "adjacent sinusoidal,learned",
};
