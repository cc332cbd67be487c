/* figure6.c - SPE and DPE at length 20 (Qiu et al. 2021, Figure 6). */
#include "reproduce/study.h"

static void script(const void *opts, struct pw_str *out)
{
    (void)opts;
    pw_str_add(out, "probe rows pes=sinusoidal,dpe length=20 other=10\n");
}

const struct pw_study pw_study_figure6 = {
    .name = "figure6",
    .document = "Qiu et al. 2021, Figure 6",
    .summary = "heat maps of SPE and DPE, length 20",
    .script = script,
    .finding = "rows 20 10",
};
