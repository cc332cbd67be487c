/* palette.h - the colours of arms and of roles (right, wrong, warning), on a dark or a light
 * background. Pure functions. */
#ifndef PW_PLOT_PALETTE_H
#define PW_PLOT_PALETTE_H
#include <stdbool.h>
#include <stdint.h>

#define PW_NO_COLOR 0xff000000u /* the default text colour, which suits the background */

/* Returns the index, from 0, of an arm (id from 1) in tables of colours and marks. */
int pw_arm_index(int arm);
/* Returns 0xRRGGBB or PW_NO_COLOR. */
uint32_t pw_arm_color(int arm, bool light);

/* The eight ANSI colours by index, and dim: 1 is wrong, 2 right, 3 a warning. */
enum { PW_ROLE_BAD = 1, PW_ROLE_OK, PW_ROLE_WARN, PW_ROLE_DIM = 8, PW_ROLES };
extern const uint32_t pw_role_colors[2][PW_ROLES]; /* on dark, on light; black and white are PW_NO_COLOR */

#endif
