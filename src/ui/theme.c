/* theme.c - colours and glyphs, and their replacements on limited terminals.
 *
 * Panes choose colours by role: one of the eight names (2: right, 1: wrong, 3: caution) or dim. If the
 * terminal's background is known (ui.h, struct pw_theme), a role becomes an RGB colour (plot/palette.h) that
 * is readable on it. Otherwise the terminal's own scheme defines the named colours. Each arm has a colour and
 * a mark, so that colour is never the only carrier. */
#include "plot/color.h"
#include "ui/plot.h"
#include <string.h>

_Static_assert(PW_DEFAULT == PW_NO_COLOR, "the palette's colours are used as they are");

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

/* For 16-colour terminals: yellow cyan green magenta red blue white, default. */
static const uint32_t arm_ansi[PW_MAX_ARMS] = {
    PW_ANSI(3), PW_ANSI(6), PW_ANSI(2), PW_ANSI(5), PW_ANSI(1), PW_ANSI(4), PW_ANSI(7), PW_DEFAULT,
};
static const char *const arm_marks[2][PW_MAX_ARMS] = {
    {"o", "x", "+", "*", "#", "@", "%", "&"},
    {"●", "▲", "■", "◆", "▼", "★", "✚", "○"},
};

struct pw_style pw_style_arm(const struct pw_ui *ui, int arm)
{
    struct pw_style s = pw_style_plain();

    if (ui->look.colors >= PW_COLORS_256)
        s.fg = pw_arm_color(arm, ui->theme.backdrop == PW_ON_LIGHT);
    else if (ui->look.colors == PW_COLORS_16)
        s.fg = arm_ansi[pw_arm_index(arm)];
    return s;
}

const char *pw_arm_mark(const struct pw_ui *ui, int arm)
{
    return arm_marks[ui->look.utf8][pw_arm_index(arm)];
}

/* ---- limited terminals */
struct replacement {
    uint32_t first, last;
    char glyph;
};

/* Replacements by similarity; a range has one glyph. */
static const struct replacement ascii[] = {
    {0x2500, 0x2501, '-'},  {0x2502, 0x2503, '|'}, {0x2504, 0x2505, '-'},  {0x2506, 0x250b, ':'},
    {0x250c, 0x254b, '+'},  {0x254c, 0x254f, '-'}, {0x2550, 0x257f, '+'},  {0x2581, 0x2582, '_'},
    {0x2583, 0x2585, '='},  {0x2586, 0x2588, '#'}, {0x2589, 0x258b, '#'},  {0x258c, 0x258d, '='},
    {0x258e, 0x258f, '-'},  {0x2590, 0x2590, '|'}, {0x2591, 0x2591, '.'},  {0x2592, 0x2592, '+'},
    {0x2593, 0x2593, '%'},  {0x2594, 0x2594, '-'}, {0x2596, 0x259f, '#'},  {0x25cf, 0x25cf, 'o'},
    {0x25b8, 0x25b8, '>'},  {0x25aa, 0x25aa, 'X'}, {0x25b4, 0x25b4, '^'},  {0x25be, 0x25be, 'v'},
    {0x25b2, 0x25b2, '^'},  {0x25bc, 0x25bc, 'v'}, {0x25c6, 0x25c6, '*'},  {0x2713, 0x2713, 'v'},
    {0x2717, 0x2717, 'x'},  {0x2190, 0x2190, '<'}, {0x2191, 0x2191, '^'},  {0x2192, 0x2192, '>'},
    {0x2193, 0x2193, 'v'},  {0x2026, 0x2026, '~'}, {0x2013, 0x2014, '-'},  {0x2212, 0x2212, '-'},
    {0x00b7, 0x00b7, '.'},  {0x00d7, 0x00d7, 'x'}, {0x2265, 0x2265, '>'},  {0x2264, 0x2264, '<'},
    {0x03bb, 0x03bb, 'L'},  {0x00b0, 0x00b0, ' '}, {0x2800, 0x28ff, '*'},  {0x21bb, 0x21bb, '*'},
    {0x2196, 0x2196, '\\'}, {0x2197, 0x2197, '/'}, {0x2198, 0x2198, '\\'}, {0x2199, 0x2199, '/'},
    {0x2248, 0x2248, '~'},
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

/* Is it a character of code page 437, which fonts of the Linux console have: single and double lines? */
static bool is_box(uint32_t cp)
{
    static const uint32_t single[] = {0x2500, 0x2502, 0x250c, 0x2510, 0x2514, 0x2518,
                                      0x251c, 0x2524, 0x252c, 0x2534, 0x253c};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (cp == single[i])
            return true;
    return cp >= 0x2550 && cp <= 0x256c;
}

/* Returns the nearest of the 8 named colours: each channel is on or off, by half of the brightest channel. */
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

/* Returns the RGB colour of a named colour; other colours unchanged. */
static uint32_t to_role(uint32_t color, const uint32_t *role)
{
    return color >= PW_ANSI(0) && color < PW_ANSI(8) ? role[color & 7] : color;
}

static void fit_style(struct pw_style *s, const struct pw_abilities *look, const uint32_t *role)
{
    if (look->colors == PW_COLORS_MONO) {
        s->fg = s->bg = PW_DEFAULT;
    } else if (look->colors == PW_COLORS_16) {
        s->fg = to_ansi(s->fg), s->bg = to_ansi(s->bg);
    } else if (role != NULL) {
        s->fg = to_role(s->fg, role), s->bg = to_role(s->bg, role);
        if ((s->attr & PW_DIM) && s->fg == PW_DEFAULT) /* terminals differ in how faint their dim is */
            s->fg = role[PW_ROLE_DIM], s->attr &= ~(unsigned)PW_DIM;
    }
}

void pw_theme_fit_on(struct pw_canvas *c, const struct pw_abilities *look, enum pw_backdrop backdrop)
{
    const uint32_t *role = backdrop == PW_ON_UNKNOWN ? NULL : pw_role_colors[backdrop == PW_ON_LIGHT];

    for (int i = 0; i < c->rows * c->cols; i++) {
        struct pw_cell *cell = c->cells + i;
        if (!look->utf8) {
            if (cell->cp == 0 && i % c->cols != 0)
                cell->cp = '?'; /* the right half of a wide character that becomes '?' */
            if (!look->boxes || !is_box(cell->cp))
                cell->cp = to_ascii(cell->cp);
        }
        fit_style(&cell->style, look, role);
    }
}

void pw_theme_fit(struct pw_canvas *c, const struct pw_abilities *look)
{
    pw_theme_fit_on(c, look, PW_ON_UNKNOWN);
}

enum pw_backdrop pw_theme_guess(const char *colorfgbg)
{
    const char *bg = colorfgbg != NULL ? strrchr(colorfgbg, ';') : NULL; /* "15;0", "0;default;15" */
    long n;

    if (bg == NULL || !pw_text_int(bg + 1, 0, 15, &n))
        return PW_ON_UNKNOWN;
    return n == 7 || n >= 9 ? PW_ON_LIGHT : PW_ON_DARK;
}

enum pw_backdrop pw_theme_behind(uint32_t rgb)
{
    return pw_color_contrast(rgb, 0x000000) > pw_color_contrast(rgb, 0xffffff) ? PW_ON_LIGHT : PW_ON_DARK;
}
