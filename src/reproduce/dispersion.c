/* dispersion.c - dispersion of attention in longer sequences (Su 2024, shortcoming 4). */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"mean slope", "slope of entropy", -1, PW_OF_MEAN, 0, 0},
    {"least", "slope of entropy", -1, PW_OF_LEAST, 0, 0},
    {0},
};

/* The mean over all heads, so that no head is selected. A uniform head has slope 1, a head whose focus does
 * not depend on the length has 0. */
static const struct pw_blog_claim claims[] = {
    {"Su 2024, shortcoming 4: without an encoding attention disperses in longer sequences",
     "slope, mean of heads",
     1,
     {"", "slope of entropy", -1, PW_OF_MEAN, 0, 0},
     {0},
     PW_ABOVE,
     0.8,
     0.2},
    {0},
};

static const struct pw_blog_plan plan = {.name = "dispersion",
                                         .pes = "none,alibi",
                                         .probe = "dispersion",
                                         .seeds = 12,
                                         .judged = 1,
                                         .plot = "mean entropy",
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

const struct pw_study pw_study_dispersion = {
    .name = "dispersion",
    .document = "Su 2024, shortcoming 4",
    .summary = "attention in longer sequences: drawn scores, ALiBi's limit, trained arms",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .plan = plan_model,
    .judge = judge,
    .finding = "dispersion none,alibi",
};
