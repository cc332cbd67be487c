/* table2.c - the settings of all runs (Kazemnejad et al. 2023, Table 2). */
#include "reproduce/study.h"

static void script(const void *opts, struct pw_str *out)
{
    (void)opts;
    pw_str_add(out, "probe table2\n");
}

const struct pw_study pw_study_table2 = {
    .name = "table2",
    .document = "Kazemnejad et al. 2023, Table 2",
    .summary = "the settings of the paper's runs, which the preset paper has",
    .script = script,
    .finding = "table2",
};
