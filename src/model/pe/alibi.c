/* alibi.c - attention with linear biases: the score decreases by a head's slope per token of distance (Press
 * et al. 2022).
 *
 * Slopes. For H heads, a power of two: 2^(-8h/H), h = 1..H. (Kazemnejad et al. 2023 print C =
 * 2^(-2^(-log2(H+3))), which is 0.94 for 8 heads. Their own example, 1/2 to 1/2^8, needs C = 2^(-2^(-(log2 H
 * - 3))) = 2^(-8/H).) For other H the slopes of the largest power of two P below H come first, then every
 * other slope of the 2P-head sequence: 1st, 3rd, 5th, ... This is from Press et al.'s code; the paper does
 * not state it.
 *
 * Without the causal mask the bias is symmetric, -slope * |distance|. */
#include <math.h>
#include <stdlib.h>

#include "base/maths.h"
#include "model/pe.h"

double pw_alibi_slope(int h, int H)
{
    int P = 1, whole;
    double exponent;

    while (2 * P <= H)
        P *= 2;
    exponent = h < P ? 8.0 * (h + 1) / P : 4.0 * (2 * (h - P) + 1) / P;
    whole = (int)exponent; /* computed separately, so that powers of two are exact */
    return ldexp(exponent > whole ? pw_pow(2, whole - exponent) : 1, -whole);
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    (void)opts;
    for (int h = 0; h < cfg->heads; h++) {
        double slope = pw_alibi_slope(h, cfg->heads);
        float *origin = t->bias + (size_t)h * (2 * t->P - 1) + t->P - 1;
        for (int r = -(t->P - 1); r < t->P; r++)
            origin[r] = (float)(-slope * (abs(r) * t->step));
    }
}

const struct pw_pe pw_pe_alibi = {
    .name = "alibi",
    .summary = "subtracts slope x distance from the score, with a fixed slope for each head",
    .source = "Press et al. 2022, section 3",
    .uses = PW_PE_BIAS,
    .build = build,
};
