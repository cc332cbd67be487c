/* ramp.h - maps numbers to colours: two sequential ramps and a diverging one. Colours are 0xRRGGBB. Pure
 * functions, for any thread. */
#ifndef PW_RAMP_H
#define PW_RAMP_H
#include <stdbool.h>
#include <stdint.h>

/* The sequential ramps. */
enum pw_colormap { PW_VIRIDIS, PW_CIVIDIS };

/* The colour of a value. Values beyond the ends take the nearest end, NaN the lower one. */
uint32_t pw_ramp_up(enum pw_colormap map, float x); /* x in 0..1, monotone in lightness */
uint32_t pw_ramp_both(float x);                     /* x in -1..1: blue, white, orange */
/* Replaces the n levels of a ramp of growing lightness by colours of a terminal with 256. */
void pw_ramp_to_256(uint32_t *level, int n);
/* Returns black or white, whichever is readable on the colour. */
uint32_t pw_ramp_text_on(uint32_t behind);

#endif
