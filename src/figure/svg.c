/* svg.c - shapes and images; svg_text.c writes text.
 *
 * A curve of thousands of points is one path of relative moves. Every position is rounded before the
 * difference is taken, so that errors do not accumulate. */
#include "figure/svg.h"
#include "plot/palette.h"
#include "sessions/event.h"
#include <math.h>
#include <string.h>

#define FAR 1e6 /* points; coordinates are clamped to this range, NaN becomes 0 */

static int tenths(double x)
{
    return x > -FAR ? (int)lrint((x < FAR ? x : FAR) * 10) : x <= -FAR ? (int)-FAR * 10 : 0;
}

static void put_tenths(struct pw_str *out, int t)
{
    unsigned u = t < 0 ? 0u - (unsigned)t : (unsigned)t;

    if (u % 10 == 0)
        pw_str_add(out, "%s%u", t < 0 ? "-" : "", u / 10);
    else if (u < 10)
        pw_str_add(out, "%s.%u", t < 0 ? "-" : "", u);
    else
        pw_str_add(out, "%s%u.%u", t < 0 ? "-" : "", u / 10, u % 10);
}

void pw_svg_length(struct pw_str *out, const char *name, double x)
{
    pw_str_add(out, " %s=\"", name);
    put_tenths(out, tenths(x));
    pw_str_add(out, "\"");
}

/* Appends an opacity between 0 and 1 in hundredths; 1 is left out. */
static void put_opacity(struct pw_str *out, double opacity)
{
    if (opacity > 0 && opacity < 0.995)
        pw_str_add(out, " opacity=\".%02d\"", (int)lrint(opacity * 100));
}

static void put_pen(struct pw_str *out, struct pw_pen pen)
{
    pw_str_add(out, " stroke=\"#%06x\"", (unsigned)pen.color);
    if (pen.width > 0 && tenths(pen.width) != 10)
        pw_svg_length(out, "stroke-width", pen.width);
    if (pen.dash != NULL)
        pw_str_add(out, " stroke-dasharray=\"%s\"", pen.dash);
    put_opacity(out, pen.opacity);
}

static void put_box(struct pw_str *out, struct pw_box b)
{
    pw_svg_length(out, "x", b.x);
    pw_svg_length(out, "y", b.y);
    pw_svg_length(out, "width", b.w > 0 ? b.w : 0);
    pw_svg_length(out, "height", b.h > 0 ? b.h : 0);
}

void pw_svg_rect(struct pw_svg *s, struct pw_box b, uint32_t fill, double opacity)
{
    pw_str_add(&s->out, "<rect");
    put_box(&s->out, b);
    pw_str_add(&s->out, " fill=\"#%06x\"", (unsigned)fill);
    put_opacity(&s->out, opacity);
    pw_str_add(&s->out, "/>\n");
}

void pw_svg_frame(struct pw_svg *s, struct pw_box b, struct pw_pen pen)
{
    pw_str_add(&s->out, "<rect");
    put_box(&s->out, b);
    pw_str_add(&s->out, " fill=\"none\"");
    put_pen(&s->out, pen);
    pw_str_add(&s->out, "/>\n");
}

void pw_svg_line(struct pw_svg *s, double x0, double y0, double x1, double y1, struct pw_pen pen)
{
    pw_str_add(&s->out, "<line");
    pw_svg_length(&s->out, "x1", x0);
    pw_svg_length(&s->out, "y1", y0);
    pw_svg_length(&s->out, "x2", x1);
    pw_svg_length(&s->out, "y2", y1);
    put_pen(&s->out, pen);
    pw_str_add(&s->out, "/>\n");
}

/* ---- paths */

void pw_path_begin(struct pw_path *p, struct pw_svg *s, struct pw_pen pen)
{
    *p = (struct pw_path){.svg = s};
    pw_str_add(&s->out, "<path fill=\"none\" stroke-linejoin=\"round\"");
    put_pen(&s->out, pen);
    pw_str_add(&s->out, " d=\"");
}

void pw_path_begin_fill(struct pw_path *p, struct pw_svg *s, uint32_t fill, double opacity)
{
    *p = (struct pw_path){.svg = s};
    pw_str_add(&s->out, "<path fill=\"#%06x\"", (unsigned)fill);
    put_opacity(&s->out, opacity);
    pw_str_add(&s->out, " d=\"");
}

/* Consecutive moves share one letter, and a minus sign also separates numbers. */
void pw_path_to(struct pw_path *p, double x, double y)
{
    struct pw_str *out = &p->svg->out;
    int tx = tenths(x), ty = tenths(y), dx = p->n > 0 ? tx - p->x : tx, dy = p->n > 0 ? ty - p->y : ty;

    if (p->n > 0 && dx == 0 && dy == 0)
        return;
    if (p->n < 2)
        pw_str_add(out, p->n == 0 ? "M" : "l");
    else if (dx >= 0)
        pw_str_add(out, " ");
    put_tenths(out, dx);
    if (dy >= 0)
        pw_str_add(out, " ");
    put_tenths(out, dy);
    p->x = tx, p->y = ty, p->n++;
}

void pw_path_lift(struct pw_path *p)
{
    p->n = 0;
}

void pw_path_end(struct pw_path *p)
{
    pw_str_add(&p->svg->out, "\"/>\n");
}

/* ---- arms */

uint32_t pw_svg_arm(int arm)
{
    uint32_t color = pw_arm_color(arm, true);
    return color == PW_NO_COLOR ? PW_INK : color;
}

static void polygon(struct pw_svg *s, uint32_t color, bool hollow, double x, double y, double r,
                    const double (*corner)[2], int n)
{
    struct pw_path p;

    pw_path_begin_fill(&p, s, hollow ? 0xffffff : color, 1);
    for (int i = 0; i < n; i++)
        pw_path_to(&p, x + r * corner[i][0], y + r * corner[i][1]);
    if (hollow)
        pw_str_add(&s->out, "z\" stroke=\"#%06x\" stroke-width=\"0.8\"/>\n", (unsigned)color);
    else
        pw_path_end(&p);
}

/* The shapes follow the workbench's marks: ● ▲ ■ ◆ ▼ ★ ✚ ○. */
void pw_svg_mark(struct pw_svg *s, int arm, double x, double y, double r)
{
    static const double up[][2] = {{0, -1.1}, {1.1, 0.9}, {-1.1, 0.9}},
                        down[][2] = {{0, 1.1}, {1.1, -0.9}, {-1.1, -0.9}},
                        square[][2] = {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
                        diamond[][2] = {{0, -1.2}, {1.2, 0}, {0, 1.2}, {-1.2, 0}},
                        star[][2] = {{0, -1.3}, {0.31, -0.43}, {1.24, -0.4}, {0.5, 0.16},   {0.76, 1.05},
                                     {0, 0.53}, {-0.76, 1.05}, {-0.5, 0.16}, {-1.24, -0.4}, {-0.31, -0.43}},
                        cross[][2] = {{-0.4, -1.1}, {0.4, -1.1}, {0.4, -0.4},  {1.1, -0.4},
                                      {1.1, 0.4},   {0.4, 0.4},  {0.4, 1.1},   {-0.4, 1.1},
                                      {-0.4, 0.4},  {-1.1, 0.4}, {-1.1, -0.4}, {-0.4, -0.4}};
    uint32_t color = pw_svg_arm(arm);
    int shape = pw_arm_index(arm);
    bool hollow = arm > PW_MAX_ARMS;

    switch (shape) {
    case 1: polygon(s, color, hollow, x, y, r, up, 3); return;
    case 2: polygon(s, color, hollow, x, y, r, square, 4); return;
    case 3: polygon(s, color, hollow, x, y, r, diamond, 4); return;
    case 4: polygon(s, color, hollow, x, y, r, down, 3); return;
    case 5: polygon(s, color, hollow, x, y, r, star, 10); return;
    case 6: polygon(s, color, hollow, x, y, r, cross, 12); return;
    default: break;
    }
    pw_str_add(&s->out, "<circle");
    pw_svg_length(&s->out, "cx", x);
    pw_svg_length(&s->out, "cy", y);
    pw_svg_length(&s->out, "r", r);
    pw_str_add(&s->out,
               (shape == 0) != hollow ? " fill=\"#%06x\"/>\n" : " fill=\"#ffffff\" stroke=\"#%06x\"/>\n",
               (unsigned)color);
}

/* ---- images */

static void put_base64(struct pw_str *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                     (i + 2 < n ? bytes[i + 2] : 0);
        char four[4] = {digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63], digits[v & 63]};
        if (i + 1 >= n)
            four[2] = '=';
        if (i + 2 >= n)
            four[3] = '=';
        pw_str_put(out, four, 4);
    }
}

void pw_svg_image(struct pw_svg *s, struct pw_box b, const unsigned char *png, size_t size)
{
    pw_str_add(&s->out, "<image");
    put_box(&s->out, b);
    pw_str_add(&s->out, " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
                        "xlink:href=\"data:image/png;base64,");
    put_base64(&s->out, png, size);
    pw_str_add(&s->out, "\"/>\n");
}
