/* color.h - the nearest colour of a smaller palette, as the eye measures it. */
#ifndef PW_COLOR_H
#define PW_COLOR_H
#include <stdint.h>

/* rgb is 0xRRGGBB. Index 16..255 of the xterm palette: the first sixteen belong to the user's scheme. */
int pw_color_256(uint32_t rgb);
/* Index 0..n-1 of the basic palette, n = 8 or 16. */
int pw_color_basic(uint32_t rgb, int n);

#endif
