/* permutation.c - attention without an encoding is blind to order, and a causal mask removes this symmetry
 * (Su 2024, Eq. 1 to 3). */
#include "reproduce/repro.h"

const struct pw_repro pw_repro_permutation = {
    .name = "permutation",
    .document = "Su 2024, Eq. 1 to 3",
    .summary = "blindness to order: without a mask at any depth; with a causal mask, only the last token of "
               "one layer",
    .lines = "task sort\nmodel tiny\npe rotary\nprobe permutation\n",
    .finding = "permutation",
};
