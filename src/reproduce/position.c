/* position.c - where a model keeps position, with and without an encoding. */
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {
    {"best R2 of i", "R^2", 0, PW_OF_MOST, 0, 3},
    {"untrained", "R^2", 0, PW_OF_MOST, 1, 3},
    {"least error, tokens", "R^2", 4, PW_OF_LEAST, 0, 3},
    {"beyond, least", "R^2", 6, PW_OF_LEAST, 0, 3},
    {0},
};

static const struct pw_blog_plan plan = {.name = "position",
                                         .pes = "none,sinusoidal,rotary",
                                         .probe = "position",
                                         .plot = "R^2 of i",
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

const struct pw_study pw_study_position = {
    .name = "position",
    .document = "Haviv et al. 2022; Su 2024",
    .summary = "where position is stored: a linear readout of each layer, with controls",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .judge = judge,
    .finding = "position none,sinusoidal,rotary",
};
