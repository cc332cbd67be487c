/* ramp.h - numbers as colours: two sequential ramps and a diverging one. */
#ifndef PW_RAMP_H
#define PW_RAMP_H
#include <stdint.h>

enum pw_colormap { PW_VIRIDIS, PW_CIVIDIS };

/* 0xRRGGBB of a value; beyond the ends, and not a number, the nearest end or the lower one. */
uint32_t pw_ramp_up(enum pw_colormap map, float x); /* 0..1, monotone in lightness */
uint32_t pw_ramp_both(float x);                     /* -1..1: blue, white, orange */
/* Black or white: what can be read on a colour. */
uint32_t pw_ramp_text_on(uint32_t behind);

#endif
