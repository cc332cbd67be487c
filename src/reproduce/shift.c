/* shift.c - the third shortcoming: absolute position, and encodings that have distances alone. */
#include "reproduce/blog.h"

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(opts, "none,learned,rotary,alibi", "shift", out);
}

const struct pw_study pw_study_shift = {
    .name = "shift",
    .document = "Su 2024, shortcoming 3",
    .summary = "absolute and relative: all numbers higher, or more text in front",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .finding = "shift",
};
