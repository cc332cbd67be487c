/* map.h - a matrix as an image, and the bar that says what its colours mean. */
#ifndef PW_MAP_H
#define PW_MAP_H
#include "figure/svg.h"
#include "plot/ramp.h"

struct pw_map {
    int rows, cols;
    float (*value)(const void *arg, int row, int col); /* -inf: hidden, left white; NaN: red */
    const void *arg;
    float lo, hi; /* the ramp's ends; with is_signed -hi..hi */
    bool is_signed;
    enum pw_colormap map;
    int most;  /* rows and columns of the image; more are pooled, the largest value shown. 0: all */
    int block; /* pixels of a value's side at most; 0: as many as are sharp */
};

/* Values that share one of the image's pixels, by rows and columns alike. */
int pw_map_pool(const struct pw_map *m);
void pw_map_draw(const struct pw_map *m, struct pw_svg *s, struct pw_box b);
/* 0xRRGGBB of a value. */
uint32_t pw_map_color(const struct pw_map *m, float v);
/* An upright bar with the ends' numbers at its right. */
void pw_map_bar(const struct pw_map *m, struct pw_svg *s, struct pw_box b, bool percent, const char *title);

#endif
