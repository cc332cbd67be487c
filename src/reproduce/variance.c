/* variance.c - position in the variance of attention's output, in theory and in small models (Su 2024,
 * kexue.fm 10347). */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"output", "slope of ln", 0, PW_OF_LEAST, 0, 2},
    {"untrained", "slope of ln", 0, PW_OF_LEAST, 1, 2},
    {"share in norm", "slope of ln", 2, PW_OF_LEAST, 0, 2},
    {0},
};

/* The claims use layer 0, where values are functions of the tokens alone, as Su 2024 assumes; the inputs of
 * deeper layers contain position already. A small model can't have the predicted slope of -1, because tokens
 * repeat and values are trained. So only the sign is judged: the mean square falls. */
static const struct pw_blog_claim claims[] = {
    {"Su 2024: without an encoding position is in the variance, at initialisation",
     "untrained, layer 0",
     1,
     {"", "slope of ln", 0, PW_OF_LEAST, 1, 1000},
     {0},
     PW_BELOW,
     0,
     0},
    {"Chi et al. 2023, in Su 2024: and in trained models",
     "trained, layer 0",
     1,
     {"", "slope of ln", 0, PW_OF_LEAST, 0, 1000},
     {0},
     PW_BELOW,
     0,
     0},
    {0},
};

static const struct pw_blog_plan plan = {.name = "variance",
                                         .pes = "none,learned",
                                         .probe = "variance",
                                         .seeds = 20,
                                         .judged = 1,
                                         .plot = "layer 0: mean square",
                                         .numbers = numbers,
                                         .claims = claims};

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

const struct pw_study pw_study_variance = {
    .name = "variance",
    .document = "Su 2024, 'via variance'",
    .summary = "the sigma^2/n clock: iid values, tokens that repeat, a trained NoPE",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .plan = plan_model,
    .judge = judge,
    .finding = "variance none,learned",
};
