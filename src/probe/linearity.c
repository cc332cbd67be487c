/* linearity.c - the equations of Qiu et al. 2021, appendix E, as printed and corrected, on random numbers.
 *
 * With X, Y and L a position, another one and the last one, each times a frequency, a = 1 + sin L and c = cos
 * L, ASPE at X is (Eq. 17)
 *
 *     even  sin X + cos(L - X) = a sin X + c cos X           odd  cos X + sin(L - X) = a cos X - c sin X
 *
 * Eq. 18 prints a plus in the odd line; Eq. 19, 21 and 22 are products that follow from it as printed, Eq. 20
 * has sin X sin Y for sin X cos Y in its last term, and Eq. 23 needs 2(1 - c^2) and loses a factor. All are
 * evaluated as printed, and in the form that holds: with the right sign the step from x to x + y is short,
 *
 *     even  A / 2 - t D        odd  D / 2 + t A        t = c / (2 a)
 *
 * with A = P_x,even P_y,odd + P_x,odd P_y,even and D = P_x,odd P_y,odd - P_x,even P_y,even. The appendix ends
 * with: no linear combination, because L varies. But ASPE is R [sin(X + phi), cos(X + phi)] with R = 2
 * cos(pi/4 - L/2), so a step of y is a rotation by Y, the same for every L: that is measured, too. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/draw.h"

#define HOLDS 1e-9 /* largest error of an identity in double precision, away from where it divides by 0 */
#define NEAR  0.05 /* draws with a divisor below this are left out of Eq. 23 */

struct options {
    int samples;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "20000", 1, 10000000, NULL, 0,
     "triples of X, Y and L, uniform in 0..2 pi"},
    {0},
};

/* What a draw gives the equations. */
struct draw {
    double X, Y, L, sX, cX, sY, cY, a, c;
    double e_x, o_x, e_y, o_y, e_xy, o_xy; /* ASPE at x, y and x + y, by Eq. 17 */
};

static double sq(double x)
{
    return x * x;
}

/* The products as Eq. 19 to 22 print them. */
static double p19(const struct draw *d)
{
    return sq(d->a) * d->sX * d->cY + d->a * d->c * d->sX * d->sY + d->a * d->c * d->cX * d->cY +
           sq(d->c) * d->cX * d->sY;
}

static double p20(const struct draw *d, bool fixed)
{
    return sq(d->a) * d->sY * d->cX + d->a * d->c * d->cX * d->cY + d->a * d->c * d->sX * d->sY +
           sq(d->c) * d->sX * (fixed ? d->cY : d->sY);
}

static double p21(const struct draw *d)
{
    return sq(d->a) * d->cX * d->cY + d->a * d->c * d->cX * d->sY + d->a * d->c * d->sX * d->cY +
           sq(d->c) * d->sX * d->sY;
}

static double p22(const struct draw *d)
{
    return sq(d->a) * d->sX * d->sY + d->a * d->c * d->sX * d->cY + d->a * d->c * d->cX * d->sY +
           sq(d->c) * d->cX * d->cY;
}

/* The odd entry with the printed sign. */
static double printed_odd(const struct draw *d, double s, double c)
{
    return d->a * c + d->c * s;
}

/* ---- the equations: each the difference of both sides, in a printed and a corrected form (NULL: it holds as
 * printed, or nothing mends it but the lines before). */

static double eq15(const struct draw *d)
{
    return fmax(fabs(pw_sin(d->X + d->Y) - (d->sX * d->cY + d->cX * d->sY)),
                fabs(pw_cos(d->X + d->Y) - (d->cX * d->cY - d->sX * d->sY)));
}

static double eq18_even(const struct draw *d)
{
    return d->e_x - (d->a * d->sX + d->c * d->cX);
}

static double eq18_odd(const struct draw *d)
{
    return d->o_x - printed_odd(d, d->sX, d->cX);
}

static double eq18_odd_right(const struct draw *d)
{
    return d->o_x - (d->a * d->cX - d->c * d->sX);
}

/* Products of the entries of Eq. 18 as printed. */
static double eq19(const struct draw *d)
{
    return d->e_x * printed_odd(d, d->sY, d->cY) - p19(d);
}

static double eq19_right(const struct draw *d)
{
    return d->e_x * d->o_y - (sq(d->a) * d->sX * d->cY - d->a * d->c * d->sX * d->sY +
                              d->a * d->c * d->cX * d->cY - sq(d->c) * d->cX * d->sY);
}

static double eq20(const struct draw *d)
{
    return printed_odd(d, d->sX, d->cX) * d->e_y - p20(d, false);
}

static double eq20_right(const struct draw *d)
{
    return d->o_x * d->e_y - (sq(d->a) * d->cX * d->sY + d->a * d->c * d->cX * d->cY -
                              d->a * d->c * d->sX * d->sY - sq(d->c) * d->sX * d->cY);
}

static double eq21(const struct draw *d)
{
    return printed_odd(d, d->sX, d->cX) * printed_odd(d, d->sY, d->cY) - p21(d);
}

static double eq21_right(const struct draw *d)
{
    return d->o_x * d->o_y - (sq(d->a) * d->cX * d->cY - d->a * d->c * d->cX * d->sY -
                              d->a * d->c * d->sX * d->cY + sq(d->c) * d->sX * d->sY);
}

static double eq22(const struct draw *d)
{
    return d->e_x * d->e_y - p22(d);
}

static double eq23_even(const struct draw *d)
{
    double A = p19(d) + p20(d, false), C = p21(d) + p22(d), D = p21(d) - p22(d), s = d->a - 1;
    return d->e_xy - ((A - d->c * C) / (2 * (1 + sq(d->c))) + d->c * D / (2 * s * d->a));
}

static double eq23_even_right(const struct draw *d)
{
    double A = d->e_x * d->o_y + d->o_x * d->e_y, D = d->o_x * d->o_y - d->e_x * d->e_y;
    return d->e_xy - (A / 2 - d->c / (2 * d->a) * D);
}

/* "s(" is read as 2. */
static double eq23_odd(const struct draw *d)
{
    double A = p19(d) + p20(d, false), C = p21(d) + p22(d), D = p21(d) - p22(d), s = d->a - 1;
    return printed_odd(d, pw_sin(d->X + d->Y), pw_cos(d->X + d->Y)) -
           (D / (2 * s) + (d->c * C - A) / (2 * d->a * (d->c - 1)));
}

static double eq23_odd_right(const struct draw *d)
{
    double A = d->e_x * d->o_y + d->o_x * d->e_y, D = d->o_x * d->o_y - d->e_x * d->e_y;
    return d->o_xy - (D / 2 + d->c / (2 * d->a) * A);
}

/* The step by y as a rotation by Y that doesn't know L. */
static double rotation(const struct draw *d)
{
    return fmax(fabs(d->e_xy - (d->e_x * d->cY + d->o_x * d->sY)),
                fabs(d->o_xy - (d->o_x * d->cY - d->e_x * d->sY)));
}

static const struct equation {
    const char *name;
    double (*printed)(const struct draw *d), (*right)(const struct draw *d);
} equations[] = {
    {"15, SPE", eq15, NULL},
    {"18, even lines", eq18_even, NULL},
    {"18, odd lines", eq18_odd, eq18_odd_right},
    {"19, with 18 as printed", eq19, eq19_right},
    {"20, with 18 as printed", eq20, eq20_right},
    {"21, with 18 as printed", eq21, eq21_right},
    {"22", eq22, NULL},
    {"23, even line", eq23_even, eq23_even_right},
    {"23, odd line", eq23_odd, eq23_odd_right},
};

enum { EQUATIONS = sizeof equations / sizeof *equations, CHUNK = 1000 };

struct state {
    double printed[EQUATIONS], right[EQUATIONS], rotation; /* largest errors */
};

static enum pw_code begin(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    (void)err;
    p->state = pw_alloc(1, sizeof(struct state));
    p->units = (o->samples + CHUNK - 1) / CHUNK;
    return PW_OK;
}

static double aspe_even(double X, double L)
{
    return pw_sin(X) + pw_cos(L - X);
}

static double aspe_odd(double X, double L)
{
    return pw_cos(X) + pw_sin(L - X);
}

static struct draw take(struct pw_rng *rng)
{
    double turn = 6.283185307179586;
    struct draw d = {
        .X = turn * pw_rng_unit(rng), .Y = turn * pw_rng_unit(rng), .L = turn * pw_rng_unit(rng)};
    d.sX = pw_sin(d.X);
    d.cX = pw_cos(d.X);
    d.sY = pw_sin(d.Y);
    d.cY = pw_cos(d.Y);
    d.a = 1 + pw_sin(d.L);
    d.c = pw_cos(d.L);
    d.e_x = aspe_even(d.X, d.L);
    d.o_x = aspe_odd(d.X, d.L);
    d.e_y = aspe_even(d.Y, d.L);
    d.o_y = aspe_odd(d.Y, d.L);
    d.e_xy = aspe_even(d.X + d.Y, d.L);
    d.o_xy = aspe_odd(d.X + d.Y, d.L);
    return d;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    struct pw_rng rng;
    (void)err;
    pw_draw_init(&rng, p->in, 2, (uint64_t)i);
    for (int n = 0; n < CHUNK && i * CHUNK + n < o->samples; n++) {
        struct draw d = take(&rng);
        bool divides = fabs(d.a) > NEAR && fabs(d.a - 1) > NEAR && fabs(d.c - 1) > NEAR;
        for (int k = 0; k < EQUATIONS; k++) {
            if (!divides && (equations[k].printed == eq23_even || equations[k].printed == eq23_odd))
                continue;
            s->printed[k] = fmax(s->printed[k], fabs(equations[k].printed(&d)));
            if (equations[k].right != NULL)
                s->right[k] = fmax(s->right[k], fabs(equations[k].right(&d)));
        }
        s->rotation = fmax(s->rotation, rotation(&d));
    }
    return PW_OK;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct state *s = p->state;
    int mended = 0, wrong = 0;
    (void)err;
    pw_finding_init(f, "linearity", "", "Eq. 15 to 23 of Qiu et al. 2021 on %d random positions and lengths",
                    o->samples);
    int t = pw_finding_table(f, "largest difference of both sides", EQUATIONS, 3);
    pw_finding_col(f, t, 0, "as printed");
    pw_finding_col(f, t, 1, "corrected");
    pw_finding_col(f, t, 2, "holds?");
    for (int i = 0; i < EQUATIONS; i++) {
        const struct equation *e = &equations[i];
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
                     "%d of %d hold; the other %d do in the corrected form (%d)", EQUATIONS - wrong,
                     EQUATIONS, wrong, mended);
    pw_finding_claim(f, s->rotation < HOLDS ? PW_CLAIM_CONTRADICTED : PW_CLAIM_REPRODUCED,
                     "Qiu et al. 2021, appendix E: steps of ASPE are no linear combination, because L varies",
                     "a step of y is the rotation by Y for every L, error %.1e: linear as for SPE",
                     s->rotation);
    pw_finding_remark(
        f, "errata: the sign of Eq. 18's odd lines; Eq. 20's last term is cos^2(L) sin X cos Y; Eq. 23 has s "
           "for 2, and both denominators are wrong");
    pw_finding_remark(
        f, "the exchange of sine and cosine in Eq. 16 is deliberate: without it the sum is a palindrome");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    free(p->state);
}

const struct pw_probe pw_probe_linearity = {
    .name = "linearity",
    .summary = "the equations about ASPE as printed and corrected, on random numbers",
    .source = "Qiu et al. 2021, Eq. 15 to 23",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .begin = begin,
    .unit = unit,
    .end = end,
    .fini = fini,
};
