/* table2.c - the settings of all runs (Kazemnejad et al. 2023, Table 2). */
#include "reproduce/study.h"

const struct pw_study pw_study_table2 = {
    .name = "table2",
    .document = "Kazemnejad et al. 2023, Table 2",
    .summary = "the settings of the paper's runs, which the preset paper has",
    .lines = "probe table2\n",
    .finding = "table2",
};
