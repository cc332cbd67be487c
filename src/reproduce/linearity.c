/* linearity.c - the equations about ASPE (Qiu et al. 2021, appendix E), as printed and corrected. */
#include "reproduce/repro.h"

const struct pw_repro pw_repro_linearity = {
    .name = "linearity",
    .document = "Qiu et al. 2021, Eq. 15 to 23",
    .summary = "the equations about ASPE, as printed and corrected",
    .lines = "probe linearity\n",
    .finding = "linearity",
};
