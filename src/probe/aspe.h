/* aspe.h - the equations about ASPE in Qiu et al. 2021, appendix E: as printed, and corrected. The head of
 * aspe.c derives the corrections. Any thread. Nothing can fail. */
#ifndef PW_ASPE_H
#define PW_ASPE_H
#include <stdbool.h>

#include "base/rng.h"

/* One random draw of the variables of the equations. */
struct pw_aspe_draw {
    double X, Y, L, sX, cX, sY, cY, a, c;
    double e_x, o_x, e_y, o_y, e_xy, o_xy; /* ASPE at x, y and x + y (even and odd entry), Eq. 17 */
};

/* Draws X, Y and L uniformly from 0..2 pi. */
struct pw_aspe_draw pw_aspe_take(struct pw_rng *rng);

/* One equation. printed and right return the difference of its two sides: as printed, and in the corrected
 * form. right is NULL if the equation holds as printed, or if the corrections of earlier lines suffice.
 * divides: the equation divides by a value that can be 0 (Eq. 23). The two lines of Eq. 23 are the last two
 * entries. */
struct pw_aspe_equation {
    const char *name;
    double (*printed)(const struct pw_aspe_draw *d), (*right)(const struct pw_aspe_draw *d);
    bool divides;
};
enum { PW_ASPE_EQUATIONS = 9 };
extern const struct pw_aspe_equation pw_aspe_equations[PW_ASPE_EQUATIONS];

/* The error of a rotation by Y that takes ASPE from x to x + y without knowing L. */
double pw_aspe_rotation(const struct pw_aspe_draw *d);

#endif
