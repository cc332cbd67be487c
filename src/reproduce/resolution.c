/* resolution.c - the second shortcoming: how finely a scalar tells positions apart; a learned table beside
 * it. */
#include "reproduce/blog.h"

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(opts, "none,learned", "resolution", out);
}

const struct pw_study pw_study_resolution = {
    .name = "resolution",
    .document = "Su 2024, shortcoming 2",
    .summary = "1/sqrt(n) against 1/sqrt(n+1): step, noise, rounding; a trained NoPE",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .finding = "resolution",
};
