/* aspe.h - the equations of Qiu et al. 2021, appendix E, about ASPE, as printed and corrected: aspe.c says
 * how. Any thread. */
#ifndef PW_ASPE_H
#define PW_ASPE_H
#include <stdbool.h>

#include "base/rng.h"

/* What a draw gives the equations. */
struct pw_aspe_draw {
    double X, Y, L, sX, cX, sY, cY, a, c;
    double e_x, o_x, e_y, o_y, e_xy, o_xy; /* ASPE at x, y and x + y, by Eq. 17 */
};

/* X, Y and L uniform in 0..2 pi. */
struct pw_aspe_draw pw_aspe_take(struct pw_rng *rng);

/* Each the difference of both sides, in a printed and a corrected form (NULL: it holds as printed, or nothing
 * corrects it but the lines before). Eq. 23 divides by what may be 0: divides. Its two lines are the last
 * two. */
struct pw_aspe_equation {
    const char *name;
    double (*printed)(const struct pw_aspe_draw *d), (*right)(const struct pw_aspe_draw *d);
    bool divides;
};
enum { PW_ASPE_EQUATIONS = 9 };
extern const struct pw_aspe_equation pw_aspe_equations[PW_ASPE_EQUATIONS];

/* The step by y as a rotation by Y that doesn't know L: its error. */
double pw_aspe_rotation(const struct pw_aspe_draw *d);

#endif
