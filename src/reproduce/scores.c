/* scores.c - the components of attention scores in trained models, for the paper's encodings (Kazemnejad et
 * al. 2023, Eq. 1). */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"most relative", "shares", 0, PW_OF_MOST, 0, 0},
    {"mean", "shares", 0, PW_OF_MEAN, 0, 0},
    {"untrained, most", "shares", 3, PW_OF_MOST, 0, 0},
    {"most absolute", "shares", 1, PW_OF_MOST, 0, 0},
    {"mean", "shares", 1, PW_OF_MEAN, 0, 0},
    {"untrained, most", "shares", 4, PW_OF_MOST, 0, 0},
    {0},
};

/* The largest share over all heads, minus the largest before training: both are selected in the same way. */
static const struct pw_blog_claim claims[] = {
    {"Kazemnejad et al. 2023, Eq. 1: a trained model without an encoding has relative scores",
     "share, less untr.",
     1,
     {"", "shares", 0, PW_OF_MOST, 0, 0},
     {"", "shares", 3, PW_OF_MOST, 0, 0},
     PW_ABOVE,
     0.05,
     0},
    {0},
};

static const struct pw_blog_number control = {"position's share, shuffled", "shares", 5, PW_OF_MOST, 0, 0};

static const struct pw_blog_plan plan = {.name = "scores",
                                         .pes = "none,t5,alibi,rotary,sinusoidal",
                                         .probe = "scores",
                                         .seeds = 12,
                                         .judged = 1,
                                         .plot = "layer 1: f_rel",
                                         .numbers = numbers,
                                         .claims = claims,
                                         .control = &control,
                                         .control_most = 0.02};

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

const struct pw_study pw_study_scores = {
    .name = "scores",
    .document = "Kazemnejad et al. 2023, Eq. 1",
    .summary = "scores as f_rel(t-i) + f_abs + content, in trained models",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .plan = plan_model,
    .judge = judge,
    .finding = "scores none,t5,alibi,rotary,sinusoidal",
};
