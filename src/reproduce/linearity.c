/* linearity.c - the equations about ASPE (Qiu et al. 2021, appendix E). */
#include "reproduce/study.h"

static void script(const void *opts, struct pw_str *out)
{
    (void)opts;
    pw_str_add(out, "probe linearity\n");
}

const struct pw_study pw_study_linearity = {
    .name = "linearity",
    .document = "Qiu et al. 2021, Eq. 15 to 23",
    .summary = "the equations about ASPE as printed and corrected",
    .script = script,
    .finding = "linearity",
};
