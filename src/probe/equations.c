/* equations.c - the probe equations: checks printed formulas of encodings against models.
 *
 * Kazemnejad et al. 2023: Eq. 13 (ALiBi) with its constant C and the example after it; Eq. 14 (rotary: the
 * product of rotated vectors is q R^(i-t) k). Qiu et al. 2021: Eq. 13 (added rows enter the score on both
 * sides); Eq. 14 (relative encodings add g(P_ij), a function of the distance alone); Eq. 24 (2DSPE).
 *
 * The scores come from models of one layer without norm and scale, on random tokens. The other side of each
 * equation is computed in double precision from the same weights. Eq. 14 of Qiu et al. 2021 compares two
 * models with equal weights, with and without the encoding. The difference of their scores may vary between
 * pairs at one distance only by rounding. */
#include "probe/equations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"

#define SAME                                                                                                 \
    1e-5 /* relative to the largest score, or to the range of the encoding's contribution: float32           \
          */

static enum pw_code begin_equations(struct pw_probing_at *p, struct pw_err *err)
{
    struct pw_equations *s = p->state = pw_alloc(1, sizeof *s);
    (void)err;
    s->score = pw_alloc((size_t)2 * PW_EQUATIONS_N * PW_EQUATIONS_N, sizeof *s->score);
    s->without = s->score + PW_EQUATIONS_N * PW_EQUATIONS_N;
    p->units = PW_EQUATIONS_UNITS;
    return PW_OK;
}

static enum pw_claim_verdict verdict(const struct pw_probing_at *p, double error)
{
    return error <= SAME          ? PW_CLAIM_REPRODUCED
           : p->in->ops->portable ? PW_CLAIM_CONTRADICTED
                                  : PW_CLAIM_INCONCLUSIVE;
}

static void claim_relative(struct pw_probing_at *p, struct pw_finding *f)
{
    const struct pw_equations *s = p->state;
    char follow[96] = "", others[96] = "";
    double least = INFINITY, most = 0;
    int n = 0;
    for (int i = 0; i < PW_EQUATIONS_RELATIVE; i++) {
        bool holds = s->varies[i] <= SAME;
        char *to = holds ? follow : others;
        size_t used = strlen(to);
        snprintf(to + used, 96 - used, "%s%s", used > 0 ? ", " : "", pw_equations_relative[i]);
        n += holds;
        most = holds ? fmax(most, s->varies[i]) : most;
        least = holds ? least : fmin(least, s->varies[i]);
    }
    pw_finding_claim(f, verdict(p, n == PW_EQUATIONS_RELATIVE ? most : INFINITY),
                     "Qiu et al. 2021, Eq. 14: relative encodings add a function of the distance to the "
                     "score of the content",
                     "%d of %d do (%s: equal at one distance within %.0e of the range); for %s it varies "
                     "with the content by at least %.2f of the range",
                     n, PW_EQUATIONS_RELATIVE, follow, most, others, least);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct pw_equations *s = p->state;
    double C8 = pw_pow(2, -pw_pow(2, -pw_log2(PW_EQUATIONS_HEADS + 3))),
           right = pw_pow(2, -pw_pow(2, -(pw_log2(PW_EQUATIONS_HEADS) - 3)));
    (void)err;
    pw_finding_init(f, "equations", "",
                    "printed formulas of encodings, compared with the scores of one-layer models");
    int b = pw_finding_table(
        f, "contribution of a relative encoding at one distance: largest difference, relative to its range",
        PW_EQUATIONS_RELATIVE, 2);
    pw_finding_col(f, b, 0, "difference");
    pw_finding_col(f, b, 1, "Eq. 14 holds?");
    for (int i = 0; i < PW_EQUATIONS_RELATIVE; i++) {
        pw_finding_row(f, b, i, "%s", pw_equations_relative[i]);
        pw_finding_put(f, b, i, 0, s->varies[i]);
        pw_finding_put(f, b, i, 1, s->varies[i] <= SAME);
    }
    pw_finding_claim(f, verdict(p, s->alibi),
                     "Kazemnejad et al. 2023, Eq. 13 and its example: slopes 1/2 to 1/2^8 of 8 heads",
                     "all distances up to %d in %d heads: within %.1e (tolerance %g)", PW_EQUATIONS_N - 1,
                     PW_EQUATIONS_HEADS, s->alibi, SAME);
    pw_finding_claim(
        f, pw_claim_holds(fabs(C8 - 0.5) <= SAME),
        "Kazemnejad et al. 2023, Eq. 13: C = 2^(-2^(-log2(heads + 3))) as printed gives that example",
        "for 8 heads it is %.4f, but the example needs 1/2; 2^(-2^(-(log2(heads) - 3))) is %.4f", C8, right);
    pw_finding_claim(f, verdict(p, s->rotary),
                     "Kazemnejad et al. 2023, Eq. 14: rotated vectors score as q R^(i-t) k",
                     "%d pairs of %d sequences: within %.1e of the largest score (tolerance %g)",
                     PW_EQUATIONS_N * (PW_EQUATIONS_N + 1) / 2, PW_EQUATIONS_SEQUENCES, s->rotary, SAME);
    pw_finding_claim(f, verdict(p, s->added),
                     "Qiu et al. 2021, Eq. 13: added rows enter the score as (X + P) W_q W_k (X + P)",
                     "sinusoidal, %d pairs of %d sequences: within %.1e of the largest score (tolerance %g)",
                     PW_EQUATIONS_N * (PW_EQUATIONS_N + 1) / 2, PW_EQUATIONS_SEQUENCES, s->added, SAME);
    claim_relative(p, f);
    pw_finding_claim(f, verdict(p, s->dspe), "Qiu et al. 2021, Eq. 24: 2DSPE",
                     "every entry of width %d, lengths 1 to %d: within %.1e (tolerance %g)",
                     PW_EQUATIONS_WIDE, PW_EQUATIONS_LONG, s->dspe, SAME);
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct pw_equations *s = p->state;
    free(s->score);
    free(s);
}

const struct pw_probe pw_probe_equations = {
    .name = "equations",
    .summary =
        "check printed formulas of ALiBi, rotary, added rows, relative encodings and 2DSPE against models",
    .source = "Kazemnejad et al. 2023, Eq. 13, 14; Qiu et al. 2021, Eq. 13, 14, 24",
    .begin = begin_equations,
    .unit = pw_equations_unit,
    .end = end,
    .fini = fini,
};
