/* scalar.c - the first shortcoming: without an encoding position is a single scalar. */
#include "reproduce/blog.h"

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(opts, "none", "rank", out);
}

const struct pw_study pw_study_scalar = {
    .name = "scalar",
    .document = "Su 2024, shortcoming 1",
    .summary = "position as a single scalar: of how many dimensions it is, layer by layer",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .finding = "rank",
};
