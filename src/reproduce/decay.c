/* decay.c - long-range decay as a prior (Su 2024, shortcoming 4): which encodings have it, and which models
 * learn it. */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"steepest, against r", "slope of ln", 0, PW_OF_LEAST, 0, 0},
    {"mean", "slope of ln", 0, PW_OF_MEAN, 0, 0},
    {"untrained, steepest", "slope of ln", 4, PW_OF_LEAST, 0, 0},
    {0},
};

/* The factor by which attention mass falls over the distances, in the head where it falls most. Below 1.1 is
 * flat, 2 is decay. */
static const struct pw_blog_claim claims[] = {
    {"Su 2024, shortcoming 4: no encoding, no prior of long-range decay",
     "untrained, factor",
     1,
     {"", "slope of ln", 6, PW_OF_MOST, 0, 0},
     {0},
     PW_BELOW,
     1.1,
     2},
    {"Su 2024, shortcoming 4: nor does the model seem able to learn one",
     "trained, factor",
     1,
     {"", "slope of ln", 5, PW_OF_MOST, 0, 0},
     {0},
     PW_BELOW,
     1.1,
     2},
    {0},
};

static const struct pw_blog_plan plan = {.name = "decay",
                                         .pes = "none,rotary,alibi,t5",
                                         .probe = "decay",
                                         .seeds = 12,
                                         .judged = 1,
                                         .plot = "mass of attention",
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

const struct pw_study pw_study_decay = {
    .name = "decay",
    .document = "Su 2024, shortcoming 4",
    .summary = "long-range decay: rotary aligned and independent, ALiBi, T5 and none, trained",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .plan = plan_model,
    .judge = judge,
    .finding = "decay none,rotary,alibi,t5",
};
