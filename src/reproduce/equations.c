/* equations.c - printed formulas of encodings (Kazemnejad et al. 2023, B.2; Qiu et al. 2021, appendices C and
 * F), compared with pewter's tables. */
#include "reproduce/repro.h"

const struct pw_repro pw_repro_equations = {
    .name = "equations",
    .document = "Kazemnejad et al. 2023, Eq. 13, 14; Qiu et al. 2021, Eq. 13, 14, 24",
    .summary = "ALiBi, rotary, added rows, relative encodings and 2DSPE as printed and as computed",
    .lines = "probe equations\n",
    .finding = "equations",
};
