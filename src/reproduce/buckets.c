/* buckets.c - the matrix of T5's buckets that Kazemnejad et al. 2023 print (appendix B.2). */
#include "reproduce/repro.h"

const struct pw_repro pw_repro_buckets = {
    .name = "buckets",
    .document = "Kazemnejad et al. 2023, B.2, Eq. 12",
    .summary = "T5's buckets by distance: the printed example, and 32/128 as in the released code",
    .lines = "probe buckets\n",
    .finding = "buckets",
};
