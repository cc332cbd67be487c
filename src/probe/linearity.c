/* linearity.c - the probe linearity: the equations of Qiu et al. 2021, appendix E, as printed and corrected,
 * on random numbers (aspe.c).
 *
 * The appendix concludes that the relation of two positions isn't a linear combination, because L varies.
 * This refers to Eq. 15 and 23. They express the encoding of x + y by the four products of an entry at x and
 * an entry at y. For SPE the factors are the same at all lengths; for ASPE they depend on L. The probe
 * therefore fits one map of the products to all draws at once (products.h). The paper is right if SPE has
 * such a map, and ASPE has one for each L but none for all.
 *
 * The paper doesn't discuss maps of P_x alone. ASPE is R [sin(X + phi), cos(X + phi)] with R = 2 cos(pi/4 -
 * L/2). A step of y is therefore a rotation by Y, the same for every L. The finding has this as a remark. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/aspe.h"
#include "probe/draw.h"
#include "probe/products.h"

#define HOLDS 1e-9 /* largest error of an identity in double precision, away from its poles */
/* R^2 of one map for all draws. LINEAR and above: it is a linear combination. Below NO_MAP: it isn't one. */
#define LINEAR (1 - 1e-9)
#define NO_MAP 0.99
#define NEAR   0.05 /* Eq. 23 skips draws with a divisor below this */

struct options {
    int samples;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "20000", 1, 10000000, NULL, 0,
     "triples of X, Y and L, uniform in 0..2 pi"},
    {0},
};

enum { CHUNK = 1000 };

struct state {
    double printed[PW_ASPE_EQUATIONS], right[PW_ASPE_EQUATIONS], rotation; /* largest errors */
    struct pw_product_sums spe, aspe; /* fitted to all draws, with any L */
};

static enum pw_code begin_linearity(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    (void)err;
    p->state = pw_alloc(1, sizeof(struct state));
    p->units = (o->samples + CHUNK - 1) / CHUNK;
    return PW_OK;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    struct pw_rng rng;
    (void)err;
    pw_draw_init(&rng, p->in, 2, (uint64_t)i);
    for (int n = 0; n < CHUNK && i * CHUNK + n < o->samples; n++) {
        struct pw_aspe_draw d = pw_aspe_take(&rng);
        bool divides = fabs(d.a) > NEAR && fabs(d.a - 1) > NEAR && fabs(d.c - 1) > NEAR;
        for (int k = 0; k < PW_ASPE_EQUATIONS; k++) {
            if (!divides && pw_aspe_equations[k].divides)
                continue;
            s->printed[k] = fmax(s->printed[k], fabs(pw_aspe_equations[k].printed(&d)));
            if (pw_aspe_equations[k].right != NULL)
                s->right[k] = fmax(s->right[k], fabs(pw_aspe_equations[k].right(&d)));
        }
        s->rotation = fmax(s->rotation, pw_aspe_rotation(&d));
        pw_products_add(&s->spe, (const double[]){d.sX, d.cX}, (const double[]){d.sY, d.cY},
                        (const double[]){pw_sin(d.X + d.Y), pw_cos(d.X + d.Y)});
        pw_products_add(&s->aspe, (const double[]){d.e_x, d.o_x}, (const double[]){d.e_y, d.o_y},
                        (const double[]){d.e_xy, d.o_xy});
    }
    return PW_OK;
}

static void claim_linear(const struct state *s, struct pw_finding *f)
{
    double spe = pw_products_r2(&s->spe), aspe = pw_products_r2(&s->aspe);
    double each =
        fmax(s->right[PW_ASPE_EQUATIONS - 2], s->right[PW_ASPE_EQUATIONS - 1]); /* Eq. 23, corrected */
    int b = pw_finding_table(f, "P_{x+y} as one linear map of the products P_x P_y, for all lengths", 2, 1);
    pw_finding_col(f, b, 0, "R2");
    pw_finding_row(f, b, 0, "SPE");
    pw_finding_row(f, b, 1, "ASPE");
    pw_finding_put(f, b, 0, 0, spe);
    pw_finding_put(f, b, 1, 0, aspe);
    pw_finding_claim(f,
                     aspe >= LINEAR                                   ? PW_CLAIM_CONTRADICTED
                     : spe >= LINEAR && aspe < NO_MAP && each < HOLDS ? PW_CLAIM_REPRODUCED
                                                                      : PW_CLAIM_INCONCLUSIVE,
                     "Qiu et al. 2021, appendix E: P_{x+y} of ASPE, unlike that of SPE (Eq. 15), isn't a "
                     "linear combination, because L varies",
                     "one map of the products P_x P_y for all L: R^2 %.3f, for SPE %.3f (no map: below %g); "
                     "one map for each L (Eq. 23, corrected): error %.1e",
                     aspe, spe, NO_MAP, each);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct state *s = p->state;
    int mended = 0, wrong = 0;
    (void)err;
    pw_finding_init(f, "linearity", "", "Eq. 15 to 23 of Qiu et al. 2021 on %d random positions and lengths",
                    o->samples);
    int t = pw_finding_table(f, "largest difference between the two sides", PW_ASPE_EQUATIONS, 3);
    pw_finding_col(f, t, 0, "as printed");
    pw_finding_col(f, t, 1, "corrected");
    pw_finding_col(f, t, 2, "holds?");
    for (int i = 0; i < PW_ASPE_EQUATIONS; i++) {
        const struct pw_aspe_equation *e = &pw_aspe_equations[i];
        bool holds = s->printed[i] < HOLDS;
        pw_finding_row(f, t, i, "%s", e->name);
        pw_finding_put(f, t, i, 0, s->printed[i]);
        pw_finding_put(f, t, i, 1, e->right != NULL ? s->right[i] : NAN);
        pw_finding_put(f, t, i, 2, holds);
        wrong += !holds;
        mended += !holds && e->right != NULL && s->right[i] < HOLDS;
    }
    pw_finding_claim(f, wrong == 0 ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
                     "Qiu et al. 2021, appendix E: Eq. 15 to 23 as printed",
                     "%d of %d hold as printed; of the other %d, %d hold in the corrected form",
                     PW_ASPE_EQUATIONS - wrong, PW_ASPE_EQUATIONS, wrong, mended);
    claim_linear(s, f);
    pw_finding_remark(f,
                      "the paper doesn't discuss maps of P_x alone: there, a step of y is the rotation by Y "
                      "for every L, error %.1e, so it is linear as for SPE",
                      s->rotation);
    pw_finding_remark(f,
                      "errata: the odd lines of Eq. 18 have the wrong sign; the last term of Eq. 20 is "
                      "cos^2(L) sin X cos Y; Eq. 23 prints s for 2, and both of its denominators are wrong");
    pw_finding_remark(
        f,
        "the exchange of sine and cosine in Eq. 16 is deliberate: without it, the sum would be a palindrome");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    free(p->state);
}

const struct pw_probe pw_probe_linearity = {
    .name = "linearity",
    .summary = "check the equations about ASPE, as printed and corrected, on random numbers",
    .source = "Qiu et al. 2021, Eq. 15 to 23",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .begin = begin_linearity,
    .unit = unit,
    .end = end,
    .fini = fini,
};
