/* ramp.c - maps numbers to colours.
 *
 * The control points are pewter's own. They follow viridis (Smith and van der Walt 2015), cividis (Nuñez et
 * al. 2018, designed for colour-blind readers) and a blue-orange diverging map. The sequential ramps grow
 * steadily in lightness, so they survive grey printing. */
#include "plot/ramp.h"
#include "plot/color.h"
#include <math.h>

struct stop {
    float at;
    unsigned char r, g, b;
};

static const struct stop viridis[] = {
    {0.0f, 44, 20, 84},   {0.15f, 62, 52, 128},  {0.3f, 52, 94, 144},  {0.45f, 34, 132, 144},
    {0.6f, 38, 168, 128}, {0.75f, 108, 200, 92}, {0.9f, 196, 222, 56}, {1.0f, 252, 236, 96},
};
static const struct stop cividis[] = {
    {0.0f, 4, 32, 74},     {0.2f, 44, 62, 108},  {0.4f, 92, 94, 112},
    {0.6f, 136, 134, 118}, {0.8f, 188, 172, 92}, {1.0f, 250, 226, 70},
};
static const struct stop diverging[] = {
    {-1.0f, 16, 64, 148}, {-0.5f, 84, 148, 208}, {0.0f, 244, 244, 240},
    {0.5f, 240, 164, 84}, {1.0f, 184, 76, 8},
};

static uint32_t mix(int from, int to, float t)
{
    return (uint32_t)lrintf((float)from + t * (float)(to - from));
}

static uint32_t between(const struct stop *stops, int n, float x)
{
    int i = 0;

    x = x > stops[0].at ? x < stops[n - 1].at ? x : stops[n - 1].at : stops[0].at;
    while (i < n - 2 && x > stops[i + 1].at)
        i++;
    const struct stop *a = stops + i, *b = a + 1;
    float t = (x - a->at) / (b->at - a->at);
    return mix(a->r, b->r, t) << 16 | mix(a->g, b->g, t) << 8 | mix(a->b, b->b, t);
}

uint32_t pw_ramp_up(enum pw_colormap map, float x)
{
    if (map == PW_CIVIDIS)
        return between(cividis, sizeof cividis / sizeof *cividis, x);
    return between(viridis, sizeof viridis / sizeof *viridis, x);
}

uint32_t pw_ramp_both(float x)
{
    return between(diverging, sizeof diverging / sizeof *diverging, x);
}

uint32_t pw_ramp_text_on(uint32_t behind)
{
    return pw_color_contrast(behind, 0x000000) > pw_color_contrast(behind, 0xffffff) ? 0x000000 : 0xffffff;
}
