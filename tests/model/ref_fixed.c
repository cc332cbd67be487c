/* ref_fixed.c - see ref_fixed.h. */
#include "ref_fixed.h"

#include <math.h>
#include <stdlib.h>

static double rotary(int pos, int pair, int width)
{
    return pos * pow(10000, -2.0 * pair / width);
}

/* Every second layer has no rotation. */
static double hybrid(int l, int pos, int pair, int width)
{
    return l % 2 == 1 ? 0 : rotary(pos, pair, width);
}

/* A window that grows with the layer, and a slope that the layer changes. */
static double windows(int l, int h, int query, int key)
{
    int d = abs(query - key);
    return d < 2 + 3 * l ? -0.25 * (h + 1) * (l + 1) * d : -INFINITY;
}

/* A window with two sinks. */
static double sinks(int l, int h, int query, int key)
{
    (void)l;
    (void)h;
    return query - key < 3 || key < 2 ? 0 : -INFINITY;
}

/* Dilation: every second key before the query, by heads. */
static double dilated(int l, int h, int query, int key)
{
    (void)l;
    return h == 0 || abs(query - key) % (h + 1) == 0 ? 0 : -INFINITY;
}

/* A bias that depends on both positions, differently in each layer. */
static double by_both(int l, int h, int query, int key)
{
    return 0.3 * sin(query * (l + 1) + 2.0 * key) - 0.1 * h * abs(query - key) / (query + 1);
}

/* Scores grow with the number of keys (scale=log n), by heads and layers. */
static double sharper(int l, int h, int query)
{
    return (1 + 0.2 * h) * fmax(1, log(query + 1) / log(4)) + 0.1 * l;
}

/* Positions at half steps up to 4, as in position interpolation with a clip. */
static double place(int i)
{
    return fmin(0.5 * i, 4);
}

static double clipped_positions(int l, int h, int query, int key)
{
    (void)l;
    return -0.5 * (h + 1) * (place(query) - place(key));
}

static double clipped_angles(int l, int pos, int pair, int width)
{
    (void)l;
    return place(pos) * pow(10000, -2.0 * pair / width);
}

/* Gates of both signs, and gates that only forget. */
static double waves(int l, int h, double g)
{
    return l - h * sin(g);
}

static double forgets(int l, int h, double g)
{
    return -exp(g / 2) * (l + 1) / (h + 1);
}

/* Decays at several rates, and a bank that ends. */
static double decays(int l, int m, int distance)
{
    return exp(-distance / pow(2, m)) * (l + 1);
}

static double ends(int l, int m, int distance)
{
    (void)l;
    return distance <= 4 ? cos((m + 1) * distance) : 0;
}

const struct ref_fixed_case ref_fixed_cases[] = {
    {"expr 'scan = stick; angle = l % 2 == 1 ? 0 : i * 10000 ** (-2 * p / D); scale = (1 + 0.2 * h) * max(1, "
     "log(n) / log(4)) + 0.1 * l'",
     false,
     {.angle = hybrid, .scale = sharper}},
    {"expr 'scan = stick'", false, {.scale = NULL}},
    {"expr 'mixes = 3; mix = exp(-d / 2 ** m) * (l + 1)'", true, {.mix = decays, .mixes = 3}},
    {"expr 'mixes = 2; mix = d <= 4 ? cos((m + 1) * d) : 0; scale = (1 + 0.2 * h) * max(1, log(n) / log(4)) "
     "+ 0.1 * l; angle = l % 2 == 1 ? 0 : i * 10000 ** (-2 * p / D); mask = d < 3 || j < 2'",
     false,
     {.mix = ends, .mixes = 2, .scale = sharper, .angle = hybrid, .bias = sinks}},
    {"expr 'gate = l - h * sin(g)'", false, {.gate = waves}},
    {"expr 'gate = -exp(g / 2) * (l + 1) / (h + 1); mask = d < 3 || j < 2; angle = l % 2 == 1 ? 0 : i * "
     "10000 ** (-2 * p / D)'",
     false,
     {.gate = forgets, .bias = sinks, .angle = hybrid}},
    {"expr 'angle = l % 2 == 1 ? 0 : i * 10000 ** (-2 * p / D)'", true, {.angle = hybrid}},
    {"expr 'bias = -0.25 * (h + 1) * (l + 1) * abs(d); mask = abs(d) < 2 + 3 * l'", true, {.bias = windows}},
    {"expr 'mask = d < 3 || j < 2'", false, {.bias = sinks}},
    {"expr 'mask = h == 0 || abs(d) % (h + 1) == 0'", true, {.bias = dilated}},
    {"expr 'bias = 0.3 * sin(i * (l + 1) + 2 * j) - 0.1 * h * abs(d) / (i + 1)'", true, {.bias = by_both}},
    {"expr 'angle = l % 2 == 1 ? 0 : i * 10000 ** (-2 * p / D); mask = d < 3 || j < 2'",
     false,
     {.angle = hybrid, .bias = sinks}},
    {"expr 'scale = (1 + 0.2 * h) * max(1, log(n) / log(L)) + 0.1 * l' L=4", false, {.scale = sharper}},
    {"expr 'scale = (1 + 0.2 * h) * max(1, log(i + 1) / log(4)) + 0.1 * l; angle = l % 2 == 1 ? 0 : i * "
     "10000 ** "
     "(-2 * p / D); mask = d < 3 || j < 2'",
     false,
     {.scale = sharper, .angle = hybrid, .bias = sinks}},
    {"expr 'position = min(0.5 * i, 4); bias = -0.5 * (h + 1) * d; angle = position(i) * 10000 ** (-2 * p / "
     "D)'",
     true,
     {.angle = clipped_angles, .bias = clipped_positions}},
    {0},
};
