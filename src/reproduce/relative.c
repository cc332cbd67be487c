/* relative.c - Theorem 2 with other functions of the distance (Kazemnejad et al. 2023, end of C.2). */
#include "reproduce/repro.h"

const struct pw_repro pw_repro_relative = {
    .name = "relative",
    .document = "Kazemnejad et al. 2023, C.2",
    .summary = "theorem 2 with functions of the distance other than -(t - i)",
    .lines = "probe relative\n",
    .finding = "relative",
};
