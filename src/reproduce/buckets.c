/* buckets.c - the matrix of T5's buckets that Kazemnejad et al. 2023 print (appendix B.2). */
#include "reproduce/study.h"

static void script(const void *opts, struct pw_str *out)
{
    (void)opts;
    pw_str_add(out, "probe buckets\n");
}

const struct pw_study pw_study_buckets = {
    .name = "buckets",
    .document = "Kazemnejad et al. 2023, B.2",
    .summary = "T5's buckets by distance: the printed example and the released code's 32/128",
    .script = script,
    .finding = "buckets",
};
