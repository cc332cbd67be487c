/* adjacent.c - the prior that adjacent positions are alike. */
#include "reproduce/blog.h"

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(opts, "sinusoidal,learned", "adjacent", out);
}

const struct pw_study pw_study_adjacent = {
    .name = "adjacent",
    .document = "Su 2024, 'Prior Knowledge'",
    .summary = "neighbouring position vectors: sines and a learned table, before and after",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .finding = "adjacent",
};
