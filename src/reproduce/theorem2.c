/* theorem2.c - the study `theorem2`: relative positions without an encoding, by the proof's weights
 * (Kazemnejad et al. 2023, appendix C.2). It replaces the current arm by the construction and pins a test
 * sample of the present task. Then the probe checks every step of the proof; its claims are the verdict.
 * Afterwards the user can type any prompt and train the arm. */
#include <stddef.h>

#include "reproduce/repro.h"

struct options {
    int T;
};

static const struct pw_opt opts[] = {
    {"T", PW_OPT_INT, offsetof(struct options, T), "64", 1, 2048, NULL, 0,
     "number of positions that the MLP counts"},
    {0},
};

static void script(const void *opts_, struct pw_str *out)
{
    const struct options *o = opts_;
    pw_str_add(out, "construct theorem2 T=%d\nsample\nprobe theorem2\n", o->T);
}

const struct pw_repro pw_repro_theorem2 = {
    .name = "theorem2",
    .document = "Kazemnejad et al. 2023, Theorem 2, C.2, Eq. 36, 37",
    .summary = "relative positions without an encoding: the proof's weights in the current arm",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .script = script,
    .finding = "theorem2",
};
