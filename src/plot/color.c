/* color.c - nearest colours in OKLab (Ottosson 2020), where distance matches perception.
 *
 * The nearest colour in RGB would turn the dark end of a lightness ramp into greys. xterm fixes the 6x6x6
 * cube and the 24 greys. The basic sixteen are typical values; most schemes are close to them. */
#include "plot/color.h"
#include <math.h>
#include <stdbool.h>

struct lab {
    float l, a, b;
};

static float linear(uint32_t channel)
{
    float x = (float)channel / 255.0f;
    return x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
}

/* Relative luminance of WCAG 2.1. */
static double luminance(uint32_t rgb)
{
    return 0.2126 * (double)linear(rgb >> 16 & 255) + 0.7152 * (double)linear(rgb >> 8 & 255) +
           0.0722 * (double)linear(rgb & 255);
}

double pw_color_contrast(uint32_t a, uint32_t b)
{
    double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

static struct lab oklab(uint32_t rgb)
{
    float r = linear(rgb >> 16 & 255);
    float g = linear(rgb >> 8 & 255);
    float b = linear(rgb & 255);
    float l = cbrtf(0.4122214708f * r + 0.5363325363f * g + 0.0514459929f * b);
    float m = cbrtf(0.2119034982f * r + 0.6806995451f * g + 0.1073969566f * b);
    float s = cbrtf(0.0883024619f * r + 0.2817188376f * g + 0.6299787005f * b);
    return (struct lab){0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s,
                        1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s,
                        0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s};
}

static uint32_t palette(int i)
{
    static const uint32_t basic[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                       0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                       0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    static const uint32_t level[6] = {0, 95, 135, 175, 215, 255};
    if (i < 16)
        return basic[i];
    if (i < 232) {
        int c = i - 16;
        return level[c / 36] << 16 | level[c / 6 % 6] << 8 | level[c % 6];
    }
    uint32_t grey = 8 + 10 * (uint32_t)(i - 232);
    return grey << 16 | grey << 8 | grey;
}

static int nearest(uint32_t rgb, int first, int end)
{
    static _Thread_local struct lab table[256];
    static _Thread_local bool ready;
    if (!ready) {
        for (int i = 0; i < 256; i++)
            table[i] = oklab(palette(i));
        ready = true;
    }
    struct lab c = oklab(rgb);
    int best = first;
    float least = INFINITY;
    for (int i = first; i < end; i++) {
        float dl = c.l - table[i].l;
        float da = c.a - table[i].a;
        float db = c.b - table[i].b;
        float d = dl * dl + da * da + db * db;
        if (d < least) {
            least = d;
            best = i;
        }
    }
    return best;
}

int pw_color_256(uint32_t rgb)
{
    return nearest(rgb, 16, 256);
}

int pw_color_basic(uint32_t rgb, int n)
{
    return nearest(rgb, 0, n < 16 ? 8 : 16);
}

uint32_t pw_color_of_256(int index)
{
    return palette(index);
}

float pw_color_distance(uint32_t a, uint32_t b)
{
    struct lab x = oklab(a), y = oklab(b);
    float l = x.l - y.l, green = x.a - y.a, blue = x.b - y.b;
    return sqrtf(l * l + green * green + blue * blue);
}

float pw_color_light(uint32_t rgb)
{
    return oklab(rgb).l;
}
