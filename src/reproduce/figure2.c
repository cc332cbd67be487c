/* figure2.c - SPE and DPE at length 10 (Qiu et al. 2021, Figure 2). */
#include "reproduce/study.h"

static void script(const void *opts, struct pw_str *out)
{
    (void)opts;
    pw_str_add(out, "probe rows pes=sinusoidal,dpe length=10 other=20\n");
}

const struct pw_study pw_study_figure2 = {
    .name = "figure2",
    .document = "Qiu et al. 2021, Figure 2",
    .summary = "heat maps of SPE and DPE, length 10",
    .script = script,
    .finding = "rows 10 20",
};
