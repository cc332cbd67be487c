/* buckets.c - the matrix of T5's buckets that seed 003 prints (appendix B.2). */
#include "reproduce/study.h"

static void script(const void *opts, struct pw_str *out)
{
    (void)opts;
    pw_str_add(out, "probe buckets\n");
}

const struct pw_study pw_study_buckets = {
    .name = "buckets",
    .document = "seed 003, appendix B.2",
    .summary = "T5's buckets by distance: the printed example and the released code's 32/128",
    .script = script,
    .finding = "buckets",
};
