/* color.h - the nearest colour of a smaller palette, by perceived distance (OKLab, Ottosson 2020). Colours
 * are 0xRRGGBB. Call pw_color_256 and pw_color_basic on the UI thread only (they share a cached table); the
 * other functions are pure. */
#ifndef PW_COLOR_H
#define PW_COLOR_H
#include <stdint.h>

/* Returns index 16..255 of the xterm palette; the user's colour scheme owns the first sixteen. */
int pw_color_256(uint32_t rgb);
/* Returns the colour of an index 16..255. */
uint32_t pw_color_of_256(int index);
/* Returns index 0..n-1 of the basic palette, n = 8 or 16. */
int pw_color_basic(uint32_t rgb, int n);

/* Distance in OKLab; black and white are 1 apart. */
float pw_color_distance(uint32_t a, uint32_t b);
/* Lightness in OKLab, 0 black to 1 white. */
float pw_color_light(uint32_t rgb);
/* Contrast ratio of WCAG 2.1, 1 to 21. */
double pw_color_contrast(uint32_t a, uint32_t b);

#endif
