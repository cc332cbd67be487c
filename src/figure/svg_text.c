/* svg_text.c - text in a picture: escaped, measured, cut.
 *
 * The fonts of the final viewer are unknown. So text is measured in DejaVu Sans, the widest of the common
 * fonts; in Helvetica or Arial it takes less room. */
#include "figure/svg.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Advance widths of DejaVu Sans from blank to tilde, in hundredths of the font size. */
static const unsigned char advances[] = {
    32, 40, 46, 84, 64, 95, 78, 28, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 78, 75, 30, 30, 66, 56, 86, 75, 79,
    60, 79, 70, 64, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 64, 55, 64, 62, 35, 64,
    63, 28, 28, 58, 28, 97, 63, 61, 64,  64, 41, 52, 39, 63, 59, 82, 59, 59, 53, 64, 34, 64, 84,
};

/* Replaces characters that are invalid in XML or harmful to its reader: control characters, and those that
 * change the direction of the following text. */
static uint32_t harmless(uint32_t cp)
{
    bool control = (cp < 0x20 && cp != '\n') || (cp >= 0x7f && cp < 0xa0) || cp == 0xfffe || cp == 0xffff;
    bool turns =
        (cp >= 0x200e && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);

    return control || turns ? '?' : cp;
}

static void put_escaped(struct pw_str *out, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        uint32_t cp;
        size_t used = pw_utf8_next(text, left, &cp);
        cp = harmless(cp);
        if (cp == '"') /* attributes have double quotes */
            pw_str_add(out, "&quot;");
        else
            pw_str_xml(out, cp);
        text += used, left -= used;
    }
}

static double advance(const struct pw_font *f, uint32_t cp)
{
    double em;

    cp = cp == '\n' ? ' ' : harmless(cp);
    if (pw_utf8_cells(cp) == 0)
        return 0;
    if (f->mono)
        em = 0.602 * pw_utf8_cells(cp);
    else if (cp < 0x7f)
        em = advances[cp - 0x20] / 100.0;
    else
        em = cp < 0x370 ? 0.66 : cp < 0x500 ? 0.8 : 1;
    return em * f->size * (f->bold && !f->mono ? 1.12 : 1);
}

double pw_svg_width(const struct pw_font *f, const char *text)
{
    double w = 0;

    for (size_t left = strlen(text); left > 0;) {
        uint32_t cp;
        size_t used = pw_utf8_next(text, left, &cp);
        w += advance(f, cp);
        text += used, left -= used;
    }
    return w;
}

size_t pw_svg_fitting(const struct pw_font *f, const char *text, double width)
{
    size_t n = 0, at_blank = 0, len = strlen(text);
    double w = 0;

    while (n < len) {
        uint32_t cp;
        size_t used = pw_utf8_next(text + n, len - n, &cp);
        double more = advance(f, cp);
        if (w + more > width && n > 0)
            return at_blank > 0 ? at_blank : n;
        if (cp == ' ' && w > width * 2 / 3)
            at_blank = n;
        n += used, w += more;
    }
    return len;
}

void pw_svg_text(struct pw_svg *s, double x, double y, const struct pw_font *f, const char *text)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};

    if (text[strspn(text, " ")] == '\0')
        return;
    pw_str_add(&s->out, "<text");
    if (f->turned) /* the rotation also turns the axes */
        pw_str_add(&s->out, " transform=\"rotate(-90)\"");
    pw_svg_length(&s->out, "x", f->turned ? -y : x);
    pw_svg_length(&s->out, "y", f->turned ? x : y);
    pw_str_add(&s->out, "%s font-size=\"%g\"", anchors[f->anchor], f->size);
    if (f->color != PW_INK)
        pw_str_add(&s->out, " fill=\"#%06x\"", (unsigned)f->color);
    if (f->bold)
        pw_str_add(&s->out, " font-weight=\"bold\"");
    if (f->mono)
        pw_str_add(&s->out,
                   " font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\" xml:space=\"preserve\"");
    pw_str_add(&s->out, ">");
    put_escaped(&s->out, text);
    pw_str_add(&s->out, "</text>\n");
}

void pw_svg_fmt(struct pw_svg *s, double x, double y, const struct pw_font *f, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pw_svg_text(s, x, y, f, text);
}

void pw_svg_cut(struct pw_svg *s, double x, double y, const struct pw_font *f, const char *text, double width)
{
    if (pw_svg_width(f, text) <= width) {
        pw_svg_text(s, x, y, f, text);
        return;
    }
    struct pw_str part = {0};
    size_t n = 0, len = strlen(text);
    double w = pw_svg_width(f, "…");
    while (n < len) {
        uint32_t cp;
        size_t used = pw_utf8_next(text + n, len - n, &cp);
        w += advance(f, cp);
        if (w > width)
            break;
        n += used;
    }
    pw_str_put(&part, text, n);
    pw_str_add(&part, "…");
    pw_svg_text(s, x, y, f, part.s);
    pw_str_fini(&part);
}

void pw_svg_open(struct pw_svg *s, double w, double h, bool serif, const char *title, const char *desc)
{
    *s = (struct pw_svg){0};
    pw_str_add(&s->out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
               "width=\"%.0fpt\" height=\"%.0fpt\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
               w, h, w, h);
    put_escaped(&s->out, title);
    pw_str_add(&s->out, "</title>\n<desc>");
    put_escaped(&s->out, desc);
    pw_str_add(&s->out,
               "</desc>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
               "<g font-family=\"%s\" fill=\"#%06x\">\n",
               serif ? "Times,'Times New Roman','Liberation Serif','DejaVu Serif',serif"
                     : "Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif",
               PW_INK);
}

void pw_svg_close(struct pw_svg *s)
{
    pw_str_add(&s->out, "</g>\n</svg>\n");
}

void pw_svg_fini(struct pw_svg *s)
{
    pw_str_fini(&s->out);
}
