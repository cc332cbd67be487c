/* variance.c - the clock in the variance of attention's output, at work by hand and in a small model. */
#include "reproduce/blog.h"

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(opts, "none", "variance", out);
}

const struct pw_study pw_study_variance = {
    .name = "variance",
    .document = "Su 2024, 'via variance'",
    .summary = "the sigma^2/n clock: iid values, tokens that repeat, a trained NoPE",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .finding = "variance",
};
