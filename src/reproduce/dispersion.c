/* dispersion.c - the fourth shortcoming: attention thins out as sequences get longer. */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"mean slope", "slope of entropy", -1, PW_OF_MEAN, 0, 0},
    {"least", "slope of entropy", -1, PW_OF_LEAST, 0, 0},
    {0},
};

static const struct pw_blog_plan plan = {.name = "dispersion",
                                         .pes = "none,alibi",
                                         .probe = "dispersion",
                                         .plot = "mean entropy",
                                         .numbers = numbers};

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(&plan, opts, out);
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
    .judge = judge,
    .finding = "dispersion none,alibi",
};
