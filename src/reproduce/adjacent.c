/* adjacent.c - the prior that adjacent positions are similar, in a learned table and in sines (Su 2024). */
#include <math.h>

#include "reproduce/blog.h"

/* For comparison: sines have 0.97. Su 2024 says that the model can learn it if necessary, so a model that
 * does not learn it contradicts nothing (fails is NaN). */
static const struct pw_blog_claim claims[] = {
    {"Su 2024: a table that is drawn at random doesn't assume that neighbours are similar",
     "untrained, neighbours",
     1,
     {"", "cosine of nei", 0, PW_OF_LEAST, 1, 1000},
     {0},
     PW_BELOW,
     0.1,
     0.1},
    {"Su 2024: but the model can learn it if it deems it necessary",
     "trained, less untr.",
     1,
     {"", "cosine of nei", 0, PW_OF_LEAST, 0, 1000},
     {"", "cosine of nei", 0, PW_OF_LEAST, 1, 1000},
     PW_ABOVE,
     0,
     (double)NAN},
    {0},
};

static const struct pw_blog_plan plan = {.name = "adjacent",
                                         .pes = "learned,sinusoidal",
                                         .probe = "adjacent",
                                         .seeds = 12,
                                         .judged = 1,
                                         .plot = "by distance",
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

const struct pw_study pw_study_adjacent = {
    .name = "adjacent",
    .document = "Su 2024, 'Prior Knowledge'",
    .summary = "neighbouring position vectors: sines and a learned table, before and after",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .plan = plan_model,
    .judge = judge,
    .finding = "adjacent learned,sinusoidal",
};
