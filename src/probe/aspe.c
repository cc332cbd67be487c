/* aspe.c - see aspe.h.
 *
 * X, Y and L are a position, a second position and the last position, each times a frequency. Let a = 1 + sin
 * L and c = cos L. Then ASPE at X is (Qiu et al. 2021, Eq. 17)
 *
 *     even  sin X + cos(L - X) = a sin X + c cos X           odd  cos X + sin(L - X) = a cos X - c sin X
 *
 * Errata: Eq. 18 prints a plus sign in the odd line. Eq. 19, 21 and 22 are products that follow from Eq. 18
 * as printed. Eq. 20 has sin X sin Y in place of sin X cos Y in its last term. Eq. 23 needs 2(1 - c^2) and
 * loses a factor. Each equation is evaluated as printed and in its corrected form. With the correct sign, the
 * step from x to x + y becomes
 *
 *     even  A / 2 - t D        odd  D / 2 + t A        t = c / (2 a)
 *
 * with A = P_x,even P_y,odd + P_x,odd P_y,even and D = P_x,odd P_y,odd - P_x,even P_y,even. */
#include "probe/aspe.h"

#include <math.h>
#include <stddef.h>

#include "base/maths.h"

static double sq(double x)
{
    return x * x;
}

/* p19 to p22: the right sides of Eq. 19 to 22 as printed. */
static double p19(const struct pw_aspe_draw *d)
{
    return sq(d->a) * d->sX * d->cY + d->a * d->c * d->sX * d->sY + d->a * d->c * d->cX * d->cY +
           sq(d->c) * d->cX * d->sY;
}

static double p20(const struct pw_aspe_draw *d, bool fixed)
{
    return sq(d->a) * d->sY * d->cX + d->a * d->c * d->cX * d->cY + d->a * d->c * d->sX * d->sY +
           sq(d->c) * d->sX * (fixed ? d->cY : d->sY);
}

static double p21(const struct pw_aspe_draw *d)
{
    return sq(d->a) * d->cX * d->cY + d->a * d->c * d->cX * d->sY + d->a * d->c * d->sX * d->cY +
           sq(d->c) * d->sX * d->sY;
}

static double p22(const struct pw_aspe_draw *d)
{
    return sq(d->a) * d->sX * d->sY + d->a * d->c * d->sX * d->cY + d->a * d->c * d->cX * d->sY +
           sq(d->c) * d->cX * d->cY;
}

/* The odd entry with the sign that Eq. 18 prints. */
static double printed_odd(const struct pw_aspe_draw *d, double s, double c)
{
    return d->a * c + d->c * s;
}

/* ---- the equations */

static double eq15(const struct pw_aspe_draw *d)
{
    return fmax(fabs(pw_sin(d->X + d->Y) - (d->sX * d->cY + d->cX * d->sY)),
                fabs(pw_cos(d->X + d->Y) - (d->cX * d->cY - d->sX * d->sY)));
}

static double eq18_even(const struct pw_aspe_draw *d)
{
    return d->e_x - (d->a * d->sX + d->c * d->cX);
}

static double eq18_odd(const struct pw_aspe_draw *d)
{
    return d->o_x - printed_odd(d, d->sX, d->cX);
}

static double eq18_odd_right(const struct pw_aspe_draw *d)
{
    return d->o_x - (d->a * d->cX - d->c * d->sX);
}

/* Eq. 19 to 22: products of the entries of Eq. 18 as printed. */
static double eq19(const struct pw_aspe_draw *d)
{
    return d->e_x * printed_odd(d, d->sY, d->cY) - p19(d);
}

static double eq19_right(const struct pw_aspe_draw *d)
{
    return d->e_x * d->o_y - (sq(d->a) * d->sX * d->cY - d->a * d->c * d->sX * d->sY +
                              d->a * d->c * d->cX * d->cY - sq(d->c) * d->cX * d->sY);
}

static double eq20(const struct pw_aspe_draw *d)
{
    return printed_odd(d, d->sX, d->cX) * d->e_y - p20(d, false);
}

static double eq20_right(const struct pw_aspe_draw *d)
{
    return d->o_x * d->e_y - (sq(d->a) * d->cX * d->sY + d->a * d->c * d->cX * d->cY -
                              d->a * d->c * d->sX * d->sY - sq(d->c) * d->sX * d->cY);
}

static double eq21(const struct pw_aspe_draw *d)
{
    return printed_odd(d, d->sX, d->cX) * printed_odd(d, d->sY, d->cY) - p21(d);
}

static double eq21_right(const struct pw_aspe_draw *d)
{
    return d->o_x * d->o_y - (sq(d->a) * d->cX * d->cY - d->a * d->c * d->cX * d->sY -
                              d->a * d->c * d->sX * d->cY + sq(d->c) * d->sX * d->sY);
}

static double eq22(const struct pw_aspe_draw *d)
{
    return d->e_x * d->e_y - p22(d);
}

static double eq23_even(const struct pw_aspe_draw *d)
{
    double A = p19(d) + p20(d, false), C = p21(d) + p22(d), D = p21(d) - p22(d), s = d->a - 1;
    return d->e_xy - ((A - d->c * C) / (2 * (1 + sq(d->c))) + d->c * D / (2 * s * d->a));
}

static double eq23_even_right(const struct pw_aspe_draw *d)
{
    double A = d->e_x * d->o_y + d->o_x * d->e_y, D = d->o_x * d->o_y - d->e_x * d->e_y;
    return d->e_xy - (A / 2 - d->c / (2 * d->a) * D);
}

/* The printed "s(" is taken as 2. */
static double eq23_odd(const struct pw_aspe_draw *d)
{
    double A = p19(d) + p20(d, false), C = p21(d) + p22(d), D = p21(d) - p22(d), s = d->a - 1;
    return printed_odd(d, pw_sin(d->X + d->Y), pw_cos(d->X + d->Y)) -
           (D / (2 * s) + (d->c * C - A) / (2 * d->a * (d->c - 1)));
}

static double eq23_odd_right(const struct pw_aspe_draw *d)
{
    double A = d->e_x * d->o_y + d->o_x * d->e_y, D = d->o_x * d->o_y - d->e_x * d->e_y;
    return d->o_xy - (D / 2 + d->c / (2 * d->a) * A);
}

double pw_aspe_rotation(const struct pw_aspe_draw *d)
{
    return fmax(fabs(d->e_xy - (d->e_x * d->cY + d->o_x * d->sY)),
                fabs(d->o_xy - (d->o_x * d->cY - d->e_x * d->sY)));
}

const struct pw_aspe_equation pw_aspe_equations[PW_ASPE_EQUATIONS] = {
    {"15, SPE", eq15, NULL, false},
    {"18, even lines", eq18_even, NULL, false},
    {"18, odd lines", eq18_odd, eq18_odd_right, false},
    {"19, with 18 as printed", eq19, eq19_right, false},
    {"20, with 18 as printed", eq20, eq20_right, false},
    {"21, with 18 as printed", eq21, eq21_right, false},
    {"22", eq22, NULL, false},
    {"23, even line", eq23_even, eq23_even_right, true},
    {"23, odd line", eq23_odd, eq23_odd_right, true},
};

static double aspe_even(double X, double L)
{
    return pw_sin(X) + pw_cos(L - X);
}

static double aspe_odd(double X, double L)
{
    return pw_cos(X) + pw_sin(L - X);
}

struct pw_aspe_draw pw_aspe_take(struct pw_rng *rng)
{
    double turn = 6.283185307179586;
    struct pw_aspe_draw d = {
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
