/* figure2.c - SPE and DPE at length 10 (Qiu et al. 2021, Figure 2). */
#include "reproduce/repro.h"

const struct pw_repro pw_repro_figure2 = {
    .name = "figure2",
    .document = "Qiu et al. 2021, Figure 2",
    .summary = "heat maps of SPE and DPE, length 10",
    .lines = "probe rows pes=sinusoidal,dpe length=10 other=20\n",
    .finding = "rows 10 20",
};
