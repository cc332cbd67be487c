/* permutation.c - the document's first sections: attention is blind to order, and what makes it see. */
#include "reproduce/study.h"

static void script(const void *opts, struct pw_str *out)
{
    (void)opts;
    pw_str_add(out, "task sort\nmodel tiny\npe rotary\nprobe permutation\n");
}

const struct pw_study pw_study_permutation = {
    .name = "permutation",
    .document = "Su 2024, Eq. 1 to 3",
    .summary = "blind to order: no mask at any depth; causal: the last token of one layer only",
    .script = script,
    .finding = "permutation",
};
