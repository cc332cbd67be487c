/* scalar.c - the first shortcoming: without an encoding position is a single scalar. */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"one uniform head", "share of var", 2, PW_OF_MOST, 0, 1000},
    {"largest rank", "share of var", 2, PW_OF_MOST, 1, 0},
    {"untrained", "share of var", 5, PW_OF_MOST, 1, 0},
    {0},
};

static const struct pw_blog_plan plan = {
    .name = "scalar", .pes = "none,learned", .probe = "rank", .plot = "none", .numbers = numbers};

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(&plan, opts, out);
}

static enum pw_code judge(const void *opts, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    return pw_blog_judge(&plan, opts, s, f, err);
}

const struct pw_study pw_study_scalar = {
    .name = "scalar",
    .document = "Su 2024, shortcoming 1",
    .summary = "position as a single scalar: of how many dimensions it is, layer by layer",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .judge = judge,
    .finding = "scalar none,learned",
};
