/* dispersion.c - the fourth shortcoming: attention thins out as sequences get longer. */
#include "reproduce/blog.h"

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(opts, "none,alibi", "dispersion", out);
}

const struct pw_study pw_study_dispersion = {
    .name = "dispersion",
    .document = "Su 2024, shortcoming 4",
    .summary = "attention in longer sequences: drawn scores, ALiBi's limit, trained arms",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .finding = "dispersion",
};
