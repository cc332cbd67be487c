/* palette.c - colours with enough contrast on their background (WCAG 2.1: 4.5 for text, 3 for arms;
 * tests/ui/test_theme.c checks it).
 *
 * Arms use the palette of Okabe and Ito 2008, which colour-blind readers can distinguish. */
#include "plot/palette.h"
#include "sessions/event.h"

/* Okabe-Ito; its black is the text colour, and its yellow comes late. On a light background all but three are
 * darker than the original, on a dark one blue is lighter. */
static const uint32_t arms[2][PW_MAX_ARMS] = {
    {0xe69f00, 0x56b4e9, 0x009e73, 0xcc79a7, 0xd55e00, 0x127cb7, 0xf0e442, PW_NO_COLOR},
    {0xba8100, 0x4794bf, 0x009e73, 0xc2739f, 0xd55e00, 0x0072b2, 0x958d29, PW_NO_COLOR},
};
const uint32_t pw_role_colors[2][PW_ROLES] = {
    {PW_NO_COLOR, 0xde7575, 0x1ca951, 0xbe8c00, 0x5d97d6, 0xcd71cd, 0x11a8cd, PW_NO_COLOR, 0x939393},
    {PW_NO_COLOR, 0xcd3131, 0x008031, 0x8e6900, 0x2370c4, 0xb33cb3, 0x0c7994, PW_NO_COLOR, 0x6f6f6f},
};

int pw_arm_index(int arm)
{
    return arm < 1 ? 0 : (arm - 1) % PW_MAX_ARMS;
}

uint32_t pw_arm_color(int arm, bool light)
{
    return arms[light][pw_arm_index(arm)];
}
