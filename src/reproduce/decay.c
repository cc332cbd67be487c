/* decay.c - the fourth shortcoming: a prior of long-range decay, which encodings have it and who learns it.
 */
#include "reproduce/blog.h"

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(opts, "none,rotary,alibi,t5", "decay", out);
}

const struct pw_study pw_study_decay = {
    .name = "decay",
    .document = "Su 2024, shortcoming 4",
    .summary = "long-range decay: rotary aligned and independent, ALiBi, T5 and none, trained",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .finding = "decay",
};
