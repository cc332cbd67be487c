/* scalar.c - is position a single scalar without an encoding (Su 2024, shortcoming 1)? */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"one uniform head", "share of var", 2, PW_OF_MOST, 0, 1000},
    {"largest rank", "share of var", 2, PW_OF_MOST, 1, 0},
    {"untrained", "share of var", 5, PW_OF_MOST, 1, 0},
    {0},
};

/* The claim uses the residual stream after the last layer, which all heads and layers have written to: row 4
 * of the table, for 2 layers. */
static const struct pw_blog_claim claims[] = {
    {"Su 2024: with many heads and layers the scalars become a vector",
     "rank, last stream",
     1,
     {"", "share of var", 2, PW_OF_LEAST, 4, 1000},
     {0},
     PW_ABOVE,
     1.5,
     1.1},
    {0},
};

static const struct pw_blog_number control = {
    "position's share, shuffled", "share of var", 6, PW_OF_MOST, 0, 0};

static const struct pw_blog_plan plan = {.name = "scalar",
                                         .pes = "none,learned",
                                         .probe = "rank",
                                         .seeds = 12,
                                         .judged = 1,
                                         .plot = "none",
                                         .numbers = numbers,
                                         .claims = claims,
                                         .control = &control,
                                         .control_most = 0.01};

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

const struct pw_study pw_study_scalar = {
    .name = "scalar",
    .document = "Su 2024, shortcoming 1",
    .summary = "position as a single scalar: of how many dimensions it is, layer by layer",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .plan = plan_model,
    .judge = judge,
    .finding = "scalar none,learned",
};
