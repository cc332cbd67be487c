/* resolution.c - the second shortcoming: how finely a scalar tells positions apart; a learned table beside
 * it. */
#include "reproduce/blog.h"

static const struct pw_blog_plan plan = {
    .name = "resolution", .pes = "none,learned", .probe = "resolution", .plot = "a readout's means"};

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(&plan, opts, out);
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
    .judge = judge,
    .finding = "resolution none,learned",
};
