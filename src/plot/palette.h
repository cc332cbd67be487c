/* palette.h - the colours of arms and of what has a role, on a light or a dark ground. */
#ifndef PW_PALETTE_H
#define PW_PALETTE_H
#include <stdbool.h>
#include <stdint.h>

#define PW_NO_COLOR 0xff000000u /* the ground's own text colour */

/* 0..: the place of an arm (id 1..) in tables of colours and marks. */
int pw_arm_index(int arm);
/* 0xRRGGBB or PW_NO_COLOR. */
uint32_t pw_arm_color(int arm, bool light);

/* The eight names that terminals have for colours, and dim: 2 is right, 1 wrong, 3 careful. */
enum { PW_ROLE_BAD = 1, PW_ROLE_OK, PW_ROLE_WARN, PW_ROLE_DIM = 8, PW_ROLES };
extern const uint32_t pw_role_colors[2][PW_ROLES]; /* on dark, on light; black and white PW_NO_COLOR */

#endif
