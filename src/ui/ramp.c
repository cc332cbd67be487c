/* ramp.c - numbers as colours: two sequential ramps and a diverging one, as the look in use can show them.
 *
 * Control points are our own, after viridis (Smith and van der Walt 2015), cividis (Nuñez et al. 2018, made
 * for colour-blind eyes) and a blue-orange diverging map. The sequential ones grow steadily in lightness, so
 * they survive grey printing; in 256 colours, too, where the nearest colours would not: a step that falls
 * back is left out. 64 levels keep the pairs of colours that a terminal is asked for within what it has. */
#include <math.h>

#include "ui/color.h"
#include "ui/plot.h"

#define LEVELS 64

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

static uint32_t between(const struct stop *stops, int n, float x)
{
    int i = 0;

    while (i < n - 2 && x > stops[i + 1].at)
        i++;
    const struct stop *a = stops + i, *b = a + 1;
    float t = (x - a->at) / (b->at - a->at);
    return PW_RGB((int)lrintf(a->r + t * (b->r - a->r)), (int)lrintf(a->g + t * (b->g - a->g)),
                  (int)lrintf(a->b + t * (b->b - a->b)));
}

/* What is in use; the UI thread alone draws. */
static struct {
    bool ready;
    enum pw_colormap map;
    bool palette;                                    /* of 256 colours */
    uint32_t up[LEVELS];                             /* 0..1 */
    uint32_t both[2 * LEVELS - 1];                   /* -1..1; the middle one is 0 */
    uint32_t on_up[LEVELS], on_both[2 * LEVELS - 1]; /* text that can be read on them */
} now;

/* Takes the palette's colours; one that turns back in lightness becomes the one before. */
static void snap(uint32_t *level, int n, int step)
{
    for (int i = 0; i != n * step; i += step) {
        uint32_t c = pw_color_of_256(pw_color_256(level[i]));
        level[i] = i == 0 || pw_color_light(c) >= pw_color_light(level[i - step]) ? c : level[i - step];
    }
}

static uint32_t text_on(uint32_t bg)
{
    bool black = pw_color_contrast(bg, PW_RGB(0, 0, 0)) > pw_color_contrast(bg, PW_RGB(255, 255, 255));

    return black ? PW_RGB(0, 0, 0) : PW_RGB(255, 255, 255);
}

static void build(enum pw_colormap map, bool palette)
{
    const struct stop *stops = map == PW_CIVIDIS ? cividis : viridis;
    int n = map == PW_CIVIDIS ? sizeof cividis / sizeof *cividis : sizeof viridis / sizeof *viridis;

    for (int i = 0; i < LEVELS; i++)
        now.up[i] = between(stops, n, (float)i / (LEVELS - 1));
    for (int i = 0; i < 2 * LEVELS - 1; i++)
        now.both[i] =
            between(diverging, sizeof diverging / sizeof *diverging, (float)(i - LEVELS + 1) / (LEVELS - 1));
    if (palette) {
        snap(now.up, LEVELS, 1);
        snap(now.both, LEVELS, 1); /* both ends are dark, the middle is light */
        snap(now.both + 2 * LEVELS - 2, LEVELS, -1);
    }
    for (int i = 0; i < LEVELS; i++)
        now.on_up[i] = text_on(now.up[i]);
    for (int i = 0; i < 2 * LEVELS - 1; i++)
        now.on_both[i] = text_on(now.both[i]);
}

void pw_ramp_use(enum pw_colormap map, enum pw_colors colors)
{
    bool palette = colors == PW_COLORS_256;

    if (now.ready && now.map == map && now.palette == palette)
        return;
    now.ready = true, now.map = map, now.palette = palette;
    build(map, palette);
}

static void ensure(void)
{
    if (!now.ready)
        pw_ramp_use(PW_VIRIDIS, PW_COLORS_TRUE);
}

/* Of now.up. Not a number: the lower end, here and in the next. */
static int level(float x)
{
    ensure();
    return x > 0 ? (int)lrintf((x < 1 ? x : 1) * (LEVELS - 1)) : 0;
}

/* Of now.both. */
static int signed_level(float x)
{
    ensure();
    x = x > -1 ? x : -1;
    return (int)lrintf((x < 1 ? x : 1) * (LEVELS - 1)) + LEVELS - 1;
}

uint32_t pw_ramp(float x)
{
    return now.up[level(x)];
}

uint32_t pw_ramp_signed(float x)
{
    return now.both[signed_level(x)];
}

struct pw_style pw_style_value(float x, bool is_signed)
{
    int i = is_signed ? signed_level(x) : level(x);

    return is_signed ? (struct pw_style){now.on_both[i], now.both[i], 0}
                     : (struct pw_style){now.on_up[i], now.up[i], 0};
}
