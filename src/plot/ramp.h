/* ramp.h - numbers as colours: two sequential ramps and a diverging one. */
#ifndef PW_RAMP_H
#define PW_RAMP_H
#include <stdbool.h>
#include <stdint.h>

enum pw_colormap { PW_VIRIDIS, PW_CIVIDIS };

/* 0xRRGGBB of a value; beyond the ends, and not a number, the nearest end or the lower one. */
uint32_t pw_ramp_up(enum pw_colormap map, float x); /* 0..1, monotone in lightness */
uint32_t pw_ramp_both(float x);                     /* -1..1: blue, white, orange */
/* The levels of a ramp that grows in lightness, as colours of a terminal that has 256. */
void pw_ramp_to_256(uint32_t *level, int n);
/* The value that stands for those of rows row..row+by_row-1 and columns col..col+by_col-1 of a map
 * [rows,cols]: the largest, by size where they are signed. -inf is hidden and counts where all are; a NaN
 * always shows. */
float pw_pooled(float (*value)(const void *arg, int row, int col), const void *arg, bool is_signed, int rows,
                int cols, int row, int col, int by_row, int by_col);
/* Black or white: what can be read on a colour. */
uint32_t pw_ramp_text_on(uint32_t behind);

#endif
