/* theme.c - colours and glyphs, and what becomes of them on lesser terminals.
 *
 * Text keeps the terminal's own colours, so that light and dark schemes both work. Arms have the palette of
 * Okabe and Ito (2008), which colour-blind readers can tell apart, and a mark of their own: colour is never
 * the only carrier. The two ramps have control points of our own; the sequential one grows steadily in
 * lightness (a test holds it), so it survives grey printing. */
#include "ui/plot.h"
#include <math.h>

struct pw_style pw_style_plain(void)
{
    return (struct pw_style){PW_DEFAULT, PW_DEFAULT, 0};
}

struct pw_style pw_style_bold(void)
{
    return (struct pw_style){PW_DEFAULT, PW_DEFAULT, PW_BOLD};
}

struct pw_style pw_style_dim(void)
{
    return (struct pw_style){PW_DEFAULT, PW_DEFAULT, PW_DIM};
}

struct pw_style pw_style_ok(void)
{
    return (struct pw_style){PW_ANSI(2), PW_DEFAULT, 0};
}

struct pw_style pw_style_bad(void)
{
    return (struct pw_style){PW_ANSI(1), PW_DEFAULT, PW_BOLD};
}

struct pw_style pw_style_warn(void)
{
    return (struct pw_style){PW_ANSI(3), PW_DEFAULT, 0};
}

/* Okabe-Ito; its black is the terminal's own text colour, and its yellow comes late: it is faint on white. */
static const uint32_t arm_colors[PW_MAX_ARMS] = {
    PW_RGB(230, 159, 0), PW_RGB(86, 180, 233), PW_RGB(0, 158, 115),  PW_RGB(204, 121, 167),
    PW_RGB(213, 94, 0),  PW_RGB(0, 114, 178),  PW_RGB(240, 228, 66), PW_DEFAULT,
};
/* Sixteen-colour terminals: yellow cyan green magenta red blue white, default. */
static const uint32_t arm_ansi[PW_MAX_ARMS] = {
    PW_ANSI(3), PW_ANSI(6), PW_ANSI(2), PW_ANSI(5), PW_ANSI(1), PW_ANSI(4), PW_ANSI(7), PW_DEFAULT,
};
static const char *const arm_marks[2][PW_MAX_ARMS] = {
    {"o", "x", "+", "*", "#", "@", "%", "&"},
    {"●", "▲", "■", "◆", "▼", "★", "✚", "○"},
};

static int arm_index(int arm)
{
    return arm < 1 ? 0 : (arm - 1) % PW_MAX_ARMS;
}

struct pw_style pw_style_arm(const struct pw_ui *ui, int arm)
{
    int i = arm_index(arm);
    struct pw_style s = pw_style_plain();

    if (ui->look.colors >= PW_COLORS_256)
        s.fg = arm_colors[i];
    else if (ui->look.colors == PW_COLORS_16)
        s.fg = arm_ansi[i];
    return s;
}

const char *pw_arm_mark(const struct pw_ui *ui, int arm)
{
    return arm_marks[ui->look.utf8][arm_index(arm)];
}

/* ---- ramps */
struct stop {
    float at;
    unsigned char r, g, b;
};

static uint32_t between(const struct stop *stops, int n, float x)
{
    int i = 0;

    if (!(x > stops[0].at))
        x = stops[0].at;
    if (x > stops[n - 1].at)
        x = stops[n - 1].at;
    while (i < n - 2 && x > stops[i + 1].at)
        i++;
    const struct stop *a = stops + i, *b = a + 1;
    float t = (x - a->at) / (b->at - a->at);
    return PW_RGB((int)lrintf(a->r + t * (b->r - a->r)), (int)lrintf(a->g + t * (b->g - a->g)),
                  (int)lrintf(a->b + t * (b->b - a->b)));
}

uint32_t pw_ramp(float x)
{
    static const struct stop stops[] = {
        {0.0f, 44, 20, 84},   {0.15f, 62, 52, 128},  {0.3f, 52, 94, 144},  {0.45f, 34, 132, 144},
        {0.6f, 38, 168, 128}, {0.75f, 108, 200, 92}, {0.9f, 196, 222, 56}, {1.0f, 252, 236, 96},
    };
    return between(stops, sizeof stops / sizeof *stops, x);
}

uint32_t pw_ramp_signed(float x)
{
    static const struct stop stops[] = {
        {-1.0f, 16, 64, 148}, {-0.5f, 84, 148, 208}, {0.0f, 244, 244, 240},
        {0.5f, 240, 164, 84}, {1.0f, 184, 76, 8},
    };
    return between(stops, sizeof stops / sizeof *stops, x);
}

struct pw_style pw_style_value(float x, bool is_signed)
{
    uint32_t bg = is_signed ? pw_ramp_signed(x) : pw_ramp(x);
    /* Rec. 709 weights on the encoded values: near enough to choose black or white text. */
    double light = 0.2126 * (bg >> 16 & 255) + 0.7152 * (bg >> 8 & 255) + 0.0722 * (bg & 255);

    return (struct pw_style){light > 120 ? PW_RGB(0, 0, 0) : PW_RGB(255, 255, 255), bg, 0};
}

/* ---- lesser terminals */
struct replacement {
    uint32_t first, last;
    char glyph;
};

/* Sorted by nothing but likeness; a range stands for one sign. */
static const struct replacement ascii[] = {
    {0x2500, 0x2501, '-'},  {0x2502, 0x2503, '|'}, {0x2504, 0x2505, '-'},  {0x2506, 0x250b, ':'},
    {0x250c, 0x254b, '+'},  {0x254c, 0x254f, '-'}, {0x2550, 0x257f, '+'},  {0x2581, 0x2582, '_'},
    {0x2583, 0x2585, '='},  {0x2586, 0x2588, '#'}, {0x2589, 0x258b, '#'},  {0x258c, 0x258d, '='},
    {0x258e, 0x258f, '-'},  {0x2590, 0x2590, '|'}, {0x2591, 0x2591, '.'},  {0x2592, 0x2592, '+'},
    {0x2593, 0x2593, '%'},  {0x2594, 0x2594, '-'}, {0x25cf, 0x25cf, 'o'},  {0x25b8, 0x25b8, '>'},
    {0x25b2, 0x25b2, '^'},  {0x25bc, 0x25bc, 'v'}, {0x25c6, 0x25c6, '*'},  {0x2713, 0x2713, 'v'},
    {0x2717, 0x2717, 'x'},  {0x2190, 0x2190, '<'}, {0x2191, 0x2191, '^'},  {0x2192, 0x2192, '>'},
    {0x2193, 0x2193, 'v'},  {0x2026, 0x2026, '~'}, {0x2013, 0x2014, '-'},  {0x2212, 0x2212, '-'},
    {0x00b7, 0x00b7, '.'},  {0x00d7, 0x00d7, 'x'}, {0x2265, 0x2265, '>'},  {0x2264, 0x2264, '<'},
    {0x03bb, 0x03bb, 'L'},  {0x00b0, 0x00b0, ' '}, {0x2800, 0x28ff, '*'},  {0x21bb, 0x21bb, '*'},
    {0x2196, 0x2196, '\\'}, {0x2197, 0x2197, '/'}, {0x2198, 0x2198, '\\'}, {0x2199, 0x2199, '/'},
};

static uint32_t to_ascii(uint32_t cp)
{
    if (cp < 0x80)
        return cp;
    for (size_t i = 0; i < sizeof ascii / sizeof *ascii; i++)
        if (cp >= ascii[i].first && cp <= ascii[i].last)
            return (uint32_t)ascii[i].glyph;
    return '?';
}

/* The nearest of the 8 named colours: each channel on or off, by half of the brightest one. */
static uint32_t to_ansi(uint32_t rgb)
{
    if (rgb >= PW_ANSI(0))
        return rgb;
    unsigned r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;
    unsigned top = r > g ? (r > b ? r : b) : (g > b ? g : b);
    if (top < 48)
        return PW_ANSI(0);
    return PW_ANSI((2 * r > top ? 1u : 0u) | (2 * g > top ? 2u : 0u) | (2 * b > top ? 4u : 0u));
}

void pw_theme_fit(struct pw_canvas *c, const struct pw_look *look)
{
    for (int i = 0; i < c->rows * c->cols; i++) {
        struct pw_cell *cell = c->cells + i;
        if (!look->utf8) {
            if (cell->cp == 0 && i % c->cols != 0)
                cell->cp = '?'; /* the other half of what becomes '?' too */
            cell->cp = to_ascii(cell->cp);
        }
        if (look->colors == PW_COLORS_MONO)
            cell->style.fg = cell->style.bg = PW_DEFAULT;
        else if (look->colors == PW_COLORS_16)
            cell->style.fg = to_ansi(cell->style.fg), cell->style.bg = to_ansi(cell->style.bg);
    }
}
