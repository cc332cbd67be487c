/* position.c - where a model keeps position, with and without an encoding. */
#include "reproduce/blog.h"

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(opts, "none,sinusoidal", "position", out);
}

const struct pw_study pw_study_position = {
    .name = "position",
    .document = "Haviv et al. 2022; Su 2024",
    .summary = "where position is stored: a linear readout of each layer, with controls",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .finding = "position",
};
