/* position.c - in which layers a model stores position, with and without an encoding (Haviv et al. 2022; Su
 * 2024). */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"best R2 of i", "R^2", 0, PW_OF_MOST, 0, 3},
    {"untrained", "R^2", 0, PW_OF_MOST, 1, 3},
    {"least error, tokens", "R^2", 4, PW_OF_LEAST, 0, 3},
    {"beyond, least", "R^2", 6, PW_OF_LEAST, 0, 3},
    {0},
};

/* The claims use the residual stream after the last layer, which contains everything that the answer can use.
 * It is row 6 of the table, which has three rows per stream, for 2 layers. R^2 above 0.05 is more than
 * shuffled positions reach. */
static const struct pw_blog_claim claims[] = {
    {"Haviv et al. 2022: position can be read from a causal model without an encoding",
     "R2 of i, last stream",
     1,
     {"", "R^2 of", 0, PW_OF_LEAST, 6, 1000},
     {0},
     PW_ABOVE,
     0.05,
     0.05},
    {"Haviv et al. 2022; Su 2024: and it is learned: training adds to it",
     "R2 of i, less untr.",
     1,
     {"", "R^2 of", 0, PW_OF_LEAST, 6, 1000},
     {"", "R^2 of", 0, PW_OF_LEAST, 7, 1000},
     PW_ABOVE,
     0,
     0},
    {0},
};

static const struct pw_blog_number control = {"R2 of i, shuffled", "R^2 of", 0, PW_OF_MOST, 2, 3};

static const struct pw_blog_plan plan = {.name = "position",
                                         .pes = "none,sinusoidal,rotary",
                                         .probe = "position",
                                         .seeds = 20,
                                         .judged = 1,
                                         .plot = "R^2 of i",
                                         .numbers = numbers,
                                         .claims = claims,
                                         .control = &control,
                                         .control_most = 0.05};

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

const struct pw_study pw_study_position = {
    .name = "position",
    .document = "Haviv et al. 2022; Su 2024",
    .summary = "where position is stored: a linear readout of each layer, with controls",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .plan = plan_model,
    .judge = judge,
    .finding = "position none,sinusoidal,rotary",
};
