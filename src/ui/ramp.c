/* ramp.c - the ramps of plot/ramp.h in the terminal's colours.
 *
 * In 256 colours the ramps are also monotone in lightness, with even steps: plot/ramp_palette.c. 64 levels
 * limit the number of colour pairs to what a terminal supports. */
#include <math.h>

#include "ui/plot.h"

#define LEVELS 64

/* The selected ramps, for each thread that draws: the screen's, and that of films. */
static _Thread_local struct {
    bool ready;
    enum pw_colormap map;
    bool palette;                                    /* 256 colours */
    uint32_t up[LEVELS];                             /* 0..1 */
    uint32_t both[2 * LEVELS - 1];                   /* -1..1; the middle entry is 0 */
    uint32_t on_up[LEVELS], on_both[2 * LEVELS - 1]; /* readable text colours on them */
} now;

static void build(enum pw_colormap map, bool palette)
{
    for (int i = 0; i < LEVELS; i++)
        now.up[i] = pw_ramp_up(map, (float)i / (LEVELS - 1));
    for (int i = 0; i < 2 * LEVELS - 1; i++)
        now.both[i] = pw_ramp_both((float)(i - LEVELS + 1) / (LEVELS - 1));
    if (palette) {
        uint32_t down[LEVELS]; /* both ends are dark, the middle is light */
        for (int i = 0; i < LEVELS; i++)
            down[i] = now.both[2 * LEVELS - 2 - i];
        pw_ramp_to_256(now.up, LEVELS);
        pw_ramp_to_256(now.both, LEVELS);
        pw_ramp_to_256(down, LEVELS);
        for (int i = 0; i < LEVELS - 1; i++)
            now.both[2 * LEVELS - 2 - i] = down[i];
    }
    for (int i = 0; i < LEVELS; i++)
        now.on_up[i] = pw_ramp_text_on(now.up[i]);
    for (int i = 0; i < 2 * LEVELS - 1; i++)
        now.on_both[i] = pw_ramp_text_on(now.both[i]);
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

/* Returns an index into now.up. NaN maps to the lower end, here and in signed_level. */
static int level(float x)
{
    ensure();
    return x > 0 ? (int)lrintf((x < 1 ? x : 1) * (LEVELS - 1)) : 0;
}

/* Returns an index into now.both. */
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
