/* figure6.c - SPE and DPE at length 20 (Qiu et al. 2021, Figure 6). */
#include "reproduce/repro.h"

const struct pw_repro pw_repro_figure6 = {
    .name = "figure6",
    .document = "Qiu et al. 2021, Figure 6",
    .summary = "heat maps of SPE and DPE, length 20",
    .lines = "probe rows pes=sinusoidal,dpe length=20 other=10\n",
    .finding = "rows 20 10",
};
