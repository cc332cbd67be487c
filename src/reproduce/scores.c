/* scores.c - what the scores of trained models are made of, for the paper's encodings. */
#include "reproduce/blog.h"

static void script(const void *opts, struct pw_str *out)
{
    pw_blog_script(opts, "none,t5,alibi,rotary,sinusoidal", "scores", out);
}

const struct pw_study pw_study_scores = {
    .name = "scores",
    .document = "Kazemnejad et al. 2023, Eq. 1",
    .summary = "scores as f_rel(t-i) + f_abs + content, in trained models",
    .opts = pw_blog_opts,
    .opts_size = sizeof(struct pw_blog),
    .script = script,
    .finding = "scores",
};
