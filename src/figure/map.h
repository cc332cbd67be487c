/* map.h - a matrix as an image in a figure, and the bar that explains its colours. */
#ifndef PW_MAP_H
#define PW_MAP_H
#include "figure/svg.h"
#include "plot/matrix.h"
#include "plot/ramp.h"

/* A matrix and how to draw it. */
struct pw_map {
    struct pw_matrix data;
    enum pw_colormap map;
    int most;  /* maximum number of rows and columns of the image; larger maps are pooled by maximum. 0: no
                  limit */
    int block; /* maximum size of one value in pixels; 0: as large as stays sharp */
};

/* Returns how many values share a pixel of the image, the same for rows and columns. */
int pw_map_pool(const struct pw_map *m);
/* Draws the matrix into b as one embedded image. */
void pw_map_draw(const struct pw_map *m, struct pw_svg *s, struct pw_box b);
/* Returns the colour of a value as 0xRRGGBB. */
uint32_t pw_map_color(const struct pw_map *m, float v);
/* Draws a vertical bar with the numbers of both ends at its right. */
void pw_map_bar(const struct pw_map *m, struct pw_svg *s, struct pw_box b, bool percent, const char *title);

#endif
