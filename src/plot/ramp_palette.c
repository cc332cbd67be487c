/* ramp_palette.c - a ramp in the 240 fixed colours of a terminal with 256.
 *
 * Taking the nearest colour per level makes jumps. xterm's cube is coarse in dark colours, so adjacent levels
 * can differ by a quarter of the range from black to white, and in hue. Here all levels are chosen together,
 * as the path of least cost (dynamic programming). The cost is the squared distance of each colour from its
 * level, plus the fourth power of each step between two colours. So one large step costs more than several
 * small ones. Lightness never decreases. */
#include "base/alloc.h"
#include "plot/color.h"
#include "plot/ramp.h"
#include <math.h>
#include <stdlib.h>

#define FIRST  16 /* the user's colour scheme owns the first sixteen */
#define COLORS 240
#define STEP   50.0f /* weight of a step's fourth power: a step of 0.14 costs as much as an error of 0.14 */

struct path {
    uint32_t color[COLORS];
    float light[COLORS];
    float step[COLORS][COLORS]; /* cost of a step from one to the other; INFINITY: the other is darker */
    float cost[2][COLORS];      /* of the best path so far that ends with this colour */
};

static float squared(uint32_t a, uint32_t b)
{
    float d = pw_color_distance(a, b);

    return d * d;
}

static struct path *new_path(void)
{
    struct path *p = pw_alloc(1, sizeof *p);

    for (int i = 0; i < COLORS; i++) {
        p->color[i] = pw_color_of_256(FIRST + i);
        p->light[i] = pw_color_light(p->color[i]);
    }
    for (int i = 0; i < COLORS; i++)
        for (int j = 0; j < COLORS; j++) {
            float d2 = i == j ? 0 : squared(p->color[i], p->color[j]);
            p->step[i][j] = p->light[j] < p->light[i] ? INFINITY : STEP * d2 * d2;
        }
    return p;
}

/* Returns the best predecessor of colour j. */
static int best_before(const struct path *p, const float *cost, int j)
{
    int best = j;

    for (int i = 0; i < COLORS; i++)
        if (cost[i] + p->step[i][j] < cost[best] + p->step[best][j])
            best = i;
    return best;
}

void pw_ramp_to_256(uint32_t *level, int n)
{
    struct path *p = new_path();
    unsigned char(*before)[COLORS] = pw_alloc((size_t)n, sizeof *before);
    int end = 0;

    for (int k = 0; k < n; k++)
        for (int j = 0; j < COLORS; j++) {
            const float *cost = p->cost[(k + 1) % 2];
            int i = k == 0 ? j : best_before(p, cost, j);
            before[k][j] = (unsigned char)i;
            p->cost[k % 2][j] = squared(level[k], p->color[j]) + (k == 0 ? 0 : cost[i] + p->step[i][j]);
        }
    for (int j = 0; j < COLORS; j++)
        if (p->cost[(n - 1) % 2][j] < p->cost[(n - 1) % 2][end])
            end = j;
    for (int k = n; k-- > 0; end = before[k][end])
        level[k] = p->color[end];
    free(before);
    free(p);
}
