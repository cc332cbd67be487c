/* blog.h - what the studies of Su 2024 (kexue.fm 10347) share: a small training, and probes of each arm.
 *
 * The task is to copy random tokens, which takes knowing where they stand; sorting can do without. */
#ifndef PW_BLOG_H
#define PW_BLOG_H
#include "reproduce/study.h"

struct pw_blog {
    int steps, seed;
};
extern const struct pw_opt pw_blog_opts[];

/* Trains an arm for each encoding of `pes` ("none,alibi"), then runs the probe on each. */
void pw_blog_script(const struct pw_blog *o, const char *pes, const char *probe, struct pw_str *out);

#endif
